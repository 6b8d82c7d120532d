"""Streams of named columns in parquet files, read a column and a part at a time.

What it leaves out: lists and records in columns; they are errors.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.datasets.records import Parts, Records
from experiments.datasets.text import MOST_CELLS

__all__ = ["parquet_records"]

_ROWS_AT_ONCE = 1 << 16


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
    if n_rows == 0 or len(schema) == 0:
        raise ValueError(f"{path}: a stream must hold an example, got none")

    def groups(wanted: Sequence[int]) -> Iterator[tuple[Sequence[int], Parts]]:
        for i in wanted:
            yield [i], ([part] for part in _column_parts(path, i, schema.field(i), n_rows))

    return Records(list(schema.names), n_rows, array("i"), groups)


@contextmanager
def _as_one_error(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # pyarrow raises a dozen kinds
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{path}: a parquet file must be whole and not too large, got {said[:200]}") from None


def _column_parts(path: Path, number: int, field: Any, n_rows: int) -> Iterator[Any]:
    """Yield arrays of numbers, or of texts of which equal ones are one object; lists of anything else."""
    import pyarrow.parquet as pq
    from pyarrow import types

    n_read = 0
    is_text = types.is_string(field.type) or types.is_large_string(field.type)
    texts = [field.name] if is_text else []  # a long text may be there a million times
    with _as_one_error(path), pq.ParquetFile(path, read_dictionary=texts) as file:
        groups = range(file.num_row_groups)
        if is_text:
            parts = _texts(file.reader.read_row_group(i, column_indices=[number]).column(0) for i in groups)
        else:
            batches = file.reader.iter_batches(_ROWS_AT_ONCE, row_groups=groups, column_indices=[number])
            parts = (_values(batch.column(0)) for batch in batches)
        for part in parts:
            n_read += len(part)
            yield part
        if n_read != n_rows:
            raise ValueError(f"{n_read} values of {field.name} in {n_rows} rows")


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
