"""Filters: the label is seen only if the instance is forwarded, and forwarding is predicting +1.

Each rule is a record of its parameters beside its compiled probability of forwarding.
What it leaves out: apple tasting's count of false positives, which is kept in `compiled.questions`.
Source: Cavallanti et al. 2010 (A) figure 2 and section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf, sqrt
from typing import Any

from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.checks import positive
from lpsm.samplers import layout
from lpsm.samplers.algorithms.coins import coin
from lpsm.samplers.algorithms.learners import LeastSquares, Perceptron
from lpsm.samplers.algorithms.recipes import Recipe, registered
from lpsm.samplers.algorithms.thresholds import squared_width
from lpsm.samplers.layout import FALSE_POSITIVES, ROUND, Plan

__all__ = ["AppleTasting", "Filter", "LabelEfficientFilter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Forward if margin + |x| sqrt(K ln t / N) >= 0 (A figure 2)."""

    K: float = 1.0

    def __post_init__(self) -> None:
        positive(False, K=self.K)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.FILTER, "theta": self.K}


@dataclass(frozen=True, slots=True, kw_only=True)
class AppleTasting:
    """Forward what looks positive, and the rest with probability min(1, sqrt((1+mu)/t)) (A section 3.2).

    mu is the number of false positives so far.  The classifier's own are counted, which gives the paper's figure 10;
    with `count_forced` those that were forced are counted as well, and nearly everything is forwarded.
    """

    count_forced: bool = False

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.APPLE_TASTING, "theta": float(self.count_forced)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelEfficientFilter:
    """Forward what looks positive, and the rest with probability C/(C + |margin|) (A section 3.2)."""

    C: float = 1.0

    def __post_init__(self) -> None:
        positive(False, C=self.C)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.LABEL_EFFICIENT_FILTER, "theta": self.C}


@compiled
def filter_probability(plan: Plan, counts: NDArray[Any], p: float, m: float, norm2: float) -> float:
    """Probability of forwarding under each of the three rules."""
    if plan.rule == layout.FILTER:
        width = squared_width(plan, counts)
        return 1.0 if isinf(width) or m + sqrt(norm2) * sqrt(width) >= 0.0 else 0.0
    if p >= 0.0:  # the other two forward whatever looks positive
        return 1.0
    if plan.rule == layout.APPLE_TASTING:
        return min(1.0, sqrt((1.0 + counts[FALSE_POSITIVES]) / counts[ROUND]))
    return coin(plan.theta, abs(m))


@registered("filter", source="A figure 2")
def _filter(*, K: float = 1.0, a: float = 1.0) -> Recipe:
    """FILTER forwards iff m + |x| sqrt(K ln t / N) >= 0 and stores what it forwards; K > 0."""
    return Recipe(learner=LeastSquares(a=a), rule=Filter(K=K), stores="queried")


@registered("ffoat", source="A section 3.2")
def _ffoat(*, eta: float = 1.0, count_forced: bool = False) -> Recipe:
    """FFOAT is apple tasting on the Perceptron: it updates iff the sign was wrong.

    It forwards what looks positive, the rest with probability min(1, sqrt((1+mu)/t)), mu the classifier's own false
    positives so far, or with `count_forced` all of them.
    """
    return Recipe(learner=Perceptron(eta=eta), rule=AppleTasting(count_forced=count_forced))


@registered("fsoat", source="A section 3.2")
def _fsoat(*, a: float = 1.0, count_forced: bool = False) -> Recipe:
    """FSOAT is apple tasting, as `ffoat`, on the second-order Perceptron."""
    return Recipe(learner=LeastSquares(a=a), rule=AppleTasting(count_forced=count_forced))


@registered("ffole", source="A section 3.2")
def _ffole(*, C: float = 1.0, eta: float = 1.0) -> Recipe:
    """FFOLE: the Perceptron forwards what looks positive, and the rest with probability C/(C + |v.x|)."""
    return Recipe(learner=Perceptron(eta=eta), rule=LabelEfficientFilter(C=C))


@registered("fsole", source="A section 3.2")
def _fsole(*, C: float = 1.0, a: float = 1.0) -> Recipe:
    """FSOLE does as `ffole` on the second-order Perceptron, with |p/(1+r)| in the coin."""
    return Recipe(learner=LeastSquares(a=a), rule=LabelEfficientFilter(C=C))
