"""Thresholds: ask where the margin, or its variance, is on the wrong side of a number that changes with time.

Each rule is a record of its parameters beside its compiled probability, 0 or 1.
What it leaves out: what happens with the answer, beside the rule's own counters (`compiled.questions`).
Sources: Cavallanti et al. 2010 (A) figure 1 and section 3.1; Cesa-Bianchi 2007 (R) section 4; Moroshko
and Crammer 2014 (D) section 5; Monteleoni 2006 (T) figures 3-4, 4-3.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf, log
from typing import Any

from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.checks import positive, whole
from lpsm.samplers import layout
from lpsm.samplers.algorithms.learners import LeastSquares, ModifiedPerceptron, Perceptron
from lpsm.samplers.algorithms.recipes import Recipe, registered
from lpsm.samplers.layout import ADAPTIVE_SAMPLER, ROUND, STORED, Plan

__all__ = ["Halving", "NextLabel", "SmallMargin", "Variance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallMargin:
    """Ask if margin^2 <= |x|^2 K ln t / N, N stored so far (A figure 1); R section 4 is K = c^2."""

    K: float = 1.0

    def __post_init__(self) -> None:
        positive(False, K=self.K)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.SMALL_MARGIN, "theta": self.K}


@dataclass(frozen=True, slots=True, kw_only=True)
class NextLabel:
    """A small margin in round t asks for the label of round t + 1 (A section 3.1); the first label is asked for."""

    K: float = 1.0

    def __post_init__(self) -> None:
        positive(False, K=self.K)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.NEXT_LABEL, "theta": self.K}


@compiled
def squared_width(plan: Plan, counts: NDArray[Any]) -> float:
    """K ln t / N, or 128 ln t / (lambda N) of A figure 12; infinite as long as nothing is stored."""
    stored = counts[STORED]
    if stored == 0 or isinf(plan.theta):
        return inf
    log_t = log(float(counts[ROUND]))
    if plan.rule == ADAPTIVE_SAMPLER:
        return float(128.0 * log_t / (plan.theta * stored))
    return float(plan.theta * log_t / stored)


@compiled
def small_margin_probability(plan: Plan, counts: NDArray[Any], m: float, norm2: float) -> float:
    """Probability, 0 or 1, of `SmallMargin` and of `NextLabel`."""
    width = squared_width(plan, counts)
    return 1.0 if isinf(width) or m * m <= norm2 * width else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Variance:
    """Ask if x'(A + x x')^-1 x > t^-kappa, that is r/(1+r) (D section 5: BBQ)."""

    kappa: float = 0.3

    def __post_init__(self) -> None:
        positive(kappa=self.kappa)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.VARIANCE, "theta": self.kappa}


@compiled
def variance_probability(plan: Plan, counts: NDArray[Any], r: float) -> float:
    """Probability, 0 or 1, of `Variance`."""
    return 1.0 if r / (1.0 + r) > float(counts[ROUND]) ** -plan.theta else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Halving:
    """Ask if |margin| <= s_t; s halves after R correct labels in a row (T figures 3-4 and 4-3)."""

    R: int = 10
    s_1: float = 1.0

    def __post_init__(self) -> None:
        whole(1, R=self.R)
        positive(s_1=self.s_1)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.HALVING, "theta": self.R}


@compiled
def halving_probability(scalars: NDArray[Any], m: float) -> float:
    """Probability, 0 or 1, of `Halving`."""
    return 1.0 if abs(m) <= scalars[layout.THRESHOLD] else 0.0


@registered("ss", source="A figure 1; R section 4 with c is K = c^2")
def _ss(*, K: float = 1.0, a: float = 1.0) -> Recipe:
    """SS asks iff m^2 <= |x|^2 K ln t / N, m = p/(1+r), K > 0, and stores every queried example."""
    return Recipe(learner=LeastSquares(a=a), rule=SmallMargin(K=K), stores="queried")


@registered("ssnci", source="A section 3.1")
def _ssnci(*, K: float = 1.0, a: float = 1.0) -> Recipe:
    """SSNCI is `ss` with margin p: the current instance is not in the inverse.

    Deviation: A calls its margins smaller than those of SS; p is larger than p/(1+r).
    """
    learner = LeastSquares(a=a, includes_instance=False)
    return Recipe(learner=learner, rule=SmallMargin(K=K), stores="queried")


@registered("ssmd", source="A section 3.1, step 3'")
def _ssmd(*, K: float = 1.0, a: float = 1.0) -> Recipe:
    """SSMD is `ss` that stores only queried mistakes; N counts the stored; K = inf is `sop`.

    Deviation: A's strict y w.x < 0 would never store a first example; a mistake is prediction != label.
    """
    return Recipe(learner=LeastSquares(a=a), rule=SmallMargin(K=K))


@registered("ssnl", source="A section 3.1")
def _ssnl(*, K: float = 1.0, a: float = 1.0) -> Recipe:
    """SSNL: a small margin in round t asks for the label of t + 1; round 1 is asked about."""
    return Recipe(learner=LeastSquares(a=a), rule=NextLabel(K=K), stores="queried")


@registered("bbq", source="D section 5")
def _bbq(*, kappa: float = 0.3, a: float = 1.0) -> Recipe:
    """BBQ asks iff r/(1+r) > t^-kappa, kappa > 0, with margin p/(1+r), and stores every queried.  Normalised."""
    return Recipe(learner=LeastSquares(a=a), rule=Variance(kappa=kappa), stores="queried", normalize=True)


@registered("bbq-i", source="D section 5")
def _bbq_i(*, kappa: float = 0.3, a: float = 1.0) -> Recipe:
    """BBQ-I is `bbq` that stores only queried mistakes.  Normalised."""
    return Recipe(learner=LeastSquares(a=a), rule=Variance(kappa=kappa), normalize=True)


@registered("dkm", source="T figures 3-4 and 4-3 (DKM^2 of T table 4.1)")
def _dkm(*, R: int = 10, s_1: float = 1.0, factor: float = 2.0) -> Recipe:
    """DKM asks iff |v.x| <= s_t; s halves after R >= 1 correct labels in a row; modified update on mistakes.

    s_1 > 0: 1 in figure 4-3 (default), 1/sqrt(d) in figure 3-4.  Normalised; the first example is v.
    """
    return Recipe(learner=ModifiedPerceptron(factor=factor), rule=Halving(R=R, s_1=s_1), normalize=True)


@registered("dkm-perceptron", source="T section 4.6 (DKMperc); A's DKMPERC")
def _dkm_perceptron(*, R: int = 10, s_1: float = 1.0, eta: float = 1.0) -> Recipe:
    """The threshold of `dkm` with Perceptron updates; v is not normalised, the instances are."""
    return Recipe(learner=Perceptron(eta=eta), rule=Halving(R=R, s_1=s_1), normalize=True)
