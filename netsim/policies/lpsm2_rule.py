"""The rule of LPSM2 as compiled functions, on one record of numbers; `netsim.policies.lpsm2` says what it does.

The integers of the compiled form are this record, `STATE`, and behind it the table of schedules and what they would
have done in the last round; a number in it that is no integer has the same eight bytes.  The numbers are costs, losses
and weights of the schedules; then the learners, one after another, each as `lpsm.experts.share` lays it out.
"""

from __future__ import annotations

import math

import numpy as np

from lpsm.experts.share import N_HEAD, N_ROWS, N_WORK, learn_alpha_round, mixture
from lpsm.native import block, compiled
from lpsm.native.records import IntArray, RealArray, dtype_of, record
from netsim.policies import outstanding
from netsim.policies.compiled import FlatFrame, FlatView, Floats, Ints
from netsim.policies.outstanding import Account
from netsim.policies.protocol import Plan
from netsim.sleep_planning import hazards
from netsim.sleep_planning.schedules import DELAY, N_COLUMNS, N_FOUND, NEVER_NS, charge, step, walk

MOST_WAITING = 4
S, T, W, IDLE, N_CONTEXTS = 0, 1, 2, 6, 7


@record
class Lpsm2State(Account):
    """Constants, the episode, and what was learned beside the learners, with what is outstanding."""

    # how many schedules, ordinary and slow switching rates; and the settings of the configuration
    n_schedules: int
    n_rates: int
    n_slow: int
    interval_ns: int
    shortest_ns: int
    prices_push: int
    is_fixed: int
    awake_mw: float
    beacon_mj: float
    wakeup_j: float
    rate_per_j: float
    allowed: float
    longest_response_s: float
    price_step: float
    least_price_w: float
    most_price_w: float
    push_delay_s: float
    most_push_delays: float
    push_step: float
    least_push_price_w: float
    most_push_price_w: float
    # lambda, outside I and in I
    price_w: float
    push_price_w: float
    # the episode: `sent_ns` is the client's first frame in it, until when the client is known to be awake
    open: int
    context: int
    waiting: int
    counted_from_ns: int
    start_ns: int
    sent_ns: int
    chosen: int
    awake_until_ns: int
    # the last round, and how many there were
    rounds: int
    last_context: int
    last_start_ns: int
    last_end_ns: int
    last_arrived: int
    last_waiting: int
    last_price_w: float
    last_chosen: int
    # the best schedule of every context
    best: IntArray = N_CONTEXTS
    # how long episodes last, by context, as `netsim.sleep_planning.hazards` learns it
    prior_events: float
    shapes: RealArray = N_CONTEXTS
    events: RealArray = N_CONTEXTS, hazards.N_BINS
    at_risk_s: RealArray = N_CONTEXTS, hazards.N_BINS
    rates: RealArray = N_CONTEXTS, hazards.N_WIDTHS, hazards.N_BINS
    log_evidence: RealArray = N_CONTEXTS, hazards.N_WIDTHS
    mean_rates: RealArray = N_CONTEXTS, hazards.N_BINS


STATE = dtype_of("Lpsm2State")
SIZE = STATE.itemsize // 8
"""How many integers it takes."""


@compiled
def prepare(ints: Ints) -> None:
    """Fill in what is known of episodes before any was seen."""
    hazards.begin(ints[:SIZE].view(STATE)[0])


@compiled
def observe_frame(frame: FlatFrame, ints: Ints, floats: Floats) -> None:
    """Enter a frame into the account, and end the episode if it is one that came."""
    s, table = ints[:SIZE].view(STATE)[0], ints[SIZE:]
    if frame.sent:
        if s.open and s.sent_ns == NEVER_NS:
            s.sent_ns = frame.at_ns
    elif s.open and (frame.connection < 0 or frame.wanted):
        reached_ns, high_ns = frame.full_ns, frame.full_ns - s.start_ns
        if frame.empty_ns >= s.sent_ns:
            _end_at_send(s, table, floats, reached_ns)
        else:
            if high_ns > 0:
                low_ns = min(max(0, frame.empty_ns - s.start_ns), high_ns)
                reached_ns = s.start_ns + hazards.learn_end(s, s.context, low_ns, high_ns)
            _end(s, table, floats, min(reached_ns, s.sent_ns), True, s.sent_ns)
    outstanding.observe(s, frame, frame.at_ns > s.awake_until_ns)
    s.awake_until_ns = NEVER_NS  # until it is asked again


@compiled
def follow_schedule(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Begin an episode when the client could sleep, go on with its schedule at a beacon that brings nothing."""
    s, table = ints[:SIZE].view(STATE)[0], ints[SIZE:]
    now, interval = view.now_ns, s.interval_ns
    if not view.at_beacon:
        if s.open:
            _end_at_send(s, table, floats, now)
        _begin(s, now)
    elif view.buffered_bytes:
        return Plan(now, now + interval, True, 0 * now, False)
    elif s.context != IDLE and outstanding.forget_after(s, now):
        _end(s, table, floats, now, False, NEVER_NS)
        _begin(s, now)
    row = s.chosen * N_COLUMNS
    until, wake, spacing = step(table[row : row + N_COLUMNS], interval, s.counted_from_ns, now)
    s.awake_until_ns = until
    return Plan(until, wake, True, spacing if s.context == IDLE else 0 * now, False)


@compiled
def _begin(s: Lpsm2State, now: int) -> None:
    s.counted_from_ns = s.start_ns = now
    s.waiting = 1
    waiting = outstanding.count(s, outstanding.REPLY)
    if outstanding.first(s, outstanding.OPENING) >= 0:
        s.context = S
    elif outstanding.first(s, outstanding.REST) >= 0:
        s.context = T
    elif waiting:
        s.waiting = min(waiting, MOST_WAITING)
        s.context = W + s.waiting - 1
        s.counted_from_ns = s.origin_ns[outstanding.first(s, outstanding.REPLY)]
    else:
        s.context = IDLE
    s.open = 1
    s.sent_ns = NEVER_NS
    s.chosen = s.best[s.context]


@compiled
def _end_at_send(s: Lpsm2State, table: Ints, floats: Floats, now: int) -> None:
    _end(s, table, floats, min(s.sent_ns, now), False, NEVER_NS)


@compiled
def _end(s: Lpsm2State, table: Ints, floats: Floats, end: int, arrived: bool, sent_ns: int) -> None:
    """Charge every schedule, teach the learner of the context, and move the price."""
    s.open = 0
    if not arrived and end > s.start_ns:
        hazards.learn_watch(s, s.context, end - s.start_ns, False)
    if end - s.start_ns < s.shortest_ns:
        return
    n, context = s.n_schedules, s.context
    found_at = n * N_COLUMNS
    rows, found = block(table, 0, (n, N_COLUMNS)), block(table, found_at, (n, N_FOUND))
    walk(rows, s.interval_ns, s.counted_from_ns, s.start_ns, end, arrived, sent_ns, found)
    price_w = s.push_price_w if context == IDLE and s.prices_push else s.price_w
    least = charge(found, s.awake_mw, s.beacon_mj, s.wakeup_j, price_w / s.waiting, floats[:n])
    if not s.is_fixed:
        _teach(s, floats, context, least)
    s.rounds += 1
    s.last_context, s.last_start_ns, s.last_end_ns, s.last_arrived = context, s.start_ns, end, arrived
    s.last_waiting, s.last_price_w, s.last_chosen = s.waiting, price_w, s.chosen
    if arrived:
        delay_s = found[s.chosen, DELAY] * 1e-9
        _move_price(s, delay_s / s.waiting, (end - s.start_ns) * 1e-9)


@compiled
def _move_price(s: Lpsm2State, delay_s: float, response_s: float) -> None:
    """Dual ascent on ln lambda: up if there was more delay than allowed, down if there was less."""
    if s.context != IDLE:
        allowed_s = s.allowed * min(response_s, s.longest_response_s)
        price_w = s.price_w * math.exp(s.price_step * (delay_s - allowed_s))
        s.price_w = min(max(price_w, s.least_price_w), s.most_price_w)
    elif s.prices_push:
        counted = min(delay_s / s.push_delay_s, s.most_push_delays)
        price_w = s.push_price_w * math.exp(s.push_step * (counted - 1.0))
        s.push_price_w = min(max(price_w, s.least_push_price_w), s.most_push_price_w)


@compiled
def room_of_learner(n: int, n_rates: int, n_slow: int) -> int:
    """Return how many numbers a Learn-alpha of n experts takes, `n_slow` of whose rates are slow and `n_rates` not."""
    return n * (n_rates + n_slow + N_WORK) + N_ROWS * (n_rates + n_slow) + N_HEAD


@compiled
def learner_at(
    floats: Floats, at: int, n: int, n_rates: int, n_slow: int
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return the arrays of the learner that begins at a place, in the order in which `learn_alpha_round` takes them."""
    columns_at = at + n * n_rates
    slow_at = columns_at + N_ROWS * (n_rates + n_slow)
    head_at = slow_at + n * n_slow
    return (
        block(floats, at, (n, n_rates)),
        block(floats, columns_at, (N_ROWS, n_rates + n_slow)),
        block(floats, slow_at, (n_slow, n)),
        floats[head_at : head_at + N_HEAD],
        block(floats, head_at + N_HEAD, (N_WORK, n)),
    )


@compiled
def _teach(s: Lpsm2State, floats: Floats, which: int, least: float) -> None:
    """Let a learner learn from the costs, and note its best schedule."""
    n, n_rates, n_slow = s.n_schedules, s.n_rates, s.n_slow
    costs, losses, weights = floats[:n], floats[n : 2 * n], floats[2 * n : 3 * n]
    for j in range(n):
        losses[j] = (costs[j] - least) * s.rate_per_j
    learner = learner_at(floats, 3 * n + which * room_of_learner(n, n_rates, n_slow), n, n_rates, n_slow)
    learn_alpha_round(losses, *learner)
    mixture(*learner[:4], weights)
    s.best[which] = np.argmax(weights)
