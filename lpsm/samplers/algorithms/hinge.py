"""Learners that also update where the margin is right but small, and labels that are weighted by their price.

What it models: the hinge loss max(0, 1 - y p): AROW with its full matrix or its diagonal, and AdaGrad; questions with a
probability after which the label counts 1/probability, so that sums over bought labels estimate, without bias, those
over all.
What it leaves out: the learners' arithmetic (`compiled.rounds`).
Sources: Crammer, Kulesza and Dredze 2009 (AROW) figure 1; Duchi, Hazan and Singer 2011 (AG) figure 1, the diagonal
form; Karampatziakis and Langford 2011 (IU), the update for the hinge loss, whose steps a weight cannot carry beyond a
margin of 1, and questions by the weight that would turn a prediction; Beygelzimer, Hsu, Langford and Zhang 2010 (IW)
algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Any

from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.checks import between, positive
from lpsm.samplers import layout
from lpsm.samplers.algorithms.always import Always
from lpsm.samplers.algorithms.coins import Coin
from lpsm.samplers.algorithms.learners import AdaGrad, DiagonalArow, LeastSquares
from lpsm.samplers.algorithms.recipes import Recipe, registered
from lpsm.samplers.layout import ROUND, Plan

__all__ = ["ImportanceWeighted"]

SQRT_PART, WHOLE_PART = 5.0 + 2.0 * sqrt(2.0), 5.0  # c_1 and c_2 of (IW)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportanceWeighted:
    """Ask with the probability of (IW), never less than `floor`, and give the label the weight 1/probability.

    With e = c_0 ln t/(t - 1) a label is always asked for while G_t <= sqrt(e) + e; otherwise with the probability s in
    (0, 1) that solves

        G_t = (c_1/sqrt(s) - c_1 + 1) sqrt(e) + (c_2/s - c_2 + 1) e,    c_1 = 5 + 2 sqrt(2), c_2 = 5.

    The right-hand side is sqrt(e) + e at s = 1 and falls in s, so that s exists, is unique, and falls as G_t grows.

    Deviations from (IW): G_t is there the error, on the weighted labels, of the best hypothesis that predicts
    otherwise, less that of the best; here, as in IU, the weight of a label that would turn the prediction of an online
    learner, over t: for AdaGrad's step abs(p)/(t eta x'Dx).  (IW) has no `floor`, and takes c_0 of the order of ln of
    the number of hypotheses; what it proves of consistency and of labels is about the best hypotheses, and
    is not claimed of this learner.  What holds of it, whatever the learner, is the deviation of weighted errors
    (`lpsm.bounds.risk.importance_weighted_deviation`), for which `floor` is there.
    """

    c_0: float = 0.0001
    floor: float = 0.01

    def __post_init__(self) -> None:
        positive(c_0=self.c_0)
        between(0.0, 1.0, True, floor=self.floor)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.IMPORTANCE, "theta": self.c_0, "floor": self.floor}


@compiled
def importance_probability(plan: Plan, counts: NDArray[Any], p: float, reach: float) -> float:
    """Probability of `ImportanceWeighted`; `reach` is how far a label of weight 1 would move p."""
    t = float(counts[ROUND])
    if t < 2.0 or reach <= 0.0:
        return 1.0
    e = plan.theta * log(t) / (t - 1.0)
    gap = abs(p) / (reach * t)
    if gap <= sqrt(e) + e:
        return 1.0
    a, b = WHOLE_PART * e, SQRT_PART * sqrt(e)  # a quadratic equation in 1/sqrt(s)
    c = (1.0 - SQRT_PART) * sqrt(e) + (1.0 - WHOLE_PART) * e - gap
    root = (sqrt(b * b - 4.0 * a * c) - b) / (2.0 * a)
    return max(plan.floor, min(1.0, 1.0 / (root * root)))


@registered("arow", source="AROW figure 1")
def _arow(*, r: float = 1.0) -> Recipe:
    """AROW asks for everything and learns wherever y p < 1, p = w.x; r > 0.

    It is ridge regression with a = r on the examples that it stores.
    """
    return Recipe(learner=LeastSquares(a=r, includes_instance=False), rule=Always(), stores="small margins")


@registered("arow-diagonal", source="AROW figure 1, with the diagonal of the matrix alone")
def _arow_diagonal(*, r: float = 1.0) -> Recipe:
    """AROW that keeps the diagonal of its matrix: as quick as a Perceptron, in any number of features; r > 0."""
    return Recipe(learner=DiagonalArow(r=r), rule=Always(), stores="small margins")


@registered("adagrad", source="AG figure 1; IU, the update for the hinge loss")
def _adagrad(*, eta: float = 0.5) -> Recipe:
    """AdaGrad on the hinge loss, by steps that never carry the margin beyond 1; asks for everything; eta > 0."""
    return Recipe(learner=AdaGrad(eta=eta), rule=Always(), stores="small margins")


@registered("arow-ss", source="AROW figure 1 with the coin of W figure 1")
def _arow_ss(*, b: float = 0.1, r: float = 1.0) -> Recipe:
    """`arow` that asks with probability b/(b + |p|); b > 0.  A combination of ours: no paper has it."""
    return Recipe(learner=LeastSquares(a=r, includes_instance=False), rule=Coin(b=b), stores="small margins")


@registered("arow-diagonal-ss", source="AROW figure 1 with the coin of W figure 1")
def _arow_diagonal_ss(*, b: float = 0.1, r: float = 1.0) -> Recipe:
    """`arow-diagonal` that asks with probability b/(b + |p|); b > 0.  A combination of ours: no paper has it."""
    return Recipe(learner=DiagonalArow(r=r), rule=Coin(b=b), stores="small margins")


@registered("adagrad-ss", source="AG figure 1 and IU, the update for the hinge loss, with the coin of W figure 1")
def _adagrad_ss(*, b: float = 0.1, eta: float = 0.5) -> Recipe:
    """`adagrad` that asks with probability b/(b + |p|); b > 0.  A combination of ours: no paper has it."""
    return Recipe(learner=AdaGrad(eta=eta), rule=Coin(b=b), stores="small margins")


@registered("iwal", source="IW algorithm 1 on `adagrad`, with G_t and weighted labels as in IU")
def _iwal(*, c_0: float = 0.0001, floor: float = 0.01, eta: float = 0.5) -> Recipe:
    """Importance-weighted questions: G_t decides on the probability, a label of probability P counts 1/P; c_0 > 0.

    G_t is the weight of a label that would turn the prediction, over t; `floor` in (0, 1] is the least
    probability.  A combination after IW and IU, without their theorems on labels and consistency.
    """
    return Recipe(learner=AdaGrad(eta=eta), rule=ImportanceWeighted(c_0=c_0, floor=floor), stores="small margins")
