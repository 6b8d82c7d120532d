"""Where data sets lie: a folder given, or the one LPSM_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["VARIABLE", "data_folder", "find"]

VARIABLE = "LPSM_DATA"


def data_folder(folder: Path | str | None = None) -> Path:
    """Return the folder of data sets: the given one, or else the one that LPSM_DATA names."""
    given = folder if folder is not None else os.environ.get(VARIABLE)
    if not given:
        raise ValueError(f"no folder of data sets is known: give --data or set {VARIABLE}")
    path = Path(given)
    if not path.is_dir():
        raise FileNotFoundError(2, "there is no such folder of data sets", str(path))
    return path


def find(folder: Path, *names: str) -> Path:
    """Return the file `names` lead to under the folder of data sets; without it this is a `FileNotFoundError`."""
    path = folder.joinpath(*names)
    if not path.is_file():
        raise FileNotFoundError(2, f"this file of the data set {names[0]} is not there", str(path))
    return path
