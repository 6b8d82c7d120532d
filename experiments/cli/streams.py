"""File names of a command line among which ``-`` is standard input or standard output."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any

import click

__all__ = ["INPUT", "OUTPUT"]

_STANDARD_INPUT = "experiments.cli.streams.standard_input"


class _Input(click.ParamType[Any]):
    """A file to read; what comes by standard input is put into a temporary file, because traces are opened twice."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path.

        Raises
        ------
        ValueError
            If standard input, which can be read once, is named a second time.
        """
        if str(value) != "-" or ctx is None or ctx.resilient_parsing:
            return Path(value)
        if ctx.meta.setdefault(_STANDARD_INPUT, False):
            raise ValueError("- is standard input, which can be read once, got it twice")
        ctx.meta[_STANDARD_INPUT] = True
        folder = ctx.with_resource(TemporaryDirectory(prefix="lpsm-"))
        path = Path(folder, "standard-input")  # a name of its own would show in results
        with path.open("wb") as file:
            copyfileobj(sys.stdin.buffer, file)
        return path


class _Output(click.ParamType[Any]):
    """A file to write."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path."""
        return Path("/dev/stdout") if str(value) == "-" else Path(value)


INPUT, OUTPUT = _Input(), _Output()
