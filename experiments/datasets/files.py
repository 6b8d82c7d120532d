"""Streams in files: tables (CSV), JSON lines, parquet, svmlight and npz, told apart by what is in them.

What it models: of columns one is the label, some are texts, all others are finite numbers.  Texts become unit vectors
of hashed words (scikit-learn's `HashingVectorizer`), which needs no vocabulary and so knows nothing of later rows;
numbers beside them are taken as they are.  In a table fields in quotes may hold anything and blank lines are passed
over; its first line may name the columns, and must where a column holds texts.  svmlight is ``label index:value ...``.
All but npz and parquet may be packed with gzip or xz.
What it leaves out: values that are missing, and lists and records in columns; they are errors.
"""

from __future__ import annotations

import csv
import json
import re
from array import array
from collections.abc import Callable, Iterator, MutableSequence, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from experiments.datasets import npz
from experiments.datasets.stream import NONE, Stream, as_classes
from experiments.datasets.text import MOST_CELLS, as_number, check_cells, lines_of, naming, survey

__all__ = ["HASHED", "hashed", "read", "svmlight_line"]

HASHED = 2**18  # columns that words are hashed to
_CELLS_AT_ONCE = 1 << 16
_SVMLIGHT = re.compile(r"^\S+(\s+qid:\S+)?(\s+\d+:\S+)+\s*(#.*)?$")
_INDEX = re.compile(r"-?\d{1,9}")
_MOST_DIGITS = 20

Rows = Iterator[tuple[int, Sequence[Any]]]
"""The line of each row (0 where there are no lines), and the values of the wanted columns in it."""


class Columns(NamedTuple):
    """Columns of a file: names, or what stands in the first line if they are not `named` for certain, and rows.

    `rows` takes the numbers of the wanted columns, and whether the columns are named.
    """

    names: list[str]
    rows: Callable[[Sequence[int], bool], Rows]
    named: bool = True


def read(path: Path, *, label: str | None = None, drop: tuple[str, ...] = (), texts: tuple[str, ...] = ()) -> Stream:
    """Return the stream in a file.

    Columns are those of tables, parquet and JSON lines, by name or number (from 0, negative from the end): `label`,
    None for the last; `drop`, left out; `texts`.

    Raises
    ------
    ValueError
        If it is no such file, or something in it is no finite number, has no label or another
        number of features than the line before; the message says where.
    """
    with naming(path):
        with path.open("rb") as file:
            start = file.read(4)
        if start == b"PAR1":
            return _of_columns(path.name, _parquet(path), label, drop, texts)
        found: tuple[str, Callable[[Path], Stream]] = ("npz", npz.stream)
        if start != npz.ZIP:
            counts = survey(path)
            begin = islice(enumerate(lines_of(path), 1), 50)
            number, first = next((one for one in begin if one[1].strip() and not one[1].startswith("#")), (0, ""))
            if not number:
                raise ValueError(NONE)
            is_json = first.lstrip().startswith("{")
            pairs = not is_json and (_SVMLIGHT.match(first) or path.suffix in (".svm", ".svmlight", ".libsvm"))
            delimiter = ":" if is_json or pairs else max(",;\t", key=first.count)
            check_cells(counts, delimiter)
            if not pairs:
                columns = _json(path) if is_json else _csv(path, number, delimiter, named=bool(texts))
                return _of_columns(path.name, columns, label, drop, texts)
            found = ("svmlight", _svmlight)
        if texts:
            raise ValueError(f"texts must stand in a table, parquet or JSON lines, got {found[0]}")
        return found[1](path)


def hashed(texts: Sequence[str]) -> sparse.csr_matrix:
    """Return the unit vectors of the texts' words, (T, 2^18)."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return sparse.csr_matrix(HashingVectorizer(n_features=HASHED).transform(texts), dtype=np.float64)


def _of_columns(
    name: str, columns: Columns, label: str | None, drop: tuple[str, ...], texts: tuple[str, ...]
) -> Stream:
    """Return the stream in columns; the first cell in the file that is no finite number, or no text, is the fault."""
    names = columns.names
    at, numbers, said = _chosen(names, label, drop, texts)
    is_named = columns.named or all(np.isnan(as_number(names[i])) and names[i].lower() != "nan" for i in numbers)
    if not is_named and not all(_INDEX.fullmatch(name) for name in (label, *drop) if name is not None):
        raise ValueError(f"columns have no names, got {', '.join(names)} in the first line")
    n_numbers = len(numbers)
    X, lines, written = array("d"), array("i"), list[str]()

    def refuse(number: int, line: int, row: Sequence[Any], values: Sequence[float]) -> None:
        place = f"line {line}" if line else f"row {number}"
        for column, value, cell in zip(numbers, values, row, strict=False):
            if not isfinite(value):
                called = f" ({names[column]})" if is_named else ""
                words = re.search(r"[^\W\d_]{2,}", str(cell)) and str(cell).lower() not in ("nan", "inf", "-inf")
                hint = ": --text takes a column of texts, --drop leaves one out" if called and words else ""
                rule = f"a feature must be a finite number, got {str(cell)[:40]!r}{hint}"
                raise ValueError(f"{place}, column {column}{called}: {rule}")
        for column, cell in zip(said, row[n_numbers:], strict=False):
            if not isinstance(cell, str):
                raise ValueError(f"{place}, column {names[column]}: a text must be one, got {cell!r}")

    def labels() -> Iterator[str]:
        for number, (line, row) in enumerate(columns.rows([*numbers, *said, at], is_named)):
            if line:
                lines.append(line)
            try:
                values = list(map(float, row[:n_numbers]))
            except (TypeError, ValueError, OverflowError):
                values = list(map(as_number, row[:n_numbers]))
            if said or not isfinite(sum(values)):
                refuse(number, line, row, values)
                written.append("\n".join(row[n_numbers:-1]))
            X.extend(values)
            yield "" if row[-1] is None else str(row[-1]).strip()

    y, classes = as_classes(labels(), lambda row: f"line {lines[row]}" if lines else f"row {row}")
    if not len(y):
        raise ValueError("a stream must hold an example, got names of columns only")
    instances: Any = np.asarray(X).reshape(len(y), n_numbers)
    if said:
        instances = sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(instances), hashed(written)]))
    return Stream(name=name, X=instances, y=y, classes=classes, lines=np.asarray(lines))


def _chosen(
    names: list[str], label: str | None, drop: tuple[str, ...], texts: tuple[str, ...]
) -> tuple[int, list[int], list[int]]:
    """Return the numbers of the column of labels, of those that are numbers, and of those that are texts."""

    def column(what: str, name: str) -> int:
        if not _INDEX.fullmatch(name) and name in names:
            return names.index(name)
        if _INDEX.fullmatch(name) and -len(names) <= int(name) < len(names):
            return int(name) % len(names)
        raise ValueError(f"{what} must name one of the columns {', '.join(names[:12])}, got {name!r}")

    dropped, said = ({column(what, name) for name in given} for what, given in (("drop", drop), ("text", texts)))
    others = [i for i in range(len(names)) if i not in dropped | said]
    at = column("label", label) if label is not None else max(others, default=-1)
    if at not in others:
        raise ValueError(f"label must name a column beside texts and those dropped, got {', '.join(names)}")
    if len(others) == 1 and not said:
        raise ValueError(f"there must be a column beside the label, got {', '.join(names)}")
    return at, [i for i in others if i != at], sorted(said)


def _csv(path: Path, number: int, delimiter: str, *, named: bool) -> Columns:
    """Return the columns of a table whose line `number` is the first that is neither blank nor a comment.

    It must name the columns if they are `named`, and rows of empty cells are then passed over.
    """

    def read_from(skipped: int) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows below some lines, each with the line in which it ends."""
        reader = csv.reader(chain(islice(lines_of(path), skipped, None), ["\n"]), delimiter=delimiter)
        row: list[str] = []
        try:
            for row in reader:
                yield skipped + reader.line_num, row
        except csv.Error as error:
            raise ValueError(f"line {skipped + reader.line_num}: {error}") from None
        if row:  # the line that was added is part of a cell
            last = skipped + reader.line_num - 1
            raise ValueError(f"line {last}: quotes must end where a cell does, got {row[-1][:40]!r}")

    start, head = next((row for row in read_from(number - 1) if any(row[1])), (0, []))
    if not head:
        raise ValueError(NONE)

    def rows(wanted: Sequence[int], is_named: bool) -> Rows:
        for line, row in read_from(start if is_named else number - 1):
            if not any(row) if named else not row or (len(row) == 1 and row[0].isspace()):
                continue
            if len(row) != len(head):
                rule = f"every line must have {len(head)} columns, as the first has"
                raise ValueError(f"line {line}: {rule}, got {len(row)}")
            yield line, [row[i] for i in wanted]

    return Columns([name.strip() for name in head], rows, named)


def _json(path: Path) -> Columns:
    """Return the columns of JSON lines: an object a line, all with the same names."""

    def objects() -> Iterator[tuple[int, dict[str, Any]]]:
        names: list[str] | None = None
        for number, line in enumerate(lines_of(path), 1):
            if not line.strip():
                continue
            try:
                one = json.loads(line)
            except (ValueError, RecursionError):
                one = None
            if not isinstance(one, dict):
                raise ValueError(f"line {number}: every line must be a JSON object, got {line.rstrip(chr(10))[:40]!r}")
            names = list(one) if names is None else names
            if one.keys() != set(names):
                raise ValueError(f"line {number}: every line must name {', '.join(names)}, got {', '.join(one)}")
            yield number, one

    names = next((list(one) for _, one in objects() if one), [])
    if not names:
        raise ValueError(NONE)
    return Columns(names, lambda wanted, _: ((line, [one[names[i]] for i in wanted]) for line, one in objects()))


def _parquet(path: Path) -> Columns:
    """Return the columns of a parquet file of at most `MOST_CELLS` cells (one of a hundred bytes may say more)."""
    import pyarrow.parquet as pq
    from pyarrow import types

    with _as_one_error():
        with pq.ParquetFile(path) as file:
            found, schema = file.metadata, file.schema_arrow
        nested = [field.name for field in schema if types.is_nested(field.type)]
        if nested:  # pyarrow ends the process where the metadata of a column, which would count values, is damaged
            raise ValueError(f"lists or records in {nested[0]}; numbers and texts are read")
        n_rows = max(found.num_rows, sum(found.row_group(i).num_rows for i in range(found.num_row_groups)))
        if n_rows * max(found.num_columns, 1) > MOST_CELLS:
            raise ValueError(f"{n_rows} rows of {found.num_columns} columns; {MOST_CELLS} cells are read")
    if n_rows == 0 or len(schema) == 0:
        raise ValueError(NONE)
    # a long text may be there a million times
    texts = [field.name for field in schema if types.is_string(field.type) or types.is_large_string(field.type)]

    def rows(wanted: Sequence[int], _: bool) -> Rows:
        places = sorted(wanted)
        known: dict[str, str] = {}
        n_read = 0
        with _as_one_error(), pq.ParquetFile(path, read_dictionary=texts) as file:
            groups, at_once = range(file.num_row_groups), max(1, _CELLS_AT_ONCE // len(places))
            for batch in file.reader.iter_batches(at_once, row_groups=groups, column_indices=places):
                n_read += len(batch)
                values = (_values(batch.column(places.index(i)), known) for i in wanted)
                yield from ((0, row) for row in zip(*values, strict=True))
            if n_read != n_rows:
                raise ValueError(f"{n_read} values of {schema[places[0]].name} in {n_rows} rows")

    return Columns(list(schema.names), rows)


@contextmanager
def _as_one_error() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # pyarrow raises a dozen kinds
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"a parquet file must be whole and not too large, got {said[:200]}") from None


def _values(values: Any, known: dict[str, str]) -> list[Any]:
    """Return an array of Arrow as a list; of equal texts, which are in `known`, there is one."""
    from pyarrow import array as arrow_array
    from pyarrow import types

    if not types.is_dictionary(values.type):
        listed: list[Any] = values.to_pylist()
        return listed
    places, rows = np.unique(values.indices.cast("int64").fill_null(-1).to_numpy(), return_inverse=True)
    used = values.dictionary.take(arrow_array(places[places >= 0])).to_pylist()
    texts = [*[None] * int((places < 0).sum()), *(known.setdefault(text, text) for text in used)]
    return [texts[row] for row in rows.tolist()]


def _svmlight(path: Path) -> Stream:
    """Indices are those of the file if one is 0, else one less; a line's must grow."""
    lines, columns, values, starts = array("i"), array("i"), array("d"), array("i", [0])

    def labels() -> Iterator[str]:
        for number, line in enumerate(lines_of(path), 1):
            label = svmlight_line(line, f"line {number}", columns, values)
            if label is not None:
                lines.append(number)
                starts.append(len(columns))
                yield label

    y, classes = as_classes(labels(), lambda row: f"line {lines[row]}")
    indices = np.asarray(columns)
    indices -= int(len(indices) > 0 and indices.min() > 0)
    parts = (np.asarray(values), indices, np.asarray(starts))
    X = sparse.csr_matrix(parts, shape=(len(y), int(indices.max(initial=-1)) + 1))
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
        if not last < column < 1 << 31:
            raise ValueError(f"{place}: indices must grow, got {pair!r} after {last}")
        if not isfinite(feature):
            raise ValueError(f"{place}: a feature must be a finite number, got {pair!r}")
        last = column
        columns.append(column)
        values.append(feature)
    return label
