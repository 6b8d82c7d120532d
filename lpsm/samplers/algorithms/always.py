"""The rule that asks for every label, and the learners of the papers under it.

What it leaves out: the learners' arithmetic (`compiled.rounds`).
"""

from __future__ import annotations

from dataclasses import dataclass

from lpsm.samplers import layout
from lpsm.samplers.algorithms.learners import (
    BudgetPerceptron,
    Lasec,
    LeastSquares,
    ModifiedPerceptron,
    Perceptron,
    ShiftingPerceptron,
)
from lpsm.samplers.algorithms.recipes import Recipe, registered

__all__ = ["Always"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Always:
    """Ask for every label."""

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.ALWAYS}


@registered("perceptron", source="T section 3.4; W figure 1 without its coin")
def _perceptron(*, eta: float = 1.0) -> Recipe:
    """The Perceptron: margin v.x, and v += eta y x on mistakes; eta > 0."""
    return Recipe(learner=Perceptron(eta=eta), rule=Always())


@registered("modified-perceptron", source="T figure 3-2; D section 5 with factor 1")
def _modified_perceptron(*, factor: float = 2.0) -> Recipe:
    """The modified Perceptron: v -= factor (v.x) x on mistakes, factor in [0, 2]; the first example is v.

    Normalised.
    """
    return Recipe(learner=ModifiedPerceptron(factor=factor), rule=Always(), normalize=True)


@registered("sop", source="R section 2; W figure 2 without its coin")
def _sop(*, a: float = 1.0) -> Recipe:
    """The second-order Perceptron: margin p/(1+r); stores mistakes; a > 0."""
    return Recipe(learner=LeastSquares(a=a), rule=Always())


@registered("ridge", source="R (1)")
def _ridge(*, a: float = 1.0) -> Recipe:
    """Ridge regression on the labels: margin p; stores everything; a > 0."""
    return Recipe(learner=LeastSquares(a=a, includes_instance=False), rule=Always(), stores="queried")


@registered("rls", source="R (7)")
def _rls(*, a: float = 1.0) -> Recipe:
    """Vovk, Azoury and Warmuth's forward ridge regression: margin p/(1+r); stores everything; a > 0."""
    return Recipe(learner=LeastSquares(a=a), rule=Always(), stores="queried")


@registered("rls-all", source="A figure 11")
def _rls_all(*, a: float = 1.0) -> Recipe:
    """The fully supervised baseline: `rls` under the name the sampler's regret is measured against."""
    return _rls(a=a)


@registered("lasec", source="D figure 1 with a = inf")
def _lasec(*, b: float = 1.0, c: float = 100.0) -> Recipe:
    """LASEC, last-step minimax under drift; stores mistakes.

    0 < b < c; c = inf is `sop` with a = b, a small c forgets.
    """
    return Recipe(learner=Lasec(b=b, c=c), rule=Always())


@registered("shifting-perceptron", source="D section 5 (default its synthetic experiment's)")
def _shifting_perceptron(*, lambda_: float = 0.01) -> Recipe:
    """The shifting Perceptron: after k mistakes v = (1 - lambda_k) v + y x, lambda_k = lambda/(lambda + k).

    lambda >= 0.
    """
    return Recipe(learner=ShiftingPerceptron(lambda_=lambda_), rule=Always())


@registered("randomized-budget-perceptron", source="D section 5 (default its synthetic experiment's)")
def _randomized_budget_perceptron(*, B: int = 500, eta: float = 1.0) -> Recipe:
    """The randomised budget Perceptron stores at most B >= 1 examples.

    When full, one drawn uniformly is evicted before the next is added.
    """
    return Recipe(learner=BudgetPerceptron(B=B, eta=eta), rule=Always())
