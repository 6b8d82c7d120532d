@said@
   SPDX-License-Identifier: BSD-3-Clause */

#include "lpsm_policy.h"

#include <math.h>
#include <string.h>

@definitions@
@functions@
void lpsm_policy_init(lpsm_policy *policy)
{
    memset(policy, 0, sizeof *policy);
@beginning@}

lpsm_plan lpsm_policy_plan(lpsm_policy *policy, const lpsm_view *view)
{
    return @plan@;
}

void lpsm_policy_observe(lpsm_policy *policy, const lpsm_frame *frame)
{
    @observe@;
}

const char lpsm_policy_name[] = "@name@";
const int64_t lpsm_policy_facts[6] = {@facts@};
