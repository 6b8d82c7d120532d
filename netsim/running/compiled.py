"""The model compiled: records are laid out in memory, and the loop of events runs until something is to be seen to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from lpsm.arrays import Ints
from lpsm.native.entries import Entry, Signature
from lpsm.native.records import fields_of, numbers_of, reals_of, words_of
from netsim.config import SimulationConfig
from netsim.model import codes
from netsim.policies.compiled import CompiledForm
from netsim.policies.guarded import guarded
from netsim.policies.protocol import Policy
from netsim.result import RunRecord
from netsim.running.called_back import CalledBack
from netsim.running.machine import EVENT, INTERVAL_NUMBERS, POLL_NUMBERS, Machine
from netsim.running.setup import BATCH, Member, World, trip_of
from traces.records import Message

Form = CompiledForm | CalledBack
advance_run = Entry("netsim.running.kernel", "advance_run", Signature(int, (int,)))

_LEAST_ROOM, _MOST_ROOM = 64, 2**17
_FRAMES, _CONNECTIONS = 256, 256  # room a client, beyond what TCP's windows take
_WINDOW = 1024  # segments that are counted on
_SPARE_FRAMES, _NOTES, _LATE = 1024, 65_536, 1024
_DRAWN, _MOST_DRAWN = 1024, 16_384  # numbers of a stream that are drawn ahead: at first, and at most
_KEPT_EXCHANGES = 10_000  # of a run that leaves its memory to the next one
_GOES_ON = codes.DRAWS | codes.NOTES
_NEXT, _STOP, _BEGUN = fields_of("Stream")["next"].at, fields_of("Stream")["stop"].at, fields_of("Machine")["begun"].at
_LOOKED_AT = ("Notes", "Stream", "Totals")  # parts that are seen to between events, or at the end


def entries_of(policies: Sequence[Policy]) -> list[Entry]:
    """Return the functions that runs under these policies call; what takes longest to compile comes first."""
    forms = [getattr(policy, "compiled", None) for policy in policies]
    return [advance_run, *(entry for form in forms if form is not None for entry in form.entries)]


def is_ready(policies: Sequence[Policy]) -> bool:
    """Whether what runs under these policies need is compiled, in this process or on disk."""
    return all(entry.is_ready for entry in entries_of(policies))


def run_compiled(
    members: list[Member], delays_ns: Sequence[Ints], pushed: Sequence[Sequence[Message]], config: SimulationConfig,
    seed: int,
) -> list[tuple[RunRecord, Ints]]:  # fmt: skip
    """Run to the end; return what each client leaves behind, and its messages.

    The arguments are those of a `World`.  A run that needs more room begins again, up to a MemoryError; plans that
    break the rules, and more group frames than the channel carries, are ValueErrors.
    """
    room, given = _LEAST_ROOM, (members, delays_ns, pushed, config, seed)
    forms = [_form_of(policy, config.beacon_interval_ns) for _, policy in members]
    before = [(form.ints.copy(), form.floats.copy()) for form in forms]
    called = {place: form for place, form in enumerate(forms) if isinstance(form, CalledBack)}
    while room <= _MOST_ROOM:
        run = _rested(forms, *given) if room == _LEAST_ROOM else None
        run = run or _Run(World(*given, room), forms)
        with guarded if called else nullcontext():
            status = run.go()
        for one in called.values():
            if one.stopped is not None:
                raise one.stopped
        if status == codes.OVER and all(one.policy is not None for one in called.values()):
            for place, one in called.items():
                members[place] = members[place][0], one.policy
            found = [run.result(number) for number in range(len(forms))]
            if room == _LEAST_ROOM and sum(len(workload.sizes) for workload, _ in members) <= _KEPT_EXCHANGES:
                _resting[:] = [run]
            return found
        for form, (ints, floats) in zip(forms, before, strict=True):
            form.ints[:], form.floats[:] = ints, floats
            if isinstance(form, CalledBack):
                form.begin()
        if status & codes.OVERLOADED:
            raise run.world.overloaded()
        if status & codes.BAD_PLAN or status == codes.OVER:
            from netsim.running.on_simpy import run_interpreted

            return run_interpreted(World(*given, _MOST_ROOM))  # interpreted, it raises the exact error
        room *= 8
    raise MemoryError(f"more is under way at once than there is room for, {_MOST_ROOM // _LEAST_ROOM} times the least")


_resting: list[_Run] = []  # a run that is over, if there is one


def _rested(
    forms: Sequence[Form], members: list[Member], delays_ns: Sequence[Ints], pushed: Any, config: SimulationConfig,
    seed: int,
) -> _Run | None:  # fmt: skip
    """Return a run in the memory of one that is over, if there is one and it was of the same world."""
    while _resting:
        run = _resting.pop()
        if run.world.config == config and len(run.world.members) == len(members):
            run.world.again(members, delays_ns, pushed, seed)
            run.begin(forms)
            return run
    return None


def _form_of(policy: Policy, interval_ns: int) -> Form:
    form: CompiledForm | None = getattr(policy, "compiled", None)
    return CalledBack(policy, interval_ns) if form is None else form


class _Run:
    """The memory of one run, and of others of its world that follow it, and what fills and empties it."""

    def __init__(self, world: World, forms: Sequence[Form]) -> None:
        run, self.world, self._more = world.run, world, world.room // _LEAST_ROOM
        self._places: dict[int, Ints] = {}  # of records, by their identities
        self._addresses: dict[int, int] = {}  # of these places
        self._kept: list[Ints] = []  # what addresses lead to
        self._late = np.empty(2 * _LATE, dtype=np.int64)
        self._set_rows()
        run.machine = machine = Machine()
        self._set_machine(machine)
        template = [contender.template for contender in run.contenders or () if contender.template]
        kinds = ([machine], run.contenders or [], template, [run], run.clients)
        for records in kinds:
            self._lay_out(records)
        constant = [(self._places[id(record)], record) for records in kinds[:3] for record in records]
        self._constant = [(place, np.array(self._numbers(record))) for place, record in constant]
        self._n_kept = len(self._kept)
        self.begin(forms)

    def begin(self, forms: Sequence[Form]) -> None:
        """Lay out what the world says now, and make clean what an earlier run has used."""
        run, machine = self.world.run, self._places[id(self.world.run.machine)]
        self._forms = forms
        self._taken: dict[str, list[tuple[Ints, Ints]]] = {"polls": [], "intervals": []}  # notes, and whose
        for memory, following in self._pools if machine[_BEGUN] else ():
            memory[: (int(machine[following]) - memory.ctypes.data) >> 3] = 0
        for rows in self._zeros:
            rows[:] = 0
        for heap in self._heaps:
            heap[0] = codes.NEVER
        self._late[:] = 0
        run.late, run.late_room = self._late, len(self._late) // 2
        for client, form in zip(run.clients, forms, strict=True):
            client.rule, client.observer = form.addresses
            client.ints, client.n_ints = form.ints.ctypes.data, form.ints.size
            client.floats, client.n_floats = form.floats.ctypes.data, form.floats.size
        del self._kept[self._n_kept :]
        for place, numbers in self._constant:
            place[:] = numbers
        for record in (run, *run.clients):
            self._places[id(record)][:] = self._numbers(record)
        self._drawn = [np.empty(0)] * len(self.world.streams)
        self._streams = [self._places[id(stream)] for stream, _ in self.world.streams]

    def go(self) -> int:
        """Run to the end; return why it stopped."""
        run = self._places[id(self.world.run)]
        status = fields_of("Run")["status"].at
        run[status] = codes.DRAWS
        while not run[status] & ~_GOES_ON:
            if run[status] & codes.DRAWS:
                self._refill()
            self._take_notes()
            run[status] = 0
            advance_run(run.ctypes.data)
        self._take_notes()
        return int(run[status] & ~_GOES_ON)

    def result(self, number: int) -> tuple[RunRecord, Ints]:
        """Return what a client's run leaves behind, and its messages."""
        rows: Any = self.world.run.clients[number]
        return trip_of(
            self._places[id(rows.totals)], rows.loads, self._notes_of(number, "polls"),
            self._notes_of(number, "intervals").ravel(), rows.messages, rows.datagrams, rows.steps,
            not self.world.run.on_wires,
        )  # fmt: skip

    def _notes_of(self, number: int, name: str) -> Ints:
        """Return the notes of a client."""
        taken = self._taken[name] or [(self._notes[name][0][:0], self._notes[name][1][:0])]
        numbers, clients = taken[0] if len(taken) == 1 else map(np.concatenate, zip(*taken, strict=True))
        return numbers if len(self.world.members) == 1 else numbers[clients == number]

    # -- what is to be seen to now and then

    def _refill(self) -> None:
        """Draw more numbers for the streams of which less than half is left, the more the oftener they run out."""
        most = _MOST_DRAWN * self._more
        for nth, ((_, draws), place) in enumerate(zip(self.world.streams, self._streams, strict=True)):
            drawn, size = self._drawn[nth], self._drawn[nth].size
            left = int(place[_STOP] - place[_NEXT]) >> 3
            if 2 * left < size or not size:
                wanted = min(2 * size, most) if size else _DRAWN * self._more
                more = draws((wanted - left) // BATCH).ravel()
                self._drawn[nth] = drawn = np.concatenate([drawn[size - left :], more]) if left else more
                place[_NEXT], place[_STOP] = drawn.ctypes.data, drawn.ctypes.data + drawn.nbytes

    def _take_notes(self) -> None:
        """Take the notes, give room for others, and more for beacons that were late."""
        at = fields_of("Notes")["n"].at
        for name, (numbers, clients) in self._notes.items():
            place = self._places[id(getattr(self.world.run.machine, name))]
            n = int(place[at])
            if n:
                self._taken[name].append((numbers[:n].copy(), clients[:n].copy()))
            place[at] = 0
        run, of_run = self._places[id(self.world.run)], fields_of("Run")
        n_late, room = int(run[of_run["n_late"].at]), int(run[of_run["late_room"].at])
        if 2 * n_late >= room:
            self._late = np.concatenate([self._late, np.zeros_like(self._late)])
            run[of_run["late"].at], run[of_run["late_room"].at] = self._late.ctypes.data, 2 * room

    # -- before the run

    def _set_rows(self) -> None:
        run = self.world.run
        n, contenders = run.listeners_room, len(run.contenders or ())
        sizes = {"listeners": 2 * n, "told": n, "winners": contenders, "backoffs": contenders}
        listed: list[tuple[Any, str, int]] = [(run, name, size) for name, size in sizes.items()]
        listed += [(client, "batches", max(1, run.batches_room)) for client in run.clients]
        self._zeros = [np.empty(size, dtype=np.int64) for _, _, size in listed]
        for (record, name, _), rows in zip(listed, self._zeros, strict=True):
            setattr(record, name, rows)
        for contender in run.contenders or ():
            if contender.template:
                table: Any = run.exchanges
                place: Any = contender.template.exchange
                contender.template.exchange = table.ctypes.data + 8 * words_of("Exchange") * place

    def _set_machine(self, machine: Machine) -> None:
        world, tcp = self.world, self.world.config.tcp
        n = len(world.members)
        connections = (_CONNECTIONS + 2) * n
        frames = (_FRAMES + 2 * min(tcp.window, _WINDOW) * world.config.max_connections) * n + _SPARE_FRAMES
        if world.run.most_bytes:
            frames += 128 * len(world.run.contenders)
        frames, connections = frames * self._more, connections * self._more
        machine.heap_room = 2 * connections + frames
        self._heaps = [self._room(EVENT * (machine.heap_room + 2)) for _ in range(2)]
        machine.near.events, machine.far.events = self._heaps
        length = 1 << frames.bit_length()
        for ring in (machine.up_wire, machine.down_wire, machine.down_air):
            ring.at, ring.mask, ring.events = codes.NEVER, length - 1, self._room(EVENT * length)
        self._pools = []
        for name, room in (("frame", frames), ("connection", connections)):
            words = words_of(name.capitalize())
            memory = self._room(words * (room + 1), np.zeros)
            self._pools.append((memory, fields_of("Machine")[f"next_{name}"].at))
            begin = memory.ctypes.data
            setattr(machine, f"{name}_bytes", 8 * words)
            setattr(machine, f"next_{name}", begin)
            setattr(machine, f"{name}s_stop", begin + 8 * words * room)
        self._notes = {}
        room = _NOTES * self._more
        for name, width in (("polls", POLL_NUMBERS), ("intervals", INTERVAL_NUMBERS)):
            numbers, clients = self._room(width * room).reshape(-1, width), self._room(room)
            self._notes[name] = numbers, clients
            notes = getattr(machine, name)
            notes.room, notes.numbers, notes.clients = room, numbers, clients

    def _room(self, words: int, make: Callable[..., Ints] = np.empty) -> Ints:
        self._kept.append(make(words, dtype=np.int64))
        return self._kept[-1]

    def _lay_out(self, records: Sequence[object]) -> None:
        """Give records of one kind places in a row."""
        if records:
            kind = type(records[0]).__name__
            rows = self._room(words_of(kind) * len(records)).reshape(len(records), -1)
            for record, place in zip(records, rows, strict=True):
                self._register(place, record)

    def _register(self, place: Ints, record: object) -> None:
        self._places[id(record)], self._addresses[id(record)] = place, place.ctypes.data
        for name, field in fields_of(type(record).__name__).items():
            if field.part in _LOOKED_AT:
                self._places[id(getattr(record, name))] = place[field.at : field.at + words_of(field.part)]

    def _numbers(self, record: object) -> list[int]:
        """Return what stands in the place of a record."""
        kind = type(record).__name__
        found = list(numbers_of(kind)(record))
        for place in reals_of(kind):
            found[place] = np.float64(found[place]).view(np.int64)
        return [value if type(value) is int else self._number(value) for value in found]

    def _number(self, value: Any) -> int:
        """Return what stands for rows, or for a reference, and of a numpy integer its value."""
        if isinstance(value, np.ndarray):
            self._kept.append(value)
            return int(value.ctypes.data)
        one = (value or [0])[0] if isinstance(value, list) else value
        at = self._addresses.get(id(one))
        return int(one) if at is None else at
