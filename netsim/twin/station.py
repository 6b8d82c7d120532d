"""The power-saving client and its policy: `netsim.station` and `netsim.policies` in integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.polling import polling_round
from netsim.twin import layout as slot
from netsim.twin.layout import Place
from netsim.twin.schedules import Schedules, follow_schedule

__all__ = ["Learner", "open_gate", "reach", "stay_awake"]

Floats = NDArray[np.float64]
Learner = tuple[Floats, Floats, Floats, Floats, Floats, Floats] | None


@compiled
def _next_multiple(near: int, period: int, at: int) -> int:
    """First multiple of the period after `at`, given one that may be near: a division takes longer than most steps."""
    if near <= at < near + period:
        return near + period
    if near - period <= at < near:
        return near
    return (at // period + 1) * period


@compiled
def _plan(w: Place, now: int, at_beacon: bool, schedules: Schedules) -> None:
    """What holds from `now` on: SLEEP, PLAN_WAKE, PLAN_REPEAT, PLAN_OPENS."""
    if schedules is not None:
        follow_schedule(w, schedules, now, at_beacon)
        return
    kind, interval = w[slot.KIND], w[slot.INTERVAL]
    asleep = now
    w[slot.PLAN_REPEAT] = w[slot.PLAN_OPENS] = 0
    if kind == slot.PSM:
        if w[slot.TIMEOUT]:
            asleep = max(now, max(w[slot.SENT], w[slot.RECEIVED]) + w[slot.TIMEOUT])
            w[slot.PLAN_OPENS] = 1
        w[slot.PLAN_WAKE] = _next_multiple(w[slot.PLAN_WAKE], w[slot.PERIOD], asleep)
        w[slot.PLAN_REPEAT] = w[slot.PERIOD]
    elif kind == slot.BSD:
        w[slot.PLAN_OPENS] = 1
        beacons = w[slot.MAX_BEACONS]
        if w[slot.SENT] >= 0:
            since = now - w[slot.SENT]
            if since < w[slot.HOLD]:
                asleep = w[slot.SENT] + w[slot.HOLD]
                beacons = 1
            else:
                beacons = min(beacons, max(1, since * w[slot.NUMERATOR] // (w[slot.DENOMINATOR] * interval)))
        w[slot.PLAN_WAKE] = (asleep // interval + beacons) * interval
        if beacons == w[slot.MAX_BEACONS] and asleep == now:
            w[slot.PLAN_REPEAT] = beacons * interval
    else:
        w[slot.PLAN_WAKE] = (now // interval + w[slot.BEACONS_TO_SLEEP]) * interval
    w[slot.SLEEP] = max(asleep, w[slot.BUSY])
    w[slot.PLANNED] = 1


@compiled
def _follow(w: Place) -> None:
    w[slot.WAKE], w[slot.REPEAT], w[slot.OPENS] = w[slot.PLAN_WAKE], w[slot.PLAN_REPEAT], w[slot.PLAN_OPENS]


@compiled
def stay_awake(w: Place, intervals: Place, at: int) -> None:
    """Be awake from `at` on: either still, or anew."""
    if w[slot.GATE] or at <= w[slot.UNTIL]:
        return
    if w[slot.UNTIL] > w[slot.SINCE]:
        place = 2 * w[slot.N_INTERVALS]
        if place + 1 < w[slot.INTERVALS_ROOM]:
            intervals[place] = w[slot.SINCE]
            intervals[place + 1] = w[slot.UNTIL]
        w[slot.N_INTERVALS] += 1
        w[slot.BEFORE] += w[slot.UNTIL] - w[slot.SINCE]
    w[slot.SINCE] = w[slot.UNTIL] = at


@compiled
def open_gate(w: Place, at: int) -> None:
    """Deliver from `at` on what reaches the access point."""
    w[slot.GATE] = 1
    w[slot.PLANNED] = 0
    w[slot.BUSY] = max(at, w[slot.AIR_UP])


@compiled
def _note_poll(w: Place, polls: Place, at: int, waiting: int, following: int, more: int) -> None:
    """Enter a poll and so many more like it, or extend the last entry by it where it repeats that."""
    slept = at - w[slot.SLEPT]
    place = 6 * (w[slot.N_POLLS] - 1)
    if (
        w[slot.N_POLLS] > w[slot.PAGE_POLLS]
        and place < w[slot.POLLS_ROOM] - 5
        and waiting == 0
        and more == 0
        and polls[place + 2] == 0
        and slept == polls[place + 1] == polls[place + 3] == following
        and (polls[place + 4] == 0 or polls[place + 5] == following)
    ):
        polls[place + 4] += 1
        polls[place + 5] = following
        return
    place += 6
    if place < w[slot.POLLS_ROOM] - 5:
        polls[place] = at
        polls[place + 1] = slept
        polls[place + 2] = waiting
        polls[place + 3] = following
        polls[place + 4] = more
        polls[place + 5] = following if more else 0
    w[slot.N_POLLS] += 1


@compiled
def _skip_beacons(w: Place, polls: Place, now: int) -> None:
    """Listen to all the beacons up to `now` that bring nothing and need no decision."""
    first, period = w[slot.WAKE], w[slot.REPEAT]
    n = (now - first) // period + 1
    last = first + (n - 1) * period
    w[slot.BEACONS] += n
    if w[slot.SINCE] < last and first <= w[slot.UNTIL]:  # heard while awake to send
        heard = (min(last, w[slot.UNTIL]) - first) // period + 1
        before = (w[slot.SINCE] - first) // period + 1 if first <= w[slot.SINCE] else 0
        w[slot.BEACONS] -= heard - before
    _note_poll(w, polls, first, 0 * n, period, n - 1)
    w[slot.SLEPT] = last
    w[slot.WAKE] = last + period


@compiled
def _advance(w: Place, polls: Place, intervals: Place, now: int, schedules: Schedules) -> int:
    """Bring the station up to `now`, or to a beacon where it must learn, or that lets waiting frames out."""
    while True:
        if w[slot.GATE]:
            if now <= w[slot.BUSY]:
                return slot.DONE_ALREADY
            if not w[slot.PLANNED]:
                _plan(w, w[slot.BUSY], False, schedules)
            asleep = w[slot.SLEEP]
            if now <= asleep:
                return slot.DONE_ALREADY
            w[slot.GATE] = 0
            w[slot.UNTIL] = w[slot.SLEPT] = asleep
            _follow(w)
        at = w[slot.WAKE]
        if at > now:
            return slot.DONE_ALREADY
        if w[slot.REPEAT] and w[slot.WAITING] == 0:
            _skip_beacons(w, polls, now)
            continue
        if w[slot.KIND] == slot.LPSM and not w[slot.LEARNED]:
            return slot.LEARN
        w[slot.LEARNED] = 0
        if not w[slot.SINCE] < at <= w[slot.UNTIL]:
            w[slot.BEACONS] += 1
        _plan(w, at, True, schedules)
        _note_poll(w, polls, at, w[slot.WAITING_BYTES], w[slot.PLAN_WAKE] - at, 0 * at)
        if w[slot.WAITING]:
            stay_awake(w, intervals, at)
            open_gate(w, at)
            w[slot.OUT], w[slot.OUT_TAIL], w[slot.OUT_AT] = 0, w[slot.WAITING], at
            w[slot.WAITING] = w[slot.WAITING_BYTES] = 0
            return slot.LETS_OUT
        if w[slot.SLEEP] > at:
            stay_awake(w, intervals, at)
            w[slot.GATE] = 1
            w[slot.BUSY] = max(at, w[slot.AIR_UP])
            w[slot.SLEEP] = max(w[slot.SLEEP], w[slot.BUSY])
        else:
            w[slot.SLEPT] = at
            _follow(w)


@compiled
def reach(w: Place, polls: Place, intervals: Place, now: int, learner: Learner, schedules: Schedules) -> bool:
    """Bring the station up to `now`, learning on the way; stop and return True where waiting frames are let out.

    Without a learner, or without schedules, this is compiled without them too, which takes a fraction of the time.
    """
    while True:
        what = _advance(w, polls, intervals, now, schedules)
        if what != slot.LEARN:
            return what == slot.LETS_OUT
        if learner is not None:
            interval_ms = w[slot.INTERVAL] / 1e6
            slept_ms, waiting = w[slot.BEACONS_TO_SLEEP] * interval_ms, w[slot.WAITING_BYTES]
            mean = polling_round(slept_ms, waiting, *learner)
            w[slot.BEACONS_TO_SLEEP] = max(1, int(mean / interval_ms + (0.5 + 1e-9)))
        w[slot.LEARNED] = 1
