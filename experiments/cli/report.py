"""`lpsm report`: one HTML page of a finished folder of results."""

from __future__ import annotations

from pathlib import Path

import click

from experiments.cli.options import FILE
from experiments.inert import echo
from experiments.report.html import folder_page
from experiments.study.files import write_file
from experiments.study.store import PAGE

__all__ = ["report"]


@click.command()
@click.argument("folder", type=FILE)
@click.option("--out", type=FILE, metavar="PAGE.html", help="The page [FOLDER/report.html].")
def report(folder: Path, out: Path | None) -> None:
    """Put the words, pictures and tables of FOLDER into one page for a browser.

    FOLDER is what another command wrote with --out, or a folder that holds several of them, such as that of lpsm
    reproduce.  The page needs no network and runs no script.
    """
    if not folder.is_dir():
        raise ValueError(f"folder must be a folder of results, {folder} is none")
    page = out if out is not None else folder / PAGE
    if page.suffix != ".html":
        raise ValueError(f"out must be the name of a file that ends in .html, got {page}")
    if folder.resolve() in page.resolve().parents and page.resolve() != folder.resolve() / PAGE:
        raise ValueError(f"out must lie outside the folder of results or be {folder / PAGE}, got {page}")
    write_file(page, folder_page(folder))
    echo(f"The page is {page}.")
