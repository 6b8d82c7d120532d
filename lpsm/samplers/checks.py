"""What may enter a sampler: finite instances of one dimension, labels -1 and +1."""

from __future__ import annotations

from math import isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy import sparse

from lpsm.arithmetic import dot
from lpsm.arrays import Array, Floats
from lpsm.checks import array, shaped, shown
from lpsm.native import compiled
from lpsm.samplers.linear_algebra import Table, writeable

Columns: TypeAlias = NDArray[np.int32] | None
"""Of the values of a sparse instance; None of a dense one."""
Rows: TypeAlias = ArrayLike | sparse.spmatrix | sparse.sparray
"""One instance or several, as whoever calls has them: an array (d,) or (T, d), or sparse; or values and columns."""
MOST_FEATURES = 2**31 - 1
"""Most features of an instance: their places are 32 bits wide."""


def as_instance(x: Table, n_features: int, dtype: DTypeLike) -> tuple[Array, Columns]:
    """Return one instance as (values, None), or as (values, columns) if it came as a sparse row.

    ValueError if it has not `n_features` features, one of them is not finite, or its squared length is not.
    """
    if sparse.issparse(x):
        row = as_instances(x.reshape(1, -1), n_features, dtype)
        return writeable(row.data), writeable(row.indices.astype(np.int32, copy=False))
    values = writeable(shaped("x", x, n_features, dtype=dtype))
    _check_finite("x", values.reshape(1, -1))
    return values, None


@compiled
def is_sound(values: Array, columns: Array, n_features: int) -> bool:
    """Whether columns, if any, rise from 0 on below `n_features`, and the squared length is finite and not 0."""
    last = -1
    for at in columns:
        if at <= last:
            return False
        last = at
    return last < n_features and 0.0 < dot(values, values, len(values)) <= np.finfo(values.dtype).max


def as_instances(X: Rows, n_features: int, dtype: DTypeLike) -> Table:
    """Return instances as a contiguous array (T, n_features) or as canonical CSR.

    ValueError if the number of features differs, or a value or the squared length of an instance is not finite.
    """
    if sparse.issparse(X):
        check_columns(X)
        table = sparse.csr_matrix(X, dtype=dtype)
        if not table.has_canonical_format:
            table = table.copy()  # the arrays may be the caller's
            table.sum_duplicates()
    else:
        table = array("X", X, dtype)
        if table.size == 0 and table.ndim == 1:
            table = table.reshape(0, n_features)
    if table.ndim != 2 or table.shape[1] != n_features:
        raise ValueError(f"X must have shape (T, {n_features}), got {table.shape}")
    _check_finite("X", table)
    return table


def _check_finite(name: str, table: Table) -> None:
    """Raise unless every value, and the squared length of every row, is finite in its own type of number."""
    values = table.data if sparse.issparse(table) else table
    with np.errstate(over="ignore", invalid="ignore"):
        if isfinite(np.vdot(values, values)):
            return
    if not (good := np.isfinite(values)).all():
        at = np.unravel_index(int(np.argmin(good)), good.shape)
        row, column = (
            at if len(at) == 2 else (np.searchsorted(table.indptr, at[0], side="right") - 1, table.indices[at])
        )
        where = f"feature {column}" if name == "x" else f"row {row}, feature {column}"
        raise ValueError(f"{name} must be finite, got {values[at]} in {where}")
    fits = squared_lengths(table) <= np.finfo(table.dtype).max
    if not fits.all():
        worst = int(fits.argmin())
        what = f"got a feature of {float(abs(table[worst]).max()):g} in row {worst}"
        raise ValueError(f"{name} must have squared lengths that are finite, {what}")


def check_columns(X: Table) -> None:
    """Raise unless the places of a CSR matrix lie inside of it: compiled rounds go where they say."""
    if X.format != "csr":
        return
    starts, columns = X.indptr, X.indices
    inside = len(starts) == X.shape[0] + 1 and starts[0] == 0 and starts[-1] <= min(len(columns), len(X.data))
    if not inside or (len(starts) > 2 and (np.diff(starts) < 0).any()):
        raise ValueError(f"X must have row pointers that rise from 0 to {len(columns)}, got {shown(starts)}")
    if len(columns) and not columns.view(f"u{columns.itemsize}").max() < X.shape[1]:  # below 0: above all
        raise ValueError(f"X must have columns below {X.shape[1]}, got {columns.min()} to {columns.max()}")


def squared_lengths(table: Table) -> Array:
    """Return the squared lengths of the rows of a table, dense or CSR; 0 also where they are too small for a number."""
    with np.errstate(over="ignore"):
        if sparse.issparse(table):
            table = table.astype(np.float64, copy=False)
            return np.asarray(table.multiply(table).sum(axis=1)).ravel()
        return np.asarray(np.einsum("ij,ij->i", table, table, dtype=np.float64))


def as_labels(y: ArrayLike, rounds: int) -> Floats:
    """Return labels as floats.

    ValueError if there are not `rounds` of them, or one is neither -1 nor +1.
    """
    labels = shaped("y", y, rounds)
    good = np.abs(labels) == 1.0
    if not good.all():
        at = int(np.argmin(good))
        raise ValueError(f"y must hold only -1 and +1, got {labels[at]!s} in round {at}")
    return labels.copy()
