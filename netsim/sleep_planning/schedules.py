"""Sleep schedules as experts: what each would have cost, exactly, in an episode that is over.

What it models: a client that waits.  Its time is cut into *episodes*: one begins when the client could sleep, and ends
when the next frame for it reaches the access point, or, if none does, when the client itself sends something.  A
*schedule* says, for the time since an *origin*, when the client is awake and which beacons it listens to when it is
not.  Once an episode is over, what every schedule would have done in it follows without approximation: how long it
would have been awake, how many beacons it would have heard, and how much later than at the access point the frame would
have come through.  So experts get full information, whichever was followed.

What it leaves out: what a delay does to the rest of the traffic (a page that waits is a
longer page), and everything about networks: instants are given, in integer nanoseconds.

The idea of stamping arrivals, so that a loss can be exact, is in Monteleoni 2006, section
2.5.5; episodes and schedules are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lpsm.arrays import Floats, Ints
from lpsm.checks import between, of_type, whole
from lpsm.native import compiled
from lpsm.native.entries import FLOATS, Signature, entry_of

_ROWS = "int64[:, ::1]"

NEVER_NS = 2**62
_NS_PER_MS = 1_000_000
_J_PER_MW_NS = 1e-12

# columns of a table of schedules
HOLD_FROM, HOLD_TO, DUTY_FROM, DUTY_TO, DUTY_NS, DENSE_NS, STRIDE, LONGEST, N_COLUMNS = range(9)
# columns of what `walk` finds
AWAKE, BEACONS, WAKEUPS, DELAY, N_FOUND = range(5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When to be awake, and which beacons to listen to, by the time since the origin.

    Awake in [`hold_from_ms`, `hold_to_ms`); inside [`duty_from_ms`, `duty_to_ms`) awake for the first `duty` of
    every beacon interval.  Otherwise asleep, listening to every `stride`-th beacon after the origin; or, if
    `stride` is 0, to every beacon until `dense_ms`, and then after 1, 2, 4, .. more, at most `longest` apart.
    Asleep, the client can become awake at beacons that it listens to, and only there.
    """

    #: times since the origin, milliseconds, not negative
    hold_from_ms: float = 0.0
    hold_to_ms: float = 0.0
    duty_from_ms: float = 0.0
    duty_to_ms: float = 0.0
    duty: float = 0.0  #: part of the beacon interval, in [0, 1)
    dense_ms: float = 0.0
    #: in beacons
    stride: int = 0
    longest: int = 50

    def __post_init__(self) -> None:
        for name in ("hold_from_ms", "hold_to_ms", "duty_from_ms", "duty_to_ms", "dense_ms"):
            between(0.0, 1e9, **{name: getattr(self, name)})
        between(0.0, 1.0, duty=self.duty)
        if self.duty == 1.0:
            raise ValueError(f"duty must lie in [0, 1), got {self.duty}")
        whole(0, 2**31, stride=self.stride)
        whole(1, 2**31, longest=self.longest)


def standard_schedules() -> tuple[Schedule, ...]:
    """Return 49 schedules: held, doubling, periodic, asleep first, on duty, and watchful.

    In this order: awake for a while and then at every beacon until 3.2 s; the same, but thinning out at once; every
    n-th beacon; asleep until a beacon some time off and awake from there; awake for the first part of every beacon
    interval inside a window; every beacon until 3.2 s and then every n-th (for what comes in bursts).

    >>> len(standard_schedules()), len(set(standard_schedules()))
    (49, 49)
    """
    held = [Schedule(hold_to_ms=hold, dense_ms=3200) for hold in (0, 50, 100, 200, 400, 800, 1600)]
    doubling = [Schedule(hold_to_ms=hold, dense_ms=hold) for hold in (0, 50, 200)]
    periodic = [Schedule(stride=stride) for stride in (1, 2, 4, 9, 50)]
    asleep_first = [
        Schedule(hold_from_ms=asleep, hold_to_ms=asleep * times, dense_ms=3200)
        for asleep in (100, 200, 400, 800)
        for times in (1.5, 2, 4)
    ]
    on_duty = [
        Schedule(duty_from_ms=start, duty_to_ms=end, duty=duty, dense_ms=3200)
        for start, end in ((0, 400), (0, 1600), (100, 3200), (200, 800), (400, 1600), (800, 3200))
        for duty in (0.25, 0.5, 0.75)
    ]
    watchful = [Schedule(dense_ms=3200, longest=longest) for longest in (2, 4, 9, 18)]
    return (*held, *doubling, *periodic, *asleep_first, *on_duty, *watchful)


def table(schedules: Sequence[Schedule], beacon_interval_ns: int) -> Ints:
    """Return schedules, at least one, in nanoseconds and beacons, shape (n, 8), as the kernels take them."""
    for schedule in schedules:
        of_type(Schedule, schedules=schedule)
    whole(1, 2**62, beacon_interval_ns=beacon_interval_ns)
    if not schedules:
        raise ValueError("schedules must name at least one, got none")
    rows = np.empty((len(schedules), N_COLUMNS), dtype=np.int64)
    for row, schedule in zip(rows, schedules, strict=True):
        row[HOLD_FROM] = round(schedule.hold_from_ms * _NS_PER_MS)
        row[HOLD_TO] = round(schedule.hold_to_ms * _NS_PER_MS)
        row[DUTY_FROM] = round(schedule.duty_from_ms * _NS_PER_MS)
        row[DUTY_TO] = round(schedule.duty_to_ms * _NS_PER_MS)
        row[DUTY_NS] = round(schedule.duty * beacon_interval_ns)
        row[DENSE_NS] = round(schedule.dense_ms * _NS_PER_MS)
        row[STRIDE], row[LONGEST] = schedule.stride, schedule.longest
    return rows


@compiled
def step(row: Ints, interval_ns: int, origin_ns: int, now_ns: int) -> tuple[int, int, int]:
    """Return what a schedule does at an instant, not before its origin, at which it may still be, or become, awake.

    `row` is one of `table`, shape (8,).  Returns until when it is awake (`now_ns`: asleep at once), the beacon it
    listens to after that, and, if that beacon and all after it are evenly spaced and find it asleep, their spacing,
    else 0.
    """
    since = now_ns - origin_ns
    until = now_ns
    if row[HOLD_FROM] <= since < row[HOLD_TO]:
        until = origin_ns + row[HOLD_TO]
    elif row[DUTY_FROM] <= since < row[DUTY_TO] and now_ns % interval_ns < row[DUTY_NS]:
        until = now_ns // interval_ns * interval_ns + row[DUTY_NS]
    passed = until // interval_ns
    if row[STRIDE] > 0:
        first = origin_ns // interval_ns
        wake = first + ((passed - first) // row[STRIDE] + 1) * row[STRIDE]
        spacing = row[STRIDE]
    else:
        wake = passed + 1
        spacing = 0
        last_dense = (origin_ns + row[DENSE_NS]) // interval_ns
        if passed >= last_dense:
            gap, wake = 1, last_dense + 1
            while wake <= passed:
                gap = min(2 * gap, row[LONGEST])
                if gap == row[LONGEST]:
                    wake += max(0, passed - wake) // gap * gap
                wake += gap
            spacing = gap if gap == row[LONGEST] else 0
    if wake * interval_ns - origin_ns < max(row[HOLD_TO], row[DUTY_TO]):
        spacing = 0
    return until, wake * interval_ns, spacing * interval_ns


@compiled
def walk(
    rows: Ints, interval_ns: int, origin_ns: int, start_ns: int, end_ns: int, arrived: bool, sent_ns: int, out: Ints
) -> None:
    """Find what every schedule would have done in an episode, in which the client is awake at first.

    `rows` are as `table` returns them, shape (n, 8); origin <= start < end.  A frame that reached the access point
    ended the episode (`arrived`), or the client's sending did.  After a frame had arrived the client is known to have
    sent something at `sent_ns`, which lets the frame out; `NEVER_NS`: not before it was heard of.

    `out`, shape (n, 4), receives nanoseconds awake within the episode, beacons listened to (with that which lets the
    frame out), passages from asleep to awake (with that for the frame, or for sending), and nanoseconds of delay.  A
    frame that arrives exactly at a beacon is not in time for it.
    """
    for i in range(rows.shape[0]):
        row = rows[i]
        awake = beacons = wakeups = delay = 0
        now = start_ns
        while True:
            until, wake, spacing = step(row, interval_ns, origin_ns, now)
            if until > now:
                awake += min(until, end_ns) - now
                wakeups += now > start_ns
                if end_ns <= until:
                    break
            if end_ns < wake:
                wakeups += 1
                if arrived:
                    delay = min(wake, sent_ns) - end_ns
                    beacons += wake <= sent_ns
                break
            now = wake
            beacons += 1
            if spacing > 0:
                more = (end_ns - wake) // spacing
                now += more * spacing
                beacons += more
        out[i, AWAKE] = awake
        out[i, BEACONS] = beacons
        out[i, WAKEUPS] = wakeups
        out[i, DELAY] = delay


@compiled
def charge(found: Ints, awake_mw: float, beacon_mj: float, wakeup_j: float, price_w: float, costs: Floats) -> float:
    """Turn what `walk` found into joules, `costs` of shape (n,); return the smallest.

    Power awake is that above asleep, milliwatts; the energy of a beacon is in millijoules, that of a wake-up in joules;
    `price_w` is what a second of delay is worth.
    """
    least = np.inf
    for i in range(found.shape[0]):
        energy = awake_mw * found[i, AWAKE] * _J_PER_MW_NS + beacon_mj * found[i, BEACONS] * 1e-3
        costs[i] = energy + wakeup_j * found[i, WAKEUPS] + price_w * found[i, DELAY] * 1e-9
        least = min(least, costs[i])
    return least


_WALK = entry_of(walk, Signature(None, (_ROWS, *6 * (int,), _ROWS)))
_CHARGE = entry_of(charge, Signature(float, (_ROWS, *4 * (float,), FLOATS)))


def typical_costs(
    rows: Ints,
    beacon_interval_ns: int,
    responses_ms: Sequence[float],
    awake_mw: float,
    beacon_mj: float,
    wakeup_j: float,
    price_w: float,
    *,
    phases: int = 10,
    arrived: bool = True,
) -> Floats:
    """Return every schedule's mean cost over waits of these lengths, begun at evenly spaced phases of the beacon.

    Takes what `walk` and `charge` take; every wait begins at its origin.  Returns joules, shape (n,).
    """
    found, costs = np.empty((len(rows), N_FOUND), dtype=np.int64), np.empty(len(rows))
    total = np.zeros(len(rows))
    for response in responses_ms:
        for phase in range(phases):
            start = phase * beacon_interval_ns // phases
            end = start + round(response * _NS_PER_MS)
            _WALK(rows, beacon_interval_ns, start, start, end, arrived, NEVER_NS, found)
            _CHARGE(found, awake_mw, beacon_mj, wakeup_j, price_w, costs)
            total += costs
    return total / (len(responses_ms) * phases)
