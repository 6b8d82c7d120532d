"""The medium of the thesis: four links that all clients share, each first in and first out, and a client's station.

Down the wire everything arrives at the access point.  While a client's gate is open a frame goes straight onto its
air; while it is closed it waits, and the next beacon that the client listens to lets it out.  Up, nothing is held, so
the two links are one step.  A lost frame has used the air all the same.

The station is brought up to date only when something happens to it: between two such instants its behaviour follows
from its policy alone, so falling asleep and beacons that bring nothing need no events.  One event exists: a beacon
that will find frames waiting.  States: *gate open* (awake; what reaches the access point is delivered at once), or
*gate closed* (asleep, or awake for its own transmission only).

A poll, by a policy that may send one at any instant, is a packet without payload, answered by what waits or by another;
such a client is looked at by events.

Left out: contention for the air (which `netsim.model.air` has), a limit to the buffer, time and energy to wake up,
and what fetches frames after a beacon.
"""

from __future__ import annotations

from netsim.model.codes import AT_CLIENT, AT_SERVER, DATAGRAM, HEARD, LISTEN, NEVER
from netsim.model.datagrams import land
from netsim.model.entities import Client, Frame, Line, Run
from netsim.model.policy import ask_at_beacon, ask_idle, follow, say_sent, take_answer
from netsim.model.primitives import (
    arrive,
    ask,
    draw,
    free_frame,
    note_asked,
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
    watch(run, client)


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
        client.awake_until = max(client.awake_until, client.transmitted)
    watch(run, client)


def at_access_point_on_wires(run: Run, client: Client, frame: Frame) -> None:
    """Send a packet on to its client, or hold it back for the next beacon that is listened to."""
    advance_on_wires(run, client, run.now)
    if client.is_open:
        client.planned = 0
        client.busy = max(client.busy, put_on_air(run, client, frame, run.now))
        watch(run, client)
        return
    if client.buffer.count == 0 and not client.polls:
        schedule(run, client.wake, LISTEN, client)
    append(client.buffer, frame)
    client.waiting += frame.bytes
    watch(run, client)


# -- time


def advance_on_wires(run: Run, client: Client, now: int) -> None:
    """Bring the station up to `now`, beacons at that very instant included."""
    while True:
        if client.is_open:
            if now <= client.busy:
                return
            if not client.planned:
                ask_idle(run, client, client.busy)
                client.sleep = max(client.plan.until, client.busy)
            if now <= client.sleep:
                return
            client.empty = client.sleep
            fall_asleep(run, client, client.sleep)
        if client.wake > now:
            return
        if client.poll:
            send_poll(run, client)
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


# -- polls: what a client does at any instant is an event, if its policy may poll


def watch(run: Run, client: Client) -> None:
    """Look at a client that polls when it may be asked, fall asleep, or wake up next."""
    if not client.polls:
        return
    at = client.wake
    if client.is_open:
        at = 1 + (client.sleep if client.planned else client.busy)
    if run.now < at < NEVER and at != client.expected:
        client.expected = at
        schedule(run, at, LISTEN, client)


def look_on_wires(run: Run, client: Client) -> None:
    """Bring a client up to now, and look again when it matters."""
    advance_on_wires(run, client, run.now)
    watch(run, client)


def send_poll(run: Run, client: Client) -> None:
    """Wake up and ask the access point for what waits, by a packet without payload."""
    line, now = run.air_up, run.now
    client.wake, client.poll = NEVER, 0
    stay_awake(run, client, now)
    client.air_up += line.bare
    line.free = (line.free if line.free > now else now) + line.bare
    client.transmitted = line.free
    client.awake_until = max(client.awake_until, line.free + line.delay)
    client.polling = 1 + (run.loss_rate > 0.0 and draw_loss(run, client))
    note_asked(run, line.free - line.bare, line.free, 0, client.polling - 1)
    schedule(run, line.free + line.delay, HEARD, client)


def hear_poll(run: Run, client: Client) -> None:
    """The access point hears a poll: it sends what waits, or a packet without payload if nothing does."""
    now, heard, line = run.now, client.polling == 1, run.air_down
    client.polling = 0
    if client.is_open or client.is_done:
        return
    if not heard:
        at = max(now, client.transmitted)  # it may be sending something else
        ask_idle(run, client, at)
        if client.plan.until <= at:
            fall_asleep(run, client, at)
        else:
            let_out(run, client, now)
    elif client.buffer.count:
        let_out(run, client, now)
    else:
        client.air_down += line.bare
        line.free = (line.free if line.free > now else now) + line.bare
        client.is_open, client.planned, client.busy = 1, 0, max(line.free + line.delay, client.transmitted)
        note_asked(run, line.free - line.bare, line.free, 1, 0)
        note_gate(run, now, 1)
    watch(run, client)


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
    client.slept_from = client.empty = last
    client.wake = last + period


def listen_on_wires(run: Run, client: Client, at: int) -> None:
    """Listen to one beacon: ask the policy, and let out what waits."""
    if not client.agreed and not client.awake_since < at <= client.awake_until:
        client.beacons += 1
    ask_at_beacon(run, client, at)
    if client.buffer.count:
        stay_awake(run, client, at)
        let_out(run, client, at)
        return
    client.empty = at
    if client.asked.until > at:
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
    client.is_open, client.planned, client.full = 1, 0, at
    busy = at
    while client.buffer.count:
        busy = put_on_air(run, client, take_first(client.buffer), at)
    client.waiting = 0
    client.busy = max(busy, client.transmitted)
    note_gate(run, at, 1)
