"""Claims: what a paper says, and what our record has to show.

What it models: a claim is a statement of a paper, a test of our record, and the words that the paper printed.  A test
is a measure and a predicate (`predicates`); from the same declaration follow the verdict, its numbers, what the record
shows where it fails, and the tolerance that is published.  What it leaves out: what is measured, which each paper's
module declares.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from math import floor, isfinite, isnan, log10, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.papers.tuning import steps_to_end
from experiments.study.compare import Estimate, estimate, linearised

Record = Mapping[str, pd.DataFrame]  # table -> all rows
Measure = Callable[..., Any]  # tables of a record -> name -> sample, each `Noted` or not; or one sample, without a name
NOTHING = "the record has nothing of it"


class Noted(NamedTuple):
    """A sample (a number a replication, or one number) and the note printed after it."""

    sample: Any
    note: str


class Verdict(NamedTuple):
    """What the record says of a claim: `ours` in words and numbers, whether it holds, and why not.

    `short` is the part of `ours` that decides; a claim that does not hold may be too `noisy` to tell.
    """

    ours: str
    holds: bool
    why_not: str = ""
    short: str = ""
    noisy: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement that a record can refute: what the paper says, what our record has to show, and what is printed.

    `test` is a predicate, or several, all of which have to hold.  `reason` says what is measured and why this counts,
    beyond the test's own words; `no_test` why it can hardly fail, if that is so: it is reported, and counted apart.
    `kind` is "level" where a printed number is asked for, and otherwise for `kit.Experiment.kind` to say; a claim is
    `whole` where all that was found is shown, since one of several cases was selected.
    """

    statement: str
    test: Any
    printed: str = ""
    reason: str = ""
    no_test: str = ""
    kind: str = ""
    whole: bool = False

    @property
    def tests(self) -> tuple[Any, ...]:
        """All predicates that have to hold."""
        return self.test if isinstance(self.test, tuple) else (self.test,)

    @property
    def tolerance(self) -> str:
        """When it counts as holding, and why so."""
        idle = f"not a test: {self.no_test}" if self.no_test else ""
        return _joined(*(test.tolerance for test in self.tests), self.reason, idle)

    def check(self, record: Record) -> Verdict:
        """Hold a record to it."""
        verdicts = [test(record) for test in self.tests]
        if any(one.ours == NOTHING for one in verdicts):
            return Verdict(NOTHING, False, NOTHING, NOTHING)
        failed = [one for one in verdicts if not one.holds]
        why_not, short = _joined(*(one.why_not for one in failed)), _joined(*(one.short for one in failed or verdicts))
        ours, noisy = _joined(*(one.ours for one in verdicts)), bool(failed) and all(one.noisy for one in failed)
        return Verdict(ours, not failed, why_not, ours if self.whole else short, noisy)


def _joined(*words):
    return "; ".join(word for word in words if word)


def shown(interval: Estimate, unit: str = "") -> str:
    """Return mean and interval in words, to two figures of the half width, or three of a mean that stands alone.

    >>> shown(Estimate(1.2531, 0.5), " J"), shown(Estimate(123.4, float("nan"))), shown(Estimate(120.3, 31.0), " %")
    ('1.25 ± 0.50 J', '123', '120 ± 31 %')
    """
    mean, half_width = interval
    if isnan(mean):
        return "no number"
    scale, figures = (half_width, 1) if half_width > 1e-6 * abs(mean) else (mean, 2)
    digits = min(6, max(0, figures - floor(log10(abs(scale))))) if isfinite(scale) and scale else 0
    return f"{mean:.{digits}f}{f' ± {half_width:.{digits}f}' if isfinite(half_width) else ''}{unit}"


def where(rows, **having):
    """Return the rows in which columns have these values."""
    for name, wanted in having.items():
        rows = rows[rows[name] == wanted]
    return rows


def wide(rows, value, columns="policy", index="replication", **having):
    """Return a table with a row a replication and a column a policy, of the rows where columns have these values."""
    return where(rows, **having).pivot(index=index, columns=columns, values=value).sort_index()


def from_record(function, record):
    """Return what a function says of a record: each parameter is the table of its name, `record` is all of them."""
    parameters = signature(function).parameters.values()
    names = [one.name for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    return function(*(record if name == "record" else record[name] for name in names))


def measured(measure, record):
    """Return the samples that a measure takes of a record by name; no name for a single one, nothing for None."""
    samples = from_record(measure, record)
    if samples is None:
        return {}
    return dict(samples) if isinstance(samples, Mapping) else {"": samples}


def named(measures):
    """Return one measure of several, each under a name of its own."""
    return lambda record: {
        f"{name} {own}".strip(): sample
        for name, measure in measures.items() for own, sample in measured(measure, record).items()
    }  # fmt: skip


def by(values, name, *keys):
    """Return the values by group, each group under its name: a format of its keys."""
    return {name.format(*key): own for key, own in values.groupby(list(keys))}


def against(ours, theirs, *, over=False):
    """Return what one sample has more than another, pair by pair, or `over` how many times it; with both means."""
    means = " against ".join(shown(Estimate(float(one.mean()), nan)) for one in (ours, theirs))
    return Noted(linearised(ours, theirs) if over else ours - theirs, f"({means})")


def jackknifed(runs, statistic):
    """Return a statistic of all runs as a sample, a number a run, whose mean is that of all.

    They are the pseudo-values of the jackknife, which leaves out one run at a time, about the statistic of all.
    """
    whole, count = statistic(list(runs)), len(runs)
    if count < 2:
        return np.array([whole])
    rest = np.array([statistic([one for one in runs if one != left]) for left in runs])
    return whole - (count - 1) * (rest - rest.mean())


def slope(x, y):
    """Return the exponent of y in x, by least squares on logarithms."""
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def cases(text: str) -> list[list[Any]]:
    """Return a table that is written as text: a row a line, cells between bars; indented lines go on."""
    rows = (line.split(" | ") for line in text.replace("\n    ", " ").strip().splitlines())
    number = re.compile(r"-?[\d.]+").fullmatch
    return [[float(cell) if number(cell) else cell for cell in row] for row in rows]


def point(group, x, sample):
    """Return a point of a curve with its interval, for `experiments.figures.papers`."""
    mean, half_width = estimate(sample)
    return {"group": group, "x": x, "y": mean, "half_width": half_width}


def points(rows, group, x, y):
    """Return the points of curves, one of each group, in the order of the rows."""
    return pd.DataFrame([point(who, at, own) for (who, at), own in rows.groupby([group, x], sort=False)[y]])


def steps_inside(chosen, grid, least=None):
    """Return how many values of a grid lie beyond the chosen one nearest to an end, on that side: 0 at its edge.

    Where no parameter can be smaller than `least`, the grid that reaches it has an edge on the other side only.
    """
    values, taken = sorted(set(grid)), sorted(set(chosen))
    bounded = values[0] == least
    steps = min(len(values) - 1 - values.index(one) if bounded else steps_to_end(one, values) for one in taken)
    end = f"{'the upper' if bounded else 'an'} end of its grid, {values[0]:g} to {values[-1]:g}"
    span = f"{taken[0]:g} {f'to {taken[-1]:g} were' if len(taken) > 1 else 'was'} chosen"
    return Noted([steps], f"step{'s' * (steps != 1)} from {end}, at the nearest: {span}")
