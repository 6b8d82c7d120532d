"""Regret and mistake bounds: one pure function a statement."""

from lpsm.bounds import drift, experts, perceptrons, risk, second_order
from lpsm.bounds.expert_report import report
from lpsm.bounds.sampler_report import report_sampler

__all__ = ["drift", "experts", "perceptrons", "report", "report_sampler", "risk", "second_order"]
