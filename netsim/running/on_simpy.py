"""The model interpreted: SimPy schedules its events, and its records are Python objects."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
from simpy import Environment, Event

from lpsm.arrays import Ints
from lpsm.native.records import RECORDS, numbers_of, words_of
from netsim.model import codes, entities
from netsim.model.events import HANDLERS, begin
from netsim.policies.protocol import PolicyError
from netsim.result import RunRecord
from netsim.running.policy_adapter import Adviser, PacketAdviser
from netsim.running.recorder import Recorder
from netsim.running.setup import Draws, World, rows_of, trip_of
from netsim.traffic import tells

_ROWS = (
    ("pages", "Page"), ("objects", "Object"), ("messages", "Message"), ("steps", "Step"), ("datagrams", "Datagram"),
    ("hosts", "Host"), ("queues", "Objects"),
)  # fmt: skip
_ENDS = ("begun", "ended")  # of an exchange at its own time
_STOPS = codes.OVER | codes.NO_ROOM | codes.OVERLOADED


class Machine:
    """What keeps an interpreted run: SimPy's environment, frames that are free, and notes."""

    def __init__(self, run: entities.Run) -> None:
        self.clock = Environment(initial_time=0)  # an integer number of nanoseconds
        self.frames: list[entities.Frame] = []  # those that are free
        self.landed: Callable[[entities.Frame, int], None] | None = None  # is given datagrams
        # of each client, as in `RunRecord`, one number behind another
        self.intervals = [array("q") for _ in run.clients]
        self.polls = [array("q") for _ in run.clients]
        # what SimPy calls for each kind of event
        self.handlers = [self._handler(run, HANDLERS[code]) for code in sorted(HANDLERS)]

    def _handler(self, run: entities.Run, function: Callable[..., None]) -> Callable[[Event], None]:
        clock = self.clock

        def handle(event: Event) -> None:
            run.now = clock._now  # type: ignore[assignment]
            function(run, event._value)

        def handle_alone(event: Event) -> None:
            run.now = clock._now  # type: ignore[assignment]
            function(run)

        return handle if function.__code__.co_argcount > 1 else handle_alone


def prepared(world: World, recorder: Recorder | None = None) -> Machine:
    """Make what keeps a run that has not begun, and Python objects of its rows."""
    run = world.run
    run.machine = machine = Machine(run)
    if recorder is not None:
        run.recorder = recorder
        recorder.begin(run, world.config)
    _take_rows(world)
    return machine


def run_interpreted(world: World, recorder: Recorder | None = None) -> list[tuple[RunRecord, Ints]]:
    """Run to the end; return what each client leaves behind, and its messages."""
    run, step = world.run, prepared(world, recorder).clock.step
    try:
        begin(run)
        while not run.status & _STOPS:
            step()
    except PolicyError as error:
        raise PolicyError(f"{error}, {_where(world, error)}") from error
    if run.status & codes.OVERLOADED:
        raise world.overloaded()
    if run.status & codes.NO_ROOM:
        raise MemoryError(f"room for {world.room} beacons that clients wait for at once is too little")
    return [result(world, client) for client in run.clients]


def _where(world: World, error: PolicyError) -> str:
    """Return at which page the client was whose policy is to blame, which is the error's second argument."""
    for client, (workload, policy) in zip(world.run.clients, world.members, strict=True):
        begun = client.loading or any(page.begun for page in client.pages)
        at = client.page - 1 + bool(begun)
        if policy is error.args[1] and at >= 0:
            return f"at page {workload.names[at]!r}"
    return "before the first page"


def _take_rows(world: World) -> None:
    """Make Python objects of rows, and callables of streams."""
    run = world.run
    for stream, draws in world.streams:
        stream.next = _numbers(draws).__next__
    for client, (workload, policy) in zip(run.clients, world.members, strict=True):
        client.policy = Adviser(policy)
        if tells(workload, policy):
            heads = [[one.head] + [b""] * ((one.size_bytes - 1) // run.mss) for one in workload.datagrams]
            client.policy, client.observes = PacketAdviser(policy, list(chain.from_iterable(heads))), 1
        for name, kind in _ROWS:
            setattr(client, name, _records(kind, getattr(client, name)))
        client.loads = [entities.PageRecord() for _ in range(client.n_pages)]
        client.batches = [0] * run.batches_room
    run.late = []
    for name in ("flights", "resumed_flights", "starts"):
        setattr(run, name, getattr(run, name).tolist())
    if run.on_wires:
        return
    for name in ("exchanges", "fetches", "together"):
        setattr(run, name, _exchanges(getattr(run, name)))
    run.listeners, run.told = [0] * (2 * run.listeners_room), [0] * run.listeners_room
    run.winners, run.backoffs = [0] * len(run.contenders), [0] * len(run.contenders)
    for contender in run.contenders:
        if contender.template:
            place: Any = contender.template.exchange
            contender.template.exchange = run.exchanges[place]


def _numbers(draws: Draws) -> Iterator[float]:
    while True:
        yield from draws(1).ravel().tolist()


def _records(kind: str, rows: Ints) -> list[Any]:
    made = [RECORDS[kind]() for _ in rows]
    for one, row in zip(made, rows.tolist(), strict=True):
        for name, value in zip(RECORDS[kind].fields, row, strict=True):
            setattr(one, name, value)
    return made


class _exchanges(dict[int, entities.Exchange]):  # noqa: N801
    """Exchanges by their sizes, made when they are first wanted."""

    def __init__(self, rows: Ints) -> None:
        super().__init__()
        self._rows = rows

    def __missing__(self, size: int) -> entities.Exchange:
        [self[size]] = _records("Exchange", self._rows[size : size + 1])
        return self[size]


def _array(records: Sequence[object], kind: str) -> Ints:
    return np.array([numbers_of(kind)(one) for one in records], dtype=np.int64).reshape(len(records), words_of(kind))


def result(world: World, client: entities.Client) -> tuple[RunRecord, Ints]:
    """Return what a client that has left leaves behind, and its messages."""
    machine = world.run.machine
    steps = {name: [getattr(step, name) for step in client.steps] for name in _ENDS}
    return trip_of(
        _array([client.totals], "Totals")[0], _array(client.loads, "PageRecord"),
        np.array(machine.polls[client.number], dtype=np.int64).reshape(-1, 6),
        np.array(machine.intervals[client.number], dtype=np.int64), _array(client.messages, "Message"),
        _array(client.datagrams, "Datagram"), rows_of("Step", len(client.steps), **steps), not world.run.on_wires,
    )  # fmt: skip
