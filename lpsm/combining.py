"""Combining forecasts: `combine` for tables, `Combiner` for one round at a time."""

from lpsm.experts.combination import Combination, combine
from lpsm.experts.combine import Combiner

__all__ = ["Combination", "Combiner", "combine"]
