"""The browser, TCP's receiving side, and pushed messages: `netsim.browser`, `netsim.tcp`, `netsim.push` in integers."""

from __future__ import annotations

from lpsm._compile import compiled
from netsim.air.express import layout as slot
from netsim.air.express import wires
from netsim.air.express.events import free_frame, happen, new_frame, refer
from netsim.air.express.radio import awake_ns, write_states
from netsim.air.express.station import advance
from netsim.air.express.transport import (
    acknowledge,
    close,
    complete,
    duplicate_ack,
    handshake_ack,
    new_connection,
    open_connection,
    take_ack,
    transmit_control,
    write,
)
from netsim.express.layout import Place

__all__ = ["foresee", "issue", "next_page", "page_done", "receive", "subscribe", "write_messages"]


# -- pages


@compiled
def next_page(w: Place, client: int) -> None:
    """Issue the next page, wait for its instant, or be done."""
    now, page = w[slot.NOW], w[client + slot.CLIENT_PAGES]
    if w[slot.ON_WIRES] and page != w[slot.FIRST_PAGE] and wires.is_quiet(w, client):
        wires.stop(w, client)
    elif page == w[client + slot.CLIENT_PAGES_STOP]:
        happen(w, now, slot.BROWSED, client)
    elif w[page + slot.PAGE_ISSUE] > now:
        happen(w, w[page + slot.PAGE_ISSUE], slot.ISSUE, client)
    else:
        issue(w, client)


@compiled
def issue(w: Place, client: int) -> None:
    """Issue a page: fetch its HTML on a connection of its own."""
    now, loads = w[slot.NOW], w[client + slot.CLIENT_LOADS]
    advance(w, client, now)
    w[client + slot.CLIENT_ISSUED] = now
    w[client + slot.CLIENT_AWAKE_THEN] = awake_ns(w, client, now)
    w[client + slot.CLIENT_BEACONS_THEN] = w[client + slot.CLIENT_BEACONS]
    write_states(w, client, now, loads + 4)
    w[client + slot.CLIENT_DEADLINE] = w[w[client + slot.CLIENT_PAGES] + slot.PAGE_DEADLINE]
    w[client + slot.CLIENT_TAKEN] = 0
    w[client + slot.CLIENT_MISSING] = w[w[client + slot.CLIENT_PAGES] + slot.PAGE_OBJECTS]
    _fetch_new(w, client, -1)


@compiled
def page_done(w: Place, client: int) -> None:
    """Note what a page took, and think about it."""
    now, page, loads = w[slot.NOW], w[client + slot.CLIENT_PAGES], w[client + slot.CLIENT_LOADS]
    advance(w, client, now)
    w[loads], w[loads + 1] = w[client + slot.CLIENT_ISSUED], now
    w[loads + 2] = awake_ns(w, client, now) - w[client + slot.CLIENT_AWAKE_THEN]
    w[loads + 3] = w[client + slot.CLIENT_BEACONS] - w[client + slot.CLIENT_BEACONS_THEN]
    write_states(w, client, now, loads + 4 + slot.STATES)
    w[client + slot.CLIENT_LOADS] += slot.LOAD_SIZE
    w[client + slot.CLIENT_PAGES] += slot.PAGE_SIZE
    w[client + slot.CLIENT_OBJECTS] += slot.OBJECT_SIZE * (1 + w[page + slot.PAGE_OBJECTS])
    if w[page + slot.PAGE_THINK] >= 0:
        happen(w, now + w[page + slot.PAGE_THINK], slot.NEXT_PAGE, client)
    else:
        next_page(w, client)


@compiled
def _fetch_new(w: Place, client: int, index: int) -> None:
    number = w[client + slot.CLIENT_NUMBER]
    w[client + slot.CLIENT_NUMBER] = number + 1
    _fetch(w, client, new_connection(w, client, number), index)


@compiled
def _fetch(w: Place, client: int, connection: int, index: int) -> None:
    """Ask for object `index` (-1: the HTML), opening the connection first if it is new."""
    place = w[client + slot.CLIENT_OBJECTS] + slot.OBJECT_SIZE * (index + 1)
    reply, server = w[place + slot.OBJECT_REPLY], connection + slot.CONNECTION_SERVER
    w[connection + slot.CONNECTION_INDEX] = index
    w[connection + slot.CONNECTION_REQUEST] = w[place + slot.OBJECT_REQUEST]
    w[connection + slot.CONNECTION_REPLY], w[connection + slot.CONNECTION_DELAY] = reply, w[place + slot.OBJECT_DELAY]
    w[server + slot.END_EXPECTED] += w[place + slot.OBJECT_REQUEST]
    w[server + slot.END_ACKNOWLEDGES] = reply == 0
    w[connection + slot.END_EXPECTED] += reply
    w[connection + slot.END_ACKNOWLEDGES] = 0
    if w[connection + slot.CONNECTION_IS_OPEN]:
        write(w, connection, w[connection + slot.CONNECTION_REQUEST], 0 if reply else 1)
    else:
        open_connection(w, connection)


@compiled
def _fetch_next(w: Place, client: int, connection: int) -> None:
    """Fetch the next object on a connection, or (0) on a new one."""
    index = w[client + slot.CLIENT_TAKEN]
    w[client + slot.CLIENT_TAKEN] = index + 1
    if connection:
        _fetch(w, client, connection, index)
    else:
        _fetch_new(w, client, index)


@compiled
def _arrived(w: Place, connection: int) -> None:
    """Go on when the last byte of what was fetched has come, or of an upload is acknowledged."""
    client = w[connection + slot.END_CLIENT]
    objects = w[w[client + slot.CLIENT_PAGES] + slot.PAGE_OBJECTS]
    if w[connection + slot.CONNECTION_INDEX] < 0:
        n = min(w[slot.MAX_CONNECTIONS], objects)
        if w[slot.PERSISTENT] and n:
            _fetch_next(w, client, connection)
            n -= 1
        else:
            close(w, connection)
        for _ in range(n):
            _fetch_next(w, client, 0)
    else:
        w[client + slot.CLIENT_MISSING] -= 1
        if w[client + slot.CLIENT_TAKEN] == objects:
            close(w, connection)
        elif w[slot.PERSISTENT]:
            _fetch_next(w, client, connection)
        else:
            close(w, connection)
            _fetch_next(w, client, 0)
    if w[client + slot.CLIENT_MISSING] == 0:
        happen(w, w[slot.NOW], slot.PAGE_DONE, client)


# -- receiving


@compiled
def foresee(w: Place, end: int, frame: int) -> int:
    """Return 1 if taking in a packet now would change anything, and 2 more if it would complete what is expected."""
    ack, closed = w[frame + slot.FRAME_ACK], w[end + slot.END_CLOSED]
    if w[end + slot.END_ALL_ACKED] and w[end + slot.END_UNACKED] < ack == w[end + slot.END_WRITTEN] and not closed:
        return 3
    seq, length, received = w[frame + slot.FRAME_SEQ], w[frame + slot.FRAME_LENGTH], w[end + slot.END_RECEIVED]
    reached = seq + length
    if closed or (length and reached <= received):
        return 0
    if seq <= received:
        joins = True
        while joins:  # segments that came out of order, as far as they go on without a hole
            joins, node = False, w[end + slot.END_OUT_OF_ORDER]
            while node:
                if w[node + slot.FRAME_SEQ] <= reached < w[node + slot.FRAME_ACK]:
                    reached, joins = w[node + slot.FRAME_ACK], True
                node = w[node + slot.FRAME_LINK]
    return 3 if seq <= received < reached == w[end + slot.END_EXPECTED] else 1


@compiled
def _keep_out_of_order(w: Place, end: int, seq: int, stop: int) -> None:
    node = w[end + slot.END_OUT_OF_ORDER]
    while node:
        if w[node + slot.FRAME_SEQ] == seq:
            w[node + slot.FRAME_ACK] = max(stop, w[node + slot.FRAME_ACK])
            return
        node = w[node + slot.FRAME_LINK]
    node = new_frame(w)
    w[node + slot.FRAME_SEQ], w[node + slot.FRAME_ACK] = seq, stop
    w[node + slot.FRAME_LINK] = w[end + slot.END_OUT_OF_ORDER]
    w[end + slot.END_OUT_OF_ORDER] = node


@compiled
def _join(w: Place, end: int) -> bool:
    """Join the segments that are in order by now; return whether there were any."""
    before, joins = w[end + slot.END_RECEIVED], True
    while joins:
        joins, last, node = False, 0, w[end + slot.END_OUT_OF_ORDER]
        while node:
            following = w[node + slot.FRAME_LINK]
            if w[node + slot.FRAME_SEQ] <= w[end + slot.END_RECEIVED]:
                w[end + slot.END_RECEIVED] = max(w[end + slot.END_RECEIVED], w[node + slot.FRAME_ACK])
                if last:
                    w[last + slot.FRAME_LINK] = following
                else:
                    w[end + slot.END_OUT_OF_ORDER] = following
                free_frame(w, node)
                joins = True
            else:
                last = node
            node = following
    return w[end + slot.END_RECEIVED] > before


@compiled
def _new_ack(w: Place, end: int, ack: int) -> None:
    if take_ack(w, end, ack):
        _arrived(w, w[end + slot.END_CONNECTION])  # an upload


@compiled
def _handshake(w: Place, end: int, flag: int) -> None:
    if flag == slot.SYN:
        if not w[end + slot.END_ESTABLISHED]:
            w[end + slot.END_TIMED] = w[slot.NOW]
            w[end + slot.END_TIMED_SEQ] = 0 if w[end + slot.END_DEADLINE] == slot.NEVER else -1
            transmit_control(w, end, slot.SYN_ACK)
        return
    if flag == slot.SYN_ACK and w[end + slot.END_ESTABLISHED]:
        acknowledge(w, end)  # ours was lost
        return
    handshake_ack(w, end)
    if flag == slot.SYN_ACK:
        acknowledge(w, end)
        w[end + slot.CONNECTION_IS_OPEN] = 1
        write(w, end, w[end + slot.CONNECTION_REQUEST], 0 if w[end + slot.CONNECTION_REPLY] else 1)


@compiled
def receive(w: Place, end: int, frame: int) -> None:
    """Take in a packet that has just arrived, and be done with it."""
    if not w[end + slot.END_CLOSED]:
        _take_in(w, end, frame)
        if w[end + slot.END_IS_CLIENT] and w[w[end + slot.END_CONNECTION] + slot.CONNECTION_IS_PUSH]:
            _note_messages(w, end)
    connection = w[end + slot.END_CONNECTION]
    free_frame(w, frame)
    refer(w, connection, -1)


@compiled
def _take_in(w: Place, end: int, frame: int) -> None:
    flag = w[frame + slot.FRAME_FLAG]
    if flag or not w[end + slot.END_ESTABLISHED]:
        _handshake(w, end, flag)
        if flag:
            return
    ack, length, seq = w[frame + slot.FRAME_ACK], w[frame + slot.FRAME_LENGTH], w[frame + slot.FRAME_SEQ]
    unacked = w[end + slot.END_UNACKED]
    if ack > unacked:
        _new_ack(w, end, ack)
    elif not length and ack == unacked and w[end + slot.END_NEXT] > ack and not w[end + slot.END_PEER_HAS_ALL]:
        duplicate_ack(w, end)
    if not length:
        return
    stop, peer = seq + length, w[end + slot.END_PEER]
    if seq == w[end + slot.END_RECEIVED] and not w[end + slot.END_OUT_OF_ORDER]:
        w[end + slot.END_RECEIVED] = stop
    else:
        if stop > w[end + slot.END_RECEIVED]:
            _keep_out_of_order(w, end, seq, stop)
        if not _join(w, end):
            acknowledge(w, end)
            return
    wants_ack = length == w[slot.MSS]
    if w[end + slot.END_RECEIVED] == w[end + slot.END_EXPECTED]:
        if w[end + slot.END_ACKNOWLEDGES]:
            wants_ack = True
        elif not wants_ack:
            complete(w, peer)
        _message(w, end)
    if w[end + slot.END_ACK_SENT] < w[end + slot.END_RECEIVED] and wants_ack:
        acknowledge(w, end)


@compiled
def _message(w: Place, end: int) -> None:
    """All the bytes expected are there: a request at the server, a reply at the client."""
    connection = w[end + slot.END_CONNECTION]
    if w[connection + slot.CONNECTION_IS_PUSH]:
        return
    if w[end + slot.END_IS_CLIENT]:
        _arrived(w, connection)
    elif w[connection + slot.CONNECTION_REPLY]:
        delay = w[connection + slot.CONNECTION_DELAY]
        if delay:
            refer(w, connection, 1)
            happen(w, w[slot.NOW] + delay, slot.ANSWER, connection)
        else:
            write(w, end, w[connection + slot.CONNECTION_REPLY], 0)


# -- messages


@compiled
def subscribe(w: Place, client: int) -> None:
    """Open the connection on which a client is sent messages."""
    made = new_connection(w, client, 0)
    w[made + slot.CONNECTION_IS_PUSH] = 1
    w[made + slot.END_ESTABLISHED] = w[made + slot.CONNECTION_SERVER + slot.END_ESTABLISHED] = 1
    w[client + slot.CLIENT_PUSHES] = made


@compiled
def write_messages(w: Place, client: int) -> None:
    """Write the messages whose instant has come, and wait for the next, or for the delivery of the last."""
    made = w[client + slot.CLIENT_PUSHES]
    while w[client + slot.CLIENT_WRITTEN] < w[client + slot.CLIENT_N_MESSAGES]:
        place = w[client + slot.CLIENT_MESSAGES] + slot.MESSAGE_SIZE * w[client + slot.CLIENT_WRITTEN]
        if w[place + slot.MESSAGE_AT] > w[slot.NOW]:
            happen(w, w[place + slot.MESSAGE_AT], slot.WRITE, client)
            return
        w[client + slot.CLIENT_WRITTEN] += 1
        w[made + slot.END_EXPECTED] += w[place + slot.MESSAGE_BYTES]
        w[made + slot.END_ACKNOWLEDGES] = 0
        write(w, made + slot.CONNECTION_SERVER, w[place + slot.MESSAGE_BYTES], 0)
    if w[client + slot.CLIENT_ARRIVED] == w[client + slot.CLIENT_N_MESSAGES]:  # already, where a run goes on
        happen(w, w[slot.NOW], slot.WRITER_DONE, client)


@compiled
def _note_messages(w: Place, end: int) -> None:
    """Note the messages that are whole by now at the client."""
    client, received = w[end + slot.END_CLIENT], w[end + slot.END_RECEIVED]
    before = w[client + slot.CLIENT_ARRIVED]
    while w[client + slot.CLIENT_ARRIVED] < w[client + slot.CLIENT_N_MESSAGES]:
        place = w[client + slot.CLIENT_MESSAGES] + slot.MESSAGE_SIZE * w[client + slot.CLIENT_ARRIVED]
        if w[place + slot.MESSAGE_END] > received:
            break
        w[place + slot.MESSAGE_DELIVERED] = w[slot.NOW]
        w[client + slot.CLIENT_ARRIVED] += 1
    if w[client + slot.CLIENT_ARRIVED] == before:
        return
    if w[end + slot.END_ACK_SENT] < received:
        w[end + slot.END_ACK_SENT] = received
        _new_ack(w, w[end + slot.END_PEER], received)
    if w[client + slot.CLIENT_ARRIVED] == w[client + slot.CLIENT_N_MESSAGES]:
        happen(w, w[slot.NOW], slot.ALL_DELIVERED, client)
