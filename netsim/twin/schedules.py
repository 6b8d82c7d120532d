"""LPSM2 in compiled code: `netsim.policies.lpsm2` and its accounts, on an array of integers and one of floats.

The integers: parameters; the state of the episode and of the account, which schedule is best in every context;
then the table of schedules, what they would have done, when each frame held back reached the access point, and the
requests waiting, the oldest first.  The floats: parameters and prices; costs, losses and weights of the schedules;
then the learners, one after another, each as `lpsm.experts.kernels` lays it out.

That nothing is lost says what the host's account need not keep: whether a connection is among those opening or
replying follows from the frame.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import carray  # type: ignore[attr-defined]
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.experts.kernels import N_HEAD, N_ROWS, learn_alpha_round, mixture
from lpsm.schedules import DELAY, N_COLUMNS, N_FOUND, NEVER_NS, charge, step, walk
from netsim.twin import layout as slot
from netsim.twin.layout import Place

__all__ = ["Schedules", "follow_schedule", "keep", "learner_floats", "received", "sent", "take_back"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Schedules = tuple[Place, Place, Place] | None
"""In compiled code: the two arrays, and one beside the floats for what learners were before the page."""

MOST_WAITING = 4
S, T, W, IDLE, N_CONTEXTS = 0, 1, 2, 6, 7

# integers: parameters, where what begins; then the state
# fmt: off
(
    N, N_RATES, N_SLOW, INTERVAL, HOST, BARE_BYTES, SILENCE, SHORTEST, CONTEXTS, CLOCK, SHARE, DUAL, PUSH,
    FOUND, REACHED, ASKED, ASKED_ROOM,
    OPEN, CONTEXT, WAITING, ORIGIN, START, SENT, CHOSEN, AWAKE_UNTIL,
    OPENING, ARRIVING, FULL_BYTES, LAST, OWED, N_ASKED,
    BEST,
) = range(32)
# fmt: on
FIRST_STATE = OPEN
SAVED = BEST + N_CONTEXTS
ROWS = SAVED + N_CONTEXTS

# floats
# fmt: off
(
    AWAKE_MW, BEACON_MJ, WAKEUP_J, RATE, ALLOWED, LONGEST, STEP, LEAST, MOST,
    PUSH_DELAY, MOST_DELAYS, PUSH_STEP, PUSH_LEAST, PUSH_MOST, PRICE, PUSH_PRICE,
    COSTS,
) = range(17)
# fmt: on


@compiled
def learner_floats(n: int, n_rates: int, n_slow: int) -> int:
    """How many floats the arrays of a learner take."""
    return n * n_rates + N_ROWS * (n_rates + n_slow) + 2 * n * n_slow + N_HEAD + 3 * n


# -- the account


@compiled
def _ask(w: Place, s: Place, key: int, at: int) -> None:
    """Enter a request."""
    if s[N_ASKED] >= s[ASKED_ROOM]:
        w[slot.BAIL] = slot.FULL
        return
    place = s[ASKED] + 2 * s[N_ASKED]
    s[place] = key
    s[place + 1] = at
    s[N_ASKED] += 1


@compiled
def _answered(s: Place, which: int) -> None:
    """Take a request out."""
    s[N_ASKED] -= 1
    for place in range(s[ASKED] + 2 * which, s[ASKED] + 2 * s[N_ASKED]):
        s[place] = s[place + 2]


@compiled
def _forget(s: Place) -> None:
    s[N_ASKED] = s[OPENING] = s[ARRIVING] = 0


@compiled
def _forget_after(s: Place, now: int) -> bool:
    """What silence until `now` does to the link's account; return whether it has forgotten anything."""
    if s[HOST] or now - s[LAST] < s[SILENCE]:
        return False
    known = s[OPENING] != 0 or s[ARRIVING] != 0 or s[N_ASKED] != 0
    _forget(s)
    return known


@compiled
def _host_received(s: Place, key: int, kind: int, length: int, completes: bool) -> None:
    if kind == slot.SYN:
        s[OPENING] -= 1
    if length == 0:
        return
    which = 0
    while which < s[N_ASKED] and s[s[ASKED] + 2 * which] != key:
        which += 1
    first = which < s[N_ASKED]
    if first:
        _answered(s, which)
    s[ARRIVING] += first - completes


@compiled
def _link_received(s: Place, size: int, at: int) -> None:
    if size <= s[BARE_BYTES]:
        s[OWED] = at if s[OPENING] else -1
        s[OPENING] = max(0, s[OPENING] - 1)
    elif size >= s[FULL_BYTES]:
        s[FULL_BYTES] = size
        s[OWED] = at
        s[ARRIVING] = 1 if s[N_ASKED] else 0
    else:
        s[ARRIVING] = 0
        if s[N_ASKED]:
            _answered(s, 0)


@compiled
def sent(w: Place, schedules: Any, word: int, length: int, at: int) -> None:
    """Enter a packet, `word`, with `length` bytes of payload that the client sends."""
    s = schedules[0]
    if s[OPEN] and s[SENT] == NEVER_NS:
        s[SENT] = at
    if s[HOST]:
        if word & 3 == slot.SYN:
            s[OPENING] += 1
        elif length:
            key, which = word >> 2, 0
            while which < s[N_ASKED] and s[s[ASKED] + 2 * which] != key:
                which += 1
            if which == s[N_ASKED]:
                _ask(w, s, key, at)
    else:
        _forget_after(s, at)
        s[LAST] = at
        if length + w[slot.HEADER] > s[BARE_BYTES]:
            _ask(w, s, -1, at)
        elif at > s[AWAKE_UNTIL]:
            _forget(s)
            s[OPENING] = 1
        elif at != s[OWED]:
            s[OPENING] += 1
        s[OWED] = -1
    s[AWAKE_UNTIL] = NEVER_NS


@compiled
def received(w: Place, schedules: Any, word: int, length: int, reached: int, at: int) -> None:
    """End the episode with a packet that was at the access point at `reached`, and enter it."""
    s = schedules[0]
    if s[OPEN]:
        if reached >= s[SENT]:
            _end_at_send(schedules, reached)
        else:
            _end(schedules, reached, True, s[SENT])
    if s[HOST]:
        key = word >> 2
        _host_received(s, key, word & 3, length, length == w[key + slot.C_TO_COME])
    else:
        _forget_after(s, at)
        s[LAST] = at
        _link_received(s, length + w[slot.HEADER], at)
    s[AWAKE_UNTIL] = NEVER_NS


# -- episodes


@compiled
def follow_schedule(w: Place, schedules: Any, now: int, at_beacon: bool) -> None:
    """What holds from `now` on: SLEEP, PLAN_WAKE, PLAN_REPEAT, PLAN_OPENS."""
    s = schedules[0]
    w[slot.PLAN_OPENS] = w[slot.PLANNED] = 1
    w[slot.PLAN_REPEAT] = 0
    if at_beacon and w[slot.WAITING_BYTES]:
        w[slot.SLEEP], w[slot.PLAN_WAKE] = max(now, w[slot.BUSY]), now + s[INTERVAL]
        return
    if not at_beacon:
        if s[OPEN]:
            _end_at_send(schedules, now)
        _begin(s, now)
    elif s[CONTEXT] != IDLE and _forget_after(s, now):
        _end(schedules, now, False, NEVER_NS)
        _begin(s, now)
    n = s[N]
    rows = carray(s, (ROWS + n * N_COLUMNS,))[ROWS:].reshape(n, N_COLUMNS)
    until, wake, spacing = step(rows[s[CHOSEN]], s[INTERVAL], s[ORIGIN], now)
    s[AWAKE_UNTIL] = until
    w[slot.SLEEP], w[slot.PLAN_WAKE] = max(until, w[slot.BUSY]), wake
    if s[CONTEXT] == IDLE:
        w[slot.PLAN_REPEAT] = spacing


@compiled
def _begin(s: Place, now: int) -> None:
    s[ORIGIN] = s[START] = now
    s[WAITING] = 1
    waiting = s[N_ASKED] if s[HOST] else max(0, s[N_ASKED] - s[ARRIVING])
    if s[OPENING]:
        s[CONTEXT] = S
    elif s[ARRIVING]:
        s[CONTEXT] = T
    elif waiting:
        some = min(waiting, MOST_WAITING)
        s[CONTEXT] = W + some - 1
        if s[SHARE]:
            s[WAITING] = some
        if s[CLOCK]:
            s[ORIGIN] = s[s[ASKED] + 1]  # no reply is coming in, so the first is the oldest
    else:
        s[CONTEXT] = IDLE
    s[OPEN] = 1
    s[SENT] = NEVER_NS
    s[CHOSEN] = s[BEST + (s[CONTEXT] if s[CONTEXTS] else 0)]


@compiled
def _end_at_send(schedules: Any, now: int) -> None:
    _end(schedules, min(schedules[0][SENT], now), False, NEVER_NS)


@compiled
def _end(schedules: Any, end: int, arrived: bool, sent_ns: int) -> None:
    """Charge every schedule, teach the learner of the context, and move the price."""
    s, f, _ = schedules
    s[OPEN] = 0
    if end - s[START] < s[SHORTEST]:
        return
    n, context = s[N], s[CONTEXT]
    numbers = carray(s, (s[FOUND] + n * N_FOUND,))
    rows = numbers[ROWS : ROWS + n * N_COLUMNS].reshape(n, N_COLUMNS)
    found = numbers[s[FOUND] :].reshape(n, N_FOUND)
    costs = carray(f, (COSTS + n,))[COSTS:]
    walk(rows, s[INTERVAL], s[ORIGIN], s[START], end, arrived, sent_ns, found)
    price = f[PUSH_PRICE] if context == IDLE and s[PUSH] else f[PRICE]
    least = charge(found, f[AWAKE_MW], f[BEACON_MJ], f[WAKEUP_J], price / s[WAITING], costs)
    _teach(schedules, context if s[CONTEXTS] else 0, least)
    if arrived and s[DUAL]:
        delay_s = found[s[CHOSEN], DELAY] * 1e-9
        _move_price(s, f, delay_s / s[WAITING], (end - s[START]) * 1e-9)


@compiled
def _move_price(s: Place, f: Place, delay_s: float, response_s: float) -> None:
    if s[CONTEXT] != IDLE:
        allowed_s = f[ALLOWED] * min(response_s, f[LONGEST])
        price = f[PRICE] * math.exp(f[STEP] * (delay_s - allowed_s))
        f[PRICE] = min(max(price, f[LEAST]), f[MOST])
    elif s[PUSH]:
        counted = min(delay_s / f[PUSH_DELAY], f[MOST_DELAYS])
        price = f[PUSH_PRICE] * math.exp(f[PUSH_STEP] * (counted - 1.0))
        f[PUSH_PRICE] = min(max(price, f[PUSH_LEAST]), f[PUSH_MOST])


@compiled
def _teach(schedules: Any, which: int, least: float) -> None:
    """Let a learner learn from the costs, kept as it was before if it is the first time in a page."""
    s, f, kept = schedules
    n, n_rates, n_slow = s[N], s[N_RATES], s[N_SLOW]
    size = learner_floats(n, n_rates, n_slow)
    at = COSTS + 3 * n + which * size
    if not s[SAVED + which]:
        s[SAVED + which] = 1
        for j in range(at, at + size):
            kept[j] = f[j]
    numbers = carray(f, (at + size,))
    losses, out = numbers[COSTS + n : COSTS + 2 * n], numbers[COSTS + 2 * n : COSTS + 3 * n]
    for j in range(n):
        losses[j] = (numbers[COSTS + j] - least) * f[RATE]
    weights = numbers[at : at + n * n_rates].reshape(n, n_rates)
    at += n * n_rates
    columns = numbers[at : at + N_ROWS * (n_rates + n_slow)].reshape(N_ROWS, n_rates + n_slow)
    at += N_ROWS * (n_rates + n_slow)
    slow = numbers[at : at + 2 * n * n_slow].reshape(2, n, n_slow)
    at += 2 * n * n_slow
    head = numbers[at : at + N_HEAD]
    work = numbers[at + N_HEAD : at + N_HEAD + 3 * n].reshape(3, n)
    learn_alpha_round(losses, weights, columns, slow, head, work)
    mixture(weights, columns, slow, head, out)
    s[BEST + which] = np.argmax(out)


# -- a page that is left over


@compiled
def keep(s: Ints, f: Floats, kept: Ints, kept_floats: Floats) -> None:
    """Note the state before a page; the learners are noted when they first learn."""
    s[SAVED:ROWS] = 0
    kept[FIRST_STATE:ROWS] = s[FIRST_STATE:ROWS]
    asked = s[ASKED]
    kept[asked : asked + 2 * s[N_ASKED]] = s[asked : asked + 2 * s[N_ASKED]]
    kept_floats[PRICE:COSTS] = f[PRICE:COSTS]


@compiled
def take_back(s: Ints, f: Floats, kept: Ints, kept_floats: Floats) -> None:
    """Go back to the state before a page."""
    size = learner_floats(s[N], s[N_RATES], s[N_SLOW])
    for which in range(N_CONTEXTS):
        if s[SAVED + which]:
            at = COSTS + 3 * s[N] + which * size
            f[at : at + size] = kept_floats[at : at + size]
    s[FIRST_STATE:ROWS] = kept[FIRST_STATE:ROWS]
    asked = s[ASKED]
    s[asked : asked + 2 * s[N_ASKED]] = kept[asked : asked + 2 * s[N_ASKED]]
    f[PRICE:COSTS] = kept_floats[PRICE:COSTS]
