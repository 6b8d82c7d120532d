"""Run independent tasks, over processes or in this one, and keep each result as it arrives.

It knows nothing about what a task is: a picklable value, and a module-level function that turns it into a picklable
result.  Results come back in the order of the tasks, so that nothing downstream can depend on `jobs`.  Work that takes
more than two seconds shows a progress bar on standard error.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from experiments.presets import LOCAL
from experiments.study.interruptions import Interrupted, check

__all__ = ["Interrupted", "compiling", "progress", "run", "time_left_s"]

T = TypeVar("T")
R = TypeVar("R")

FUNCTIONS = 115  # are compiled for a comparison of the usual policies, about
PATIENCE_S = 2.0  # what takes longer shows its progress


def run(
    function: Callable[[T], R], tasks: Mapping[str, T], *, jobs: int | None, scheduler: str = LOCAL,
    finished: Mapping[str, Any] | None = None, keep: Callable[[str, R], None] | None = None, title: str = "runs",
) -> dict[str, R]:  # fmt: skip
    """Compute `function(task)` for every task whose key is not in `finished`, and return all results by their keys.

    `function` stands at the top level of a module, so that other processes find it.  A task is taken from the mapping
    when it is computed, and may then be made.  `jobs` processes of this machine compute (1: this one, None: one for
    each processor), or the cluster whose address `scheduler` is.  `keep` is called with key and result as soon as a
    task is finished; what it adds to `finished` stands for the result.  The progress bar counts `title`.

    On Ctrl-C it is an `Interrupted`, after every finished result was kept.
    """
    from experiments.study.executor import checked_jobs, stream, workers

    known = finished or {}
    results = {key: value for key, value in known.items() if key in tasks}
    waiting = [key for key in tasks if key not in results]
    jobs = min(checked_jobs(jobs), max(1, len(waiting)))
    with progress(title, len(tasks), done=len(results)) as advance:

        def accept(key: str, result: R) -> None:
            if keep is not None:
                keep(key, result)
            results[key] = known.get(key, result)
            advance()

        try:
            with workers(scheduler, jobs) as pool:
                stream(function, ((key, tasks[key]) for key in waiting), pool, accept)
        except KeyboardInterrupt as interruption:
            raise Interrupted.saying(f", {len(results)} of {len(tasks)} {title} were finished", interruption) from None
    return {key: results[key] for key in tasks}


def time_left_s(finished: int, left: int, last_s: float, now_s: float) -> float | None:
    """Return about how long `left` tasks will take, seconds, if `finished` took until `last_s`; None while none is.

    >>> time_left_s(4, 6, last_s=20.0, now_s=23.0)
    27.0
    """
    return max(0.0, left * last_s / finished - (now_s - last_s)) if finished else None


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
        if total is None or state["done"] >= total:
            return ""
        now = time.monotonic()
        about = time_left_s(state["done"] - done, total - state["done"], state["last"] - start, now - start)
        return "" if about is None else f"{_clock(about)} left"

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

    with progress("compiling functions", FUNCTIONS) as advance, event.install_listener("numba:compile", Compiled()):
        yield


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
