"""Datagrams: frames of their own instants, up or down, that nobody waits for and nobody sends again.

What becomes of one is noted where its frame ends: at the client, at the server, or where the air has lost it.
"""

from __future__ import annotations

from netsim.model.codes import DATAGRAM, PART_DONE
from netsim.model.entities import Client, Endpoint, Frame, Run
from netsim.model.primitives import new_frame, note_landed, refer, schedule


def datagram_frame(run: Run, client: Client, sender: Endpoint, number: int) -> Frame:
    """Return the frame of a client's datagram, by its number."""
    frame = new_frame(run)
    frame.client, frame.to, frame.flag = client, sender.peer, DATAGRAM
    frame.seq, frame.ack, frame.length = number, 0, client.datagrams[number].bytes
    frame.bytes = frame.length + run.header
    refer(run, sender.connection, 1)
    return frame


def land(run: Run, frame: Frame, arrived: int) -> None:
    """Note the end of a datagram, arrived or lost; the last one ends the datagrams."""
    client = frame.client
    datagram = client.datagrams[frame.seq]
    datagram.reached, datagram.arrived = frame.reached, arrived
    if arrived:
        datagram.ended = run.now
    note_landed(run, frame, arrived)
    client.landed += 1
    if client.landed == client.n_datagrams:
        schedule(run, run.now, PART_DONE, client)
