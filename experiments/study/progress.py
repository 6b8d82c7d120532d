"""A progress bar on standard error, once work has taken two seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from experiments.study.interruptions import check

__all__ = ["compiling", "progress", "time_left_s"]

FUNCTIONS = 115  # are compiled for a comparison of the usual policies, about
PATIENCE_S = 2.0  # what takes longer shows its progress


def time_left_s(finished: int, left: int, last_s: float, now_s: float) -> float | None:
    """Return about how long the rest will take, in seconds.

    What was finished took `last_s` / `finished` each, however many ran at once; the rest is taken to go on so from the
    moment the last one finished.

    Parameters
    ----------
    finished, left
        Tasks finished since the start, those of earlier runs not counted, and tasks still to finish.
    last_s, now_s
        When the last one finished, and now; seconds since the start.

    Returns
    -------
    float or None
        At least 0; None while nothing is finished.

    >>> time_left_s(4, 6, last_s=20.0, now_s=23.0)
    27.0
    """
    if finished < 1:
        return None
    return max(0.0, left * last_s / finished - (now_s - last_s))


@contextmanager
def progress(title: str, total: int | None, *, done: int = 0) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error, once the work has taken two seconds; yield the function to advance it.

    The bar counts what is done, and shows the time that was taken and about how much is left.  To advance it raises
    `Interrupted` if a signal has asked the program to stop.
    """
    lock = threading.Lock()
    start = time.monotonic()
    state: dict[str, Any] = {"done": done, "bar": None, "last": start}

    def left() -> str:
        if total is None:
            return ""
        now = time.monotonic()
        about = time_left_s(state["done"] - done, total - state["done"], state["last"] - start, now - start)
        return "" if about is None or state["done"] >= total else f"{_clock(about)} left"

    def show() -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
        from rich.text import Text

        class Left(ProgressColumn):
            def render(self, task: Any) -> Text:
                return Text(left(), no_wrap=True)

        bar = BarColumn(bar_width=20)  # so that a line of 80 holds it all
        columns = (TextColumn("{task.description}"), bar, MofNCompleteColumn(), TimeElapsedColumn(), Left())
        with lock:
            if state["done"] < 0:
                return
            state["bar"] = Progress(*columns, console=Console(file=sys.stderr), transient=sys.stderr.isatty())
            state["task"] = state["bar"].add_task(title, total=total, completed=state["done"])
            state["bar"].start()

    def advance() -> None:
        with lock:
            state["done"] += 1
            state["last"] = time.monotonic()
            if state["bar"] is not None:
                state["bar"].update(state["task"], completed=state["done"])
        check()

    timer = threading.Timer(PATIENCE_S, show)
    timer.daemon = True
    timer.start()
    try:
        yield advance
    finally:
        timer.cancel()
        with lock:
            if state["bar"] is not None:
                state["bar"].stop()
            state["done"] = -1


@contextmanager
def compiling() -> Iterator[None]:
    """Show how far compiling is, by functions, once it has taken two seconds."""
    from numba.core import event

    class Compiled(event.Listener):
        left = iter(range(FUNCTIONS))

        def on_start(self, event: Any) -> None:
            """Wait for the end."""

        def on_end(self, event: Any) -> None:
            if next(self.left, None) is not None:
                advance()

    with (
        progress("compiling functions", FUNCTIONS) as advance,
        event.install_listener("numba:compile", Compiled()),
    ):
        yield


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
