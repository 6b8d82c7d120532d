"""Tables as text: cells with commas, semicolons or tabs between them, a line an instance, one column its label.

What it models: fields in quotes may hold anything; blank lines are passed over; a first line may name the columns, and
must where a column holds texts, or none is a label.  A table is read some lines at a time, so that little but its
numbers is ever held.
What it leaves out: values that are missing; they are errors.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from io import StringIO
from itertools import chain, repeat
from math import isfinite
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.datasets.classes import as_number, named, numbers_of, parsed
from experiments.datasets.records import Records, column_number, is_index
from experiments.datasets.stream import Stream
from experiments.datasets.text import pieces

__all__ = ["table_of_numbers", "table_records"]

_CELLS_AT_ONCE = 1 << 16


def table_of_numbers(
    path: Path, number: int, first: str, counts: Counter[str], label: str | None, drop: tuple[str, ...]
) -> Stream:
    """Return the stream in a table of numbers and a column of labels.

    Parameters
    ----------
    path
        The file.
    number, first
        The first line that is neither blank nor a comment, with or without names: its number and what it holds.
    counts
        How often what may stand between cells occurs in the file.
    label, drop
        Name or number of the column of labels (None: the last), and of those that are left out.

    Raises
    ------
    ValueError
        Naming the first line that is wrong.
    """
    delimiter = max(",;\t", key=first.count)
    head = [field.strip() for field in next(_rows(path, [first], delimiter, number))[1]]
    at = column_number(path, "label", label, head)
    dropped = {column_number(path, "drop", name, head) for name in drop}
    used = [column for column in range(len(head)) if column != at and column not in dropped]
    if not used:
        raise ValueError(f"{path}: a table must have a column beside the label, got {first!r}")
    has_names = all(np.isnan(as_number(head[column])) and head[column].lower() != "nan" for column in used)
    if not has_names and any(name in head for name in (label, *drop) if name is not None and not is_index(name)):
        raise ValueError(f"{path}: columns have no names, got {first!r} in the first line")
    width = len(head)
    X = np.empty((len(used), counts[delimiter] // (width - 1))).T
    lines = array("i")

    def labels() -> Iterator[str]:
        spelt: Iterator[str]
        for rows, numbers in _rows_of(path, delimiter, number - 1 + has_names, width):
            here = slice(len(lines), len(lines) + len(numbers))
            is_filled = isinstance(rows, str) and _filled(X[here], rows, delimiter, width, used)
            if isinstance(rows, str) and is_filled:
                spelt = (line.rsplit(delimiter, width - at)[at - width] for line in rows.split("\n"))
            else:
                cells = _cells(rows, delimiter)
                spelt = iter(cells[at::width])
                for removed, column in enumerate(sorted({at, *dropped})):
                    del cells[column - removed :: width - removed]
                values = numbers_of(cells)
                wrong = int(np.isfinite(values).argmin())
                if not isfinite(values[wrong]):
                    row, column = divmod(wrong, len(used))
                    place = f"{path}: line {numbers[row]}, column {used[column]}"
                    raise ValueError(place + _not_finite(cells[wrong], f" ({head[used[column]]})" if has_names else ""))
                X[here] = values.reshape(-1, len(used))
            lines.extend(numbers)
            yield from map(str.strip, spelt)

    y, classes = named(labels(), lambda row: f"line {lines[row]}", path)
    if not lines:
        raise ValueError(f"{path}: a stream must hold an example, got names of columns only")
    return Stream(name=path.name, X=X[: len(y)], y=y, classes=classes, lines=np.asarray(lines))


def _filled(X: NDArray[np.float64], rows: str, delimiter: str, width: int, used: list[int]) -> bool:
    """Fill X with the numbers in plain rows; return whether that could be done."""
    with suppress(ValueError):
        X[:] = parsed(rows, delimiter, width, used)
        return bool(np.isfinite(X).all())
    return False


def _not_finite(cell: str, name: str) -> str:
    words = re.search(r"[^\W\d_]{2,}", cell) and cell.lower() not in ("nan", "inf", "-inf")
    hint = ": --text takes a column of texts, --drop leaves one out" if name and words else ""
    return f"{name}: a feature must be a finite number, got {cell!r}{hint}"


def table_records(path: Path, delimiter: str, counts: Counter[str]) -> Records:
    """Read a table whose first line names its columns; a text in quotes may hold anything.

    Raises
    ------
    ValueError
        Naming the line; or if there is but one.
    """
    begin = _rows(path, (text for _, text in pieces(path)), delimiter, 1)
    start, names = next(((number, row) for number, row in begin if any(row)), (0, [""]))
    width = len(names)
    parts = _rows_of(path, delimiter, start, width, of_texts=True)
    begun = next(parts, None)
    if begun is None:
        raise ValueError(f"{path}: a stream must hold an example, got none")
    lines = array("i")

    def columns(wanted: Sequence[int]) -> Iterator[list[list[str]]]:
        for rows, numbers in chain([begun], parts):
            cells = _cells(rows, delimiter)
            lines.extend(numbers)
            step = max(1, _CELLS_AT_ONCE // width) * width
            for first in range(0, len(cells), step):
                yield [cells[first + column : first + step : width] for column in wanted]

    most = counts[delimiter] // (width - 1) if width > 1 else counts["\n"] + counts["\r"] + 1
    return Records([name.strip() for name in names], most, lines, lambda wanted: iter([(wanted, columns(wanted))]))


def _cells(rows: str | list[str], delimiter: str) -> list[str]:
    return rows if isinstance(rows, list) else rows.replace("\n", delimiter).split(delimiter)


def _rows_of(
    path: Path, delimiter: str, start: int, width: int, *, of_texts: bool = False
) -> Iterator[tuple[str | list[str], Sequence[int]]]:
    """Yield rows below line `start`, some at a time, as text where nothing is quoted or else as cells; and their lines.

    A row that goes over several lines stands in its last.  Blank lines are passed over; with `of_texts` so are rows of
    empty cells, and quotes may end with the file.

    Raises
    ------
    ValueError
        If a row has another number of cells, or quotes that do not end, after the rows before it.
    """
    source = pieces(path, start)
    for first, text in source:
        body = text.removesuffix("\n")
        is_plain = '"' not in body and f"\n{delimiter * (width - 1)}\n" not in f"\n{body}\n"
        if is_plain and set(map(str.count, body.split("\n"), repeat(delimiter))) == {width - 1}:
            yield body, range(first, first + body.count("\n") + 1)
            continue
        texts = chain([text], (more for _, more in source)) if '"' in text else [text]  # where a field may go on
        ended = [] if of_texts else ["\n"]  # which is a row of its own unless a field goes on
        cells: list[str] = []
        numbers: list[int] = []
        try:
            row: list[str] = []
            for number, row in _rows(path, chain(texts, ended), delimiter, first):
                if not any(row) if of_texts else not row or (len(row) == 1 and row[0].isspace()):
                    continue
                if len(row) != width:
                    rule = f"every line must have {width} columns, as the first has, got {len(row)}"
                    raise ValueError(f"{path}: line {number}: {rule}")
                cells += row
                numbers.append(number)
                if len(cells) >= _CELLS_AT_ONCE:
                    yield cells, numbers
                    cells, numbers = [], []
            if ended and row:
                raise ValueError(f"{path}: line {number - 1}: quotes must end where a cell does, got {row[-1][:40]!r}")
        except ValueError:
            if numbers:
                yield cells, numbers
            raise
        if numbers:
            yield cells, numbers


def _rows(path: Path, texts: Iterable[str], delimiter: str, first: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the line of the file in which each row of a table ends, and the row; the texts begin at line `first`."""
    lines = chain.from_iterable(StringIO(text, newline="") for text in texts)
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for row in reader:
            yield first + reader.line_num - 1, row
    except csv.Error as error:
        raise ValueError(f"{path}: line {first + reader.line_num - 1}: {error}") from None
