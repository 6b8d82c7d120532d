"""How far a command is: a bar on standard error for work that takes more than two seconds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from experiments.study.interruptions import check

__all__ = ["progress"]

PATIENCE_S = 2.0  # what takes longer shows its progress


@contextmanager
def progress(title: str, total: int | None, *, done: int = 0) -> Iterator[Callable[[], None]]:
    """Show a progress bar, once the work has taken two seconds; yield the function to advance it.

    The bar counts what is done, and shows the time that was taken and about how much is left.  To advance it raises
    `Interrupted` if a signal has asked the program to stop.
    """
    finished, shown = done, list[Any]()

    def show() -> None:
        from rich import progress as bars
        from rich.console import Console

        columns = bars.BarColumn(bar_width=20), bars.MofNCompleteColumn(), bars.TimeElapsedColumn()
        bar = bars.Progress(
            "{task.description}", *columns, bars.TimeRemainingColumn(), "left", console=Console(file=sys.stderr),
            transient=sys.stderr.isatty(), speed_estimate_period=3600.0,
        )  # fmt: skip
        bar.add_task(title, total=total, completed=finished)
        bar.start()
        shown.append(bar)

    def advance() -> None:
        nonlocal finished
        finished += 1
        for bar in shown:
            bar.update(bar.task_ids[0], completed=finished)
        check()

    timer = threading.Timer(PATIENCE_S, show)
    timer.daemon = True
    timer.start()
    try:
        yield advance
    finally:
        timer.cancel()
        timer.join()
        for bar in shown:
            bar.stop()
