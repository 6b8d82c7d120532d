"""Run independent tasks, over processes or in this one, and keep each result as it arrives.

It knows nothing about what a task is: a picklable value, and a module-level function
that turns it into a picklable result.  Results come back in the order of the tasks, however many
processes computed them, so that nothing downstream can depend on `jobs`.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any, TypeVar

__all__ = ["Interrupted", "default_jobs", "progress", "run", "time_left_s"]

T = TypeVar("T")
R = TypeVar("R")

PATIENCE_S = 2.0  # what takes longer shows its progress


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, after putting in order what was finished; the message says what is kept."""


def default_jobs() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(
    function: Callable[[T], R],
    tasks: Mapping[str, T],
    *,
    jobs: int,
    finished: Mapping[str, R] | None = None,
    keep: Callable[[str, R], None] | None = None,
    title: str = "runs",
) -> dict[str, R]:
    """Compute `function(task)` for every task not already finished.

    Parameters
    ----------
    function : callable
        At the top level of a module, so that other processes find it.
    tasks : mapping
        Key to task.
    jobs : int
        Processes; 1 computes in this one.
    finished : mapping, optional
        Key to result, of tasks that need not be computed again.
    keep : callable, optional
        Called with key and result as soon as a task is finished.
    title : str
        What the progress bar counts.

    Returns
    -------
    dict
        Key to result, in the order of `tasks`.

    Raises
    ------
    Interrupted
        On Ctrl-C, after every finished result was kept.
    """
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    results = {key: value for key, value in (finished or {}).items() if key in tasks}
    waiting = {key: task for key, task in tasks.items() if key not in results}

    def accept(key: str, result: R) -> None:
        if key not in results:
            if keep is not None:
                keep(key, result)
            results[key] = result

    with progress(title, len(tasks), done=len(results)) as advance:
        try:
            if jobs == 1 or len(waiting) <= 1:
                for key, task in waiting.items():
                    accept(key, function(task))
                    advance()
            else:
                _run_processes(function, waiting, min(jobs, len(waiting)), accept, advance)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted, {len(results)} of {len(tasks)} {title} were finished") from None
        except BrokenExecutor:
            raise OSError(f"a worker process died; {len(results)} of {len(tasks)} {title} were finished") from None
    return {key: results[key] for key in tasks}


def _run_processes(
    function: Callable[[T], R],
    tasks: Mapping[str, T],
    jobs: int,
    accept: Callable[[str, R], None],
    advance: Callable[[], None],
) -> None:
    executor = ProcessPoolExecutor(
        jobs, mp_context=multiprocessing.get_context("spawn"), initializer=signal.signal, initargs=_QUIET_DEATH
    )
    futures: dict[Future[R], str] = {}
    try:
        with _interrupts_ignored():  # inherited by the workers, which are started here
            for key, task in tasks.items():
                futures[executor.submit(function, task)] = key
        for future in as_completed(futures):
            accept(futures[future], future.result())
            advance()
    except BaseException:
        executor.shutdown(wait=True, cancel_futures=True)
        for future, key in futures.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                accept(key, future.result())
        raise
    executor.shutdown()


_QUIET_DEATH = (signal.SIGINT, signal.SIG_DFL)  # a worker interrupted by Ctrl-C ends without a traceback


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


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

    The bar counts what is done, and shows the time that was taken and about how much is left.
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


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
