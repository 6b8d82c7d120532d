"""What stands in, where kernels run as plain Python, for what only machine code has: addresses, and calls by address.

`install` puts it in place before anything of the project is imported, with ``NUMBA_DISABLE_JIT=1``.  Nothing is read
from or kept on disk.  An address of numbers is then the array itself, whose indices numpy checks.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

__all__ = ["install"]

_rules: list[Callable[..., Any]] = []


def install(package: str) -> None:
    """Let plain Python run what is otherwise compiled in ``lpsm`` or, with "", everywhere.

    The process is then good for nothing else.
    """
    numba: Any = import_module("numba")
    numba.carray = _array
    sys.modules["netsim.running.pointers"] = _module(
        "netsim.running.pointers", start=lambda array: array.reshape(-1), block=_block
    )
    sys.modules["netsim.policies.machine_code"] = _module(
        "netsim.policies.machine_code", address=_address, is_ready=lambda rule: True, caller=lambda kernel: kernel,
        ask=_ask, tell=_tell, call_plan=_call, call_observe=_call,
    )  # fmt: skip
    for name in ("exp", "expm1", "cosh"):  # machine code answers infinity
        setattr(math, name, _unbounded(getattr(math, name)))
    vars(import_module("lpsm._compile"))["folder_of"] = lambda module: None
    records = {"sleep_planning.plans": "WORKSPACE", "policies.awareness": "ACCOUNT", "policies.lpsm2_rule": "STATE",
               "policies.lpsm3_rule": "STATE"}  # fmt: skip
    for name, record in ((f"netsim.{place}", record) for place, record in records.items()):
        if name.startswith(package):
            module = vars(import_module(name))
            module[record] = np.dtype((np.record, module[record]))  # whose fields are attributes


def _module(name: str, **contents: Any) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(contents)
    return module


def _unbounded(function: Callable[[float], float]) -> Callable[[float], float]:
    def bounded(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf

    return bounded


def _array(at: Any, shape: tuple[int, ...]) -> Any:
    return _block(at, 0, shape)


def _block(array: Any, at: int, shape: tuple[int, ...]) -> Any:
    return array[at : at + math.prod(shape)].reshape(shape)


def _address(rule: Callable[..., Any], kind: str) -> int:
    if rule not in _rules:
        _rules.append(rule)
    return _rules.index(rule) + 1


def _call(address: int, ints: Any, floats: Any, record: Any) -> Any:
    return _rules[address - 1](record, ints, floats)


def _ask(address: int, numbers: Any, ints: Any, floats: Any) -> None:
    view = import_module("netsim.policies.compiled").FlatView
    numbers[:5] = _call(address, ints, floats, view(*numbers[:7]))


def _tell(address: int, numbers: Any, ints: Any, floats: Any) -> None:
    frame = import_module("netsim.policies.compiled").FlatFrame
    _call(address, ints, floats, frame(*numbers[:9]))
