"""Pages that are graphs: a request waits for what names it, then for a pause of the host, and goes to its own host.

A host speaks HTTP/2, over one connection that carries any number of requests at a time, each a stream; or HTTP/1.1,
over up to `max_connections`, one request at a time each.  Requests are written at once.  The server writes the replies
that are ready in turns, in frames of 16,384 bytes at most (RFC 9113, section 4.2), each with 9 bytes of its own; it
keeps no more than one ahead of what TCP can send, so that a reply that becomes ready soon has its turn.  The page is
complete with the last byte that it waits for.  What nobody waits for goes on, and the next page is not issued before it
is there; then all connections vanish.

With the transport of the thesis the packet that completes all that was asked for on a stream's connection counts as
acknowledged on its arrival, as everywhere, and the server's window moves with it.  Flow control and TLS are those of
`netsim.model.flow_control`, if they are asked for.  Left out: priorities of HTTP/2, compression of headers (sizes are
those on the wire), connections that outlive a page.
"""

from __future__ import annotations

from lpsm.native.records import NONE
from netsim.model.browsed import Host, Object
from netsim.model.codes import PAGE_DONE, SERVE
from netsim.model.entities import Client, Connection, Endpoint, Frame, Run
from netsim.model.flow_control import (
    PREFACE_BYTES,
    READ_BYTES,
    ask_for_named,
    give_first_credit,
    greet,
    note_frame,
    open_securely,
    queue_up,
    read_frames,
    readable,
    take_records,
    take_updates,
    write_along,
    write_records,
    written_by_server,
)
from netsim.model.page_account import close_account
from netsim.model.primitives import note_answer, refer, schedule, tell_policy
from netsim.model.sender import in_flight
from netsim.model.tcp import close, connect, take_ack, write

FRAME_BYTES = 16_384
FRAME_HEADER_BYTES = 9


def issue_graph(run: Run, client: Client) -> None:
    """Ask for the HTML of a page whose objects wait for each other."""
    client.taken, client.missing = 1 + client.pages[client.page].objects, 0
    for place in range(client.taken):
        wanted = client.objects[client.first_object + place]
        wanted.client, wanted.place = client, place
        client.missing += wanted.is_awaited
    ask_for(run, client.objects[client.first_object])


def ask_for(run: Run, wanted: Object) -> None:
    """Ask for an object on a connection to its host, a new one if there may be, or have it wait for one."""
    client = wanted.client
    host = client.hosts[wanted.host]
    connection = host.first
    client.next_number += 1
    wanted.number, wanted.ends = client.next_number - 1, 0
    if wanted.is_stream:
        if not connection:
            connection = connect_to(run, host, wanted)
            connection.is_stream = 1
            queue_up(connection.requests, wanted)
            open_securely(run, connection)
        else:
            queue_up(connection.requests, wanted)
            if connection.is_open:
                write_request(run, connection, wanted)
        return
    while connection and connection.object:
        connection = connection.following
    if connection:
        carry(run, connection, wanted)
    elif host.n < run.max_connections:
        carry(run, connect_to(run, host, wanted), wanted)
    else:
        queue_up(client.queues[wanted.host], wanted)


def connect_to(run: Run, host: Host, wanted: Object) -> Connection:
    """Return a new connection to a host, under the number of what is asked for first."""
    made = connect(run, wanted.client, wanted.number)
    made.asked_of, made.following = wanted.asked_of, host.first
    host.first = made
    host.n += 1
    return made


def carry(run: Run, connection: Connection, wanted: Object) -> None:
    """Ask for an object on a connection that carries one at a time, opening it first if it is new."""
    connection.object, connection.number, connection.asked_of = wanted, wanted.number, wanted.asked_of
    connection.request, connection.reply, connection.delay = wanted.request, wanted.reply, wanted.delay
    connection.server.expected += wanted.request
    connection.client.expected += wanted.reply
    wanted.asked = connection.client.written
    if connection.is_open:
        wanted.client.outstanding += 1
        write(run, connection.client, wanted.request, 0)
    else:
        open_securely(run, connection)


def carried(run: Run, connection: Connection) -> None:
    """Go on when what a connection carries alone has come."""
    wanted = connection.object
    queue = wanted.client.queues[wanted.host]
    complete_object(run, connection, wanted)
    if queue.head:
        following = queue.head
        queue.head = following.link
        carry(run, connection, following)


def complete_object(run: Run, connection: Connection, wanted: Object) -> None:
    """Go on when the last byte of an object has come: with what it names, and with the page if that has all."""
    client = wanted.client
    client.outstanding -= 1
    connection.index, connection.object = wanted.place - 1, wanted
    connection.request, connection.reply = wanted.request, wanted.reply
    note_answer(run, connection)
    connection.object = NONE
    ask_for_named(run, wanted)
    client.taken -= 1
    if wanted.is_awaited:
        client.missing -= 1
        if client.missing == 0:
            close_account(run, client, client.page)
    if client.taken == 0:
        for number in range(client.n_hosts):
            leave_host(run, client.hosts[number])
        schedule(run, run.now, PAGE_DONE, client)


def leave_host(run: Run, host: Host) -> None:
    """Let the connections to a host vanish."""
    connection = host.first
    while connection:
        following = connection.following
        close(run, connection)
        connection = following
    host.first, host.n = NONE, 0


# -- streams


def begin_streams(run: Run, connection: Connection) -> None:
    """Write the requests that waited for the connection to be open."""
    if run.credit:
        connection.credit = run.credit
        write_along(run, connection.client, PREFACE_BYTES)
    wanted = connection.requests.head
    while wanted:
        write_request(run, connection, wanted)
        wanted = wanted.link


def write_request(run: Run, connection: Connection, wanted: Object) -> None:
    """Write a request, which its policy hears of."""
    wanted.client.outstanding += 1
    connection.number, connection.asked_of = wanted.number, wanted.asked_of
    wanted.asked = connection.client.written
    if run.control:
        write_along(run, connection.client, wanted.request)
        wanted.ends = connection.client.written
        return
    wanted.ends = wanted.asked + wanted.request
    connection.server.expected += wanted.request
    write(run, connection.client, wanted.request, 0)


def read_streams(run: Run, end: Endpoint) -> None:
    """Take what is whole by now: requests at the server, replies at the client."""
    connection = end.connection
    if run.credit:
        greet(run, connection, end)
    if end.is_client:
        up_to = take_records(run, connection) if run.control else end.received
        while run.credit and connection.taken < up_to:
            connection.taken = min(connection.taken + READ_BYTES, up_to)
            read_frames(run, connection, connection.taken)
        wanted = connection.ending.head
        while wanted and wanted.ends <= up_to:
            connection.ending.head = wanted.link
            complete_object(run, connection, wanted)
            wanted = connection.ending.head
        if end.received == end.expected and not end.closed and not run.control:
            end.ack_sent = end.received
            take_ack(run, end.peer, end.received)
            write_replies(run, connection)
        return
    if run.credit:
        take_updates(run, connection)
    wanted = connection.requests.head
    while wanted and 0 < wanted.ends <= end.received:
        connection.requests.head = wanted.link
        wanted.connection = connection
        refer(run, connection, 1)
        if wanted.delay:
            schedule(run, run.now + wanted.delay, SERVE, wanted)
        elif run.control:
            join_turns(run, wanted)
            refer(run, connection, -1)
        else:
            begin_turns(run, wanted)
        wanted = connection.requests.head
    if run.control:
        write_replies(run, connection)


def begin_turns(run: Run, wanted: Object) -> None:
    """Let the server write a reply in turns with others."""
    join_turns(run, wanted)
    write_replies(run, wanted.connection)
    refer(run, wanted.connection, -1)


def join_turns(run: Run, wanted: Object) -> None:
    """Let a reply take part in the server's turns."""
    wanted.left = wanted.reply
    if run.credit:
        give_first_credit(run, wanted.connection, wanted)
    queue_up(wanted.connection.replies, wanted)


def write_replies(run: Run, connection: Connection) -> None:
    """Write of the replies that are ready, in turns, what TCP can send and one frame more."""
    end, size = connection.server, 0
    first = written_by_server(run, connection)
    if run.control:
        may = max(int(end.cwnd) - in_flight(end), 0) * run.mss
    else:
        may = end.unacked + int(min(end.cwnd, 1.0 * run.window)) * run.mss - end.next
    wanted = connection.replies.head
    while wanted and end.written + size - end.next < may + FRAME_BYTES:
        size += wanted.headers
        wanted.left -= wanted.headers
        wanted.headers = 0
        part = min(wanted.left, FRAME_BYTES)
        if run.credit and part:
            part = min(part, wanted.credit, connection.credit)
            if connection.credit == 0:
                break
        connection.replies.head = wanted.link
        if part == 0 and wanted.left:
            wanted.is_blocked = 1
            wanted = connection.replies.head
            continue
        wanted.left -= part
        if run.credit:
            note_frame(run, connection, wanted, first + size + FRAME_HEADER_BYTES, part)
        size += part + FRAME_HEADER_BYTES
        if wanted.left:
            queue_up(connection.replies, wanted)
        else:
            wanted.ends = first + size
            queue_up(connection.ending, wanted)
        wanted = connection.replies.head
    if size:
        write_records(run, connection, size)


def tell_of_streams(run: Run, client: Client, frame: Frame, reached: int, is_new: int) -> None:
    """Tell a host-aware policy of a packet on a stream's connection, once for each reply that it completes."""
    connection = frame.to.connection
    reached = readable(run, connection, reached)
    wanted = connection.ending.head
    if not (wanted and wanted.ends <= reached):
        if not wanted:
            wanted = connection.replies.head
        if wanted:
            connection.number, connection.asked_of = wanted.number, wanted.asked_of
        tell_policy(run, client, frame, 0, 0, is_new)
        return
    while wanted and wanted.ends <= reached:
        connection.number, connection.asked_of = wanted.number, wanted.asked_of
        tell_policy(run, client, frame, 0, 1, 1)
        wanted = wanted.link
