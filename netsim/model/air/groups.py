"""Group frames, and who is told of beacons.

Every `dtim_period` beacons one is a DTIM: group frames that have waited follow it, contending as the access point's
other frames do.  They wait for a DTIM because clients may sleep.  Nobody acknowledges them: one that collides is lost
to all who listen, who go on listening to the next beacon if it was the last.  A background of group traffic (ARP,
mDNS, SSDP of other hosts) arrives memoryless.  Going before all others, more of it than the channel carries would
leave nothing to anybody: a run in which thousands of batches are on their way at once stops.

Source: IEEE 802.11-2020, 11.2.3.4 (DTIM).
"""

from __future__ import annotations

from lpsm.native.records import NONE
from netsim.model.air.access_point import serve
from netsim.model.air.beacons import beacon_start
from netsim.model.air.channel import advance_beacons, listen_to_beacon
from netsim.model.air.radio import hear_groups
from netsim.model.air.station import advance_on_air, await_beacon
from netsim.model.codes import BROADCAST, GROUP, OPEN, OVERLOADED
from netsim.model.entities import Client, Frame, Run
from netsim.model.primitives import draw, free_frame, new_frame, schedule
from netsim.model.queues import append, take_first


def tell(run: Run, beacon: int) -> None:
    """Tell those who listen to a beacon that it has ended."""
    kept = n = 0
    for i in range(run.n_listeners):
        number, who = run.listeners[2 * i], run.listeners[2 * i + 1]
        if number == beacon:
            run.told[n] = who
            n += 1
        else:
            run.listeners[2 * kept], run.listeners[2 * kept + 1] = number, who
            kept += 1
    run.n_listeners = kept
    for i in range(n):
        if run.told[i] >= 0:
            advance_on_air(run, run.clients[run.told[i]], run.now)
        else:
            send_groups(run, beacon)


def expect_group(run: Run) -> None:
    """Have the next group frame arrive after a gap without memory."""
    schedule(run, run.now + int(draw(run, run.group_gaps)), BROADCAST, NONE)


def add_group(run: Run) -> None:
    """Take a group frame from the network: sent at once if no client ever sleeps, else after the next DTIM."""
    frame, sleeps = new_frame(run), False
    frame.code, frame.client, frame.to, frame.outcome = GROUP, NONE, NONE, OPEN
    frame.exchange = run.group_exchange
    append(run.groups, frame)
    for i in range(run.n_clients):
        sleeps = sleeps or not run.clients[i].never_sleeps
    if not sleeps:
        send_groups(run, 0)
    elif run.groups.count == 1:
        advance_beacons(run, run.now)
        listen_to_beacon(run, -(-run.next_beacon // run.dtim) * run.dtim, -1)
    expect_group(run)


def send_groups(run: Run, beacon: int) -> None:
    """Send the group frames that wait, after a beacon (0: at once); clients that did not hear it lose them."""
    n, now, batch = run.groups.count, run.now, run.n_batches
    run.n_batches = batch + 1
    for i in range(run.n_clients):
        client, hears = run.clients[i], True
        if beacon:
            begin = beacon_start(run, beacon)
            advance_on_air(run, client, now)
            if client.missed == now:
                hears = False
            elif client.dozing:
                hears = client.slept_from > begin
            else:
                hears = client.awake_since <= begin
        if not hears:
            client.groups_lost += n
        if client.batches[batch % run.batches_room]:
            run.status |= OVERLOADED
        client.batches[batch % run.batches_room] = 1 + hears
    while run.groups.count:
        frame = take_first(run.groups)
        frame.batch, frame.more, frame.reached = batch, run.groups.count > 0, now
        append(run.group_queue, frame)
    serve(run)


def group_ended(run: Run, frame: Frame, received: int) -> None:
    """Let those who listen to group frames have one, or lose it in a collision; after the last they may doze.

    One who loses the last, which says that no more follow, stays awake for the next beacon.
    """
    place, more, end, air = frame.batch % run.batches_room, frame.more, frame.reached, frame.exchange.first
    free_frame(run, frame)
    for i in range(run.n_clients):
        client = run.clients[i]
        if client.batches[place] == 2:
            client.group_air += air * received
            client.groups_lost += 1 - received
            if not more:
                advance_on_air(run, client, run.now)
                hear_groups(client, end, run.now)
                if not received:
                    await_next_beacon(run, client)
        if not more:
            client.batches[place] = 0
    serve(run)


def await_next_beacon(run: Run, client: Client) -> None:
    """Have a client that would doze stay awake up to the next beacon."""
    if client.dozing and not client.agreed and not client.poll:
        client.dozing, client.awake_since = 0, run.now
        client.wake, client.repeat = min(client.wake, run.next_target), 0
        await_beacon(run, client)
