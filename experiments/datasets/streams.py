"""Streams in time order: spam that drifts (Katakis et al.), and electricity prices (Elec2).

What it leaves out: Elec2's `date`, which only grows.  Its labels are strongly autocorrelated
(repeating the last one is right in 85 % of rounds), which no sampler here can use.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from experiments.datasets.files import read
from experiments.datasets.finding import find
from experiments.datasets.npz import arrays_of, csr
from experiments.datasets.stream import Stream
from traces.files import open_trace, read_line

__all__ = ["elec2", "spam_drift"]


def spam_drift(folder: Path) -> Stream:
    """Return 9,324 mails over 39,916 words, each there or not, from ``spam_katakis_stream/spam_stream.npz``.

    Raises
    ------
    ValueError
        If the file does not hold data, indices, indptr and shape of a matrix, and y, 0 or 1 for each of its rows.
    """
    path = find(folder, "spam_katakis_stream", "spam_stream.npz")
    wanted = ("data", "indices", "indptr", "shape", "y")
    arrays, found = arrays_of(path, wanted)
    if len(arrays) < len(wanted):
        raise ValueError(f"{path}: it must hold {', '.join(wanted)}, got {found}")
    y = arrays["y"]
    try:
        X = csr(arrays)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: data, indices, indptr and shape must be those of a matrix: {error}") from None
    if not np.isfinite(X.data).all():
        raise ValueError(f"{path}: data must be finite numbers, got others")
    if y.shape != (X.shape[0],) or not np.isin(y, (0, 1)).all():
        raise ValueError(f"{path}: y must be 0 or 1 for each of {X.shape[0]} mails, got {y.dtype} of shape {y.shape}")
    return Stream(
        name="spam-drift", X=X, y=y.astype(np.int64), classes=("ham", "spam"), lines=np.zeros(0, dtype=np.int64),
        in_time_order=True,
    )  # fmt: skip


def elec2(folder: Path) -> Stream:
    """Return 45,312 half-hours of New South Wales, 7 features, from ``elec2/electricity-normalized.csv.gz``.

    Raises
    ------
    ValueError
        If it is no table of numbers with these features, date and class, 0 or 1.
    """
    path = find(folder, "elec2", "electricity-normalized.csv.gz")
    with open_trace(path) as file:
        names = read_line(file, _LONGEST_HEAD, path, 1).decode("utf-8", "backslashreplace").strip().split(",")
    if tuple(names) != _ELEC2:
        raise ValueError(f"{path}: the columns must be {','.join(_ELEC2)}, got {','.join(names)[:80]!r}")
    table = read(path, label="class", drop=("date",))
    if not set(table.classes) <= {"0", "1"}:
        raise ValueError(f"{path}: class must be 0 (down) or 1 (up), got {', '.join(table.classes)[:80]}")
    y = np.array([int(name) for name in table.classes], dtype=np.int64)[table.y]
    return replace(table, name="elec2", y=y, classes=("down", "up"), in_time_order=True)


_ELEC2 = ("date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer", "class")
_LONGEST_HEAD = 10_000
