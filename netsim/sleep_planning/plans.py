"""Plan a sleep: how long to stay awake now and which beacon to listen to next, at the least expected cost.

What it models: a client that waits for the first of several events, each with a hazard rate that depends on its age
(`hazards`).  Awake, it meets an event at once.  Asleep, it can become awake only at a beacon that it listens to, and
an event that came before it is met there.  It pays for time awake, for beacons, for passages from asleep to awake,
and for delay: a price a second for *pages* and another for *messages*, the two classes of events.  Asleep, it does
not learn of an event of one class, so that the delay of the other is paid for whether or not one has come.  The plan
minimises the expected sum by dynamic programming over the beacons ahead, the first 16 one by one, then at growing
distances up to 50; between two of these stops it may stay awake for a part of the time.  What is still to pay after
the last stop is that of the best constant period for the rates at that time.

A client that may ask the access point at any instant has other stops (`lay_out_polls`): *polls*, 1.6 ms apart at first
and 8 % farther from one to the next, and where beacons are cheaper than polls, beacons among them.  A poll leaves it
awake, whatever it finds.  Where a sleep may last so long at most (`longest_ns`), no plan has a longer one.

An event may have *followers*: while the client sleeps on, further messages come after the first, and other replies of
the same page.  Their expected delay is charged too; that of messages is tabulated beforehand (`message_prices`).

What it leaves out: what a delay does to later traffic; events that depend on each other in other ways.

Costs here are weighted by the probability of still waiting, so that no division is needed: `value[k]` is the
expected cost from stop k on, times the probability that nothing has come by then.
"""

from __future__ import annotations

import math

import numpy as np

from lpsm.arrays import Floats
from lpsm.native import compiled
from lpsm.native.records import IntArray, RealArray, dtype_of, record
from netsim.sleep_planning.hazards import EDGES_NS, find_bin
from netsim.sleep_planning.prices import SHORTEST_S
from netsim.sleep_planning.sizes import size

STOPS = np.array([*range(17), 18, 20, 22, 25, 28, 32, 36, 40, 45, 50], dtype=np.int64)
"""The stops, in beacons from the last one before now; the first stands for now itself."""
if size("stops") < len(STOPS):  # rather near than far apart: between two of them nothing is heard of
    STOPS = np.unique([*range(5), *(min(50, round(4 * 1.4**k)) for k in range(1, size("stops") - 4))]).astype(np.int64)
N_STOPS = len(STOPS)
_PARTS_FIRST, _PARTS = 2 * size("parts"), size("parts")
_FIRST_FINE = 2  # intervals cut into the larger number of parts
MOST_STEPS = _FIRST_FINE * _PARTS_FIRST + (N_STOPS - 1 - _FIRST_FINE) * _PARTS
MOST_STOPS = max(N_STOPS, size("polls"))
_FINEST_NS, _N_FINEST, _GROWTH = 1_600_000, 16, 1.08  # of polls: 88 up to 5 s
_SHORTEST_NS = round(SHORTEST_S * 1e9)
_HARDLY = 1e-6  # probability with which a stop is reached that no longer matters
_MOST_HAZARD = 1.0 - math.log(_HARDLY)  # integrated, behind which less than that is left
_WORTH = 1.0 - 1e-5  # of what is the least so far, what other settings must cost at most: less is rounding
FOLLOWERS_STEPS = size("followers")  # of half a beacon interval each, from 0 on
PAGE, MESSAGE = 0, 1
"""The classes of events."""


@record
class Workspace:
    """What planning needs beside its arguments, and leaves behind."""

    step_ns: IntArray = MOST_STEPS + 1  # ends of the steps, since now; the first is 0
    first_step: IntArray = MOST_STOPS  # where the steps of an interval begin
    hazard: RealArray = 2, MOST_STEPS  # of pages, of messages: integrated over each step
    counted: RealArray = MOST_STEPS  # of that of pages, what delays them
    alive: RealArray = 2, MOST_STEPS + 1  # of each class, the probability that none has come by then
    mass: RealArray = 2, MOST_STEPS  # that the first comes in a step, of a page so far as that delays it
    delay_s: RealArray = 2, MOST_STEPS  # that, times its delay until the end of the step
    lived_s: RealArray = MOST_STEPS  # expected time awake in a step by who stays awake
    reach: int  # the last stop that can matter, by the waits that were added
    has_polls: int
    stop_ns: IntArray = MOST_STOPS  # the stops, since now
    is_poll: IntArray = MOST_STOPS
    poll_j: float  # energy of a poll, its passage to awake included
    longest_ns: int  # the longest sleep, where there is one; 0: none
    late: RealArray = 2, MOST_STOPS  # cost of delay of each class if asleep from a stop to each later one
    met_j: RealArray = MOST_STOPS  # cost to go for who listens there, without his passage to awake
    dearer_j: RealArray = MOST_STOPS  # energy of a poll beyond that of a beacon and a passage
    value: RealArray = 2, MOST_STOPS  # cost to go, asleep and awake, times the probability of still waiting
    asleep_step: IntArray = 2, MOST_STOPS  # decision: the step at whose beginning to fall asleep
    next_stop: IntArray = 2, MOST_STOPS  # decision: the stop to listen to then
    followers: RealArray = FOLLOWERS_STEPS  # messages that come within a time after one
    followers_s: RealArray = FOLLOWERS_STEPS  # their expected delay until the end of that time
    gap: RealArray = FOLLOWERS_STEPS  # probability that the next message comes then, and that any does
    fresh: RealArray = FOLLOWERS_STEPS


WORKSPACE = dtype_of(Workspace.__name__)


@compiled
def lay_out(work: Workspace, to_beacon_ns: int, interval_ns: int) -> None:
    """Lay out the steps of time ahead, in which nothing is expected yet; the next beacon is in (0, interval]."""
    step, at = 0, 0
    work.stop_ns[0] = work.step_ns[0] = 0
    for k in range(1, N_STOPS):
        work.first_step[k - 1], work.is_poll[k] = step, 0
        end = to_beacon_ns + (STOPS[k] - 1) * interval_ns
        parts = _PARTS_FIRST if k <= _FIRST_FINE else _PARTS
        for part in range(1, parts + 1):
            step += 1
            work.step_ns[step] = at + (end - at) * part // parts
        work.stop_ns[k] = at = end
    work.has_polls = 0
    _end_layout(work, N_STOPS, step)


@compiled
def lay_out_polls(work: Workspace, to_beacon_ns: int, interval_ns: int, beacons: bool, shift: float) -> None:
    """Lay out the time ahead by polls, each of them the end of a step, and beacons, if these are wanted.

    Distances are longer by a part of a step, `shift` in [0, 1).  It should not be the same in all plans: of waits as
    long as each other that end between the same two polls nobody ever learns when.
    """
    at, last, k, length = 0, STOPS[N_STOPS - 1] * interval_ns, 0, _FINEST_NS * _GROWTH**shift
    work.stop_ns[0] = work.step_ns[0] = 0
    while at < last and k < MOST_STOPS - 1:
        work.first_step[k] = k
        k += 1
        end = at + int(length)
        work.is_poll[k] = 1
        if beacons and at < to_beacon_ns <= end:
            end, work.is_poll[k] = to_beacon_ns, 0
            to_beacon_ns += interval_ns
        elif k > _N_FINEST:
            length *= _GROWTH
        work.stop_ns[k] = work.step_ns[k] = at = end
    work.has_polls = 1
    _end_layout(work, k + 1, k)


@compiled
def _end_layout(work: Workspace, n_stops: int, steps: int) -> None:
    """Expect nothing in so many steps yet."""
    work.reach, work.first_step[n_stops - 1] = n_stops - 1, steps
    for i in range(steps):
        work.hazard[PAGE, i] = work.hazard[MESSAGE, i] = work.counted[i] = 0.0


@compiled
def add_wait(work: Workspace, rates: Floats, age_ns: int, which: int, share: float, until_ns: int) -> None:
    """Expect the end of a wait of an age and a class in every step, by its rates, events a second, shape (N_BINS,).

    What ends it before `until_ns` delays the page by a `share` of the time for which it is held.  Steps behind a stop
    that is hardly reached are left as they are: `survive` does not come to them.
    """
    place = find_bin(age_ns)
    rate, edge = rates[place] * 1e-9, EDGES_NS[place + 1] - age_ns
    at, so_far = 0, 0.0
    for k in range(work.reach):
        for i in range(work.first_step[k], work.first_step[k + 1]):
            end = work.step_ns[i + 1]
            total = 0.0
            while edge < end:
                total += rate * (edge - at)
                at = edge
                place += 1
                rate, edge = rates[place] * 1e-9, EDGES_NS[place + 1] - age_ns
            total += rate * (end - at)
            work.hazard[which, i] += total
            so_far += work.hazard[which, i]
            if which == PAGE:
                work.counted[i] += total * (share if at < until_ns else 1.0)
            at = end
        if so_far > _MOST_HAZARD:
            work.reach = k + 1
            return


@compiled
def weigh(work: Workspace, worth: Floats, age_ns: int) -> None:
    """Let what delays a page that is so old count by the age at which it comes, by `worth` (`prices.find_worth`).

    Between `add_wait` and `survive`.
    """
    place, edge_ns = 0, _SHORTEST_NS - age_ns
    for i in range(work.first_step[work.reach]):
        while place < worth.size - 1 and work.step_ns[i] >= edge_ns:
            place, edge_ns = place + 1, 2 * edge_ns + age_ns
        work.counted[i] *= worth[place]


@compiled
def survive(work: Workspace) -> int:
    """Find the probabilities that nothing has come by the end of each step, once all waits are added.

    Returns the last stop that matters: later ones are reached with a probability below one in a million.
    """
    work.alive[PAGE, 0] = work.alive[MESSAGE, 0] = alive = 1.0
    for k in range(work.reach):
        for i in range(work.first_step[k], work.first_step[k + 1]):
            time_s = (work.step_ns[i + 1] - work.step_ns[i]) * 1e-9
            for which in range(2):
                before = work.alive[which, i]
                work.alive[which, i + 1] = after = before * math.exp(-work.hazard[which, i])
                work.mass[which, i] = before - after
                work.delay_s[which, i] = time_s * before - _lived_s(before, after, work.hazard[which, i], time_s)
            if work.counted[i] != work.hazard[PAGE, i]:
                share = work.counted[i] / work.hazard[PAGE, i]
                work.mass[PAGE, i] *= share
                work.delay_s[PAGE, i] *= share
            after = work.alive[PAGE, i + 1] * work.alive[MESSAGE, i + 1]
            work.lived_s[i] = _lived_s(alive, after, work.hazard[PAGE, i] + work.hazard[MESSAGE, i], time_s)
            alive = after
        if alive < _HARDLY:
            return k + 1
    return int(work.reach)


@compiled
def _lived_s(alive: float, after: float, hazard: float, time_s: float) -> float:
    """Return the integral of a probability that falls at a constant rate."""
    return time_s * (alive - after) / hazard if hazard > 1e-7 else time_s * alive * (1.0 - hazard / 2)


@compiled
def still(work: Workspace, i: int) -> float:
    """Return the probability that nothing has come when step i begins."""
    return float(work.alive[PAGE, i] * work.alive[MESSAGE, i])


@compiled
def choose(
    work: Workspace, last: int, is_awake: bool, interval_ns: int, awake_w: float, beacon_j: float, wakeup_j: float,
    page_price_w: float, message_price_w: float, waiting: int,
) -> float:  # fmt: skip
    """Find the decision of least expected cost at every stop; return the least expected cost from now on, joules.

    `work` is as `survive`, which returned `last`, and, if messages have a price, `renewal_followers` left it; it
    receives values and decisions.  `awake_w` is the power awake above that asleep, `beacon_j` the energy of a beacon,
    `wakeup_j` that of a passage from asleep to awake; a price is what a second of delay is worth, watts, and that of a
    page is shared among the `waiting` replies of it.
    """
    waiting = max(1, waiting)
    page_price_w /= waiting
    value, late, high = work.value, work.late, last
    met_j, half_beacons = work.met_j, 2e9 / interval_ns
    listen_j, dearer_j = wakeup_j + beacon_j, work.dearer_j
    for j in range(1, last + 1):
        dearer_j[j] = work.poll_j - listen_j if work.is_poll[j] else 0.0
    after = _cost_after(work, last, interval_ns, awake_w, beacon_j, page_price_w, message_price_w)
    value[0, last] = value[1, last] = after
    met_j[last] = after - (0.0 if work.is_poll[last] else wakeup_j * still(work, work.first_step[last]))
    for k in range(last - 1, -1, -1):
        first, end, next_ns = work.first_step[k], work.first_step[k + 1], work.stop_ns[k + 1]
        late[PAGE, k + 1] = late[MESSAGE, k + 1] = 0.0
        pages, pages_s, messages, messages_s = 0.0, 0.0, 0.0, 0.0
        for i in range(first, end):
            pages, pages_s, messages, messages_s = _with_step(work, i, next_ns, pages, pages_s, messages, messages_s)
        others = (waiting - 1) * _page_rate(work, first, end) / waiting
        no_page, no_message = work.alive[PAGE, first], work.alive[MESSAGE, first]
        alive = no_page * no_message
        missed = no_message * _late_pages(pages, pages_s, page_price_w, others, waiting - 1)
        missed += no_page * _late_messages(work, messages, messages_s, message_price_w, half_beacons)
        # what being awake could save at most, against the least that it costs
        stay = awake_w * work.lived_s[first] < missed + max(beacon_j + wakeup_j, listen_j + dearer_j[k + 1]) * alive
        while work.longest_ns and high > k + 1 and work.stop_ns[high] - work.stop_ns[k] > work.longest_ns:
            high -= 1
        awake_cost, awake_step, awake_next = value[1, k + 1], end, k + 1  # awake until the next stop, and on
        if stay:
            awake_cost, awake_step, awake_next, high, lived_s = _awake_into(
                work, k, high, awake_cost, awake_w, listen_j, page_price_w, message_price_w, others, waiting - 1,
                half_beacons,
            )  # fmt: skip
            awake_cost += awake_w * (lived_s + work.lived_s[first])
        sleep_cost, high = _asleep_from(
            work, k, high, pages, pages_s, messages, messages_s, page_price_w, message_price_w, others, waiting - 1,
            half_beacons,
        )  # fmt: skip
        sleep_cost += listen_j * alive
        for awake in range(2):
            woken = awake_cost + (0.0 if awake else wakeup_j * alive)  # of a poll's stop the state asleep is not used
            stays = stay and woken < sleep_cost
            value[awake, k] = woken if stays else sleep_cost
            work.asleep_step[awake, k] = awake_step if stays else first
            work.next_stop[awake, k] = awake_next if stays else high
        met_j[k] = value[1, k] if work.is_poll[k] else value[0, k] - wakeup_j * alive
    return float(value[1, 0] if is_awake else value[0, 0])


@compiled
def _awake_into(
    work: Workspace, k: int, high: int, awake_cost: float, awake_w: float, listen_j: float, page_price_w: float,
    message_price_w: float, others: float, n_others: int, half_beacons: float,
) -> tuple[float, int, int, int, float]:  # fmt: skip
    """Find the step behind a stop at whose beginning it is best to fall asleep, if that costs less than is known.

    Returns the least cost, the step, the stop to listen to then, the last stop worth listening to, and the time lived.
    """
    end, next_ns = work.first_step[k + 1], work.stop_ns[k + 1]
    late, met_j, dearer_j = work.late, work.met_j, work.dearer_j
    awake_step, awake_next = end, k + 1
    lived_s = pages = pages_s = messages = messages_s = 0.0
    for i in range(end - 1, work.first_step[k], -1):  # asleep from the beginning of step i on
        pages, pages_s, messages, messages_s = _with_step(work, i, next_ns, pages, pages_s, messages, messages_s)
        lived_s += work.lived_s[i]
        no_page, no_message, least = work.alive[PAGE, i], work.alive[MESSAGE, i], np.inf
        for j in range(high, k, -1):
            more_s = (work.stop_ns[j] - next_ns) * 1e-9
            page = late[PAGE, j] + _late_pages(pages, pages_s + pages * more_s, page_price_w, others, n_others)
            message = late[MESSAGE, j] + _late_messages(
                work, messages, messages_s + messages * more_s, message_price_w, half_beacons
            )
            cost = no_message * page + no_page * message + met_j[j] + dearer_j[j] * (no_page * no_message)
            if cost < least:
                least, high = cost, j
        least += listen_j * no_page * no_message - awake_w * lived_s
        if least < awake_cost:
            awake_cost, awake_step, awake_next = least, i, high
    return awake_cost, awake_step, awake_next, high, lived_s


@compiled
def _asleep_from(
    work: Workspace, k: int, high: int, pages: float, pages_s: float, messages: float, messages_s: float,
    page_price_w: float, message_price_w: float, others: float, n_others: int, half_beacons: float,
) -> tuple[float, int]:  # fmt: skip
    """Find the stop to listen to for who is asleep from a stop on; return the cost without listening, and the stop.

    It enters the events until the next stop, and their delay until then, into the delays of sleeps that begin before.
    """
    late, least, best = work.late, np.inf, high
    first, next_ns = work.first_step[k], work.stop_ns[k + 1]
    no_page, no_message = work.alive[PAGE, first], work.alive[MESSAGE, first]
    alive = no_page * no_message
    for j in range(high, k, -1):
        more_s = (work.stop_ns[j] - next_ns) * 1e-9
        page_s, message_s = pages_s + pages * more_s, messages_s + messages * more_s
        late[PAGE, j] += _late_pages(pages, page_s, page_price_w, others, n_others)
        late[MESSAGE, j] += _late_messages(work, messages, message_s, message_price_w, half_beacons)
        cost = no_message * late[PAGE, j] + no_page * late[MESSAGE, j] + work.met_j[j] + work.dearer_j[j] * alive
        if cost < least:
            least, best = cost, j
    return least, best


@compiled
def follow(work: Workspace, last: int, k: int, awake: int) -> tuple[int, int]:
    """Return what is decided at a stop: when to fall asleep, nanoseconds since the plan was made, and the next stop.

    The next stop is -1 if the decision is to be awake until the last one.
    """
    while k < last:
        step = work.asleep_step[awake, k]
        if step < work.first_step[k + 1]:
            return work.step_ns[step], work.next_stop[awake, k]
        k, awake = k + 1, 1
    return work.stop_ns[last], -1


@compiled
def _with_step(
    work: Workspace, i: int, until_ns: int, pages: float, pages_s: float, messages: float, messages_s: float
) -> tuple[float, float, float, float]:
    """Add the events of step i: for both classes their probability, and that times their delay until `until_ns`."""
    until_s = 1e-9 * (until_ns - work.step_ns[i + 1])
    page, message = work.mass[PAGE, i], work.mass[MESSAGE, i]
    return (
        pages + page, pages_s + work.delay_s[PAGE, i] + page * until_s,
        messages + message, messages_s + work.delay_s[MESSAGE, i] + message * until_s,
    )  # fmt: skip


@compiled
def _page_rate(work: Workspace, first: int, end: int) -> float:
    """Return the mean rate, events a second, of the replies of a page between two steps."""
    total = 0.0
    for i in range(first, end):
        total += work.hazard[PAGE, i]
    return total / (float(work.step_ns[end] - work.step_ns[first]) * 1e-9)


@compiled
def _late_pages(pages: float, delay_s: float, price_w: float, others: float, n_others: int) -> float:
    """Return the cost of a delay of replies, and of the other replies of the page that come during it."""
    if n_others and pages > 0.0:
        expected = others * delay_s / (pages * n_others)
        delay_s += delay_s * n_others * expected / (2.0 + expected)
    return price_w * delay_s


@compiled
def _late_messages(work: Workspace, messages: float, delay_s: float, price_w: float, half_beacons: float) -> float:
    """Return the cost of a delay of messages, and of their followers."""
    if messages <= 0.0:
        return 0.0
    return price_w * (delay_s + messages * tabulated(work.followers_s, delay_s / messages * half_beacons))


@compiled
def best_period(
    work: Workspace, page_rate: float, message_rate: float, interval_ns: int, awake_w: float, beacon_j: float,
    page_price_w: float, message_price_w: float,
) -> tuple[float, int]:  # fmt: skip
    """Return the least power, watts, while nothing comes at constant rates, and the period in beacons (0: be awake)."""
    least, best = awake_w, 0
    for k in range(1, N_STOPS):
        period_s = STOPS[k] * interval_ns * 1e-9
        delay_s = 0.5 * period_s
        message_s = delay_s + mean_tabulated(work.followers_s, 2.0 * STOPS[k])
        power = beacon_j / period_s + page_price_w * page_rate * delay_s + message_price_w * message_rate * message_s
        if power < least:
            least, best = power, STOPS[k]
    return least, best


@compiled
def choose_settings(
    work: Workspace, last: int, now_ns: int, unit_ns: int, doubling: bool, awake_w: float, wake_j: float,
    page_price_w: float, message_price_w: float, interval_ns: int,
) -> tuple[int, int]:  # fmt: skip
    """Find what to set where only two things can be: how long to be awake first, and a period of waking up then.

    Returns both, nanoseconds: the pair of least expected cost; of pairs that cost the same but for rounding, the first,
    by the period, and then by the longest time awake.  Periods are the multiples of `unit_ns` that `STOPS` are of a
    beacon interval, or each twice the one before if `doubling`, where the client sleeps at once; they begin at
    multiples of themselves, and each waking costs `wake_j`.  The rest is as `choose` takes it.
    """
    steps, lived_s, half_beacons = work.first_step[last], 0.0, 2e9 / interval_ns
    for i in range(steps):
        lived_s += work.lived_s[i]
    least, awake_ns, best_ns = np.inf, 0, unit_ns
    span_s = (work.stop_ns[last] - work.stop_ns[last - 1]) * 1e-9
    page = message = 1e-9
    for i in range(work.first_step[last - 1], steps):
        page += work.hazard[PAGE, i] / span_s
        message += work.hazard[MESSAGE, i] / span_s
    for k in range(1, min(N_STOPS, 10) if doubling else N_STOPS):
        period_ns = unit_ns << (k - 1) if doubling else STOPS[k] * unit_ns
        period_s = period_ns * 1e-9
        power = wake_j / period_s + 0.5 * period_s * page_price_w * page
        power += (
            message_price_w * message * (0.5 * period_s + mean_tabulated(work.followers_s, period_s * half_beacons))
        )
        cost = still(work, steps) * power / (page + message)
        before_s = lived_s
        for i in range(steps - 1, -1, -1):
            end_ns = now_ns + work.step_ns[i + 1]
            met_ns = -(-end_ns // period_ns) * period_ns
            if met_ns - period_ns > now_ns + work.step_ns[i] or met_ns == end_ns:
                cost += wake_j * still(work, i + 1)
            late_s, no_page, no_message = (met_ns - end_ns) * 1e-9, work.alive[PAGE, i], work.alive[MESSAGE, i]
            cost += no_message * page_price_w * (work.delay_s[PAGE, i] + work.mass[PAGE, i] * late_s)
            cost += no_page * _late_messages(
                work, work.mass[MESSAGE, i], work.delay_s[MESSAGE, i] + work.mass[MESSAGE, i] * late_s, message_price_w,
                half_beacons,
            )  # fmt: skip
            before_s -= work.lived_s[i]
            if (i == 0 or not doubling) and cost + awake_w * before_s < _WORTH * least:
                least, awake_ns, best_ns = cost + awake_w * before_s, work.step_ns[i], period_ns
    return awake_ns, best_ns


@compiled
def _cost_after(
    work: Workspace, last: int, interval_ns: int, awake_w: float, beacon_j: float, page_price_w: float,
    message_price_w: float,
) -> float:  # fmt: skip
    """Return the expected cost after the last stop, if rates stay what they are, times the probability to get there."""
    first, end = work.first_step[last - 1], work.first_step[last]
    span_s = (work.stop_ns[last] - work.stop_ns[last - 1]) * 1e-9
    page = message = 1e-9
    for i in range(first, end):
        page += work.hazard[PAGE, i] / span_s
        message += work.hazard[MESSAGE, i] / span_s
    power, _ = best_period(work, page, message, interval_ns, awake_w, beacon_j, page_price_w, message_price_w)
    if work.has_polls:
        power = min(power, math.sqrt(2.0 * work.poll_j * (page_price_w * page + message_price_w * message)))
    return still(work, end) * power / (page + message)


@compiled
def tabulated(table: Floats, half_beacons: float) -> float:
    """Interpolate what is tabulated at multiples of half a beacon interval."""
    low = max(0, min(int(half_beacons), FOLLOWERS_STEPS - 2))  # a time of rounding may be below 0
    return float(table[low] + (half_beacons - low) * (table[low + 1] - table[low]))


@compiled
def mean_tabulated(table: Floats, half_beacons: float) -> float:
    """Return the mean of such a table between 0 and a time, by Simpson's rule."""
    return (4.0 * tabulated(table, 0.5 * half_beacons) + tabulated(table, half_beacons)) / 6.0
