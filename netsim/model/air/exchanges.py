"""The ends of exchanges: what was sent has been received, or its answer is missed, and who is told of it."""

from __future__ import annotations

from lpsm.native.records import NONE
from netsim.model.air.access_point import hold, pass_on, take_held, withdraw
from netsim.model.air.aggregation import miss_each, settle_each
from netsim.model.air.channel import advance_beacons, contend, draw_backoff, wait
from netsim.model.air.groups import group_ended
from netsim.model.air.retrieval import access_point_hears, open_gate, poll, serve_period
from netsim.model.air.station import close_gate, gate_closed, rest
from netsim.model.codes import (
    AT_SERVER,
    CLOSING,
    DATAGRAM,
    DOWN,
    GROUP,
    OFFER,
    OFFERED,
    OPEN,
    OPENING,
    POLL,
    RECEIVED,
    SATURATED,
    TRIGGER,
    UP,
)
from netsim.model.datagrams import land
from netsim.model.entities import Client, Contender, Frame, Run
from netsim.model.primitives import arrive, draw, free_frame, new_frame, refer, schedule
from netsim.model.queues import append, take_first
from netsim.model.receiver import receive_down
from netsim.model.wires import UP_WIRE, transmit

LONGEST_QUEUE = 1000  # packets that wait at a neighbour, as in the queue of a Linux interface; others are dropped

# -- neighbours


def load(run: Run, neighbour: Contender) -> None:
    """Give a neighbour a packet; all are alike, and one frame stands for them unless frames go together."""
    if run.most_bytes:
        frame = new_frame(run)
        frame.code = OFFERED if run.offered else SATURATED
        frame.client, frame.to, frame.outcome, frame.tries = NONE, NONE, OPEN, 0
        frame.exchange = neighbour.template.exchange
        append(neighbour.queue, frame)
    else:
        neighbour.queue.head = neighbour.template
        neighbour.queue.count += 1


def offer(run: Run, neighbour: Contender) -> None:
    """Give a neighbour the packet that is due, if there is room for it, and schedule the one after it."""
    if neighbour.queue.count < LONGEST_QUEUE:
        load(run, neighbour)
    if not neighbour.contends:
        contend(run, neighbour)
    schedule(run, run.now + int(draw(run, neighbour.gaps)), OFFER, neighbour)


def saturate(run: Run, neighbour: Contender) -> None:
    """Have a neighbour always have a packet to send, or as many as can go together."""
    for _ in range(run.at_once):
        load(run, neighbour)
    contend(run, neighbour)


# -- ends of exchanges


def deliver(run: Run, sender: Contender) -> None:
    """Hand over what was received; the sender draws a new backoff, which counts from the end of the exchange."""
    together, exchange, asked = sender.spanned, sender.exchange, sender.asks
    frame = sender.queue.head
    sender.delivered += sender.together
    sender.tries = sender.failures = sender.asks = 0
    sender.cw = run.cw_min
    if together == 0 and not asked:
        leave_queue(run, sender)
    sender.contends = sender.on_air = 0
    draw_backoff(run, sender, run.slots)
    if frame.code == DOWN:
        contender = frame.client.contender
        contender.received += exchange.sent
        contender.sent += exchange.received
    if asked:
        if frame.code == UP:
            access_point_hears(run, frame.client)
    elif together:
        first = settle_each(run, sender)
        if first.code == UP:
            access_point_hears(run, first.client)
        hand_over(run, sender, run.free)
    else:
        code, client = frame.code, frame.client
        do_delivered(run, frame, code, client)
        if code == UP:
            access_point_hears(run, client)
        do_ended(run, sender, frame, code, client, 1, run.free)
    go_on(run, sender)


def miss_answer(run: Run, sender: Contender) -> None:
    """Double the contention window and try again, or give the frame up."""
    now = run.now
    sender.contends = sender.on_air = 0
    asked, sender.asks = sender.asks, 0
    if sender.queue.count == 0:  # its frame was withdrawn
        return
    sender.tries, sender.failures = sender.tries + 1, sender.failures + 1
    sender.cw = min(2 * sender.cw + 1, run.cw_max)
    frame, together, given_up = sender.queue.head, sender.spanned, False
    if together or asked:
        sender.tries = 0  # none is given up
        sender.asks = asked or int(run.asks and sender.together > 1)
        miss_each(sender)
        if sender.failures > run.attempts:
            sender.failures, sender.cw = 0, run.cw_min
    elif frame.exchange.answered == 0 or sender.tries >= run.attempts:
        given_up = True
        leave_queue(run, sender)
        sender.dropped += 1
        sender.tries = sender.failures = 0
        sender.cw = run.cw_min
    advance_beacons(run, now)
    ready = run.slots
    if now >= run.free:
        ready += max(0, -((run.count_from - now - run.difs) // run.slot))
    draw_backoff(run, sender, ready)
    if together:
        hand_over(run, sender, now)
    elif given_up:
        do_ended(run, sender, frame, frame.code, frame.client, 0, now)
    go_on(run, sender)


def go_on(run: Run, sender: Contender) -> None:
    """Let a sender contend with its next frame, whose backoff is drawn already."""
    if sender.queue.count and not sender.contends:
        sender.contends = 1
        wait(run, sender)


def leave_queue(run: Run, sender: Contender) -> None:
    """Take the first frame out of its queue."""
    if sender.template and not run.most_bytes:
        sender.queue.count -= 1
    else:
        take_first(sender.queue)


def hand_over(run: Run, sender: Contender, end: int) -> None:
    """Let frames that may go together leave the queue up to the first that is not received."""
    queue = sender.queue
    while queue.count and queue.head.outcome == RECEIVED:
        frame = queue.head
        code, client = frame.code, frame.client
        queue.head = frame.link
        do_delivered(run, frame, code, client)
        queue.count -= 1
        do_ended(run, sender, frame, code, client, 1, end)
    if sender.place == 0:
        pass_on(run)


# -- what becomes of a frame


def do_delivered(run: Run, frame: Frame, code: int, client: Client) -> None:
    """Do what a frame was sent for; one that carried a packet is not its sender's any more."""
    if code == UP:
        client.air_up += frame.air - frame.exchange.alone  # less than alone, if it went with others
        arrive(run, UP_WIRE, transmit(run, run.wire_up, frame.bytes, run.now), AT_SERVER, frame)
    elif code == DOWN:
        take_down(run, client, frame)
    elif code == POLL:
        client.air_down += frame.exchange.alone
        client.planned = 0
        receive_down(run, take_held(run, client))
    elif code == OPENING:
        open_gate(run, client, run.now)
    elif code == TRIGGER:
        serve_period(run, client)
    elif code == CLOSING:
        close_gate(run, client, run.now)
        hold_line(run, client)


def take_down(run: Run, client: Client, frame: Frame) -> None:
    """Take in a frame from the access point at its client."""
    client.planned = 0
    if frame.to:
        client.air_down += frame.air
        receive_down(run, frame)
    else:
        free_frame(run, frame)


def do_ended(run: Run, sender: Contender, frame: Frame, code: int, client: Client, delivered: int, end: int) -> None:
    """A frame has left its queue: it was delivered, or given up; its answer ends, or was missed, at `end`."""
    if code in (SATURATED, OFFERED):
        if run.most_bytes:
            free_frame(run, frame)
        if code == SATURATED:
            load(run, sender)
    elif code == GROUP:
        group_ended(run, frame, delivered)
    elif code in (DOWN, UP):
        if not delivered:
            drop(run, frame)
        if code == DOWN:
            if sender.exchange.size == 0 or not run.most_bytes:
                pass_on(run)
            client.due_down -= 1
        sent(run, client, delivered, end)
    else:
        free_frame(run, frame)
        if code == CLOSING:
            gate_closed(run, client, delivered, end)
        elif code == POLL and delivered and waited(client, run.now - sender.exchange.alone):  # More Data
            poll(run, client)
        else:
            client.fetches = 0
            sent(run, client, delivered, end)


def waited(client: Client, at: int) -> bool:
    """Return whether something that is held back for a client was there already when the header of a frame was sent."""
    return client.buffer.count > 0 and client.buffer.head.reached <= at


def sent(run: Run, client: Client, delivered: int, end: int) -> None:
    """Note that a frame of this client, or for it, has left its queue."""
    client.lost += 1 - delivered
    rest(run, client, end)


def drop(run: Run, frame: Frame) -> None:
    """Forget a packet that was given up, or the null frame that ends a service period."""
    end = frame.to
    free_frame(run, frame)
    if end:
        if frame.flag == DATAGRAM:
            land(run, frame, 0)
        refer(run, end.connection, -1)


def hold_line(run: Run, client: Client) -> None:
    """Hold back what the access point was about to send to a client that goes to sleep."""
    frame = withdraw(run, client)
    while frame:
        following = frame.link
        client.due_down -= 1
        if frame.outcome == RECEIVED:  # the client waits no longer for one before it
            take_down(run, client, frame)
        elif frame.to:
            hold(run, client, frame)
        else:
            free_frame(run, frame)
        frame = following
