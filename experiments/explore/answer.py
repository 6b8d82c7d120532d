"""The answer to a position of the controls: what `lpsm compare` would find.

The traffic is what `lpsm compare` would run (seeds of the Web model, the sessions of a trace, or the pages of few
sessions, each visited several times), and so is the summary.  A run is kept, and is found again by all that it depends
on: of a radio that is its times, and its powers only for a policy that reckons with them.  With another radio of the
same times a run is charged anew, and not simulated.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Self

import cloudpickle
import pandas as pd

import netsim
import traces
from experiments.explore.settings import DEFAULT_POLICIES, Settings, named
from experiments.presets import TODAY
from experiments.quantities import BASELINE, Row, run_row
from experiments.report.comparison import savers
from experiments.study import sweep, traffic
from experiments.study.compare import compare
from experiments.world import made
from netsim.policies import AnyPolicy, OwnPolicy, make
from netsim.radio import Radio, RadioConfig, StateRadioConfig, profiles

_KEPT = 2048  # runs
_POWERS = dict.fromkeys((f"{name}_mw" for name in ("doze", "waking", "listening", "receiving", "transmitting")), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Work:
    """The runs that a position of the controls needs."""

    settings: Settings
    config: netsim.SimulationConfig
    policies: Sequence[str]  #: their canonical names
    tasks: Mapping[str, sweep.Task]  #: replication by replication

    def first(self, replications: int | None = None) -> dict[str, sweep.Task]:
        """Return the tasks of the first replications, or all."""
        return dict(islice(self.tasks.items(), replications and replications * len(self.policies)))


class Explorer:
    """Answers, and remembers.

    `sessions` is recorded traffic in place of the Web model, of the file `trace`; fewer than `few` of them are cut into
    their pages.  `policies`, and the file of a `radio`, are what was typed when it began: a link names no other file.
    """

    def __init__(
        self, sessions: Sequence[sweep.Replication] = (), few: int = 1, *, trace: Path | None = None,
        policies: Sequence[AnyPolicy] = DEFAULT_POLICIES, radio: str = TODAY["radio"],
    ) -> None:  # fmt: skip
        self.sessions, self.few, self.trace = list(sessions), few, trace
        self.tells_waits = not sessions or traffic.tells_waits(self.sessions)
        self.own = {netsim.canonical(one): one for one in policies if isinstance(one, OwnPolicy)}
        self.radios = dict.fromkeys([*profiles(), radio])
        names = named([netsim.canonical(one) if isinstance(one, OwnPolicy) else str(one) for one in policies])
        server = "recorded" if self.tells_waits else "lognormal"
        self.defaults = Settings(policies=names, radio=radio, server=server)
        self._compiling = Lock()
        self._run, self._drawn = lru_cache(_KEPT)(_run), lru_cache(64)(_drawn)
        self._summaries: dict[Settings, pd.DataFrame] = {}
        self.work(self.defaults)  # what was typed wrong is said at once

    @classmethod
    def of_trace(
        cls, path: Path, few: int, told: Callable[[str], None] = lambda _: None, *, skip_damaged: bool = False,
        **more: Sequence[AnyPolicy] | str,
    ) -> Self:  # fmt: skip
        """Return the explorer of a trace, or of a workload, which is browsed as it is; `told` hears what was read."""
        sessions = traffic.recorded([path], told=told, skip_damaged=skip_damaged)
        return cls(sessions, 1 if traces.detect(path) == "workload" else few, trace=path, **more)  # type: ignore[arg-type]

    @property
    def is_timed(self) -> bool:
        """Whether a recording has times of its own, and is told in mW and hours."""
        recorded = [one for one in self.sessions if isinstance(one, traffic.Recorded)]
        return bool(recorded) and all(one.is_timed for one in recorded)

    def settings(self, query: Mapping[str, str]) -> Settings:
        """Return what a link says; whatever breaks a rule is a `ValueError`."""
        found = self.defaults.changed(query)
        if found.radio not in self.radios:
            Radio.profile(found.radio)  # which says what there is
        if found.server == "recorded" and not self.tells_waits:
            raise ValueError(f"server must be one that draws times: {self.trace} tells none, got 'recorded'")
        for name in found.policies:
            netsim.canonical(self.own.get(name, name), beacon_interval_ns=found.beacon_interval_ns)
        return found

    def said(self, settings: Settings) -> dict[str, str]:
        """Return the world, as options write it; a recording with its servers' times has its own round trip."""
        is_recorded = settings.server == "recorded"
        own = {"server_delay": "recorded" if is_recorded else f"{settings.server}:{settings.server_s:g}"}
        own |= {} if is_recorded and self.sessions else {"rtt": f"{settings.rtt_ms / 1000:g}"}
        return {**own, "radio": settings.radio, "beacon_ms": f"{settings.beacon_ms:g}"}

    def command(self, settings: Settings) -> str:
        """Return the command line of the same comparison."""
        typed = [_typed(self.own[name]) if name in self.own else name for name in settings.policies]
        options: dict[str, object] = {"pages": settings.pages, "seeds": settings.seeds}
        options = {"trace": self.trace} if self.trace else options
        options |= {"policies": ",".join((BASELINE, *typed)), **self.said(settings), "dtim": settings.dtim_period}
        options |= {"max-slowdown": f"{settings.max_slowdown:g}", "out": "explored"}
        words = (word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value)))
        return shlex.join(["lpsm", "compare", *words])

    def work(self, settings: Settings) -> Work:
        """Return what must be run, after having compiled what that takes."""
        said, interval_ns = self.said(settings), settings.beacon_interval_ns
        world: Row = {**said, "beacon_ms": settings.beacon_ms, "dtim_period": settings.dtim_period}
        config = made("today", world).config
        policies = sweep.named([self.own.get(name, name) for name in settings.policies], interval_ns)
        with self._compiling:  # an engine that is not compiled is passed over by short runs, which are slow for ever
            sweep.compile_express(policies.values(), config)
        units: list[sweep.Replication] = [*self._drawn(settings.pages, settings.seeds)] if not self.sessions else []
        if self.sessions:
            units = traffic.units(self.sessions, few=self.few, seed=0, beacon_interval_ns=interval_ns).workloads
            if settings.server != "recorded":
                units = [replace(one, round_trip_s=None) for one in units if isinstance(one, traffic.Recorded)]
        tasks = sweep.tasks(units, list(policies.values()), config)
        return Work(settings=settings, config=config, policies=[*policies], tasks=tasks)

    def play(self, task: sweep.Task) -> Row:
        """Run a task, or find it among those that were run, and charge the radio."""
        row, result = self._run(replace(task, config=_timed(task)))
        return {**row, "run": {**row["run"], **run_row(result.charged(task.config.radio))}}

    def knows(self, work: Work) -> bool:
        """Whether the answer was given before, with the limits as they are or otherwise."""
        return work.settings.of_runs in self._summaries

    def summary(self, work: Work, rows: Mapping[str, Row] | None = None, first: int | None = None) -> pd.DataFrame:
        """Return the summary of the comparison (`study.compare.Comparison`), and battery life.

        `rows` are what was played of the tasks, or else they are played.  That of the `first` replications is not kept.
        """
        key = work.settings.of_runs
        found = self._summaries.get(key) if first is None else None
        if found is None:
            tasks = work.first(first)
            frames = sweep.frames({name: rows[name] if rows else self.play(task) for name, task in tasks.items()})
            psm = netsim.canonical("psm", beacon_interval_ns=work.settings.beacon_interval_ns)
            found = compare(frames, work.policies, work.config.radio, psm=psm).summary
            self._summaries |= {key: found} if first is None else {}
        return found.assign(battery_h=work.settings.battery_mwh / found["mean_mw"])

    def best(self, summary: pd.DataFrame, settings: Settings) -> str:
        """Return the policy that needs least of those that keep the limits; nothing if none does."""
        rows = savers(summary)
        kept = rows[(rows["slowdown_mean"] <= settings.max_slowdown) & (rows["late_s"] <= settings.max_late_s)]
        return str(kept.sort_values("mean_mw")["policy"].iloc[0]) if len(kept) else ""


def _timed(task: sweep.Task) -> netsim.SimulationConfig:
    """Return the world of a run with a radio that stands for all of its times, where the policy asks for no more."""
    config, radio = task.config, task.config.radio
    common: Radio = RadioConfig()
    if isinstance(radio, StateRadioConfig):
        common = replace(radio, **_POWERS, base_mw=0.0, beacon_ms=0.0)
    if isinstance(task.policy, OwnPolicy):
        return config
    made_of = [cloudpickle.dumps(make(task.policy, **config.setting | {"radio": one})) for one in (radio, common)]
    return replace(config, radio=common) if made_of[0] == made_of[1] else config


def _run(task: sweep.Task) -> tuple[Row, netsim.SimulationResult]:
    result = netsim.simulate(task.workload.pages(), task.policy, config=task.config, seed=task.workload.seed)
    return sweep.row_of(task, [result]), result


def _drawn(pages: int, seeds: int) -> list[sweep.Recorded]:
    """Return the seeds of the Web model with their pages, which are then drawn once."""
    drawn = traffic.generated(pages, 0, seeds)
    return [sweep.Recorded(name=one.name, seed=one.seed, recorded=traces.Workload.of(one.pages())) for one in drawn]


def _typed(policy: OwnPolicy) -> str:
    return ":".join(part for part in (policy.place, policy.name, policy.parameter) if part)
