"""A packet has arrived: TCP's receiver, and what the server, the browser and messages do about it.

The server answers a request when it has all of it, after a delay known before the run: what is compared meets the same
server.  A request without a reply (an upload) is answered by the acknowledgement of its last byte alone.  Left out:
load, and connections that the server closes.
"""

from __future__ import annotations

from lpsm.native.records import NONE
from netsim.model.browser import arrived
from netsim.model.codes import ANSWER, DATAGRAM, NEVER, SYN, SYN_ACK
from netsim.model.datagrams import land
from netsim.model.delayed_acks import QUICK, answer_data, answer_read, grow_window, note_data, note_read
from netsim.model.entities import Connection, Endpoint, Frame, Run
from netsim.model.flow_control import shake
from netsim.model.graphs import begin_streams, read_streams, tell_of_streams, write_replies
from netsim.model.primitives import free_frame, new_frame, refer, schedule, tell_policy
from netsim.model.push import note_messages
from netsim.model.recorded import write_reply
from netsim.model.sender import heed, send_data
from netsim.model.tcp import acknowledge, duplicate_ack, establish, send_control, take_ack, write


def receive_down(run: Run, frame: Frame) -> None:
    """Take in a packet at the client, which tells its policy of it."""
    client = frame.client
    if client.observes:
        foreseen = foresee(frame.to, frame) if client.host_aware and frame.flag != DATAGRAM else 0
        if foreseen and frame.to.connection.is_stream:
            tell_of_streams(run, client, frame, would_reach(frame.to, frame), foreseen & 1)
        else:
            tell_policy(run, client, frame, 0, foreseen >> 1, foreseen & 1)
    client.last_received = run.now
    receive(run, frame)


def receive(run: Run, frame: Frame) -> None:
    """Take in a packet that has just arrived, and be done with it."""
    end = frame.to
    connection = end.connection
    if frame.flag == DATAGRAM:
        land(run, frame, 1)
    elif not end.closed:
        take_in(run, end, frame)
        if connection.is_push and end.is_client:
            note_messages(run, end)
    free_frame(run, frame)
    refer(run, connection, -1)


def take_in(run: Run, end: Endpoint, frame: Frame) -> None:
    """Take in acknowledgement and payload."""
    if frame.flag or not end.established:
        shake_hands(run, end, frame.flag)
        if frame.flag:
            return
    if run.control:
        take_in_today(run, end, frame)
        return
    ack, length = frame.ack, frame.length
    if ack > end.unacked:
        new_ack(run, end, ack)
    elif not length and ack == end.unacked and end.next > ack and not end.peer_has_all:
        duplicate_ack(run, end)
    if not length:
        return
    stop = frame.seq + length
    if frame.seq == end.received and not end.out_of_order:
        end.received = stop
    else:
        if stop > end.received:
            keep(run, end, frame.seq, stop)
        if not join(run, end):  # a duplicate, or a hole before it
            acknowledge(run, end)
            return
    wants_ack = length == run.mss
    if end.connection.is_stream:
        wants_ack = end.received - end.ack_sent >= run.mss
        read_streams(run, end)
    if end.received == end.expected:
        if end.acknowledges:
            wants_ack = True
        elif not wants_ack:  # the other end has everything: the last, partial segment needs no ACK
            end.peer.peer_has_all, end.peer.deadline = 1, NEVER
        complete(run, end)
    if wants_ack and end.ack_sent < end.received:
        acknowledge(run, end)


def take_in_today(run: Run, end: Endpoint, frame: Frame) -> None:
    """Take in acknowledgement and payload, with the sender and the receiver of today."""
    connection = end.connection
    end.heard = frame.stamp
    heed(run, end, frame)
    if end.all_acked and end.unacked == end.written:
        end.all_acked = 0
        arrived(run, connection)
        if end.closed:
            return
    if connection.is_stream and not end.is_client:
        write_replies(run, connection)
    send_data(run, end)
    if not frame.length:
        return
    note_data(run, end, frame.length, frame.pushes)
    if not take_bytes(run, end, frame):
        answer_data(run, end)
        return
    grow_window(end, frame.length, run.mss)
    answer_data(run, end)
    note_read(run, end, frame)
    if shaken(run, end):
        if connection.is_stream:
            read_streams(run, end)
        elif end.received == end.expected:
            complete(run, end)
    if not end.closed:
        answer_read(run, end)


def take_bytes(run: Run, end: Endpoint, frame: Frame) -> bool:
    """Take in payload; return whether there is more in order than before."""
    stop = frame.seq + frame.length
    if frame.seq == end.received and not end.out_of_order:
        end.received = stop
        return True
    if stop <= end.received:  # it has come already
        end.repeats, end.quick, end.interactive, end.ato = 1, QUICK, 0, run.max_ack_delay
        end.ack_now = 1
        return False
    keep(run, end, frame.seq, stop)
    more = join(run, end)
    if more and not end.out_of_order:
        end.ack_now = 1
    elif not more:
        note_out_of_order(end.peer, frame.seq, run.now)
    return more


def note_out_of_order(sender: Endpoint, seq: int, now: int) -> None:
    """Note when a segment came out of order, which acknowledgements will tell."""
    segment = sender.sent.head
    for _ in range(sender.sent.count):
        if segment.seq == seq:
            if not segment.air:
                segment.air = now
            return
        segment = segment.link


def shaken(run: Run, end: Endpoint) -> bool:
    """Go on with the handshake of TLS; return whether it lies behind this end."""
    connection = end.connection
    if not connection.flights or (connection.is_open and end.received > end.shaken):
        return True
    if shake(run, end):
        open_up(run, connection)
    return False


def new_ack(run: Run, end: Endpoint, ack: int) -> None:
    """Take in an ACK of something new."""
    if take_ack(run, end, ack):
        arrived(run, end.connection)  # an upload
    elif end.connection.is_stream and not end.is_client:
        write_replies(run, end.connection)


def shake_hands(run: Run, end: Endpoint, flag: int) -> None:
    """Take in a SYN, its answer, or the first packet after them."""
    if flag == SYN:
        if not end.established:
            end.timed = run.now
            end.timed_seq = 0 if end.deadline == NEVER else -1
            send_control(run, end, SYN_ACK)
        return
    if flag == SYN_ACK and end.established:
        acknowledge(run, end)  # ours was lost
        return
    establish(run, end)
    if flag == SYN_ACK:
        acknowledge(run, end)
        if run.n_flights:
            shake(run, end)
        else:
            open_up(run, end.connection)


def open_up(run: Run, connection: Connection) -> None:
    """A connection is open: ask for what it was opened for."""
    connection.is_open = 1
    if connection.is_stream:
        begin_streams(run, connection)
        return
    end = connection.client
    end.client.outstanding += 1
    if connection.object:
        connection.object.asked = end.written
    write(run, end, connection.request, connection.reply == 0)


def complete(run: Run, end: Endpoint) -> None:
    """All the bytes expected are there: a request at the server, a reply at the client."""
    connection = end.connection
    if connection.is_push or connection.is_stream:
        return
    if end.peer.left and run.control:
        return
    if end.peer.left:  # of what is written in pieces, all that was written until now
        end.ack_sent = end.received
        take_ack(run, end.peer, end.received)
    elif end.is_client:
        arrived(run, connection)
    elif connection.reply:
        if connection.delay:
            refer(run, connection, 1)
            schedule(run, run.now + connection.delay, ANSWER, connection)
        else:
            begin_reply(run, connection)


def answer(run: Run, connection: Connection) -> None:
    """Let the server write its reply, its delay being over."""
    begin_reply(run, connection)
    refer(run, connection, -1)


def begin_reply(run: Run, connection: Connection) -> None:
    """Let the server write its reply."""
    if connection.step:
        write_reply(run, connection)
    else:
        write(run, connection.server, connection.reply, 0)


# -- segments out of order


def keep(run: Run, end: Endpoint, seq: int, stop: int) -> None:
    """Keep a segment that came out of order."""
    node = end.out_of_order
    while node:
        if node.seq == seq:
            node.ack = max(stop, node.ack)
            return
        node = node.link
    node = new_frame(run)
    node.seq, node.ack = seq, stop
    node.link = end.out_of_order
    end.out_of_order = node


def join(run: Run, end: Endpoint) -> bool:
    """Join the segments that are in order by now; return whether there were any."""
    before, joins = end.received, True
    while joins:
        joins, last, node = False, NONE, end.out_of_order
        while node:
            following = node.link
            if node.seq <= end.received:
                end.received = max(end.received, node.ack)
                if last:
                    last.link = following
                else:
                    end.out_of_order = following
                free_frame(run, node)
                joins = True
            else:
                last = node
            node = following
    return end.received > before


def foresee(end: Endpoint, frame: Frame) -> int:
    """Return 1 if taking in a packet now would change anything, and 2 more if it would complete what is expected."""
    ack = frame.ack
    if end.all_acked and end.unacked < ack == end.written and not end.closed:
        return 3
    received = end.received
    if end.closed or (frame.length and frame.seq + frame.length <= received):
        return 0
    if end.connection.flights and not end.connection.is_open:
        return 1
    return 3 if frame.seq <= received < would_reach(end, frame) == end.expected else 1


def would_reach(end: Endpoint, frame: Frame) -> int:
    """Return up to where a packet goes, with the segments that came out of order and go on from there."""
    reached = frame.seq + frame.length
    if frame.seq > end.received:
        return end.received
    joins = True
    while joins:
        joins, node = False, end.out_of_order
        while node:
            if node.seq <= reached < node.ack:
                reached, joins = node.ack, True
            node = node.link
    return reached
