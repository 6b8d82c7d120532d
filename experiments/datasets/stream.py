"""A stream of labelled instances, whatever it was read from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Stream"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stream:
    """Instances in their order, with the class or the classes of each.

    Attributes
    ----------
    name
        What it is called in results.
    X
        (T, d) array or CSR matrix of finite float64.
    y
        (T,) numbers of the classes, or (T, k) bool where an instance has any number of them.
    classes
        Names of the classes, (k,).
    lines
        Line of the file each instance stands in, (T,); empty where there are no lines.
    in_time_order
        Whether the order of the rows is that of their making.
    columns
        Names of the columns of X that are numbers with names; empty where there are none.
    texts
        What was written in each row, (T,); empty where X was not made of texts.
    """

    name: str
    X: Any
    y: NDArray[Any]
    classes: tuple[str, ...]
    lines: NDArray[np.int64]
    in_time_order: bool = False
    columns: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Hold instances and labels to each other."""
        if self.X.ndim != 2 or self.X.shape[0] != len(self.y):
            raise ValueError(f"{self.name}: X must have a row for each of {len(self.y)} labels, got {self.X.shape}")
        if self.X.shape[0] == 0 or self.X.shape[1] == 0:
            raise ValueError(f"{self.name}: a stream must hold an example with a feature, got none")

    @property
    def multilabel(self) -> bool:
        """Whether an instance may have several classes, or none."""
        return self.y.ndim == 2

    def place(self, row: int) -> str:
        """Return where an instance stands, for messages."""
        return f"{self.name}: line {self.lines[row]}" if len(self.lines) else f"{self.name}: row {row}"

    def first_zero(self) -> int | None:
        """Return the first row of zeros, if there is one."""
        if sparse.issparse(self.X):
            zero = np.asarray(abs(self.X).max(axis=1).toarray()).ravel() == 0.0
        else:
            zero = ~self.X.any(axis=1)
        return int(np.argmax(zero)) if zero.any() else None

    def digest(self) -> str:
        """Return the SHA-256 of instances and classes."""
        arrays = (self.X.data, self.X.indices, self.X.indptr) if sparse.issparse(self.X) else (self.X,)
        digest = hashlib.sha256(repr((self.X.shape, self.classes)).encode())
        for array in (*arrays, self.y):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def head(self, rows: int) -> Stream:
        """Return the first `rows` instances."""
        return self.take(np.arange(min(rows, len(self.y))))

    def take(self, rows: NDArray[np.intp]) -> Stream:
        """Return the instances of these row numbers, in this order."""
        lines = self.lines[rows] if len(self.lines) else self.lines
        texts = tuple(self.texts[row] for row in rows) if self.texts else ()
        return replace(self, X=self.X[rows], y=self.y[rows], lines=lines, texts=texts)

    def shown(self, row: int) -> str:
        """Return an instance as a person reads it: its numbers by name, and its text."""
        numbers = self.X[[row], : len(self.columns)]
        dense = numbers.toarray()[0] if sparse.issparse(numbers) else numbers[0]
        said = ", ".join(f"{name} = {value:g}" for name, value in zip(self.columns, dense, strict=True))
        return "\n".join(part for part in (said, self.texts[row] if self.texts else "") if part)

    def scaled(self) -> Stream:
        """Return the stream with each dense column centred and divided by its standard deviation so far.

        Row t is scaled by rows 1 .. t; a column without spread gives 0, and the first row, of which that would
        leave nothing, becomes a row of ones.
        """
        rounds = np.arange(1, self.X.shape[0] + 1)[:, None]
        apart = self.X - self.X[0]  # sums of small numbers, where all values are large
        mean = np.cumsum(apart, axis=0) / rounds
        spread = np.sqrt(np.maximum(np.cumsum(apart**2, axis=0) / rounds - mean**2, 0.0))
        flat = spread <= 1e-9 * np.abs(self.X).max(axis=0)
        X = np.where(flat, 0.0, (apart - mean) / np.where(flat, 1.0, spread))
        X[0] = 1.0
        return replace(self, X=X)

    def with_intercept(self, constant: float | None = None) -> Stream:
        """Return the stream with a feature appended that says nothing: a constant, or of the size of the others.

        Without a constant its value in row t is the root mean square of the values other than 0 in rows 1 .. t: a 1
        would be as long as all the words of a unit vector together, and every margin would hang on it.
        """
        if sparse.issparse(self.X):
            sums = np.concatenate([[0.0], np.cumsum(self.X.data**2)])[self.X.indptr[1:]]
            counts = self.X.indptr[1:]
        else:
            sums, counts = np.cumsum((self.X**2).sum(axis=1)), np.cumsum((self.X != 0.0).sum(axis=1))
        size = np.where(sums > 0.0, np.sqrt(sums / np.maximum(counts, 1)), 1.0)[:, None]
        if constant is not None:
            size[:] = constant
        wider = sparse.hstack([self.X, size], format="csr") if sparse.issparse(self.X) else np.hstack([self.X, size])
        return replace(self, X=wider)
