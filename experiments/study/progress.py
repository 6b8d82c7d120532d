"""How far a command is: a line on standard error for work that takes more than two seconds."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

import click

from experiments.study.signals import check

PATIENCE_S = 2.0  # what takes longer shows its progress


@contextmanager
def progress(title: str, total: int | None, *, done: int = 0) -> Iterator[Callable[[], None]]:
    """Tell, once the work has taken two seconds, what is done, in which time, and about how much time is left.

    The line is written anew from time to time, the less often the longer it takes.  To call the function that is
    yielded advances by one; it raises `Interrupted` if a signal has asked the program to stop.
    """
    began, ended, finished, shown = monotonic(), threading.Event(), done, False

    def show() -> None:
        nonlocal shown
        while not ended.wait(max(PATIENCE_S, (monotonic() - began) / 20)):
            taken_s, shown = monotonic() - began, True
            left_s = taken_s * (total - finished) / (finished - done) if total and finished > done else None
            left = "" if left_s is None else f", about {left_s:.0f} s left"
            click.echo(f"\r{title}: {finished} of {total or '?'}, {taken_s:.0f} s{left}  ", err=True, nl=False)

    def advance() -> None:
        nonlocal finished
        finished += 1
        check()

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield advance
    finally:
        ended.set()
        thread.join()
        if shown:
            click.echo(err=True)
