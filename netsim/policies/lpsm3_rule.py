"""The rule of LPSM3 and LPSM4 as compiled functions, on one record of numbers.

`netsim.policies.lpsm3` and `netsim.policies.lpsm4` say what it does; LPSM3 is LPSM4 that does not poll.  What concerns
messages is in `netsim.policies.lpsm3_messages`.

The integers of the compiled form are the record, `netsim.policies.lpsm3_state.STATE`, and behind it the workspace in
which plans are made.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lpsm.native import compiled
from netsim.policies import lpsm3_messages as messages
from netsim.policies import outstanding
from netsim.policies.compiled import FlatFrame, FlatView, Floats, Ints
from netsim.policies.lpsm3_state import (
    HELD,
    MESSAGE,
    SERVERS,
    STATE,
    TRIP_STEP_BYTES,
    TRIPS,
    Lpsm3State,
)
from netsim.policies.outstanding import OPENING, REPLY, REST
from netsim.policies.protocol import ASK, FOREVER_NS, Plan
from netsim.sleep_planning import hazards
from netsim.sleep_planning import plans as planning
from netsim.sleep_planning.plans import Workspace
from netsim.sleep_planning.prices import find_worth, length_class, note_length, price_at, price_before, settle

NEVER_NS = 2**62
_FOLLOWED_STOPS = 8  # a plan is made anew later than that
_TOOK_STEP, _TOOK_AT_MOST_S = 0.1, 0.1  # of the mean time of a poll
_GOLDEN = 0.6180339887498949  # its multiples, modulo 1, are spread most evenly
# how likely a wait is not over yet, below which no other shares a page with it, or it is over
_LEFT, _GONE = 0.05, 0.002
_ASKED_AGAIN = 0.2  # and below which where the client asks again
_SELDOM = 0.1  # how likely at least an answer was none, where messages come
_LONGEST_SLEEP = 3.5  # once a message has come, in delays that were asked for
_SHORTEST_SERVICE_INTERVAL_NS, _TIMEOUT_STEP_NS = 20_000_000, 10_000_000  # that can be agreed on, and set
LARGEST_EXCESS = 19.0
"""The largest excess of a page for which its delay is guaranteed on average."""
_STATE_SIZE = STATE.itemsize // 8
SIZE = _STATE_SIZE + planning.WORKSPACE.itemsize // 8
"""How many integers the state and the workspace take."""


def state_of(ints: Ints) -> NDArray[np.void]:
    """Return the state that the integers of the compiled form hold, an array of `STATE` of shape (1,)."""
    found: NDArray[np.void] = ints[:_STATE_SIZE].view(STATE)
    return found


@compiled
def prepare(ints: Ints) -> None:
    """Fill in what is known before anything was seen; the constants are there."""
    s = ints[:_STATE_SIZE].view(STATE)[0]
    hazards.begin(s)
    s.servers[:] = s.asked_ns[:] = -1
    s.opened_ns = s.held_from_ns = s.held_middle_ns = s.push_key = s.poll_ns = s.reply = -1
    s.awake_until_ns = NEVER_NS
    s.push_stale = 1
    s.push_price_w = math.sqrt(s.least_push_price_w * s.most_push_price_w)
    s.ages[1] = 1.0
    s.worth[:] = 1.0


# -- frames


@compiled
def observe_frame(frame: FlatFrame, ints: Ints, floats: Floats) -> None:
    """Enter a frame into the account, and learn from the wait that it ends."""
    s = ints[:_STATE_SIZE].view(STATE)[0]
    if 0 <= s.poll_ns <= frame.at_ns:
        s.opened_ns, s.awake_until_ns = min(frame.at_ns, s.poll_ns + int(s.took_s * 1e9)), NEVER_NS
    s.poll_ns = -1
    if frame.sent:
        _sent(s, frame)
    else:
        s.low_ns, s.high_ns = frame.empty_ns, frame.full_ns
        s.blurred |= s.low_ns < s.high_ns
        if not s.host_aware:
            _watch_waits(s, s.low_ns)
        _received(s, frame)
    s.awake_until_ns = NEVER_NS  # until it is asked again
    s.planned = 0


@compiled
def _sent(s: Lpsm3State, frame: FlatFrame) -> None:
    """Enter a frame that the client has handed to its transmitter."""
    at_ns, asleep = frame.at_ns, frame.at_ns > s.awake_until_ns
    if outstanding.forget_after(s, at_ns) and s.loading:
        _end_page(s)
    if asleep:
        s.opened_ns = at_ns
    if s.reply >= 0 and at_ns == s.last_ns and (frame.size_bytes > s.bare_bytes or at_ns != s.owed_ns):
        _answer(s, at_ns)
    if s.n and s.loading and s.paused and not _likely(s, _ASKED_AGAIN):
        _end_page(s)  # who asks again has his answer rather than not
    s.paused, s.reply = 0, -1
    known = s.n
    outstanding.observe(s, frame, asleep)
    if s.n > known and s.kind[known] == REPLY and s.server[known] >= 0:
        _ask_server(s, s.server[known], at_ns)
    if s.n and not known and s.loading and s.kind[0] == OPENING and not s.counted:
        _end_page(s)  # another begins the instant that it is over
    if s.n and not s.loading:
        s.loading, s.issued_ns, s.due_ns, s.cause_ns, s.doubted, s.counted = 1, at_ns, at_ns, 0, 0, 0
        s.came, s.doubt_s2 = 0, 0.0
    if s.n and s.origin_ns[s.n - 1] == at_ns and s.kind[s.n - 1] != REST:
        s.lag_ns[s.n - 1] = s.cause_ns + int(_ramp_s(s) * 1e9) * asleep


@compiled
def _ramp_s(s: Lpsm3State) -> float:
    """Return by how much becoming awake delays what is sent: it is part of what polls take on the air alone."""
    return float(s.wakeup_s if s.spent_s > s.wakeup_s else 0.0)


@compiled
def _answer(s: Lpsm3State, at_ns: int) -> None:
    """End the wait for what may have been its answer: who asks in the instant that it came had waited for it."""
    if s.heard_ns != at_ns:
        from_ns = max(s.low_ns, s.origin_ns[s.reply])
        _note_lag(s, s.reply, at_ns, max(0, s.opened_ns - (from_ns + s.high_ns) // 2))
        s.heard_ns = at_ns
    outstanding.remove(s, s.reply)


@compiled
def _received(s: Lpsm3State, frame: FlatFrame) -> None:
    """Enter a frame that the client has received: the end of a wait, or something that nobody asked for."""
    at_ns, reached_ns, left = frame.at_ns, messages.middle_ns(s), 0.0
    s.reply = -1
    if s.host_aware:
        if not frame.wanted:
            messages.note_repeated(s, frame)
            return
        which, ends = outstanding.find(s, frame.connection), frame.opening != 0 or frame.completes != 0
        unasked = frame.payload_bytes > 0
    else:
        which, ends, unasked = outstanding.link_received(s, frame.size_bytes, at_ns)
        if which < 0 and not unasked:  # a bare acknowledgement: of an upload, or of a part of a request
            which = outstanding.first(s, REPLY)
        which, odds = _weigh(s, which, frame)
        answer = 1.0 / (1.0 + odds) if which >= 0 else 0.0
        is_first = not s.more and (unasked or (which >= 0 and s.kind[which] == REPLY))
        if odds > 1.0:
            _doubt_answers(s, which, odds, frame)
            s.reply = which if odds < math.inf and s.kind[which] == REPLY else -1
            which, unasked = -1, frame.size_bytes > s.bare_bytes
        elif which >= 0 and ends and s.messages >= s.pages and frame.size_bytes > s.bare_bytes:
            left = s.left[which] * max(odds / (1.0 + odds), _SELDOM)
        if is_first:
            s.by_size[0, _size_class(frame)] += 1.0 - answer
            s.by_size[1, _size_class(frame)] += answer
    if which < 0:
        if unasked:
            messages.take_in(s, frame)
        return
    s.heard_ns = at_ns
    if s.high_ns > s.origin_ns[which]:
        reached_ns = _learn_wait(s, which)
    _note_lag(s, which, at_ns, max(0, s.opened_ns - reached_ns))
    if left >= _GONE and s.kind[which] == REPLY:  # it may have been a message
        if s.left[which] == 1.0:
            s.quiet_ns = s.message_ns
        s.left[which], s.message_ns, s.reply = left, max(s.message_ns, reached_ns), which
        s.doubted |= s.messages > 0
    elif ends:
        outstanding.remove(s, which)
    else:
        s.kind[which], s.origin_ns[which], s.left[which] = REST, at_ns, 1.0


@compiled
def _learn_wait(s: Lpsm3State, which: int) -> int:
    """Learn from a wait that a frame ends, and by how much the page's length is in doubt; return when it is expected.

    That is when the frame is expected to have come to the access point.
    """
    low_ns, high_ns = max(0, s.low_ns - s.origin_ns[which]), s.high_ns - s.origin_ns[which]
    row, kind = _row_of(s, which), s.kind[which]
    if row >= 0:
        hazards.enter_interval(
            s.own_events[row], s.own_at_risk_s[row], s.own_rates[row], s.own_log_evidence[row],
            s.own_mean_rates[row], low_ns, high_ns,
        )  # fmt: skip
    if s.least_page_s > 0.0:
        since_ns = max(0, s.origin_ns[which] - s.lag_ns[which] - s.issued_ns)
        doubt_s2 = hazards.doubt_s2(s.mean_rates[kind], low_ns, high_ns, since_ns, s.least_page_s)
        s.doubt_s2 = max(s.doubt_s2, doubt_s2)
    reached_ns = s.origin_ns[which] + hazards.learn_end(s, kind, low_ns, high_ns)
    if row >= 0:
        _find_own_rates(s, row)
    if kind == OPENING:
        s.trip_ns = min(s.trip_ns, high_ns) if s.trip_ns else high_ns
    elif kind == REST and 2 * high_ns >= s.trip_ns:  # its sender may have waited
        s.lag_ns[which] += s.held_ns[which]
        s.held_ns[which] = 0
    return int(reached_ns)


@compiled
def _note_lag(s: Lpsm3State, which: int, at_ns: int, held_ns: int) -> None:
    """Find by how much later than without sleep a frame came, of which it is known for how long it was held itself.

    It comes so much later as its sender heard of the client later, and as long as it was held; if it came while what
    had been held before it was being fetched, it waited for that.
    """
    if held_ns:
        s.backlog_ns = max(s.backlog_ns, held_ns)
    elif s.idle_ns < s.opened_ns:
        held_ns = min(s.backlog_ns, at_ns - s.opened_ns)
    s.held_ns[which] = max(s.held_ns[which], held_ns)
    s.cause_ns = s.lag_ns[which] + held_ns
    s.due_ns = max(s.due_ns, at_ns - s.cause_ns)
    s.came |= 1 << length_class((at_ns - s.cause_ns - s.issued_ns) * 1e-9)


@compiled
def _size_class(frame: FlatFrame) -> int:
    """Return the class of a frame's size, in [0, `TRIPS`)."""
    return int(min(frame.size_bytes // TRIP_STEP_BYTES, TRIPS - 1))


@compiled
def _message_odds(s: Lpsm3State, which: int, frame: FlatFrame) -> float:
    """How many times as likely this frame is a message as the end of a wait, by their hazards and sizes.

    The shares of sizes are those of Krichevsky and Trofimov: half a frame is added to each class.
    """
    rates, message, reply = s.mean_rates, 0.5 * TRIPS, 0.5 * TRIPS
    odds = hazards.odds(rates[MESSAGE], rates[s.kind[which]], s.message_ns, s.origin_ns[which], s.low_ns, s.high_ns)
    if s.kind[which] != REPLY:
        return float(odds)
    for i in range(TRIPS):
        message += s.by_size[0, i]
        reply += s.by_size[1, i]
    at = _size_class(frame)
    return float(odds * (s.by_size[0, at] + 0.5) / message / ((s.by_size[1, at] + 0.5) / reply))


@compiled
def _answers(s: Lpsm3State, which: int, frame: FlatFrame) -> float:
    """How many times as likely a frame answers a request as it is a message that came after the last."""
    if _is_too_early(s, which, frame):
        return 0.0
    return float(s.left[which] / _message_odds(s, which, frame))


@compiled
def _weigh(s: Lpsm3State, which: int, frame: FlatFrame) -> tuple[int, float]:
    """Return which wait a frame is likeliest to end, and how many times as likely it is a message as an answer.

    It may end any wait of a kind if it may end the oldest; where messages are seldom, it is taken to end that.
    """
    if which < 0:
        return which, 0.0
    too_early = _is_too_early(s, which, frame)
    if not too_early and (not s.messages or frame.size_bytes <= s.bare_bytes):
        for i in range(which, s.n):
            if s.kind[i] == s.kind[which] and s.left[i] == 1.0:
                return i, 0.0
        return which, 0.0
    found, most, total, unlikeliest = which, 0.0, 0.0, 1.0
    for i in range(s.n):
        if s.kind[i] == s.kind[which]:
            one = _answers(s, i, frame)
            if one > most and (i == which or s.messages >= s.pages):
                found, most = i, one
            total += one
            unlikeliest = min(unlikeliest, s.left[i])
    if total == 0.0:
        return which, math.inf
    return found, (unlikeliest + (1.0 - unlikeliest) * _after_silence(s)) / total


@compiled
def _after_silence(s: Lpsm3State) -> float:
    """How many times as likely a message comes if what may have been an answer was one, as if that was a message."""
    rates = s.mean_rates[MESSAGE]
    return float(hazards.odds(rates, rates, s.quiet_ns, s.message_ns, s.low_ns, s.high_ns))


@compiled
def _watch_waits(s: Lpsm3State, now_ns: int) -> None:
    """Take waits that may be over for so the more, the longer nothing came; end those that are over almost surely."""
    for i in range(s.n):
        left, from_ns = s.left[i], max(0, s.watched_ns - s.origin_ns[i])
        if left < 1.0:
            until_ns = max(from_ns, now_ns - s.origin_ns[i])
            left *= math.exp(-hazards.integrated(s.mean_rates[s.kind[i]], from_ns, until_ns))
            s.left[i] = left / (1.0 - s.left[i] + left)
    s.watched_ns = max(s.watched_ns, now_ns)
    for which in range(s.n - 1, -1, -1):
        if s.left[which] < _GONE:
            outstanding.remove(s, which)


@compiled
def _doubt_answers(s: Lpsm3State, which: int, odds: float, frame: FlatFrame) -> None:
    """Charge the page for a message so far as it may be an answer, and doubt of each wait so far that it lasts.

    It is charged the lateness that it would have, over what it would have taken without; what waited may have come at
    the first instant possible.
    """
    reached_ns = min(max(s.low_ns, s.origin_ns[which] + s.trip_ns), s.high_ns)
    due_ns = max(s.due_ns, frame.at_ns - s.lag_ns[which] - max(0, s.opened_ns - reached_ns))
    if due_ns > s.issued_ns and odds < math.inf:
        if s.due_ns == s.issued_ns:
            s.due_ns = due_ns
        part = (s.due_ns - s.issued_ns) / (due_ns - s.issued_ns)
        s.heard_ns = max(s.heard_ns, s.due_ns) + int(part * (frame.at_ns - due_ns) / (1.0 + odds))
    s.doubted |= odds < math.inf
    again, total = _after_silence(s), 0.0
    for i in range(s.n):
        total += _answers(s, i, frame) if s.kind[i] == s.kind[which] else 0.0
    for i in range(s.n):
        if s.kind[i] == s.kind[which]:
            left = s.left[i]
            s.left[i] *= (1.0 + total - _answers(s, i, frame)) / (left + (1.0 - left) * again + total)


@compiled
def _likely(s: Lpsm3State, least: float) -> int:
    """Return how many waits are not over with at least such a probability."""
    found = 0
    for i in range(s.n):
        found += s.left[i] >= least
    return found


@compiled
def _is_too_early(s: Lpsm3State, which: int, frame: FlatFrame) -> bool:
    """Whether a frame came to the access point sooner than a request of this size is answered, so that it is no answer.

    How soon that is frames without data tell, which come only as answers; a larger request takes no less time.  Of what
    came in an interval the whole of it must be too early, and the least that it can have taken is learned.
    """
    size = s.asked_bytes[which] // TRIP_STEP_BYTES
    if frame.size_bytes <= s.bare_bytes:
        at, age_ns = min(size, TRIPS - 1), s.low_ns - s.origin_ns[which]
        if age_ns > 0:
            s.least_trip_ns[at] = min(age_ns, s.least_trip_ns[at]) if s.least_trip_ns[at] else age_ns
        return False
    least_ns = 0
    for smaller in range(min(max(size, 1), TRIPS)):
        least_ns = max(least_ns, s.least_trip_ns[smaller])
    return bool(s.kind[which] == REPLY and s.high_ns - s.origin_ns[which] < least_ns)


@compiled
def _row_of(s: Lpsm3State, which: int) -> int:
    """Return the row of the server whose first answer is waited for, or -1 if none is, or it has none."""
    if s.kind[which] == REPLY and s.server[which] >= 0:
        for row in range(SERVERS):
            if s.servers[row] == s.server[which]:
                return row
    return -1


@compiled
def _ask_server(s: Lpsm3State, server: int, at_ns: int) -> None:
    """Bring the rates of a server that is asked up to date; a new one takes the row of the one asked longest ago."""
    row = 0
    for other in range(SERVERS):
        if s.servers[other] == server:
            row = other
            break
        if s.asked_ns[other] < s.asked_ns[row]:
            row = other
    if s.servers[row] != server:
        s.servers[row] = server
        s.own_events[row], s.own_at_risk_s[row], s.own_log_evidence[row] = 0.0, 0.0, 0.0
        s.own_log_evidence[row, hazards.N_WIDTHS] = s.common_nats
    s.asked_ns[row] = at_ns
    _find_own_rates(s, row)


@compiled
def _find_own_rates(s: Lpsm3State, row: int) -> None:
    """Find the rates of a server from what was learned of it and of all."""
    hazards.own_rates(
        s.mean_rates[REPLY], s.own_events[row], s.own_at_risk_s[row], s.own_prior_events, s.own_rates[row],
        s.own_log_evidence[row], s.own_mean_rates[row],
    )  # fmt: skip


# -- decisions


@compiled
def follow_plan(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Plan when the client could sleep, and go on with the plan at a beacon that brings nothing."""
    s, work = ints[:_STATE_SIZE].view(STATE)[0], ints[_STATE_SIZE:].view(planning.WORKSPACE)[0]
    now_ns, at_beacon = view.now_ns, view.at_beacon != 0
    if view.buffered_bytes:
        s.opened_ns, s.planned = now_ns, 0
        return Plan(now_ns, now_ns + s.interval_ns, True, 0 * now_ns, False)
    if 0 <= s.poll_ns < now_ns and not at_beacon:  # it has found nothing
        s.took_s += _TOOK_STEP * (min((now_ns - s.poll_ns) * 1e-9, _TOOK_AT_MOST_S) - s.took_s)
        spent_ns = now_ns - s.awake_until_ns - view.slept_ns
        s.spent_s += _TOOK_STEP * (min(spent_ns * 1e-9, _TOOK_AT_MOST_S) - s.spent_s)
    s.poll_ns = -1
    _look(s, view)
    k, awake = s.next_stop, 0
    has_deadline = s.n > 0 and view.deadline_ns != FOREVER_NS  # the price has moved
    followed = at_beacon and s.planned and not has_deadline and k <= _FOLLOWED_STOPS
    if not (followed and now_ns == s.planned_ns + work.stop_ns[k]):
        _plan(s, work, now_ns, view.deadline_ns, not at_beacon)
        k, awake = 0, int(not at_beacon)
    asleep_ns, next_stop = planning.follow(work, s.last_stop, k, awake)
    until_ns = s.planned_ns + asleep_ns
    if next_stop < 0:
        wake_ns = (until_ns // s.interval_ns + 1) * s.interval_ns
        s.planned = 0
    else:
        wake_ns = s.planned_ns + work.stop_ns[next_stop]
        s.next_stop = next_stop
    s.awake_until_ns = until_ns
    if next_stop >= 0 and work.is_poll[next_stop]:
        s.planned, s.poll_ns = 0, max(until_ns + 1, wake_ns - int(s.took_s * 1e9))
        return Plan(until_ns, s.poll_ns, True, ASK + 0 * now_ns, False)
    longest_ns = planning.STOPS[planning.N_STOPS - 1] * s.interval_ns
    is_nap = s.n == 0 and s.messages == 0 and next_stop == planning.N_STOPS - 1 and until_ns == now_ns
    is_nap = is_nap and s.push_quantile < 1.0
    return Plan(until_ns, wake_ns, True, longest_ns if is_nap else 0 * now_ns, False)  # as long as none has ever come


@compiled
def _look(s: Lpsm3State, view: FlatView) -> None:
    """Enter what the view says before a plan is made."""
    s.deadline_ns = view.deadline_ns
    if not s.host_aware:
        _watch_waits(s, view.now_ns)
    if not view.at_beacon:
        s.told |= view.missing > 0
        s.counted |= view.missing > 0
        if s.loading and not view.missing and (s.told or not s.n):
            _end_page(s)
        s.paused, s.idle_ns, s.backlog_ns = 1, view.now_ns, 0
        if s.delivered:
            messages.begin_cycle(s, view.now_ns)
    elif outstanding.forget_after(s, view.now_ns):
        s.planned = 0


@compiled
def set_driver(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Set what a driver lets be set: how long it stays awake after traffic, and how often it wakes up from then on."""
    s, work = ints[:_STATE_SIZE].view(STATE)[0], ints[_STATE_SIZE:].view(planning.WORKSPACE)[0]
    now_ns, interval_ns, agreed = view.now_ns, s.interval_ns, s.service_ns > 0
    _look(s, view)
    if not view.at_beacon or not s.planned:
        price_w = _expect(s, work, now_ns, view.deadline_ns)
        wake_j = s.wakeup_j + (s.awake_w * s.service_ns * 1e-9 if agreed else s.beacon_j)
        unit_ns = _SHORTEST_SERVICE_INTERVAL_NS if agreed else interval_ns
        awake_ns, s.period_ns = planning.choose_settings(
            work, s.last_stop, now_ns, unit_ns, agreed, s.awake_w, wake_j, price_w, s.push_price_w, interval_ns
        )
        last_ns = max(0, max(view.last_sent_ns, view.last_received_ns))
        s.planned, s.awake_until_ns = 1, now_ns
        if awake_ns > 0:
            s.awake_until_ns = last_ns + -(-(now_ns + awake_ns - last_ns) // _TIMEOUT_STEP_NS) * _TIMEOUT_STEP_NS
    elif view.buffered_bytes or agreed:
        s.awake_until_ns = now_ns + s.service_ns
    if view.buffered_bytes:
        s.opened_ns = now_ns
    until_ns = s.awake_until_ns
    wake_ns = (max(now_ns, until_ns) // s.period_ns + 1) * s.period_ns
    repeat_ns = 0 if agreed or view.buffered_bytes else s.period_ns
    return Plan(until_ns, wake_ns, True, repeat_ns, agreed)


@compiled
def _plan(s: Lpsm3State, work: Workspace, now_ns: int, deadline_ns: int, awake: bool) -> None:
    """Plan from now on, by what is outstanding and at the prices of the moment."""
    price_w = _expect(s, work, now_ns, deadline_ns)
    planning.choose(
        work, s.last_stop, awake, s.interval_ns, s.awake_w, s.beacon_j, s.wakeup_j, price_w, s.push_price_w,
        _likely(s, _LEFT),
    )  # fmt: skip
    s.planned, s.planned_ns = 1, now_ns


@compiled
def _expect(s: Lpsm3State, work: Workspace, now_ns: int, deadline_ns: int) -> float:
    """Lay out what is to be expected from now on; return the price of a second of the page's delay, watts."""
    n, interval_ns = s.n, s.interval_ns
    sleep = 1.0 if s.push_quantile == 1.0 else _LONGEST_SLEEP * (s.messages > 0)
    work.longest_ns = int(s.push_limit_s * sleep * 1e9)
    if s.push_stale and s.push_quantile < 1.0 and (s.messages < 50 or s.messages - s.priced_messages >= 4):
        messages.price(s, work)
    to_beacon_ns = (now_ns // interval_ns + 1) * interval_ns - now_ns
    if s.polls and n:
        work.poll_j = s.awake_w * (s.spent_s - _ramp_s(s)) + s.wakeup_j
        s.shift += _GOLDEN if s.shift + _GOLDEN < 1.0 else _GOLDEN - 1.0
        planning.lay_out_polls(work, to_beacon_ns, interval_ns, s.beacon_j + s.wakeup_j < work.poll_j, s.shift)
    else:
        planning.lay_out(work, to_beacon_ns, interval_ns)
    for i in range(s.n):
        row = _row_of(s, i)
        rates = s.own_mean_rates[row] if row >= 0 else s.mean_rates[s.kind[i]]
        flows_ns = s.origin_ns[i] + s.trip_ns // 2 - now_ns if s.polls and s.kind[i] == REST else 0
        if flows_ns > 0 and (work.longest_ns == 0 or work.longest_ns > s.trip_ns // 2):
            work.longest_ns = s.trip_ns // 2  # beyond which its sender waits
        share = s.flow_share
        if s.left[i] < 1.0:
            share, flows_ns = s.left[i], NEVER_NS
        planning.add_wait(work, rates, max(0, now_ns - s.origin_ns[i]), planning.PAGE, share, flows_ns)
    planning.add_wait(work, s.mean_rates[MESSAGE], max(0, now_ns - s.message_ns), planning.MESSAGE, 1.0, 0)
    if s.held_from_ns >= 0 and now_ns - s.held_from_ns < messages.HELD_AT_MOST_NS:
        planning.add_wait(work, s.mean_rates[HELD], max(0, now_ns - s.held_from_ns), planning.MESSAGE, 1.0, 0)
    if deadline_ns == FOREVER_NS:
        price_w = price_at(s.balance, s.price_w, s.gain, s.largest_price_ratio)
        if s.loading:
            planning.weigh(work, s.worth, now_ns - s.issued_ns)
    else:
        early_w, late_w = s.price_w * s.early_ratio, s.price_w * s.largest_price_ratio
        price_w = price_before(now_ns, s.issued_ns, deadline_ns, early_w, late_w)
    s.last_stop = planning.survive(work)
    if s.polls:  # which are for one wait, of which the page is delayed by one
        price_w /= max(1, _likely(s, _LEFT))
    return price_w


@compiled
def _end_page(s: Lpsm3State) -> None:
    """Settle for the page that is over, unless its deadline was what mattered, or nobody waited for it.

    How late it was, over its length without delay, is the expectation of that.
    """
    s.loading = 0
    if s.told and not s.counted:
        return
    s.pages += 1
    undelayed_s, late_s = (s.due_ns - s.issued_ns) * 1e-9, (s.heard_ns - s.due_ns) * 1e-9
    if undelayed_s > 0.0 and s.deadline_ns == FOREVER_NS:
        doubt = s.doubt_s2 / undelayed_s**2
        excess = (late_s / undelayed_s * (1.0 + doubt) + doubt) / s.allowed - 1.0
        at_largest = s.gain * s.balance >= math.log(s.largest_price_ratio)
        # what the guarantee does not suppose
        s.exceptions += s.doubted != 0 or excess > (0.0 if at_largest else LARGEST_EXCESS)
        s.balance = settle(s.balance, excess, s.good_will)
        if not s.doubted:  # else it may have been no page
            note_length(s.pages_by_age, s.inverses_by_age, s.came, undelayed_s)
            find_worth(s.pages_by_age, s.inverses_by_age, s.worth)
            s.least_page_s = min(s.least_page_s, undelayed_s) if s.least_page_s > 0.0 else undelayed_s
