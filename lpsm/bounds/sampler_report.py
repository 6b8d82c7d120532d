"""A sampler on one's own stream against the theorem about it: mistakes, labels, bound, and whether that says anything.

What it models: a deterministic sampler is held against its bound in one run.  Of a randomised one the theorem speaks
in the mean over its coins: half of the runs choose the comparator, the others are averaged; and the inequality
behind it, summed over the update rounds, holds in every run and is checked in the first.  That labels are in the
mean the sum of the coins is an identity, and checked as one.  The theorems are those of `perceptrons`, `second_order`
and `drift` on eight keys, each in the terms of a comparator u.  Every u is legal; the one taken about minimises slope
hinge + ridge norm(u)^2 + square sum (u.x)^2, by descent on a hinge loss with its corner rounded.
What it leaves out: theorems on independent examples from a source with known constants (rls, the adaptive sampler,
dkm), whose hypotheses no stream can show.
Sources: Cesa-Bianchi, Gentile, Zaniboni 2004 (W), theorems 1 and 2; Cesa-Bianchi 2007 (R), section 3.1, theorems 1
and 3; Moroshko and Crammer 2014 (D), theorems 2 and 4 with comparators that do not move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import signature
from math import inf, isinf, sqrt
from typing import TYPE_CHECKING

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import linalg, sparse

from lpsm.arrays import Floats, Mask
from lpsm.bounds.drift import drift_mistakes, selective_drift_mistakes
from lpsm.bounds.perceptrons import perceptron_mistakes, selective_perceptron_mistakes
from lpsm.bounds.second_order import label_efficient_mistakes, second_order_mistakes, selective_second_order_mistakes
from lpsm.bounds.verdicts import Row, compare, void
from lpsm.checks import generator
from lpsm.samplers.checks import Rows, as_instances, as_labels, squared_lengths
from lpsm.samplers.linear_algebra import Table
from lpsm.samplers.run_log import RunLog
from lpsm.samplers.sampler import Sampler

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.9999  # of the interval of a mean; only if all of it is beyond the bound is the bound violated


def report_sampler(
    sampler: Sampler, X: Rows, y: ArrayLike, *, runs: int = 20, rng: np.random.Generator | int | None = None
) -> pd.DataFrame:
    """What is proved about a sampler against what it does on a labelled stream, as a table like `bounds.report`.

    Parameters
    ----------
    sampler
        As `lpsm.samplers.make` gives it, before its first round; copies of it are run.
    X, y
        The stream: instances (T, d), array or sparse, and labels -1 and +1.
    runs
        How often a randomised sampler runs, at least 2; a deterministic one runs once.
    rng
        The runs' coins; None for a generator of seed 0.

    >>> from lpsm import samplers
    >>> table = report_sampler(samplers.make("perceptron", 2), [[3.0, 4.0], [-3.0, -4.0]] * 20, [-1, 1] * 20)
    >>> print(*table[["statement", "measured", "verdict"]].iloc[0])
    R 3.1, mistakes 1.0 holds
    """
    import pandas as pd

    if runs < 2:
        raise ValueError(f"runs must be at least 2, since a mean is checked, got {runs}")
    table = as_instances(X, sampler.n_features, np.float64)
    labels = as_labels(y, table.shape[0])
    norms = np.sqrt(squared_lengths(table))
    if sampler.normalize:
        norms = np.where(norms > 0.0, norms, 1.0)  # the sampler itself refuses zeros
        table, norms = sparse.diags(1.0 / norms, format="csr") @ table, np.ones(len(norms))
    theorem = theorem_of(sampler)
    coins = generator("rng", 0 if rng is None else rng).spawn(runs)
    logs: list[RunLog] = []
    probabilities = np.ones(len(labels))
    for number in range(runs if sampler.randomized and isinstance(theorem, Theorem) else 1):
        copy = type(sampler).from_state(sampler.state())
        if sampler.randomized:
            copy._rng = coins[number]
        if number == 0 and sampler.randomized:
            log, probabilities = copy._exactly(X, labels)
        else:
            log = copy.run(X, labels)
            log = type(log)(log.prediction, log.queried, log.stored, np.zeros(0))  # no state is kept for its margins
        logs.append(log)
    mistakes = np.array([np.count_nonzero(log.prediction != labels) for log in logs], float)
    asked = float(logs[0].queried.sum())
    why = theorem if isinstance(theorem, str) else _unmet(theorem, sampler, logs, norms)
    if why:
        name = "mistakes" if isinstance(theorem, str) else f"{theorem.name}, mistakes"
        rows = [void(name, "upper", why, float(mistakes.mean())), void("labels", "upper", why, asked)]
    else:
        assert isinstance(theorem, Theorem)
        rows = [*_held(theorem, logs, mistakes, table, labels), _labels(asked, probabilities)]
    return pd.DataFrame(rows, columns=list(Row._fields))


def _held(theorem: Theorem, logs: list[RunLog], mistakes: Floats, table: Table, labels: Floats) -> Iterator[Row]:
    """The statements about the mistakes of the runs."""

    def forms(log: RunLog) -> Floats:
        return quadratic_forms(table[log.stored], theorem.b, theorem.c)

    def bound(w: Floats, log: RunLog, r: Floats) -> float:
        return theorem.bound(w, table, labels, log.stored, r)

    first, rounds = logs[0], len(labels)
    r = forms(first)
    of_first = [bound(w, first, r) for w in comparators(theorem, table, labels, first.stored.astype(np.float64))]
    if not theorem.coin:
        yield _upper(f"{theorem.name}, mistakes", float(mistakes[0]), min(of_first), rounds)
        return
    half = len(logs) // 2
    (w,) = comparators(theorem, table, labels, np.mean([log.stored for log in logs[:half]], axis=0))
    limits = np.array([bound(w, log, forms(log)) for log in logs[half:]])
    yield _mean(f"{theorem.name}, mistakes in the mean of {len(limits)} runs", mistakes[half:], limits, rounds)
    margins = np.abs(first.margin)
    costs = float((theorem.coin + theorem.cost(margins[first.stored], r)).sum())
    most = float((theorem.coin + theorem.cost(margins, np.ones(rounds))).sum())  # had every round been an update
    yield _upper(f"{theorem.path}, every run, costs of the updates", costs, theorem.coin * of_first[0], most)


def _unmet(theorem: Theorem, sampler: Sampler, logs: list[RunLog], norms: Floats) -> str:
    """Which hypothesis fails, if one does."""
    if sampler.rounds:
        return "the sampler has had rounds before"
    if sampler.kernel is not None and type(sampler.kernel).__name__ != "Linear":
        return "the comparators of a kernel are not at hand"
    most = sampler.max_queries
    if most is not None and any(log.queried.sum() >= most for log in logs):
        return "the budget ended the questions"
    if theorem.unit and (norms > 1.0 + 1e-9).any():
        longest = int(norms.argmax())
        return f"instances must have a norm of at most 1, that of round {longest + 1} has {norms[longest]:.4g}"
    return ""


def _upper(statement: str, measured: float, bound: float, trivial: float) -> Row:
    rounding = 1e-9 * max(1.0, abs(bound))
    useless = "" if bound < trivial - rounding else f"it is at most {trivial:g} anyway"
    return compare(statement, "upper", measured, bound, rounding, useless)


def _mean(statement: str, measured: Floats, bounds: Floats, trivial: float) -> Row:
    """The means of both sides; violated if all of the interval of their difference is on the wrong side."""
    mean, bound, n = float(measured.mean()), float(bounds.mean()), len(measured)
    excess = measured - bounds
    if n > 1 and excess.std() > 0.0:
        half = float(scipy.stats.t.ppf((1.0 + LEVEL) / 2.0, n - 1) * excess.std(ddof=1) / sqrt(n))
    else:  # so often other runs can have fewer, and none less than 0
        half = (1.0 - (1.0 - LEVEL) ** (1.0 / n)) * mean
    row = _upper(statement, mean - half, bound, trivial)
    if row.verdict == "holds" and mean > bound:
        row = row._replace(verdict=f"holds: the mean is known to +- {half:.3g} only")
    return row._replace(measured=mean, slack=bound - mean)


def _labels(asked: float, probabilities: Floats) -> Row:
    """Labels asked for against their mean, the sum of the coins' probabilities: within five standard deviations."""
    spread = sqrt(float((probabilities * (1.0 - probabilities)).sum()))
    name = "labels: the sum of the coins, in the mean"
    return compare(name, "identity", asked, float(probabilities.sum()), 5.0 * spread + 5.0 * (spread > 0.0))


Costs = Callable[[Floats, Floats], Floats]
TRADES = (0.03, 0.1, 0.3, 1.0, 3.0)  # between hinge loss and energy of the comparators tried for a bound that is no sum


@dataclass(frozen=True, slots=True)
class Theorem:
    """A bound of the mistakes by a comparator, of a sampler with a coin in the mean."""

    name: str
    function: Callable[..., float]
    fixed: dict[str, float]  # its arguments that are no sums over a run
    b: float = inf  # the regulariser; inf for a Perceptron, which has no matrix
    c: float = inf
    coin: float = 0.0  # its parameter; 0 without a coin
    path: str = ""  # of a coin: the statement about each run, in which the bound is multiplied by the parameter
    unit: bool = False  # whether norms must be at most 1
    cost: Costs = lambda m, _: m  # of margins and r: beside the coin's parameter what each update round costs there

    @property
    def trades(self) -> list[tuple[float, float, float]]:
        """The bound is made small by a u of little slope hinge + ridge norm(u)^2 + square sum (u.x)^2."""
        if isinf(self.b) and self.coin:
            slope = (2.0 * self.coin + 1.0) / (2.0 * self.coin)
            return [(slope, slope * (2.0 * self.coin + 1.0) / 4.0, 0.0)]
        if isinf(self.b):
            return [(trade + 0.5, trade, 0.0) for trade in TRADES]
        return [(1.0, trade * self.b, trade) for trade in ((self.coin / 2.0,) if self.coin else TRADES)]

    def bound(self, w: Floats, table: Table, labels: Floats, stored: Mask, r: Floats) -> float:
        """The bound by the comparator w and the rounds in which a run stored; `r` as of `quadratic_forms`."""
        rows = table[stored]
        said = np.asarray(rows @ w).ravel()
        quadratic, norm = float(said @ said), float(np.linalg.norm(w))
        sums = {
            "hinge": float(np.maximum(0.0, 1.0 - labels[stored] * said).sum()),
            "quadratic": quadratic,
            "comparator_norm": norm,
            "energy": quadratic + (0.0 if isinf(self.b) else self.b * norm**2),
            "log_det": float(np.log1p(r).sum()),
            "quadratic_sum": float((r / (1.0 + r)).sum()),
            "radius": sqrt(float(squared_lengths(rows).max(initial=0.0))),
            "gamma": 1.0,
        } | self.fixed
        return self.function(**{name: sums[name] for name in signature(self.function).parameters})


def theorem_of(sampler: Sampler) -> Theorem | str:
    """The theorem about a sampler, or why there is none."""
    learner, coin = sampler.learner, float(getattr(sampler.rule, "b", inf))
    a, b, c, eta = (float(getattr(learner, name, inf)) for name in ("a", "b", "c", "eta"))
    key = {"sole": "sop-label-efficient"}.get(sampler.key, sampler.key)
    if key in ("perceptron-ss", "sop-ss", "sop-label-efficient", "lasec-ss") and isinf(coin):
        return "the coin's parameter is infinite, and the bound with it"

    match key:
        case "perceptron":
            return Theorem("R 3.1", perceptron_mistakes, {})
        case "sop":
            return Theorem("R theorem 1", second_order_mistakes, {"a": a}, a)
        case "lasec":
            return Theorem("D theorem 2", drift_mistakes, {}, b, c)
        case "perceptron-ss":
            coin /= eta  # v grows in steps of eta
            return Theorem(
                "W theorem 1", selective_perceptron_mistakes, {"b": coin}, inf, inf, coin, "W (2)", True,
                lambda m, _: m / eta,
            )  # fmt: skip
        case "sop-ss" if a != 1.0:
            return f"W theorem 2 is about a = 1, got {a:g}"
        case "sop-ss":
            return Theorem(
                "W theorem 2", selective_second_order_mistakes, {"b": coin}, 1.0, inf, coin, "W (7)", True,
                lambda m, r: m + m**2 * (1.0 + r) / 2.0,
            )  # fmt: skip
        case "sop-label-efficient":
            fixed = {"C": coin, "a": a}
            return Theorem("R theorem 3", label_efficient_mistakes, fixed, a, inf, coin, "D (9) at c = inf")
        case "lasec-ss":
            return Theorem("D theorem 4", selective_drift_mistakes, {"a": coin}, b, c, coin, "D (9)")
    return f"no theorem here speaks of {sampler.key or 'this sampler'} on a stream without assumptions"


def comparators(theorem: Theorem, table: Table, labels: Floats, often: Floats) -> Iterator[Floats]:
    """For each trade the u of least slope hinge + ridge norm(u)^2 + square sum (u.x)^2, rounds weighted by `often`."""
    from scipy import optimize  # slow to import, and needed here alone

    used = often > 0.0
    rows, signs, weight = table[used], labels[used], often[used]

    def value(w: Floats, width: float, slope: float, ridge: float, square: float) -> tuple[float, Floats]:
        """The objective with a parabola of this width in the place of the hinge's corner, and its gradient."""
        said = np.asarray(rows @ w).ravel()
        short = 1.0 - signs * said
        bend = np.clip(short / width, 0.0, 1.0)
        loss = np.where(bend < 1.0, 0.5 * width * bend**2, short - 0.5 * width)
        pull = weight * (2.0 * square * said - slope * bend * signs)
        total = slope * (weight @ loss) + square * (weight @ said**2) + ridge * (w @ w)
        return float(total), np.asarray(rows.T @ pull).ravel() + 2.0 * ridge * w

    w = np.zeros(table.shape[1])
    for trade in theorem.trades:
        for width in (0.5, 0.05) if len(signs) else ():
            w = optimize.minimize(value, w, (width, *trade), "L-BFGS-B", jac=True, options={"maxiter": 200}).x
        yield w


def quadratic_forms(rows: Table, b: float, c: float) -> Floats:
    """Of each stored instance x'M x with M = D^-1 + I/c as it was before; 0 for a Perceptron."""
    m, d = rows.shape
    if m == 0 or isinf(b):
        return np.zeros(m)
    if d >= m:  # det(I + K) grows by 1 + r with each row of the kernel (1/b + (min(i, j) - 1)/c) x_i.x_j
        gram = rows @ rows.T
        gram = gram.toarray() if sparse.issparse(gram) else gram
        stored_before = np.minimum.outer(np.arange(m), np.arange(m))
        factor = linalg.cholesky(np.eye(m) + (1.0 / b + stored_before / c) * gram, lower=True)
        return np.diag(factor) ** 2 - 1.0
    matrix, r = np.eye(d) / b, np.empty(m)
    for k, x in enumerate(rows.toarray() if sparse.issparse(rows) else rows):
        g = matrix @ x
        r[k] = x @ g
        matrix -= np.outer(g, g / (1.0 + r[k]))
        matrix[np.diag_indices(d)] += 1.0 / c
    return r
