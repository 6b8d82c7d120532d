"""What stands in, where kernels run as plain Python, for what only machine code has.

`install` puts it in place before anything of the project is imported, with ``NUMBA_DISABLE_JIT=1``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["install"]


def install() -> None:
    """Let plain Python run what is otherwise compiled; the process is then good for nothing else."""
    for name in ("exp", "expm1", "cosh", "log", "log1p"):  # machine code answers infinity, or no number
        setattr(math, name, _unbounded(getattr(math, name), -1.0 if name == "log1p" else 0.0))


def _unbounded(function: Callable[..., float], pole: float) -> Callable[..., float]:
    def bounded(x: float, *base: float) -> float:
        try:
            return function(x, *base)
        except OverflowError:
            return math.inf
        except ValueError:
            return -math.inf if x == pole else math.nan

    return bounded
