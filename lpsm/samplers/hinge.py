"""Learners that keep a number a feature, and also update where the margin is right but small.

What it models: the hinge loss max(0, 1 - y p): AROW with the diagonal of its matrix (with the whole of it, it is
least squares on the examples that it stores), and AdaGrad with steps that a weight cannot carry beyond a margin of 1.
What it leaves out: their questions (`rules`).
Sources: Crammer, Kulesza and Dredze 2009 (AROW) figure 1; Duchi, Hazan and Singer 2011 (AG) figure 1, the diagonal
form; Karampatziakis and Langford 2011 (IU), the update for the hinge loss; Crammer and Singer 2003 for several classes.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from lpsm.arrays import Floats
from lpsm.checks import positive
from lpsm.native import compiled
from lpsm.samplers.linear_algebra import place, write_scores
from lpsm.samplers.protocol import WEIGHT, Learner, Round, checked_by, parameters


@compiled
def move(weights: Floats, now: Round, i: int, step: float) -> None:
    """Move feature i of the true class by the step, and of the best other class by its opposite."""
    weights[now.label, i] += step
    if weights.shape[0] > 1:
        weights[now.other, i] -= step


class Diagonal(NamedTuple):
    """Arrays of AROW with a diagonal matrix."""

    weights: Floats  # (k, d)
    kept: Floats  # (1, d) q with S = 1/(1 + q)
    r: float

    def score(self, now: Round) -> None:
        """W_c.x."""
        write_scores(self.weights, now.row, now.scores, now.s)

    def variance(self, now: Round) -> float:
        """X'S x."""
        row, total = now.row, 0.0
        for j in range(row.n):
            x = row.x[j]
            total += x * x / (1.0 + self.kept[0, place(row, j)])
        return total

    def update(self, now: Round) -> None:
        """W += y S x loss/(x'S x + r), and S loses the diagonal of its update."""
        row, kept = now.row, self.kept[0]
        size = now.y * max(0.0, 1.0 - now.y * now.p) / (now.r + self.r)
        for j in range(row.n):
            i, x = place(row, j), row.x[j]
            scale = 1.0 / (1.0 + kept[i])
            move(self.weights, now, i, size * scale * x)
            kept[i] = 1.0 / (scale - scale * scale * x * x / (now.r + self.r)) - 1.0


class Gradients(NamedTuple):
    """Arrays of AdaGrad."""

    weights: Floats  # (k, d)
    kept: Floats  # (1, d) sums of squared gradients
    eta: float

    def score(self, now: Round) -> None:
        """W_c.x."""
        write_scores(self.weights, now.row, now.scores, now.s)

    def variance(self, now: Round) -> float:
        """How far a step of weight 1 would move the margin, eta x'D x, D with the gradient of this round."""
        row, total = now.row, 0.0
        for j in range(row.n):
            x = row.x[j]
            if x != 0.0:
                total += x * x / sqrt(self.kept[0, place(row, j)] + x * x)
        return self.eta * total

    def update(self, now: Round) -> None:
        """W += s y D x; an instance of zeros changes nothing."""
        row, kept = now.row, self.kept[0]
        if not now.r > 0.0:
            return
        loss = max(0.0, 1.0 - now.y * now.p)
        size = now.y * min(self.eta * now.scalars[WEIGHT], loss * self.eta / now.r)
        for j in range(row.n):
            i, x = place(row, j), row.x[j]
            if x != 0.0:
                kept[i] += x * x
                move(self.weights, now, i, size * x / sqrt(kept[i]))


@parameters
class DiagonalArow(Learner):
    """AROW with a diagonal matrix S, 1 at first: w += y S x loss/(x'S x + r), and S loses the diagonal of its update.

    Crammer, Kulesza and Dredze 2009, figure 1; loss = max(0, 1 - y w.x).
    """

    r: float = 1.0
    ranges = checked_by(r=positive)
    takes_classes = True
    takes_kernels = False

    def arrays(self, n_features: int, k: int, dtype: DTypeLike) -> Diagonal:
        """Return its arrays before the first round, for k classes."""
        return Diagonal(np.zeros((k, n_features), dtype=dtype), np.zeros((1, n_features), dtype=dtype), float(self.r))


@parameters
class AdaGrad(Learner):
    """AdaGrad on the hinge loss: w += s y D x, D = 1/sqrt(sums of x_j^2 at updates), s = min(eta h, loss/x'D x).

    h is the weight of the label.  Duchi, Hazan and Singer 2011, figure 1; Karampatziakis and Langford 2011, section 4.
    """

    eta: float = 0.5
    ranges = checked_by(eta=positive)
    takes_classes = True
    takes_kernels = False
    takes_weights = True

    def arrays(self, n_features: int, k: int, dtype: DTypeLike) -> Gradients:
        """Return its arrays before the first round, for k classes."""
        weights = np.zeros((k, n_features), dtype=dtype)
        return Gradients(weights, np.zeros((1, n_features), dtype=dtype), float(self.eta))
