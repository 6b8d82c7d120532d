/* Stands between the compiled model and a policy: what is asked of Python's machine code is asked of the C, too.

   The functions have the form in which numba calls: a place for the result, one for an exception, then the view or the
   frame, number by number, and two arrays, each by its owner, its parent, how many, their size, where, shape, stride. */
#include "lpsm_policy.h"

#include <string.h>

#define ARRAY(x) void *x##_owner, void *x##_parent, int64_t x##_items, int64_t x##_size, void *x, int64_t x##_n, int64_t x##_by
#define GIVEN(x) x##_owner, x##_parent, x##_items, x##_size, x, x##_n, x##_by
#define VIEW int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g
#define FRAME VIEW, int64_t h, int64_t i, int64_t j, int64_t k
typedef int32_t plan_rule(lpsm_plan *, void **, VIEW, ARRAY(ints), ARRAY(floats));
typedef int32_t frame_rule(void **, void **, FRAME, ARRAY(ints), ARRAY(floats));

plan_rule *both_plan_of, both_plan;
frame_rule *both_observe_of, both_observe;
int64_t both_follows_c, both_decisions, both_equal, both_first[12];
static lpsm_policy policy;

int32_t both_plan(lpsm_plan *result, void **trouble, VIEW, ARRAY(ints), ARRAY(floats))
{
    const lpsm_view view = {a, b, c, d, e, f, g};
    if (a == 0 && b == 0 && c == LPSM_NOT_YET_NS && d == LPSM_NOT_YET_NS) {
        lpsm_policy_init(&policy); /* a run begins, perhaps anew with more room */
    }
    const lpsm_plan ours = lpsm_policy_plan(&policy, &view);
    const int32_t status = both_follows_c ? 0 : both_plan_of(result, trouble, a, b, c, d, e, f, g, GIVEN(ints), GIVEN(floats));
    if (both_follows_c) {
        memcpy(result, &ours, sizeof ours);
    }
    both_decisions++;
    if (ours.awake_until_ns == result->awake_until_ns && ours.wake_ns == result->wake_ns && ours.repeat_ns == result->repeat_ns
        && ours.open_on_send == result->open_on_send && ours.agreed == result->agreed) {
        both_equal++;
    } else if (both_decisions - both_equal == 1) {
        const int64_t first[12] = {a, b, c, d, e, f, g, ours.awake_until_ns, ours.wake_ns, result->awake_until_ns,
            result->wake_ns, both_decisions};
        memcpy(both_first, first, sizeof first);
    }
    return status;
}

int32_t both_observe(void **result, void **trouble, FRAME, ARRAY(ints), ARRAY(floats))
{
    const lpsm_frame frame = {a, b, c, d, e, f, g, h, i, j, k};
    lpsm_policy_observe(&policy, &frame);
    return both_follows_c ? 0
        : both_observe_of(result, trouble, a, b, c, d, e, f, g, h, i, j, k, GIVEN(ints), GIVEN(floats));
}
