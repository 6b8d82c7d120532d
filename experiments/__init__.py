"""Studies on the simulator and the learners: their figures, the command line, and `compare` and `sweep` for Python."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.comparison import Compared, Swept, compare, sweep

__all__ = ["Compared", "Swept", "compare", "sweep"]
__dir__ = __all__.copy


def __getattr__(name: str) -> Any:
    if name in __all__:
        from experiments import comparison

        return getattr(comparison, name)
    raise AttributeError(f"module 'experiments' has no attribute {name!r}")
