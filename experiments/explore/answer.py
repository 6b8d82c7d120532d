"""The answer to a position of the controls: what `lpsm compare` would find.

The traffic is what `lpsm compare` would run (seeds of the Web model, the sessions of a trace, or the pages of few
sessions, each visited several times), and so is the summary.  Runs are made on two threads (the compiled kernels let
others run), and each is kept: moving one control runs only what it changes.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Self

import pandas as pd

import netsim
import traces
from experiments.explore.settings import Settings
from experiments.study import sweep, traffic
from experiments.study.compare import compare


class Explorer:
    """Answers, and remembers.

    `sessions` is recorded traffic in place of the Web model; fewer than `few` of them are cut into their pages.
    """

    def __init__(self, sessions: Sequence[sweep.Replication] = (), few: int = 1) -> None:
        self.sessions, self.few = list(sessions), few
        self.tells_waits = traffic.tells_waits(self.sessions)
        self._threads, self._lock = ThreadPoolExecutor(2), Lock()
        self._run, self._drawn = lru_cache(4096)(sweep.simulate), lru_cache(64)(_drawn)

    @classmethod
    def of_trace(
        cls, path: Path, few: int, told: Callable[[str], None] = lambda _: None, *, skip_damaged: bool = False
    ) -> Self:
        """Return the explorer of a trace, or of a workload, which is browsed as it is; `told` hears what was read."""
        sessions = traffic.recorded([path], told=told, skip_damaged=skip_damaged)
        return cls(sessions, 1 if traces.detect(path) == "workload" else few)

    def answer(self, settings: Settings, is_gone: Callable[[], bool] = lambda: False) -> pd.DataFrame:
        """Return the summary of the comparison (`study.compare.Comparison`).

        Before each run it asks whether whoever wants to know `is_gone`; that is a `ConnectionAbortedError`.
        """

        def play(task: sweep.Task) -> Any:
            if is_gone():
                raise ConnectionAbortedError
            return self._run(task)

        config, interval_ns = settings.config, settings.beacon_interval_ns
        policies = list(sweep.named(settings.policies, interval_ns))
        with self._lock:  # an engine that is not compiled is passed over by short runs, which are then slow for ever
            sweep.compile_express(policies, config)
        units: list[Any] = self._drawn(settings.pages, settings.seeds)
        if self.sessions:
            units = traffic.units(self.sessions, few=self.few, seed=0, beacon_interval_ns=interval_ns).workloads
        if settings.server != "recorded":
            units = [replace(one, round_trip_s=None) for one in units]
        tasks = sweep.tasks(units, policies, config)
        frames = sweep.frames(dict(zip(tasks, self._threads.map(play, tasks.values()), strict=True)))
        psm = netsim.canonical("psm", beacon_interval_ns=interval_ns)
        return compare(frames, policies, config.radio, psm=psm).summary


def _drawn(pages: int, seeds: int) -> list[sweep.Recorded]:
    """Return the seeds of the Web model with their pages, which are then drawn once."""
    drawn = traffic.generated(pages, 0, seeds)
    return [sweep.Recorded(name=one.name, seed=one.seed, recorded=traces.Workload.of(one.pages())) for one in drawn]
