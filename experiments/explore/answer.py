"""The answer to a position of the controls: energies and slowdowns of all policies, and the timeline of a page.

Runs go to the compiled engine where it covers them, on a few threads (its kernels let others run), and each is kept:
moving one control runs only what it changes.  Learned policies take most of the time, so an answer can be had before
they are done, without them.  What a policy needs compiled is compiled when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import netsim
import traces
from experiments.explore.settings import Settings
from experiments.figures.style import look
from experiments.quantities import BASELINE, LIMIT, PAGE_AWAKE, energy_parts
from experiments.study.compare import estimate
from experiments.study.sweep import compile_express
from experiments.timeline import Timeline, record, timeline, window_of_page
from lpsm.randomness import WORKLOAD, generator

__all__ = ["Answer", "Explorer"]

TIMELINES = 4  # policies whose page is shown frame by frame
_KEPT = 4096


class Answer(NamedTuple):
    """What the page shows: a row a policy, the reference energies [J a page], and timelines of a page.

    `pending` names the policies that are not among the rows yet; timelines are None while they are not drawn yet.
    """

    rows: pd.DataFrame
    references: dict[str, float]
    timelines: list[Timeline] | None
    pending: list[str]


class _Totals(NamedTuple):
    """What is kept of a run: energies a page (awake, sleep, listen, wakeup, total), latencies, and what limits need."""

    energies_j: tuple[float, ...]
    latency_s: NDArray[np.float64]
    elapsed_s: float
    air_s: float


class Explorer:
    """Answers, and remembers.

    Parameters
    ----------
    sessions : sequence of Workload
        Recorded traffic in place of the Web model, a replication each; empty: the model.
    """

    def __init__(self, sessions: Sequence[traces.Workload] = ()) -> None:
        self.sessions = tuple(sessions)
        self._threads = ThreadPoolExecutor(2)
        self._lock = Lock()
        self._compiled: set[str] = set()
        self._run = lru_cache(_KEPT)(lambda *key: self._threads.submit(self._simulated, *key))
        self._work = lru_cache(64)(self._generated)
        self._timelines = lru_cache(256)(lambda *key: self._threads.submit(self._recorded, *key))

    def warm_up(self) -> None:
        """Compile what the first answers need."""
        self.answer(Settings(pages=2, seeds=1))

    def answer(self, settings: Settings, *, within_s: float | None = None) -> Answer:
        """Return the answer to these settings, or after so many seconds what there is of it."""
        config = settings.config
        interval_ns = config.beacon_interval_ns
        saving = [netsim.canonical(policy, beacon_interval_ns=interval_ns) for policy in settings.policies]
        names = list(dict.fromkeys([BASELINE, *saving]))
        with self._lock:  # an engine that is not compiled is passed over by short runs, which are then slow for ever
            compile_express(tuple(name for name in names if name not in self._compiled), config)
            self._compiled.update(names)
        seeds = range(min(settings.seeds, len(self.sessions)) if self.sessions else settings.seeds)
        learned_first = sorted(names[2:], key=lambda name: not look(name).strong)
        chosen = tuple([*names[1:2], *learned_first][:TIMELINES])
        quick_first = sorted(names, key=lambda name: look(name).strong)
        asked = {name: [self._run(settings.pages, seed, name, config) for seed in seeds] for name in quick_first}
        timelines = self._timelines(settings.pages, settings.page, chosen, config)
        started: list[Future[Any]] = [timelines, *(run for runs in asked.values() for run in runs)]
        wait(started, timeout=within_s)
        base = [run.result() for run in asked[BASELINE]]
        done = [name for name in names if name == BASELINE or all(run.done() for run in asked[name])]
        rows = []
        parts = [part.name for part in energy_parts()]
        for name in done:
            runs = [run.result() for run in asked[name]]
            energies = np.array([run.energies_j for run in runs])
            slowdowns = [run.latency_s / plain.latency_s for run, plain in zip(runs, base, strict=True)]
            total, slow = estimate(energies[:, -1]), estimate([float(one.mean()) for one in slowdowns])
            rows.append(
                {
                    "policy": name, **dict(zip(parts, energies.mean(axis=0)[:-1].tolist(), strict=True)),
                    "total_j_per_page": total.mean, "total_j_per_page_half_width": total.half_width,
                    "energy_j_per_page": total.mean, "slowdown_mean": slow.mean,
                    "slowdown_mean_half_width": slow.half_width,
                    "slowdown_p95": float(np.mean([np.quantile(one, 0.95) for one in slowdowns])),
                }
            )  # fmt: skip
        least = config.radio.least_j
        references = {
            LIMIT: float(np.mean([least(run.elapsed_s, run.air_s) / len(run.latency_s) for run in base])),
            PAGE_AWAKE: float(
                np.mean([least(run.elapsed_s, float(run.latency_s.sum())) / len(run.latency_s) for run in base])
            ),
        }
        shown = timelines.result() if timelines.done() else None
        return Answer(pd.DataFrame(rows), references, shown, [name for name in names if name not in done])

    # -- what is kept

    def _generated(self, pages: int, seed: int) -> traces.Workload:
        if self.sessions:
            return self.sessions[seed]
        return traces.Workload.of(list(traces.generate(pages, generator(seed, WORKLOAD))))

    def _simulated(self, pages: int, seed: int, policy: str, config: netsim.SimulationConfig) -> _Totals:
        with self._lock:
            work = self._work(pages, seed)
        result = netsim.simulate(work, policy, config=config, seed=seed)
        energy, count = result.energy, len(work)
        return _Totals(
            tuple(
                joules / count
                for joules in (energy.awake_j, energy.sleep_j, energy.listen_j, energy.wakeup_j, energy.total_j)
            ),
            result.latency_s,
            result.elapsed_s,
            max(result.uplink_air_s, result.downlink_air_s),
        )

    def _recorded(
        self, pages: int, page: int, policies: tuple[str, ...], config: netsim.SimulationConfig
    ) -> list[Timeline]:
        """Return timelines of the same page of the first seed under each policy, over the same length of time."""
        with self._lock:
            work = self._work(pages, 0)
        page = min(page, len(work))
        runs = [record(traces.Workload.of(work[: page + 1]), policy, config) for policy in policies]
        windows = [window_of_page(run, page - 1) for run in runs]
        longest = max(length for _, length in windows)
        return [timeline(run, start, longest) for run, (start, _) in zip(runs, windows, strict=True)]
