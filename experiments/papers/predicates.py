"""The predicates of claims: where the numbers that are measured of a record have to lie.

What it models: a measure returns samples by name, a number a replication (a seed, a session, a split, a topic) in each.
A predicate asks, of all names or of some (`Within.needed`), that

* the whole 95 % Student interval of the mean lies on one side, or in a range: `above(measure, limit)`,
  `below(measure, limit)`, `within(measure, low, high)`;
* the mean itself does: `at_least(measure, limit)`, `at_most(measure, limit)`, `between(measure, low, high)`;
* any part of the interval lies in a range, so that the record does not refute it: `reaching(measure, low, high)`;
* every single number does: `each(measure, low, high)`;

or, of the means of all names, that they rise or fall from name to name (`rising`, `falling`), or that one is the
largest or smallest (`largest(measure, name)`, `smallest(measure, name)`), which are ranges of differences of means;
`both` asks for all of several predicates.  With one replication there is no interval, and the number stands for it.  A
name without a number has not met what is asked.

A mean is too noisy to tell where its 95 % interval goes beyond an end of the range on one side and not on the other,
and its half width exceeds the tolerance: half of a range, or what a limit is away from no difference, which is 0 or a
ratio of 1, whichever is nearer.  A predicate on whole intervals has no tolerance.
What it leaves out: what is measured.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import inf, isfinite, nan
from typing import Literal

import numpy as np

from experiments.papers.claims import NOTHING, Claim, Measure, Noted, Record, Verdict, measured, shown
from experiments.report.results import HOUSEKEEPING
from experiments.study.compare import estimate

By = Literal["interval", "mean", "reach", "every"]
_BY: dict[By, str] = {
    "interval": "whole 95 % interval", "mean": "mean", "reach": "95 % interval reaches", "every": "every one"
}  # fmt: skip


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
    def slack(self) -> float:
        """The tolerance that a half width is compared with."""
        if self.by == "interval":
            return 0.0
        if isfinite(self.low) and isfinite(self.high):
            return (self.high - self.low) / 2.0
        limit = self.low if isfinite(self.low) else self.high
        return min(abs(limit), abs(limit - 1.0))

    @property
    def _strict(self):
        return self.open or self.by == "interval"

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

    def samples(self, record: Record) -> dict[str, Noted]:
        """Return what is measured of a record by name: the numbers, those that are none left out, and the note."""
        samples = {}
        for name, one in measured(self.measure, record).items():
            sample, note = one if isinstance(one, Noted) else (one, "")
            numbers = np.atleast_1d(np.asarray(sample, float))
            samples[name] = Noted(numbers[~np.isnan(numbers)], note)
        return samples

    def inside(self, numbers):
        """Return how far inside the range a sample lies; below 0 it is outside."""
        if not len(numbers):
            return -inf
        mean, half = estimate(numbers)
        half = {"interval": half, "reach": -half}.get(self.by, 0.0) if isfinite(half) else 0.0
        least, most = (numbers.min(), numbers.max()) if self.by == "every" else (mean - half, mean + half)
        return float(min(least - self.low, self.high - most))

    def placed(self, numbers) -> bool | None:
        """Say whether a sample lies in the range, None where it is too noisy to tell."""
        room = self.inside(numbers)
        right = room > 0.0 if self._strict else room >= 0.0
        if self.by == "every" or not len(numbers):
            return right
        mean, half = estimate(numbers)
        crossed = isfinite(half) and any(abs(mean - edge) < half for edge in (self.low, self.high))
        return None if crossed and half > self.slack else right

    def __call__(self, record: Record) -> Verdict:
        """Say which samples lie in the range, and the k-th best of them, where k have to."""
        samples = self.samples(record)
        if not samples:
            return Verdict(NOTHING, False, NOTHING, NOTHING)
        room = {name: self.inside(one.sample) for name, one in samples.items()}
        placed = {name: self.placed(one.sample) for name, one in samples.items()}
        failed, unknown = ([name for name, own in placed.items() if own is one] for one in (False, None))
        count, asked = len(samples), len(samples) if self.needed is None else self.needed
        needed = int(asked * count) + 1 if asked < 1.0 else int(asked)
        said = {name: _joined(name, self._shown(one.sample), one.note) for name, one in samples.items()}
        why = "; ".join(_joined(name, self._spread(samples[name].sample)) for name in [*failed, *unknown])
        held = count - len(failed) - len(unknown)
        if held < count > 1:
            why = f"so for {held} of {count}; {why}"
        place = min(count, needed)
        worst = sorted(room, key=lambda name: -room[name])[place - 1]
        which = f"({'worst' if place == count else f'number {place}'} of {count})" if count > 1 else ""
        short = _joined(worst, self._shown(samples[worst].sample), which)
        noisy = needed <= held + len(unknown)
        return Verdict(", ".join(said.values()), held >= needed, why, short, noisy)

    def _shown(self, numbers):
        if self.by == "every" and len(numbers) > 1:
            return f"{numbers.min():.4g} to {numbers.max():.4g}{self.unit} over {len(numbers)}"
        whole = self.by == "every" and len(numbers) and float(numbers[0]).is_integer()
        return f"{numbers[0]:.0f}{self.unit}" if whole else shown(estimate(numbers), self.unit)

    def _spread(self, numbers):
        """Say how single numbers lie that are not where they have to be."""
        if len(numbers) < 2:
            return f"is {self._shown(numbers)}" if len(numbers) else "has no number, which counts as failed"
        outside = int(np.sum((numbers < self.low) | (numbers > self.high)))
        least, middle, most = (f"{value:.3g}" for value in np.quantile(numbers, (0.0, 0.5, 1.0)))
        return f"{outside} of {len(numbers)} lie outside ({least}, {middle}, {most})"


def _joined(*words):
    return " ".join(word for word in words if word)


def above(measure, limit=0.0, **how):
    """Ask that the whole 95 % interval lies above the limit."""
    return Within(measure, low=limit, **how)


def below(measure, limit=0.0, **how):
    """Ask that the whole 95 % interval lies below the limit."""
    return Within(measure, high=limit, **how)


at_least, at_most = partial(above, by="mean"), partial(below, by="mean")
within, between, reaching, each = (partial(Within, by=by) for by in _BY)


def both(*tests):
    """Ask for all of the tests."""
    return tests


def rising(measure, *, falls=False, ends=False, unit=""):
    """Ask that means rise (or fall) from name to name, strictly; or from the first to the last."""

    def steps(record):
        means = [(name.strip(":"), estimate(one.sample)) for name, one in Within(measure).samples(record).items()]
        return {
            f"{before} to {after}:": Noted(b.mean - a.mean, f"({shown(a, unit)}, {shown(b, unit)})")
            for (before, a), (after, b) in ([(means[0], means[-1])] if ends and means[1:] else pairwise(means))
        }

    return (at_most if falls else at_least)(steps, 0.0, open=True, unit=unit)


def largest(measure, name, *, least=False, unit=""):
    """Ask that one name has the largest (or smallest) mean of all: that it is ahead of the best of the others."""

    def ahead(record):
        samples = Within(measure).samples(record)
        means = {one: (-1 if least else 1) * estimate(sample).mean for one, (sample, _) in samples.items()}
        others = [mean for one, mean in means.items() if one != name and isfinite(mean)]
        words = (_joined(one, shown(estimate(sample), unit), note) for one, (sample, note) in samples.items())
        return Noted(means.get(name, nan) - max(others, default=nan), f"({', '.join(words)})") if samples else None

    return at_least(ahead, 0.0, open=True, unit=unit)


falling, smallest = partial(rising, falls=True), partial(largest, least=True)


def wide_enough(measure):
    """Claim that no parameter that was tuned lies at the edge of its grid (`steps_inside` measures that)."""
    return Claim("no tuned parameter lies at the edge of its grid", each(measure, 1), reason=HOUSEKEEPING)
