"""Run independent tasks, over processes or in this one, and keep each result as it arrives.

It knows nothing about what a task is: a picklable value, and a module-level function
that turns it into a picklable result.  Results come back in the order of the tasks, however many
processes computed them, so that nothing downstream can depend on `jobs`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from experiments.study.executor import checked_jobs, stream, workers
from experiments.study.interruptions import Interrupted
from experiments.study.progress import progress

__all__ = ["Interrupted", "checked_jobs", "progress", "run"]

T = TypeVar("T")
R = TypeVar("R")


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
    results = {key: value for key, value in (finished or {}).items() if key in tasks}
    waiting = {key: task for key, task in tasks.items() if key not in results}
    jobs = min(checked_jobs(jobs), max(1, len(waiting)))
    with progress(title, len(tasks), done=len(results)) as advance:

        def accept(key: str, result: R) -> None:
            if keep is not None:
                keep(key, result)
            results[key] = result
            advance()

        try:
            with workers("processes", jobs) as pool:
                stream(function, waiting.items(), pool, accept)
        except KeyboardInterrupt as interruption:
            raise Interrupted.saying(f", {len(results)} of {len(tasks)} {title} were finished", interruption) from None
    return {key: results[key] for key in tasks}
