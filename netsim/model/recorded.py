"""Traffic at its own times: exchanges that begin when what they waited for has happened, and datagrams at instants.

An exchange (`Step`) waits for an instant, or for the end of an earlier exchange of its client and then for a pause,
which is the host's own; and for the exchange before it on its connection, which carries one at a time.  So a delay
moves what depended on it, and nothing else.  A page is issued when the first of its exchanges begins and complete when
all of them are; it decides nothing.  Requests and replies are written evenly over the time that they were recorded to
take, which has the congestion of the path in it, so that the window is full from the beginning; what is one packet,
when it was whole, and after more than 10 ms in two halves.  Connections are open from their first exchange on;
handshakes are datagrams beside them.  Left out: several requests at a time on a connection, pauses within a reply but
the longest.
"""

from __future__ import annotations

from netsim.model.browsed import Step
from netsim.model.codes import DUE, PART_DONE, PIECE, READY, SEND
from netsim.model.datagrams import datagram_frame
from netsim.model.entities import Client, Connection, Endpoint, Run
from netsim.model.medium import send_down, send_up
from netsim.model.page_account import close_account, open_account
from netsim.model.primitives import note_answer, schedule
from netsim.model.tcp import close, connect, write

APART = 10_000_000  # what took longer, nanoseconds, came in several packets; of one an archive may tell some ms, too

# -- exchanges


def start_due(run: Run, client: Client) -> None:
    """Let the exchanges begin whose instant has come, and wait for the next instant."""
    while client.next_due >= 0:
        step = client.steps[client.next_due]
        if step.at > run.now:
            schedule(run, step.at, DUE, client)
            return
        client.next_due = step.sibling
        step.client = client
        make_ready(run, step)


def make_ready(run: Run, step: Step) -> None:
    """An exchange may begin, as soon as its connection is free."""
    step.is_ready = 1
    if step.before < 0 or step.client.steps[step.before].is_done:
        start(run, step.client, step)


def start(run: Run, client: Client, step: Step) -> None:
    """Begin an exchange: write its request."""
    page = client.pages[step.page]
    if not page.begun:
        client.page = step.page
        open_account(run, client, step.page)
    page.begun += 1
    step.begun = run.now
    if step.before < 0:
        connection = connect(run, client, client.next_number)
        client.next_number += 1
        connection.is_open = 1
        for end in (connection.client, connection.server):
            end.established, end.cwnd = 1, 1.0 * run.window
    else:
        connection = client.steps[step.before].connection
    step.connection = connection
    connection.step, connection.index = step, page.begun - 2
    connection.request, connection.reply, connection.delay = step.request, step.reply, step.delay
    connection.asked_of = step.asked_of
    connection.server.acknowledges, connection.client.acknowledges = step.reply == 0, 0
    client.outstanding += 1
    begin_writing(run, connection.client, step.request, step.request_piece, step.request_every)


def write_reply(run: Run, connection: Connection) -> None:
    """Let the server begin with its reply."""
    step, end = connection.step, connection.server
    end.pause, end.after_pause = step.pause, step.after_pause
    begin_writing(run, end, step.reply, step.reply_piece, step.reply_every)


def begin_writing(run: Run, end: Endpoint, size: int, piece: int, every: int) -> None:
    """Write the first piece of a request or a reply, of which the only piece is written when it was whole."""
    end.left, end.piece, end.every = size, piece, every
    if every > APART and size <= piece:
        end.piece = (size + 1) // 2
    elif every and size <= piece:
        schedule(run, run.now + every, PIECE, end)
        return
    write_piece(run, end)


def write_piece(run: Run, end: Endpoint) -> None:
    """Write the next piece of a request or a reply."""
    if end.closed:
        return
    size = min(end.left, end.piece)
    end.left -= size
    end.peer.expected += size
    write(run, end, size, end.peer.acknowledges if end.left == 0 else 0)
    if end.left:
        pause = end.pause if end.left <= end.after_pause < end.left + size else 0
        schedule(run, run.now + end.every + pause, PIECE, end)


def finish_step(run: Run, connection: Connection) -> None:
    """An exchange is complete: go on with what waited for it."""
    client, step = connection.client.client, connection.step
    client.outstanding -= 1
    client.page = step.page
    note_answer(run, connection)
    step.is_done, step.ended = 1, run.now
    page = client.pages[step.page]
    page.done += 1
    if page.done > page.objects:
        close_account(run, client, step.page)
    place = step.first
    while place >= 0:
        waiting = client.steps[place]
        waiting.client = client
        schedule(run, run.now + waiting.at, READY, waiting)
        place = waiting.sibling
    if step.next < 0:
        close(run, connection)
    elif client.steps[step.next].is_ready:
        start(run, client, client.steps[step.next])
    client.missing -= 1
    if client.missing == 0:
        schedule(run, run.now, PART_DONE, client)


# -- datagrams


def send_datagrams(run: Run, client: Client) -> None:
    """Send the datagrams whose instant has come, and wait for the next."""
    if not client.casts:
        client.casts = connect(run, client, 0)
    while client.cast < client.n_datagrams:
        datagram = client.datagrams[client.cast]
        if datagram.at > run.now:
            schedule(run, datagram.at, SEND, client)
            return
        ends = client.casts
        frame = datagram_frame(run, client, ends.client if datagram.up else ends.server, client.cast)
        client.cast += 1
        if datagram.up:
            send_up(run, client, frame)
        else:
            send_down(run, client, frame)
