"""The access point on the shared air: one contender with a line for each client and one for group frames.

A frame for a client that is awake, as far as the access point knows, joins the client's line; one for a client in
power-save mode is held back.  The lines are served in turn, one frame each, or as many as go together, group frames
before all others.  Left out: a limit to lines and to what is held back.
"""

from __future__ import annotations

from lpsm.native.records import NONE
from netsim.model.air.channel import contend, put
from netsim.model.codes import DOWN, NEVER, OPEN
from netsim.model.entities import Client, Frame, Queue, Run
from netsim.model.primitives import new_frame, note_held
from netsim.model.queues import append, remove, take_first


def hold(run: Run, client: Client, frame: Frame) -> None:
    """Hold a packet back for a client."""
    append(client.buffer, frame)
    client.waiting += frame.bytes
    note_held(run, client)


def take_held(run: Run, client: Client) -> Frame:
    """Take out the oldest packet that is held back."""
    frame = take_first(client.buffer)
    client.waiting -= frame.bytes
    client.full = run.now
    note_held(run, client)
    return frame


def forward(run: Run, client: Client, packet: Frame) -> None:
    """Send a packet to a client that is awake; NONE: the null frame that ends a service period."""
    client.planned = 0
    client.close = NEVER
    client.due_down += 1
    frame, contender = packet, run.contenders[0]
    if frame:
        frame.exchange = run.exchanges[frame.bytes + client.overhead]
    else:
        frame = new_frame(run)
        frame.exchange, frame.client, frame.to = run.exchanges[client.null], client, NONE
    frame.code, frame.outcome, frame.tries, frame.air = DOWN, OPEN, 0, frame.exchange.alone
    has_room = client.line.count == 0 and contender.queue.count < run.at_once
    if run.most_bytes and frame.to and run.serving == client and has_room:  # it joins those that go together
        append(contender.queue, frame)
        return
    if client.line.count == 0:
        append(run.turns, client.turn)
    append(client.line, frame)
    serve(run)


def serve(run: Run) -> None:
    """Hand the next frame, or the next that may go together, to the access point's contender if it has none."""
    contender = run.contenders[0]
    if contender.queue.count:
        return
    if run.group_queue.count:
        put(run, contender, take_first(run.group_queue))
    elif run.turns.count:
        client = take_first(run.turns).client
        run.serving = client
        while client.line.count and contender.queue.count < run.at_once:
            append(contender.queue, take_first(client.line))
        if client.line.count:
            append(run.turns, client.turn)
        if not contender.contends:
            contend(run, contender)


def pass_on(run: Run) -> None:
    """Let the next client have its turn; what is left of frames sent together waits for the next of its own."""
    client, queue = run.serving, run.contenders[0].queue
    if queue.count:
        if run.turns.count == 0 and run.group_queue.count == 0:
            return
        if client.line.count == 0:
            append(run.turns, client.turn)
        put_back(queue, client.line)
    run.serving, run.contenders[0].asks = NONE, 0
    serve(run)


def withdraw(run: Run, client: Client) -> Frame:
    """Take back what waits in the line of a client that goes to sleep; return the first, which links to the others."""
    line = client.line
    if line.count:
        remove(run.turns, client.turn)
    if run.serving == client:
        put_back(run.contenders[0].queue, line)
        run.serving, run.contenders[0].asks = NONE, 0
    first: Frame = line.head if line.count else NONE
    line.head, line.count = NONE, 0
    serve(run)
    return first


def put_back(taken: Queue, line: Queue) -> None:
    """Put the frames of a queue at the beginning of a line."""
    if taken.count:
        taken.tail.link = line.head
        if line.count == 0:
            line.tail = taken.tail
        line.head = taken.head
        line.count += taken.count
        taken.head, taken.count = NONE, 0
