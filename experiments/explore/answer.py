"""The answer to a position of the controls: energies and slowdowns of all policies, and the timeline of a page.

The traffic is what `lpsm compare` would run: seeds of the Web model, the sessions of a trace, or the pages of few
sessions, each visited several times; energies and slowdowns are means over these, as there.  Runs are made on a few
threads (the compiled kernels let others run), and each is kept: moving one control runs only what it changes.  Learned
policies take most of the time, so an answer can be had before they are done, without them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import netsim
import traces
from experiments.explore.settings import Settings
from experiments.figures.style import look
from experiments.quantities import BASELINE, ENERGIES, LIMIT, PAGE_AWAKE
from experiments.study import traffic
from experiments.study.compare import estimate
from experiments.study.sweep import Generated, Recorded, compile_express
from experiments.timeline import Timeline, record, timeline, window_of_page

__all__ = ["Answer", "Explorer"]

TIMELINES = 4  # policies whose page is shown frame by frame
_KEPT = 4096


class Answer(NamedTuple):
    """What the page shows: a row a policy, the reference energies [J a page], and timelines of a page.

    `pending` names the policies that are not among the rows yet; timelines are None while they are not drawn yet, and
    none where no page is browsed.
    """

    rows: pd.DataFrame
    references: dict[str, float]
    timelines: list[Timeline] | None
    pending: list[str]


class _Totals(NamedTuple):
    """What is kept of a run: its energies in the order of `ENERGIES`, latencies, and what the references need."""

    energies_j: NDArray[np.float64]
    latency_s: NDArray[np.float64]
    elapsed_s: float
    air_s: float
    message_s: NDArray[np.float64]
    datagram_s: NDArray[np.float64]

    @property
    def pages(self) -> int:
        """What energies are divided by: without pages they are those of the whole run."""
        return max(len(self.latency_s), 1)


class Explorer:
    """Answers, and remembers.

    Parameters
    ----------
    sessions : sequence of Recorded
        Recorded traffic in place of the Web model; empty: the model.
    few : int
        Fewer sessions than so many are cut into their pages.
    """

    def __init__(self, sessions: Sequence[Generated | Recorded] = (), few: int = 1) -> None:
        self.sessions, self.few = list(sessions), few
        self._threads = ThreadPoolExecutor(2)
        self._lock = Lock()
        self._compiled: set[str] = set()
        self._run = lru_cache(_KEPT)(lambda *key: self._threads.submit(self._simulated, *key))
        self._timelines = lru_cache(256)(lambda *key: self._threads.submit(self._recorded, *key))
        self._pages = lru_cache(64)(lambda unit: traces.Workload.of(unit.pages()))

    @classmethod
    def of_trace(cls, path: Path, few: int, told: Callable[[str], None] = lambda _: None) -> Explorer:
        """Return the explorer of a trace, or of a workload, which is browsed as it is; `told` hears what was read."""
        return cls(traffic.recorded([path], told=told), 1 if traces.detect(path) == "workload" else few)

    def warm_up(self) -> None:
        """Compile what the first answers need."""
        self.answer(Settings(pages=2, seeds=1))

    def units(self, settings: Settings) -> list[Generated | Recorded]:
        """Return what the policies are compared on."""
        if not self.sessions:
            return traffic.generated(settings.pages, 0, settings.seeds)
        beacon_interval_ns = settings.beacon_interval_ns
        return traffic.units(self.sessions, few=self.few, seed=0, beacon_interval_ns=beacon_interval_ns).workloads

    def answer(self, settings: Settings, *, within_s: float | None = None) -> Answer:
        """Return the answer to these settings, or after so many seconds what there is of it."""
        config, interval_ns = settings.config, settings.beacon_interval_ns
        saving = [netsim.canonical(policy, beacon_interval_ns=interval_ns) for policy in settings.policies]
        names = list(dict.fromkeys([BASELINE, *saving]))
        with self._lock:  # an engine that is not compiled is passed over by short runs, which are then slow for ever
            compile_express(tuple(name for name in names if name not in self._compiled), config)
            self._compiled.update(names)
        units = self.units(settings)
        worlds = [unit.world(config) if settings.server == "recorded" else config for unit in units]
        learned_first = sorted(names[2:], key=lambda name: not look(name).strong)
        quick_first = sorted(names, key=lambda name: look(name).strong)
        asked = {name: [self._run(*one, name) for one in zip(units, worlds, strict=True)] for name in quick_first}
        drawn = self._timelines(units[0], settings.page, tuple([*names[1:2], *learned_first][:TIMELINES]), worlds[0])
        started: list[Future[Any]] = [drawn, *(run for runs in asked.values() for run in runs)]
        wait(started, timeout=within_s)
        base: list[_Totals] = [run.result() for run in asked[BASELINE]]
        done = [name for name in names if name == BASELINE or all(run.done() for run in asked[name])]
        rows = [_row(name, [run.result() for run in asked[name]], base) for name in done]
        least = config.radio.least_j
        references = {
            LIMIT: float(np.mean([least(run.elapsed_s, run.air_s) / run.pages for run in base])),
            PAGE_AWAKE: float(np.mean([least(run.elapsed_s, run.latency_s.sum()) / run.pages for run in base])),
        }
        shown = drawn.result() if drawn.done() else None
        return Answer(pd.DataFrame(rows), references, shown, [name for name in names if name not in done])

    def _browsed(self, unit: Generated | Recorded) -> traces.Workload:
        with self._lock:
            return self._pages(unit)

    def _simulated(self, unit: Generated | Recorded, config: netsim.SimulationConfig, policy: str) -> _Totals:
        result = netsim.simulate(self._browsed(unit), policy, config=config, seed=unit.seed)
        return _Totals(
            np.array([getattr(result.energy, name) for name in ENERGIES]), result.latency_s, result.elapsed_s,
            max(result.uplink_air_s, result.downlink_air_s), result.message_delay_s, result.datagram_delay_s,
        )  # fmt: skip

    def _recorded(
        self, unit: Generated | Recorded, page: int, policies: tuple[str, ...], config: netsim.SimulationConfig
    ) -> list[Timeline]:
        """Return timelines of the same page of a unit under each policy, over the same length of time."""
        work = self._browsed(unit)
        if not work:
            return []
        page = min(page, len(work))
        begun = work if len(work.timings) else traces.Workload.of(work[: page + 1])
        runs = [record(begun, policy, config, seed=unit.seed, push=work.messages) for policy in policies]
        windows = [window_of_page(run, page - 1) for run in runs]
        longest = max(length for _, length in windows)
        return [timeline(run, start, longest) for run, (start, _) in zip(runs, windows, strict=True)]


def _row(policy: str, runs: Sequence[_Totals], base: Sequence[_Totals]) -> dict[str, Any]:
    """Return the means over the units; slowdowns are NaN where no page is browsed."""
    energies = np.array([run.energies_j / run.pages for run in runs])
    pairs = list(zip(runs, base, strict=True))
    slowdowns = [run.latency_s / plain.latency_s for run, plain in pairs if len(plain.latency_s)]
    added = [(run.message_s - plain.message_s).mean() for run, plain in pairs if len(run.message_s)]
    total, slow = estimate(energies[:, -1]), estimate([one.mean() for one in slowdowns])
    return {
        "policy": policy,
        **{f"{name}_per_page": mean for name, mean in zip(ENERGIES, energies.mean(axis=0).tolist(), strict=True)},
        "total_j_per_page_half_width": total.half_width, "energy_j_per_page": total.mean,
        "slowdown_mean": slow.mean, "slowdown_mean_half_width": slow.half_width,
        "slowdown_p95": estimate([np.quantile(one, 0.95) for one in slowdowns]).mean,
        "mean_mw": 1000 * float(sum(run.energies_j[-1] for run in runs)) / sum(run.elapsed_s for run in runs),
        "added_delay_mean_s": estimate(added).mean,
        "datagram_delay_mean_s": estimate([run.datagram_s.mean() for run in runs if len(run.datagram_s)]).mean,
    }  # fmt: skip
