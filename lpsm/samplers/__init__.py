"""Selective samplers: margin learners, query rules, and the catalogue of both."""

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
    "ShiftingPerceptron",
    "SmallMargin",
    "Variance",
    "describe",
    "keys",
    "make",
]
