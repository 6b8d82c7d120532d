"""Learning: experts, polling times, selective samplers. Knows no network, no files, no plots.

Its submodules are loaded when first used.
"""

from importlib import import_module
from importlib.metadata import version
from typing import Any

from lpsm.experts import FixedShare, LearnAlpha, MarkovShare, StaticExpert, alpha_grid

__all__ = ["FixedShare", "LearnAlpha", "MarkovShare", "StaticExpert", "alpha_grid"]

_SUBMODULES = (
    "bounds",
    "experts",
    "hindsight",
    "online",
    "polling",
    "randomness",
    "samplers",
    "schedules",
    "synthetic",
    "synthetic_streams",
)


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"lpsm.{name}")
    if name == "__version__":
        return version("lpsm")
    raise AttributeError(f"module 'lpsm' has no attribute {name!r}")
