"""Where data sets are found, and how they are loaded.

What it models: `load` gives a named data set, `read` a file, both as a `Stream`: instances in
their order, the label of each, and the names of the classes.
"""

from pathlib import Path

from experiments.datasets import named
from experiments.datasets.files import read
from experiments.datasets.named import data_folder
from experiments.datasets.stream import Stream

__all__ = ["Stream", "data_folder", "load", "names", "read"]


def names() -> tuple[str, ...]:
    """Return the names `load` knows."""
    return tuple(name.replace("_", "-") for name in named.__all__[2:])


def load(name: str, folder: Path | str | None = None) -> Stream:
    """Return the data set of this name, one of `names()`, from a folder of data sets (None: what LPSM_DATA says).

    Raises
    ------
    ValueError
        If the name is unknown, no folder is known, or a file is not as it is published; the message says where.
    FileNotFoundError
        If the data set's files are not there.
    """
    if name not in names():
        raise ValueError(f"a data set must be one of {', '.join(names())}, got {name!r}")
    found: Stream = getattr(named, name.replace("-", "_"))(data_folder(folder))
    return found
