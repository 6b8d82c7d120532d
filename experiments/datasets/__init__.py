"""Where data sets are found, and how they are loaded.

What it models: `load` gives a named data set, `read` a file, both as a `Stream`: instances in
their order, the label of each, and the names of the classes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from experiments.datasets import named
from experiments.datasets.files import read
from experiments.datasets.named import data_folder
from experiments.datasets.stream import Stream

__all__ = ["Stream", "data_folder", "load", "names", "read"]

_LOADERS: dict[str, Callable[[Path], Stream]] = {
    "elec2": named.elec2, "mnist": named.mnist, "reuters": named.reuters, "rcv1": named.rcv1,
    "sms-spam": named.sms_spam, "spam-drift": named.spam_drift, "usps": named.usps,
}  # fmt: skip


def names() -> tuple[str, ...]:
    """Return the names `load` knows."""
    return tuple(_LOADERS)


def load(name: str, folder: Path | str | None = None) -> Stream:
    """Return the data set of this name, one of `names()`, from a folder of data sets (None: what LPSM_DATA says).

    Raises
    ------
    ValueError
        If the name is unknown, no folder is known, or a file is not as it is published; the message says where.
    FileNotFoundError
        If the data set's files are not there.
    """
    if name not in _LOADERS:
        raise ValueError(f"a data set must be one of {', '.join(_LOADERS)}, got {name!r}")
    return _LOADERS[name](data_folder(folder))
