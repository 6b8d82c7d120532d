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

__all__ = ["LARGEST_N_CLASSES", "as_number", "named", "numbers_of", "parsed"]

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
        if len(values) <= _FEW or not isinstance(values[0], str):
            return np.asarray(array("d", values))
        found = parsed("\n".join(values), ",", 1, [0])
        if len(found) == len(values):
            return found[:, 0]
    return np.array([as_number(value) for value in values])


_FEW = 100  # values that are spelt are read one by one


def parsed(text: str, delimiter: str, width: int, used: list[int]) -> NDArray[np.float64]:
    """Return the numbers in some columns of lines of cells without quotes, (lines, used), by the reader of pandas.

    Raises
    ------
    ValueError
        If a cell is none of the spellings of a number that pandas knows, which are fewer than Python's.
    """
    import pandas as pd

    n_lines = text.count("\n") + 1
    if text.startswith("\ufeff") or "\0" in text or text.count(delimiter) != n_lines * (width - 1):
        raise ValueError("characters that pandas would pass over")
    frame = pd.read_csv(
        StringIO(text), sep=delimiter, header=None, names=range(width), usecols=used, index_col=False,
        skip_blank_lines=False, keep_default_na=False, quoting=csv.QUOTE_NONE, float_precision="round_trip",
        low_memory=False,
    )  # fmt: skip
    if len(frame) != n_lines or any(dtype.kind not in "fiu" for dtype in frame.dtypes):
        raise ValueError("cells that are no numbers")
    return np.asarray(frame, dtype=np.float64)


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
