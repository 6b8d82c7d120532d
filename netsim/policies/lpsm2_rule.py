"""The rule of LPSM2 as compiled functions; `netsim.policies.lpsm2` says what it does.

The integers: parameters; the episode; which schedule is best in every context; the last round played; the account of
`netsim.policies.awareness`; the table of schedules; what they would have done in the last round.  The numbers:
parameters and prices; costs, losses and weights of the schedules; then the learners, one after another, each as
`lpsm.experts.share` lays it out.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.experts.share import N_HEAD, N_ROWS, learn_alpha_round, mixture
from netsim.policies import awareness
from netsim.policies.compiled import FlatFrame, FlatView, Floats, Ints
from netsim.policies.protocol import Plan
from netsim.sleep_planning.schedules import DELAY, N_COLUMNS, N_FOUND, NEVER_NS, charge, step, walk

__all__ = ["follow_schedule", "layout", "learner_size", "observe_frame"]

MOST_WAITING = 4
S, T, W, IDLE, N_CONTEXTS = 0, 1, 2, 6, 7

# fmt: off
(
    # parameters: how many schedules, ordinary and slow switching rates; and the settings of the configuration
    N, N_RATES, N_SLOW, INTERVAL, SHORTEST, CONTEXTS, CLOCK, SHARE, DUAL, PUSH, SAMPLE, FIXED,
    # the episode: SENT is the client's first frame in it, AWAKE_UNTIL until when the client is known to be awake
    OPEN, CONTEXT, WAITING, ORIGIN, START, SENT, CHOSEN, AWAKE_UNTIL, DRAWN,
    # the last round: how many there were, its context, begin, end, whether a frame ended it, waiting, and chosen
    ROUNDS, LAST_CONTEXT, LAST_START, LAST_END, LAST_ARRIVED, LAST_WAITING, LAST_CHOSEN,
    BEST,
) = range(29)
ACCOUNT = BEST + N_CONTEXTS
TABLE = ACCOUNT + awareness.ACCOUNT_SIZE

(
    AWAKE_MW, BEACON_MJ, WAKEUP_J, RATE, ALLOWED, LONGEST, STEP, LEAST, MOST,
    PUSH_DELAY, MOST_DELAYS, PUSH_STEP, PUSH_LEAST, PUSH_MOST, PRICE, PUSH_PRICE, LAST_PRICE, UNIFORM,
    COSTS,
) = range(19)
# fmt: on


def layout(n_schedules: int) -> tuple[int, int, int]:
    """Return where, for so many schedules, what they would have done begins and ends, and where the learners begin."""
    found = TABLE + n_schedules * N_COLUMNS
    return found, found + n_schedules * N_FOUND, COSTS + 3 * n_schedules


@compiled
def learner_size(n: int, n_rates: int, n_slow: int) -> int:
    """How many numbers the arrays of a learner take."""
    return n * n_rates + N_ROWS * (n_rates + n_slow) + 2 * n * n_slow + N_HEAD + 3 * n


@compiled
def observe_frame(frame: FlatFrame, s: Ints, f: Floats) -> None:
    """Enter a frame into the account, and end the episode if it is one that came."""
    if frame.sent:
        if s[OPEN] and s[SENT] == NEVER_NS:
            s[SENT] = frame.at_ns
    elif s[OPEN] and (frame.connection < 0 or frame.wanted):
        if frame.reached_ns >= s[SENT]:
            _end_at_send(s, f, frame.reached_ns)
        else:
            _end(s, f, frame.reached_ns, True, s[SENT])
    awareness.observe(s[ACCOUNT:TABLE], frame, frame.at_ns > s[AWAKE_UNTIL])
    s[AWAKE_UNTIL] = NEVER_NS  # until it is asked again


@compiled
def follow_schedule(view: FlatView, s: Ints, f: Floats) -> Plan:
    """Begin an episode when the client could sleep, go on with its schedule at a beacon that brings nothing."""
    now, interval = view.now_ns, s[INTERVAL]
    if not view.at_beacon:
        if s[OPEN]:
            _end_at_send(s, f, now)
        _begin(s, f, now)
    elif view.buffered_bytes:
        return Plan(now, now + interval, True, 0 * now, False)
    elif s[CONTEXT] != IDLE and awareness.forget_after(s[ACCOUNT:TABLE], now):
        _end(s, f, now, False, NEVER_NS)
        _begin(s, f, now)
    row = TABLE + s[CHOSEN] * N_COLUMNS
    until, wake, spacing = step(s[row : row + N_COLUMNS], interval, s[ORIGIN], now)
    s[AWAKE_UNTIL] = until
    return Plan(until, wake, True, spacing if s[CONTEXT] == IDLE else 0 * now, False)


@compiled
def _begin(s: Ints, f: Floats, now: int) -> None:
    account = s[ACCOUNT:TABLE]
    s[ORIGIN] = s[START] = now
    s[WAITING] = 1
    waiting = awareness.waiting(account)
    if account[awareness.OPENING]:
        s[CONTEXT] = S
    elif account[awareness.ARRIVING]:
        s[CONTEXT] = T
    elif waiting:
        some = min(waiting, MOST_WAITING)
        s[CONTEXT] = W + some - 1
        if s[SHARE]:
            s[WAITING] = some
        if s[CLOCK]:
            s[ORIGIN] = awareness.oldest_ns(account)
    else:
        s[CONTEXT] = IDLE
    s[OPEN] = 1
    s[SENT] = NEVER_NS
    which = s[CONTEXT] if s[CONTEXTS] else 0
    s[CHOSEN] = _drawn(s, f, which) if s[SAMPLE] else s[BEST + which]


@compiled
def _end_at_send(s: Ints, f: Floats, now: int) -> None:
    _end(s, f, min(s[SENT], now), False, NEVER_NS)


@compiled
def _end(s: Ints, f: Floats, end: int, arrived: bool, sent_ns: int) -> None:
    """Charge every schedule, teach the learner of the context, and move the price."""
    s[OPEN] = 0
    if end - s[START] < s[SHORTEST]:
        return
    n, context = s[N], s[CONTEXT]
    found_at = TABLE + n * N_COLUMNS
    rows = s[TABLE:found_at].reshape(n, N_COLUMNS)
    found = s[found_at : found_at + n * N_FOUND].reshape(n, N_FOUND)
    walk(rows, s[INTERVAL], s[ORIGIN], s[START], end, arrived, sent_ns, found)
    price = f[PUSH_PRICE] if context == IDLE and s[PUSH] else f[PRICE]
    least = charge(found, f[AWAKE_MW], f[BEACON_MJ], f[WAKEUP_J], price / s[WAITING], f[COSTS : COSTS + n])
    if not s[FIXED]:
        _teach(s, f, context if s[CONTEXTS] else 0, least)
    s[ROUNDS] += 1
    s[LAST_CONTEXT], s[LAST_START], s[LAST_END], s[LAST_ARRIVED] = context, s[START], end, arrived
    s[LAST_WAITING], s[LAST_CHOSEN], f[LAST_PRICE] = s[WAITING], s[CHOSEN], price
    if arrived and s[DUAL]:
        delay_s = found[s[CHOSEN], DELAY] * 1e-9
        _move_price(s, f, delay_s / s[WAITING], (end - s[START]) * 1e-9)


@compiled
def _move_price(s: Ints, f: Floats, delay_s: float, response_s: float) -> None:
    """Dual ascent on ln lambda: up if there was more delay than allowed, down if there was less."""
    if s[CONTEXT] != IDLE:
        allowed_s = f[ALLOWED] * min(response_s, f[LONGEST])
        price = f[PRICE] * math.exp(f[STEP] * (delay_s - allowed_s))
        f[PRICE] = min(max(price, f[LEAST]), f[MOST])
    elif s[PUSH]:
        counted = min(delay_s / f[PUSH_DELAY], f[MOST_DELAYS])
        price = f[PUSH_PRICE] * math.exp(f[PUSH_STEP] * (counted - 1.0))
        f[PUSH_PRICE] = min(max(price, f[PUSH_LEAST]), f[PUSH_MOST])


@compiled
def _learner(
    s: Ints, f: Floats, which: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the arrays of a learner, in the order in which `learn_alpha_round` takes them."""
    n, n_rates, n_slow = s[N], s[N_RATES], s[N_SLOW]
    at = COSTS + 3 * n + which * learner_size(n, n_rates, n_slow)
    columns_at = at + n * n_rates
    slow_at = columns_at + N_ROWS * (n_rates + n_slow)
    head_at = slow_at + 2 * n * n_slow
    work_at = head_at + N_HEAD
    return (
        f[at:columns_at].reshape(n, n_rates),
        f[columns_at:slow_at].reshape(N_ROWS, n_rates + n_slow),
        f[slow_at:head_at].reshape(2, n, n_slow),
        f[head_at:work_at],
        f[work_at : work_at + 3 * n].reshape(3, n),
    )


@compiled
def _teach(s: Ints, f: Floats, which: int, least: float) -> None:
    """Let a learner learn from the costs, and note its best schedule."""
    n = s[N]
    losses, weights = f[COSTS + n : COSTS + 2 * n], f[COSTS + 2 * n : COSTS + 3 * n]
    for j in range(n):
        losses[j] = (f[COSTS + j] - least) * f[RATE]
    learner = _learner(s, f, which)
    learn_alpha_round(losses, *learner)
    mixture(*learner[:4], weights)
    s[BEST + which] = np.argmax(weights)


@compiled
def _drawn(s: Ints, f: Floats, which: int) -> int:
    """Draw a schedule by the weights of a learner, from the number at UNIFORM."""
    n = s[N]
    weights = f[COSTS + 2 * n : COSTS + 3 * n]
    mixture(*_learner(s, f, which)[:4], weights)
    s[DRAWN] += 1
    chosen, below = 0, np.cumsum(weights)
    while chosen < n - 1 and below[chosen] / below[n - 1] <= f[UNIFORM]:
        chosen += 1
    return chosen
