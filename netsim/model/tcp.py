"""TCP as the model has it: slow start, a window, ACKs at once, RFC 6298 timer, Reno recovery.

A connection is two ends.  Each is a sender of its own bytes and a receiver of the other's; messages (a request, a
reply) follow one another on it.  This is the sender and its timer; the receiver is `netsim.model.receiver`.  What is
modelled:

* one ACK for every full segment, at once; a segment that goes out anyway carries it;
* slow start by one segment an ACK up to the window, congestion avoidance above the threshold;
* an RFC 6298 retransmission timer, and Reno's fast retransmit and recovery; Karn's rule as in ns-2
  (tcp-full.cc): a segment is timed only if it has bytes that were never sent before;
* optionally Nagle: a last, partial segment waits until all before it is acknowledged.

With `control` sender, receiver and timers are those of today (`sender`, `delayed_acks`, `congestion`), and what stands
here is how a connection opens and closes.

Left out: delayed ACKs (instead the last, partial segment of a message counts as acknowledged when it arrives, and the
window grows when the next message carries the ACK; a message that nothing will answer is acknowledged in full), FIN,
slow-start restart, selective acknowledgement, checksums.
"""

from __future__ import annotations

from netsim.model.codes import DATA, NEVER, SYN, SYN_ACK
from netsim.model.delayed_acks import acknowledge_now, wake_acknowledgement
from netsim.model.entities import Client, Connection, Endpoint, Run
from netsim.model.packets import schedule_timer, send_packet, watch_end
from netsim.model.primitives import new_connection, refer
from netsim.model.sender import begin_end, measure, send_data, wake_sender

MAX_RTO = 60_000_000_000
DUPLICATE_ACKS = 3


# -- what the application does


def connect(run: Run, client: Client, number: int) -> Connection:
    """Return a connection between a client and the server, at whose ends nothing has happened yet."""
    made = new_connection(run)
    made.number, made.asked_of = number, -1
    made.client.is_client = 1
    made.client.peer, made.server.peer = made.server, made.client
    for end in (made.client, made.server):
        end.client, end.connection = client, made
        end.cwnd, end.ssthresh = 1.0 * run.first_window, 1.0 * run.window
        end.peer_has_all = 1
        end.deadline = end.timer = NEVER
        end.rto = run.first_rto
        end.srtt = end.timed_seq = -1
        if run.control:
            begin_end(run, end)
    return made


def open_connection(run: Run, end: Endpoint) -> None:
    """Send a SYN."""
    end.timed, end.timed_seq = run.now, 0
    send_control(run, end, SYN)


def write(run: Run, end: Endpoint, n_bytes: int, all_acked: int) -> None:
    """Send a message of so many bytes; with `all_acked` the acknowledgement of the last one is reported."""
    end.written += n_bytes
    end.peer_has_all = 0
    end.all_acked = all_acked
    if run.control:
        send_data(run, end)
    else:
        push_segments(run, end)


def close(run: Run, connection: Connection) -> None:
    """Vanish at both ends: nothing more is sent or heard."""
    for end in (connection.client, connection.server):
        end.closed, end.deadline, end.ack_by, end.flush = 1, NEVER, NEVER, 0
    refer(run, connection, 0)


# -- packets


def send_control(run: Run, end: Endpoint, flag: int) -> None:
    """Send a SYN or its answer, and wait for what answers that."""
    send_packet(run, end, flag, 0, 0, 0)
    arm(run, end)


def acknowledge(run: Run, end: Endpoint) -> None:
    """Send an ACK that carries nothing."""
    if run.control:
        acknowledge_now(run, end)
        return
    end.ack_sent = end.received
    send_packet(run, end, DATA, end.next, 0, end.received)


def push_segments(run: Run, end: Endpoint) -> None:
    """Send what the window, and Nagle if asked for, allow."""
    mss = run.mss
    limit = end.unacked + int(min(end.cwnd, 1.0 * run.window)) * mss
    sent = False
    while end.next < end.written:
        length = end.written - end.next
        if length >= mss:
            length = mss
        elif run.nagle and end.next > end.unacked:
            break
        if end.next + length > limit:
            break
        if end.timed_seq < 0 and end.next + length > end.recover:  # Karn: nothing that was sent before
            end.timed_seq, end.timed = end.next + length, run.now
        end.ack_sent = end.received
        send_packet(run, end, DATA, end.next, length, end.received)
        end.next += length
        sent = True
    if sent and end.deadline == NEVER:
        arm(run, end)


# -- acknowledgements


def take_ack(run: Run, end: Endpoint, ack: int) -> bool:
    """Take in an ACK of something new; return whether the last byte of what was written is now known to be there."""
    if 0 <= end.timed_seq <= ack:
        time_round_trip(run, end)
    end.unacked = ack
    if end.next < ack:
        end.next = ack
    end.duplicates = 0
    if end.recovering:
        end.recovering = 0
        end.cwnd = end.ssthresh
    elif end.cwnd < end.ssthresh:
        end.cwnd += 1.0
    else:
        end.cwnd = min(end.cwnd + 1.0 / end.cwnd, 1.0 * run.window)
    if end.next == ack or end.peer_has_all:
        end.deadline = NEVER
    else:
        arm(run, end)
    if end.next < end.written:
        push_segments(run, end)
    elif end.all_acked and ack == end.written:
        end.all_acked = 0
        return True
    return False


def duplicate_ack(run: Run, end: Endpoint) -> None:
    """Take in an ACK of nothing new: after the third, send what is missing again."""
    end.duplicates += 1
    if end.recovering:
        end.cwnd += 1.0
        push_segments(run, end)
    elif end.duplicates == DUPLICATE_ACKS and end.unacked >= end.recover:
        halve(run, end)
        end.recovering, end.recover = 1, end.next
        end.cwnd = end.ssthresh + DUPLICATE_ACKS
        send_again(run, end)


def halve(run: Run, end: Endpoint) -> None:
    """Set the threshold to half of what is in flight."""
    end.ssthresh = max((end.next - end.unacked) / run.mss / 2.0, 2.0)


def send_again(run: Run, end: Endpoint) -> None:
    """Send the first segment that is not acknowledged again."""
    end.timed_seq = -1
    end.ack_sent = end.received
    send_packet(run, end, DATA, end.unacked, min(run.mss, end.written - end.unacked), end.received)
    arm(run, end)


def establish(run: Run, end: Endpoint) -> None:
    """The connection is open at this end: the wait for that is over."""
    end.established = 1
    end.deadline = NEVER
    if end.timed_seq >= 0:
        time_round_trip(run, end)


def time_round_trip(run: Run, end: Endpoint) -> None:
    """Take in the round trip that was timed: RFC 6298, section 2, in integers."""
    rtt = run.now - end.timed
    end.timed_seq = -1
    if run.control:
        measure(run, end, rtt, rtt)
        return
    if end.srtt < 0:
        end.srtt, end.rttvar = rtt, rtt // 2
    else:
        end.rttvar += (abs(end.srtt - rtt) - end.rttvar) // 4
        end.srtt += (rtt - end.srtt) // 8
    end.rto = min(max(end.srtt + 4 * end.rttvar, run.min_rto), MAX_RTO)


# -- timer: a deadline that moves; events are never cancelled, a late one looks again, and comes last at its instant


def arm(run: Run, end: Endpoint) -> None:
    """Time out after the time-out from now on."""
    end.deadline = deadline = run.now + end.rto
    if deadline < end.timer:  # checked no later than the least time-out, so that shorter deadlines need no event
        schedule_timer(run, end, min(deadline, run.now + run.min_rto))


def wake_timer(run: Run, end: Endpoint) -> None:
    """Look whether the deadline has passed."""
    now = run.now
    if now == end.timer:  # else an earlier one took its place
        end.timer = NEVER
        if end.established and run.control:
            wake_end(run, end)
        elif now < end.deadline < NEVER:
            schedule_timer(run, end, end.deadline)
        elif end.deadline < NEVER:
            time_out(run, end)
    refer(run, end.connection, -1)


def wake_end(run: Run, end: Endpoint) -> None:
    """See to what is due at an end of today."""
    if end.flush:
        end.flush = 0
        send_data(run, end)
    if end.ack_by <= run.now:
        wake_acknowledgement(run, end)
    if end.deadline <= run.now:
        wake_sender(run, end)
    watch_end(run, end)


def time_out(run: Run, end: Endpoint) -> None:
    """Go back to what is not acknowledged."""
    end.deadline, end.timed_seq = NEVER, -1
    end.rto = min(2 * end.rto, MAX_RTO)
    if not end.established:
        send_control(run, end, SYN if end.is_client else SYN_ACK)
        return
    halve(run, end)
    end.cwnd = 1.0
    end.duplicates = end.recovering = 0
    end.recover = max(end.recover, end.next)
    end.next = end.unacked
    send_again(run, end)
    end.next = min(end.unacked + run.mss, end.written)
