"""The power-saving client: `netsim.station` in integers.  Its policy's rule is called by its address."""

from __future__ import annotations

from numba import carray  # type: ignore[attr-defined]

from lpsm._compile import compiled
from netsim.express import layout as slot
from netsim.express.layout import Place
from netsim.policies.machine_code import call_observe, call_plan
from netsim.policies.protocol import cannot_follow

__all__ = ["Rule", "awake_ns", "note_received", "note_sent", "open_gate", "reach", "stay_awake"]

Rule = tuple[Place, Place]
"""In compiled code: the integers and the numbers of the policy."""
_cannot_follow = compiled(cannot_follow)


@compiled
def _ask(w: Place, rule: Rule, now: int, at_beacon: int) -> None:
    """Ask the policy what holds from `now` on."""
    slept = now - w[slot.SLEPT] if at_beacon else 0 * now
    waiting = w[slot.WAITING_BYTES] if at_beacon else 0 * now
    ints, floats = carray(rule[0], (w[slot.N_INTS],)), carray(rule[1], (w[slot.N_FLOATS],))
    plan = call_plan(
        w[slot.RULE], ints, floats, now, at_beacon, w[slot.SENT], w[slot.RECEIVED], slept, waiting,
        w[slot.PAGE_DEADLINE],
    )  # fmt: skip
    if _cannot_follow(max(plan.awake_until_ns, now), plan.wake_ns, plan.repeat_ns, int(plan.agreed), w[slot.INTERVAL]):
        w[slot.BAIL] = slot.REFUSED
    w[slot.PLANNED] = 1
    w[slot.PLAN_UNTIL], w[slot.PLAN_WAKE], w[slot.PLAN_REPEAT] = plan.awake_until_ns, plan.wake_ns, plan.repeat_ns
    w[slot.PLAN_OPENS], w[slot.PLAN_AGREED] = plan.open_on_send, plan.agreed
    w[slot.SLEEP] = max(plan.awake_until_ns, w[slot.BUSY])


@compiled
def note_sent(w: Place, rule: Rule, c: int, kind: int, length: int, now: int) -> None:
    """Let the policy observe a packet with `length` bytes of payload that the client sends."""
    _observe(w, rule, 1, now, now, c, kind, length, 0, 1)


@compiled
def note_received(w: Place, rule: Rule, c: int, kind: int, first: int, length: int, reached: int, now: int) -> None:
    """Let the policy observe a packet that was at the access point at `reached`; `first` is a message's byte in it."""
    wanted = 1
    if c == slot.PUSH:
        wanted = first + length > w[slot.HAS]
        completes = wanted and first + length == w[slot.EXPECTED]
    elif length:
        completes = length == w[c + slot.C_TO_COME]
    else:
        acknowledged = w[c + slot.C_UNACKED] + w[slot.MSS]
        completes = kind == slot.BARE and w[c + slot.UPLOAD] != 0 and acknowledged >= w[c + slot.C_END]
    _observe(w, rule, 0, now, reached, c, kind, length, completes, wanted)


@compiled
def _observe(
    w: Place, rule: Rule, sent: int, at: int, reached: int, c: int, kind: int, length: int, completes: int, wanted: int
) -> None:
    ints, floats = carray(rule[0], (w[slot.N_INTS],)), carray(rule[1], (w[slot.N_FLOATS],))
    size = length + w[slot.HEADER]
    if w[slot.HOST_AWARE]:
        opening = kind == slot.SYN
        call_observe(w[slot.OBSERVER], ints, floats, sent, at, reached, size, c, opening, length, completes, wanted)
    else:
        call_observe(w[slot.OBSERVER], ints, floats, sent, at, reached, size, -1, 0, 0, 0, 0)


@compiled
def _follow(w: Place) -> None:
    w[slot.WAKE], w[slot.REPEAT] = w[slot.PLAN_WAKE], w[slot.PLAN_REPEAT]
    w[slot.OPENS], w[slot.AGREED] = w[slot.PLAN_OPENS], w[slot.PLAN_AGREED]


@compiled
def awake_ns(w: Place, now: int) -> int:
    """Return the time spent awake in [0, now]; the station must have been brought up to `now`."""
    until = now if w[slot.GATE] else min(now, w[slot.UNTIL])
    return w[slot.BEFORE] + max(0, until - w[slot.SINCE])


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
    """Deliver from `at` on what reaches the access point, and first what waits there."""
    w[slot.GATE] = 1
    w[slot.PLANNED] = 0
    w[slot.BUSY] = max(at, w[slot.AIR_UP])
    w[slot.OUT], w[slot.OUT_TAIL], w[slot.OUT_AT] = 0, w[slot.WAITING], at
    w[slot.WAITING] = w[slot.WAITING_BYTES] = 0


@compiled
def _note_poll(w: Place, polls: Place, at: int, waiting: int, following: int, more: int) -> None:
    """Enter a poll and so many more like it, or extend the last entry by it where it goes on with the same spacing."""
    slept = at - w[slot.SLEPT]
    place = 6 * (w[slot.N_POLLS] - 1)
    if (
        w[slot.N_POLLS] > w[slot.FIXED_POLLS]
        and place < w[slot.POLLS_ROOM] - 5
        and waiting == 0
        and more == 0
        and polls[place + 2] == 0
        and slept == polls[place + 1] == polls[place + 3] == following
        and (polls[place + 4] == 0 or polls[place + 5] == following)
        and at == polls[place] + (polls[place + 4] + 1) * following
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
def reach(w: Place, polls: Place, intervals: Place, now: int, rule: Rule) -> bool:
    """Bring the station up to `now`; stop and return True at a beacon that lets waiting frames out."""
    while not w[slot.BAIL]:
        if w[slot.GATE]:
            if now <= w[slot.BUSY]:
                return False
            if not w[slot.PLANNED]:
                _ask(w, rule, w[slot.BUSY], 0)
            asleep = w[slot.SLEEP]
            if now <= asleep:
                return False
            w[slot.GATE] = 0
            w[slot.UNTIL] = w[slot.SLEPT] = asleep
            _follow(w)
        at = w[slot.WAKE]
        if at > now:
            return False
        if w[slot.REPEAT] and w[slot.WAITING] == 0:
            _skip_beacons(w, polls, now)
            continue
        if not w[slot.AGREED] and not w[slot.SINCE] < at <= w[slot.UNTIL]:
            w[slot.BEACONS] += 1
        _ask(w, rule, at, 1)
        _note_poll(w, polls, at, w[slot.WAITING_BYTES], w[slot.PLAN_WAKE] - at, 0 * at)
        if w[slot.WAITING]:
            stay_awake(w, intervals, at)
            open_gate(w, at)
            return True
        if w[slot.PLAN_UNTIL] > at:
            stay_awake(w, intervals, at)
            w[slot.GATE] = 1
            w[slot.BUSY] = max(at, w[slot.AIR_UP])
            w[slot.SLEEP] = max(w[slot.PLAN_UNTIL], w[slot.BUSY])
            if w[slot.BUSY] >= w[slot.PLAN_WAKE]:  # a frame of its own takes longer than the plan reaches
                w[slot.PLANNED] = 0
        else:
            w[slot.SLEPT] = at
            _follow(w)
    return False
