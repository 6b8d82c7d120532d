"""Rows in files, too many to be held at once: what is said of all of them, exactly, in constant memory.

A part is a Parquet file whose rows are users in order, each under all policies in theirs.  Quantiles are found digit
by digit: numbers that sort as the values do are counted by their first eight bits, those that begin as a wanted one
does by the next eight, and so on.  Eight readings of a column give any number of quantiles, equal to those of all
values sorted; the counts of parts add up, whoever counted them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray
from pyarrow import parquet

Parts: TypeAlias = Callable[[Sequence[str]], Iterable[Mapping[str, NDArray[Any]]]]
"""From names of columns to these columns, part after part."""
_BITS = 8
_SIGN = np.uint64(1 << 63)


def packed(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return columns as the bytes of a Parquet file."""
    file = BytesIO()
    parquet.write_table(pa.table(dict(columns)), file, compression="zstd")
    return file.getvalue()


def read(paths: Sequence[Path], names: Sequence[str]) -> Iterator[Mapping[str, NDArray[Any]]]:
    """Yield some columns of files, one after another; of some paths it is `Parts`."""
    for path in paths:
        table = parquet.read_table(path, columns=[*names], use_threads=False)
        yield {name: table[name].to_numpy() for name in names}


def sample(parts: Parts, names: Sequence[str], policies: Sequence[str], step: int) -> pd.DataFrame:
    """Return every so many-th user under all policies: `policy`, and these columns."""
    begun, found = 0, []
    for part in parts(names):
        of = {name: column.reshape(-1, len(policies)) for name, column in part.items()}
        taken = {name: column[-begun % step :: step] for name, column in of.items()}
        begun += len(of[names[0]])
        users = len(taken[names[0]])
        found.append(pd.DataFrame({"policy": [*policies] * users} | {name: own.ravel() for name, own in taken.items()}))
    return pd.concat(found, ignore_index=True)


def quantiles(parts: Parts, name: str, n_policies: int, levels: ArrayLike) -> NDArray[np.float64]:
    """Return the quantiles of a column under each policy, NaN left out, shape (policies, levels), as NumPy's linear."""
    shares, width, first = np.asarray(levels, float), 1 << _BITS, 64 - _BITS
    heads = [np.zeros(2 * len(shares), np.uint64)] * n_policies  # how the values below and above each level begin
    ranks, between = [np.zeros(0, np.int64)] * n_policies, [shares] * n_policies
    for shift in range(first, -1, -_BITS):
        active = [np.unique(own) for own in heads]
        counts = [np.zeros(len(own) * width, np.int64) for own in active]
        for part in parts([name]):
            for values, own, counted in zip(part[name].reshape(-1, n_policies).T, active, counts, strict=True):
                begun = _keys(values[~np.isnan(values)]) >> np.uint64(shift)
                place = np.searchsorted(own[1:], begun >> np.uint64(_BITS), side="right")
                among = begun >> np.uint64(_BITS) == own[place]
                counted += np.bincount((place * width + (begun % width).astype(int))[among], minlength=len(counted))
        for one, (own, counted) in enumerate(zip(active, counts, strict=True)):
            reached = np.cumsum(counted.reshape(-1, width), axis=1)
            if shift == first:
                at = shares * (reached[0, -1] - 1)
                between[one] = at % 1.0 if reached[0, -1] else np.full(len(at), np.nan)
                ranks[one] = np.concatenate([np.floor(at), np.ceil(at)]).astype(np.int64)
            rows = reached[np.searchsorted(own, heads[one])]
            digits = (rows[:, :-1] <= ranks[one][:, np.newaxis]).sum(axis=1)
            before = np.take_along_axis(rows, np.maximum(digits - 1, 0)[:, np.newaxis], axis=1)[:, 0]
            ranks[one] = ranks[one] - np.where(digits > 0, before, 0)
            heads[one] = (heads[one] << np.uint64(_BITS)) + digits.astype(np.uint64)
    found = []
    for share, keys in zip(between, heads, strict=True):
        low, high = np.split(_values(keys), 2)
        found.append(np.where(share < 0.5, low + (high - low) * share, high - (high - low) * (1.0 - share)))
    return np.array(found)


def _keys(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return numbers that sort as these do."""
    bits = (values.astype(float) + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _values(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(float)
