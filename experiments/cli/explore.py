"""`lpsm explore`: a page on this machine in which traffic, world and policies are moved by hand."""

import os
import socket
import sys
from functools import partial
from threading import Thread

import click

from experiments.cli import options
from experiments.cli.model import RADIO
from experiments.escaping import echo


@options.command(
    options.option("--trace", "Browsing instead of the Web model: a trace or workload.", options.FILE),
    options.SKIP_DAMAGED,
    options.policies(None, "Policies that are compared at first; classes of your own can be named here alone."),
    RADIO,
    options.whole("--port", "On 127.0.0.1; 0 takes a free one.", 8050, most=65_535, least=0),
    options.option("--open/--no-open browse", "Open the page in the browser.", default=True),
)
def explore(asked: options.Asked) -> None:
    """Open a page with sliders and lists: what policies cost and delay follows at once.

    The page is served to this machine only, until Ctrl-C.

    \b
    lpsm explore --policies psm,lpsm3:1.05,mine.py:Patient
    lpsm explore --trace capture.pcap --radio radio.toml
    """  # noqa: D301 - the escape is a character that click reads
    try:
        import plotly  # noqa: F401 - whose script the page loads

        from experiments.explore.app import Page
    except ImportError as error:
        raise ValueError(f"explore needs {error.name}: install lpsm with its extra, lpsm[explore]") from None
    from experiments.comparison import FEW_SESSIONS
    from experiments.explore.answer import Explorer
    from experiments.study.signals import Interrupted

    given = {name: getattr(asked, name) for name in ("policies", "radio") if getattr(asked, name) is not None}
    try:
        if asked.trace is None:
            explorer = Explorer(**given)
        else:
            told = partial(echo, err=True)
            explorer = Explorer.of_trace(asked.trace, FEW_SESSIONS, told, skip_damaged=asked.skip_damaged, **given)
        try:
            listening = socket.create_server(("127.0.0.1", asked.port))
        except OSError as error:
            raise ValueError(f"port {asked.port}: {error.strerror}; --port 0 takes a free one") from None
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        echo(f"{address}  (Ctrl-C ends it)")
        sys.stdout.flush()
        if asked.browse:
            click.launch(address)
        first = explorer.work(explorer.defaults)  # computed while the browser opens
        Thread(target=explorer.summary, args=[first], daemon=True).start()
        Page(explorer).serve(listening)
    except KeyboardInterrupt as stopped:
        ended = stopped if isinstance(stopped, Interrupted) else Interrupted()
        echo(f"lpsm: {ended}, the explorer has ended", err=True)
        os._exit(ended.status)  # threads that compute would be waited for; they write nothing
