"""A sampler over a stream whose labels a person knows: every question is asked once, and every answer is kept at once.

What it models: the sampler decides on the rows in their order and asks for labels of its choice.  Answers are lines of
a file, which is written before the next question is put, so that whoever stops loses nothing: the same call takes
what is there for granted, asks what comes after, and arrives where it would have been.
What it leaves out: how a question is put, which is the caller's.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.study.files import append_line
from experiments.study.interruptions import Interrupted
from experiments.study.label import LabelConfig
from lpsm import samplers
from lpsm.checks import having, of_type, shown, whole

__all__ = ["Answers", "Asked", "label_by_asking"]


class Answers:
    """Labels that a person has given, by number of the row, and the file that holds them.

    Parameters
    ----------
    path
        A table of row and label below a line that names the data; it is made with the first answer.
    digest
        SHA-256 of the data.
    classes
        The labels there are.

    Raises
    ------
    TypeError, ValueError
        If the file is of other data or classes, or holds something else; or an argument is of another type.
    """

    def __init__(self, path: Path, digest: str, classes: Sequence[str]) -> None:
        of_type(Path, path=path)
        of_type(str, digest=digest)
        if isinstance(classes, str):
            raise TypeError(f"classes must be several labels, got {shown(classes)}")
        for name in classes:
            of_type(str, classes=name)
        self.path = path
        self._head = f"# labels of the data {digest}"
        self.given: dict[int, str] = {}
        if not path.exists():
            return
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        if lines[:1] != [self._head]:
            raise ValueError(f"{path}: answers must be of these data, its first line says {''.join(lines[:1])[:90]!r}")
        for number, row in enumerate(csv.reader(lines[1:]), 2):
            if row == ["row", "label"]:
                continue
            if len(row) != 2 or not row[0].isdecimal() or row[1] not in classes:
                raise ValueError(f"{path}: line {number}: an answer must be a row and one of {', '.join(classes)}")
            self.given[int(row[0])] = row[1]

    def keep(self, row: int, label: str) -> None:
        """Write down an answer; when this returns, it is on the disk."""
        whole(0, row=row)
        of_type(str, label=label)
        new = not self.path.exists()
        line = StringIO()
        csv.writer(line, lineterminator="").writerow([row, label])
        with self.path.open("a", encoding="utf-8") as file:
            append_line(file, f"{self._head}\nrow,label\n{line.getvalue()}" if new else line.getvalue())
        self.given[row] = label


class Asked(NamedTuple):
    """What came of it: a row a row of the data, the rounds played, and labels used; `stopped` if rounds are left."""

    table: pd.DataFrame
    rounds: int
    labels: int
    stopped: bool


def label_by_asking(
    X: Any,
    classes: Sequence[str],
    config: LabelConfig,
    answers: Answers,
    put: Callable[[int, samplers.Decision], str | None],
) -> Asked:
    """Play the rows of X; `put` gets the number of a row and the decision, and returns a class or None to stop.

    Parameters
    ----------
    X
        Instances, (T, d), array or CSR.
    classes
        The two labels, the second +1.
    config
        The sampler.
    answers
        What was answered before; new answers go there.
    put
        Called for questions that are not answered yet.

    Raises
    ------
    TypeError, ValueError
        If X is no table, there are not two classes, or another argument is of another type.
    Interrupted
        If `put` or the sampler was interrupted; the message says what is kept.
    """
    of_type(LabelConfig, config=config)
    of_type(Answers, answers=answers)
    having("put", put, "__call__")
    if len(getattr(X, "shape", ())) != 2:
        raise TypeError(f"X must be an array or CSR of shape (T, d), got {shown(X)}")
    if isinstance(classes, str) or len(classes) != 2:
        raise ValueError(f"classes must be two labels, got {shown(classes)}")
    sampler, used, rounds = config.sampler(X.shape[1]), dict[int, str](), X.shape[0]
    played = rounds
    try:
        for t in range(rounds):
            decision = sampler.decide(X[t])
            if decision.ticket is None:
                continue
            label = answers.given.get(t)
            if label is None:
                label = put(t, decision)
                if label is None:
                    played = t
                    break
                answers.keep(t, label)
            used[t] = label
            sampler.learn(decision.ticket, 1 if label == classes[1] else -1)
    except KeyboardInterrupt as stopped:
        kept = f"; {len(answers.given)} labels are kept in {answers.path}, from which the same command goes on"
        raise Interrupted.saying(kept, stopped) from None
    margins = sampler.margins(X)
    table = pd.DataFrame(
        {
            "row": np.arange(rounds),
            "margin": margins,
            "prediction": np.asarray(classes)[(margins >= 0.0).astype(np.intp)],
            "label": [used.get(t, "") for t in range(rounds)],
        }
    )
    return Asked(table, played, len(used), played < rounds)
