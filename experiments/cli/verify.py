"""`lpsm verify`: whether a folder of results is as it was written."""

from __future__ import annotations

import json
from pathlib import Path

import click

from experiments.cli.options import json_option
from experiments.inert import echo

__all__ = ["verify"]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@json_option("what was found")
def verify(folder: Path, as_json: bool) -> None:
    """Check every file of FOLDER, made by another command, against the checksums in its manifest.

    FOLDER may also hold folders of results at any depth, as that of lpsm reproduce does; then each of them is checked.
    The exit status is 0 if all is whole, and 2 if something is damaged, missing, not listed or unfinished.
    """
    from experiments.study.verify import records
    from experiments.study.verify import verify as check

    checked = {path: check(path) for path in records(folder) or [folder]}
    problems = []
    for path, found in checked.items():
        within = "" if path == folder else f"{path.relative_to(folder).as_posix()}/"
        problems += [f"{within}{problem}" for problem in found.problems]
    if as_json:
        shown = [{"folder": str(path), **found._asdict()} for path, found in checked.items()]
        echo(json.dumps(shown[0] if folder in checked else {"folder": str(folder), "records": shown}))
    else:
        for problem in problems:
            echo(problem)
    if problems:
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise ValueError(f"{folder} is not as it was written: {problems[0]}{more}")
    for path, found in checked.items():
        if not found.finished:
            raise ValueError(f"{path}: an unfinished run of lpsm {found.command}; its {found.whole} files are whole")
    if not as_json:
        whole = sum(found.whole for found in checked.values())
        what = f"lpsm {checked[folder].command}" if folder in checked else f"{len(checked)} folders of results"
        echo(f"{folder}: {what}, {whole} files, all whole")
