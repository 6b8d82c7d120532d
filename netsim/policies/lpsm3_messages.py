"""What LPSM3 and LPSM4 know of messages, which nobody asked for: when they came, how late, and what delay is worth.

Part of the rule `netsim.policies.lpsm3_rule`, on the same record.
"""

from __future__ import annotations

import math

from lpsm.native import compiled
from netsim.policies.compiled import FlatFrame
from netsim.policies.lpsm3_state import AGES_NS, HELD, MESSAGE, Lpsm3State
from netsim.sleep_planning import hazards, message_prices
from netsim.sleep_planning.plans import Workspace

HELD_AT_MOST_NS = 250_000_000
LONGEST_MESSAGE_NS = 10_000_000_000  # what goes on for longer is a stream of messages
_QUANTILE_STEP = 0.2  # of the logarithm of the mean delay of messages aimed at, for a quantile of it
_GOOD_WILL = 5.0  # what messages are owed is never further below 0, in delays that were asked for
_SURE = 1.645  # standard deviations by which they are rather owed too much: 19 times in 20
_LEAST_FULL_BYTES = 1280  # below which the longest frame yet need not be full: every link carries that (RFC 8200)


@compiled
def middle_ns(s: Lpsm3State) -> int:
    """Return the middle of the interval in which the frame came to the access point."""
    return int((s.low_ns + s.high_ns) // 2)


@compiled
def note_repeated(s: Lpsm3State, frame: FlatFrame) -> None:
    """Note that messages were sent again: the server's window is small now, and may hold back what it wrote since."""
    if frame.connection == s.push_key:
        if s.held_from_ns < 0:
            if s.high_ns == s.waited_until_ns:  # the first waited longer than the server's timer, be that short or long
                span_ns = s.high_ns - s.waited_from_ns
                _charge_together(s, s.waited * span_ns * 2e-9 / 3.0)
                s.message_ns = s.waited_from_ns + span_ns // 3
            s.held_middle_ns = (s.message_ns + frame.at_ns) // 2
        s.held_from_ns = frame.at_ns


@compiled
def take_in(s: Lpsm3State, frame: FlatFrame) -> None:
    """Enter a frame that nobody asked for; what follows a full frame is more of the same message."""
    reached_ns, more = middle_ns(s), s.more
    s.push_key, s.delivered = frame.connection, 1
    s.more = frame.size_bytes == s.full_bytes or frame.size_bytes >= max(s.full_bytes, _LEAST_FULL_BYTES)
    s.full_bytes = max(s.full_bytes, frame.size_bytes)
    since_ns, held = reached_ns - s.held_from_ns, False
    if s.held_from_ns >= 0 and since_ns > 0:
        held = since_ns <= HELD_AT_MOST_NS
        hazards.learn_watch(s, HELD, min(since_ns, HELD_AT_MOST_NS), held)
    again = s.opened_ns > s.delivered_ns  # it has slept since the last
    if s.held_from_ns < 0 or since_ns > HELD_AT_MOST_NS:
        s.held_middle_ns = -1
    held = held and s.held_middle_ns >= 0
    s.held_from_ns = frame.at_ns if s.more or s.held_middle_ns >= 0 else -1
    s.delivered_ns = frame.at_ns
    age_ns = reached_ns - s.message_ns
    s.message_ns = s.quiet_ns = max(s.message_ns, reached_ns)
    from_ns = reached_ns  # since when it has waited
    if not more:
        s.began_ns = reached_ns
    if more and reached_ns - s.began_ns > LONGEST_MESSAGE_NS:
        more = age_ns <= 2 * s.same_message_ns
    is_known = s.low_ns == s.high_ns  # of what waited together it is not known how far it came apart
    if (more and not held) or (is_known and not held and s.messages and age_ns <= s.same_message_ns):
        if not again:
            return
    else:
        if held:
            from_ns = s.held_middle_ns
            if not s.more:  # it has written all
                s.held_middle_ns = s.held_from_ns = -1
        else:
            from_ns = _learn_gap(s, reached_ns, age_ns)
        s.messages += 1
        s.push_balance -= 1.0
    late_s = max(0, s.opened_ns - from_ns) * 1e-9
    if 0.0 < s.push_quantile < 1.0:
        step = _QUANTILE_STEP * (_on_time(s, min(from_ns, s.low_ns)) - s.push_quantile)
        s.push_delay_s = min(max(s.push_delay_s * math.exp(step), 0.05 * s.push_limit_s), s.push_limit_s)
    s.push_balance += max(late_s / s.push_delay_s, -_GOOD_WILL - _owed(s))
    s.push_stale = 1


@compiled
def _learn_gap(s: Lpsm3State, reached_ns: int, age_ns: int) -> int:
    """Learn how long after the last a message came; return since when it waits, beyond what is charged here.

    Charged here is what waits together.
    """
    last_ns, is_known = reached_ns - age_ns, s.low_ns == s.high_ns
    low_ns, high_ns = max(0, s.low_ns - last_ns), max(0, s.high_ns - last_ns)
    if not is_known:
        if s.waited_until_ns != s.high_ns:
            s.waited_from_ns, s.waited_until_ns, s.waited, s.waited_s = s.low_ns, s.high_ns, 0, 0.0
        s.waited += 1
        span_ns = s.high_ns - s.low_ns
        whole_s = s.waited * span_ns * 0.5e-9
        if s.messages >= s.waited:  # otherwise there was none before, and gaps are not known
            whole_s = message_prices.expected_waits(s.waiting, s.mean_rates[MESSAGE], low_ns, span_ns, s.waited)
        _charge_together(s, whole_s)
    if low_ns == 0:  # it waited together with the last: half-way between that and the end of the sleep
        low_ns = high_ns = max(0, age_ns) if is_known else high_ns // 2
        s.message_ns = s.quiet_ns = max(s.message_ns, last_ns + low_ns)
    gap_ns = hazards.learn_end(s, MESSAGE, low_ns, high_ns)
    if not is_known:
        return int(s.high_ns)
    return int(last_ns + gap_ns) if age_ns > 0 else reached_ns


@compiled
def _charge_together(s: Lpsm3State, whole_s: float) -> None:
    """Charge for so much waiting of those that waited together, in place of what was charged before.

    They were late together, by nothing to twice as much.
    """
    s.push_doubt_s2 += (whole_s * whole_s - s.waited_s * s.waited_s) / 3.0
    s.push_balance += (whole_s - s.waited_s) / s.push_delay_s
    s.waited_s = whole_s


@compiled
def _owed(s: Lpsm3State) -> float:
    """Return the balance of messages, and a margin for what is not known of it."""
    return float(s.push_balance + _SURE * math.sqrt(s.push_doubt_s2) / s.push_delay_s)


@compiled
def _on_time(s: Lpsm3State, low_ns: int) -> float:
    """Return how likely a message was on time that came between an instant and `high_ns`, at any as likely."""
    due_ns = s.opened_ns - int(s.push_limit_s * 1e9)  # what came before was late
    if due_ns <= low_ns:
        return 1.0
    return max(0.0, (s.high_ns - due_ns) / (s.high_ns - low_ns)) if low_ns < s.high_ns else 0.0


@compiled
def begin_cycle(s: Lpsm3State, now_ns: int) -> None:
    """Note how old the last message is when messages have been delivered and the client could sleep again."""
    s.delivered = 0
    age_ns, which = now_ns - s.message_ns, 0
    while which < AGES_NS.size - 1 and float(age_ns) * age_ns > float(AGES_NS[which]) * AGES_NS[which + 1]:
        which += 1
    for i in range(AGES_NS.size):
        s.ages[i] *= 0.98
    s.ages[which] += 1.0


@compiled
def wanted_delay_s(asked_s: float, balance: float, memory: float) -> float:
    """Delay of messages that makes good within `memory` of them what they were late so far, from half to 1.5 times."""
    return asked_s * min(max(1.0 - balance / memory, 0.5), 1.5)


@compiled
def price(s: Lpsm3State, work: Workspace) -> None:
    """Find the price at which plans promise the delay of messages that is wanted now."""
    rates, interval_ns = s.mean_rates[MESSAGE], s.interval_ns
    message_prices.renewal_followers(work, rates, interval_ns)
    wanted_s = wanted_delay_s(s.push_delay_s, _owed(s), s.push_memory)
    least_w, most_w, halvings = s.least_push_price_w, s.most_push_price_w, 14
    if s.priced_messages:  # it has not moved far
        least_w, most_w, halvings = max(least_w, s.push_price_w / 4.0), min(most_w, s.push_price_w * 4.0), 8
    s.push_price_w = message_prices.price_of_delay(
        work, rates, AGES_NS, s.ages, interval_ns, s.awake_w, s.beacon_j, s.wakeup_j, wanted_s, least_w, most_w,
        halvings,
    )  # fmt: skip
    s.push_stale, s.priced_messages = 0, s.messages
