"""Which theorem speaks of a sampler on any stream, and the comparator and the sums that its bound is made of.

What it models: the bounds of `perceptrons`, `second_order` and `drift` on the mistakes of eight keys, each in the terms
of a comparator u.  Every u is legal; the one taken about minimises slope hinge + ridge norm(u)^2 + square
sum (u.x)^2, by descent on a hinge loss with its corner rounded.
What it leaves out: running samplers (`sampler_report`); theorems on independent examples from a source with known
constants (rls, the adaptive sampler, dkm), whose hypotheses no stream can show.
Sources: Cesa-Bianchi, Gentile, Zaniboni 2004 (W), theorems 1 and 2; Cesa-Bianchi 2007 (R), section 3.1, theorems 1
and 3; Moroshko and Crammer 2014 (D), theorems 2 and 4 with comparators that do not move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import signature
from math import inf, isinf, sqrt

import numpy as np
from scipy import linalg, sparse

from lpsm.arrays import Floats, Mask
from lpsm.bounds.drift import drift_mistakes, selective_drift_mistakes
from lpsm.bounds.perceptrons import perceptron_mistakes, selective_perceptron_mistakes
from lpsm.bounds.second_order import label_efficient_mistakes, second_order_mistakes, selective_second_order_mistakes
from lpsm.samplers.checks import squared_lengths
from lpsm.samplers.linear_algebra import Table
from lpsm.samplers.sampler import Sampler

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
    cost: Costs = lambda m, _: m  # of margins and r: beside the coin's parameter what each update round costs there
    unit: bool = False  # whether norms must be at most 1

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
                "W theorem 1", selective_perceptron_mistakes, {"b": coin}, coin=coin, path="W (2)", unit=True,
                cost=lambda m, _: m / eta,
            )  # fmt: skip
        case "sop-ss" if a != 1.0:
            return f"W theorem 2 is about a = 1, got {a:g}"
        case "sop-ss":
            return Theorem(
                "W theorem 2", selective_second_order_mistakes, {"b": coin}, 1.0, coin=coin, path="W (7)", unit=True,
                cost=lambda m, r: m + m**2 * (1.0 + r) / 2.0,
            )  # fmt: skip
        case "sop-label-efficient":
            fixed = {"C": coin, "a": a}
            return Theorem("R theorem 3", label_efficient_mistakes, fixed, a, coin=coin, path="D (9) at c = inf")
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
    dense = rows.toarray() if sparse.issparse(rows) and d < m else rows
    if d >= m:  # det(I + K) grows by 1 + r with each row of the kernel (1/b + (min(i, j) - 1)/c) x_i.x_j
        gram = dense @ dense.T
        gram = gram.toarray() if sparse.issparse(gram) else gram
        stored_before = np.minimum.outer(np.arange(m), np.arange(m))
        factor = linalg.cholesky(np.eye(m) + (1.0 / b + stored_before / c) * gram, lower=True)
        return np.asarray(np.diag(factor) ** 2 - 1.0)
    matrix, r = np.eye(d) / b, np.empty(m)
    for k, x in enumerate(dense):
        g = matrix @ x
        r[k] = x @ g
        matrix -= np.outer(g, g / (1.0 + r[k]))
        matrix[np.diag_indices(d)] += 1.0 / c
    return r
