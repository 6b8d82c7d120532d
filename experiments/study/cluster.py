"""Where tasks run: in this process, in threads or processes of this machine, or on a Dask cluster.

A stream of tasks goes through an executor, of which no more are under way at a time than keep all workers
busy: memory does not grow with their number.  Results are handed on as they come, in any order.

A cluster is one that somebody started with Dask's own commands; its workers must have this program installed.
A worker that dies has its tasks computed again by another.  What it leaves out: starting workers, and moving
data other than in tasks and results.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from multiprocessing.connection import wait as wait_for_handles
from typing import Any, NamedTuple, TypeVar

from experiments.study.run import _interrupts_ignored

__all__ = ["LOCAL", "Workers", "is_cluster", "stream", "workers"]

T = TypeVar("T")
R = TypeVar("R")

LOCAL = ("processes", "threads")
CONNECT_S = 20.0
UNDER_WAY = 2  # tasks for each processor: one computed, one waiting beside it


class Workers(NamedTuple):
    """An executor (None: this process) and how many tasks it computes at a time, which may change."""

    executor: Executor | None
    width: Callable[[], int]


def is_cluster(scheduler: str) -> bool:
    """Tell the address of a cluster's scheduler from a way to run here.

    >>> is_cluster("tcp://127.0.0.1:8786"), is_cluster("threads")
    (True, False)

    Raises
    ------
    ValueError
        If it is neither.
    """
    if scheduler in LOCAL:
        return False
    if scheduler.startswith(("tcp://", "tls://")):
        return True
    raise ValueError(f"scheduler must be processes, threads or an address tcp://HOST:PORT, got {scheduler!r}")


@contextmanager
def workers(scheduler: str, jobs: int) -> Iterator[Workers]:
    """Make an executor for the block; at its end, tasks that have not begun are dropped.

    Parameters
    ----------
    scheduler : str
        "processes", "threads", or the address of a Dask scheduler.
    jobs : int
        How many, for the first two; 1 computes in this process.

    Raises
    ------
    OSError
        If the cluster cannot be reached, or has no worker.
    """
    if is_cluster(scheduler):
        with _cluster(scheduler) as pool:
            yield pool
        return
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    if jobs == 1:
        yield Workers(None, lambda: 1)
        return
    executor: Executor
    if scheduler == "threads":
        executor = ThreadPoolExecutor(jobs)
    else:
        executor = ProcessPoolExecutor(
            jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_obey_only_the_parent
        )
        with _interrupts_ignored():  # inherited by the workers, which start here
            executor.submit(int)
    try:
        yield Workers(executor, lambda: jobs)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def stream(
    function: Callable[[T], R], tasks: Iterable[tuple[str, T]], pool: Workers, accept: Callable[[str, R], None]
) -> None:
    """Compute `function(task)` for all tasks and hand each result to `accept` with its key, here, as it comes.

    Raises
    ------
    OSError
        If workers die beyond repair.
    Exception
        What a task raised.
    """
    if pool.executor is None:
        for key, task in tasks:
            accept(key, function(task))
        return
    running: dict[Future[R], str] = {}

    def collect() -> None:
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            accept(running[future], future.result())
            del running[future]

    try:
        for key, task in tasks:
            running[pool.executor.submit(function, task)] = key
            while len(running) >= UNDER_WAY * max(1, pool.width()):
                collect()
        while running:
            collect()
    except (BrokenExecutor, CancelledError) as error:
        raise OSError(f"the workers are gone ({type(error).__name__})") from None
    finally:
        for future in running:
            future.cancel()


def _obey_only_the_parent() -> None:
    """Let the parent decide on Ctrl-C, and end when it is gone, even if it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait_for_handles([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _cluster(address: str) -> Iterator[Workers]:
    try:
        distributed: Any = importlib.import_module("distributed")  # an extra, without types
    except ImportError:
        raise ValueError(f"scheduler {address} needs Dask: install lpsm with its extra, lpsm[cluster]") from None
    try:
        client = distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise OSError(f"no Dask scheduler answers at {address} ({type(error).__name__})") from None
    try:
        try:
            client.wait_for_workers(1, timeout=CONNECT_S)
        except TimeoutError:
            raise OSError(f"the Dask scheduler at {address} has no worker") from None
        yield Workers(client.get_executor(pure=False), lambda: sum(client.ncores().values()))
    except distributed.KilledWorker as error:
        raise OSError(f"a task was given up after several workers died computing it: {error}") from None
    finally:
        with contextlib.suppress(OSError, TimeoutError):
            client.close()
