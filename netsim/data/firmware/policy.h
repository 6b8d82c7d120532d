@said@

   SPDX-License-Identifier: BSD-3-Clause
   Copyright (c) 2026, The lpsm developers.  Redistribution and use in source and binary forms, with or without
   modification, are permitted under the terms of the BSD 3-Clause License; there is no warranty. */

#ifndef LPSM_POLICY_H
#define LPSM_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LPSM_NOT_YET_NS (-(INT64_C(1) << 61))
#define LPSM_FOREVER_NS (INT64_C(1) << 62)

@view@@frame@/* What to do until something is sent or received.

   awake_until_ns: stay awake, receiving, until then; an instant not after now_ns: sleep now.
   wake_ns: the next beacon to listen to; with repeat_ns -1 the instant at which to ask the access point for what waits.
   open_on_send: sending something ends the sleep.
   repeat_ns: if positive, while beacons bring nothing, listen again every so many nanoseconds without asking. */
typedef struct {
    int64_t awake_until_ns;
    int64_t wake_ns;
    bool open_on_send;
    int64_t repeat_ns;
    bool agreed;
} lpsm_plan;

@state@/* Fill in what the policy knows before it has seen anything. */
void lpsm_policy_init(lpsm_policy *policy);

/* Ask for a plan: when the client could sleep, and at each beacon that it listens to. */
lpsm_plan lpsm_policy_plan(lpsm_policy *policy, const lpsm_view *view);

/* Tell the policy of a frame as it is handed to the transmitter, or received. */
void lpsm_policy_observe(lpsm_policy *policy, const lpsm_frame *frame);

/* Its name, and: bytes of lpsm_policy, nanoseconds from beacon to beacon, and whether it wants to be told what only the
   host knows, observes frames, polls, and opens the gate when it polls on the air. */
extern const char lpsm_policy_name[];
extern const int64_t lpsm_policy_facts[6];

#ifdef __cplusplus
}
#endif

#endif
