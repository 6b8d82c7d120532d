/* A policy of lpsm in ESP-IDF: it sets the least time awake after traffic, and says which listen interval it would have.

   SPDX-License-Identifier: BSD-3-Clause */
#include "lpsm_policy.h"

#include "esp_private/wifi.h"
#include "esp_timer.h"
#include "esp_wifi.h"
#include "sdkconfig.h"

void lpsm_esp_start(void);
void lpsm_esp_frame(bool sent, int64_t size_bytes);
esp_err_t lpsm_esp_idle(void);
int64_t lpsm_esp_listen_interval(void);

static lpsm_policy policy;
static int64_t begun_ns, every = CONFIG_LPSM_POLICY_LISTEN_INTERVAL, sent_ns = LPSM_NOT_YET_NS, received_ns = LPSM_NOT_YET_NS;

/* Instants count from an instant at which the access point sends a beacon. */
static int64_t now_ns(void) { return esp_timer_get_time() * 1000 - begun_ns; }

/* CALL 1: at WIFI_EVENT_STA_CONNECTED.  esp_wifi_get_tsf_time tells where beacons fall. */
void lpsm_esp_start(void)
{
    const int64_t tsf_ns = esp_wifi_get_tsf_time(WIFI_IF_STA) * 1000;
    begun_ns = esp_timer_get_time() * 1000 - tsf_ns % lpsm_policy_facts[1];
    sent_ns = received_ns = LPSM_NOT_YET_NS;
    lpsm_policy_init(&policy);
    (void)esp_wifi_set_ps(WIFI_PS_MAX_MODEM);
}

/* CALL 2: for each frame with its size from the IP header on, where lwIP hands it over or takes it.  When it came to the
   access point the driver does not tell, so that this is taken for the instant that it came. */
void lpsm_esp_frame(bool sent, int64_t size_bytes)
{
    const int64_t now = now_ns();
    const lpsm_frame frame = {.sent = sent, .at_ns = now, .empty_ns = now, .full_ns = now, .size_bytes = size_bytes,
        .connection = -1, .server = -1};
    *(sent ? &sent_ns : &received_ns) = now;
    lpsm_policy_observe(&policy, &frame);
}

/* CALL 3: when nothing is queued and nothing has come for a moment, such as a timer behind the last frame. */
esp_err_t lpsm_esp_idle(void)
{
    const int64_t now = now_ns(), interval = lpsm_policy_facts[1], last = sent_ns > received_ns ? sent_ns : received_ns;
    const lpsm_view view = {.now_ns = now, .last_sent_ns = sent_ns, .last_received_ns = received_ns,
        .deadline_ns = LPSM_FOREVER_NS};
    const lpsm_plan plan = lpsm_policy_plan(&policy, &view);
    const int64_t awake = plan.awake_until_ns > now ? plan.awake_until_ns - (last > 0 ? last : 0) : 0;
    every = (plan.repeat_ns > 0 ? plan.repeat_ns : plan.wake_ns - now + interval - 1) / interval;
    esp_wifi_set_sleep_min_active_time((uint32_t)(awake / 1000));
    return ESP_OK;
}

/* The listen interval, in beacons, for wifi_sta_config_t.listen_interval of the next esp_wifi_connect. */
int64_t lpsm_esp_listen_interval(void) { return every; }
