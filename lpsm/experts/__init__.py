"""Tracking the best expert: Static-expert, Fixed-share, Markov-share, Learn-alpha."""

from lpsm.experts.fixed_share import FixedShare, MarkovShare, StaticExpert
from lpsm.experts.grids import alpha_grid, worst_divergence
from lpsm.experts.learn_alpha import LearnAlpha, doubling_regret
from lpsm.experts.learner import ExpertRun, Learner

__all__ = [
    "ExpertRun",
    "FixedShare",
    "LearnAlpha",
    "Learner",
    "MarkovShare",
    "StaticExpert",
    "alpha_grid",
    "doubling_regret",
    "worst_divergence",
]
