"""Streams of named columns that may hold texts: parquet, JSON lines, and tables with texts in them.

What it models: one column is the label, some are texts, all others are finite numbers.  Texts become unit vectors of
hashed words (scikit-learn's `HashingVectorizer`), which needs no vocabulary and so knows nothing of later rows; numbers
beside them are taken as they are.
What it leaves out: values that are missing; they are errors.
"""

from __future__ import annotations

import json
import re
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from math import isfinite
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.datasets.classes import named, numbers_of
from experiments.datasets.stream import Stream
from experiments.datasets.text import pieces

__all__ = [
    "HASHED", "Parts", "Records", "column_number", "hashed", "is_index", "json_records", "stream_of",
]  # fmt: skip

HASHED = 2**18  # columns that words are hashed to

Parts = Iterator[Sequence[Sequence[Any]]]
"""Values of some columns, of some rows at a time: sequences or arrays, one a column, all as long as each other."""


class Records(NamedTuple):
    """Named columns, and the lines their rows stand in.

    Attributes
    ----------
    names
        Names of the columns.
    most_rows
        How many rows there are at most; just as many where rows have no lines.
    lines
        Lines of the rows that were read so far; it stays empty where rows have no lines.
    groups
        Given numbers of columns, reads them: the columns of a group together, group after group.
    """

    names: list[str]
    most_rows: int
    lines: array[int]
    groups: Callable[[Sequence[int]], Iterator[tuple[Sequence[int], Parts]]]


def hashed(texts: Sequence[str]) -> sparse.csr_matrix:
    """Return the unit vectors of the texts' words, (T, 2^18)."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return sparse.csr_matrix(HashingVectorizer(n_features=HASHED).transform(texts), dtype=np.float64)


def json_records(path: Path, n_values: int) -> Records:
    """Read JSON lines: an object a line, all with the same names.

    Raises
    ------
    ValueError
        Naming the line.
    """
    objects = _objects(path)
    begun = next(objects)
    names = list(begun[1][0])
    if not names:
        deque(objects, maxlen=0)  # which may hold one with names
        raise ValueError(f"{path}: a stream must hold an example, got none")
    lines = array("i")

    def parts(wanted: Sequence[int]) -> Parts:
        for numbers, found in chain([begun], objects):
            lines.extend(numbers)
            yield [list(map(itemgetter(names[i]), found)) for i in wanted]

    return Records(names, n_values // len(names), lines, lambda wanted: iter([(wanted, parts(wanted))]))


def _objects(path: Path) -> Iterator[tuple[Sequence[int], list[dict[str, Any]]]]:
    """Yield the objects of some lines at a time, and the numbers of these lines."""
    names: list[str] = []
    for first, text in pieces(path):
        lines = text.split("\n")
        numbers: Sequence[int] = [number for number, line in enumerate(lines, first) if line.strip()]
        if not numbers:
            continue
        lines = [lines[number - first] for number in numbers]
        found = _values_of(text, lines)
        names = names or (list(found[0]) if isinstance(found[0], dict) else [])
        known = set(names)
        for number, line, one in zip(numbers, lines, found, strict=True):
            if not isinstance(one, dict):
                raise ValueError(f"{path}: line {number}: every line must be a JSON object, got {line[:40]!r}")
            if one.keys() != known:
                rule = f"every line must name {', '.join(names)}, got {', '.join(one)}"
                raise ValueError(f"{path}: line {number}: {rule}")
        yield numbers, found


def _values_of(text: str, lines: list[str]) -> list[Any]:
    """Return the value of each line of JSON, None for one that holds none; all are parsed at once where that can be."""
    try:
        found = [] if str(_BETWEEN) in text else json.loads(f"[{f',{_BETWEEN},'.join(lines)}]")
    except (ValueError, RecursionError):
        found = []
    if len(found) == 2 * len(lines) - 1 and found[1::2].count(_BETWEEN) == len(lines) - 1:
        return found[::2]
    return [_value(line) for line in lines]


_BETWEEN = 2**53 + 1  # stands between the values of lines; no float is equal to it


def _value(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def stream_of(
    path: Path, records: Records, label: str | None, drop: tuple[str, ...], texts: tuple[str, ...], labelled: bool
) -> Stream:
    """Return the stream in named columns: one is the label, unless there is none, some are texts, some left out.

    Raises
    ------
    ValueError
        If there is no such column, or a feature is no finite number, or a text no text; naming its place.
    """
    names, lines = records.names, records.lines

    def place(row: int) -> str:
        return f"line {lines[row]}" if lines else f"row {row}"

    try:
        at, numbers, said = _chosen(path, names, label, drop, texts, labelled)
    except ValueError:
        for _, parts in records.groups([]):
            deque(parts, maxlen=0)  # what is wrong with a line is said first
        raise
    X = np.empty((records.most_rows, len(numbers)))
    written: dict[int, list[str]] = {i: [] for i in said}
    wanted = [*numbers, *said, *([] if at is None else [at])]

    def labels() -> Iterator[str]:
        for columns, parts in records.groups(wanted):
            faults: dict[int, str] = {}  # the first of each column
            first = 0
            for part in parts:
                for i, values in zip(columns, part, strict=True):
                    if i == at:
                        yield from _spelt(values)
                    elif i in written:
                        written[i].extend(values)
                        t = next((t for t, text in enumerate(values) if not isinstance(text, str)), None)
                        if t is not None:
                            got = f"a text must be one, got {values[t].item() if _is_numeric(values) else values[t]!r}"
                            faults.setdefault(i, f"{path}: {place(first + t)}, column {names[i]}: {got}")
                    else:
                        into = X[first : first + len(values), numbers.index(i)]
                        into[:] = values if _is_numeric(values) else numbers_of(list(values))
                        t = int(np.isfinite(into).argmin())
                        if not isfinite(into[t]):
                            got = f"a feature must be a finite number, got {str(values[t])[:40]!r}"
                            hint = "--text takes a column of texts, --drop leaves one out"
                            where = f"{place(first + t)}, column {i} ({names[i]})"
                            faults.setdefault(i, f"{path}: {where}: {got}: {hint}")
                first += len(part[0])
            if faults:
                raise ValueError(faults[min(faults, key=wanted.index)])

    if at is not None:
        y, classes = named(labels(), place, path)
    else:
        deque(labels(), maxlen=0)
        y, classes = np.zeros(len(lines) or records.most_rows, dtype=np.int64), ()
    together = tuple("\n".join(parts) for parts in zip(*written.values(), strict=True))
    instances: Any = X[: len(y)]
    if texts:
        instances = sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(instances), hashed(together)]))
    return Stream(
        name=path.name, X=instances, y=y, classes=classes, lines=np.asarray(lines, dtype=np.int32),
        columns=tuple(names[i] for i in numbers), texts=together,
    )  # fmt: skip


def _chosen(
    path: Path, names: list[str], label: str | None, drop: tuple[str, ...], texts: tuple[str, ...], labelled: bool
) -> tuple[int | None, list[int], list[int]]:
    """Return the numbers of the column of labels, of those that are numbers, and of those that are texts."""
    dropped = {column_number(path, "drop", name, names) for name in drop}
    said = {column_number(path, "text", name, names) for name in texts}
    at = None
    if labelled and label is not None:
        at = column_number(path, "label", label, names)
    elif labelled:
        at = max((i for i in range(len(names)) if i not in dropped | said), default=-1)
    if at in said | dropped | {-1}:
        raise ValueError(f"{path}: label must name a column beside texts and those dropped, got {', '.join(names)}")
    numbers = [i for i in range(len(names)) if i != at and i not in dropped | said]
    if not numbers and not said:
        raise ValueError(f"{path}: there must be a column beside the label, got {', '.join(names)}")
    return at, numbers, sorted(said)


def column_number(path: Path, what: str, name: str | None, names: Sequence[str]) -> int:
    """Return the number of a column from its name or its number, which may count from the end; None is the last."""
    if name is None:
        return len(names) - 1
    if name in names and not is_index(name):
        return names.index(name)
    if is_index(name) and -len(names) <= int(name) < len(names):
        return int(name) % len(names)
    raise ValueError(f"{path}: {what} must name one of the columns {', '.join(names[:12])}, got {name!r}")


def is_index(name: str) -> bool:
    """Tell the number of a column from a name."""
    return re.fullmatch(r"-?\d{1,9}", name) is not None


def _is_numeric(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind in "fiu"


def _spelt(values: Sequence[Any] | NDArray[Any]) -> Iterator[str]:
    """Spell labels; of those in an array, which are of one type, equal ones once."""
    if isinstance(values, np.ndarray):
        labels = values.tolist()
        spelt = {label: _as_label(label) for label in set(labels)}
        return map(spelt.__getitem__, labels)
    return map(_as_label, values)


def _as_label(label: Any) -> str:
    return "" if label is None else str(label).strip()
