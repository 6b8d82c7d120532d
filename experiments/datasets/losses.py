"""Losses of experts in files: a .npy matrix, a table as pandas writes it, or text with one round a line.

What it models: numbers with one kind of blank, or commas, between them, perhaps below comments (#).  Below
a line of names, as ``DataFrame.to_csv`` writes it, a first column without a name or without numbers is an index, and
left out.  Names are no numbers, or 0, 1, .. as pandas names columns that nobody named (`files.are_names`).
"""

from array import array
from itertools import chain, islice
from pathlib import Path
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray

from experiments.datasets.files import MOST_CELLS, are_names, csv_rows, first_line, naming
from experiments.escaping import is_number
from lpsm.hindsight import best_expert

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
            return np.array(held, float)
    except Exception:  # numpy raises half a dozen kinds
        raise ValueError("losses must be a whole .npy matrix of numbers, got something else") from None
    raise ValueError(f"losses must be at most {MOST_CELLS} numbers, got {held.size}")


def _rounds(path: Path, missing: str) -> NDArray[np.float64]:
    """Losses in text; an empty cell of a table is read as `missing`."""
    number, first = first_line(path)
    rows = csv_rows(path, number, first, ",\t ")
    head, below = next(rows, (0, list[str]())), list(islice(rows, 100))
    if not head[0]:
        raise ValueError("losses must hold at least one round, got blanks alone")
    lead, row = head[1][0].strip(), below[0][1] if below else [""]
    known = bool(lead) or not missing or row[0].strip() == "0"  # an empty cell may be of a sleeper
    behind = bool(below) and known and not is_number(lead)
    told = behind or (None if {*first} & set(",\t") and known else False)  # no names between blanks
    named = bool(below) and are_names(head, range(behind, len(head[1])), below, told)
    index = named and (not lead or not is_number(row[0] or missing))
    losses, width = array("d"), len(head[1]) - index
    for line, cells in chain([] if named else [head], below, rows):
        try:
            losses.extend(float(cell.strip() or missing) for cell in cells[index:])
        except ValueError:
            raise ValueError(f"line {line}: losses must be numbers, got {cells!r:.80}") from None
        if len(losses) > MOST_CELLS:
            raise ValueError(f"line {line}: losses must be at most {MOST_CELLS} numbers, got more")
    return np.asarray(losses).reshape(-1, width)
