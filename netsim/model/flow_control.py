"""What HTTP/2 and TLS add to the bytes of requests and replies: greetings, credit, records, and the handshake of TLS.

A reply is written only as far as its stream and its connection have credit (RFC 9113, section 5.2); who reads gives it
back as soon as that is half of the window, for both in one packet (nghttp2).  The HEADERS of a reply, its first bytes,
take no credit.  The client begins with its preface and SETTINGS before its first request, the server with SETTINGS of
its own and an answer to those.  With TLS 1.3 (RFC 8446) both sides first send their flights in turn, and the client's
first request follows its last one; then every frame is a record, written and read as a whole.  A handshake that resumes
a session has flights of its own; HTTP/3 needs none of TCP before them.  Left out: PRIORITY, PING, GOAWAY, early data;
of HTTP/3 everything else, streams that wait for each other's lost packets above all.
"""

from __future__ import annotations

from lpsm.native.records import NONE
from netsim.model.browsed import Object, Objects
from netsim.model.codes import WANTED
from netsim.model.entities import Connection, Endpoint, Run
from netsim.model.packets import schedule_timer
from netsim.model.primitives import draw, free_frame, new_frame, schedule
from netsim.model.queues import append, take_first
from netsim.model.tcp import open_connection, write

HEADERS_BYTES, LATER_HEADERS_BYTES = 94, 28
PREFACE_BYTES, SERVER_SETTINGS_BYTES, SETTINGS_ACK_BYTES, UPDATE_BYTES = 45, 15, 9, 13
READ_BYTES = 8192
"""What the client reads at once (nghttp)."""
RECORD_BYTES, MAX_RECORD_BYTES, TICKETS_BYTES = 22, 16_384, 158


# -- the handshake of TLS


def open_securely(run: Run, connection: Connection) -> None:
    """Open a connection: with the handshake of TCP, or that of TLS alone."""
    if run.n_flights and run.n_resumed:
        connection.resumed = draw(run, run.resumptions) < run.resumption
    if run.quic and run.n_flights:
        connection.client.established = connection.server.established = 1
        shake(run, connection.client)
    else:
        open_connection(run, connection.client)


def shake(run: Run, end: Endpoint) -> int:
    """Write the flight that is this end's turn, if any is; return 1 if it is the last, after which requests follow."""
    connection = end.connection
    flights, n = run.flights, run.n_flights
    if connection.resumed:
        flights, n = run.resumed_flights, run.n_resumed
    turn = connection.flights
    if turn == n or turn % 2 == end.is_client or end.received < end.shaken:
        return 0
    connection.flights = turn + 1
    end.peer.shaken += flights[turn]
    end.peer.expected += flights[turn]
    write(run, end, flights[turn], 0)
    return int(turn + 1 == n)


# -- queues of objects


def queue_up(queue: Objects, wanted: Object) -> None:
    """Put an object at the end of a queue: `netsim.model.queues.append`, of which compiled code needs one a type."""
    wanted.link = NONE
    if queue.head:
        queue.tail.link = wanted
    else:
        queue.head = wanted
    queue.tail = wanted


def ask_for_named(run: Run, wanted: Object) -> None:
    """Ask for what an object names, once, each after its pause."""
    client, place = wanted.client, wanted.first
    wanted.first = -1
    while place >= 0:
        named = client.objects[client.first_object + place]
        schedule(run, run.now + named.pause, WANTED, named)
        place = named.sibling


# -- what is written without a packet of its own


def write_along(run: Run, end: Endpoint, n_bytes: int) -> None:
    """Write what goes out with the next bytes of this instant, or at its end."""
    if run.n_flights and not end.flush:
        n_bytes += RECORD_BYTES
    end.written += n_bytes
    end.peer.expected += n_bytes
    if not end.flush:
        end.flush = 1
        if end.timer > run.now:
            schedule_timer(run, end, run.now)


def greet(run: Run, connection: Connection, end: Endpoint) -> None:
    """Answer what begins a connection: the server the client's preface, the client the server's SETTINGS."""
    if connection.greeted == end.is_client:
        connection.greeted += 1
        if not end.is_client:
            if run.n_flights:
                end.peer.expected += TICKETS_BYTES
                write(run, end, TICKETS_BYTES, 0)
                write_records(run, connection, SERVER_SETTINGS_BYTES + SETTINGS_ACK_BYTES)
                return
            write_records(run, connection, SERVER_SETTINGS_BYTES)
        write_along(run, end, SETTINGS_ACK_BYTES)


def write_records(run: Run, connection: Connection, size: int) -> None:
    """Let the server write, in records if TLS is used."""
    end = connection.server
    while size > 0:
        part = min(size, MAX_RECORD_BYTES) if run.n_flights else size
        size -= part
        if run.n_flights:
            connection.written += part
            part += RECORD_BYTES
            record = new_frame(run)
            record.seq, record.ack = end.written + part, connection.written
            append(connection.records, record)
        end.peer.expected += part
        write(run, end, part, 0)


def written_by_server(run: Run, connection: Connection) -> int:
    """Return how many bytes the server has written, without what TLS adds."""
    return connection.written if run.n_flights else connection.server.written


def readable(run: Run, connection: Connection, reached: int) -> int:
    """Return how many of them the client can read when so many bytes of TCP have come: those of whole records."""
    if not run.n_flights:
        return reached
    found, record = connection.readable, connection.records.head
    for _ in range(connection.records.count):
        if record.seq <= reached:
            found = record.ack
        record = record.link
    return found


def take_records(run: Run, connection: Connection) -> int:
    """Return how many of them the client can read now, and forget the records that are whole."""
    reached = connection.client.received
    connection.readable = readable(run, connection, reached)
    while connection.records.count and connection.records.head.seq <= reached:
        free_frame(run, take_first(connection.records))
    return connection.readable


# -- credit


def give_first_credit(run: Run, connection: Connection, wanted: Object) -> None:
    """Let a reply be written as far as a window goes, beyond its HEADERS."""
    wanted.credit = run.credit
    wanted.headers = min(wanted.reply, HEADERS_BYTES if connection.greeted < 2 else LATER_HEADERS_BYTES)


def note_frame(run: Run, connection: Connection, wanted: Object, begin: int, part: int) -> None:
    """Note a frame of a reply, by where its payload begins."""
    frame = new_frame(run)
    frame.seq, frame.ack, frame.length = begin, begin + part, 0
    frame.batch, frame.more = wanted.place, int(wanted.left > 0)
    append(connection.frames, frame)
    wanted.credit -= part
    connection.credit -= part


def read_frames(run: Run, connection: Connection, up_to: int) -> None:
    """Read what has come of replies, and give back credit for it."""
    end = connection.client
    while connection.frames.count and connection.frames.head.seq < up_to:
        frame = connection.frames.head
        is_whole = up_to >= frame.ack
        come = min(up_to, frame.ack) - frame.seq - frame.length
        wanted = end.client.objects[end.client.first_object + frame.batch]
        frame.length += come
        connection.read += come
        wanted.read += come
        wanted.come += come
        if 0 < run.names_at <= wanted.come:
            ask_for_named(run, wanted)
        if connection.read >= run.credit // 2:
            note_update(run, connection, -1, connection.read)
            connection.read = 0
        if frame.more and wanted.read >= run.credit // 2:
            note_update(run, connection, frame.batch, wanted.read)
            wanted.read = 0
        if not is_whole:
            break
        free_frame(run, take_first(connection.frames))


def note_update(run: Run, connection: Connection, place: int, n_bytes: int) -> None:
    """Write that there is more credit, of a stream or (-1) of the connection."""
    write_along(run, connection.client, UPDATE_BYTES)
    frame = new_frame(run)
    frame.seq, frame.length, frame.batch = connection.client.written, n_bytes, place
    append(connection.updates, frame)


def take_updates(run: Run, connection: Connection) -> None:
    """Take the credit that the client has given back."""
    while connection.updates.count and connection.updates.head.seq <= connection.server.received:
        frame = take_first(connection.updates)
        if frame.batch < 0:
            connection.credit += frame.length
        else:
            client = connection.client.client
            wanted = client.objects[client.first_object + frame.batch]
            wanted.credit += frame.length
            if wanted.is_blocked:
                wanted.is_blocked = 0
                queue_up(connection.replies, wanted)
        free_frame(run, frame)
