"""A sweep as plain data: every policy on every replication of the traffic, in one configuration.

A replication is a seed of the traffic model, or a recorded browsing session.  All
policies of a replication meet the same world: the same pages, think times and server
delays (common random numbers), which is what makes their differences comparable.
A task is a value, and `simulate` a pure function of it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

import netsim
import traces
from experiments.quantities import BASELINE, run_row
from experiments.study.files import file_digest
from lpsm.randomness import WORKLOAD, generator
from netsim.policies import Policy, make

__all__ = [
    "MANY_PAGES", "Frames", "Generated", "Recorded", "Task", "at_round_trip", "compile_express", "frames",
    "host_aware", "named", "own_sources", "simulate", "tasks", "warm_up",
]  # fmt: skip

LISTENING = ("lpsm",)  # whose sleep times are worth recording
MANY_PAGES = 5_000
"""From here on, compiling the express engine takes less time than going on without it."""
_ONE_PAGE = (traces.Page("", 1, 1),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """Pages drawn from the traffic model."""

    n_pages: int
    seed: int

    def __post_init__(self) -> None:
        if self.n_pages < 1:
            raise ValueError(f"pages must be at least 1, got {self.n_pages}")
        if self.seed < 0:
            raise ValueError(f"seed must be at least 0, got {self.seed}")

    @property
    def name(self) -> str:
        """How the replication is called in results."""
        return f"seed-{self.seed}"

    def pages(self) -> Sequence[traces.Page]:
        """Draw the pages."""
        return list(traces.generate(self.n_pages, generator(self.seed, WORKLOAD)))

    def world(self, config: netsim.SimulationConfig) -> netsim.SimulationConfig:
        """Return the world in which they are browsed."""
        return config

    def without_round_trip(self) -> Generated:
        """Return itself: nothing of it was recorded."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Pages somebody browsed, and messages that were pushed; `seed` decides what was not recorded (losses, say).

    `round_trip_s` is that to the servers, if it is to be used in place of the configuration's.
    """

    name: str
    seed: int
    recorded: tuple[traces.Page, ...]
    messages: tuple[traces.Message, ...] = ()
    round_trip_s: float | None = None

    def __post_init__(self) -> None:
        if not self.recorded and not self.messages:
            raise ValueError(f"a session needs at least one page, {self.name} has none")

    @property
    def n_pages(self) -> int:
        """How many pages were browsed."""
        return len(self.recorded)

    def pages(self) -> Sequence[traces.Page]:
        """Return the pages, a workload with the messages beside them."""
        return traces.Workload.of(self.recorded, self.messages)

    def world(self, config: netsim.SimulationConfig) -> netsim.SimulationConfig:
        """Return the world in which the session is browsed: with its own round trip, if that is given."""
        return config if self.round_trip_s is None else at_round_trip(config, self.round_trip_s)

    def without_round_trip(self) -> Recorded:
        """Return the session for a world whose round trip is given otherwise."""
        return replace(self, round_trip_s=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One run: a policy, by its canonical name and what makes it, on a replication."""

    workload: Generated | Recorded
    policy: str | Policy
    config: netsim.SimulationConfig
    record_polls: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            name = netsim.canonical(self.policy, beacon_interval_ns=self.config.beacon_interval_ns)
            object.__setattr__(self, "name", name)

    @property
    def key(self) -> str:
        """A name unique within the sweep."""
        return f"{self.workload.name} {self.name}"


class Frames(NamedTuple):
    """What a sweep found, a row each for a run, for a page of a run, for a recorded poll, and for a pushed message."""

    runs: pd.DataFrame
    pages: pd.DataFrame
    polls: pd.DataFrame
    messages: pd.DataFrame = pd.DataFrame()


def at_round_trip(config: netsim.SimulationConfig, round_trip_s: float) -> netsim.SimulationConfig:
    """Return the world with this round trip to the servers, or that of the air alone if it is shorter."""
    of_the_air_ms = config.link.wireless_delay_ms if config.medium is None else 0.0
    wired_ms = round(max(0.0, round_trip_s * 500 - of_the_air_ms), 6)  # to the nanosecond
    return replace(config, link=replace(config.link, wired_delay_ms=wired_ms))


def named(policies: Sequence[str | Policy], beacon_interval_ns: int) -> dict[str, str | Policy]:
    """Return what makes each policy by the canonical name that results carry; the one without power saving is first.

    If it is not among those given it is added; if it is, it stays where it is.

    Parameters
    ----------
    policies : sequence of str or Policy
        Names, such as "psm" or "mine.py:Patient", or objects.
    beacon_interval_ns : int

    Raises
    ------
    ValueError
        If there is none, one is unknown, or two are the same.
    """
    if not policies:
        raise ValueError("policies must name at least one policy, got none")
    names = [netsim.canonical(policy, beacon_interval_ns=beacon_interval_ns) for policy in policies]
    if len(set(names)) < len(names):
        raise ValueError(f"policies must differ, got {','.join(names)}")
    found: dict[str, str | Policy] = {
        name: name if isinstance(policy, str) and _kind(name) == _kind(policy) else policy
        for name, policy in zip(names, policies, strict=True)
    }
    return found if BASELINE in found else {BASELINE: BASELINE, **found}


def _kind(name: str) -> str:
    return name.strip().partition(":")[0]


def host_aware(policies: Mapping[str, str | Policy], config: netsim.SimulationConfig) -> list[str]:
    """Return the names of the policies that use what only the host knows."""
    setting: dict[str, Any] = {"beacon_interval_ns": config.beacon_interval_ns, "radio": config.radio}
    return [name for name, policy in policies.items() if make(policy, **setting).host_aware]


def own_sources(policies: Mapping[str, str | Policy], config: netsim.SimulationConfig) -> dict[str, str]:
    """Return the SHA-256 of the file in which each policy that is not of the package is written, by its name."""
    found = {}
    for name, policy in policies.items():
        kind = type(make(policy, beacon_interval_ns=config.beacon_interval_ns, radio=config.radio))
        file = getattr(sys.modules.get(kind.__module__), "__file__", None)
        if not kind.__module__.startswith("netsim.") and file is not None:
            found[name] = file_digest(Path(file))
    return found


def tasks(
    workloads: Sequence[Generated | Recorded], policies: Sequence[str | Policy], config: netsim.SimulationConfig
) -> dict[str, Task]:
    """List the runs of a sweep, keyed; the run without power saving is always among them.

    Polls are recorded in the first replication only.

    Raises
    ------
    ValueError
        If there is nothing to run, or a policy or a replication is named twice.
    """
    if not workloads:
        raise ValueError("there is no traffic to simulate: no page and no session")
    chosen = named(policies, config.beacon_interval_ns)
    listed = {
        task.key: task
        for index, workload in enumerate(workloads)
        for name, policy in chosen.items()
        for task in [
            Task(
                workload=workload, name=name, policy=policy, config=workload.world(config),
                record_polls=index == 0 and name.startswith(LISTENING),
            )
        ]
    }  # fmt: skip
    if len(listed) < len(workloads) * len(chosen):
        raise ValueError("replications must have different names")
    return listed


def warm_up(listed: Iterable[Task]) -> None:
    """Run one small page under every policy, so that what must be compiled is compiled once, before processes start.

    The express engine is among it if the replications have `MANY_PAGES` together.
    """
    found = list(listed)
    n_pages = sum({task.workload.name: task.workload.n_pages for task in found}.values())
    for task in {(task.name, task.config): task for task in found}.values():
        netsim.simulate(_ONE_PAGE, task.policy, config=task.config)
        if n_pages >= MANY_PAGES:
            compile_express((task.policy,), task.config)


@lru_cache(maxsize=64)
def compile_express(policies: Sequence[str | Policy], config: netsim.SimulationConfig) -> None:
    """Have the express engine compiled for these policies, once a process; those it does not cover are left."""
    for policy in policies:
        with suppress(netsim.NotCoveredError):
            netsim.simulate(_ONE_PAGE, policy, config=config, engine="express")


def simulate(task: Task) -> dict[str, Any]:
    """Run one task; the result is plain JSON data."""
    result = netsim.simulate(task.workload.pages(), task.policy, config=task.config, seed=task.workload.seed)
    run = {"replication": task.workload.name, "policy": result.policy, **run_row(result)}
    polls = result.polls if task.record_polls else result.polls.iloc[:0]
    found = {"run": run, "pages": result.pages.to_dict("list"), "polls": polls.to_dict("list")}
    if len(result.messages):
        found["messages"] = result.messages[["message", "delay_s"]].to_dict("list")
    return found


def frames(results: dict[str, dict[str, Any]]) -> Frames:
    """Gather results, in their order, into three frames."""
    runs = pd.DataFrame([result["run"] for result in results.values()])

    def gather(part: str) -> pd.DataFrame:
        pieces = []
        for result in results.values():
            piece = pd.DataFrame(result.get(part, {}))
            piece["policy"] = result["run"]["policy"]
            piece.insert(0, "replication", result["run"]["replication"])
            pieces.append(piece)
        filled = [piece for piece in pieces if len(piece)] or pieces[:1]
        return pd.concat(filled, ignore_index=True)

    return Frames(runs, gather("pages"), gather("polls"), gather("messages"))
