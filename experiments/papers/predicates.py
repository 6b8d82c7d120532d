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
largest or smallest (`largest(measure, name)`, `smallest(measure, name)`); `both` asks for all of several predicates.
With one replication there is no interval, and the number stands for it.  A name without a number has not met what is
asked.
What it leaves out: what is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import inf, isfinite
from typing import Any, Literal

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
        strict = self.open or self.by == "interval"
        where = f"from {low} to {high}"
        if self.low == -inf:
            where = f"{'below' if strict else 'at most'} {high}"
        elif self.high == inf:
            where = f"{'above' if strict else 'at least'} {low}"
        many = "" if self.needed is None else f", of {self.needed:g} or more"
        if self.needed is not None and self.needed < 1.0:
            many = f", of more than {'half' if self.needed == 0.5 else self.needed}"
        return f"{_BY[self.by]} {where}{many}"

    def holds(self, sample: NDArray[np.float64]) -> bool:
        """Whether one sample lies where it has to."""
        if not len(sample):
            return False
        interval = estimate(sample)
        ends = (interval.mean, interval.mean) if self.by == "mean" else (lower(interval), upper(interval))
        least, most = (float(sample.min()), float(sample.max())) if self.by == "every" else ends
        if self.by == "reach":
            return least <= self.high and most >= self.low
        if self.open or self.by == "interval":
            return self.low < least and most < self.high
        return self.low <= least and most <= self.high

    def __call__(self, record: Record) -> Verdict:
        """Hold the record to it."""
        samples = _samples(measured(self.measure, record))
        if not samples:
            return Verdict(NOTHING, False, NOTHING)
        failed = {name: sample for name, (sample, _) in samples.items() if not self.holds(sample)}
        count, needed = len(samples) - len(failed), len(samples) if self.needed is None else self.needed
        words = [_joined(name, self._shown(sample), note) for name, (sample, note) in samples.items()]
        why = "; ".join(_joined(name, self._spread(sample)) for name, sample in failed.items())
        if failed and len(samples) > 1:
            why = f"so for {count} of {len(samples)}; {why}"
        enough = count > needed * len(samples) if needed < 1.0 else count >= needed
        return Verdict(", ".join(words), enough, why, self._deciding(samples, needed))

    def _deciding(self, samples: Mapping[str, tuple[NDArray[np.float64], str]], needed: float) -> str:
        """Say the worst of as many samples, the best ones first, as have to lie in the range; nothing of one alone."""
        if len(samples) == 1 and not any(note for _, note in samples.values()):
            return ""
        best = sorted(samples, key=lambda name: -self._inside(samples[name][0]))
        place = min(len(best), int(needed * len(best)) + 1 if needed < 1.0 else max(1, round(needed)))
        name = best[place - 1]
        which = "worst" if place == len(best) else f"number {place}"
        return _joined(name, self._shown(samples[name][0]), f"({which} of {len(best)})" if len(best) > 1 else "")

    def _inside(self, sample: NDArray[np.float64]) -> float:
        """Return how far inside the range a sample lies; below 0 it is outside."""
        if not len(sample):
            return -inf
        interval = estimate(sample)
        ends = (interval.mean, interval.mean) if self.by == "mean" else (lower(interval), upper(interval))
        least, most = (float(sample.min()), float(sample.max())) if self.by == "every" else ends
        if self.by == "reach":
            least, most = most, least
        return min(least - self.low, self.high - most)

    def _shown(self, sample: NDArray[np.float64]) -> str:
        if self.by != "every" or not len(sample):
            return _mean(sample, self.unit)
        if len(sample) == 1:
            return f"{sample[0]:.0f}{self.unit}" if float(sample[0]).is_integer() else _mean(sample, self.unit)
        return f"{sample.min():.4g} to {sample.max():.4g}{self.unit} over {len(sample)}"

    def _spread(self, sample: NDArray[np.float64]) -> str:
        """Say how single numbers lie that are not where they have to be."""
        if len(sample) < 2:
            return f"is {self._shown(sample)}" if len(sample) else "has no number, which counts as failed"
        outside = int(np.sum((sample < self.low) | (sample > self.high)))
        least, middle, most = (f"{value:.3g}" for value in np.quantile(sample, (0.0, 0.5, 1.0)))
        return f"{outside} of {len(sample)} lie outside ({least}; {middle}; {most})"


@dataclass(frozen=True, slots=True)
class Ordered:
    """A measure whose means have to rise (or fall) from name to name, strictly."""

    measure: Measure
    falls: bool = False
    unit: str = ""
    ends: bool = False

    @property
    def tolerance(self) -> str:
        """What has to rise or fall."""
        way = "smaller" if self.falls else "larger"
        return f"mean {way} at the last than at the first" if self.ends else f"mean {way} at every step"

    def __call__(self, record: Record) -> Verdict:
        """Hold the record to it."""
        samples = _samples(measured(self.measure, record))
        means = [estimate(sample).mean for sample, _ in samples.values()]
        steps = [(means[0], means[-1])] if self.ends and means else list(pairwise(means))
        right = [later < earlier if self.falls else later > earlier for earlier, later in steps]
        words = ", ".join(
            _joined(_mean(sample, self.unit), f"at {name}", note) for name, (sample, note) in samples.items()
        )
        short = ""
        if right:  # the step that goes least the right way
            step = min(range(len(steps)), key=lambda at: (steps[at][1] - steps[at][0]) * (-1 if self.falls else 1))
            names = (next(iter(samples)), list(samples)[-1]) if self.ends else list(pairwise(samples))[step]
            short = ", ".join(f"{_mean(samples[name][0], self.unit)} at {name}" for name in names)
        why = f"so at {sum(right)} of {len(right)} steps"
        return Verdict(words or NOTHING, bool(right) and all(right), why, short)


@dataclass(frozen=True, slots=True)
class Extreme:
    """A measure of which one name has to have the largest (or smallest) mean of all."""

    measure: Measure
    name: str
    least: bool = False
    unit: str = ""

    @property
    def tolerance(self) -> str:
        """Whose mean has to be what."""
        return f"{'smallest' if self.least else 'largest'} mean of all"

    def __call__(self, record: Record) -> Verdict:
        """Hold the record to it."""
        samples = _samples(measured(self.measure, record))
        means = {name: estimate(sample).mean for name, (sample, _) in samples.items()}
        known = {name: mean for name, mean in means.items() if isfinite(mean)}
        if not known:
            return Verdict(NOTHING, False, NOTHING)
        best = (min if self.least else max)(known, key=known.__getitem__)
        words = (_joined(name, _mean(one, self.unit), note) for name, (one, note) in samples.items())
        others = [name for name in known if name != self.name]
        ahead = (min if self.least else max)(others, key=lambda name: known[name], default="")
        beside = [name for name in (self.name, ahead) if name in samples]
        short = ", ".join(_joined(name, _mean(samples[name][0], self.unit)) for name in beside)
        return Verdict(", ".join(words), best == self.name, f"{best} has it", short)


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
        why = "; ".join(verdict.why_not for verdict in verdicts if not verdict.holds)
        ours, holds = "; ".join(verdict.ours for verdict in verdicts), all(one.holds for one in verdicts)
        shorts = [verdict.short or verdict.ours for verdict in verdicts if holds or not verdict.holds]
        return Verdict(ours, holds, why, "; ".join(shorts))


def _mean(sample: NDArray[np.float64], unit: str) -> str:
    """Say mean and interval, or that there is nothing to take the mean of."""
    return shown(estimate(sample), unit) if len(sample) else "no number"


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
rising, falling = Ordered, partial(Ordered, falls=True)
largest, smallest = Extreme, partial(Extreme, least=True)


def _samples(measures: Mapping[str, Any]) -> dict[str, tuple[NDArray[np.float64], str]]:
    """Return name to sample, without what is not a number, and the note after it."""
    noted = {name: one if isinstance(one, Noted) else Noted(one, "") for name, one in measures.items()}
    arrays = {name: np.atleast_1d(np.asarray(one.sample, dtype=float)) for name, one in noted.items()}
    return {name: (sample[~np.isnan(sample)], noted[name].note) for name, sample in arrays.items()}


def explained_by(words: str, measure: Measure) -> Callable[[Record], str]:
    """Return what says another measure of the record, where a claim fails."""
    return lambda record: f"{words} {at_least(measure, -inf)(record).ours}"


def wide_enough(measure: Measure) -> Claim:
    """Claim that no parameter that was tuned lies at the edge of its grid (`steps_inside` measures that)."""
    return Claim("no tuned parameter lies at the edge of its grid", each(measure, 1), reason=HOUSEKEEPING)
