"""The primitives compiled, and the loop of events: links in rings, everything else in two heaps, records in pools.

Events that fall on one instant happen in the order in which they were scheduled, as with SimPy, but time-outs last.
Arrivals at the ends of links are in order already, for nothing overtakes there, and wait in a ring each.  Of the other
events those that are near wait in a heap of their own, which stays small; most of those that are far are timers that
will find nothing to do.  An empty heap begins with an event at `NEVER`.

Nothing here is called by Python: `netsim.running.kernel` compiles it, with the model.  What recorders alone are told is
in the primitives only, and nothing here: what is recorded is interpreted.
"""

from __future__ import annotations

from numba import carray  # type: ignore[attr-defined]

from lpsm.native.compiler import real_at, reals_at, words_at
from lpsm.native.records import Ints, fields_of, words_of
from lpsm.native.references import reader
from netsim.model.codes import BAD_PLAN, DRAWS, NEVER, NO_ROOM, NOTES, TCP_TIMER
from netsim.model.entities import Client, Connection, Frame, Run, Stream
from netsim.model.events import HANDLERS, begin
from netsim.model.medium import at_access_point
from netsim.model.policy import arrival
from netsim.model.queues import take_first
from netsim.model.receiver import receive, receive_down
from netsim.model.wires import DOWN_WIRE, UP_WIRE
from netsim.policies.call_by_address import call_observe, call_plan
from netsim.policies.compiled import NOT_YET_NS, FlatFrame, FlatView
from netsim.policies.protocol import ASK, cannot_follow
from netsim.running.machine import EVENT, FEW, INTERVAL_NUMBERS, POLL_NUMBERS, Heap, Machine, Notes, Ring

CODE_BITS = max(HANDLERS).bit_length()
SOON = 50_000_000  # events that are nearer wait in a heap of their own
END_WORDS, END_PLAIN = words_of("Endpoint"), fields_of("Endpoint")["sent"].at
CONNECTION_PLAIN = fields_of("Connection")["credit"].at
LAST_BIT = 61  # of the order: a time-out comes after all else at its instant


connection_at = reader("Connection")
frame_at = reader("Frame")
run_at = reader("Run")


# -- events


def comes_before(one: Ints, i: int, other: Ints, j: int) -> bool:
    """Whether an event comes before another; without a branch, which nobody could predict."""
    return bool((one[i] < other[j]) | ((one[i] == other[j]) & (one[i + 1] < other[j + 1])))


def enter(events: Ints, place: int, at: int, order: int, word: int) -> None:
    """Enter an event at a place."""
    events[place], events[place + 1], events[place + 2] = at, order, word


def schedule(run: Run, at: int, code: int, what: int) -> None:
    """See `netsim.model.primitives`."""
    machine: Machine = run.machine
    heap = machine.far if at > run.now + SOON else machine.near
    hole = heap.n
    if hole >= machine.heap_room:
        run.status |= NO_ROOM
        return
    heap.n = hole + 1
    order = machine.scheduled | (code == TCP_TIMER) << LAST_BIT
    machine.scheduled += 1
    events = heap.events
    while hole > 0:
        above = EVENT * ((hole - 1) >> 1)
        if events[above] < at or (events[above] == at and events[above + 1] < order):
            break
        enter(events, EVENT * hole, events[above], events[above + 1], events[above + 2])
        hole = (hole - 1) >> 1
    enter(events, EVENT * hole, at, order, what << CODE_BITS | code)


def arrive(run: Run, line: int, at: int, code: int, what: int) -> None:
    """See `netsim.model.primitives`."""
    machine: Machine = run.machine
    ring = machine.up_wire if line == UP_WIRE else machine.down_wire if line == DOWN_WIRE else machine.down_air
    tail, order = ring.tail, machine.scheduled
    machine.scheduled = order + 1
    if tail == ring.head:
        ring.at, ring.order = at, order
    elif tail - ring.head >= ring.mask:
        run.status |= NO_ROOM
        return
    ring.tail = tail + 1
    enter(ring.events, EVENT * (tail & ring.mask), at, order, what)


def take_arrival(ring: Ring) -> int:
    """Take out the first packet of a ring."""
    events, head, mask = ring.events, ring.head, ring.mask
    what: int = events[EVENT * (head & mask) + 2]
    head += 1
    ring.head = head
    if head == ring.tail:
        ring.at = NEVER
    else:
        place = EVENT * (head & mask)
        ring.at, ring.order = events[place], events[place + 1]
    return what


def is_sooner(one: Ring, other: Ring) -> bool:
    """Whether the first packet of a ring arrives before that of another."""
    return one.at < other.at or (one.at == other.at and one.order < other.order)


def take_top(heap: Heap) -> None:
    """Take out the first event of a heap."""
    events, n = heap.events, heap.n - 1
    heap.n = n
    last, hole, child = EVENT * n, 0, 1
    while child < n:  # the lesser child moves up, down to the leaves; the last itself may take part
        place = EVENT * child
        lesser = comes_before(events, place + EVENT, events, place)
        child += lesser
        place += EVENT * lesser
        enter(events, EVENT * hole, events[place], events[place + 1], events[place + 2])
        hole, child = child, 2 * child + 1
    if hole < n:
        while hole > 0:  # the last of the heap, which belongs near the leaves, fills the hole
            above = EVENT * ((hole - 1) >> 1)
            if comes_before(events, above, events, last):
                break
            enter(events, EVENT * hole, events[above], events[above + 1], events[above + 2])
            hole = (hole - 1) >> 1
        enter(events, EVENT * hole, events[last], events[last + 1], events[last + 2])
    events[EVENT * n] = NEVER


def step(run: Run) -> None:
    """Let the next event happen."""
    machine: Machine = run.machine
    ring, down_wire, down_air = machine.up_wire, machine.down_wire, machine.down_air
    if is_sooner(down_wire, ring):
        ring = down_wire
    if is_sooner(down_air, ring):
        ring = down_air
    heap, at = machine.near, ring.at
    far = machine.far.events
    if far[0] < heap.events[0] or (far[0] == heap.events[0] and far[1] < heap.events[1]):
        heap = machine.far
    events = heap.events
    if at < events[0] or (at == events[0] and ring.order < events[1]):
        run.now = at
        frame = frame_at(take_arrival(ring))
        if ring == down_air:
            receive_down(run, frame)
        elif ring == down_wire:
            at_access_point(run, frame)
        else:
            receive(run, frame)
    else:
        run.now, word = events[0], events[2]
        take_top(heap)
        happens(run, word & ((1 << CODE_BITS) - 1), word >> CODE_BITS)


def happens(run: Run, code: int, what: int) -> None:
    """Hand an event to who it concerns; `netsim.running.kernel` writes this from `netsim.model.events.HANDLERS`."""


def advance_run(address: int) -> int:
    """Go on with a run until something is to be seen to; return why."""
    run = run_at(address)
    if not run.machine.begun:
        run.machine.begun = 1
        begin(run)
    while not run.status:
        step(run)
    status: int = run.status
    return status


def draw(run: Run, stream: Stream) -> float:
    """See `netsim.model.primitives`; says in time that more numbers are needed."""
    at = stream.next
    if at >= stream.stop:
        run.status |= NO_ROOM
        return 0.0
    stream.next = at + 8
    if at + 8 * FEW >= stream.stop:
        run.status |= DRAWS
    return float(real_at(at))


# -- memory


def new_frame(run: Run) -> Frame:
    """See `netsim.model.primitives`."""
    machine: Machine = run.machine
    frame: Frame = machine.free_frame
    if frame:
        machine.free_frame = frame.link
        return frame
    frame = frame_at(machine.next_frame)
    if machine.next_frame < machine.frames_stop:
        machine.next_frame += machine.frame_bytes
    else:
        run.status |= NO_ROOM
    return frame


def free_frame(run: Run, frame: Frame) -> None:
    """See `netsim.model.primitives`."""
    frame.link = run.machine.free_frame
    run.machine.free_frame = frame


def new_connection(run: Run) -> Connection:
    """See `netsim.model.primitives`."""
    machine: Machine = run.machine
    made = machine.free_connection
    if made:
        machine.free_connection = made.link
    else:
        made = connection_at(machine.next_connection)
        if machine.next_connection < machine.connections_stop:
            machine.next_connection += machine.connection_bytes
        else:
            run.status |= NO_ROOM
    words = words_at(made)
    if run.control:
        for i in range(machine.connection_bytes >> 3):
            words[i] = 0
        return made
    for i in range(END_PLAIN):  # nobody has written to the others
        words[i] = 0
        words[END_WORDS + i] = 0
    for i in range(2 * END_WORDS, CONNECTION_PLAIN):
        words[i] = 0
    return made


def refer(run: Run, connection: Connection, more: int) -> None:
    """See `netsim.model.primitives`."""
    connection.references += more
    if connection.references == 0 and connection.client.closed:
        for end in (connection.client, connection.server):
            while end.out_of_order:
                node = end.out_of_order
                end.out_of_order = node.link
                free_frame(run, node)
            while end.sent.count:
                free_frame(run, take_first(end.sent))
        while connection.frames.count:
            free_frame(run, take_first(connection.frames))
        while connection.updates.count:
            free_frame(run, take_first(connection.updates))
        while connection.records.count:
            free_frame(run, take_first(connection.records))
        connection.link = run.machine.free_connection
        run.machine.free_connection = connection


# -- the policy


def ask(run: Run, client: Client, at_beacon: int, now: int, slept: int, waiting: int) -> None:
    """See `netsim.model.primitives`."""
    ints, floats = carray(words_at(client.ints), (client.n_ints,)), carray(reals_at(client.floats), (client.n_floats,))
    offset, deadline, missing = client.offset, NEVER, client.missing if client.host_aware and client.n_hosts else 0
    sent = client.last_sent - (offset if client.last_sent != NOT_YET_NS else 0)
    received = client.last_received - (offset if client.last_received != NOT_YET_NS else 0)
    if client.host_aware and client.deadline < NEVER:
        deadline = client.deadline - offset
    view = FlatView(now - offset, at_beacon, sent, received, slept, waiting, deadline, missing)
    plan = call_plan(client.rule, view, ints, floats)
    poll = plan.repeat_ns == ASK
    if cannot_follow(max(now - offset, plan.awake_until_ns), plan.wake_ns, plan.repeat_ns, plan.agreed, run.interval):
        run.status |= BAD_PLAN
    if poll and (plan.agreed or not client.polls):
        run.status |= BAD_PLAN
    asked = client.asked
    asked.until, asked.wake, asked.repeat = (
        plan.awake_until_ns + offset,
        plan.wake_ns + offset,
        0 if poll else plan.repeat_ns,
    )
    asked.opens, asked.agreed, asked.poll = plan.open_on_send, plan.agreed, poll


def tell_policy(run: Run, client: Client, frame: Frame, sent: int, completes: int, wanted: int) -> None:
    """See `netsim.model.primitives`."""
    ints, floats = carray(words_at(client.ints), (client.n_ints,)), carray(reals_at(client.floats), (client.n_floats,))
    at = empty = full = run.now
    if not sent:
        empty, full = arrival(run, client, frame)
    offset = client.offset
    number, opening, length, asked_of = -1, 0, 0, -1
    if client.host_aware:
        number, opening, length = frame.to.connection.number, int(frame.flag != 0), frame.length
        asked_of = frame.to.connection.asked_of
    else:
        completes = wanted = 0
    seen = FlatFrame(
        sent, at - offset, empty - offset, full - offset, frame.bytes, number, opening, length, completes, wanted,
        asked_of,
    )  # fmt: skip
    call_observe(client.observer, seen, ints, floats)


# -- notes


def next_note(run: Run, client: Client, notes: Notes) -> int:
    """Return the place of another note; -1 if the client has left, or there is no room."""
    n = notes.n
    if client.is_done:
        return -1
    if n >= notes.room:
        run.status |= NO_ROOM
        return -1
    notes.clients[n] = client.number
    notes.n = n + 1
    if 2 * n >= notes.room:
        run.status |= NOTES
    return n


def note_interval(run: Run, client: Client, begin: int, end: int) -> None:
    """See `netsim.model.primitives`."""
    notes = run.machine.intervals
    at = INTERVAL_NUMBERS * next_note(run, client, notes)
    if at >= 0:
        notes.numbers[at], notes.numbers[at + 1] = begin, end


def note_poll(run: Run, client: Client, at: int, slept: int, waiting: int, following: int, more: int, gap: int) -> None:
    """See `netsim.model.primitives`."""
    notes = run.machine.polls
    place, numbers = POLL_NUMBERS * next_note(run, client, notes), notes.numbers
    if place >= 0:
        numbers[place], numbers[place + 1], numbers[place + 2] = at, slept, waiting
        numbers[place + 3], numbers[place + 4], numbers[place + 5] = following, more, gap


def note_late(run: Run, beacon: int, by: int) -> None:
    """See `netsim.model.primitives`."""
    n = run.n_late
    if n >= run.late_room:
        run.status |= NO_ROOM
        return
    run.late[2 * n], run.late[2 * n + 1] = beacon, by
    run.n_late = n + 1
    if 2 * n >= run.late_room:
        run.status |= NOTES
