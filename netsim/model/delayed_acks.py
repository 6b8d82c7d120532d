"""When a receiver acknowledges, as Linux does: at once, of every second full segment, or after 40 ms at most.

At once are acknowledged: the first 16 data packets and each that makes the offered window grow ("quick"
acknowledgements), unless data goes both ways in turn; what leaves or closes a hole, or came already; more than one full
segment; the end of something that was handed down at once, unless data goes both ways, and two such ends in any case.
Everything else waits for a packet that carries it, or for a time-out.  While something is missing every packet is
answered up to the third that tells the same, then one a millisecond (RFC 9293, section 3.8.6.3; Linux 6.18,
`tcp_input.c`: `__tcp_ack_snd_check`, `tcp_event_data_recv`, `tcp_grow_window`, `tcp_rcv_space_adjust`).  The
application reads at once.  Left out: windows that are full, the limit of three blocks a packet, that a tick is 1 to
10 ms.
"""

from __future__ import annotations

from netsim.model.codes import DATA, NEVER
from netsim.model.entities import Endpoint, Frame, Run
from netsim.model.packets import send_packet, watch_end

QUICK = 16
STAMP = 1_000_000
LEAST_GROWING = 128
LEAST_SEGMENT = 536
COMPRESSED_WAIT = 1_100_000
FIRST_OFFER, FIRST_CLAMP, LARGEST_CLAMP = 64_240, 81_408, 6_291_456
"""Of the window: offered at first, the limit to that, and to which the limit may grow."""
FIRST_SPACE = 10


def begin_receiver(run: Run, end: Endpoint) -> None:
    """Set what a receiver begins with."""
    end.ack_by, end.full_seen = NEVER, LEAST_SEGMENT
    end.offered, end.clamp, end.space = FIRST_OFFER, FIRST_CLAMP, FIRST_SPACE * run.mss


def note_ack_sent(end: Endpoint) -> None:
    """Note that a packet carries an acknowledgement."""
    if end.quick and end.ack_sent < end.received:
        end.quick -= 1
    end.ack_sent, end.ack_by, end.small, end.ack_now = end.received, NEVER, 0, 0


def note_data_sent(run: Run, end: Endpoint) -> None:
    """Note that a packet with data, which carries an acknowledgement, goes out."""
    if run.now - end.last_data < end.ato:
        end.interactive = 1
    note_ack_sent(end)


def acknowledge_now(run: Run, end: Endpoint) -> None:
    """Send an acknowledgement that carries nothing."""
    note_ack_sent(end)
    send_packet(run, end, DATA, end.next, 0, end.received)


def note_data(run: Run, end: Endpoint, length: int, pushes: int) -> None:
    """Note that data has come."""
    if not end.ato:
        end.quick, end.ato = QUICK, run.max_ack_delay
    else:
        gap, half = run.now - end.last_data, run.max_ack_delay // 2
        if gap <= half:
            end.ato = end.ato // 2 + half
        elif gap < end.ato:
            end.ato = end.ato // 2 + gap
        elif gap > end.rto:
            end.quick = QUICK
    end.last_data = run.now
    if length >= end.full_seen:
        end.full_seen = length
        if pushes:
            end.small = max(end.small, 1)
    else:
        end.small += 1


def grow_window(end: Endpoint, length: int, mss: int) -> None:
    """Let the offered window grow by twice what has come, up to its limit; that is acknowledged at once."""
    room = end.clamp - end.offered
    if length >= LEAST_GROWING and room > 0:
        end.offered += min(room, 2 * max(length, mss))
        end.quick |= 1


def note_read(run: Run, end: Endpoint, frame: Frame) -> None:
    """Raise the limit to the window once a round trip, which stamps of milliseconds tell, by what was read in it."""
    if frame.length >= end.full_seen and frame.echo // STAMP != end.echoed:
        end.echoed = frame.echo // STAMP
        trip = max((run.now - frame.echo) // STAMP, 1) * STAMP
        end.trip = trip if not end.trip or trip < end.trip else end.trip + (trip - end.trip) // 8
    if run.now - end.space_since >= end.trip > 0:
        read = end.received - end.space_from
        if read > end.space:
            wanted = 2 * read + 4 * read * (read - end.space) // end.space
            end.clamp, end.space = max(end.clamp, min(wanted, LARGEST_CLAMP)), read
        end.space_from, end.space_since = end.received, run.now


def answer_data(run: Run, end: Endpoint) -> None:
    """Acknowledge what has just come, at once or later."""
    if end.received - end.ack_sent > end.full_seen or end.ack_now or (end.quick and not end.interactive):
        acknowledge_now(run, end)
        return
    if not end.out_of_order:
        end.ack_by = min(end.ack_by, run.now + min(end.ato, run.max_ack_delay))
    else:
        if end.duplicates_of != end.received:
            end.duplicates_of, end.duplicates_sent = end.received, 0
        if end.duplicates_sent < 3:
            end.duplicates_sent += 1
            acknowledge_now(run, end)
            return
        end.ack_by = min(end.ack_by, run.now + min(COMPRESSED_WAIT, max(end.srtt, 0) // 20))
    watch_end(run, end)


def answer_read(run: Run, end: Endpoint) -> None:
    """Acknowledge what was just read if it is the end of something."""
    if end.ack_sent < end.received and (end.small > 1 or (end.small and not end.interactive)):
        acknowledge_now(run, end)


def wake_acknowledgement(run: Run, end: Endpoint) -> None:
    """An acknowledgement has waited long enough."""
    end.ack_by = NEVER
    if not end.out_of_order:
        if end.interactive:
            end.interactive, end.ato = 0, run.max_ack_delay
        else:
            end.ato = min(2 * end.ato, end.rto)
    acknowledge_now(run, end)
