"""Combining forecasts: `combine` for tables, `Combiner` for one round at a time."""

from lpsm.combining.combiner import Combiner
from lpsm.combining.table import Combination, combine

__all__ = ["Combination", "Combiner", "combine"]
