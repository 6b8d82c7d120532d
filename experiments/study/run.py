"""Run independent tasks, in this process, in several, or on a Dask cluster, and keep each result as it arrives.

It knows nothing about what a task is: a picklable value, and a module-level function that turns it into a picklable
result.  Results of `run` come back in the order of the tasks, so that nothing downstream can depend on `jobs`.  No more
tasks are under way at a time than keep all workers busy: memory does not grow with their number in a `stream`.

Processes of this machine obey their parent alone: Ctrl-C does not reach them, and they end when it ends, however it
ends, even while compiled code runs.  A cluster is one that somebody started with Dask's own commands; its workers must
have this program installed, and the tasks of one that dies are computed again by another.
"""

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
from functools import partial
from itertools import islice
from math import inf
from multiprocessing import resource_tracker
from multiprocessing.connection import wait as wait_for_handles
from time import perf_counter
from types import ModuleType
from typing import Any, TypeVar

import cloudpickle

from experiments.presets import LOCAL
from experiments.quantities import Row
from experiments.study.progress import progress
from experiments.study.signals import put_off

T = TypeVar("T")
R = TypeVar("R")
Workers = tuple[Executor, Callable[[], int]]  # and how many tasks they compute at a time

CONNECT_S = 20.0
WORTH_S = 6.0  # to start processes takes two seconds of each
UNDER_WAY = 2  # tasks for each processor: one computed, one waiting beside it
_PR_SET_PDEATHSIG = 1  # Linux: the kernel's signal to a process whose parent ends
# Handed to the process in which Python keeps account of semaphores: it removes those of a program that was killed, and
# need not say so.
_NO_COMPLAINT = "ignore:resource_tracker:UserWarning"


def run(
    function: Callable[[T], R], tasks: Mapping[str, T], *, jobs: int | None, finished: Row | None = None,
    keep: Callable[[str, R], None] = lambda _key, _result: None, title: str = "runs",
) -> dict[str, R]:  # fmt: skip
    """Compute `function(task)` for every task whose key is not in `finished`, and return all results by their keys.

    The others are as for `stream`.
    """
    results = {key: value for key, value in (finished or {}).items() if key in tasks}
    waiting = [key for key in tasks if key not in results]

    def accept(key: str, result: R) -> None:
        keep(key, result)
        results[key] = result

    taken = ((key, tasks[key]) for key in waiting)
    stream(function, taken, len(tasks), done=len(results), keep=accept, jobs=jobs, title=title)
    return {key: results[key] for key in tasks}


def stream(
    function: Callable[[T], R], tasks: Iterable[tuple[str, T]], total: int, *, done: int = 0,
    keep: Callable[[str, R], None], jobs: int | None, scheduler: str = LOCAL, title: str = "tasks",
) -> None:  # fmt: skip
    """Compute `function(task)` for keyed tasks, which are taken as workers become free, and hand on each result.

    `function` stands at the top level of a module, so that other processes find it.  `jobs` processes of this machine
    compute (1: this one; None: this one, and one for each processor once what is left would take it longer than
    `WORTH_S`), or the cluster whose address `scheduler` is.  `keep` is called here with key and result as soon as a
    task is finished, in any order.  The progress bar counts `title`: `done` of the `total` are finished already, and
    `tasks` are the others.

    On Ctrl-C it ends after every finished result was kept; what a task raises is raised here.  A cluster that cannot be
    reached, or has no worker, and workers that die beyond repair are an `OSError`.
    """
    cluster = is_cluster(scheduler)
    waiting, left, finished = iter(tasks), total - done, 0
    measures = jobs is None and not cluster
    jobs = min(processes(jobs), max(1, left))
    with progress(title, total, done=done) as advance:

        def accept(key: str, result: R) -> None:
            nonlocal finished
            keep(key, result)
            finished += 1
            advance()

        try:
            begun = perf_counter()
            while finished < left and (
                (measures and (left - finished) * (perf_counter() - begun) <= WORTH_S * (finished or inf))
                or (jobs == 1 and not cluster)
            ):
                key, task = next(waiting)
                accept(key, function(task))
            if finished < left:
                with _cluster(scheduler) if cluster else _processes(jobs) as (executor, width):
                    submit: Any = executor.submit if cluster else partial(_submit, executor)  # Dask pickles itself
                    running: dict[Future[R], str] = {}
                    while finished < left:
                        for key, task in islice(waiting, max(0, UNDER_WAY * max(1, width()) - len(running))):
                            running[submit(function, task)] = key
                        ready = wait(running, return_when=FIRST_COMPLETED).done
                        for future in sorted(ready, key=lambda one: one.exception() is not None):
                            accept(running.pop(future), future.result())
                        del ready, future
        except KeyboardInterrupt as stopped:
            stopped.add_note(f", {done + finished} of {total} {title} were finished")
            raise


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
def _processes(jobs: int) -> Iterator[Workers]:
    """Start processes, which end with the block; if anything ends it early, at once."""
    if _NO_COMPLAINT not in sys.warnoptions:
        sys.warnoptions.append(_NO_COMPLAINT)
    others = set(multiprocessing.active_children())
    spawn = multiprocessing.get_context("spawn")
    with put_off():  # which unblocks Ctrl-C, and must not hear of a hang-up either
        resource_tracker.ensure_running()
    executor = ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_end_with_the_parent)
    try:
        with put_off(), _apart_from_main():  # a worker that starts while its parent ends would complain
            for _ in range(jobs):
                executor.submit(int)
        yield executor, lambda: jobs
    except BaseException as error:
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        if isinstance(error, BrokenExecutor):
            raise OSError(f"a worker process died, the others are gone too ({type(error).__name__})") from None
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _apart_from_main() -> Iterator[None]:
    """Start processes that do not run the caller's script, which may be without a guard, or a notebook."""
    main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _submit(executor: Executor, function: Callable[[T], R], task: T) -> Future[R]:
    """Hand a task to a process by value: classes of the caller's script or notebook go with it."""
    return executor.submit(_call, cloudpickle.dumps(partial(function, task)))


def _call(pickled: bytes) -> Any:
    return cloudpickle.loads(pickled)()


def _end_with_the_parent() -> None:
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
        client.wait_for_workers(1, timeout=CONNECT_S)
    except OSError as error:
        raise OSError(f"no Dask scheduler with a worker answers at {address} ({type(error).__name__})") from None
    try:
        yield client.get_executor(pure=False), lambda: sum(client.ncores().values())
    except distributed.KilledWorker as error:
        raise OSError(f"a task was given up after several workers died computing it: {error}") from None
    except (distributed.comm.CommClosedError, CancelledError) as error:
        raise OSError(f"the Dask scheduler at {address} is gone ({type(error).__name__})") from None
    finally:
        with suppress(OSError):
            client.close()
