"""The answer to a position of the controls: what `lpsm compare` would find, and the timeline of a page.

The traffic is what `lpsm compare` would run (seeds of the Web model, the sessions of a trace, or the pages of few
sessions, each visited several times), and so is the summary.  Runs are made on a few threads (the compiled kernels let
others run), and each is kept: moving one control runs only what it changes.  Learned policies take most of the time,
so an answer can be had before they are done, without them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
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
from experiments.quantities import BASELINE, run_row
from experiments.study import sweep, traffic
from experiments.study.compare import compare
from experiments.study.sweep import Generated, Recorded
from experiments.timeline import Timeline, record, timeline, window_of_page

__all__ = ["Answer", "Explorer"]

TIMELINES = 4  # policies whose page is shown frame by frame
_KEPT = 4096


class Answer(NamedTuple):
    """What the page shows: the summary of a comparison (`study.compare.Comparison`), and timelines of a page.

    `pending` names the policies that are not in the summary yet; timelines are None while they are not drawn yet, and
    none where no page is browsed.
    """

    summary: pd.DataFrame
    timelines: list[Timeline] | None
    pending: list[str]


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
        self._run = lru_cache(_KEPT)(lambda *key: self._threads.submit(_simulated, *key))
        self._timelines = lru_cache(256)(lambda *key: self._threads.submit(_recorded, *key))
        self._drawn = lru_cache(64)(
            lambda *size: [
                Recorded(name=one.name, seed=one.seed, recorded=traces.Workload.of(one.pages()))
                for one in traffic.generated(size[0], 0, size[1])
            ]
        )

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
            return [*self._drawn(settings.pages, settings.seeds)]
        interval_ns = settings.beacon_interval_ns
        return traffic.units(self.sessions, few=self.few, seed=0, beacon_interval_ns=interval_ns).workloads

    def answer(self, settings: Settings, *, within_s: float | None = None) -> Answer:
        """Return the answer to these settings, or after so many seconds what there is of it."""
        config, interval_ns = settings.config, settings.beacon_interval_ns
        names = list(sweep.named(settings.policies, interval_ns))
        with self._lock:  # an engine that is not compiled is passed over by short runs, which are then slow for ever
            sweep.compile_express(tuple(name for name in names if name not in self._compiled), config)
            self._compiled.update(names)
            units = self.units(settings)
        strong = {name: look(name).strong for name in names}
        worlds = [(unit, unit.world(config) if settings.server == "recorded" else config) for unit in units]
        asked = {
            name: [self._run(*one, name) for one in worlds] for name in sorted(names, key=lambda name: strong[name])
        }
        shown = (names[1:2] + sorted(names[2:], key=lambda name: not strong[name]))[:TIMELINES]
        drawn = self._timelines(units[0], settings.page, tuple(shown), worlds[0][1])
        wait([drawn, *(run for runs in asked.values() for run in runs)], timeout=within_s)
        done = [name for name in names if name == BASELINE or all(run.done() for run in asked[name])]
        frames = _frames([run.result() for name in done for run in asked[name]])
        psm = netsim.canonical("psm", beacon_interval_ns=interval_ns)
        found = compare(frames, done, awake_mw=config.radio.awake_mw, asleep_mw=config.radio.asleep_mw, psm=psm)
        timelines = drawn.result() if drawn.done() else None
        return Answer(found.summary, timelines, [name for name in names if name not in done])


class _Run(NamedTuple):
    """What is kept of a run: its totals, and columns of its pages, messages, and datagrams of a capture."""

    row: dict[str, Any]
    columns: dict[str, dict[str, NDArray[Any]]]


def _simulated(unit: Generated | Recorded, config: netsim.SimulationConfig, policy: str) -> _Run:
    found = netsim.simulate(unit.pages(), policy, config=config, seed=unit.seed)
    late, messages = found.datagram_delay_s, found.message_delay_s
    columns = {
        "pages": {"page": np.arange(len(found.latency_s)), "latency_s": found.latency_s},
        "messages": {"message": np.arange(len(messages)), "delay_s": messages},
        "delays": {"kind": np.full(len(late), "datagram"), "delay_s": late, "weight": np.ones(len(late))},
    }
    return _Run({"replication": unit.name, "policy": policy, **run_row(found)}, columns)


def _frames(runs: Sequence[_Run]) -> sweep.Frames:
    def gathered(part: str) -> pd.DataFrame:
        parts = [run.columns[part] for run in runs]
        sizes = [len(next(iter(one.values()))) for one in parts]
        named = {name: np.repeat([run.row[name] for run in runs], sizes) for name in ("replication", "policy")}
        return pd.DataFrame(named | {name: np.concatenate([one[name] for one in parts]) for name in parts[0]})

    found = {part: gathered(part) for part in ("pages", "messages", "delays")}
    return sweep.Frames(pd.DataFrame([run.row for run in runs]), **found)


def _recorded(
    unit: Generated | Recorded, page: int, policies: tuple[str, ...], config: netsim.SimulationConfig
) -> list[Timeline]:
    """Return timelines of the same page of a unit under each policy, over the same length of time."""
    work = traces.Workload.of(unit.pages())
    if not work:
        return []
    page = min(page, len(work))
    begun = work if len(work.timings) else traces.Workload.of(work[: page + 1])
    runs = [record(begun, policy, config, seed=unit.seed, push=work.messages) for policy in policies]
    windows = [window_of_page(run, page - 1) for run in runs]
    longest = max(length for _, length in windows)
    return [timeline(run, start, longest) for run, (start, _) in zip(runs, windows, strict=True)]
