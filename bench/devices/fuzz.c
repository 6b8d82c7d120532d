/* Calls an exported policy with random views and frames, in any order, and sees to it that each plan can be followed. */
#include "lpsm_policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static int64_t drawn(int64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)below);
}

/* An instant: mostly a little later, sometimes much later or earlier, or at the edge of what there is. */
static int64_t instant(int64_t now)
{
    switch (drawn(8)) {
    case 0: return drawn(INT64_C(1) << 60);
    case 1: return now > INT64_C(1000000000) ? now - drawn(1000000000) : 0;
    case 2: return drawn(4) != 0 ? now : LPSM_NOT_YET_NS;
    default: return now + drawn(INT64_C(1) << drawn(36)) % (INT64_C(1) << 60);
    }
}

static int64_t time_of(int64_t now)
{
    const int64_t found = instant(now);
    return found < 0 ? 0 : found % (INT64_C(1) << 60);
}

int main(int count, char **words)
{
    lpsm_policy *policy = malloc(sizeof *policy);
    const long calls = count > 1 ? atol(words[1]) : 10000;
    const int64_t interval_ns = lpsm_policy_facts[1];
    int64_t now = 0;
    state = count > 2 ? strtoull(words[2], NULL, 10) + 88172645463325252u : 88172645463325252u;
    lpsm_policy_init(policy);
    for (long i = 0; i < calls; i++) {
        if (drawn(2000) == 0) {
            lpsm_policy_init(policy);
            now = 0;
        }
        now = drawn(50) == 0 ? time_of(now) : now + drawn(INT64_C(1) << drawn(33));
        now %= INT64_C(1) << 60;
        if (drawn(2) != 0) {
            const int64_t any = time_of(now), early = any < now ? any : now, full = early + drawn(now - early + 1);
            const lpsm_frame frame = {
                drawn(2), now, early, full, drawn(3) != 0 ? drawn(3000) : 40, drawn(40) - 1, drawn(2), drawn(3000),
                drawn(2), drawn(2), drawn(30) - 1,
            };
            lpsm_policy_observe(policy, &frame);
        } else {
            const bool at_beacon = drawn(2) != 0;
            if (at_beacon) {
                now -= now % interval_ns;
            }
            const lpsm_view view = {
                now, at_beacon, instant(now), instant(now), at_beacon ? drawn(INT64_C(1) << 40) : 0,
                at_beacon && drawn(4) == 0 ? drawn(1 << 20) : 0,
                drawn(3) != 0 ? LPSM_FOREVER_NS : time_of(now),
            };
            const lpsm_plan plan = lpsm_policy_plan(policy, &view);
            const int64_t asleep = plan.awake_until_ns > now ? plan.awake_until_ns : now;
            const bool polls = plan.repeat_ns == -1;
            if (asleep < LPSM_FOREVER_NS && (plan.wake_ns <= asleep || plan.wake_ns >= LPSM_FOREVER_NS || plan.repeat_ns < -1
                || (!polls && !plan.agreed && (plan.wake_ns % interval_ns != 0 || plan.repeat_ns % interval_ns != 0)))) {
                printf("call %ld: a plan that cannot be followed: awake until %lld, wake at %lld, now %lld\n", i,
                    (long long)plan.awake_until_ns, (long long)plan.wake_ns, (long long)now);
                free(policy);
                return 1;
            }
        }
    }
    printf("%ld calls\n", calls);
    free(policy);
    return 0;
}
