"""Primitives: the few operations that are done one way where the model is interpreted and another where it is compiled.

They schedule events, take and give back records, draw numbers, ask and tell the policy, and take notes.  Here stands
what they do on SimPy (`netsim.running.on_simpy` makes the run); `netsim.running.compiled` has the same names for the
compiled loop of events.  Nothing else in the model knows which of the two it is.
"""

from __future__ import annotations

from heapq import heappush
from typing import Any

from simpy import Event
from simpy.events import NORMAL, EventPriority

from netsim.model.codes import TCP_TIMER
from netsim.model.entities import Client, Connection, Frame, Run, Stream

LAST = EventPriority(NORMAL + 1)


# -- events


class Occurrence(Event):
    """Something that happens at an instant known beforehand, with what it is about for its one callback.

    It is SimPy's `Timeout` with an absolute instant, and enters itself into SimPy's queue instead of calling
    `Environment.schedule`, which would make a run of the Web model under static PSM 3 to 6 % slower.
    """

    def __init__(self, machine: Any, at: int, code: int, what: object) -> None:
        self.env = clock = machine.clock
        self.callbacks = [machine.handlers[code]]
        self._value = what
        self._ok = True
        heappush(clock._queue, (at, LAST if code == TCP_TIMER else NORMAL, next(clock._eid), self))


def schedule(run: Run, at: int, code: int, what: object) -> None:
    """Schedule an event: after those of its instant that are scheduled already, and a time-out after all others."""
    Occurrence(run.machine, at, code, what)


def arrive(run: Run, line: int, at: int, code: int, what: Frame) -> None:
    """Schedule the arrival of a packet at the end of a link, where nothing overtakes."""
    Occurrence(run.machine, at, code, what)


def draw(run: Run, stream: Stream) -> float:
    """Return the next number of a stream."""
    drawn: float = stream.next()
    return drawn


# -- memory


def new_frame(run: Run) -> Frame:
    """Return a frame, whose fields are as they were left."""
    return run.machine.frames.pop() if run.machine.frames else Frame()


def free_frame(run: Run, frame: Frame) -> None:
    """Give a frame back."""
    if not run.recorder:
        run.machine.frames.append(frame)


def new_connection(run: Run) -> Connection:
    """Return a connection whose fields are 0."""
    return Connection()


def refer(run: Run, connection: Connection, more: int) -> None:
    """Count who will come back to a connection; compiled, a closed one that nobody will is given back."""


# -- the policy


def ask(run: Run, client: Client, at_beacon: int, now: int, slept: int, waiting: int) -> None:
    """Ask the policy; at a beacon `now` is its target time.  The answer is `client.asked`."""
    client.policy.ask(run, client, at_beacon, now, slept, waiting)


def tell_policy(run: Run, client: Client, frame: Frame, sent: int, completes: int, wanted: int) -> None:
    """Tell the policy of a frame that is sent or received now."""
    client.policy.tell(run, client, frame, sent, completes, wanted)


# -- notes


def note_interval(run: Run, client: Client, begin: int, end: int) -> None:
    """Note an interval awake, unless the client has left."""
    if not client.is_done:
        run.machine.intervals[client.number].extend((begin, end))


def note_poll(run: Run, client: Client, at: int, slept: int, waiting: int, following: int, more: int, gap: int) -> None:
    """Note a beacon that was listened to, how many more like it follow, and at which distance."""
    if not client.is_done:
        run.machine.polls[client.number].extend((at, slept, waiting, following, more, gap))


def note_late(run: Run, beacon: int, by: int) -> None:
    """Note that a beacon was late."""
    run.late.extend((beacon, by))
    run.n_late += 1


def note_landed(run: Run, frame: Frame, arrived: int) -> None:
    """Hand over a datagram that has arrived or was lost, where packets are real (`netsim.running.real_time`)."""
    if run.machine.landed:
        run.machine.landed(frame, arrived)


# -- notes of a run that is recorded (`netsim.running.recorder`)


def note_up(run: Run, frame: Frame, begin: int, end: int, lost: int) -> None:
    """Note a packet that a client puts on the air of a link."""
    if run.recorder:
        run.recorder.put_up(run, frame, begin, end, lost)


def note_down(run: Run, frame: Frame, begin: int, end: int, lost: int) -> None:
    """Note a packet that the access point puts on the air of a link."""
    if run.recorder:
        run.recorder.put_down(run, frame, begin, end, lost)


def note_asked(run: Run, begin: int, end: int, down: int, lost: int) -> None:
    """Note a poll on the air of a link, or down the answer that nothing waits."""
    if run.recorder:
        run.recorder.polled_ns.append((begin, end, bool(lost), bool(down)))


def note_exchange(run: Run, n: int, received: int) -> None:
    """Note the exchange that begins on the channel, or the collision of `n`."""
    if run.recorder:
        run.recorder.on_channel(run, n, received)


def note_gate(run: Run, at: int, is_open: int) -> None:
    """Note that a gate opens or closes."""
    if run.recorder:
        run.recorder.gate(at, is_open)


def note_held(run: Run, client: Client) -> None:
    """Note whether the access point holds back frames for a client."""
    if run.recorder:
        run.recorder.held(run, client)


def note_answer(run: Run, connection: Connection) -> None:
    """Note that what was asked for on a connection is complete."""
    if run.recorder:
        run.recorder.answered(run, connection)
