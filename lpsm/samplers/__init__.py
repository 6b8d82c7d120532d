"""Selective samplers: margin learners, query rules, and the catalogue of both."""

from typing import TYPE_CHECKING, Any

from lpsm.samplers import rules
from lpsm.samplers.catalogue import MulticlassSampler, describe, keys, make, registry
from lpsm.samplers.kernels import Linear, Neighbours, Polynomial, Radial
from lpsm.samplers.last_labels import LastLabels
from lpsm.samplers.learners import (
    AdaGrad,
    BudgetPerceptron,
    DiagonalArow,
    Lasec,
    LeastSquares,
    ModifiedPerceptron,
    Perceptron,
    ShiftingPerceptron,
)
from lpsm.samplers.rules import *  # noqa: F403
from lpsm.samplers.run_log import Decision, RunLog
from lpsm.samplers.sampler import Sampler
from lpsm.samplers.tuned import TunedSampler
from lpsm.states import from_state

if TYPE_CHECKING:
    from lpsm.samplers.estimator import SelectiveClassifier

__all__ = [
    "AdaGrad", "BudgetPerceptron", "Decision", "DiagonalArow", "Lasec", "LastLabels", "LeastSquares", "Linear",
    "ModifiedPerceptron", "MulticlassSampler", "Neighbours", "Perceptron", "Polynomial", "Radial", "RunLog", "Sampler",
    "SelectiveClassifier", "ShiftingPerceptron", "TunedSampler", "describe", "from_state", "keys", "make",
    "registry",
]  # fmt: skip
__all__ += rules.__all__
__dir__ = [*__all__, "kernels", "rules"].copy


def __getattr__(name: str) -> Any:
    """Import the scikit-learn estimator when it is first asked for."""
    if name == "SelectiveClassifier":
        from lpsm.samplers.estimator import SelectiveClassifier

        return SelectiveClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
