"""TCP's sending side, and what both sides share: `netsim.tcp.Endpoint` in integers, its windows by their bits.

An end is named by where its fields begin.
"""

from __future__ import annotations

from lpsm._compile import compiled
from netsim.air.express import layout as slot
from netsim.air.express import wires
from netsim.air.express.events import free_connection, happen, new_frame, new_record, refer
from netsim.air.express.station import send_up
from netsim.express.layout import Place
from netsim.running.pointers import bits, real

__all__ = [
    "acknowledge", "close", "complete", "duplicate_ack", "handshake_ack", "new_connection", "open_connection",
    "push", "take_ack", "tcp_timer", "transmit_control", "wire", "write",
]  # fmt: skip


@compiled
def wire(w: Place, line: int, size: int) -> int:
    """Queue a packet on one direction of the wire; return when its last bit has arrived."""
    duration = size * w[slot.WIRE_NUM] // w[slot.WIRE_DEN]
    w[line] = max(w[line], w[slot.NOW]) + duration
    return w[line] + w[slot.WIRE_DELAY]


@compiled
def new_connection(w: Place, client: int, number: int) -> int:
    """Make a connection between a client and the server; its two ends are closed to each other."""
    made = new_record(w, slot.FREE_CONNECTION, slot.CONNECTION_LINK, slot.CONNECTION_SIZE, slot.CONNECTIONS_STOP)
    for field in range(slot.CONNECTION_SIZE):
        w[made + field] = 0
    w[made + slot.CONNECTION_NUMBER] = number
    for side in range(2):
        end = made + side * slot.END_SIZE
        w[end + slot.END_CLIENT], w[end + slot.END_IS_CLIENT], w[end + slot.END_CONNECTION] = client, side == 0, made
        w[end + slot.END_PEER] = made + (1 - side) * slot.END_SIZE
        w[end + slot.END_CWND] = bits(1.0 * w[slot.FIRST_WINDOW])
        w[end + slot.END_SSTHRESH] = bits(1.0 * w[slot.WINDOW])
        w[end + slot.END_PEER_HAS_ALL] = 1
        w[end + slot.END_DEADLINE] = w[end + slot.END_TIMER] = slot.NEVER
        w[end + slot.END_RTO] = w[slot.FIRST_RTO]
        w[end + slot.END_SRTT] = w[end + slot.END_TIMED_SEQ] = -1
    return made


@compiled
def _send(w: Place, end: int, flag: int, seq: int, length: int, ack: int) -> None:
    """Put a packet on the way to the other end."""
    frame, connection, client = new_frame(w), w[end + slot.END_CONNECTION], w[end + slot.END_CLIENT]
    w[frame + slot.FRAME_OWNER], w[frame + slot.FRAME_TO] = client, w[end + slot.END_PEER]
    w[frame + slot.FRAME_FLAG], w[frame + slot.FRAME_SEQ] = flag, seq
    w[frame + slot.FRAME_LENGTH], w[frame + slot.FRAME_ACK] = length, ack
    size = length + w[slot.HEADER]
    w[frame + slot.FRAME_BYTES] = size
    refer(w, connection, 1)
    if w[end + slot.END_IS_CLIENT]:
        send_up(w, client, frame)
    elif w[slot.ON_WIRES]:
        wires.send_down(w, client, frame)
    else:
        happen(w, wire(w, slot.WIRE_DOWN, size), slot.AT_ACCESS_POINT, frame)


@compiled
def open_connection(w: Place, end: int) -> None:
    """Send a SYN."""
    w[end + slot.END_TIMED], w[end + slot.END_TIMED_SEQ] = w[slot.NOW], 0
    transmit_control(w, end, slot.SYN)


@compiled
def transmit_control(w: Place, end: int, flag: int) -> None:
    """Send a SYN or its answer, and wait for what answers that."""
    _send(w, end, flag, 0, 0, 0)
    _arm(w, end)


@compiled
def write(w: Place, end: int, n_bytes: int, all_acked: int) -> None:
    """Send a message of so many bytes; whether it is news when its last byte is acknowledged."""
    w[end + slot.END_WRITTEN] += n_bytes
    w[end + slot.END_PEER_HAS_ALL] = 0
    w[end + slot.END_ALL_ACKED] = all_acked
    push(w, end)


@compiled
def acknowledge(w: Place, end: int) -> None:
    """Send an ACK that carries nothing."""
    w[end + slot.END_ACK_SENT] = w[end + slot.END_RECEIVED]
    _send(w, end, slot.DATA, w[end + slot.END_NEXT], 0, w[end + slot.END_RECEIVED])


@compiled
def close(w: Place, connection: int) -> None:
    """Vanish at both ends: nothing more is sent or heard."""
    for end in (connection, connection + slot.CONNECTION_SERVER):
        w[end + slot.END_CLOSED] = 1
        w[end + slot.END_DEADLINE] = slot.NEVER
    if w[connection + slot.CONNECTION_REFERENCES] == 0:
        free_connection(w, connection)


@compiled
def complete(w: Place, end: int) -> None:
    """The other end has everything: the last, partial segment needs no ACK packet."""
    w[end + slot.END_PEER_HAS_ALL] = 1
    w[end + slot.END_DEADLINE] = slot.NEVER


@compiled
def push(w: Place, end: int) -> None:
    """Send what the window, and Nagle if asked for, allow."""
    mss, written = w[slot.MSS], w[end + slot.END_WRITTEN]
    window = min(real(w[end + slot.END_CWND]), 1.0 * w[slot.WINDOW])
    limit = w[end + slot.END_UNACKED] + int(window) * mss
    sent = False
    while w[end + slot.END_NEXT] < written:
        at = w[end + slot.END_NEXT]
        length = written - at
        if length >= mss:
            length = mss
        elif w[slot.NAGLE] and at > w[end + slot.END_UNACKED]:
            break
        if at + length > limit:
            break
        if w[end + slot.END_TIMED_SEQ] < 0 and at + length > w[end + slot.END_RECOVER]:  # Karn: not sent before
            w[end + slot.END_TIMED_SEQ], w[end + slot.END_TIMED] = at + length, w[slot.NOW]
        w[end + slot.END_ACK_SENT] = w[end + slot.END_RECEIVED]
        _send(w, end, slot.DATA, at, length, w[end + slot.END_RECEIVED])
        w[end + slot.END_NEXT] += length
        sent = True
    if sent and w[end + slot.END_DEADLINE] == slot.NEVER:
        _arm(w, end)


@compiled
def take_ack(w: Place, end: int, ack: int) -> bool:
    """Take in an ACK of something new; return whether the last byte of what was written is now known to be there."""
    if 0 <= w[end + slot.END_TIMED_SEQ] <= ack:
        _sample(w, end)
    w[end + slot.END_UNACKED] = ack
    w[end + slot.END_NEXT] = max(w[end + slot.END_NEXT], ack)
    w[end + slot.END_DUPLICATES] = 0
    cwnd, ssthresh = real(w[end + slot.END_CWND]), real(w[end + slot.END_SSTHRESH])
    if w[end + slot.END_RECOVERING]:
        w[end + slot.END_RECOVERING] = 0
        cwnd = ssthresh
    elif cwnd < ssthresh:
        cwnd += 1.0
    else:
        cwnd = min(cwnd + 1.0 / cwnd, 1.0 * w[slot.WINDOW])
    w[end + slot.END_CWND] = bits(cwnd)
    if w[end + slot.END_NEXT] == ack or w[end + slot.END_PEER_HAS_ALL]:
        w[end + slot.END_DEADLINE] = slot.NEVER
    else:
        _arm(w, end)
    if w[end + slot.END_NEXT] < w[end + slot.END_WRITTEN]:
        push(w, end)
    elif w[end + slot.END_ALL_ACKED] and ack == w[end + slot.END_WRITTEN]:
        w[end + slot.END_ALL_ACKED] = 0
        return True
    return False


@compiled
def duplicate_ack(w: Place, end: int) -> None:
    """Take in an ACK of nothing new: after the third, send what is missing again."""
    w[end + slot.END_DUPLICATES] += 1
    if w[end + slot.END_RECOVERING]:
        w[end + slot.END_CWND] = bits(real(w[end + slot.END_CWND]) + 1.0)
        push(w, end)
    elif w[end + slot.END_DUPLICATES] == 3 and w[end + slot.END_UNACKED] >= w[end + slot.END_RECOVER]:
        _halve(w, end)
        w[end + slot.END_RECOVERING] = 1
        w[end + slot.END_RECOVER] = w[end + slot.END_NEXT]
        w[end + slot.END_CWND] = bits(real(w[end + slot.END_SSTHRESH]) + 3)
        _retransmit(w, end)


@compiled
def _halve(w: Place, end: int) -> None:
    in_flight = (w[end + slot.END_NEXT] - w[end + slot.END_UNACKED]) / w[slot.MSS]
    w[end + slot.END_SSTHRESH] = bits(max(in_flight / 2.0, 2.0))


@compiled
def _retransmit(w: Place, end: int) -> None:
    """Send the first unacknowledged segment again."""
    unacked = w[end + slot.END_UNACKED]
    w[end + slot.END_TIMED_SEQ] = -1
    w[end + slot.END_ACK_SENT] = w[end + slot.END_RECEIVED]
    length = min(w[slot.MSS], w[end + slot.END_WRITTEN] - unacked)
    _send(w, end, slot.DATA, unacked, length, w[end + slot.END_RECEIVED])
    _arm(w, end)


# -- timer: a deadline that moves; events are never cancelled, a late one looks again


@compiled
def _arm(w: Place, end: int) -> None:
    now = w[slot.NOW]
    deadline = now + w[end + slot.END_RTO]
    w[end + slot.END_DEADLINE] = deadline
    if deadline < w[end + slot.END_TIMER]:
        _schedule(w, end, min(deadline, now + w[slot.MIN_RTO]))


@compiled
def _schedule(w: Place, end: int, at: int) -> None:
    w[end + slot.END_TIMER] = at
    refer(w, w[end + slot.END_CONNECTION], 1)
    happen(w, at, slot.TCP_TIMER, end)


@compiled
def tcp_timer(w: Place, end: int) -> None:
    """Look whether the deadline has passed."""
    now, deadline = w[slot.NOW], w[end + slot.END_DEADLINE]
    if now == w[end + slot.END_TIMER]:  # else an earlier one took its place
        w[end + slot.END_TIMER] = slot.NEVER
        if now < deadline < slot.NEVER:
            _schedule(w, end, deadline)
        elif deadline < slot.NEVER:
            _time_out(w, end)
    refer(w, w[end + slot.END_CONNECTION], -1)


@compiled
def _time_out(w: Place, end: int) -> None:
    w[end + slot.END_DEADLINE] = slot.NEVER
    w[end + slot.END_TIMED_SEQ] = -1
    w[end + slot.END_RTO] = min(2 * w[end + slot.END_RTO], slot.MAX_RTO)
    if not w[end + slot.END_ESTABLISHED]:
        transmit_control(w, end, slot.SYN if w[end + slot.END_IS_CLIENT] else slot.SYN_ACK)
        return
    _halve(w, end)
    w[end + slot.END_CWND] = bits(1.0)
    w[end + slot.END_DUPLICATES] = w[end + slot.END_RECOVERING] = 0
    w[end + slot.END_RECOVER] = max(w[end + slot.END_RECOVER], w[end + slot.END_NEXT])
    w[end + slot.END_NEXT] = w[end + slot.END_UNACKED]
    _retransmit(w, end)
    w[end + slot.END_NEXT] = min(w[end + slot.END_UNACKED] + w[slot.MSS], w[end + slot.END_WRITTEN])


@compiled
def _sample(w: Place, end: int) -> None:
    """Take in the round trip that was timed: RFC 6298, section 2."""
    rtt = w[slot.NOW] - w[end + slot.END_TIMED]
    w[end + slot.END_TIMED_SEQ] = -1
    if w[end + slot.END_SRTT] < 0:
        w[end + slot.END_SRTT], w[end + slot.END_RTTVAR] = rtt, rtt // 2
    else:
        w[end + slot.END_RTTVAR] += (abs(w[end + slot.END_SRTT] - rtt) - w[end + slot.END_RTTVAR]) // 4
        w[end + slot.END_SRTT] += (rtt - w[end + slot.END_SRTT]) // 8
    timeout = w[end + slot.END_SRTT] + 4 * w[end + slot.END_RTTVAR]
    w[end + slot.END_RTO] = min(max(timeout, w[slot.MIN_RTO]), slot.MAX_RTO)


@compiled
def handshake_ack(w: Place, end: int) -> None:
    """The connection is open at this end: the wait for it ends."""
    w[end + slot.END_ESTABLISHED] = 1
    w[end + slot.END_DEADLINE] = slot.NEVER
    if w[end + slot.END_TIMED_SEQ] >= 0:
        _sample(w, end)
