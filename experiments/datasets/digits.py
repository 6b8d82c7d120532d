"""Handwritten digits: USPS (16 x 16) and MNIST (28 x 28), pixels in [0, 1], background 0.

What it models: training rows, then test rows, in the order of their files; neither is a
stream in time.  USPS is stored with the background at -1; it is moved to [0, 1], with
which the thesis' table 4.1 agrees.  What it leaves out: any centring or whitening.
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.datasets.finding import find
from experiments.datasets.npz import arrays_of
from experiments.datasets.stream import Stream
from traces.files import open_trace

__all__ = ["mnist", "usps"]

_DIGITS = tuple("0123456789")


def usps(folder: Path) -> Stream:
    """Return the 9,298 digits of USPS, from ``usps/usps.npz``."""
    path = find(folder, "usps", "usps.npz")
    wanted = ("X_train", "X_test", "y_train", "y_test")
    arrays, found = arrays_of(path, wanted)
    if len(arrays) < len(wanted):
        raise ValueError(f"{path}: it must hold {', '.join(wanted)}, got {found}")
    for name, array in arrays.items():
        if array.dtype.kind not in "iu" or array.shape[1:] != ((_USPS_PIXELS,) if name.startswith("X") else ()):
            rule = f"whole numbers, {_USPS_PIXELS} a digit" if name.startswith("X") else "a vector of digits"
            raise ValueError(f"{path}: {name} must be {rule}, got {array.dtype} of shape {array.shape}")
    pixels = np.concatenate([arrays["X_train"], arrays["X_test"]])
    labels = np.concatenate([arrays["y_train"], arrays["y_test"]])
    return _stream("usps", (pixels / 1000.0 + 1.0) / 2.0, labels, path)


_USPS_PIXELS = 256


def mnist(folder: Path, parts: tuple[str, ...] = ("train", "t10k")) -> Stream:
    """Return the 70,000 digits of MNIST, from the four idx files in ``mnist/``; or of some `parts`."""
    images = [_images(find(folder, "mnist", f"{part}-images-idx3-ubyte.gz")) for part in parts]
    labels = [_idx(find(folder, "mnist", f"{part}-labels-idx1-ubyte.gz"), 1) for part in parts]
    pixels = np.concatenate(images)
    path = folder / "mnist"
    return _stream("mnist", pixels.reshape(len(pixels), -1) / 255.0, np.concatenate(labels), path)


def _stream(name: str, X: NDArray[np.float64], labels: NDArray[Any], path: Path) -> Stream:
    if len(X) != len(labels) or len(X) == 0:
        raise ValueError(f"{path}: every digit must have a label, got {len(X)} digits and {len(labels)} labels")
    if labels.min() < 0 or labels.max() > 9:
        raise ValueError(f"{path}: labels must be digits, got {labels.min()} to {labels.max()}")
    return Stream(name=name, X=X, y=labels.astype(np.int64), classes=_DIGITS, lines=np.zeros(0, dtype=np.int64))


def _images(path: Path) -> NDArray[np.uint8]:
    images = _idx(path, 3)
    if images.shape[1:] != (28, 28):
        raise ValueError(f"{path}: images must be 28 x 28, got shape {images.shape}")
    return images


def _idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """Return the array of unsigned bytes in an idx file: magic 0 0 8 dimensions, big-endian sizes, values."""
    with open_trace(path) as file:
        content = file.read()
    if content[:4] != bytes((0, 0, 8, dimensions)):
        raise ValueError(f"{path}: an idx file must begin with 0 0 8 {dimensions}, got {list(content[:4])}")
    start = 4 + 4 * dimensions
    if len(content) < start:
        raise ValueError(f"{path}: an idx file must begin with {dimensions} sizes, got {len(content)} bytes in all")
    shape = tuple(int(size) for size in np.frombuffer(content[4:start], dtype=">u4"))
    values = np.frombuffer(content, dtype=np.uint8, offset=start)
    if len(values) != prod(shape):
        raise ValueError(f"{path}: an idx file of shape {shape} must hold {prod(shape)} bytes, got {len(values)}")
    return values.reshape(shape)
