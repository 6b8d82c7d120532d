"""Streams in files of numpy's arrays, npz.

What it models: X (or the data, indices, indptr and shape of a CSR matrix) and y, a vector, or a matrix of 0 and 1 with
a column a class.  Pickles are never loaded, and sizes and indices are checked before anything is made of them.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.datasets.stream import Stream, as_classes
from experiments.datasets.text import MAX_STREAM_BYTES

__all__ = ["ZIP", "arrays_of", "stream"]

ZIP = b"PK\x03\x04"
_KINDS = {"X": "fiub", "data": "fiub", "indices": "iu", "indptr": "iu", "shape": "iu"}
"""Of arrays the kinds that their types may be of."""
_LARGEST_INDEX = 2**31 - 1


def arrays_of(path: Path, wanted: Collection[str]) -> tuple[dict[str, NDArray[Any]], str]:
    """Return those of the wanted arrays that an npz holds, and the names of all it holds; pickles are never loaded."""
    with path.open("rb") as file:
        start = file.read(4)
    if start != ZIP:
        raise ValueError(f"an npz must be a zip file of arrays, got one that begins with {start!r}")
    arrays: dict[str, NDArray[Any]] = {}
    found = "a damaged one"
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(item.file_size for item in packed.infolist() if item.filename.removesuffix(".npy") in wanted)
        if size > MAX_STREAM_BYTES:
            found = f"{size} bytes where at most {MAX_STREAM_BYTES} are read"
            raise ValueError(found)
        with np.load(path, allow_pickle=False) as held:
            for name in (name for name in held.files if name in wanted):
                found = f"{name} damaged or pickled"
                arrays[name] = held[name]
            names = ", ".join(held.files)
    except Exception:  # zipfile, numpy and the parsers that they use raise a dozen kinds
        raise ValueError(f"an npz must hold plain arrays, and be whole, got {found}") from None
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{name} must be an array as numpy writes it, got other bytes")
    return arrays, names or "nothing"


def stream(path: Path) -> Stream:
    """Return the stream in an npz."""
    arrays, found = arrays_of(path, {*_KINDS, "y"})
    if "y" not in arrays or not ("X" in arrays or _KINDS.keys() - {"X"} <= arrays.keys()):
        raise ValueError(f"an npz must hold y, and X or data, indices, indptr and shape, got {found}")
    try:
        X = _matrix(arrays)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"X must be a matrix of numbers: {error}") from None
    held = X.data if sparse.issparse(X) else X.ravel()
    if not np.isfinite(held).all():
        at = int(np.argmin(np.isfinite(held)))
        if sparse.issparse(X):
            row, column = int(np.searchsorted(X.indptr, at, side="right")) - 1, int(X.indices[at])
        else:
            row, column = divmod(at, X.shape[-1])
        raise ValueError(f"row {row}, feature {column}: a feature must be a finite number, got {held[at]}")
    y, classes = _labels(arrays["y"])
    return Stream(name=path.name, X=X, y=y, classes=classes)


def _matrix(arrays: dict[str, NDArray[Any]]) -> Any:
    """Return X, or the matrix that data, indices, indptr and shape describe; a `TypeError` or so if they do not."""
    for name, kinds in _KINDS.items():
        if name in arrays and arrays[name].dtype.kind not in kinds:
            raise ValueError(f"the type of {name} is {arrays[name].dtype}")
    if "X" in arrays:
        return np.ascontiguousarray(arrays["X"], dtype=np.float64)
    data, indices, indptr = (np.ravel(arrays[name]) for name in ("data", "indices", "indptr"))
    shape = tuple(int(size) for size in arrays["shape"])
    if len(shape) != 2 or min(shape) < 0 or max(shape) > _LARGEST_INDEX or len(indptr) != shape[0] + 1:
        raise ValueError(f"a shape {shape} does not belong to {len(indptr)} places of indptr")
    stored = int(indptr[-1])
    # scipy leaves some of this unchecked, and then writes over memory
    if int(indptr[0]) != 0 or not 0 <= stored <= min(len(indices), len(data)) or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("indptr must rise from 0 to at most the number of indices and of data")
    data, indices = data[:stored], indices[:stored]
    if stored and not 0 <= int(indices.min()) <= int(indices.max()) < shape[1]:
        raise ValueError(f"an index must lie in [0, {shape[1] - 1}]")
    X = sparse.csr_matrix((data.astype(np.float64), indices.astype(np.int64), indptr.astype(np.int64)), shape=shape)
    X.sum_duplicates()
    return X


def _labels(y: NDArray[Any]) -> tuple[NDArray[Any], tuple[str, ...]]:
    if y.ndim == 2 and y.shape[1] and np.isin(y, (0, 1)).all():
        return y.astype(np.bool_), tuple(str(column) for column in range(y.shape[1]))
    if y.ndim != 1:
        rule = "y must be a vector, or a matrix with a column a class, which must hold 0 and 1"
        raise ValueError(f"{rule}, got shape {y.shape}")
    if y.dtype.kind == "U" and y.nbytes and y.view(f"{y.dtype.str[0]}u4").max() > sys.maxunicode:
        raise ValueError("y must be text in Unicode, got other characters")
    return as_classes([str(label) for label in y.tolist()], lambda row: f"row {row}")
