"""Which theorem speaks of a sampler on any stream, and the comparator and the sums that its bound is made of.

What it models: the bounds of `perceptrons`, `second_order` and `drift` on the mistakes of eight keys, each in the terms
of a comparator u.  Any u is legal; the one taken about minimises slope hinge + ridge norm(u)^2 + square sum (u.x)^2, by
descent on a hinge loss with its corner rounded.
What it leaves out: running samplers (`sampler_report`); theorems on independent examples from a source with known
constants (rls, the adaptive sampler, dkm), whose hypotheses no stream can show.

Sources: Cesa-Bianchi, Gentile, Zaniboni 2004 (W), theorems 1 and 2; Cesa-Bianchi 2007 (R), section 3.1, theorems 1
and 3; Moroshko and Crammer 2014 (D), theorems 2 and 4 with comparators that do not move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import inf, isinf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from lpsm.bounds import drift, perceptrons, second_order

if TYPE_CHECKING:
    from lpsm.samplers import Sampler

__all__ = ["Sums", "Theorem", "comparators", "quadratic_forms", "sums_of", "theorem_of"]

Floats = NDArray[np.float64]
TRADES = (0.03, 0.1, 0.3, 1.0, 3.0)  # between hinge loss and energy of the comparators tried for a bound that is no sum


class Sums(NamedTuple):
    """What the bounds are made of, over the rounds in which a run stored."""

    hinge: float
    quadratic: float  # sum of (u.x)^2
    comparator_norm: float
    log_det: float
    quadratic_sum: float  # sum of x'D^-1 x
    radius: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem:
    """A bound of the mistakes: made small by a u of little `slope` hinge + `ridge` norm(u)^2 + `square` sum (u.x)^2."""

    name: str
    bound: Callable[[Sums], float]
    trades: tuple[tuple[float, float, float], ...]
    b: float  # the regulariser; inf for a Perceptron, which has no matrix
    c: float = inf
    path: str = ""  # of a coin: the statement about each run
    cost: Callable[[Floats, Floats], Floats] | None = None  # of margins and r, summed over the update rounds
    scale: float = 1.0  # what the bound is multiplied by then
    unit: bool = False  # whether norms must be at most 1


def theorem_of(sampler: Sampler) -> Theorem | str:
    """The theorem about a sampler, or why there is none."""
    given = {**_parameters(sampler.learner), **{f"rule_{n}": v for n, v in _parameters(sampler.rule).items()}}
    a, b, c = (float(given.get(name, inf)) for name in ("a", "b", "c"))
    coin = float(given.get("rule_b", inf))
    key = {"sole": "sop-label-efficient"}.get(sampler.key, sampler.key)
    if key in ("perceptron-ss", "sop-ss", "sop-label-efficient", "lasec-ss") and isinf(coin):
        return "the coin's parameter is infinite, and the bound with it"
    if key == "perceptron":
        trades = tuple((trade + 0.5, trade, 0.0) for trade in TRADES)
        return Theorem(name="R 3.1", bound=_first_order, trades=trades, b=inf)
    if key == "perceptron-ss":
        coin /= given["eta"]  # v grows in steps of eta
        slope = (2.0 * coin + 1.0) / (2.0 * coin)
        return Theorem(
            name="W theorem 1", path="W (2), every run", trades=((slope, slope * (2.0 * coin + 1.0) / 4.0, 0.0),),
            bound=partial(_selective_first_order, coin), b=inf, unit=True, scale=coin,
            cost=lambda margins, _: coin + margins / given["eta"],
        )  # fmt: skip
    if key == "sop":
        trades = tuple((1.0, trade * a, trade) for trade in TRADES)
        return Theorem(name="R theorem 1", bound=partial(_second_order, a), trades=trades, b=a)
    if key == "sop-ss":
        if a != 1.0:
            return f"W theorem 2 is about a = 1, got {a:g}"
        return Theorem(
            name="W theorem 2", path="W (7), every run", trades=((1.0, coin / 2.0, coin / 2.0),),
            bound=partial(_selective_second_order, coin), b=1.0, unit=True, scale=coin,
            cost=lambda margins, r: coin + margins + margins**2 * (1.0 + r) / 2.0,
        )  # fmt: skip
    if key == "sop-label-efficient":
        return Theorem(
            name="R theorem 3", path="D (9) at c = inf, every run", trades=((1.0, coin * a / 2.0, coin / 2.0),),
            bound=partial(_label_efficient, coin, a), b=a, scale=coin, cost=lambda margins, _: coin + margins,
        )  # fmt: skip
    if key == "lasec":
        trades = tuple((1.0, trade * b, trade) for trade in TRADES)
        return Theorem(name="D theorem 2", bound=partial(_drifting, b, None), trades=trades, b=b, c=c)
    if key == "lasec-ss":
        return Theorem(
            name="D theorem 4", path="D (9), every run", trades=((1.0, coin * b / 2.0, coin / 2.0),),
            bound=partial(_drifting, b, coin), b=b, c=c, scale=coin, cost=lambda margins, _: coin + margins,
        )  # fmt: skip
    return f"no theorem here speaks of {sampler.key or 'this sampler'} on a stream without assumptions"


def _first_order(sums: Sums) -> float:
    return perceptrons.perceptron_mistakes(hinge=sums.hinge, comparator_norm=sums.comparator_norm, radius=sums.radius)


def _selective_first_order(b: float, sums: Sums) -> float:
    return perceptrons.selective_perceptron_mistakes(
        hinge=sums.hinge, comparator_norm=sums.comparator_norm, gamma=1.0, b=b
    )


def _second_order(a: float, sums: Sums) -> float:
    return second_order.second_order_mistakes(
        hinge=sums.hinge, quadratic=sums.quadratic, comparator_norm=sums.comparator_norm, log_det=sums.log_det, a=a
    )


def _selective_second_order(b: float, sums: Sums) -> float:
    return second_order.selective_second_order_mistakes(
        hinge=sums.hinge, quadratic=sums.quadratic, comparator_norm=sums.comparator_norm, log_det=sums.log_det,
        gamma=1.0, b=b,
    )  # fmt: skip


def _label_efficient(C: float, a: float, sums: Sums) -> float:
    return second_order.label_efficient_mistakes(
        hinge=sums.hinge, quadratic=sums.quadratic, comparator_norm=sums.comparator_norm, log_det=sums.log_det, C=C, a=a
    )


def _drifting(b: float, a: float | None, sums: Sums) -> float:
    energy = b * sums.comparator_norm**2 + sums.quadratic
    if a is None:
        return drift.drift_mistakes(hinge=sums.hinge, energy=energy, quadratic_sum=sums.quadratic_sum, gamma=1.0)
    return drift.selective_drift_mistakes(
        hinge=sums.hinge, energy=energy, quadratic_sum=sums.quadratic_sum, gamma=1.0, a=a
    )


def sums_of(w: Floats, table: Any, labels: Floats, stored: NDArray[np.bool_], r: Floats) -> Sums:
    """The sums of one comparator over the rounds in which a run stored; `r` as of `quadratic_forms`."""
    from lpsm.samplers.checks import squared_lengths

    rows = table[stored]
    said = np.asarray(rows @ w).ravel()
    return Sums(
        hinge=float(np.maximum(0.0, 1.0 - labels[stored] * said).sum()),
        quadratic=float(said @ said),
        comparator_norm=float(np.linalg.norm(w)),
        log_det=float(np.log1p(r).sum()),
        quadratic_sum=float((r / (1.0 + r)).sum()),
        radius=sqrt(float(squared_lengths(rows).max(initial=0.0))),
    )


def comparators(theorem: Theorem, table: Any, labels: Floats, often: Floats) -> Iterator[Floats]:
    """For each trade the u of least slope hinge + ridge norm(u)^2 + square sum (u.x)^2, rounds weighted by `often`."""
    from scipy import optimize  # slow to import, and needed here alone

    used = often > 0.0
    rows, signs, weight = table[used], labels[used], often[used]
    w = np.zeros(table.shape[1])
    for slope, ridge, square in theorem.trades:
        for width in (0.5, 0.05):  # of the parabola in the place of the hinge's corner

            def value(w: Floats, width: float = width) -> tuple[float, Floats]:
                said = np.asarray(rows @ w).ravel()
                short = 1.0 - signs * said
                bend = np.clip(short / width, 0.0, 1.0)
                loss = np.where(bend < 1.0, 0.5 * width * bend**2, short - 0.5 * width)
                pull = weight * (2.0 * square * said - slope * bend * signs)  # noqa: B023
                total = slope * (weight @ loss) + square * (weight @ said**2) + ridge * (w @ w)  # noqa: B023
                return float(total), np.asarray(rows.T @ pull).ravel() + 2.0 * ridge * w  # noqa: B023

            if len(signs):
                w = optimize.minimize(value, w, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
        yield w


def quadratic_forms(rows: Any, b: float, c: float) -> Floats:
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


def _parameters(part: Any) -> dict[str, Any]:
    return {name: getattr(part, name) for name in part.__dataclass_fields__}
