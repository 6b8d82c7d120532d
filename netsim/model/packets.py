"""Packets of a connection, and the one timer of each of its ends.

The timer is a deadline that moves; events are never cancelled, a late one looks again, and comes last at its instant.
"""

from __future__ import annotations

from netsim.model.codes import TCP_TIMER
from netsim.model.entities import Endpoint, Run
from netsim.model.medium import send_down, send_up
from netsim.model.primitives import new_frame, refer, schedule

SYN_OPTIONS, SACK_OPTION = 8, 12
"""Bytes of options beyond those of every packet: of a SYN, and where something has come out of order."""


def send_packet(run: Run, end: Endpoint, flag: int, seq: int, length: int, ack: int) -> None:
    """Put a packet on the way to the other end."""
    frame = new_frame(run)
    frame.client, frame.to, frame.flag = end.client, end.peer, flag
    frame.seq, frame.length, frame.ack = seq, length, ack
    frame.bytes = length + run.header
    if run.control:
        frame.told, frame.repeats, frame.pushes = 0, end.repeats, end.pushes
        frame.stamp, frame.echo, end.repeats = run.now, end.heard, 0
        if flag:
            frame.bytes += SYN_OPTIONS
        elif end.out_of_order:
            frame.told = run.now
            frame.bytes += 0 if length else SACK_OPTION  # a segment with it has so much less of payload
    refer(run, end.connection, 1)
    if end.is_client:
        send_up(run, end.client, frame)
    else:
        send_down(run, end.client, frame)


def schedule_timer(run: Run, end: Endpoint, at: int) -> None:
    """Look at the deadline at an instant."""
    end.timer = at
    refer(run, end.connection, 1)
    schedule(run, at, TCP_TIMER, end)


def watch_end(run: Run, end: Endpoint) -> None:
    """Look at an end of today when something of it is due."""
    at = min(end.deadline, end.ack_by)
    if at < end.timer:
        schedule_timer(run, end, at)
