"""Selective samplers: margin learners, query rules, and the catalogue of both."""

from typing import TYPE_CHECKING, Any

from lpsm.samplers.catalogue import describe, keys, make, registry
from lpsm.samplers.hinge import AdaGrad, DiagonalArow
from lpsm.samplers.kernels import Linear, Polynomial, Radial
from lpsm.samplers.least_squares import Lasec, LeastSquares
from lpsm.samplers.multiclass import MulticlassSampler
from lpsm.samplers.perceptrons import BudgetPerceptron, ModifiedPerceptron, Perceptron, ShiftingPerceptron
from lpsm.samplers.record import Decision, RunLog
from lpsm.samplers.rules import (
    AdaptiveSampler,
    Always,
    AppleTasting,
    Coin,
    Filter,
    FixedCoin,
    Halving,
    ImportanceWeighted,
    LabelEfficientFilter,
    NextLabel,
    SecondOrderCoin,
    SmallMargin,
    Variance,
)
from lpsm.samplers.sampler import Sampler
from lpsm.samplers.tuned import TunedSampler
from lpsm.states import from_state

if TYPE_CHECKING:
    from lpsm.samplers.estimator import SelectiveClassifier

__all__ = [
    "AdaGrad",
    "AdaptiveSampler",
    "Always",
    "AppleTasting",
    "BudgetPerceptron",
    "Coin",
    "Decision",
    "DiagonalArow",
    "Filter",
    "FixedCoin",
    "Halving",
    "ImportanceWeighted",
    "LabelEfficientFilter",
    "Lasec",
    "LeastSquares",
    "Linear",
    "ModifiedPerceptron",
    "MulticlassSampler",
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
    "from_state",
    "keys",
    "make",
    "registry",
]


def __getattr__(name: str) -> Any:
    """Import the scikit-learn estimator when it is first asked for."""
    if name == "SelectiveClassifier":
        from lpsm.samplers.estimator import SelectiveClassifier

        return SelectiveClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
