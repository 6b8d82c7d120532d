"""A client's radio and what its policy is told: `netsim.air.radio_states` and `netsim.air.adviser` in integers."""

from __future__ import annotations

import numpy as np
from numba import carray  # type: ignore[attr-defined]

from lpsm._compile import compiled
from lpsm._pointers import integers_at, real, reals_at
from netsim.air.express import layout as slot
from netsim.air.express.events import note
from netsim.express.layout import Place
from netsim.policies.machine_code import call_observe, call_plan
from netsim.policies.protocol import cannot_follow

__all__ = [
    "ask", "awake_ns", "begin_doze", "hear", "hear_more", "listen_ahead", "observe", "take_asked", "wake",
    "write_states",
]  # fmt: skip

_cannot_follow = compiled(cannot_follow)


@compiled
def listen_ahead(w: Place, slept: int) -> int:
    """Return how long before a target time the radio is ready to receive, after a sleep of so long."""
    drift = real(w[slot.DRIFT])
    return w[slot.GUARD] + (int(np.rint(slept * drift * 1e-6)) if drift != 0.0 else 0)


@compiled
def begin_doze(w: Place, client: int, at: int) -> None:
    """Doze from `at` on."""
    w[client + slot.CLIENT_DOZING] = 1
    w[client + slot.CLIENT_SLEPT_FROM] = at
    since = w[client + slot.CLIENT_AWAKE_SINCE]
    if at > since:
        note(w, client, 0, since, at, 0, 0, 0, 0)
        w[client + slot.CLIENT_AWAKE_BEFORE] += at - since
    w[client + slot.CLIENT_AWAKE_SINCE] = at


@compiled
def wake(w: Place, client: int, begin: int) -> int:
    """Begin to wake up for more than a beacon, not before having settled; return when the radio is awake."""
    begin = max(begin, w[client + slot.CLIENT_SLEPT_FROM] + w[slot.SETTLE])
    w[client + slot.CLIENT_DOZING] = 0
    w[client + slot.CLIENT_AWAKE_SINCE] = begin
    w[client + slot.CLIENT_WAKEUPS] += 1
    return begin + w[slot.WAKEUP]


@compiled
def hear(w: Place, client: int, n: int, slept: int, late: int) -> None:
    """Hear `n` beacons, each after a sleep of so long and followed by doze; they were late by so much in all."""
    w[client + slot.CLIENT_BEACONS] += n
    w[client + slot.CLIENT_BEACONS_ALONE] += n
    w[client + slot.CLIENT_BEACON_LISTENING] += n * listen_ahead(w, slept) + late
    w[client + slot.CLIENT_BEACON_RECEIVING] += n * w[slot.BEACON_AIR]


@compiled
def hear_more(w: Place, client: int, end: int, now: int, air: int) -> None:
    """Hear group frames of so much air time from the end of a beacon to `now`, if it would have dozed since."""
    slept_from = w[client + slot.CLIENT_SLEPT_FROM]
    if w[client + slot.CLIENT_DOZING] and slept_from < now:
        stayed = now - max(end, slept_from)
        received = min(air, stayed)
        w[client + slot.CLIENT_BEACON_RECEIVING] += received
        w[client + slot.CLIENT_BEACON_LISTENING] += stayed - received
        w[client + slot.CLIENT_SLEPT_FROM] = now


@compiled
def awake_ns(w: Place, client: int, now: int) -> int:
    """Return the time in [0, now] that was not dozed; beacons heard from doze count as doze here."""
    before, since = w[client + slot.CLIENT_AWAKE_BEFORE], w[client + slot.CLIENT_AWAKE_SINCE]
    return before - max(0, since - now) if w[client + slot.CLIENT_DOZING] else before + max(0, now - since)


@compiled
def write_states(w: Place, client: int, now: int, place: int) -> None:
    """Write the time in each state up to `now` to `place`."""
    contender, awake = w[client + slot.CLIENT_CONTENDER], awake_ns(w, client, now)
    wakeups, alone = w[client + slot.CLIENT_WAKEUPS], w[client + slot.CLIENT_BEACONS_ALONE]
    up = wakeups * w[slot.WAKEUP]
    waking = up + wakeups * w[slot.SETTLE] + alone * (w[slot.WAKEUP] + w[slot.SETTLE])
    listening, receiving = w[client + slot.CLIENT_BEACON_LISTENING], w[client + slot.CLIENT_BEACON_RECEIVING]
    sent, received = w[contender + slot.CONTENDER_SENT], w[contender + slot.CONTENDER_RECEIVED]
    w[place] = now - awake - listening - receiving - (waking - up)
    w[place + 1] = waking
    w[place + 2] = awake - up - sent - received + listening
    w[place + 3] = received + receiving
    w[place + 4] = sent
    w[place + 5], w[place + 6] = listening, receiving


# -- the policy


@compiled
def ask(w: Place, client: int, at_beacon: int, now: int, slept: int, waiting: int) -> None:
    """Ask the policy; at a beacon `now` is its target time.  The answer stands in the fields ASKED of the client."""
    ints = carray(integers_at(w[client + slot.CLIENT_INTS]), (w[client + slot.CLIENT_N_INTS],))
    floats = carray(reals_at(w[client + slot.CLIENT_FLOATS]), (w[client + slot.CLIENT_N_FLOATS],))
    sent, received = w[client + slot.CLIENT_LAST_SENT], w[client + slot.CLIENT_LAST_RECEIVED]
    offset, deadline = w[client + slot.CLIENT_OFFSET], slot.NEVER
    if w[client + slot.CLIENT_HOST_AWARE] and w[client + slot.CLIENT_DEADLINE] < slot.NEVER:
        deadline = w[client + slot.CLIENT_DEADLINE] - offset
    plan = call_plan(
        w[client + slot.CLIENT_RULE], ints, floats, now - offset, at_beacon, sent, received, slept, waiting, deadline
    )
    until, planned, repeat = plan.awake_until_ns + offset, plan.wake_ns + offset, plan.repeat_ns
    if _cannot_follow(max(until, now), planned, repeat, int(plan.agreed), w[slot.INTERVAL]):
        w[slot.STATUS] |= slot.REFUSED
    w[client + slot.CLIENT_ASKED_UNTIL] = until
    w[client + slot.CLIENT_ASKED_WAKE] = planned
    w[client + slot.CLIENT_ASKED_OPENS] = plan.open_on_send
    w[client + slot.CLIENT_ASKED_REPEAT] = repeat
    w[client + slot.CLIENT_ASKED_AGREED] = plan.agreed


@compiled
def take_asked(w: Place, client: int) -> None:
    """Let what the policy answered hold until something is sent or received."""
    w[client + slot.CLIENT_PLANNED] = 1
    for field in range(5):
        w[client + slot.CLIENT_UNTIL + field] = w[client + slot.CLIENT_ASKED_UNTIL + field]


@compiled
def observe(w: Place, client: int, frame: int, sent: int, reached: int, completes: int, wanted: int) -> None:
    """Let the policy observe a packet that is sent or received now."""
    if not w[client + slot.CLIENT_OBSERVER]:
        return
    ints = carray(integers_at(w[client + slot.CLIENT_INTS]), (w[client + slot.CLIENT_N_INTS],))
    floats = carray(reals_at(w[client + slot.CLIENT_FLOATS]), (w[client + slot.CLIENT_N_FLOATS],))
    now, rule, size = w[slot.NOW], w[client + slot.CLIENT_OBSERVER], w[frame + slot.FRAME_BYTES]
    if w[client + slot.CLIENT_HOST_AWARE]:
        number = w[w[w[frame + slot.FRAME_TO] + slot.END_CONNECTION] + slot.CONNECTION_NUMBER]
        opening, length = w[frame + slot.FRAME_FLAG] != 0, w[frame + slot.FRAME_LENGTH]
        call_observe(rule, ints, floats, sent, now, reached, size, number, opening, length, completes, wanted)
    else:
        call_observe(rule, ints, floats, sent, now, reached, size, -1, 0, 0, 0, 0)
