"""Random numbers that a run draws, batch by batch, each kind from a stream of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["BATCH", "Draws", "backoffs", "gaps", "uniform"]

Draws = Callable[[int], NDArray[np.float64]]
"""Draws so many batches, a row each."""
BATCH = 64
"""Numbers of a batch."""


def uniform(rng: np.random.Generator) -> Draws:
    """Numbers uniform on [0, 1), of losses."""
    return lambda rows: rng.random((rows, BATCH))


def backoffs(rng: np.random.Generator) -> Draws:
    """The same, of backoffs: the last of a batch first."""
    return lambda rows: rng.random((rows, BATCH))[:, ::-1]


def gaps(rng: np.random.Generator, mean_ns: float) -> Draws:
    """Memoryless gaps of this mean, in whole nanoseconds."""
    return lambda rows: np.rint(rng.exponential(mean_ns, (rows, BATCH)))
