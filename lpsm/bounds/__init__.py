"""Regret and mistake bounds: one pure function a statement."""

from lpsm.bounds import experts
from lpsm.bounds.expert_report import report

__all__ = ["experts", "report"]
