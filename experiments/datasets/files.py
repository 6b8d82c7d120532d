"""Streams in files: tables (CSV), parquet, JSON lines, svmlight and npz, told apart by what is in them.

What it models: svmlight is ``label index:value ...``.  Columns are read in `tables`, npz in the module of that name.
All but npz and parquet may be packed with gzip or xz.
What it leaves out: values that are missing; they are errors.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, MutableSequence
from itertools import islice
from math import isfinite
from pathlib import Path

import numpy as np
from scipy import sparse

from experiments.datasets import npz
from experiments.datasets.classes import as_number, named
from experiments.datasets.stream import Stream
from experiments.datasets.tables import csv_columns, json_columns, parquet_columns, stream_of
from experiments.datasets.text import check_cells, lines_of, survey

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

    Columns are those of tables, parquet and JSON lines, by name or number (from 0, negative from the end): `label`,
    None for the last; `drop`, left out; `texts`.  Unless it is `labelled` every class number is 0, and `classes`
    is empty.

    Raises
    ------
    ValueError
        If it is no such file, or something in it is no finite number, has no label or another
        number of features than the line before; the message says where.
    """
    with path.open("rb") as file:
        start = file.read(4)
    if start == b"PAR1":
        return stream_of(path, parquet_columns(path), label, drop, texts, labelled)
    if start == npz.ZIP:
        _refuse_columns(path, "npz", texts, labelled)
        return npz.stream(path)
    counts = survey(path)
    begin = islice(enumerate(lines_of(path), 1), 50)
    number, first = next((one for one in begin if one[1].strip() and not one[1].startswith("#")), (0, ""))
    if not number:
        raise ValueError(f"{path}: a stream must hold an example, got none")
    if first.lstrip().startswith("{"):
        check_cells(path, counts, ":")
        return stream_of(path, json_columns(path, counts), label, drop, texts, labelled)
    if _SVMLIGHT.match(first) or path.suffix in (".svm", ".svmlight", ".libsvm"):
        check_cells(path, counts, ":")
        _refuse_columns(path, "svmlight", texts, labelled)
        return _svmlight(path)
    delimiter = max(",;\t", key=first.count)
    check_cells(path, counts, delimiter)
    columns = csv_columns(path, number, delimiter, counts, named=bool(texts) or not labelled)
    return stream_of(path, columns, label, drop, texts, labelled)


def _refuse_columns(path: Path, kind: str, texts: tuple[str, ...], labelled: bool) -> None:
    if texts or not labelled:
        rule = "texts, and instances without labels, must stand in a table, parquet or JSON lines"
        raise ValueError(f"{path}: {rule}, got {kind}")


def _svmlight(path: Path) -> Stream:
    """Indices are those of the file if one is 0, else one less; a line's must grow."""
    lines, columns, values, starts = array("i"), array("i"), array("d"), array("i", [0])

    def labels() -> Iterator[str]:
        for number, line in enumerate(lines_of(path), 1):
            label = svmlight_line(line, f"{path}: line {number}", columns, values)
            if label is not None:
                lines.append(number)
                starts.append(len(columns))
                yield label

    y, classes = named(labels(), lambda row: f"line {lines[row]}", path)
    if not columns:
        raise ValueError(f"{path}: a stream must hold an example with a feature, got none")
    indices = np.asarray(columns)
    indices -= int(indices.min() > 0)
    parts = (np.asarray(values), indices, np.asarray(starts))
    X = sparse.csr_matrix(parts, shape=(len(y), int(indices.max()) + 1))
    X.eliminate_zeros()
    return Stream(name=path.name, X=X, y=y, classes=classes, lines=np.asarray(lines))


def svmlight_line(line: str, place: str, columns: MutableSequence[int], values: MutableSequence[float]) -> str | None:
    """Append the features of a line ``label index:value ...`` to `columns` and `values`, and return its label.

    A line of nothing but blanks and comment has none; any other is a `ValueError` whose message begins with `place`.
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
