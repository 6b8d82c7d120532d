"""What stands in, where kernels run as plain Python, for what only machine code has: addresses, and calls by address.

`install` puts it in place before anything of the project is imported, with ``NUMBA_DISABLE_JIT=1``.  Nothing is read
from or kept on disk.  An address of numbers is then the array itself, whose indices numpy checks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module

import numpy as np

__all__ = ["install"]


def install(package: str) -> None:
    """Let plain Python run what is otherwise compiled in ``lpsm`` or, with "", everywhere.

    The process is then good for nothing else.
    """
    for name in ("exp", "expm1", "cosh"):  # machine code answers infinity
        setattr(math, name, _unbounded(getattr(math, name)))
    records = {"sleep_planning.plans": "WORKSPACE", "policies.outstanding": "ACCOUNT", "policies.lpsm2_rule": "STATE",
               "policies.lpsm3_rule": "STATE"}  # fmt: skip
    for name, record in ((f"netsim.{place}", record) for place, record in records.items()):
        if name.startswith(package):
            module = vars(import_module(name))
            module[record] = np.dtype((np.record, module[record]))  # whose fields are attributes


def _unbounded(function: Callable[[float], float]) -> Callable[[float], float]:
    def bounded(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf

    return bounded
