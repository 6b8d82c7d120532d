"""Learning: experts and selective samplers. Learners, bounds and samplers on numpy; no network, no pictures.

Its submodules are loaded when first used.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from lpsm.experts import FixedShare, LearnAlpha, MarkovShare, StaticExpert, alpha_grid

if TYPE_CHECKING:
    from lpsm.combining import Combiner, combine
    from lpsm.states import from_state, to_json

__all__ = [
    "Combiner", "FixedShare", "LearnAlpha", "MarkovShare", "StaticExpert", "alpha_grid", "combine", "from_state",
    "to_json",
]  # fmt: skip

_MODULES = "bounds combining experts hindsight online randomness samplers states synthetic synthetic_streams"
_SUBMODULES = _MODULES.split()
__dir__ = [*__all__, *_SUBMODULES, "__version__"].copy  # what completion offers
_LAZY = {"Combiner": "combining", "combine": "combining", "from_state": "states", "to_json": "states"}


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"lpsm.{name}")
    if name in _LAZY:
        return getattr(import_module(f"lpsm.{_LAZY[name]}"), name)
    if name == "__version__":
        return version("lpsm")
    raise AttributeError(f"module 'lpsm' has no attribute {name!r}")
