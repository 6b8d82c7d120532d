"""Pushed messages: a server that writes of its own accord on a connection that stays open.

One TCP connection between the server and the client is open before the run begins.  On it the server writes the
messages, each at its instant, whether or not the client has asked for anything.  The client acknowledges full segments
at once; a last, partial segment counts as acknowledged on its arrival, as everywhere in the model, but since no request
ever carries its ACK here, the server's window moves on with it.  What a message waited for at the access point is seen
beside the same run of a client that never sleeps.  Left out: the handshake, keep-alives, replies to messages.
"""

from __future__ import annotations

from netsim.model.codes import ALL_DELIVERED, PART_DONE, WRITE
from netsim.model.entities import Client, Endpoint, Run
from netsim.model.primitives import schedule
from netsim.model.tcp import connect, take_ack, write


def subscribe(run: Run, client: Client) -> None:
    """Open the connection on which a client is sent messages."""
    made = connect(run, client, 0)
    made.is_push = made.client.established = made.server.established = 1
    client.pushes = made


def write_messages(run: Run, client: Client) -> None:
    """Write the messages whose instant has come, and wait for the next, or for the delivery of the last."""
    made = client.pushes
    while client.written < client.n_messages:
        message = client.messages[client.written]
        if message.at > run.now:
            schedule(run, message.at, WRITE, client)
            return
        client.written += 1
        made.client.expected += message.bytes
        made.client.acknowledges = 0
        write(run, made.server, message.bytes, 0)
    if client.arrived == client.n_messages:
        schedule(run, run.now, PART_DONE, client)


def note_messages(run: Run, end: Endpoint) -> None:
    """Note the messages that are whole by now at the client."""
    client, received = end.client, end.received
    before = client.arrived
    while client.arrived < client.n_messages:
        message = client.messages[client.arrived]
        if message.end > received:
            break
        message.delivered = run.now
        client.arrived += 1
    if client.arrived == before:
        return
    if end.ack_sent < received and not run.control:
        end.ack_sent = received
        take_ack(run, end.peer, received)
    if client.arrived == client.n_messages:
        schedule(run, run.now, ALL_DELIVERED, client)


def messages_done(run: Run, client: Client) -> None:
    """The last message is delivered: the messages are done with."""
    schedule(run, run.now, PART_DONE, client)
