@said@
   SPDX-License-Identifier: BSD-3-Clause */

#define LPSM_CALLS @calls@
#define LPSM_LEAST_EQUAL @least@ /* in a thousand */
#define LPSM_TOLERANCE_NS @tolerance@

static const int64_t lpsm_vectors[LPSM_CALLS][17] = {
@rows@
};
