"""Selective samplers: margin learners, query rules, and the catalogue of both."""

from typing import TYPE_CHECKING, Any

from lpsm.samplers.algorithms.adaptive import AdaptiveSampler
from lpsm.samplers.algorithms.always import Always
from lpsm.samplers.algorithms.coins import Coin, FixedCoin, SecondOrderCoin
from lpsm.samplers.algorithms.filters import AppleTasting, Filter, LabelEfficientFilter
from lpsm.samplers.algorithms.hinge import ImportanceWeighted
from lpsm.samplers.algorithms.kernels import Linear, Polynomial, Radial
from lpsm.samplers.algorithms.learners import (
    AdaGrad,
    BudgetPerceptron,
    DiagonalArow,
    Lasec,
    LeastSquares,
    ModifiedPerceptron,
    Perceptron,
    ShiftingPerceptron,
)
from lpsm.samplers.algorithms.thresholds import Halving, NextLabel, SmallMargin, Variance
from lpsm.samplers.catalogue import describe, keys, make, registry
from lpsm.samplers.multiclass import MulticlassSampler
from lpsm.samplers.record import Decision, RunLog
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
