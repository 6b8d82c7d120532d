"""File names of a command line among which ``-`` is standard input or standard output."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import Any

import click

__all__ = ["INPUT", "OUTPUT"]


class _Input(click.ParamType[Any]):
    """A file to read; what comes by standard input is put into a temporary file, because traces are opened twice."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path."""
        if str(value) != "-" or ctx is None:
            return Path(value)
        # the command ends it, not this function
        file = ctx.with_resource(NamedTemporaryFile(prefix="standard-input-", suffix=".trace"))  # noqa: SIM115
        copyfileobj(sys.stdin.buffer, file)
        file.flush()
        return Path(file.name)


class _Output(click.ParamType[Any]):
    """A file to write."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path."""
        return Path("/dev/stdout") if str(value) == "-" else Path(value)


INPUT, OUTPUT = _Input(), _Output()
