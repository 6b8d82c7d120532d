"""`lpsm verify`: whether a folder of results is as it was written."""

from __future__ import annotations

import json
from pathlib import Path

import click

__all__ = ["verify"]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON object.")
def verify(folder: Path, as_json: bool) -> None:
    """Check every file of FOLDER, made by another command, against the checksums in its manifest.

    The exit status is 0 if all is whole, and 2 if something is damaged, missing, not listed or unfinished.
    """
    from experiments.study.verify import verify as check

    found = check(folder)
    if as_json:
        click.echo(json.dumps({"folder": str(folder), **found._asdict()}))
    elif found.problems:
        for problem in found.problems:
            click.echo(problem)
    if found.problems:
        more = f", and {len(found.problems) - 1} more" if len(found.problems) > 1 else ""
        raise ValueError(f"{folder} is not as it was written: {found.problems[0]}{more}")
    if not found.finished:
        raise ValueError(f"{folder}: an unfinished run of lpsm {found.command}; its {found.whole} files are whole")
    if not as_json:
        click.echo(f"{folder}: lpsm {found.command}, {found.whole} files, all whole")
