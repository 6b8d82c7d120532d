"""Numbers drawn ahead for the compiled air, from the streams and in the order of the packet model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["DRAWN_AHEAD", "Streams", "backoffs", "gaps", "uniform"]

Ints = NDArray[np.int64]
Draws = Callable[[int], NDArray[np.float64]]
"""Draws so many batches."""

DRAWN_AHEAD = 1024
"""Room for the numbers of a stream."""
_AT_ONCE = 64  # a batch: backoffs that the packet model draws at once


class Streams:
    """Numbers drawn ahead, a stream a row: those left and the end of them stand at two places of the array."""

    def __init__(self, buffer: int) -> None:
        self._buffer = buffer
        self._places: list[int] = []
        self._draws: list[Draws] = []

    def add(self, w: Ints, at: int, draw: Draws) -> None:
        """Add a stream, empty as yet."""
        w[at : at + 2] = self._buffer + DRAWN_AHEAD * len(self._places)
        self._places.append(at)
        self._draws.append(draw)

    def refill(self, w: Ints) -> None:
        """Draw more for those of which less than half is left."""
        places = np.array(self._places)
        for number in np.flatnonzero(2 * (w[places + 1] - w[places]) < DRAWN_AHEAD).tolist():
            at, buffer = self._places[number], self._buffer + DRAWN_AHEAD * number
            begin, end = w[at : at + 2].tolist()
            left = end - begin
            more = (DRAWN_AHEAD - left) // _AT_ONCE
            w[buffer : buffer + left] = w[begin:end].copy()
            w[at], w[at + 1] = buffer, buffer + left + more * _AT_ONCE
            w[buffer + left : w[at + 1]].view(np.float64).reshape(more, _AT_ONCE)[:] = self._draws[number](more)


def uniform(rng: np.random.Generator) -> Draws:
    """Numbers uniform on [0, 1), as losses are drawn."""
    return lambda rows: rng.random((rows, _AT_ONCE))


def backoffs(rng: np.random.Generator) -> Draws:
    """The same, in the order in which a station of the packet model uses them up: the last of a batch first."""
    return lambda rows: rng.random((rows, _AT_ONCE))[:, ::-1]


def gaps(rng: np.random.Generator, mean_ns: float) -> Draws:
    """Memoryless gaps of this mean, in whole nanoseconds."""
    return lambda rows: np.rint(rng.exponential(mean_ns, (rows, _AT_ONCE)))
