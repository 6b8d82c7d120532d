"""One run: wire the parts together, browse the pages, keep the record.

The world is one client behind one access point and one server (module
docstrings say what each part models).  Time is in integer nanoseconds from the
start of the run to the last completion plus its think time (or the last delivery of a
message, if that is later); seconds appear only in the result (`netsim.result`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from simpy import Event

from lpsm import randomness
from lpsm.checks import of_type
from netsim import express, policies
from netsim.access_point import AccessPoint, LinkConfig
from netsim.air.cell import AirConfig, Cell
from netsim.air.recording import AirRecorder
from netsim.air.station import AirStation
from netsim.browser import Browser, Trip
from netsim.clock import Clock
from netsim.medium import Medium
from netsim.policies import AnyPolicy, Policy, PolicyError
from netsim.policies.compiled import CompiledForm
from netsim.push import PushChannel
from netsim.radio import Radio, RadioConfig
from netsim.recorder import Recorder
from netsim.result import SimulationResult, result_of
from netsim.server import Server, ServerDelay, draw_each
from netsim.station import Station
from netsim.tcp import TcpConfig
from netsim.traffic import check, messages_of
from netsim.whole_numbers import keep_whole
from netsim.wires import Wires
from traces.columns import Workload
from traces.records import Message, Page

__all__ = ["SimulationConfig", "SimulationResult", "is_compiled", "simulate", "simulate_cell"]

_NS_PER_MS = 1_000_000
_ENGINES = ("auto", "packet", "express")
_SMALL_PAGES, _SMALL_S, _SMALL_LOADED_S = 10_000, 500_000.0, 100.0  # the last where neighbours load the channel
_PARTS = {"link": LinkConfig, "tcp": TcpConfig, "radio": Radio, "server_delay": ServerDelay, "medium": AirConfig}
_NO_MESSAGES = np.empty((0, 3), dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationConfig:
    """Everything about the world that is not the policy or the pages.

    Attributes
    ----------
    link : LinkConfig
        Rates, delays and losses.
    tcp : TcpConfig
        Transport parameters.
    radio : Radio
        Power and energy figures.
    server_delay : ServerDelay
        How long the server thinks; by default as long as the pages tell, and not at all where they do not.
    connections : {"persistent", "per-object"}
        Whether a connection carries one object after another, or one only (HTTP/1.0).
    max_connections : int
        Connections at a time.
    beacon_interval_ns : int
        Time between beacons, which are at its exact multiples.
    medium : AirConfig or None
        The shared air, with contention; None: the pair of wires of the thesis, of `link`.
    """

    link: LinkConfig = field(default_factory=LinkConfig)
    tcp: TcpConfig = field(default_factory=TcpConfig)
    radio: Radio = field(default_factory=RadioConfig)
    server_delay: ServerDelay = field(default_factory=lambda: ServerDelay(kind="recorded"))
    connections: str = "persistent"
    max_connections: int = 4
    beacon_interval_ns: int = 100_000_000
    medium: AirConfig | None = None

    def __post_init__(self) -> None:
        for name, kind in _PARTS.items():
            part = getattr(self, name)
            if not isinstance(part, kind) and (name != "medium" or part is not None):
                raise TypeError(f"{name} must be of the type {kind.__name__}, got {part!r}")
        keep_whole(self, "max_connections", "beacon_interval_ns")
        if self.connections not in ("persistent", "per-object"):
            raise ValueError(f"connections must be persistent or per-object, got {self.connections!r}")
        if self.max_connections < 1:
            raise ValueError(f"max_connections must be at least 1, got {self.max_connections}")
        if self.beacon_interval_ns < _NS_PER_MS:
            raise ValueError(f"beacon_interval_ns must be at least 1 ms, got {self.beacon_interval_ns}")


def simulate(
    pages: Iterable[Page],
    policy: AnyPolicy = "none",
    *,
    config: SimulationConfig | None = None,
    seed: int = 0,
    engine: str = "auto",
    push: Iterable[Message] | None = None,
    server_delays: Sequence[ServerDelay] | None = None,
    recorder: Recorder | None = None,
) -> SimulationResult:
    """Browse `pages` under `policy` and return the record.

    Parameters
    ----------
    pages : iterable of Page
        Browsed in order; at least one, unless messages are pushed.  Pages that go through several runs are turned
        into columns only once as a `traces.Workload`.
    policy : str, Policy or OwnPolicy
        A name of the registry, such as "psm:100"; or an object with the protocol of `netsim.policies`, of which a
        copy is used: the object given stays as it is; or a class of one's own that the caller trusts.
    config : SimulationConfig, optional
        The world.
    seed : int
        Of the server delays and of the losses.
    engine : {"auto", "packet", "express"}
        "packet" is the model on SimPy; "express" the same model compiled, which raises where it does not apply;
        "auto" takes the express engine where it applies (on wires page by page), unless that would have to be
        compiled for a small workload.  The record is the same to the nanosecond.
    push : iterable of Message, optional
        What the server writes of its own accord, in the order of time, beside the pages, on one connection that is
        open before the run (`netsim.push`); by default what a `traces.Workload` has of it.  The run then lasts until
        the pages are done and the last message is delivered.
    server_delays : sequence of ServerDelay, optional
        One a page, in place of that of the world: servers that differ from page to page.
    recorder : Recorder, optional
        Is told of every frame, decision and request of the run, which then takes the packet model.

    Raises
    ------
    TypeError
        If the policy is neither name nor policy, what it raises or plans is wrong (a `PolicyError`, a ValueError
        too, which names the page), or the world, a page, a size in bytes, what is pushed or a server's
        delay is of another type.
    ValueError
        If there is neither page nor message, a page or a message breaks a rule (sizes at least 1, replies at least 0,
        times not negative, messages in order), server delays are not one a page, or the policy is unknown.
    NotCoveredError
        If the express engine is asked for what it does not cover.
    """
    config = _checked(engine, config)
    if recorder is not None:
        of_type(Recorder, recorder=recorder)
    workload = Workload.of(pages)
    messages = messages_of(workload.messages if push is None else push)
    check(workload, messages)
    policy = policies.make(policy, beacon_interval_ns=config.beacon_interval_ns, radio=config.radio)
    if isinstance(recorder, AirRecorder) != (config.medium is not None) and recorder is not None:
        raise ValueError("a Recorder notes frames on wires and an AirRecorder on the air, and this run is the other")
    reason = _not_express(engine, [(workload, policy)], config, [messages], recorder)
    if reason:
        [result] = _run_packets([(workload, policy)], config, seed, [messages], server_delays, recorder)
    else:
        [result] = _run_express([(workload, policy)], config, seed, [messages], server_delays, engine)
    return result


def simulate_cell(
    clients: Iterable[tuple[Iterable[Page], AnyPolicy]],
    *,
    config: SimulationConfig | None = None,
    seed: int = 0,
    push: Sequence[Iterable[Message]] = (),
    engine: str = "auto",
) -> list[SimulationResult]:
    """Browse with several clients behind one access point; one record a client, in the order given.

    On wires the clients share all four links (each of them first in, first out), on the air the channel; they have
    buffers and gates of their own.  A client leaves when its pages are done.  With one client this is `simulate`.

    Parameters
    ----------
    clients : iterable of (pages, policy)
        As for `simulate`.
    config : SimulationConfig, optional
        The world.
    seed : int
        Of the server delays (stream index: the place of the client) and of the losses.
    push : sequence of iterables of Message, optional
        What servers write unasked, one entry a client; a client may have messages alone.  By default what the
        workloads have of it.
    engine : {"auto", "packet", "express"}
        As for `simulate`; the express engine has cells on the air only.

    Raises
    ------
    ValueError
        If there is no client, messages are not one entry a client, or as `simulate` does.
    NotCoveredError
        If the express engine is asked for what it does not cover.
    """
    config = _checked(engine, config)
    given = [(Workload.of(pages), policy) for pages, policy in clients]
    if not given:
        raise ValueError("a cell must have at least one client, got none")
    if push and len(push) != len(given):
        raise ValueError(f"push must be one entry a client ({len(given)}), got {len(push)} entries")
    pushed = [messages_of(messages) for messages in push] or [list(workload.messages) for workload, _ in given]
    members: list[tuple[Workload, Policy]] = []
    for (workload, policy), messages in zip(given, pushed, strict=True):
        check(workload, messages)
        made = policies.make(policy, beacon_interval_ns=config.beacon_interval_ns, radio=config.radio)
        members.append((workload, made))
    if _not_express(engine, members, config, pushed, in_cell=True):
        return _run_packets(members, config, seed, pushed)
    return _run_express(members, config, seed, pushed, None, engine)


def _checked(engine: str, config: Any) -> SimulationConfig:
    """Return the world, the default one if none is given; refuse what is neither an engine nor a world."""
    if engine not in _ENGINES:
        raise ValueError(f"engine must be one of {', '.join(_ENGINES)}, got {engine!r}")
    if not isinstance(config, SimulationConfig | None):
        raise TypeError(f"config must be a SimulationConfig, got {config!r}")
    world: SimulationConfig = SimulationConfig() if config is None else config
    return world


def _not_express(
    engine: str,
    members: Sequence[tuple[Workload, Policy]],
    config: SimulationConfig,
    pushed: Sequence[Sequence[Message]],
    recorder: Recorder | None = None,
    *,
    in_cell: bool = False,
) -> str | None:
    """Say why a run takes the packet model, or None if it takes the express engine.

    Raises
    ------
    NotCoveredError
        If the express engine is asked for what it does not cover.
    """
    if engine == "packet":
        return "it is asked for"
    on_wires = config.medium is None
    reasons = [express.why_not(policy, config.link.loss_rate if on_wires else 0.0) for _, policy in members]
    if on_wires and in_cell:
        reasons.append("a cell on wires, and only the packet model has that")
    if config.medium is not None:
        for said, words in (
            (config.medium.beacon_loss or config.medium.twt_announced, "beacons are lost or service periods announced"),
            (config.medium.max_ampdu_bytes, "frames go together"),
        ):
            if said:
                reasons.append(f"{words}, and only the packet model has that")
    if recorder is not None:
        reasons.append("it is recorded, and only the packet model has frames to record")
    reason = next((reason for reason in reasons if reason), None)
    if reason and engine == "express":
        raise express.NotCoveredError(f"engine express does not cover this run: {reason}")
    if not reason and engine == "auto" and _is_small(members, pushed, config) and not _is_ready(members, config):
        reason = "done before the express engine would be compiled"
    return reason


def _run_express(
    members: Sequence[tuple[Workload, Policy]],
    config: SimulationConfig,
    seed: int,
    pushed: Sequence[Sequence[Message]],
    server_delays: Sequence[ServerDelay] | None,
    engine: str,
) -> list[SimulationResult]:
    """Run a client on wires, or a cell on the air, compiled; on the packet model where that proves not to cover it."""
    delays = [_delays(workload, config, seed, place, server_delays) for place, (workload, _) in enumerate(members)]
    forms: list[CompiledForm] = [policy.compiled for _, policy in members]  # type: ignore[attr-defined]
    before = [(form.ints.copy(), form.floats.copy()) for form in forms] if engine == "auto" else []
    try:
        if config.medium is None:
            from netsim.express.engine import browse

            compile_more = engine == "express" or not _is_small(members, pushed, config)
            found = [browse(members[0][0], pushed[0], delays[0], members[0][1], config, compile_more=compile_more)]
        else:
            from netsim.air.express.engine import browse_together

            found = browse_together(members, delays, pushed, config, seed)
    except (express.NotCoveredError, PolicyError):  # the packet model says at which page
        if engine == "express":
            raise
        for form, (ints, floats) in zip(forms, before, strict=True):
            form.ints[:], form.floats[:] = ints, floats
        return _run_packets(members, config, seed, pushed, server_delays)
    return [result_of(*member, config.radio, *one) for member, one in zip(members, found, strict=True)]


def _run_packets(
    members: Sequence[tuple[Workload, Policy]],
    config: SimulationConfig,
    seed: int,
    pushed: Sequence[Sequence[Message]],
    server_delays: Sequence[ServerDelay] | None = None,
    recorder: Recorder | None = None,
) -> list[SimulationResult]:
    """Run clients of one access point on the packet model; `server_delays` are those of a single client's pages."""
    clock = Clock()
    access_point_type, station_type, browser_type = (AccessPoint, Station, Browser)
    air_station_type = AirStation
    if isinstance(recorder, AirRecorder):
        air_station_type, browser_type = recorder.air_parts()
    elif recorder is not None:
        access_point_type, station_type, browser_type = recorder.parts()
    medium: Medium
    if config.medium is None:
        loss = randomness.generator(seed, randomness.LOSS)
        access_point = access_point_type(clock, config.link, loss, shared=len(members) > 1)
        medium = Wires(clock, config.link, access_point, config.beacon_interval_ns, station_type)
    else:
        medium = cell = Cell(clock, config.medium, config.link, config.beacon_interval_ns, seed, air_station_type)
        if isinstance(recorder, AirRecorder):
            recorder.attach(cell)
    trips: dict[int, tuple[Trip, NDArray[np.int64]]] = {}

    def visit(place: int, browser: Browser, delays: NDArray[np.int64]) -> Generator[Event, None, None]:
        messages = pushed[place]
        channel = PushChannel(clock, browser.station, config.tcp, messages) if messages else None
        browsing: Event = clock.process(browser.browse(members[place][0].plain_pages(), delays))
        yield browsing if channel is None else clock.all_of([browsing, clock.process(channel.deliver())])
        trips[place] = browser.trip(clock.now), _NO_MESSAGES if channel is None else channel.record()

    visits, browsers = [], []
    more: dict[str, Any] = {"persistent": config.connections == "persistent", "max_connections": config.max_connections}
    try:
        for place, (workload, policy) in enumerate(members):
            browser = browser_type(clock, medium.client(policy, config.radio), Server(clock), config.tcp, **more)
            browsers.append(browser)
            visits.append(clock.process(visit(place, browser, _delays(workload, config, seed, place, server_delays))))
        clock.run(until=clock.all_of(visits))
    except PolicyError as error:  # the policy that is to blame is its second argument
        pages = [
            browser.page_name for browser, (_, one) in zip(browsers, members, strict=False) if one is error.args[1]
        ]
        page = pages[0] if pages else None
        raise PolicyError(f"{error}, {'before the first page' if page is None else f'at page {page!r}'}") from error
    return [result_of(*member, config.radio, *trips[place]) for place, member in enumerate(members)]


def _delays(
    workload: Workload,
    config: SimulationConfig,
    seed: int,
    place: int,
    server_delays: Sequence[ServerDelay] | None,
) -> NDArray[np.int64]:
    """Return the server's delays for the client at a place, nanoseconds, one a reply in the order of its pages."""
    rng = randomness.generator(seed, randomness.SERVER, place)
    if server_delays is None:
        return config.server_delay.draw(workload, rng)
    return draw_each(workload, server_delays, rng)


def is_compiled(policy: AnyPolicy, config: SimulationConfig) -> bool:
    """Whether nothing is left to compile for runs of a policy on the engine that `config` asks for.

    Where only the packet model runs, nothing is.
    """
    made = policies.make(policy, beacon_interval_ns=config.beacon_interval_ns, radio=config.radio)
    members = [(Workload.of(()), made)]
    try:
        _not_express("express", members, config, [()])
    except express.NotCoveredError:
        return True
    return _is_ready(members, config)


def _is_ready(members: Sequence[tuple[Workload, Policy]], config: SimulationConfig) -> bool:
    """Whether nothing is left to compile for the express engine."""
    if config.medium is not None:
        from netsim.air.express import engine as air

        return air.is_ready([policy for _, policy in members])
    from netsim.express.engine import is_ready

    return is_ready(members[0][1])


def _is_small(
    members: Sequence[tuple[Workload, Policy]], pushed: Sequence[Sequence[Message]], config: SimulationConfig
) -> bool:
    """Whether the packet model needs some seconds at most."""
    done = sum(len(workload) for workload, _ in members) + sum(len(messages) for messages in pushed)
    lasts_s = max(workload.think_s.sum() for workload, _ in members)
    lasts_s += max(messages[-1].at_s if messages else 0.0 for messages in pushed)
    loaded = config.medium is not None and config.medium.neighbours > 0
    return done <= _SMALL_PAGES and lasts_s <= (_SMALL_LOADED_S if loaded else _SMALL_S)
