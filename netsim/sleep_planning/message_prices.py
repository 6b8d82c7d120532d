"""What delay of messages plans promise at a price, and at which price they promise the delay that is wanted.

What it models: messages whose gaps are independent, with hazard rates that were learned, and a client that follows the
plans of `plans`.  A *cycle* begins when messages have been delivered and ends when the next are.  Plans made at a price
lead to an expected delay of those; the price at which the mean over messages is what is wanted is found by bisection.
Messages that come while the client sleeps on after a first one, its *followers*, are those of the renewal process.

What it leaves out: pages, during which messages are met sooner.
"""

from __future__ import annotations

import math

from lpsm.arrays import Floats, Ints
from lpsm.native import compiled
from netsim.sleep_planning import plans
from netsim.sleep_planning.hazards import EDGES_NS, N_BINS, find_bin, integrated
from netsim.sleep_planning.plans import FOLLOWERS_STEPS, Workspace, follow, tabulated

CELLS = 16
"""Into so many parts the time is divided in which messages waited together."""


@compiled
def renewal_followers(work: Workspace, rates: Floats, interval_ns: int) -> None:
    """Tabulate how many messages follow one within a time, and their delay until the end of it.

    Gaps between messages are independent, with these hazard rates, events a second: the count is the renewal function
    (`work.followers`), the delay its integral (`work.followers_s`).  It is computed on a grid of half beacon intervals,
    the probability of a cell put on its two ends.
    """
    step_ns = interval_ns // 2
    gap, new = work.gap, work.fresh
    gap[:] = 0.0
    alive, place, at = 1.0, 0, 0
    for c in range(FOLLOWERS_STEPS - 1):
        hazard, end = 0.0, (c + 1) * step_ns
        while EDGES_NS[place + 1] < end:
            hazard += rates[place] * (EDGES_NS[place + 1] - at) * 1e-9
            at = EDGES_NS[place + 1]
            place += 1
        hazard += rates[place] * (end - at) * 1e-9
        at = end
        after = alive * math.exp(-hazard)
        gap[c] += 0.5 * (alive - after)
        gap[c + 1] += 0.5 * (alive - after)
        alive = after
    total = delay = 0.0
    for c in range(FOLLOWERS_STEPS):
        found = gap[c]
        for i in range(c):
            found += new[i] * gap[c - i]
        new[c] = found / (1.0 - gap[0])
        delay += total * step_ns * 1e-9
        total += new[c]
        work.followers_s[c], work.followers[c] = delay, total


@compiled
def promised_delay(
    work: Workspace, rates: Floats, age_ns: int, interval_ns: int, awake_w: float, beacon_j: float, wakeup_j: float,
    price_w: float,
) -> tuple[float, float]:  # fmt: skip
    """Find what plans at a price promise for a *cycle*: from the delivery of a message to that of the next ones.

    It begins at a beacon, when the last message is `age_ns` old; `rates` are those of the gap between messages, and
    `work` is as `renewal_followers` left it, but plans in it are lost; the rest is what `choose` takes.  Returns the
    expected sum of the delays of the messages delivered at the end of the cycle, seconds, and their number, if no
    page is waited for.
    """
    plans.lay_out(work, interval_ns, interval_ns)
    plans.add_wait(work, rates, age_ns, plans.MESSAGE, 1.0, 0)
    last = plans.survive(work)
    plans.choose(work, last, True, interval_ns, awake_w, beacon_j, wakeup_j, 0.0, price_w, 1)
    half_beacons = 2e9 / interval_ns
    late_s = number = 0.0
    k, awake = 0, 1
    while k < last:
        asleep_ns, next_stop = follow(work, last, k, awake)
        if next_stop < 0:
            next_stop = last
        for i in range(work.first_step[k], work.first_step[next_stop]):
            mass = work.mass[1, i]
            if mass > 0.0:
                wait_s = 0.0
                if work.step_ns[i] >= asleep_ns:
                    wait_s = work.delay_s[1, i] / mass + (work.stop_ns[next_stop] - work.step_ns[i + 1]) * 1e-9
                late_s += mass * (wait_s + tabulated(work.followers_s, wait_s * half_beacons))
                number += mass * (1.0 + tabulated(work.followers, wait_s * half_beacons))
        k, awake = next_stop, 0
    alive = work.alive[1, work.first_step[last]]
    at_ns = age_ns + work.stop_ns[last]
    for place in range(find_bin(at_ns), N_BINS):
        span_s = (min(EDGES_NS[place + 1], 2 * EDGES_NS[N_BINS - 1]) - at_ns) * 1e-9
        at_ns = EDGES_NS[place + 1]
        after = alive * math.exp(-rates[place] * span_s)
        mass, alive = alive - after, after
        _, period = plans.best_period(work, 0.0, rates[place], interval_ns, awake_w, beacon_j, 0.0, price_w)
        if work.longest_ns:
            period = min(period, work.longest_ns // interval_ns)
        period_s = period * interval_ns * 1e-9
        late_s += mass * (0.5 * period_s + plans.mean_tabulated(work.followers_s, 2.0 * period))
        number += mass * (1.0 + plans.mean_tabulated(work.followers, 2.0 * period))
        if alive < 1e-4:
            break
    return late_s, number


@compiled
def expected_waits(waiting: Floats, rates: Floats, age_ns: int, span_ns: int, count: int) -> float:
    """Find how long messages that came in an interval are expected to have waited in all until its end, seconds.

    It is asked after each of them, the last being number `count`, from 1 on.  Gaps between messages are independent,
    with these hazard rates, events a second, shape (N_BINS,); and after the last none came: one message alone, where
    they come in bursts, came near the end of a long interval.  At its beginning the message before was `age_ns` old;
    `span_ns` is its length; `waiting`, shape (3, CELLS), is kept from one message to the next: how likely the last came
    in each cell, that times the expected sum of waits, in cells, and how likely a gap is longer than so many cells and
    a half.
    """
    likely, waits, gap = waiting[0], waiting[1], waiting[2]
    if count == 1:
        hazard = 0.0
        for c in range(CELLS):
            more = integrated(rates, age_ns + c * span_ns // CELLS, age_ns + (c + 1) * span_ns // CELLS)
            likely[c] = -math.exp(-hazard) * math.expm1(-more)
            waits[c], hazard = likely[c] * (CELLS - c - 0.5), hazard + more
            gap[c] = math.exp(-integrated(rates, 0, (2 * c + 1) * span_ns // (2 * CELLS)))
    else:
        for c in range(CELLS - 1, -1, -1):
            found = found_waits = 0.0
            for i in range(c + 1):
                mass = (gap[c - i - 1] if i < c else 1.0) - gap[c - i]
                found += likely[i] * mass
                found_waits += waits[i] * mass
            likely[c], waits[c] = found, found_waits + found * (CELLS - c - 0.5)
    total, whole = 1e-30, 0.0
    for c in range(CELLS):
        total += likely[c] * gap[CELLS - 1 - c]
        whole += waits[c] * gap[CELLS - 1 - c]
    for c in range(CELLS):
        likely[c] /= total
        waits[c] /= total
    return whole / total * span_ns * 1e-9 / CELLS


@compiled
def price_of_delay(
    work: Workspace, rates: Floats, ages_ns: Ints, weights: Floats, interval_ns: int, awake_w: float, beacon_j: float,
    wakeup_j: float, wanted_s: float, least_w: float, most_w: float, halvings: int,
) -> float:  # fmt: skip
    """Return the price, watts, at which plans lead to a mean delay of messages of `wanted_s`, by bisection.

    `weights` say how often the last message is `ages_ns` old at the beginning of a cycle.  The distance of the prices
    between which it is sought is halved so many times, in logarithms; the rest is what `promised_delay` takes.
    """
    low, high = math.log(least_w), math.log(most_w)
    for _ in range(halvings):
        middle = 0.5 * (low + high)
        late_s = number = 0.0
        for c in range(ages_ns.size):
            if weights[c] > 0.0:
                more_s, more = promised_delay(
                    work, rates, ages_ns[c], interval_ns, awake_w, beacon_j, wakeup_j, math.exp(middle)
                )
                late_s += weights[c] * more_s
                number += weights[c] * more
        if late_s > wanted_s * number:
            low = middle
        else:
            high = middle
    return math.exp(0.5 * (low + high))
