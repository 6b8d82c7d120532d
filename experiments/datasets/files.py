"""Streams in files: tables (CSV), parquet, JSON lines, svmlight and npz, told apart by what is in them.

What it models: a table is numbers with commas, semicolons or tabs between them, a line
an instance, one column its label, with or without a line of names; svmlight is
``label index:value ...``.  What may hold texts is read in `records`, and npz in `npz`.
All but npz and parquet may be packed with gzip or xz.  Tables are parsed by a fast reader; only when it refuses is the
text read again, line by line, to say where the fault is.
What it leaves out: values that are missing; they are errors.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import MutableSequence
from itertools import islice
from math import isfinite
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.datasets import npz
from experiments.datasets.classes import as_number, named
from experiments.datasets.records import Records, json_records, of_records, parquet_records, table_records
from experiments.datasets.stream import Stream
from experiments.datasets.text import check_size, numbered_lines, whole_text

__all__ = ["read", "svmlight_line"]

_SVMLIGHT = re.compile(r"^\S+(\s+qid:\S+)?(\s+\d+:\S+)+\s*(#.*)?$")


def read(
    path: Path,
    *,
    label: str | None = None,
    drop: tuple[str, ...] = (),
    texts: tuple[str, ...] = (),
    labelled: bool = True,
) -> Stream:
    """Return the stream in a file.

    Parameters
    ----------
    path
        The file.
    label
        Name or number (from 0, negative from the end) of the column of labels; None for the last.
    drop, texts
        Names or numbers of columns that are left out, and of those that hold texts.
    labelled
        Whether there is a column of labels; without one every class number is 0, and `classes` is empty.
        Columns (`label`, `drop`, `texts`) are those of tables, parquet and JSON lines.

    Raises
    ------
    ValueError
        If it is no such file, or something in it is no finite number, has no label or another
        number of features than the line before; the message says where.
    """
    with path.open("rb") as file:
        start = file.read(4)
    if start == b"PAR1":
        return _of_columns(path, parquet_records(path), label, drop, texts, labelled)
    if start == npz.ZIP:
        if texts or not labelled:
            raise ValueError(f"{path}: {_NEEDS_COLUMNS}, got npz")
        return npz.stream(path)
    first = next(
        (line for _, line in islice(numbered_lines(path), 50) if line.strip() and not line.startswith("#")), None
    )
    if first is None:
        check_size(path)
        raise ValueError(f"{path}: a stream must hold an example, got none")
    is_json = first.lstrip().startswith("{")
    is_svmlight = not is_json and (_SVMLIGHT.match(first) or path.suffix in (".svm", ".svmlight", ".libsvm"))
    delimiter = max(",;\t", key=first.count)
    check_size(path, ":" if is_json or is_svmlight else delimiter)
    if is_svmlight:
        if texts or not labelled:
            raise ValueError(f"{path}: {_NEEDS_COLUMNS}, got svmlight")
        return _svmlight(path)
    text = whole_text(path)
    if is_json:
        return _of_columns(path, json_records(path, text), label, drop, texts, labelled)
    if texts or not labelled:
        return _of_columns(path, table_records(path, text, delimiter), label, drop, texts, labelled)
    return _table(path, text, first, label, drop)


_NEEDS_COLUMNS = "texts, and instances without labels, must stand in a table, parquet or JSON lines"


def _of_columns(
    path: Path, records: Records, label: str | None, drop: tuple[str, ...], texts: tuple[str, ...], labelled: bool
) -> Stream:
    names, lines = records.names, records.lines
    if not records.n_rows:
        raise ValueError(f"{path}: a stream must hold an example, got none")

    def place(row: int) -> str:
        return f"line {lines[row]}" if len(lines) else f"row {row}"

    dropped = {_column(path, "drop", name, names) for name in drop}
    said = {_column(path, "text", name, names) for name in texts}
    at = None
    if labelled and label is not None:
        at = _column(path, "label", label, names)
    elif labelled:
        at = max((i for i in range(len(names)) if i not in dropped | said), default=-1)
    if at in said | dropped | {-1}:
        raise ValueError(f"{path}: label must name a column beside texts and those dropped, got {', '.join(names)}")
    found = of_records(path, records, at, dropped, said, place)
    y, classes = named(found.labels, place, path) if labelled else (np.zeros(records.n_rows, np.int64), ())
    return Stream(
        name=path.name, X=found.X, y=y, classes=classes, lines=lines, columns=found.names, texts=found.texts
    )  # fmt: skip


# -- tables ------------------------------------------------------------------------------------------


def _table(path: Path, text: str, first: str, label: str | None, drop: tuple[str, ...]) -> Stream:
    delimiter = max(",;\t", key=first.count)
    head = [field.strip() for field in next(csv.reader([first], delimiter=delimiter))]
    at = _column(path, "label", label, head)
    dropped = {_column(path, "drop", name, head) for name in drop}
    used = [column for column in range(len(head)) if column != at and column not in dropped]
    if not used:
        raise ValueError(f"{path}: a table must have a column beside the label, got {first!r}")
    has_names = all(np.isnan(as_number(head[column])) and head[column].lower() != "nan" for column in used)
    if not has_names and any(name in head for name in (label, *drop) if name is not None and not _is_index(name)):
        raise ValueError(f"{path}: columns have no names, got {first!r} in the first line")
    start = _lines_before(text, first) + int(has_names)
    good = _is_even(text, delimiter, start, len(head))
    if good:
        try:
            frame = pd.read_csv(
                io.StringIO(text), sep=delimiter, header=None, skiprows=start, dtype={at: str}, names=range(len(head)),
                keep_default_na=False, float_precision="round_trip", index_col=False, low_memory=False,
            )  # fmt: skip
        except ValueError as error:
            if "out of memory" in str(error):  # as pandas says it
                raise MemoryError from None
            good = False
    if good:
        good = all(frame[column].dtype.kind in "fiu" for column in used) or len(frame) == 0
        X = frame[used].to_numpy(dtype=np.float64) if good else np.zeros((0, 0))
        good = good and bool(np.isfinite(X).all())
    if not good:
        raise ValueError(f"{path}: {_fault(text, delimiter, head, has_names, start, used)}")
    if len(frame) == 0:
        raise ValueError(f"{path}: a stream must hold an example, got names of columns only")
    numbers = [number for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    lines = np.array(numbers[len(numbers) - len(frame) :], dtype=np.int64)
    labels = frame[at].str.strip().to_numpy()
    y, classes = named(labels, lambda row: f"line {lines[row]}", path)
    return Stream(name=path.name, X=X, y=y, classes=classes, lines=lines)


def _is_even(text: str, delimiter: str, start: int, width: int) -> bool:
    """Whether every line from `start` on has so many columns."""
    lines = text.split("\n")[start:]
    if '"' not in text:
        return all(line.count(delimiter) == width - 1 for line in lines if line.strip())
    return all(len(row) == width for row in csv.reader(lines, delimiter=delimiter) if any(row))


def _fault(text: str, delimiter: str, head: list[str], has_names: bool, start: int, used: list[int]) -> str:
    """Return what is wrong with a table, and where."""
    rows = csv.reader(text.split("\n")[start:], delimiter=delimiter)
    for row in rows:
        if not any(field.strip() for field in row):
            continue
        line = f"line {start + rows.line_num}"
        if len(row) != len(head):
            return f"{line}: every line must have {len(head)} columns, as the first has, got {len(row)}"
        for column in used:
            if not isfinite(as_number(row[column])):
                name = f" ({head[column]})" if has_names else ""
                words = re.search(r"[^\W\d_]{2,}", row[column]) and row[column].lower() not in ("nan", "inf", "-inf")
                hint = ": --text takes a column of texts, --drop leaves one out" if has_names and words else ""
                return f"{line}, column {column}{name}: a feature must be a finite number, got {row[column]!r}{hint}"
    return "a table must hold finite numbers, and one column of labels"


def _column(path: Path, what: str, name: str | None, head: list[str]) -> int:
    if name is None:
        return len(head) - 1
    if name in head and not _is_index(name):
        return head.index(name)
    if _is_index(name) and -len(head) <= int(name) < len(head):
        return int(name) % len(head)
    raise ValueError(f"{path}: {what} must name one of the columns {', '.join(head[:12])}, got {name!r}")


def _is_index(name: str) -> bool:
    return re.fullmatch(r"-?\d{1,9}", name) is not None


def _lines_before(text: str, first: str) -> int:
    for number, line in enumerate(text.split("\n")):
        if line.rstrip("\r") == first:
            return number
    return 0


# -- svmlight ------------------------------------------------------------------------------------------


def _svmlight(path: Path) -> Stream:
    """Indices are those of the file if one is 0, else one less; a line's must grow."""
    labels: list[str] = []
    known: dict[str, str] = {}
    numbers, columns, values, starts = array("q"), array("i"), array("d"), array("q", [0])
    for number, line in numbered_lines(path):
        label = svmlight_line(line, f"{path}: line {number}", columns, values)
        if label is None:
            continue
        labels.append(known.setdefault(label, label))
        numbers.append(number)
        starts.append(len(columns))
    if not columns:
        raise ValueError(f"{path}: a stream must hold an example with a feature, got none")
    lines = np.asarray(numbers, dtype=np.int64)
    y, classes = named(labels, lambda row: f"line {lines[row]}", path)
    indices = np.asarray(columns, dtype=np.int32)
    indices -= int(indices.min() > 0)
    parts = (np.asarray(values), indices, np.asarray(starts, dtype=np.int64))
    X = sparse.csr_matrix(parts, shape=(len(labels), int(indices.max()) + 1))
    X.eliminate_zeros()
    return Stream(name=path.name, X=X, y=y, classes=classes, lines=lines)


def svmlight_line(line: str, place: str, columns: MutableSequence[int], values: MutableSequence[float]) -> str | None:
    """Append the features of a line ``label index:value ...`` to `columns` and `values`, and return its label.

    Returns
    -------
    str or None
        None for a line of nothing but blanks and comment.

    Raises
    ------
    ValueError
        If it is no such line; the message begins with `place`.
    """
    fields = line.partition("#")[0].split()
    if not fields:
        return None
    label, pairs = fields[0], fields[1:]
    if ":" in label or "," in label:
        raise ValueError(f"{place}: a line must begin with the label of one class, got {label!r}")
    last = -1
    for pair in pairs:
        index, colon, value = pair.partition(":")
        if index == "qid" and last < 0:
            continue
        if not colon or not index.isdecimal() or len(index) > _MOST_DIGITS:
            raise ValueError(f"{place}: a feature must be index:value, got {pair[:80]!r}")
        column, feature = int(index), as_number(value)
        if column <= last or column >= 1 << 31:
            raise ValueError(f"{place}: indices must grow, got {pair!r} after {last}")
        if not isfinite(feature):
            raise ValueError(f"{place}: a feature must be a finite number, got {pair!r}")
        last = column
        columns.append(column)
        values.append(feature)
    return label


_MOST_DIGITS = 20
