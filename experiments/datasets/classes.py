"""Labels as they are spelt in files, as classes.

What it models: a class is one number, however it is spelt (1, 1.0 and +1), or one name.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST_N_CLASSES", "as_number", "named", "numbers_of"]

LARGEST_N_CLASSES = 100  # more distinct labels are taken for a column of numbers


def as_number(text: Any) -> float:
    """Return the number that is spelt, NaN if none is."""
    try:
        return float(text)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def numbers_of(values: Sequence[Any]) -> NDArray[np.float64]:
    """Return the numbers that values are or spell, NaN where one does neither."""
    with suppress(TypeError, ValueError, OverflowError):
        if len(values) > _FEW and isinstance(values[0], str):
            return _parsed(values)
        return np.asarray(array("d", values))
    return np.array([as_number(value) for value in values])


_FEW = 100  # values that are spelt are read one by one


def _parsed(values: Sequence[str]) -> NDArray[np.float64]:
    """Return the numbers that many values spell, by the reader of pandas, which knows fewer spellings but is quick."""
    import pandas as pd

    text = "\n".join(("0", *values))
    if "\0" in text:  # which would end a number
        raise ValueError("a number must not hold a null character")
    frame = pd.read_csv(
        StringIO(text), sep="\x1f", header=None, dtype=np.float64, skip_blank_lines=False, keep_default_na=False,
        quoting=csv.QUOTE_NONE, float_precision="round_trip",
    )  # fmt: skip
    if frame.shape != (len(values) + 1, 1):
        raise ValueError(f"there must be {len(values)} numbers")
    return frame[0].to_numpy()[1:]


def named(labels: Iterable[str], places: Any, path: Path) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return each label's class number, and the names: by value if all are numbers (1, 1.0 and +1 are one)."""
    known: dict[str, int] = {}  # of equal texts that are one object, pandas would hash each
    codes = np.fromiter((known.setdefault(label, len(known)) for label in labels), dtype=np.int64)
    found = list(known)
    values = [as_number(name) for name in found]
    if all(isfinite(value) for value in values):
        keys: list[Any] = values
        spelt = [f"{value:g}" if float(f"{value:g}") == value else repr(value) for value in values]
    else:
        keys = spelt = [str(name) for name in found]
        for at, value in enumerate(values):
            if keys[at].strip() == "" or keys[at].lower() == "nan" or value in (float("inf"), -float("inf")):
                row = int(np.argmax(codes == at))
                raise ValueError(f"{path}: {places(row)}: a label must name a class, got {keys[at]!r}")
    order = sorted(set(zip(keys, spelt, strict=True)))
    if len(order) > LARGEST_N_CLASSES:
        raise ValueError(f"{path}: labels must name at most {LARGEST_N_CLASSES} classes, got {len(order)}")
    rank = {key: position for position, (key, _) in enumerate(order)}
    ranks = np.array([rank[key] for key in keys], dtype=np.int64)
    return ranks.take(codes, out=codes, mode="clip"), tuple(name for _, name in order)
