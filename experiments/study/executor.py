"""Where tasks run: in this process, in processes of this machine, or on a Dask cluster.

A stream of tasks goes through an executor, of which no more are under way at a time than keep all workers
busy: memory does not grow with their number.  Results are handed on as they come, in any order.

Processes of this machine obey their parent alone: Ctrl-C does not reach them, and they end when it ends, however it
ends, even while compiled code runs.  A cluster is one that somebody started with Dask's own commands; its workers must
have this program installed.  A worker of a cluster that dies has its tasks computed again by another.
What it leaves out: starting the workers of a cluster, and moving data other than in tasks and results.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from concurrent.futures.process import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait as wait_for_handles
from typing import Any, NamedTuple, TypeVar

from experiments.presets import LOCAL, MOST_JOBS
from experiments.study.interruptions import SIGNALS

__all__ = ["LOCAL", "MOST_JOBS", "Workers", "checked_jobs", "is_cluster", "stream", "workers"]

T = TypeVar("T")
R = TypeVar("R")

CONNECT_S = 20.0
UNDER_WAY = 2  # tasks for each processor: one computed, one waiting beside it
_PR_SET_PDEATHSIG = 1  # Linux: the kernel's signal to a process whose parent ends


class Workers(NamedTuple):
    """An executor (None: this process), how many tasks it computes at a time, which may change, and how it is lost."""

    executor: Executor | None
    width: Callable[[], int]
    lost: str = "a worker process died, the others are gone too"


def checked_jobs(jobs: int | None) -> int:
    """Return how many processes are wanted, 1 to `MOST_JOBS`: as many as there are processors if None."""
    if jobs is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    if jobs > MOST_JOBS:
        raise ValueError(f"jobs must be at most {MOST_JOBS}, got {jobs}")
    return jobs


def is_cluster(scheduler: str) -> bool:
    """Tell the address of a cluster's scheduler from a way to run here.

    >>> is_cluster("tcp://127.0.0.1:8786"), is_cluster("processes")
    (True, False)
    """
    if scheduler == LOCAL:
        return False
    if scheduler.startswith(("tcp://", "tls://")):
        return True
    raise ValueError(f"scheduler must be processes or an address tcp://HOST:PORT, got {scheduler!r}")


@contextmanager
def workers(scheduler: str, jobs: int) -> Iterator[Workers]:
    """Make an executor for the block: `jobs` processes of this machine (1: this one), or a Dask scheduler's workers.

    At the end of the block, tasks that have not begun are dropped; if anything ends it early, processes that are
    computing a task are ended too.  A cluster that cannot be reached, or has no worker, is an `OSError`.
    """
    if is_cluster(scheduler):
        with _cluster(scheduler) as pool:
            yield pool
    elif checked_jobs(jobs) == 1:
        yield Workers(None, lambda: 1)
    else:
        with _processes(jobs) as executor:
            yield Workers(executor, lambda: jobs)


def stream(
    function: Callable[[T], R], tasks: Iterable[tuple[str, T]], pool: Workers, accept: Callable[[str, R], None]
) -> None:
    """Compute `function(task)` for all tasks and hand each result to `accept` with its key, here, as it comes.

    If anything ends it early, results that are there already are handed on first.  What a task raises is raised here;
    workers that die beyond repair are an `OSError`.
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
    except BaseException as error:
        for future, key in running.items():
            if not future.cancel() and future.done() and future.exception() is None:
                with contextlib.suppress(KeyboardInterrupt):  # it says again that we are to stop
                    accept(key, future.result())
        if isinstance(error, (BrokenExecutor, CancelledError)):
            raise OSError(f"{pool.lost} ({type(error).__name__})") from None
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
    except BaseException:
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


# Handed to the process in which Python keeps account of semaphores: it removes those of a program that was killed, and
# need not say so.
_NO_COMPLAINT = "ignore:resource_tracker:UserWarning"


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put off signals to stop until the end of the block; the processes it starts never hear of Ctrl-C or SIGHUP."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {number: found for number in SIGNALS if callable(found := signal.getsignal(number))}
    mask = getattr(signal, "pthread_sigmask", lambda *_: ())
    unheard = [number for number in SIGNALS if number != signal.SIGTERM]
    try:
        for number in handlers:
            signal.signal(number, lambda got, _frame: came.append(got))
        mask(signal.SIG_BLOCK, unheard)  # which processes inherit
        yield
    finally:
        mask(signal.SIG_UNBLOCK, unheard)
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
        with contextlib.suppress(OSError, AttributeError):
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
    lost = f"the Dask scheduler at {address} is gone"
    try:
        try:
            client.wait_for_workers(1, timeout=CONNECT_S)
        except TimeoutError:
            raise OSError(f"the Dask scheduler at {address} has no worker") from None
        yield Workers(client.get_executor(pure=False), lambda: sum(client.ncores().values()), lost)
    except distributed.KilledWorker as error:
        raise OSError(f"a task was given up after several workers died computing it: {error}") from None
    except distributed.comm.CommClosedError as error:
        raise OSError(f"{lost} ({type(error).__name__})") from None
    finally:
        with contextlib.suppress(OSError, TimeoutError):
            client.close()
