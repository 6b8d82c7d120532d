"""Run independent tasks, in this process, in several, or on a Dask cluster, and keep each result as it arrives.

It knows nothing about what a task is: a picklable value, and a module-level function that turns it into a picklable
result.  Results come back in the order of the tasks, so that nothing downstream can depend on `jobs`.  No more tasks
are under way at a time than keep all workers busy.

Processes of this machine obey their parent alone: Ctrl-C does not reach them, and they end when it ends, however it
ends, even while compiled code runs.  A cluster is one that somebody started with Dask's own commands; its workers must
have this program installed, and the tasks of one that dies are computed again by another.
"""

from __future__ import annotations

import ctypes
import importlib
import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from concurrent.futures.process import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait as wait_for_handles
from typing import Any, TypeVar

from experiments.presets import LOCAL
from experiments.study.interruptions import SIGNALS, Interrupted
from experiments.study.progress import progress

__all__ = ["is_cluster", "processes", "run", "stream", "workers"]

T = TypeVar("T")
R = TypeVar("R")
Workers = tuple[Executor | None, Callable[[], int]]

CONNECT_S = 20.0
UNDER_WAY = 2  # tasks for each processor: one computed, one waiting beside it
_PR_SET_PDEATHSIG = 1  # Linux: the kernel's signal to a process whose parent ends
# Handed to the process in which Python keeps account of semaphores: it removes those of a program that was killed, and
# need not say so.
_NO_COMPLAINT = "ignore:resource_tracker:UserWarning"


def run(
    function: Callable[[T], R], tasks: Mapping[str, T], *, jobs: int | None, scheduler: str = LOCAL,
    finished: Mapping[str, Any] | None = None, keep: Callable[[str, R], None] | None = None, title: str = "runs",
) -> dict[str, R]:  # fmt: skip
    """Compute `function(task)` for every task whose key is not in `finished`, and return all results by their keys.

    `function` stands at the top level of a module, so that other processes find it.  A task is taken from the mapping
    when it is computed, and may then be made.  `jobs` processes of this machine compute (1: this one, None: one for
    each processor), or the cluster whose address `scheduler` is.  `keep` is called with key and result as soon as a
    task is finished.  The progress bar counts `title`.

    On Ctrl-C it is an `Interrupted`, after every finished result was kept.
    """
    results = {key: value for key, value in (finished or {}).items() if key in tasks}
    waiting = [key for key in tasks if key not in results]
    with progress(title, len(tasks), done=len(results)) as advance:

        def accept(key: str, result: R) -> None:
            if keep is not None:
                keep(key, result)
            results[key] = result
            advance()

        try:
            with workers(scheduler, min(processes(jobs), max(1, len(waiting)))) as pool:
                stream(function, ((key, tasks[key]) for key in waiting), pool, accept)
        except KeyboardInterrupt as interruption:
            raise Interrupted.saying(f", {len(results)} of {len(tasks)} {title} were finished", interruption) from None
    return {key: results[key] for key in tasks}


def processes(jobs: int | None) -> int:
    """Return how many processes are wanted: as many as there are processors if `jobs` is None."""
    if jobs is not None:
        return jobs
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def is_cluster(scheduler: str) -> bool:
    """Tell the address of a cluster's scheduler from a way to run here.

    >>> is_cluster("tcp://127.0.0.1:8786"), is_cluster("processes")
    (True, False)
    """
    if scheduler != LOCAL and not scheduler.startswith(("tcp://", "tls://")):
        raise ValueError(f"scheduler must be processes or an address tcp://HOST:PORT, got {scheduler!r}")
    return scheduler != LOCAL


@contextmanager
def workers(scheduler: str, jobs: int) -> Iterator[Workers]:
    """Make an executor (None: this process) for the block, and what tells how many tasks it computes at a time.

    It is `jobs` processes of this machine (1: this one), or a Dask scheduler's workers.  At the end of the block, tasks
    that have not begun are dropped; if anything ends it early, processes that are computing a task are ended too.  A
    cluster that cannot be reached, or has no worker, and workers that die beyond repair are an `OSError`.
    """
    if is_cluster(scheduler):
        with _cluster(scheduler) as pool:
            yield pool
    elif jobs == 1:
        yield None, lambda: 1
    else:
        with _processes(jobs) as executor:
            yield executor, lambda: jobs


def stream(
    function: Callable[[T], R], tasks: Iterable[tuple[str, T]], pool: Workers, accept: Callable[[str, R], None]
) -> None:
    """Compute `function(task)` for all tasks and hand each result to `accept` with its key, here, as it comes.

    If anything ends it early, results that are there already are handed on first.  What a task raises is raised here.
    """
    executor, width = pool
    if executor is None:
        for key, task in tasks:
            accept(key, function(task))
        return
    running: dict[Future[R], str] = {}

    def collect() -> None:
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            accept(running[future], future.result())
            del running[future]

    try:
        for key, task in tasks:
            running[executor.submit(function, task)] = key
            while len(running) >= UNDER_WAY * max(1, width()):
                collect()
        while running:
            collect()
    except BaseException:
        for future, key in running.items():
            if not future.cancel() and future.done() and future.exception() is None:
                with suppress(KeyboardInterrupt):  # it says again that we are to stop
                    accept(key, future.result())
        raise


@contextmanager
def _processes(jobs: int) -> Iterator[Executor]:
    if _NO_COMPLAINT not in sys.warnoptions:
        sys.warnoptions.append(_NO_COMPLAINT)
    others = set(multiprocessing.active_children())
    spawn = multiprocessing.get_context("spawn")
    with _undisturbed():  # it starts the tracker of semaphores
        executor = ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_obey_only_the_parent)
    try:
        with _undisturbed():  # a worker that starts while its parent ends would complain
            for _ in range(jobs):
                executor.submit(int)
        yield executor
    except BaseException as error:
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        if isinstance(error, BrokenExecutor):
            raise OSError(f"a worker process died, the others are gone too ({type(error).__name__})") from None
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put off signals to stop until the end of the block; the processes it starts never hear of Ctrl-C or SIGHUP."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {number: found for number in SIGNALS if callable(found := signal.getsignal(number))}
    unheard = (signal.SIGINT, signal.SIGHUP)
    try:
        for number in handlers:
            signal.signal(number, lambda got, _frame: came.append(got))
        signal.pthread_sigmask(signal.SIG_BLOCK, unheard)  # which processes inherit
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, unheard)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def _obey_only_the_parent() -> None:
    """Let the parent decide on Ctrl-C, and end when it is gone, even if it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait_for_handles([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    if sys.platform == "linux":  # at once, whatever the interpreter is doing
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@contextmanager
def _cluster(address: str) -> Iterator[Workers]:
    try:
        distributed: Any = importlib.import_module("distributed")  # an extra, without types
    except ImportError:
        raise ValueError(f"scheduler {address} needs Dask: install lpsm with its extra, lpsm[cluster]") from None
    for name in ("distributed", "distributed.client", "tornado.application", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # what goes wrong is said once, by whoever is told of it
    try:
        client = distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise OSError(f"no Dask scheduler answers at {address} ({type(error).__name__})") from None
    try:
        try:
            client.wait_for_workers(1, timeout=CONNECT_S)
        except TimeoutError:
            raise OSError(f"the Dask scheduler at {address} has no worker") from None
        yield client.get_executor(pure=False), lambda: sum(client.ncores().values())
    except distributed.KilledWorker as error:
        raise OSError(f"a task was given up after several workers died computing it: {error}") from None
    except (distributed.comm.CommClosedError, CancelledError) as error:
        raise OSError(f"the Dask scheduler at {address} is gone ({type(error).__name__})") from None
    finally:
        with suppress(OSError, TimeoutError):
            client.close()
