"""Losses of experts in files: a .npy matrix, a table as pandas writes it, or text with one round a line.

What it models: numbers with blanks or commas between them; empty lines and those that begin with # are left out.  Below
a line of names with commas between them, as ``DataFrame.to_csv`` writes it, a first column without a name or without
numbers is an index, and left out.
"""

from __future__ import annotations

from array import array
from itertools import chain
from pathlib import Path
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray

from experiments.datasets.files import MOST_CELLS, lines_of, naming
from experiments.inert import is_number
from lpsm.hindsight import best_expert

__all__ = ["read_losses"]

_LARGEST = 1e290  # so that no sum of as many losses as are read overflows


def read_losses(path: Path, *, sleepers: bool = False) -> NDArray[np.float64]:
    """Return losses in nats, (T, n): a row a round, a column an expert; with `sleepers` NaN of whoever was asleep.

    Raises
    ------
    ValueError
        If there are none, too many, or some that are no numbers of at least 0; the message names the file.
    OSError
        If it cannot be opened.
    """
    with naming(path):
        losses = _matrix(path) if path.suffix == ".npy" else _rounds(path, "nan" if sleepers else "")
        asleep = np.isnan(losses) & sleepers
        known = np.where(asleep, 0.0, losses)
        best_expert(known)  # for its checks of shape and values
        wrong = known[(known < 0.0) | (np.isfinite(known) & (known > _LARGEST))]
        if len(wrong):
            raise ValueError(f"losses must be at least 0 and at most {_LARGEST:g}, or inf, got {wrong[0]:g}")
        if asleep.all(axis=1).any():
            raise ValueError(f"round {int(asleep.all(axis=1).argmax()) + 1}: an expert must be awake, all are asleep")
        return losses


def _matrix(path: Path) -> NDArray[np.float64]:
    path.open("rb").close()  # what cannot be opened is no matter of its content
    try:
        with catch_warnings(action="ignore"):  # of headers that lie
            held = np.load(path, mmap_mode="r", allow_pickle=False)  # compares the size with what the header says
        if held.size <= MOST_CELLS:
            return np.array(held, dtype=np.float64)
    except Exception:  # numpy raises half a dozen kinds
        raise ValueError("losses must be a whole .npy matrix of numbers, got something else") from None
    raise ValueError(f"losses must be at most {MOST_CELLS} numbers, got {held.size}")


def _rounds(path: Path, missing: str) -> NDArray[np.float64]:
    """Losses in text; an empty cell of a table is read as `missing`."""
    rounds = (one for one in lines_of(path) if one[1].strip(" ,\r\n") and not one[1].lstrip().startswith("#"))
    head = next(rounds, (0, ""))
    cells = head[1].split(",")
    named = len(cells) > 1 and not any(map(is_number, cells))
    losses, width, index = array("d"), 0, False
    for number, line in rounds if named else chain([head], rounds):
        words = line.rstrip("\r\n").split(",") if named else line.replace(",", " ").split()
        if not width:
            index = named and (not cells[0].strip('"') or not is_number(words[0] or missing))
        words = words[index:]
        width = width or len(words)
        try:
            losses.extend(float(word.strip() or missing) for word in words)
        except ValueError:
            raise ValueError(f"line {number}: losses must be numbers, got {line.rstrip()[:80]!r}") from None
        if len(words) != width:
            raise ValueError(f"line {number}: every round must have {width} losses, got {len(words)}")
        if len(losses) > MOST_CELLS:
            raise ValueError(f"line {number}: losses must be at most {MOST_CELLS} numbers, got more")
    return np.asarray(losses).reshape(-1, width) if losses else np.zeros(0)
