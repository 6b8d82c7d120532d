"""A stream of labelled instances, whatever it was read from, and labels as they are spelt, as classes."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import isfinite, isinf
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

MOST_FEATURES = 2**31
LARGEST_N_CLASSES = 100  # more distinct labels are taken for a column of numbers


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
    """

    name: str
    X: Any
    y: NDArray[Any]
    classes: tuple[str, ...]
    lines: NDArray[Any] = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        """Hold instances and labels to each other."""
        if self.X.ndim != 2 or self.X.shape[0] != len(self.y):
            raise ValueError(f"X must have a row for each of {len(self.y)} labels, got shape {self.X.shape}")
        if 0 in self.X.shape or self.X.shape[1] > MOST_FEATURES:
            rule = f"a stream must hold an example with a feature, and at most {MOST_FEATURES} of them"
            raise ValueError(f"{rule}, got shape {self.X.shape}")
        finite = np.isfinite(self.X.data if sparse.issparse(self.X) else self.X.ravel())
        if not finite.all():
            at = int(finite.argmin())
            row = np.searchsorted(self.X.indptr, at, "right") - 1 if sparse.issparse(self.X) else at // self.X.shape[1]
            raise ValueError(f"{self.place(int(row))}: a feature must be a finite number")

    def place(self, row: int) -> str:
        """Return where an instance stands, for messages."""
        return f"line {self.lines[row]}" if len(self.lines) else f"row {row}"

    def first_zero(self) -> int | None:
        """Return the first row of zeros, if there is one."""
        zero = np.asarray((self.X != 0.0).sum(axis=1)).ravel() == 0
        return int(np.argmax(zero)) if zero.any() else None

    def digest(self) -> str:
        """Return the SHA-256 of instances and classes."""
        arrays = (self.X.data, self.X.indices, self.X.indptr) if sparse.issparse(self.X) else (self.X,)
        digest = hashlib.sha256(repr((self.X.shape, self.classes)).encode())
        for array in (*arrays, self.y):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def take(self, rows: slice | NDArray[np.intp]) -> Self:
        """Return the instances of these row numbers, in this order."""
        return replace(self, X=self.X[rows], y=self.y[rows], lines=self.lines[rows] if len(self.lines) else self.lines)

    def scaled(self) -> Self:
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

    def with_intercept(self, constant: float | None = None) -> Self:
        """Return the stream with a feature appended that says nothing: a constant, or of the size of the others.

        Without a constant its value in row t is the root mean square of the values other than 0 in rows 1 .. t: a 1
        would be as long as all the words of a unit vector together, and every margin would hang on it.
        """
        rows = sparse.csr_matrix(self.X)
        sums, counts = np.pad(np.cumsum(rows.data**2), (1, 0))[rows.indptr[1:]], rows.indptr[1:]
        size = np.where(sums > 0.0, np.sqrt(sums / np.maximum(counts, 1)), 1.0)[:, None]
        if constant is not None:
            size[:] = constant
        wider = sparse.hstack([rows, size], format="csr")
        return replace(self, X=wider if sparse.issparse(self.X) else wider.toarray())


def as_classes(labels: Iterable[str], place: Callable[[int], str]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return each label's class number, and the names of the classes, by value if all are numbers.

    A class is one number, however it is spelt (1, 1.0 and +1), or one name.  A label that names no class, and more
    than 100 classes, are a `ValueError`; `place` says where a row stands.
    """
    known: dict[str, int] = {}
    codes = np.fromiter((known.setdefault(label, len(known)) for label in labels), dtype=np.int64)
    keys: list[Any] = list(map(as_number, known))
    if all(map(isfinite, keys)):
        names = {value: short if float(short := f"{value:g}") == value else repr(value) for value in keys}
    else:
        for at, name in enumerate(known):
            if not name.strip() or name.lower() == "nan" or isinf(keys[at]):
                raise ValueError(f"{place(int(np.argmax(codes == at)))}: a label must name a class, got {name!r}")
        keys, names = list(known), {name: name for name in known}
    order = sorted(names)
    if len(order) > LARGEST_N_CLASSES:
        raise ValueError(f"labels must name at most {LARGEST_N_CLASSES} classes, got {len(order)}")
    rank = {key: position for position, key in enumerate(order)}
    ranks = np.array([rank[key] for key in keys], np.int64)
    return ranks.take(codes, out=codes, mode="clip"), tuple(names[key] for key in order)


def as_number(text: Any) -> float:
    """Return the number that is spelt, NaN if none is."""
    try:
        return float(text)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
