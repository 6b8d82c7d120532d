"""`lpsm label --ask`: the questions of a sampler, put to the person at the keyboard.

What it leaves out: the sampler's rounds and the file of answers (`study.asking`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.inert import echo

if TYPE_CHECKING:
    from experiments.datasets import Stream
    from experiments.study.label import LabelConfig

__all__ = ["ask_person", "two_classes"]


def read_line() -> str:
    """Return what the person types next; empty at the end of the input."""
    return sys.stdin.readline()


def two_classes(classes: str) -> list[str]:
    """Return the two names in ``NAME,NAME``."""
    names = [name.strip() for name in classes.split(",")]
    if len(names) != 2 or "" in names or names[0] == names[1]:
        raise ValueError(f"--classes must be two different names with a comma between them, got {classes!r}")
    return names


def ask_person(
    stream: Stream, as_read: Stream, config: LabelConfig, settings: dict[str, Any], path: Path, out: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Let the person at the keyboard answer; questions go to standard error, what came of them to the output."""
    from experiments.study.asking import Answers, label_by_asking

    names: list[str] = settings["classes"]
    answers = Answers(path, settings["data_sha256"], names)
    if answers.given:
        echo(f"{len(answers.given)} labels are there already, in {path}", err=True)

    def put(row: int, decision: Any) -> str | None:
        likely = names[decision.prediction > 0]
        echo(f"\n{stream.place(row)}\n{as_read.shown(row)}", err=True)
        while True:
            echo(f"{' or '.join(names)}? (probably {likely}; q ends) ", err=True, nl=False)
            line = read_line()
            word = line.strip()
            if not line or (word == "q" and "q" not in names):
                return None
            meant = [name for name in names if name == word] or [n for n in names if word and n.startswith(word)]
            if len(meant) == 1:
                return meant[0]
            echo(f"an answer must be one of {', '.join(names)}, or how one begins", err=True)

    found = label_by_asking(stream.X, names, config, answers, put)
    predicted = found.table["prediction"].value_counts()
    if out is not None:
        from experiments.study.store import Store

        store = Store(out, "label", settings)
        with store.giving_up():
            store.write_frame("predictions.csv", found.table)
            store.publish()
    said = {name: int(predicted.get(name, 0)) for name in names}
    summary = {
        "rounds": found.rounds, "labels": found.labels, "stopped": found.stopped, "answers": str(path),
        "predicted": said,
    }  # fmt: skip
    if as_json:
        echo(json.dumps({**settings, **summary}))
        return
    counts = ", ".join(f"{count} {name}" for name, count in said.items())
    echo(f"{found.rounds} of {len(stream.y)} rows seen, {found.labels} labels, kept in {path}; predicted: {counts}")
    if found.stopped:
        echo("The same command goes on from there.")
    if out is not None:
        echo(f"The predictions are in {out}.")
