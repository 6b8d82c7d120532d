"""`lpsm report`: one HTML page of a finished folder of results."""

import click

from experiments.cli import options
from experiments.escaping import echo


@options.command(
    click.argument("folder", type=options.FILE),
    options.option("--out", "The page [FOLDER/report.html].", options.FILE, metavar="PAGE.html"),
)
def report(asked: options.Asked) -> None:
    """Put the words, pictures and tables of FOLDER into one page for a browser.

    FOLDER is what another command wrote with --out, or a folder that holds several of them, such as that of lpsm
    reproduce.  The page needs no network and runs no script.
    """
    from experiments.report.html import folder_page
    from experiments.study.files import refuse_foreign, write_file
    from experiments.study.store import PAGE, PAGE_HEAD

    folder = asked.folder
    if not folder.is_dir():
        raise ValueError(f"folder must be a folder of results, got {folder}")
    page = asked.out or folder / PAGE
    if page.suffix != ".html":
        raise ValueError(f"out must be the name of a file that ends in .html, got {page}")
    if asked.out is None:
        refuse_foreign(page, PAGE_HEAD, "lpsm report")
    write_file(page, folder_page(folder))
    echo(f"The page is {page}.")
