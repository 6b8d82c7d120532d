"""Regret and mistake bounds: one pure function a statement."""

from lpsm.bounds import active, drift, experts, low_noise, perceptrons, risk, second_order, version_space
from lpsm.bounds.expert_report import report

__all__ = [
    "active",
    "drift",
    "experts",
    "low_noise",
    "perceptrons",
    "report",
    "risk",
    "second_order",
    "version_space",
]
