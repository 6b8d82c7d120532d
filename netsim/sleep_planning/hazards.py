"""Hazard rates by age: how likely a wait is to end now, given how long it has lasted.

What it models: waits of several kinds (for a reply, for a message, ...).  Every kind has a hazard rate, in events a
second at risk, that depends on the age of the wait alone and is constant on bins of age: one below a millisecond,
then bins whose edges grow by 7 % up to an hour, then one for all that is older.  A bin's rate has a gamma prior,
whose posterior mean after n events in T seconds at risk is (a + n) / (b + T).  A wait that was cut short adds its
time at risk and no event, so that censoring is exact.  Three estimators, whose bins are 1, 3 and 8 of these wide, are
averaged by their evidence: the probability that each gave to the waits seen so far, every one predicted before it was
learned from.

Some waits of a kind, such as those for one server, may have rates of their own: the common rates times factors that
are learned from these waits alone, averaged by evidence with the common rates themselves (`own_rates`).

Waits that run at the same time superpose: the rate at which anything happens is the sum of their rates.

What it leaves out: what the waits are for; any dependence on more than age and kind; forgetting.

Source: the gamma prior of piecewise constant hazards is textbook survival analysis (for instance Ibrahim, Chen and
Sinha 2001, chapter 3); bins, prior mean and mixture are ours.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lpsm.arrays import Floats, Ints
from lpsm.native import compiled
from netsim.sleep_planning.sizes import size

_NS_PER_S = 1_000_000_000
_FIRST_EDGE_NS, _LAST_EDGE_NS, _BINS, _FINEST = 1_000_000, 3600 * _NS_PER_S, size("bins"), 226
_RATIO = 1.07 if _BINS == _FINEST else (_LAST_EDGE_NS / _FIRST_EDGE_NS) ** (1.0 / (_BINS - 2.0)) * (1.0 + 1e-9)
_NEVER_NS = 2**62
_CERTAIN = 1e-8  # an interval of less hazard is taken for an instant


def _edges() -> Ints:
    growing = [_FIRST_EDGE_NS]
    while growing[-1] < _LAST_EDGE_NS:
        growing.append(round(growing[0] * _RATIO ** len(growing)))
    return np.array([0, *growing, _NEVER_NS], dtype=np.int64)


EDGES_NS = _edges()
"""Edges of the bins of age, nanoseconds; bin i holds the ages from edge i up to, but not including, edge i + 1."""
N_BINS = len(EDGES_NS) - 1
WIDTHS = np.array([1, max(2, round(5 * _BINS / _FINEST)), max(3, round(25 * _BINS / _FINEST))], dtype=np.int64)
"""How many bins each of the estimators takes together."""
N_WIDTHS = len(WIDTHS)
_SPAN_S = (EDGES_NS[1:] - EDGES_NS[:-1]) * 1e-9


@compiled
def find_bin(age_ns: int) -> int:
    """Return the bin of an age, which must not be negative."""
    low, high = 0, N_BINS
    while high - low > 1:
        middle = (low + high) >> 1
        if EDGES_NS[middle] <= age_ns:
            low = middle
        else:
            high = middle
    return low


def _middles_s() -> Floats:
    """Return the age in the middle of the group of bins that each bin is in, a row an estimator."""
    first = np.arange(N_BINS) // WIDTHS[:, None] * WIDTHS[:, None]
    begin, end = EDGES_NS[first], EDGES_NS[np.minimum(first + WIDTHS[:, None], N_BINS - 1)]
    middles: Floats = 0.5e-9 * (begin + np.maximum(begin, end))
    return middles


_MIDDLES_S = _middles_s()


@compiled
def refresh(
    events: Floats, at_risk_s: Floats, rates: Floats, log_evidence: Floats, mean_rates: Floats, prior_events: float,
    prior_shape: float, last_bin: int,
) -> None:  # fmt: skip
    """Find the rates of all estimators for the bins up to `last_bin`, and their average; see `learn_wait`.

    The prior's time at risk of a group of bins is such that its mean rate is `prior_shape` over the age in its middle.
    """
    for place in range(last_bin + 1):  # the first estimator's groups are bins
        time_s = prior_events * _MIDDLES_S[0, place] / prior_shape + at_risk_s[place]
        rates[0, place] = (prior_events + events[place]) / time_s
    for which in range(1, N_WIDTHS):
        width = WIDTHS[which]
        for group in range(last_bin // width + 1):
            first, after = group * width, min((group + 1) * width, N_BINS)
            count, time_s = prior_events, prior_events * _MIDDLES_S[which, first] / prior_shape
            for place in range(first, after):
                count += events[place]
                time_s += at_risk_s[place]
            for place in range(first, after):
                rates[which, place] = count / time_s
    _average(rates, log_evidence, mean_rates)


@compiled
def _average(rates: Floats, log_evidence: Floats, mean_rates: Floats) -> None:
    """Average the estimators' rates by their evidence."""
    largest = total = 0.0
    for which in range(log_evidence.size):
        largest = log_evidence[which] if which == 0 else max(largest, log_evidence[which])
    for which in range(log_evidence.size):
        total += math.exp(log_evidence[which] - largest)
    mean_rates[:] = 0.0
    for which in range(log_evidence.size):
        weight = math.exp(log_evidence[which] - largest) / total
        for place in range(N_BINS):
            mean_rates[place] += weight * rates[which, place]


@compiled
def learn_wait(
    events: Floats, at_risk_s: Floats, rates: Floats, log_evidence: Floats, mean_rates: Floats, prior_events: float,
    prior_shape: float, from_ns: int, to_ns: int, ended: bool,
) -> None:  # fmt: skip
    """Learn from a wait that was watched between two ages, 0 <= from <= to, and ended at the second or was cut short
    there.

    All arrays are updated: `events`, the waits that ended in each bin, and `at_risk_s`, the seconds that waits have
    spent in it, of shape (N_BINS,); the posterior mean `rates` of the estimators, events a second, of shape (N_WIDTHS,
    N_BINS); `log_evidence`, the logarithm of the probability (density) that each gave to what was seen, nats, of shape
    (N_WIDTHS,); and `mean_rates`, their average by evidence, with which to predict, of shape (N_BINS,).  The prior of
    every bin of every estimator counts as `prior_events`, at a mean rate of `prior_shape` divided by the age in the
    middle of the bin.
    """
    last = enter_wait(events, at_risk_s, rates, log_evidence, from_ns, to_ns, ended)
    refresh(events, at_risk_s, rates, log_evidence, mean_rates, prior_events, prior_shape, last)


@compiled
def enter_wait(
    events: Floats, at_risk_s: Floats, rates: Floats, log_evidence: Floats, from_ns: int, to_ns: int, ended: bool
) -> int:
    """Enter a wait into counts and evidence, and leave the rates as they are; return the bin of its last age."""
    first, last = find_bin(from_ns), find_bin(to_ns)
    for place in range(first, last + 1):
        time_s = _SPAN_S[place]
        if place in (first, last):
            time_s = (min(to_ns, EDGES_NS[place + 1]) - max(from_ns, EDGES_NS[place])) * 1e-9
        at_risk_s[place] += time_s
        for which in range(len(log_evidence)):
            log_evidence[which] -= rates[which, place] * time_s
    if ended:
        events[last] += 1.0
        for which in range(len(log_evidence)):
            log_evidence[which] += math.log(rates[which, last])
    return last


@compiled
def begin(s: Any) -> None:
    """Fill in the rates of all kinds before anything was seen.

    A record of several kinds of wait has the arrays of `learn_wait` with a row a kind, `prior_events`, and the prior
    `shapes` of the kinds.
    """
    for kind in range(len(s.shapes)):
        refresh(
            s.events[kind], s.at_risk_s[kind], s.rates[kind], s.log_evidence[kind], s.mean_rates[kind],
            s.prior_events, s.shapes[kind], N_BINS - 1,
        )  # fmt: skip


@compiled
def learn_watch(s: Any, kind: int, age_ns: int, ended: bool) -> None:
    """Learn from a wait of a kind that ended at an age, or was cut short there."""
    learn_wait(
        s.events[kind], s.at_risk_s[kind], s.rates[kind], s.log_evidence[kind], s.mean_rates[kind], s.prior_events,
        s.shapes[kind], 0, age_ns, ended,
    )  # fmt: skip


@compiled
def learn_end(s: Any, kind: int, low_ns: int, high_ns: int) -> int:
    """Learn that a wait of a kind ended between two ages; return the age at which it is expected to have ended."""
    age_ns = enter_interval(
        s.events[kind], s.at_risk_s[kind], s.rates[kind], s.log_evidence[kind], s.mean_rates[kind], low_ns, high_ns
    )
    refresh(
        s.events[kind], s.at_risk_s[kind], s.rates[kind], s.log_evidence[kind], s.mean_rates[kind], s.prior_events,
        s.shapes[kind], find_bin(high_ns),
    )  # fmt: skip
    return age_ns


@compiled
def integrated(rates: Floats, low_ns: int, high_ns: int) -> float:
    """Return the integral of rates, shape (N_BINS,), between two ages."""
    total = 0.0
    for place in range(find_bin(low_ns), find_bin(high_ns) + 1):
        total += rates[place] * (min(high_ns, EDGES_NS[place + 1]) - max(low_ns, EDGES_NS[place])) * 1e-9
    return total


@compiled
def odds(rates: Floats, others: Floats, from_ns: int, others_from_ns: int, low_ns: int, high_ns: int) -> float:
    """Return how many times as likely a wait with these rates is to end in an interval as one with others.

    They began at two instants; an interval of no length is an instant.
    """
    low, high = max(0, low_ns - from_ns), max(0, high_ns - from_ns)
    other_low, other_high = max(0, low_ns - others_from_ns), max(0, high_ns - others_from_ns)
    if low_ns < high_ns and other_low < other_high:
        one, other = integrated(rates, low, high), integrated(others, other_low, other_high)
        if min(one, other) > _CERTAIN:
            return math.expm1(-one) / math.expm1(-other)
    return float(rates[find_bin(high)] / others[find_bin(other_high)])


@compiled
def enter_interval(
    events: Floats, at_risk_s: Floats, rates: Floats, log_evidence: Floats, mean_rates: Floats, low_ns: int,
    high_ns: int,
) -> int:  # fmt: skip
    """Enter a wait that ended between two ages, and leave the rates as they are; return its expected age, nanoseconds.

    It counts by what is expected, given the interval and the mean rates (step E of the EM algorithm: Dempster, Laird
    and Rubin 1977): so much of an event, and so long at risk, in every bin.  Its evidence is survival at the beginning
    of the interval less survival at the end.
    """
    first, last, whole = find_bin(low_ns), find_bin(high_ns), integrated(mean_rates, low_ns, high_ns)
    if whole < _CERTAIN:
        middle_ns = (low_ns + high_ns) // 2
        enter_wait(events, at_risk_s, rates, log_evidence, 0, middle_ns, True)
        return middle_ns
    enter_wait(events, at_risk_s, rates, log_evidence, 0, low_ns, False)
    for which in range(len(log_evidence)):
        log_evidence[which] += math.log(-math.expm1(-integrated(rates[which], low_ns, high_ns)))
    ended, alive, age_s = -math.expm1(-whole), 1.0, low_ns * 1e-9
    for place in range(first, last + 1):
        time_s = (min(high_ns, EDGES_NS[place + 1]) - max(low_ns, EDGES_NS[place])) * 1e-9
        hazard = mean_rates[place] * time_s
        mass = -alive * math.expm1(-hazard)
        lived_s = time_s * mass / hazard if hazard > 1e-7 else time_s * alive * (1.0 - hazard / 2)
        lived_s = (lived_s - time_s * (1.0 - ended)) / ended  # without those that go on behind the interval
        events[place] += mass / ended
        at_risk_s[place] += lived_s
        age_s += lived_s
        alive -= mass
    return int(age_s * 1e9)


@compiled
def doubt_s2(rates: Floats, low_ns: int, high_ns: int, since_ns: int, least_s: float) -> float:
    """Return how uncertain a length is whose last part is a wait that ended between two ages, seconds squared.

    The wait, of these rates, shape (N_BINS,), began `since_ns` after what is measured, which takes at least `least_s`.
    For a length u of mean m it is m^2 (m E[1/u] - 1), so that E[1/u] is (1 + it / m^2) / m; if it is small it is the
    variance.
    """
    alive, total, mean, inverse = 1.0, 0.0, 0.0, 0.0
    for place in range(find_bin(low_ns), find_bin(high_ns) + 1):
        from_ns, to_ns = max(low_ns, EDGES_NS[place]), min(high_ns, EDGES_NS[place + 1])
        mass = -alive * math.expm1(-rates[place] * (to_ns - from_ns) * 1e-9)
        length_s = max(least_s, (since_ns + (from_ns + to_ns) / 2) * 1e-9)
        alive -= mass
        total += mass
        mean += mass * length_s
        inverse += mass / length_s
    return mean**2 * (mean * inverse - total**2) / total**4 if total > _CERTAIN else 0.0


@compiled
def own_rates(
    common: Floats, events: Floats, at_risk_s: Floats, prior_events: float, rates: Floats, log_evidence: Floats,
    mean_rates: Floats,
) -> None:  # fmt: skip
    """Find the rates of some waits of a kind, those for one server, from their own counts and the `common` rates.

    Each estimator multiplies the common rates by a factor a group of bins: waits that ended over those that were to be
    expected, where the prior counts as `prior_events` of both.  The last row of `rates` and of `log_evidence`, which
    have one more than there are estimators, is the common rates as they are.  `common` and `mean_rates` have shape
    (N_BINS,); the rest is as in `learn_wait`, and `enter_wait` enters waits.
    """
    for which in range(N_WIDTHS):
        width = WIDTHS[which]
        for first in range(0, N_BINS, width):
            after = min(first + width, N_BINS)
            count = expected = prior_events
            for place in range(first, after):
                count += events[place]
                expected += common[place] * at_risk_s[place]
            for place in range(first, after):
                rates[which, place] = common[place] * count / expected
    for place in range(N_BINS):
        rates[N_WIDTHS, place] = common[place]
    _average(rates, log_evidence, mean_rates)
