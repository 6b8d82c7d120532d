"""Streams of columns: tables as text (CSV), JSON lines and parquet, read some rows at a time.

What it models: one column is the label, some are texts, all others are finite numbers.  Texts become unit vectors of
hashed words (scikit-learn's `HashingVectorizer`), which needs no vocabulary and so knows nothing of later rows; numbers
beside them are taken as they are.  In a table fields in quotes may hold anything and blank lines are passed over; its
first line may name the columns, and must where a column holds texts, or none is a label.
What it leaves out: values that are missing, and lists and records in columns; they are errors.
"""

from __future__ import annotations

import csv
import json
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.datasets.classes import as_number, named
from experiments.datasets.stream import Stream
from experiments.datasets.text import MOST_CELLS, lines_of

__all__ = ["HASHED", "Columns", "csv_columns", "hashed", "json_columns", "parquet_columns", "stream_of"]

HASHED = 2**18  # columns that words are hashed to
_CELLS_AT_ONCE = 1 << 16

Part = tuple[Sequence[int], Sequence[Any]]
"""The lines of some rows (none of parquet), and the values of the wanted columns in them, each a list or an array."""


class Columns(NamedTuple):
    """Columns of a file.

    `names` are their names, or if they are not `named` for certain what stands in the first line; there are at most so
    many rows; `parts`, given which columns are wanted and whether they are named, yields values, some rows at a time.
    """

    names: list[str]
    most_rows: int
    parts: Callable[[Sequence[int], bool], Iterator[Part]]
    named: bool = True


def hashed(texts: Sequence[str]) -> sparse.csr_matrix:
    """Return the unit vectors of the texts' words, (T, 2^18)."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return sparse.csr_matrix(HashingVectorizer(n_features=HASHED).transform(texts), dtype=np.float64)


def stream_of(
    path: Path, columns: Columns, label: str | None, drop: tuple[str, ...], texts: tuple[str, ...], labelled: bool
) -> Stream:
    """Return the stream in columns: one is the label, unless there is none, some are texts, some left out.

    Raises
    ------
    ValueError
        If there is no such column, or a feature is no finite number, or a text no text: the first in the file.
    """
    names = columns.names
    at, numbers, said = _chosen(path, names, label, drop, texts, labelled)
    is_named = columns.named or all(np.isnan(as_number(names[i])) and names[i].lower() != "nan" for i in numbers)
    if not is_named and not all(_is_index(name) for name in (label, *drop) if name is not None):
        raise ValueError(f"{path}: columns have no names, got {', '.join(names)} in the first line")
    X = np.empty((columns.most_rows, len(numbers)))
    written: list[list[str]] = [[] for _ in said]
    lines = array("i")
    n_rows = 0

    def place(row: int) -> str:
        return f"line {lines[row]}" if lines else f"row {row}"

    def fault(row: int, column: int, value: Any) -> ValueError:
        name = f" ({names[column]})" if is_named else ""
        if column in said:
            return ValueError(f"{path}: {place(row)}, column {names[column]}: a text must be one, got {value!r}")
        words = name and re.search(r"[^\W\d_]{2,}", str(value)) and str(value).lower() not in ("nan", "inf", "-inf")
        hint = ": --text takes a column of texts, --drop leaves one out" if words else ""
        rule = f"a feature must be a finite number, got {str(value)[:40]!r}{hint}"
        return ValueError(f"{path}: {place(row)}, column {column}{name}: {rule}")

    def labels() -> Iterator[str]:
        nonlocal n_rows
        for own_lines, values in columns.parts([*numbers, *said, *([] if at is None else [at])], is_named):
            lines.extend(own_lines)
            here = X[n_rows : n_rows + len(values[0])]
            wrong: list[tuple[int, int, Any]] = []
            for into, column, given in zip(here.T, numbers, values, strict=False):
                into[:] = _numbers(given)
                row = int(np.isfinite(into).argmin())
                if not isfinite(into[row]):
                    wrong.append((row, column, given[row]))
            for kept, column, given in zip(written, said, values[len(numbers) :], strict=False):
                kept.extend(given)
                row = next((row for row, text in enumerate(given) if not isinstance(text, str)), -1)
                if row >= 0:
                    wrong.append((row, column, np.asarray(given[row]).item()))
            if wrong:
                row, column, value = min(wrong, key=lambda one: one[:2])
                raise fault(n_rows + row, column, value)
            n_rows += len(here)
            if at is not None:
                yield from ("" if one is None else str(one).strip() for one in _listed(values[-1]))

    y, classes = named(labels(), place, path)
    if n_rows == 0:
        raise ValueError(f"{path}: a stream must hold an example, got names of columns only")
    if at is None:
        y, classes = np.zeros(n_rows, dtype=np.int64), ()
    together = tuple("\n".join(parts) for parts in zip(*written, strict=True))
    instances: Any = X[:n_rows]
    if texts:
        instances = sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(instances), hashed(together)]))
    return Stream(
        name=path.name, X=instances, y=y, classes=classes, lines=np.asarray(lines, dtype=np.int32),
        columns=tuple(names[i] for i in numbers) if columns.named else (), texts=together,
    )  # fmt: skip


def _listed(values: Sequence[Any] | NDArray[Any]) -> Sequence[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else values


def _numbers(values: Any) -> NDArray[np.float64]:
    """Return the numbers that values are or spell, NaN where one does neither."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return values.astype(np.float64, copy=False)
    try:
        return np.fromiter(map(float, values), dtype=np.float64, count=len(values))
    except (TypeError, ValueError, OverflowError):
        return np.array([as_number(value) for value in values])


def _chosen(
    path: Path, names: list[str], label: str | None, drop: tuple[str, ...], texts: tuple[str, ...], labelled: bool
) -> tuple[int | None, list[int], list[int]]:
    """Return the numbers of the column of labels, of those that are numbers, and of those that are texts."""
    dropped = {_column(path, "drop", name, names) for name in drop}
    said = {_column(path, "text", name, names) for name in texts}
    at = None
    if labelled and label is not None:
        at = _column(path, "label", label, names)
    elif labelled:
        at = max((i for i in range(len(names)) if i not in dropped | said), default=-1)
    if at in said | dropped | {-1}:
        raise ValueError(f"{path}: label must name a column beside texts and those dropped, got {', '.join(names)}")
    numbers = [i for i in range(len(names)) if i != at and i not in dropped | said]
    if not numbers and not said:
        raise ValueError(f"{path}: there must be a column beside the label, got {', '.join(names)}")
    return at, numbers, sorted(said)


def _column(path: Path, what: str, name: str, names: list[str]) -> int:
    """Return the number of a column from its name or its number, which may count from the end."""
    if name in names and not _is_index(name):
        return names.index(name)
    if _is_index(name) and -len(names) <= int(name) < len(names):
        return int(name) % len(names)
    raise ValueError(f"{path}: {what} must name one of the columns {', '.join(names[:12])}, got {name!r}")


def _is_index(name: str) -> bool:
    return re.fullmatch(r"-?\d{1,9}", name) is not None


def csv_columns(path: Path, number: int, delimiter: str, counts: Counter[str], *, named: bool) -> Columns:
    """Return the columns of a table that was surveyed, with its `counts`.

    Line `number` is the first that is neither blank nor a comment; it must name the columns if they are `named`, and
    rows of empty cells are then passed over.
    """
    start, head = next((row for row in _csv_rows(path, delimiter, number - 1) if any(row[1])), (0, []))
    if not head:
        raise ValueError(f"{path}: a stream must hold an example, got none")
    width = len(head)

    def rows(is_named: bool) -> Iterator[tuple[int, list[str]]]:
        for line, row in _csv_rows(path, delimiter, start if is_named else number - 1):
            if not any(row) if named else not row or (len(row) == 1 and row[0].isspace()):
                continue
            if len(row) != width:
                rule = f"every line must have {width} columns, as the first has, got {len(row)}"
                raise ValueError(f"{path}: line {line}: {rule}")
            yield line, row

    def parts(wanted: Sequence[int], is_named: bool) -> Iterator[Part]:
        for lines, some in _batches(rows(is_named), width):
            yield lines, [[row[i] for row in some] for i in wanted]

    most = counts[delimiter] // (width - 1) if width > 1 else counts["\n"] + counts["\r"] + 1
    return Columns([name.strip() for name in head], most, parts, named)


def _csv_rows(path: Path, delimiter: str, skipped: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table below some lines, each with the line in which it ends."""
    reader = csv.reader(chain(islice(lines_of(path), skipped, None), ["\n"]), delimiter=delimiter)
    row: list[str] = []
    try:
        for row in reader:
            yield skipped + reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"{path}: line {skipped + reader.line_num}: {error}") from None
    if row:  # the line that was added is part of a cell
        last = skipped + reader.line_num - 1
        raise ValueError(f"{path}: line {last}: quotes must end where a cell does, got {row[-1][:40]!r}")


def json_columns(path: Path, counts: Counter[str]) -> Columns:
    """Return the columns of JSON lines: an object a line, all with the same names."""
    names: list[str] = []

    def objects() -> Iterator[tuple[int, dict[str, Any]]]:
        known = None
        for number, line in enumerate(lines_of(path), 1):
            if not line.strip():
                continue
            try:
                one = json.loads(line)
            except (ValueError, RecursionError):
                one = None
            if not isinstance(one, dict):
                got = repr(line.rstrip("\n")[:40])
                raise ValueError(f"{path}: line {number}: every line must be a JSON object, got {got}")
            if known is None:
                names[:], known = one, one.keys()
            if one.keys() != known:
                rule = f"every line must name {', '.join(names)}, got {', '.join(one)}"
                raise ValueError(f"{path}: line {number}: {rule}")
            yield number, one

    for _ in objects():
        if names:
            break
    else:
        raise ValueError(f"{path}: a stream must hold an example, got none")

    def parts(wanted: Sequence[int], _: bool) -> Iterator[Part]:
        for lines, some in _batches(objects(), len(names)):
            yield lines, [[one[names[i]] for one in some] for i in wanted]

    return Columns(names, counts[":"] // len(names), parts)


def _batches(rows: Iterator[tuple[int, Any]], width: int) -> Iterator[tuple[list[int], list[Any]]]:
    """Yield some rows at a time with their lines; where a row is wrong, those before it come first."""
    lines: list[int] = []
    some: list[Any] = []
    try:
        for line, row in rows:
            lines.append(line)
            some.append(row)
            if len(some) * width >= _CELLS_AT_ONCE:
                yield lines, some
                lines, some = [], []
    except ValueError:
        if some:
            yield lines, some
        raise
    if some:
        yield lines, some


def parquet_columns(path: Path) -> Columns:
    """Return the columns of a parquet file of at most `MOST_CELLS` cells (one of a hundred bytes may say more)."""
    import pyarrow.parquet as pq
    from pyarrow import types

    with _as_one_error(path):
        with pq.ParquetFile(path) as file:
            found, schema = file.metadata, file.schema_arrow
        nested = [field.name for field in schema if types.is_nested(field.type)]
        if nested:  # pyarrow ends the process where the metadata of a column, which would count values, is damaged
            raise ValueError(f"lists or records in {nested[0]}; numbers and texts are read")
        n_rows = max(found.num_rows, sum(found.row_group(i).num_rows for i in range(found.num_row_groups)))
        if n_rows * max(found.num_columns, 1) > MOST_CELLS:
            raise ValueError(f"{n_rows} rows of {found.num_columns} columns; {MOST_CELLS} cells are read")
    if n_rows == 0 or len(schema) == 0:
        raise ValueError(f"{path}: a stream must hold an example, got none")
    # a long text may be there a million times
    texts = [field.name for field in schema if types.is_string(field.type) or types.is_large_string(field.type)]

    def parts(wanted: Sequence[int], _: bool) -> Iterator[Part]:
        places = sorted(wanted)
        at_once = max(1, _CELLS_AT_ONCE // len(places))
        known: dict[str, str] = {}
        n_read = 0
        with _as_one_error(path), pq.ParquetFile(path, read_dictionary=texts) as file:
            groups = range(file.num_row_groups)
            for batch in file.reader.iter_batches(at_once, row_groups=groups, column_indices=places):
                n_read += len(batch)
                yield (), [_arrow_values(batch.column(places.index(i)), known) for i in wanted]
            if n_read != n_rows:
                raise ValueError(f"{n_read} values of {schema[places[0]].name} in {n_rows} rows")

    return Columns(list(schema.names), n_rows, parts)


@contextmanager
def _as_one_error(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # pyarrow raises a dozen kinds
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{path}: a parquet file must be whole and not too large, got {said[:200]}") from None


def _arrow_values(values: Any, known: dict[str, str]) -> Any:
    """Return an array of numbers, or a list of anything else; of equal texts, which are in `known`, there is one."""
    from pyarrow import array as arrow_array
    from pyarrow import types

    if types.is_dictionary(values.type):
        places, rows = np.unique(values.indices.cast("int64").fill_null(-1).to_numpy(), return_inverse=True)
        used = values.dictionary.take(arrow_array(places[places >= 0])).to_pylist()
        texts = [*[None] * int((places < 0).sum()), *(known.setdefault(text, text) for text in used)]
        return [texts[row] for row in rows.tolist()]
    if values.null_count == 0 and (types.is_integer(values.type) or types.is_floating(values.type)):
        return values.to_numpy()
    return values.to_pylist()
