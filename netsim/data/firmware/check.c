@said@
   SPDX-License-Identifier: BSD-3-Clause */

#include "lpsm_policy.h"
#include "lpsm_vectors.h"

#include <stdio.h>

/* Makes the calls of lpsm_vectors.h, and says how many plans are those that Python's policy made.

   Called before and after each decision; a device can count instructions in between. */
#ifdef LPSM_COUNT
unsigned long lpsm_count(void);
#else
#define lpsm_count() 0UL
#endif

static bool is_near(int64_t a, int64_t b) { return a - b <= LPSM_TOLERANCE_NS && b - a <= LPSM_TOLERANCE_NS; }

int main(void)
{
    static lpsm_policy policy;
    long decisions = 0, equal = 0;
    lpsm_policy_init(&policy);
    for (long i = 0; i < LPSM_CALLS; i++) {
        const int64_t *v = lpsm_vectors[i];
        if (v[0] == 1) {
            const lpsm_frame frame = {v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11]};
            lpsm_policy_observe(&policy, &frame);
        } else {
            const lpsm_view view = {v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]};
            const unsigned long before = lpsm_count();
            const lpsm_plan plan = lpsm_policy_plan(&policy, &view);
            const unsigned long after = lpsm_count();
            decisions++;
            equal += is_near(plan.awake_until_ns, v[12]) && is_near(plan.wake_ns, v[13]) && plan.repeat_ns == v[15]
                && plan.open_on_send == (v[14] != 0) && plan.agreed == (v[16] != 0);
            if (after != before) printf("%lu\n", after - before);
        }
    }
    printf("%ld of %ld decisions equal\n", equal, decisions);
    return equal * 1000 >= decisions * LPSM_LEAST_EQUAL ? 0 : 1;
}
