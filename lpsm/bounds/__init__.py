"""Regret and mistake bounds: one pure function a statement."""

from lpsm.bounds import active, drift, experts, low_noise, perceptrons, risk, second_order, version_space
from lpsm.bounds.expert_report import report
from lpsm.bounds.sampler_report import report_sampler

__all__ = [
    "active",
    "drift",
    "experts",
    "low_noise",
    "perceptrons",
    "report",
    "report_sampler",
    "risk",
    "second_order",
    "version_space",
]
