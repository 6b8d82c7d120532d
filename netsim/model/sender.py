"""The sender of today: what is lost is found by time (RACK-TLP) and sent again at a pace (PRR).

Every segment on its way is known by when it was sent, and the receiver tells what has come out of order.  A segment is
lost if one that was sent later has come, and a round trip and a quarter of the least one have passed since it was sent;
at once if three or more have (RFC 8985, section 6; Linux never waits in recovery).  Two round trips without news send
the last segment again, or a new one (section 7); and a time-out, of the round trip and 200 ms at least, has everything
lost.  In recovery as much is sent as RFC 6937 says.  Round trips are measured of what was sent once (RFC 6298 with
Linux's deviation).  Linux 6.18, `tcp_input.c`, `tcp_recovery.c`, `tcp_output.c`.

Fields of a segment's record: `seq` and `ack`, where it begins and ends; `reached`, when it was sent last; `tries`, how
often it was sent again; `lost`; `goes`, whether it is on its way again; `outcome`, whether the sender knows that it has
come; `air`, when it came out of order.  Left out: spurious time-outs and recoveries that are undone (Eifel, F-RTO),
reordering, pacing, the receiver's window.
"""

from __future__ import annotations

from netsim.model.codes import DATA, LOSS, NEVER, NORMAL, PROBE, RECOVERY, REORDER, RETRANSMIT
from netsim.model.congestion import (
    NO_THRESHOLD,
    look_for_end,
    note_idle,
    raise_window,
    reduced_window,
    restart_window,
)
from netsim.model.delayed_acks import begin_receiver, note_data_sent
from netsim.model.entities import Endpoint, Frame, Run
from netsim.model.packets import send_packet, watch_end
from netsim.model.primitives import free_frame, new_frame
from netsim.model.queues import append, take_first

LONGEST_RTO = 120_000_000_000
PROBE_MORE = 2_000_000
SURE = 3
BURST, MOST_BURST = 1e9 / 1024.0, 45
SOON_ACKED = 1_000_000


def begin_end(run: Run, end: Endpoint) -> None:
    """Set what an end begins with."""
    end.ssthresh, end.flush = NO_THRESHOLD, 0
    end.min_rtt = end.least_rtt = NEVER
    begin_receiver(run, end)


def in_flight(end: Endpoint) -> int:
    """Return how many segments are on their way, as far as the sender knows."""
    return end.sent.count - end.sacked - end.lost + end.again


# -- what is sent


def send_data(run: Run, end: Endpoint) -> None:
    """Send again what is lost, then what is new, as far as the windows allow."""
    if end.lost > end.again:
        send_lost(run, end)
    if end.next == end.written:
        return
    if end.sent.count == 0:
        if end.last_sent and run.now - end.last_sent > end.rto:
            restart_window(run, end)
        note_idle(run, end)
    before, room, sent = end.sent.count, int(end.cwnd) - in_flight(end), 0
    limit, burst, limited = end.unacked + run.window * run.mss, burst_of(end), room <= 0
    while end.next < end.written and room > 0:
        length = min(run.mss, end.written - end.next)
        if end.next + length > limit or (length < run.mss and run.nagle and end.sent.count):
            break
        if sent % burst == 0 and room < burst and end.written - end.next > run.mss and may_wait(run, end, room):
            limited = True
            break
        segment = new_frame(run)
        segment.seq, segment.ack = end.next, end.next + length
        segment.tries = segment.lost = segment.goes = segment.outcome = segment.air = 0
        append(end.sent, segment)
        end.next += length
        sent, room = sent + 1, room - 1
        send_segment(run, end, segment, sent % burst == 0 or end.next == end.written)
    if sent:
        note_use(end, limited or room <= 0)
        if before == 0:
            rearm(run, end)
        set_probe(run, end, head_due(end) - run.now)
        watch_end(run, end)


def burst_of(end: Endpoint) -> int:
    """Return how many segments are handed down at once: those of a millisecond at the rate of pacing, 2 at least."""
    if end.srtt <= 0:
        return 2
    gain = 2.0 if 2.0 * end.cwnd < end.ssthresh else 1.2
    return min(max(int(gain * max(end.cwnd, 1.0 * end.sent.count) * BURST / end.srtt), 2), MOST_BURST)


def may_wait(run: Run, end: Endpoint, room: int) -> bool:
    """Return whether less than a burst waits for the next acknowledgement, which is to come soon."""
    if end.recovering or 3 * room >= int(end.cwnd) or not end.sent.count or run.now - end.last_sent > SOON_ACKED:
        return False
    return end.sent.head.reached + end.srtt - run.now <= min(end.srtt // 2, SOON_ACKED)


def send_segment(run: Run, end: Endpoint, segment: Frame, pushes: int) -> None:
    """Put a segment on its way."""
    segment.reached = end.last_sent = run.now
    end.pushes = pushes
    if end.recovering == RECOVERY:
        end.reduced_sent += 1
    note_data_sent(run, end)
    send_packet(run, end, DATA, segment.seq, segment.ack - segment.seq, end.received)


def send_lost(run: Run, end: Endpoint) -> None:
    """Send again what is held lost, as far as the window allows."""
    room, segment = int(end.cwnd) - in_flight(end), end.sent.head
    for _ in range(end.sent.count):
        if room <= 0:
            return
        if segment.lost and not segment.goes:
            send_once_more(run, end, segment)
            room -= 1
        segment = segment.link


def send_once_more(run: Run, end: Endpoint, segment: Frame) -> None:
    """Send a segment again."""
    segment.tries += 1
    if not segment.goes:
        segment.goes = 1
        end.again += 1
    send_segment(run, end, segment, 1)
    if end.deadline == NEVER or (segment == end.sent.head and end.kind != REORDER):
        end.kind, end.deadline = RETRANSMIT, run.now + end.rto


def note_use(end: Endpoint, limited: int) -> None:
    """Note how far the congestion window was used."""
    if limited or end.unacked >= end.limited_until or (not end.limited and end.sent.count > end.most_out):
        end.limited, end.most_out, end.limited_until = limited, end.sent.count, end.next


# -- what the other end tells


def heed(run: Run, end: Endpoint, frame: Frame) -> None:
    """Take in what a packet tells the sender; what that allows is still to be sent."""
    now, advanced, losses = run.now, frame.ack > end.unacked, end.losses
    first = last = -1
    delivered, again = 0, 0
    if frame.told and end.sent.count:  # what has come out of order is noted first, as RACK takes the last round trip
        delivered = note_arrived(run, end, frame.told)
    segment = end.sent.head
    while end.sent.count and segment.ack <= frame.ack:
        take_first(end.sent)
        end.again -= segment.goes
        end.lost -= segment.lost
        again += segment.tries
        if segment.outcome:
            end.sacked -= 1
        else:
            delivered += 1
            note_latest(run, end, segment)
            if not segment.tries:
                last = segment.reached
                first = last if first < 0 else first
        following = segment.link
        free_frame(run, segment)
        segment = following
    if advanced:
        end.unacked = frame.ack
    if first >= 0 and not again:
        measure(run, end, now - first, now - last)
    elif end.sacked_rtt and first < 0:
        measure(run, end, end.sacked_rtt, end.sacked_rtt)
    end.sacked_rtt = 0
    if end.probed:
        heed_probe(run, end, advanced, frame.repeats)
    if advanced:
        end.deadline = NEVER
        if end.sent.count and not set_probe(run, end, end.rto):
            rearm(run, end)
    if end.recovering and end.unacked >= end.recover:
        if end.recovering == RECOVERY:
            end.cwnd = end.ssthresh
        end.recovering = NORMAL
    if end.rack_moved and end.sacked + end.recovering:
        find_lost(run, end)
    end.rack_moved = 0
    if end.losses > losses and end.recovering != RECOVERY:
        begin_recovery(run, end)
    if end.recovering == RECOVERY:
        reduce(end, delivered, end.losses > losses, advanced)
    elif advanced:
        raise_window(run, end, delivered)
    watch_end(run, end)


def note_latest(run: Run, end: Endpoint, segment: Frame) -> None:
    """Note that a segment has come, if none that was sent later has (RFC 8985, section 6.2, step 2)."""
    rtt = run.now - segment.reached
    if segment.tries and rtt < end.min_rtt:
        return
    end.rack_rtt, end.rack_moved = rtt, 1
    if segment.reached > end.rack_sent or (segment.reached == end.rack_sent and segment.ack > end.rack_end):
        end.rack_sent, end.rack_end = segment.reached, segment.ack


def note_arrived(run: Run, end: Endpoint, told: int) -> int:
    """Note which segments have come out of order, as the receiver knew at an instant; return how many are new."""
    segment, found = end.sent.head, 0
    for _ in range(end.sent.count):
        if 0 < segment.air <= told and not segment.outcome:
            end.again -= segment.goes
            end.lost -= segment.lost
            segment.goes = segment.lost = 0
            segment.outcome = 1
            found += 1
            note_latest(run, end, segment)
            if not segment.tries:
                end.sacked_rtt = run.now - segment.reached
        segment = segment.link
    end.sacked += found
    return found


def measure(run: Run, end: Endpoint, longest: int, latest: int) -> None:
    """Take in round trips: of the first and of the last segment that were acknowledged together."""
    end.min_rtt = min(end.min_rtt, latest)
    if end.srtt < 0:  # of the handshake
        end.srtt, end.deviation = longest, 2 * longest
        end.rttvar = end.most_deviation = max(end.deviation, run.min_rto)
        end.deviation_until = end.next
    else:
        end.least_rtt = min(end.least_rtt, latest)
        look_for_end(run, end, latest)
        error = longest - end.srtt
        end.srtt += error // 8
        more = abs(error) - end.deviation // 4
        end.deviation += more // 8 if error < 0 and more > 0 else more
        end.most_deviation = max(end.most_deviation, end.deviation)
        end.rttvar = max(end.rttvar, end.most_deviation)
        if end.unacked > end.deviation_until:
            end.rttvar -= (end.rttvar - end.most_deviation) // 4
            end.deviation_until, end.most_deviation = end.next, run.min_rto
    end.rto = min(end.srtt + end.rttvar, LONGEST_RTO)


# -- losses


def find_lost(run: Run, end: Endpoint) -> None:
    """Find what is lost: sent before what has come, and long enough ago; and look again when more will be."""
    wait, patience = 0, 0
    if not end.recovering and end.sacked < SURE:
        patience = min(end.min_rtt // 4, end.srtt)
    segment = end.sent.head
    for _ in range(end.sent.count):
        before = segment.reached < end.rack_sent or (segment.reached == end.rack_sent and segment.ack < end.rack_end)
        if before and not segment.outcome and (segment.goes or not segment.lost):
            left = segment.reached + end.rack_rtt + patience - run.now
            if left <= 0:
                hold_lost(end, segment)
            else:
                wait = max(wait, left)
        segment = segment.link
    if wait:
        end.kind, end.deadline = REORDER, run.now + wait + PROBE_MORE


def hold_lost(end: Endpoint, segment: Frame) -> None:
    """Hold a segment lost."""
    end.lost += 1 - segment.lost
    end.again -= segment.goes
    segment.lost, segment.goes = 1, 0
    end.losses += 1


def begin_recovery(run: Run, end: Endpoint) -> None:
    """Begin to send again what is lost, and let the window shrink."""
    end.prior_cwnd, end.reduced_delivered, end.reduced_sent = end.cwnd, 0, 0
    end.ssthresh = reduced_window(run, end)
    end.recovering, end.recover, end.probed = RECOVERY, end.next, 0


def reduce(end: Endpoint, delivered: int, lost_more: int, advanced: int) -> None:
    """Let the window follow what is delivered (RFC 6937, section 3.1)."""
    if delivered <= 0:
        return
    flying = in_flight(end)
    end.reduced_delivered += delivered
    room = int(end.ssthresh) - flying
    if room < 0:
        due = int(end.ssthresh) * end.reduced_delivered + int(end.prior_cwnd) - 1
        send = due // int(end.prior_cwnd) - end.reduced_sent
    else:
        send = max(end.reduced_delivered - end.reduced_sent, delivered)
        if advanced and not lost_more:
            send += 1
        send = min(room, send)
    end.cwnd = 1.0 * (flying + max(send, 0 if end.reduced_sent else 1))


# -- the timer


def head_due(end: Endpoint) -> int:
    """Return when the first segment times out."""
    return end.sent.head.reached + end.rto


def rearm(run: Run, end: Endpoint) -> None:
    """Time out after the time-out; where a probe has had its part of it, after what is left."""
    at = run.now + end.rto
    if end.kind != RETRANSMIT and end.deadline < NEVER:
        at = max(head_due(end), run.now + 1)
    end.kind, end.deadline = RETRANSMIT, at
    watch_end(run, end)


def set_probe(run: Run, end: Endpoint, before: int) -> bool:
    """Probe after two round trips, unless the time-out comes before; return whether that may be."""
    if end.recovering or end.sacked or end.sent.count == 0:
        return False
    after = run.first_rto
    if end.srtt >= 0:
        after = 2 * end.srtt + (run.min_rto if end.sent.count == 1 else PROBE_MORE)
    end.kind, end.deadline = PROBE, run.now + (min(after, before) if before > 0 else after)
    return True


def wake_sender(run: Run, end: Endpoint) -> None:
    """The deadline has passed: a probe, a segment that is lost by now, or a time-out."""
    kind, end.deadline = end.kind, NEVER
    if end.sent.count == 0:
        return
    if kind == PROBE:
        probe(run, end)
    elif kind == REORDER:
        losses = end.losses
        find_lost(run, end)
        if end.losses > losses:
            if end.recovering != RECOVERY:
                begin_recovery(run, end)
            reduce(end, 1, 1, 0)
            send_data(run, end)
        if end.kind == REORDER and end.deadline == NEVER:
            rearm(run, end)
    else:
        lose_all(run, end)
    watch_end(run, end)


def probe(run: Run, end: Endpoint) -> None:
    """Send a new segment, or the last one again, so that the receiver tells what it has."""
    if not end.probed:
        end.probe_again = 0
        if end.next < end.written and end.next < end.unacked + run.window * run.mss:
            cwnd = end.cwnd
            end.cwnd = in_flight(end) + 1.0
            send_data(run, end)
            end.cwnd = cwnd
        else:
            end.probe_again = 1
            send_once_more(run, end, end.sent.tail)
        end.probed = end.next
    end.kind = RETRANSMIT
    rearm(run, end)


def heed_probe(run: Run, end: Endpoint, advanced: int, repeats: int) -> None:
    """Take in the answer to a probe: the window shrinks if what it repaired was lost (RFC 8985, section 7.4.2)."""
    if end.unacked < end.probed:
        return
    if not end.probe_again or repeats or not advanced:
        end.probed = 0
    elif end.unacked > end.probed:
        end.ssthresh = reduced_window(run, end)
        end.cwnd, end.probed = end.ssthresh, 0


def lose_all(run: Run, end: Endpoint) -> None:
    """Hold everything lost, but what was sent less than a round trip ago, and begin with one segment."""
    if not end.recovering or end.recover <= end.unacked:
        end.prior_cwnd, end.ssthresh = end.cwnd, reduced_window(run, end)
    head = segment = end.sent.head
    for _ in range(end.sent.count):
        recent = segment != head and segment.reached + end.rack_rtt > run.now
        if not segment.outcome and not recent and (segment.goes or not segment.lost):
            hold_lost(end, segment)
        segment = segment.link
    end.cwnd = in_flight(end) + 1.0
    end.recovering, end.recover, end.probed = LOSS, end.next, 0
    end.rto = min(2 * end.rto, LONGEST_RTO)
    if head.outcome:
        send_data(run, end)
    else:
        send_once_more(run, end, head)
    end.kind = RETRANSMIT
    rearm(run, end)
