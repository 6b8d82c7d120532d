"""`lpsm explore`: a page on this machine in which traffic, world and policies are moved by hand."""

import os
import sys
from functools import partial

import click

from experiments.cli import options
from experiments.escaping import echo


@options.command(
    options.option("--trace", "Browsing instead of the Web model: a trace or workload.", options.FILE),
    options.SKIP_DAMAGED,
    options.whole("--port", "On 127.0.0.1; 0 takes a free one.", 8050, most=65_535, least=0),
    options.option("--open/--no-open browse", "Open the page in the browser.", default=True),
)
def explore(asked: options.Asked) -> None:
    """Open a page with sliders and lists: what policies cost and delay follows at once.

    The page is served to this machine only, until Ctrl-C.
    """
    from experiments.comparison import FEW_SESSIONS
    from experiments.explore.answer import Explorer
    from experiments.explore.app import Page
    from experiments.explore.settings import Settings
    from experiments.study.progress import progress
    from experiments.study.signals import Interrupted

    trace, explorer = asked.trace, Explorer()
    try:
        if trace is not None:
            told = partial(echo, err=True)
            explorer = Explorer.of_trace(trace, FEW_SESSIONS, told, skip_damaged=asked.skip_damaged)
        with progress("compiling", None):
            Explorer().answer(Settings(pages=2, seeds=1))
        try:
            server = Page(explorer, asked.port, trace.name if trace else None)
        except OSError as error:
            raise ValueError(f"port {asked.port}: {error.strerror}; --port 0 takes a free one") from None
        address = f"http://127.0.0.1:{server.server_port}/"
        echo(f"{address}  (Ctrl-C ends it)")
        sys.stdout.flush()
        if asked.browse:
            click.launch(address)
        server.serve_forever()
    except KeyboardInterrupt as stopped:
        ended = stopped if isinstance(stopped, Interrupted) else Interrupted()
        echo(f"lpsm: {ended}, the explorer has ended", err=True)
        os._exit(ended.status)  # threads that compute would be waited for; they write nothing
