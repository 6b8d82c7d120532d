"""The medium of the thesis: four links that all clients share, each first in and first out, and a client's station.

Down the wire everything arrives at the access point.  While a client's gate is open a frame goes straight onto its
air; while it is closed it waits, and the next beacon that the client listens to lets it out.  Up, nothing is held, so
the two links are one step.  A lost frame has used the air all the same.

The station is brought up to date only when something happens to it: between two such instants its behaviour follows
from its policy alone, so falling asleep and beacons that bring nothing need no events.  One event exists: a beacon
that will find frames waiting.  States: *gate open* (awake; what reaches the access point is delivered at once), or
*gate closed* (asleep, or awake for its own transmission only).

Left out: contention for the air (which `netsim.model.air` has), a limit to the buffer, time and energy to wake up,
the poll frame itself.
"""

from __future__ import annotations

from netsim.model.codes import AT_CLIENT, AT_SERVER, DATAGRAM, LISTEN
from netsim.model.datagrams import land
from netsim.model.entities import Client, Frame, Line, Run
from netsim.model.policy import ask_at_beacon, follow, say_sent, take_answer
from netsim.model.primitives import (
    arrive,
    ask,
    draw,
    free_frame,
    note_down,
    note_gate,
    note_interval,
    note_poll,
    note_up,
    refer,
    schedule,
)
from netsim.model.queues import append, take_first

UP_WIRE, DOWN_WIRE, DOWN_AIR = range(3)
"""The links at whose ends packets arrive one by one; of the air upwards none does."""


# -- links


def time_on(run: Run, line: Line, size: int) -> int:
    """Return how long a packet of so many bytes takes on a link."""
    if size == run.full:
        return line.full
    if size == run.header:
        return line.bare
    return size * line.numerator // line.denominator


def transmit(run: Run, line: Line, size: int, at: int) -> int:
    """Queue a packet at the instant `at`; return when its last bit has arrived."""
    free = line.free
    line.free = free = (free if free > at else at) + time_on(run, line, size)
    return free + line.delay


def draw_loss(run: Run, client: Client) -> bool:
    """Draw whether a frame is lost on the air."""
    lost = draw(run, run.losses) < run.loss_rate
    client.lost += lost
    return lost


def lose(run: Run, frame: Frame) -> None:
    """Forget a frame that was lost."""
    connection = frame.to.connection
    if frame.flag == DATAGRAM:
        land(run, frame, 0)
    free_frame(run, frame)
    refer(run, connection, -1)


def carry_up(run: Run, client: Client, frame: Frame) -> None:
    """Carry a packet from the client to the server."""
    line, duration = run.air_up, time_on(run, run.air_up, frame.bytes)
    client.air_up += duration
    frame.reached = now = run.now
    line.free = free = (line.free if line.free > now else now) + duration
    lost = run.loss_rate > 0.0 and draw_loss(run, client)
    note_up(run, frame, free - duration, free, lost)
    if lost:
        lose(run, frame)
    else:
        arrive(run, UP_WIRE, transmit(run, run.wire_up, frame.bytes, free + line.delay), AT_SERVER, frame)


def put_on_air(run: Run, client: Client, frame: Frame, at: int) -> int:
    """Put a packet that is at the access point at `at` onto the air; return when it has left it."""
    line, duration = run.air_down, time_on(run, run.air_down, frame.bytes)
    client.air_down += duration
    line.free = free = (line.free if line.free > at else at) + duration
    lost = run.loss_rate > 0.0 and draw_loss(run, client)
    note_down(run, frame, free - duration, free, lost)
    if lost:
        lose(run, frame)
    else:
        arrive(run, DOWN_AIR, free + line.delay, AT_CLIENT, frame)
    return free + line.delay


# -- packets at the station


def begin_on_wires(run: Run, client: Client) -> None:
    """Ask the policy for the first time."""
    client.is_open = 1
    client.awake_until = -1
    ask(run, client, 0, 0, 0, 0)
    take_answer(client)
    client.sleep = client.plan.until
    if client.sleep <= 0:
        fall_asleep(run, client, 0)


def send_on_wires(run: Run, client: Client, frame: Frame) -> None:
    """Hand a packet to the transmitter, waking up for it if need be."""
    if client.never_sleeps:
        carry_up(run, client, frame)
        return
    now = run.now
    advance_on_wires(run, client, now)
    say_sent(run, client, frame)
    stay_awake(run, client, now)
    carry_up(run, client, frame)
    client.transmitted = run.air_up.free
    if client.is_open:
        client.planned = 0
        client.busy = max(client.busy, client.transmitted)
    elif client.opens:
        let_out(run, client, now)
    else:
        client.awake_until = client.transmitted


def at_access_point_on_wires(run: Run, client: Client, frame: Frame) -> None:
    """Send a packet on to its client, or hold it back for the next beacon that is listened to."""
    advance_on_wires(run, client, run.now)
    if client.is_open:
        client.planned = 0
        client.busy = max(client.busy, put_on_air(run, client, frame, run.now))
        return
    if client.buffer.count == 0:
        schedule(run, client.wake, LISTEN, client)
    append(client.buffer, frame)
    client.waiting += frame.bytes


# -- time


def advance_on_wires(run: Run, client: Client, now: int) -> None:
    """Bring the station up to `now`, beacons at that very instant included."""
    while True:
        if client.is_open:
            if now <= client.busy:
                return
            if not client.planned:
                ask(run, client, 0, client.busy, 0, 0)
                take_answer(client)
                client.sleep = max(client.plan.until, client.busy)
            if now <= client.sleep:
                return
            fall_asleep(run, client, client.sleep)
        if client.wake > now:
            return
        if client.repeat and client.buffer.count == 0:
            skip_beacons_on_wires(run, client, now)
        else:
            listen_on_wires(run, client, client.wake)


def time_awake_on_wires(client: Client, now: int) -> int:
    """Return the time spent awake in [0, now]."""
    until = now if client.is_open else min(now, client.awake_until)
    return client.awake_before + max(0, until - client.awake_since)


def finish_on_wires(run: Run, client: Client, now: int) -> None:
    """Close the current interval awake."""
    until = now if client.is_open else min(now, client.awake_until)
    close_interval(run, client, until)
    client.awake_since = now


def close_interval(run: Run, client: Client, until: int) -> None:
    """Note the interval awake that ends at an instant, if there is one."""
    if until > client.awake_since:
        note_interval(run, client, client.awake_since, until)
        client.awake_before += until - client.awake_since


def stay_awake(run: Run, client: Client, at: int) -> None:
    """Be awake from `at` on: either still, or anew."""
    if client.is_open or at <= client.awake_until:
        return
    close_interval(run, client, client.awake_until)
    client.awake_since = client.awake_until = at


def fall_asleep(run: Run, client: Client, at: int) -> None:
    """Close the gate at an instant, and follow the plan."""
    client.is_open = 0
    client.awake_until = client.slept_from = at
    follow(client, client.plan)
    note_gate(run, at, 0)


# -- beacons


def skip_beacons_on_wires(run: Run, client: Client, now: int) -> None:
    """Listen to all the beacons up to `now` that bring nothing and that the policy need not hear of."""
    first, period = client.wake, client.repeat
    n = (now - first) // period + 1
    last = first + (n - 1) * period
    client.beacons += n
    if first <= client.awake_until:  # heard while awake to send
        client.beacons -= (min(last, client.awake_until) - first) // period + 1
    note_poll(run, client, first, first - client.slept_from, 0, period, n - 1, period)
    client.slept_from = last
    client.wake = last + period


def listen_on_wires(run: Run, client: Client, at: int) -> None:
    """Listen to one beacon: ask the policy, and let out what waits."""
    if not client.agreed and not client.awake_since < at <= client.awake_until:
        client.beacons += 1
    ask_at_beacon(run, client, at)
    if client.buffer.count:
        stay_awake(run, client, at)
        let_out(run, client, at)
    elif client.asked.until > at:
        stay_awake(run, client, at)
        client.is_open = 1
        client.busy = max(at, client.transmitted)
        take_answer(client)
        client.planned = client.busy < client.plan.wake  # a frame of its own may take longer than it
        client.sleep = max(client.plan.until, client.busy)
        note_gate(run, at, 1)
    else:
        client.slept_from = at
        follow(client, client.asked)


def let_out(run: Run, client: Client, at: int) -> None:
    """Open the gate, and put all that waits onto the air."""
    client.is_open, client.planned = 1, 0
    busy = at
    while client.buffer.count:
        busy = put_on_air(run, client, take_first(client.buffer), at)
    client.waiting = 0
    client.busy = max(busy, client.transmitted)
    note_gate(run, at, 1)
