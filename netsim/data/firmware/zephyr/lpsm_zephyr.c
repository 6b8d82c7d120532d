/* A policy of lpsm in Zephyr: it sets the time awake after traffic of the driver, and its listen interval.

   SPDX-License-Identifier: BSD-3-Clause */
#include "lpsm_policy.h"

#include <zephyr/kernel.h>
#include <zephyr/net/net_if.h>
#include <zephyr/net/wifi_mgmt.h>

void lpsm_zephyr_start(void);
void lpsm_zephyr_frame(bool sent, int64_t size_bytes);
int lpsm_zephyr_idle(void);

static lpsm_policy policy;
static int64_t begun_ns, sent_ns = LPSM_NOT_YET_NS, received_ns = LPSM_NOT_YET_NS;

/* Instants count from an instant at which the access point sends a beacon. */
static int64_t now_ns(void) { return k_ticks_to_ns_floor64(k_uptime_ticks()) - begun_ns; }

static int set(struct wifi_ps_params params)
{
    return net_mgmt(NET_REQUEST_WIFI_PS, net_if_get_first_wifi(), &params, sizeof params);
}

/* CALL 1: when the client has associated, at a beacon as near as the driver lets that be known. */
void lpsm_zephyr_start(void)
{
    begun_ns = k_ticks_to_ns_floor64(k_uptime_ticks());
    sent_ns = received_ns = LPSM_NOT_YET_NS;
    lpsm_policy_init(&policy);
}

/* CALL 2: for each frame, as it is handed to the driver or has come from it, with its size from the IP header on.
   When it came to the access point the driver does not tell, so that this is taken for the instant that it came. */
void lpsm_zephyr_frame(bool sent, int64_t size_bytes)
{
    const int64_t now = now_ns();
    const lpsm_frame frame = {.sent = sent, .at_ns = now, .empty_ns = now, .full_ns = now, .size_bytes = size_bytes,
        .connection = -1, .server = -1};
    *(sent ? &sent_ns : &received_ns) = now;
    lpsm_policy_observe(&policy, &frame);
}

/* CALL 3: when nothing is queued and nothing has come for a moment, such as a work item behind the last frame.  Returns
   what the driver says.  The nRF70's takes a listen interval before it associates only. */
int lpsm_zephyr_idle(void)
{
    const int64_t now = now_ns(), interval = lpsm_policy_facts[1], last = sent_ns > received_ns ? sent_ns : received_ns;
    const lpsm_view view = {.now_ns = now, .last_sent_ns = sent_ns, .last_received_ns = received_ns,
        .deadline_ns = LPSM_FOREVER_NS};
    const lpsm_plan plan = lpsm_policy_plan(&policy, &view);
    const int64_t awake = plan.awake_until_ns > now ? plan.awake_until_ns - (last > 0 ? last : 0) : 0;
    const int64_t every = (plan.repeat_ns > 0 ? plan.repeat_ns : plan.wake_ns - now + interval - 1) / interval;
    const int failed = set((struct wifi_ps_params){.type = WIFI_PS_PARAM_TIMEOUT, .timeout_ms = (unsigned int)(awake / 1000000)});
    return failed ? failed
        : set((struct wifi_ps_params){.type = WIFI_PS_PARAM_LISTEN_INTERVAL, .listen_interval = (unsigned short)every});
}
