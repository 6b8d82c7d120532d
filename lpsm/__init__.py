"""Learning: experts, polling times, selective samplers. Knows no network, no files, no plots."""

from lpsm.experts import FixedShare, LearnAlpha, MarkovShare, StaticExpert, alpha_grid

__all__ = ["FixedShare", "LearnAlpha", "MarkovShare", "StaticExpert", "alpha_grid"]
