"""The adaptive sampler: everything at first, then the example after each small margin.

What it models: the rule as a record of its parameters and its schedules of t; its compiled probability.
What it leaves out: the appointment with the next example, which is made in `compiled.questions`.
Source: Cavallanti et al. 2010 (A), figure 12, theorem 2, remark 5 and section 6.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan, log
from typing import Any

from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.checks import between, positive
from lpsm.samplers import layout
from lpsm.samplers.algorithms.learners import LeastSquares
from lpsm.samplers.algorithms.recipes import Recipe, registered
from lpsm.samplers.algorithms.thresholds import squared_width
from lpsm.samplers.layout import Plan

__all__ = ["AdaptiveSampler", "TimeSchedule"]

TimeSchedule = Callable[[int], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveSampler:
    """Ask while N <= rho_t, then for the next label after margin^2 <= 128 ln t / (lambda N) (A figure 12).

    Parameters
    ----------
    lambda_
        Smallest eigenvalue of the instances' correlation matrix, positive.
    rho
        rho_t as a constant or a function of t; None for Theorem 2's (16/lambda^2) max(d, ln t).
    mistake_driven
        Step 4' of section 6.3: a small margin buys y_t, and the next label if y_t was a mistake.
    bias
        If given, Remark 5: a coin of this bias (a constant or a function of t) stands in for the margin
        of step 4.
    """

    lambda_: float = 1.0
    rho: float | TimeSchedule | None = None
    mistake_driven: bool = False
    bias: float | TimeSchedule | None = None

    def __post_init__(self) -> None:
        positive(**{"lambda": self.lambda_})
        if isinstance(self.rho, int | float) and (isnan(self.rho) or self.rho < 0.0):
            raise ValueError(f"rho must be non-negative, got {self.rho}")
        if isinstance(self.bias, int | float):
            between(0.0, 1.0, bias=self.bias)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        code = layout.ADAPTIVE_SAMPLER if self.bias is None else layout.ADAPTIVE_COIN
        return {"rule": code, "theta": self.lambda_, "mistake_driven": self.mistake_driven}

    def schedule(self, n_features: int, t: int) -> tuple[float, float]:
        """Return rho_t and the bias of the coin in round t (0 without a coin)."""
        if self.rho is None:
            floor = 16.0 / self.lambda_**2 * max(n_features, log(t))
        else:
            floor = float(self.rho(t) if callable(self.rho) else self.rho)
        bias = 0.0 if self.bias is None else float(self.bias(t) if callable(self.bias) else self.bias)
        return floor, bias


@compiled
def adaptive_probability(plan: Plan, counts: NDArray[Any], m: float) -> float:
    """Probability, 0 or 1, that a margin counts as small."""
    return 1.0 if m * m <= squared_width(plan, counts) else 0.0


@registered("adaptive-sampler", source="A figure 12; section 6.3 (step 4'); remark 5 (the coin)")
def _adaptive_sampler(
    *,
    lambda_: float = 1.0,
    rho: float | TimeSchedule | None = None,
    mistake_driven: bool = False,
    bias: float | TimeSchedule | None = None,
    a: float = 1.0,
) -> Recipe:
    """The adaptive sampler stores while N <= rho_t; then m^2 <= 128 ln t / (lambda N) schedules the next example.

    rho_t is a number, a function of t, or None for (16/lambda^2) max(d, ln t); lambda > 0.  `mistake_driven`
    takes step 4', `bias` remark 5's coin.  Normalised.
    """
    rule = AdaptiveSampler(lambda_=lambda_, rho=rho, mistake_driven=mistake_driven, bias=bias)
    return Recipe(learner=LeastSquares(a=a), rule=rule, stores="queried", normalize=True)
