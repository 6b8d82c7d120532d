"""The option `--report`: one HTML page beside the folder of results, and the command line that makes it again."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from experiments.study.store import Store

__all__ = ["check_report", "command_line", "deliver", "report_option"]

F = TypeVar("F", bound=Callable[..., Any])
IDLE = {
    "perfetto",
    "pcap",
    "jobs",
    "as_json",
    "out",
    "report",
    "resume",
    "scheduler",
}  # parameters that decide no number


def report_option(function: F) -> F:
    """Add ``--report FILE.html`` to a command, which receives `report`, a path or None."""
    return click.option(
        "--report", type=click.Path(path_type=Path), metavar="FILE.html",
        help="Also one page for a browser, with pictures to zoom; its folder is made. Needs the extra lpsm[report].",
    )(function)  # fmt: skip


def check_report(report: Path | None, out: Path, *, inside: bool = True) -> None:
    """Refuse a page that could not be written, before anything is computed.

    Raises
    ------
    ValueError
        If Plotly is missing, the name does not end in .html, or the page would lie below the folder of results
        (without `inside`, in it).
    """
    if report is None:
        return
    from experiments.report.html import plotly_library

    if report.suffix != ".html" or report.is_dir():
        raise ValueError(f"report must be the name of a file that ends in .html, got {report}")
    folder, page = (Path(os.path.abspath(path)) for path in (out, report))
    if not inside and folder in page.parents:
        raise ValueError(f"report must lie outside the output folder, got {report}")
    if folder in page.parent.parents:
        raise ValueError(f"report must lie in the output folder itself or outside it, got {report}")
    plotly_library()


def deliver(store: Store, report: Path | None, page: Callable[[], str]) -> None:
    """Finish the folder of results and write the page: into the folder (and its manifest), or where it is wanted."""
    from experiments.study.files import write_file

    if report is not None:
        path = Path(os.path.abspath(report))
        if path.parent == store.folder:
            store.write(path.name, page())
        else:
            write_file(path, page())
    store.publish()


def command_line(*ending: str) -> str:
    """Return the running command as a reader can type it: what decides the numbers, and file names without folders.

    It ends in what makes the page again, if that is not ``--report report.html``.
    """
    context = click.get_current_context()
    words = ["lpsm", str(context.info_name)]
    arguments: list[str] = []
    for parameter in context.command.params:
        name = str(parameter.name)
        value = context.params.get(name)
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if name in IDLE or not given or value is None:
            continue
        if isinstance(parameter, click.Argument):
            arguments += [_word(item) for item in (value if isinstance(value, tuple) else (value,))]
        elif isinstance(value, bool):
            words.append(parameter.opts[0] if value else parameter.secondary_opts[0])
        else:
            for item in value if isinstance(value, tuple) else (value,):
                words += [parameter.opts[0], _word(item)]
    return shlex.join([*words, *arguments, *(ending or ("--report", "report.html"))])


def _word(value: Any) -> str:
    return Path(os.path.abspath(value)).name if isinstance(value, Path) else str(value)
