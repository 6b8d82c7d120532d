"""One run: wire the parts together, browse the pages, keep the record.

The world is one client behind one access point and one server (module
docstrings say what each part models).  Time is in integer nanoseconds from the
start of the run to the last completion plus its think time; seconds appear only
in the frames of the result.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from simpy import Event

from netsim import express, policies, streams
from netsim.access_point import AccessPoint, LinkConfig
from netsim.browser import Browser, Trip
from netsim.clock import Clock
from netsim.policies.protocol import Policy
from netsim.radio import Energy, RadioConfig
from netsim.server import Server, ServerDelay
from netsim.station import Station
from netsim.tcp import TcpConfig
from traces.records import Page

__all__ = ["SimulationConfig", "SimulationResult", "simulate", "simulate_cell"]

_NS_PER_S = 1_000_000_000
_NS_PER_MS = 1_000_000
_ENGINES = ("auto", "packet", "express")
_SMALL_PAGES, _SMALL_S = 10_000, 500_000.0
_LATEST_S = 4e9  # well inside 63 bits of nanoseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationConfig:
    """Everything about the world that is not the policy or the pages.

    Attributes
    ----------
    link : LinkConfig
        Rates, delays and losses.
    tcp : TcpConfig
        Transport parameters.
    radio : RadioConfig
        Power and energy figures.
    server_delay : ServerDelay
        How long the server thinks.
    connections : {"persistent", "per-object"}
        Whether a connection carries one object after another, or one only (HTTP/1.0).
    max_connections : int
        Connections at a time.
    beacon_interval_ns : int
        Time between beacons, which are at its exact multiples.
    """

    link: LinkConfig = field(default_factory=LinkConfig)
    tcp: TcpConfig = field(default_factory=TcpConfig)
    radio: RadioConfig = field(default_factory=RadioConfig)
    server_delay: ServerDelay = field(default_factory=ServerDelay)
    connections: str = "persistent"
    max_connections: int = 4
    beacon_interval_ns: int = 100_000_000

    def __post_init__(self) -> None:
        if self.connections not in ("persistent", "per-object"):
            raise ValueError(f"connections must be persistent or per-object, got {self.connections!r}")
        if self.max_connections < 1:
            raise ValueError(f"max_connections must be at least 1, got {self.max_connections}")
        if self.beacon_interval_ns < _NS_PER_MS:
            raise ValueError(f"beacon_interval_ns must be at least 1 ms, got {self.beacon_interval_ns}")


@dataclass(frozen=True, eq=False)
class SimulationResult:
    """The record of a run.

    Attributes
    ----------
    policy : str
        Canonical name of the policy.
    energy : Energy
        Joules of the whole run: awake_j, sleep_j, listen_j, wakeup_j, total_j, and per_page_j.
    elapsed_s, awake_s, asleep_s : float
        Seconds of the whole run.
    beacons : int
        Beacons listened to from sleep, whole run.
    uplink_air_s, downlink_air_s : float
        Time that frames spent on the air, each way.
    frames_lost : int
        Frames lost on the air.
    wakeups : int
        Passages from asleep to awake, whole run.
    final_policy : Policy
        The policy as the run left it (what it learned).
    pages_handed_over : int
        Pages that the compiled twin left to the packet model.
    """

    policy: str
    energy: Energy
    elapsed_s: float
    awake_s: float
    asleep_s: float
    beacons: int
    uplink_air_s: float
    downlink_air_s: float
    frames_lost: int
    wakeups: int
    final_policy: Policy
    pages_handed_over: int
    _names: list[str]
    _radio: RadioConfig
    _trip: Trip

    @cached_property
    def pages(self) -> pd.DataFrame:
        """One row a page: policy, page, issue_s, latency_s, awake_s, asleep_s, beacons, energy_j.

        Everything after issue_s is over [issue, last byte].
        """
        issue, done, awake, beacons = self._trip.loads.T
        asleep = done - issue - awake
        radio = self._radio
        wakeups = np.searchsorted(_wakeups(self._trip), [issue, done])
        return pd.DataFrame(
            {
                "policy": self.policy,
                "page": self._names,
                "issue_s": issue / _NS_PER_S,
                "latency_s": (done - issue) / _NS_PER_S,
                "awake_s": awake / _NS_PER_S,
                "asleep_s": asleep / _NS_PER_S,
                "beacons": beacons,
                "energy_j": (radio.awake_mw * awake + radio.asleep_mw * asleep) * 1e-12
                + radio.beacon_mj * beacons * 1e-3
                + radio.wakeup_j * (wakeups[1] - wakeups[0]),
            }
        )

    @property
    def latency_s(self) -> NDArray[np.float64]:
        """The latencies of the pages, in order: that column of `pages` without the cost of a frame."""
        seconds: NDArray[np.float64] = (self._trip.loads[:, 1] - self._trip.loads[:, 0]) / _NS_PER_S
        return seconds

    @cached_property
    def polls(self) -> pd.DataFrame:
        """One row a beacon listened to on schedule: time_s, slept_ms, buffered_bytes, next_sleep_ms.

        A beacon that passed while the client was awake to send is a row too, though it cost nothing.
        """
        first, slept, waiting, following, more, spacing = self._trip.polls.T
        count = more + 1
        row = np.repeat(np.arange(len(first)), count)
        nth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        return pd.DataFrame(
            {
                "time_s": (first[row] + nth * spacing[row]) / _NS_PER_S,
                "slept_ms": np.where(nth == 0, slept[row], spacing[row]) / _NS_PER_MS,
                "buffered_bytes": waiting[row],
                "next_sleep_ms": following[row] / _NS_PER_MS,
            }
        )

    @cached_property
    def radio(self) -> pd.DataFrame:
        """The intervals of the radio, in order and without gaps: start_s, end_s, state ("awake" or "asleep")."""
        edges = np.concatenate(([0], self._trip.intervals, [self._trip.end_ns]))
        start, end = edges[:-1], edges[1:]
        state = np.where(np.arange(len(start)) % 2, "awake", "asleep")
        kept = end > start
        return pd.DataFrame({"start_s": start[kept] / _NS_PER_S, "end_s": end[kept] / _NS_PER_S, "state": state[kept]})


def simulate(
    pages: Iterable[Page],
    policy: str | Policy = "none",
    *,
    config: SimulationConfig | None = None,
    seed: int = 0,
    engine: str = "auto",
) -> SimulationResult:
    """Browse `pages` under `policy` and return the record.

    Parameters
    ----------
    pages : iterable of Page
        Browsed in order; at least one.
    policy : str or Policy
        A name such as "psm:100", or an object with the protocol of `netsim.policies`, of which a copy is
        used: the object given stays as it is.
    config : SimulationConfig, optional
        The world.
    seed : int
        Of the server delays and of the losses.
    engine : {"auto", "packet", "express"}
        "packet" is the model on SimPy; "express" its compiled twin, which raises where it does not apply;
        "auto" takes the twin where it applies, page by page, unless it would have to be compiled for a small
        workload.  The record is the same to the nanosecond.

    Raises
    ------
    ValueError
        If there is no page, a page breaks a rule (sizes at least 1, times not negative), or the policy is
        unknown or plans a wake-up that is no beacon.
    """
    if engine not in _ENGINES:
        raise ValueError(f"engine must be one of {', '.join(_ENGINES)}, got {engine!r}")
    config = SimulationConfig() if config is None else config
    workload = list(pages)
    _check(workload)
    policy = _own(policy, config)
    reason = None if engine == "packet" else express.why_not(policy, config.link.loss_rate)
    if reason and engine == "express":
        raise express.NotCoveredError(f"engine express does not cover this run: {reason}")
    if not reason and engine == "auto" and _is_small(workload) and not express.is_ready(policy):
        reason = "done before the twin would be compiled"
    clock = Clock()
    access_point = AccessPoint(clock, config.link, streams.generator(seed, streams.LOSS))
    browser = _browser(clock, access_point, policy, config, alone=True)
    delays = config.server_delay.draw(workload, streams.generator(seed, streams.SERVER))
    if engine == "packet" or reason:
        clock.run(until=clock.process(browser.browse(workload, delays)))
        trip = browser.trip(clock.now, access_point.air_up.busy_ns, access_point.air_down.busy_ns, access_point.lost)
    else:
        trip = express.browse(
            workload,
            delays,
            policy,
            browser,
            access_point,
            beacon_interval_ns=config.beacon_interval_ns,
            hand_over=engine == "auto",
        )
    return _result(workload, policy, config.radio, trip)


def simulate_cell(
    clients: Iterable[tuple[Iterable[Page], str | Policy]],
    *,
    config: SimulationConfig | None = None,
    seed: int = 0,
) -> list[SimulationResult]:
    """Browse with several clients behind one access point; one record a client, in the order given.

    The clients share all four links (each of them first in, first out) and have buffers and gates of their own.
    A client leaves when its pages are done.  With one client this is `simulate` on the packet model.

    Parameters
    ----------
    clients : iterable of (pages, policy)
        As for `simulate`.
    config : SimulationConfig, optional
        The world.
    seed : int
        Of the server delays (stream index: the place of the client) and of the losses.

    Raises
    ------
    ValueError
        If there is no client, or as `simulate` does.
    """
    config = SimulationConfig() if config is None else config
    given = [(list(pages), policy) for pages, policy in clients]
    if not given:
        raise ValueError("a cell must have at least one client, got none")
    clock = Clock()
    access_point = AccessPoint(clock, config.link, streams.generator(seed, streams.LOSS))
    members: list[tuple[list[Page], Policy]] = []
    trips: dict[int, Trip] = {}
    visits = []

    def visit(place: int, browser: Browser, delays: NDArray[np.int64]) -> Generator[Event, None, None]:
        yield from browser.browse(members[place][0], delays)
        station = browser.station
        trips[place] = browser.trip(clock.now, station.air_up_ns, station.air_down_ns, station.lost)

    for place, (workload, policy) in enumerate(given):
        _check(workload)
        members.append((workload, _own(policy, config)))
        browser = _browser(clock, access_point, members[-1][1], config, alone=False)
        delays = config.server_delay.draw(workload, streams.generator(seed, streams.SERVER, place))
        visits.append(clock.process(visit(place, browser, delays)))
    clock.run(until=clock.all_of(visits))
    return [_result(*member, config.radio, trips[place]) for place, member in enumerate(members)]


def _own(policy: str | Policy, config: SimulationConfig) -> Policy:
    if isinstance(policy, str):
        return policies.make(policy, beacon_interval_ns=config.beacon_interval_ns)
    if isinstance(policy, type) or not callable(getattr(policy, "plan", None)):
        raise TypeError(f"policy must be a name or an object with a method plan, got {policy!r}")
    for name in ("spec", "host_aware"):
        if not hasattr(policy, name):
            raise TypeError(f"a policy must have the attribute {name}, which {type(policy).__name__} has not")
    return deepcopy(policy)


def _browser(
    clock: Clock, access_point: AccessPoint, policy: Policy, config: SimulationConfig, *, alone: bool
) -> Browser:
    return Browser(
        clock,
        Station(clock, access_point, policy, config.beacon_interval_ns, alone=alone),
        Server(clock),
        config.tcp,
        persistent=config.connections == "persistent",
        max_connections=config.max_connections,
    )


def _result(workload: Sequence[Page], policy: Policy, radio: RadioConfig, trip: Trip) -> SimulationResult:
    end, awake = trip.end_ns, trip.awake_ns
    wakeups = len(_wakeups(trip))
    return SimulationResult(
        policy=policy.spec,
        energy=radio.energy(awake, end - awake, trip.beacons, len(workload), wakeups=wakeups),
        elapsed_s=end / _NS_PER_S,
        awake_s=awake / _NS_PER_S,
        asleep_s=(end - awake) / _NS_PER_S,
        beacons=trip.beacons,
        uplink_air_s=trip.air_up_ns / _NS_PER_S,
        downlink_air_s=trip.air_down_ns / _NS_PER_S,
        frames_lost=trip.frames_lost,
        wakeups=wakeups,
        final_policy=policy,
        pages_handed_over=trip.pages_handed_over,
        _names=[page.page for page in workload],
        _radio=radio,
        _trip=trip,
    )


def _wakeups(trip: Trip) -> NDArray[np.int64]:
    """Return the instants of waking up; how the client is at time 0 is no passage and costs nothing."""
    starts = trip.intervals[::2]
    return starts[starts > 0]


def _is_small(workload: Sequence[Page]) -> bool:
    """Whether the packet model needs some seconds at most."""
    return len(workload) <= _SMALL_PAGES and sum(page.think_s for page in workload) <= _SMALL_S


def _check(workload: Sequence[Page]) -> None:
    if not workload:
        raise ValueError("a workload must have at least one page, got none")
    total = 0.0
    for page in workload:
        for request, reply in ((page.request_bytes, page.reply_bytes), *page.objects):
            if request < 1 or reply < 1:
                raise ValueError(f"page {page.page!r}: sizes must be at least 1 byte, got {min(request, reply)}")
        for name, value in (("think_s", page.think_s), ("issue_s", page.issue_s or 0.0)):
            if not 0.0 <= value <= _LATEST_S:
                raise ValueError(f"page {page.page!r}: {name} must lie in [0, {_LATEST_S:g}] s, got {value}")
        total += page.think_s
    if total > _LATEST_S:
        raise ValueError(f"think times must add up to at most {_LATEST_S:g} s, got {total:g}")
