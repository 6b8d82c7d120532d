"""What stands in, where kernels run as plain Python, for what only machine code has.

`install` puts it in place before anything of the project is imported, with ``NUMBA_DISABLE_JIT=1``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["install"]


def install() -> None:
    """Let plain Python run what is otherwise compiled; the process is then good for nothing else."""
    for name in ("exp", "expm1", "cosh"):  # machine code answers infinity
        setattr(math, name, _unbounded(getattr(math, name)))


def _unbounded(function: Callable[[float], float]) -> Callable[[float], float]:
    def bounded(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf

    return bounded
