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

/* What the client knows when it could sleep, or at a beacon; instants are nanoseconds since the policy began.

   at_beacon: 1 at a beacon that was listened to, 0 when the client could sleep.
   last_sent_ns, last_received_ns: when it last handed a packet to its transmitter, and when a frame last came in;
   LPSM_NOT_YET_NS: never.
   slept_ns: at a beacon, the time since it last fell asleep, or since the last beacon it listened to, if that was
   later; else, of a policy that polls, how long it slept before it last woke up, or 0.
   buffered_bytes: at a beacon, bytes waiting at the access point, headers included; else 0.
   deadline_ns: when what was asked for last must be complete, if the host knows; LPSM_FOREVER_NS: nothing depends on it.
   missing: how many parts a page still lacks, if the host knows; else 0. */
typedef struct {
    int64_t now_ns;
    int64_t at_beacon;
    int64_t last_sent_ns;
    int64_t last_received_ns;
    int64_t slept_ns;
    int64_t buffered_bytes;
    int64_t deadline_ns;
    int64_t missing;
} lpsm_view;

/* A frame.

   sent: 1 as it is handed to the transmitter, 0 when it was received, which was at_ns.
   empty_ns, full_ns: of one received, the last instant at which the client knew that nothing waited at the access
   point, and the first at which it knew that something did, between which it came there; of what came while the client
   was awake, and of one sent, at_ns both.
   size_bytes: with its header.

   What only the host knows; if it is not to be told, connection and server are -1, and what follows connection is 0:

   connection: which it belongs to, counted from 0.
   opening: 1 for a part of opening the connection (a SYN or its answer).
   payload_bytes: without the header.
   completes: received, 1 if it completes the message that was expected.
   wanted: received, 1 unless it is a repetition, or its connection is gone; sent, 1 if it may ask for something, as all
   do but what HTTP/2 and TLS say beside requests.
   server: number of the server that is asked for something on the connection; negative where it is not known. */
typedef struct {
    int64_t sent;
    int64_t at_ns;
    int64_t empty_ns;
    int64_t full_ns;
    int64_t size_bytes;
    int64_t connection;
    int64_t opening;
    int64_t payload_bytes;
    int64_t completes;
    int64_t wanted;
    int64_t server;
} lpsm_frame;

/* What to do until something is sent or received.

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

@records@/* All that the policy knows. */
typedef struct {
@members@} lpsm_policy;
/* Fill in what the policy knows before it has seen anything. */
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
