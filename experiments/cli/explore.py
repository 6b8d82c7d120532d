"""`lpsm explore`: a page on this machine in which traffic, world and policies are moved by hand."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any

import click

from experiments.cli import options
from experiments.inert import echo

__all__ = ["explore"]


@options.command(
    click.option("--trace", type=options.FILE, help="Browsing instead of the Web model: a trace or workload."),
    options.number(
        "--port", kind=int, most=65_535, least=0, default=8050, help="On 127.0.0.1; 0 takes a free one."
    ),
    click.option("--open/--no-open", "browse", default=True, show_default=True, help="Open the page in the browser."),
)  # fmt: skip
def explore(asked: Any) -> None:
    """Open a page with sliders and lists: what policies cost and delay follows at once.

    The page is served to this machine only, until Ctrl-C.
    """
    from experiments.cli.compare import FEW_SESSIONS
    from experiments.explore.answer import Explorer
    from experiments.explore.app import Page
    from experiments.study.interruptions import Interrupted
    from experiments.study.run import compiling

    trace = asked.trace
    explorer = Explorer() if trace is None else Explorer.of_trace(trace, FEW_SESSIONS, partial(echo, err=True))
    try:
        with compiling():
            explorer.warm_up()
        server = Page(explorer, asked.port, trace.name if trace else None)
        address = f"http://127.0.0.1:{server.server_port}/"
        echo(f"{address}  (Ctrl-C ends it)")
        sys.stdout.flush()
        if asked.browse:
            click.launch(address)
        server.serve_forever()
    except KeyboardInterrupt as stopped:
        ended = stopped if isinstance(stopped, Interrupted) else Interrupted()
        echo(f"lpsm: {ended.word}, the explorer has ended", err=True)
        os._exit(ended.status)  # threads that compute would be waited for; they write nothing
