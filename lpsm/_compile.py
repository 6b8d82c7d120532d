"""The one compiling decorator: numba, cached where the place is writable, never with fast-math."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

__all__ = ["compiled"]

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile a module-level kernel to machine code on its first call.

    The result is cached on disk beside the module, or in the user's cache, or,
    where neither can be written, not at all.  Rounding is that of the source:
    fast-math stays off, so that the same inputs give the same bytes.
    """
    try:
        return numba.njit(function, cache=True, error_model="numpy", nogil=True)  # type: ignore[no-any-return]
    except RuntimeError:  # numba found no place for its cache
        return numba.njit(function, error_model="numpy", nogil=True)  # type: ignore[no-any-return]
