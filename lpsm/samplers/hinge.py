"""Learners that keep a number a feature, and also update where the margin is right but small.

What it models: the hinge loss max(0, 1 - y p): AROW with the diagonal of its matrix (with the whole of it, it is
least squares on the examples that it stores), and AdaGrad with steps that a weight cannot carry beyond a margin of 1.
What it leaves out: their questions (`rules`).
Sources: Crammer, Kulesza and Dredze 2009 (AROW) figure 1; Duchi, Hazan and Singer 2011 (AG) figure 1, the diagonal
form; Karampatziakis and Langford 2011 (IU), the update for the hinge loss; Crammer and Singer 2003 for several classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpsm.checks import positive
from lpsm.samplers import core
from lpsm.samplers.core import WEIGHT, Learner, how
from lpsm.samplers.rows import Row, along

__all__ = ["AdaGrad", "DiagonalArow"]

Array = NDArray[Any]


class Diagonal(NamedTuple):
    """Arrays of AROW with a diagonal matrix."""

    weights: Array  # (k, d)
    kept: Array  # (d,) q with S = 1/(1 + q)
    r: Any


class Gradients(NamedTuple):
    """Arrays of AdaGrad."""

    weights: Array  # (k, d)
    kept: Array  # (d,) sums of squared gradients
    eta: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagonalArow(Learner):
    """AROW with a diagonal matrix S, 1 at first: w += y S x loss/(x'S x + r), and S loses the diagonal of its update.

    Crammer, Kulesza and Dredze 2009, figure 1; loss = max(0, 1 - y w.x).
    """

    r: float = 1.0
    takes_classes = True
    takes_kernels = False

    def __post_init__(self) -> None:
        positive(r=self.r)

    def arrays(self, n_features: int, k: int, dtype: Any) -> Diagonal:
        """What it has before the first round, for k classes."""
        return Diagonal(np.zeros((k, n_features), dtype=dtype), np.zeros(n_features, dtype=dtype), float(self.r))


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaGrad(Learner):
    """AdaGrad on the hinge loss: w += s y D x, D = 1/sqrt(sums of x_j^2 at updates), s = min(eta h, loss/x'D x).

    h is the weight of the label.  Duchi, Hazan and Singer 2011, figure 1; Karampatziakis and Langford 2011, section 4.
    """

    eta: float = 0.5
    takes_classes = True
    takes_kernels = False
    takes_weights = True

    def __post_init__(self) -> None:
        positive(eta=self.eta)

    def arrays(self, n_features: int, k: int, dtype: Any) -> Gradients:
        """What it has before the first round, for k classes."""
        return Gradients(np.zeros((k, n_features), dtype=dtype), np.zeros(n_features, dtype=dtype), float(self.eta))


@how(core.look, Diagonal, Gradients)
def _look(learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int) -> None:
    for c in range(learner.weights.shape[0]):
        scores[s, c] = along(row, learner.weights[c])


@how(core.spread, Diagonal)
def _variance(learner: Any, counts: Array, scalars: Array, row: Row, norm2: float) -> float:
    """X'S x."""
    total = 0.0
    for j in range(row.n):
        x = row.x[j]
        total += x * x / (1.0 + learner.kept[row.columns[j] if row.sparse else j])
    return float(total)


@how(core.store, Diagonal)
def _store_arow(
    learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int, p: float, r: float,
    y: float, label: int, other: int, eviction: float,
) -> None:  # fmt: skip
    weights, kept = learner.weights, learner.kept
    size = y * max(0.0, 1.0 - y * p) / (r + learner.r)
    for j in range(row.n):
        i = row.columns[j] if row.sparse else j
        x = row.x[j]
        scale = 1.0 / (1.0 + kept[i])
        weights[label, i] += size * scale * x
        if weights.shape[0] > 1:
            weights[other, i] -= size * scale * x
        kept[i] = 1.0 / (scale - scale * scale * x * x / (r + learner.r)) - 1.0


@how(core.spread, Gradients)
def _reach(learner: Any, counts: Array, scalars: Array, row: Row, norm2: float) -> float:
    """How far a step of weight 1 would move the margin, eta x'D x, D with the gradient of this round."""
    total = 0.0
    for j in range(row.n):
        x = row.x[j]
        if x != 0.0:
            total += x * x / sqrt(learner.kept[row.columns[j] if row.sparse else j] + x * x)
    return float(learner.eta * total)


@how(core.store, Gradients)
def _store_gradient(
    learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int, p: float, r: float,
    y: float, label: int, other: int, eviction: float,
) -> None:  # fmt: skip
    weights, kept = learner.weights, learner.kept
    if not r > 0.0:
        return  # an instance of zeros
    size = y * min(learner.eta * scalars[WEIGHT], max(0.0, 1.0 - y * p) * learner.eta / r)
    for j in range(row.n):
        i = row.columns[j] if row.sparse else j
        x = row.x[j]
        if x != 0.0:
            kept[i] += x * x
            weights[label, i] += size * x / sqrt(kept[i])
            if weights.shape[0] > 1:
                weights[other, i] -= size * x / sqrt(kept[i])
