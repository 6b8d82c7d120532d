"""Streams of named columns that may hold texts: parquet, JSON lines, and tables with texts in them.

What it models: one column is the label, some are texts, all others are finite numbers.  Texts become unit vectors of
hashed words (scikit-learn's `HashingVectorizer`), which needs no vocabulary and so knows nothing of later rows; numbers
beside them are taken as they are.
What it leaves out: values that are missing; they are errors.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.datasets.text import MOST_CELLS

__all__ = ["HASHED", "Columns", "Records", "hashed", "json_records", "of_records", "parquet_records", "table_records"]

HASHED = 2**18  # columns that words are hashed to
_ROWS_AT_ONCE = 1 << 16


class Records(NamedTuple):
    """Named columns, all as long as each other, and where each row stands."""

    names: list[str]
    columns: list[Any]  # sequences or arrays (n,)
    lines: NDArray[np.int64]  # empty where rows have no lines

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.columns[0]) if self.columns else 0


class Columns(NamedTuple):
    """What a stream is made of."""

    X: Any
    labels: Iterator[str]
    names: tuple[str, ...]  # of the columns that are numbers
    texts: tuple[str, ...]  # of each row; empty if no column is a text


def hashed(texts: Sequence[str]) -> sparse.csr_matrix:
    """Return the unit vectors of the texts' words, (T, 2^18)."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return sparse.csr_matrix(HashingVectorizer(n_features=HASHED).transform(texts), dtype=np.float64)


def parquet_records(path: Path) -> Records:
    """Read a parquet file.

    Raises
    ------
    ValueError
        If it is damaged, or has more than `MOST_CELLS` cells, which a file of a hundred bytes may say.
    """
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
        columns = [ParquetColumn(path, i, schema.field(i), n_rows) for i in range(len(schema))]
    return Records(list(schema.names), columns, np.zeros(0, dtype=np.int64))


@contextmanager
def _as_one_error(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # pyarrow raises a dozen kinds
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{path}: a parquet file must be whole and not too large, got {said[:200]}") from None


class ParquetColumn:
    """A column of a parquet file, read anew, a part at a time, whenever its values are asked for."""

    def __init__(self, path: Path, number: int, field: Any, n_rows: int) -> None:
        self._path, self._number, self._field, self._n_rows = path, number, field, n_rows

    def __len__(self) -> int:
        return self._n_rows

    def __iter__(self) -> Iterator[Any]:
        for part in self.parts():
            yield from part.tolist() if isinstance(part, np.ndarray) else part

    def parts(self) -> Iterator[Any]:
        """Yield arrays of numbers, or of texts of which equal ones are one object; lists of anything else.

        Raises
        ------
        ValueError
            If the file is damaged.
        """
        import pyarrow.parquet as pq
        from pyarrow import types

        n_read = 0
        is_text = types.is_string(self._field.type) or types.is_large_string(self._field.type)
        texts = [self._field.name] if is_text else []  # a long text may be there a million times
        with _as_one_error(self._path), pq.ParquetFile(self._path, read_dictionary=texts) as file:
            groups = range(file.num_row_groups)
            if is_text:
                parts = _texts(file.reader.read_row_group(i, column_indices=[self._number]).column(0) for i in groups)
            else:
                batches = file.reader.iter_batches(_ROWS_AT_ONCE, row_groups=groups, column_indices=[self._number])
                parts = (_values(batch.column(0)) for batch in batches)
            for part in parts:
                n_read += len(part)
                yield part
            if n_read != self._n_rows:
                raise ValueError(f"{n_read} values of {self._field.name} in {self._n_rows} rows")


def _texts(columns: Iterable[Any]) -> Iterator[NDArray[Any]]:
    known: dict[Any, Any] = {}  # every chunk has a dictionary of its own
    for chunk in (chunk for column in columns for chunk in column.chunks):
        texts = np.array([*(known.setdefault(text, text) for text in chunk.dictionary.to_pylist()), None], object)
        for first in range(0, len(chunk), _ROWS_AT_ONCE):
            indices = chunk.indices.slice(first, _ROWS_AT_ONCE).cast("int64")
            yield texts[indices.fill_null(len(texts) - 1).to_numpy()]


def _values(part: Any) -> Any:
    from pyarrow import types

    if part.null_count == 0 and (types.is_integer(part.type) or types.is_floating(part.type)):
        values = part.to_numpy()
        return values.astype(np.float64, copy=False) if values.dtype.kind == "f" else values
    return part.to_pylist()


def json_records(path: Path, text: str) -> Records:
    """Read JSON lines: an object a line, all with the same names.

    Raises
    ------
    ValueError
        Naming the line.
    """
    names: list[str] = []
    rows: list[Sequence[Any]] = []
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise ValueError(f"{path}: line {number}: every line must be a JSON object, got {line[:40]!r}")
        names = names if lines else list(found)
        if set(found) != set(names):
            raise ValueError(f"{path}: line {number}: every line must name {', '.join(names)}, got {', '.join(found)}")
        rows.append([found[name] for name in names])
        lines.append(number)
    return Records(names, list(zip(*rows, strict=True)), np.array(lines, dtype=np.int64))


def table_records(path: Path, text: str, delimiter: str) -> Records:
    """Read a table whose first line names its columns; a text in quotes may hold anything.

    Raises
    ------
    ValueError
        Naming the line.
    """
    rows: list[Sequence[Any]] = []
    lines: list[int] = []
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if any(row):
                rows.append(row)
                lines.append(reader.line_num)
                if len(row) != len(rows[0]):
                    raise ValueError(f"every line must have {len(rows[0])} columns, as the first has, got {len(row)}")
    except (csv.Error, ValueError) as error:
        raise ValueError(f"{path}: line {reader.line_num}: {error}") from None
    columns: list[Sequence[Any]] = list(zip(*rows[1:], strict=True))
    return Records([name.strip() for name in rows[0]], columns, np.array(lines[1:], dtype=np.int64))


def of_records(
    path: Path, records: Records, at: int | None, dropped: set[int], texts: set[int], place: Callable[[int], str]
) -> Columns:
    """Return features and labels: column `at` is the label (None: there is none), `dropped` are left out.

    Raises
    ------
    ValueError
        If a feature is no finite number, or a text no text, naming its place.
    """
    numbers = [i for i in range(len(records.names)) if i != at and i not in dropped and i not in texts]
    if not numbers and not texts:
        raise ValueError(f"{path}: there must be a column beside the label, got {', '.join(records.names)}")
    X = np.empty((records.n_rows, len(numbers)))
    for k, i in enumerate(numbers):
        column, first = records.columns[i], 0
        for part in column.parts() if isinstance(column, ParquetColumn) else [column]:
            values = X[first : first + len(part), k]
            is_numbers = isinstance(part, np.ndarray) and part.dtype.kind in "fiu"
            values[:] = part if is_numbers else list(map(_finite, part))
            t = int(np.isfinite(values).argmin())
            if not isfinite(values[t]):
                raise ValueError(
                    f"{path}: {place(first + t)}, column {i} ({records.names[i]}): a feature must be a finite number, "
                    f"got {str(part[t])[:40]!r}: --text takes a column of texts, --drop leaves one out"
                )
            first += len(part)
    for i in sorted(texts):
        for t, text in enumerate(records.columns[i]):
            if not isinstance(text, str):
                raise ValueError(f"{path}: {place(t)}, column {records.names[i]}: a text must be one, got {text!r}")
    said = ["\n".join(parts) for parts in zip(*(records.columns[i] for i in sorted(texts)), strict=True)]
    instances: Any = X
    if texts:
        instances = sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(X), hashed(said)]))
    labels = iter(()) if at is None else _labels(records.columns[at])
    return Columns(instances, labels, tuple(records.names[i] for i in numbers), tuple(said))


def _labels(column: Any) -> Iterator[str]:
    """Spell the labels of a column; those of a parquet file, of which many may be equal, once each."""
    known: dict[Any, str] = {}
    for value in column:
        if not isinstance(column, ParquetColumn):
            yield _spelt(value)
            continue
        if value not in known:
            known[value] = _spelt(value)
        yield known[value]


def _finite(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _spelt(label: Any) -> str:
    return "" if label is None else str(label).strip()
