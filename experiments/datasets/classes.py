"""Labels as they are spelt in files, as classes.

What it models: a class is one number, however it is spelt (1, 1.0 and +1), or one name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST_N_CLASSES", "as_number", "named"]

LARGEST_N_CLASSES = 100  # more distinct labels are taken for a column of numbers


def as_number(text: Any) -> float:
    """Return the number that is spelt, NaN if none is."""
    try:
        return float(text)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def named(labels: Iterable[str], place: Callable[[int], str], path: Path) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return each label's class number, and the names, by value if all are numbers; `place` says where a row stands.

    A label that names no class, and more than 100 classes, are a `ValueError`.
    """
    known: dict[str, int] = {}
    codes = np.fromiter((known.setdefault(label, len(known)) for label in labels), dtype=np.int64)
    found = list(known)
    values = [as_number(name) for name in found]
    keys: list[Any] = values
    spelt = [f"{value:g}" if float(f"{value:g}") == value else repr(value) for value in values]
    if not all(isfinite(value) for value in values):
        keys = spelt = [str(name) for name in found]
        for at, value in enumerate(values):
            if keys[at].strip() == "" or keys[at].lower() == "nan" or abs(value) == float("inf"):
                row = int(np.argmax(codes == at))
                raise ValueError(f"{path}: {place(row)}: a label must name a class, got {keys[at]!r}")
    order = sorted(set(zip(keys, spelt, strict=True)))
    if len(order) > LARGEST_N_CLASSES:
        raise ValueError(f"{path}: labels must name at most {LARGEST_N_CLASSES} classes, got {len(order)}")
    rank = {key: position for position, (key, _) in enumerate(order)}
    ranks = np.array([rank[key] for key in keys], dtype=np.int64)
    return ranks.take(codes, out=codes, mode="clip"), tuple(name for _, name in order)
