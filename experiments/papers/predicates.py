"""The predicates of claims: where the numbers that are measured of a record have to lie.

What it models: a measure returns samples by name, a number a replication (a seed, a session, a split, a topic) in each.
A predicate asks, of all names or of some (`Within.needed`), that

* the whole 95 % Student interval of the mean lies on one side, or in a range: `above(measure, limit)`,
  `below(measure, limit)`, `within(measure, low, high)`;
* the mean itself does: `at_least(measure, limit)`, `at_most(measure, limit)`, `between(measure, low, high)`, and
  `near(measure, value, factor)`, which has the sign of the value, and its size within a factor either way;
* any part of the interval lies in a range, so that the record does not refute it: `reaching(measure, low, high)`;
* every single number does: `each(measure, low, high)`;

or, of the means of all names, that they rise or fall from name to name (`rising`, `falling`), or that one is the
largest or smallest (`largest(measure, name)`, `smallest(measure, name)`), which are ranges of differences of means;
`both` asks for all of several predicates.  With one replication there is no interval, and the number stands for it.  A
name without a number has not met what is asked.
What it leaves out: what is measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import inf, isfinite, nan
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.papers.claims import NOTHING, Claim, Measure, Noted, Predicate, Record, Verdict, measured, shown
from experiments.report.results import HOUSEKEEPING
from experiments.study.compare import Estimate, estimate

__all__ = [
    "above", "at_least", "at_most", "below", "between", "both", "each", "explained_by", "falling",
    "largest", "lower", "near", "reaching", "rising", "smallest", "upper", "wide_enough", "within",
]  # fmt: skip

By = Literal["interval", "mean", "reach", "every"]
_BY = {"interval": "whole 95 % interval", "mean": "mean", "reach": "95 % interval reaches", "every": "every one"}


class _Sample(NamedTuple):
    """Numbers of one name, those that are none left out, and the note after them."""

    numbers: NDArray[np.float64]
    note: str

    @property
    def mean(self) -> float:
        return estimate(self.numbers).mean

    def said(self, unit: str) -> str:
        """Say mean and interval, or that there is nothing to take the mean of."""
        return shown(estimate(self.numbers), unit) if len(self.numbers) else "no number"


@dataclass(frozen=True, slots=True)
class Within:
    """A measure whose samples have to lie in a range.

    Attributes
    ----------
    measure
        What has to.
    low, high
        The range; its ends belong to it unless it is `open`.
    by
        What of a sample has to lie there.
    needed
        Of how many names, None for all; a fraction is the share that has to be exceeded.
    unit
        What numbers are written with.
    """

    measure: Measure
    low: float = -inf
    high: float = inf
    by: By = "interval"
    open: bool = False
    needed: float | None = None
    unit: str = ""

    @property
    def tolerance(self) -> str:
        """What has to lie where, of how many names."""
        low, high = (f"{value:g}{self.unit}" for value in (self.low, self.high))
        where = f"from {low} to {high}"
        if self.low == -inf:
            where = f"{'below' if self._strict else 'at most'} {high}"
        elif self.high == inf:
            where = f"{'above' if self._strict else 'at least'} {low}"
        many = "" if self.needed is None else f", of {self.needed:g} or more"
        if self.needed is not None and self.needed < 1.0:
            many = f", of more than {'half' if self.needed == 0.5 else self.needed}"
        return f"{_BY[self.by]} {where}{many}"

    @property
    def _strict(self) -> bool:
        return self.open or self.by == "interval"

    def samples(self, record: Record) -> dict[str, _Sample]:
        """Return what is measured of a record, by name."""
        samples = {}
        for name, one in measured(self.measure, record).items():
            numbers, note = one if isinstance(one, Noted) else (one, "")
            array = np.atleast_1d(np.asarray(numbers, dtype=float))
            samples[name] = _Sample(array[~np.isnan(array)], note)
        return samples

    def inside(self, numbers: NDArray[np.float64]) -> float:
        """Return how far inside the range a sample lies; below 0 it is outside."""
        if not len(numbers):
            return -inf
        interval = estimate(numbers)
        least, most = lower(interval), upper(interval)
        if self.by == "reach":
            least, most = most, least
        elif self.by != "interval":
            least, most = (numbers.min(), numbers.max()) if self.by == "every" else (interval.mean, interval.mean)
        return float(min(least - self.low, self.high - most))

    def __call__(self, record: Record) -> Verdict:
        """Say which of the samples lie in the range, and the worst of as many, the best first, as have to."""
        samples = self.samples(record)
        if not samples:
            return Verdict(NOTHING, False, NOTHING)
        room = {name: self.inside(one.numbers) for name, one in samples.items()}
        failed = [name for name, own in room.items() if not (own > 0.0 if self._strict else own >= 0.0)]
        said = {name: _joined(name, self._shown(one), one.note) for name, one in samples.items()}
        why = "; ".join(_joined(name, self._spread(samples[name])) for name in failed)
        count, held = len(samples), len(samples) - len(failed)
        if failed and count > 1:
            why = f"so for {held} of {count}; {why}"
        needed = count if self.needed is None else self.needed
        least = int(needed * count) + 1 if needed < 1.0 else needed  # of names
        best = sorted(room, key=lambda name: -room[name])
        place = min(count, max(1, round(least)))
        name = best[place - 1]
        which = "worst" if place == count else f"number {place}"
        short = _joined(name, self._shown(samples[name]), f"({which} of {count})" if count > 1 else "")
        if count == 1 and not samples[name].note:
            short = ""
        return Verdict(", ".join(said.values()), held >= least, why, short)

    def _shown(self, sample: _Sample) -> str:
        numbers = sample.numbers
        if self.by == "every" and len(numbers) > 1:
            return f"{numbers.min():.4g} to {numbers.max():.4g}{self.unit} over {len(numbers)}"
        whole = self.by == "every" and len(numbers) and float(numbers[0]).is_integer()
        return f"{numbers[0]:.0f}{self.unit}" if whole else sample.said(self.unit)

    def _spread(self, sample: _Sample) -> str:
        """Say how single numbers lie that are not where they have to be."""
        numbers = sample.numbers
        if len(numbers) < 2:
            return f"is {self._shown(sample)}" if len(numbers) else "has no number, which counts as failed"
        outside = int(np.sum((numbers < self.low) | (numbers > self.high)))
        least, middle, most = (f"{value:.3g}" for value in np.quantile(numbers, (0.0, 0.5, 1.0)))
        return f"{outside} of {len(numbers)} lie outside ({least}; {middle}; {most})"


@dataclass(frozen=True, slots=True)
class Both:
    """Tests all of which have to hold."""

    tests: tuple[Predicate, ...]

    @property
    def tolerance(self) -> str:
        """What all of them ask for."""
        return "; ".join(test.tolerance for test in self.tests)

    def __call__(self, record: Record) -> Verdict:
        """Hold the record to all of them."""
        verdicts = [test(record) for test in self.tests]
        if any(verdict.ours == NOTHING for verdict in verdicts):
            return Verdict(NOTHING, False, NOTHING)
        failed = [verdict for verdict in verdicts if not verdict.holds]
        short = "; ".join(verdict.short or verdict.ours for verdict in failed or verdicts)
        why = "; ".join(verdict.why_not for verdict in failed)
        return Verdict("; ".join(verdict.ours for verdict in verdicts), not failed, why, short)


def _joined(*words: str) -> str:
    return " ".join(word for word in words if word)


def lower(interval: Estimate) -> float:
    """Return the lower end of the interval; the mean where there is none, with one replication."""
    return interval.mean - (interval.half_width if isfinite(interval.half_width) else 0.0)


def upper(interval: Estimate) -> float:
    """Return the upper end of the interval; the mean where there is none, with one replication."""
    return interval.mean + (interval.half_width if isfinite(interval.half_width) else 0.0)


def above(measure: Measure, limit: float = 0.0, *, by: By = "interval", **how: Any) -> Within:
    """Ask that the whole 95 % interval lies above the limit."""
    return Within(measure, low=limit, by=by, **how)


def below(measure: Measure, limit: float = 0.0, *, by: By = "interval", **how: Any) -> Within:
    """Ask that the whole 95 % interval lies below the limit."""
    return Within(measure, high=limit, by=by, **how)


def near(measure: Measure, value: float, factor: float, **how: Any) -> Within:
    """Ask that the mean has the sign of the value, and its size within a factor either way."""
    low, high = sorted((value / factor, value * factor))
    return between(measure, low, high, **how)


def both(*tests: Predicate) -> Both:
    """Ask for all of the tests."""
    return Both(tests)


at_least, at_most = partial(above, by="mean"), partial(below, by="mean")
within, between = partial(Within, by="interval"), partial(Within, by="mean")
reaching, each = partial(Within, by="reach"), partial(Within, by="every")


def rising(measure: Measure, *, falls: bool = False, ends: bool = False, unit: str = "") -> Within:
    """Ask that means rise (or fall) from name to name, strictly; or from the first to the last."""

    def steps(record: Record) -> dict[str, Noted]:
        samples = list(Within(measure).samples(record).items())
        pairs = [(samples[0], samples[-1])] if ends and samples[1:] else pairwise(samples)
        return {
            f"{before.strip(':')} to {after.strip(':')}:": Noted(b.mean - a.mean, f"({a.said(unit)}, {b.said(unit)})")
            for (before, a), (after, b) in pairs
        }

    return (at_most if falls else at_least)(steps, 0.0, open=True, unit=unit)


def largest(measure: Measure, name: str, *, least: bool = False, unit: str = "") -> Within:
    """Ask that one name has the largest (or smallest) mean of all: that it is ahead of the best of the others."""

    def ahead(record: Record) -> Noted | None:
        samples = Within(measure).samples(record)
        means = {one: (-sample.mean if least else sample.mean) for one, sample in samples.items()}
        others = [mean for one, mean in means.items() if one != name and isfinite(mean)]
        words = ", ".join(_joined(one, sample.said(unit), sample.note) for one, sample in samples.items())
        return Noted(means.get(name, nan) - max(others, default=nan), f"({words})") if samples else None

    return at_least(ahead, 0.0, open=True, unit=unit)


falling, smallest = partial(rising, falls=True), partial(largest, least=True)


def explained_by(words: str, measure: Measure) -> Callable[[Record], str]:
    """Return what says another measure of the record, where a claim fails."""
    return lambda record: f"{words} {at_least(measure, -inf)(record).ours}"


def wide_enough(measure: Measure) -> Claim:
    """Claim that no parameter that was tuned lies at the edge of its grid (`steps_inside` measures that)."""
    return Claim("no tuned parameter lies at the edge of its grid", each(measure, 1), reason=HOUSEKEEPING)
