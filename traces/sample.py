"""Quantiles of many whole numbers in bounded memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Sample"]

_MOST = 1 << 12


class Sample:
    """Numbers that were seen: all of the first 4096; of more, every second one, then every fourth, and so on.

    >>> sample = Sample()
    >>> sample.extend([5, 1])
    >>> sample.add(3)
    >>> len(sample), sample.quantile(0.5)
    (3, 3.0)
    """

    __slots__ = ("_kept", "_seen", "_step")

    def __init__(self) -> None:
        self._kept: list[int] = []
        self._seen = 0
        self._step = 1

    def add(self, value: int) -> None:
        """Take a number."""
        if self._seen % self._step == 0:
            self._kept.append(value)
            self._thin()
        self._seen += 1

    def extend(self, values: ArrayLike) -> None:
        """Take several numbers."""
        given: NDArray[np.int64] = np.asarray(values, dtype=np.int64)
        self._kept += given[-self._seen % self._step :: self._step].tolist()
        self._seen += len(given)
        self._thin()

    def _thin(self) -> None:
        while len(self._kept) > _MOST:
            self._kept = self._kept[::2]
            self._step *= 2

    def __len__(self) -> int:
        return self._seen

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sample) and (self._seen, self._kept) == (other._seen, other._kept)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def quantile(self, level: float) -> float | None:
        """Return the quantile of a level in [0, 1]; None if nothing was seen."""
        return float(np.quantile(self._kept, level)) if self._kept else None
