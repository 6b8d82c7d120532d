"""How commands end: the words, tables and pictures of a folder, the JSON object of ``--json``, and single pictures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.options import picture_suffix
from experiments.inert import echo

if TYPE_CHECKING:
    import pandas as pd

    from experiments.study.store import Store

__all__ = ["Outcome", "checked_outputs", "written_picture"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command found."""

    name: str  #: of the file of words, without ``.txt``
    text: str  #: what is printed
    data: Mapping[str, Any]  #: what ``--json`` prints
    tables: Mapping[str, pd.DataFrame]  #: names of CSV files, without the suffix; one without a row is left out
    pictures: Mapping[str, Any] = field(default_factory=dict)  #: figures, each of which becomes a PNG and an SVG file
    files: Mapping[str, str] = field(default_factory=dict)  #: contents of what is neither, by the names of the files

    def publish(self, store: Store) -> None:
        """Write everything, and give the folder its name."""
        from experiments.figures.style import pictures

        store.write(f"{self.name}.txt", self.text + "\n")
        for name, table in self.tables.items():
            if len(table):
                store.write_frame(f"{name}.csv", table)
        drawn: list[Mapping[str, Any]] = [pictures(name, figure) for name, figure in self.pictures.items()]
        for files in (*drawn, self.files):
            for name, content in files.items():
                store.write(name, content)
        store.publish()

    def say(self, asked: Any) -> None:
        """Print the words and where the folder is, or the JSON object."""
        if asked.as_json:
            click.echo(json.dumps(self.data))
            return
        echo(self.text)
        if asked.out is not None:
            echo(f"\nTables and pictures are in {asked.out}.")


def checked_outputs(read: Sequence[Path], written: Iterable[Path | None], picture: Path | None) -> None:
    """Refuse outputs that overwrite what is read or each other, and a picture that cannot be drawn."""
    from experiments.study.files import refuse_overwriting

    refuse_overwriting(read, [*written, picture])
    picture_suffix(picture)


def written_picture(path: Path, figure: Any) -> None:
    """Write a figure where it is wanted, in the form that the name says, making its folder."""
    from experiments.figures.style import pictures
    from experiments.study.files import write_file

    write_file(path, pictures(path.stem, figure)[f"{path.stem}{path.suffix.lower()}"])
