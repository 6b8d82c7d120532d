"""Handwritten digits: USPS (16 x 16) and MNIST (28 x 28), pixels in [0, 1], background 0.

What it models: training rows, then test rows, in the order of their files; neither is a
stream in time.  USPS is stored with the background at -1; it is moved to [0, 1], with
which the thesis' table 4.1 agrees.  What it leaves out: any centring or whitening.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.datasets.finding import find
from experiments.datasets.stream import Stream

__all__ = ["mnist", "usps"]

_DIGITS = tuple("0123456789")


def usps(folder: Path) -> Stream:
    """Return the 9,298 digits of USPS, from ``usps/usps.npz``."""
    with np.load(find(folder, "usps", "usps.npz"), allow_pickle=False) as file:
        pixels = np.concatenate([file["X_train"], file["X_test"]])
        labels = np.concatenate([file["y_train"], file["y_test"]])
    return _stream("usps", (pixels / 1000.0 + 1.0) / 2.0, labels)


def mnist(folder: Path, parts: tuple[str, ...] = ("train", "t10k")) -> Stream:
    """Return the 70,000 digits of MNIST, from the four idx files in ``mnist/``; or of some `parts`."""
    images = [_idx(find(folder, "mnist", f"{part}-images-idx3-ubyte.gz"), 3) for part in parts]
    labels = [_idx(find(folder, "mnist", f"{part}-labels-idx1-ubyte.gz"), 1) for part in parts]
    pixels = np.concatenate(images)
    return _stream("mnist", pixels.reshape(len(pixels), -1) / 255.0, np.concatenate(labels))


def _stream(name: str, X: NDArray[np.float64], labels: NDArray[np.uint8]) -> Stream:
    return Stream(name=name, X=X, y=labels.astype(np.int64), classes=_DIGITS, lines=np.zeros(0, dtype=np.int64))


def _idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """Return the array of unsigned bytes in an idx file: magic 0 0 8 dimensions, big-endian sizes, values."""
    content = gzip.decompress(path.read_bytes())
    if content[:4] != bytes((0, 0, 8, dimensions)):
        raise ValueError(f"{path}: an idx file must begin with 0 0 8 {dimensions}, got {list(content[:4])}")
    start = 4 + 4 * dimensions
    shape = tuple(int(size) for size in np.frombuffer(content[4:start], dtype=">u4"))
    values = np.frombuffer(content, dtype=np.uint8, offset=start)
    if len(values) != int(np.prod(shape)):
        raise ValueError(
            f"{path}: an idx file of shape {shape} must hold {int(np.prod(shape))} bytes, got {len(values)}"
        )
    return values.reshape(shape)
