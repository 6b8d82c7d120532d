"""Selective samplers: margin learners, query rules, and the catalogue of both."""

from typing import TYPE_CHECKING, Any

from lpsm.samplers.catalogue import describe, keys, make
from lpsm.samplers.dual import Linear, Polynomial, Radial
from lpsm.samplers.learners import (
    BudgetPerceptron,
    Lasec,
    LeastSquares,
    ModifiedPerceptron,
    Perceptron,
    ShiftingPerceptron,
)
from lpsm.samplers.record import Decision, RunLog
from lpsm.samplers.rules import (
    AdaptiveSampler,
    Always,
    AppleTasting,
    Coin,
    Filter,
    FixedCoin,
    Halving,
    LabelEfficientFilter,
    NextLabel,
    SecondOrderCoin,
    SmallMargin,
    Variance,
)
from lpsm.samplers.sampler import Sampler
from lpsm.samplers.tuned import TunedSampler

if TYPE_CHECKING:
    from lpsm.samplers.estimator import SelectiveClassifier

__all__ = [
    "AdaptiveSampler",
    "Always",
    "AppleTasting",
    "BudgetPerceptron",
    "Coin",
    "Decision",
    "Filter",
    "FixedCoin",
    "Halving",
    "LabelEfficientFilter",
    "Lasec",
    "LeastSquares",
    "Linear",
    "ModifiedPerceptron",
    "NextLabel",
    "Perceptron",
    "Polynomial",
    "Radial",
    "RunLog",
    "Sampler",
    "SecondOrderCoin",
    "SelectiveClassifier",
    "ShiftingPerceptron",
    "SmallMargin",
    "TunedSampler",
    "Variance",
    "describe",
    "keys",
    "make",
]


def __getattr__(name: str) -> Any:
    """Import the scikit-learn estimator when it is first asked for."""
    if name == "SelectiveClassifier":
        from lpsm.samplers.estimator import SelectiveClassifier

        return SelectiveClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
