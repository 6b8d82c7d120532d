"""How every command that writes a folder ends: words, tables, pictures, and the JSON object of ``--json``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.options import picture_suffix
from experiments.inert import echo
from experiments.study.files import refuse_overwriting, write_file

if TYPE_CHECKING:
    import pandas as pd

    from experiments.study.store import Store

__all__ = ["Outcome", "checked_outputs", "written_picture"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command found.

    Attributes
    ----------
    name : str
        Of the file of words, without ``.txt``.
    text : str
        What is printed.
    data : mapping
        What ``--json`` prints, as JSON data.
    tables : mapping
        Name of a CSV file, without the suffix, to its table; one without a row is left out.
    pictures : mapping
        Name to figure: each becomes a PNG and an SVG file.
    files : mapping
        Name to content of what is neither.
    """

    name: str
    text: str
    data: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame]
    pictures: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

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

    def say(self, out: Path | None, *, as_json: bool) -> None:
        """Print the words and where the folder is, or the JSON object."""
        if as_json:
            click.echo(json.dumps(self.data))
            return
        echo(self.text)
        if out is not None:
            echo(f"\nTables and pictures are in {out}.")


def checked_outputs(read: Sequence[Path], written: Iterable[Path | None], picture: Path | None) -> None:
    """Refuse outputs that overwrite what is read or each other, and a picture that cannot be drawn."""
    picture_suffix(picture)
    refuse_overwriting(read, [*written, picture])


def written_picture(path: Path, figure: Any) -> None:
    """Write a figure where it is wanted, in the form that the name says, making its folder."""
    from experiments.figures.style import pictures

    write_file(path, pictures(path.stem, figure)[f"{path.stem}{path.suffix.lower()}"])
