"""Tracking the best expert: Static-expert, Fixed-share, Markov-share, Learn-alpha; and others to compare with."""

from lpsm.experts.grids import alpha_grid, worst_divergence
from lpsm.experts.hedge import AdaHedge, NormalHedge, Squint
from lpsm.experts.learner import ExpertRun, Learner
from lpsm.experts.tracking import FixedShare, LearnAlpha, MarkovShare, StaticExpert, VariableShare, doubling_regret

__all__ = [
    "AdaHedge", "ExpertRun", "FixedShare", "LearnAlpha", "Learner", "MarkovShare", "NormalHedge", "Squint",
    "StaticExpert", "VariableShare", "alpha_grid", "doubling_regret", "worst_divergence",
]  # fmt: skip
