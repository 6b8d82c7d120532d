"""What a client is to do, and how far it is: pages and their objects, messages, exchanges and datagrams.

They are part of what there is in the model (`netsim.model.entities`), whose words on fields hold here, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lpsm.native.records import record

if TYPE_CHECKING:
    from netsim.model.entities import Client, Connection


@record
class Page:
    """A page to be browsed."""

    issue: int  # not before this instant; -1: as soon as the last is done with
    think: int  # after the last byte; -1: none
    objects: int  # beside the HTML
    deadline: int
    begun: int  # exchanges at their own times: how many have begun, and how many are complete
    done: int


@record
class Object:
    """What is asked for with one request: the HTML of a page, or one of its objects."""

    request: int
    reply: int  # 0: an upload, which its last acknowledgement ends
    delay: int  # of the server
    asked_of: int  # the number of the server; negative: it is not known
    # where pages are graphs (`netsim.model.graphs`); its relations are places among the objects of its page
    host: int  # place of its host
    is_stream: int  # whether that speaks HTTP/2
    is_awaited: int  # whether the page is complete only with it
    pause: int  # of the host between the end of what names it and its beginning
    sibling: int  # the next that the same object names; -1: there is none
    first: int  # of those that it names
    place: int
    client: Client
    connection: Connection
    number: int  # under which policies hear of it
    asked: int  # where in its connection's bytes its request begins
    left: int  # of the reply: what the server has still to write
    headers: int  # its HEADERS, if they are not written yet (HTTP/2)
    credit: int  # how much of it the window of its stream still allows,
    read: int  # and how much was read for which no credit was given back
    come: int  # how much of the reply has come
    is_blocked: int  # whether it waits for credit
    ends: int  # where in its connection's bytes its request ends, or its reply
    link: Object  # the next of its queue


@record
class Objects:
    """Objects that wait for the same thing, first in and first out."""

    head: Object
    tail: Object


@record
class Host:
    """Who objects of a page are asked of."""

    first: Connection  # of those to it
    n: int  # how many there are


@record
class Message:
    """What the server writes of its own accord."""

    at: int
    bytes: int
    end: int  # its last byte, counted from the first message's
    delivered: int


@record
class Step:
    """An exchange at its own time (`netsim.model.recorded`); its relations are places among those of its client."""

    page: int
    request: int
    reply: int  # 0: an upload, which its last acknowledgement ends
    delay: int  # of the server
    asked_of: int  # its number
    request_piece: int  # bytes that are written at once, and the time from one piece to the next
    request_every: int
    reply_piece: int
    reply_every: int
    pause: int  # within the reply, beside that,
    after_pause: int  # and how many of its bytes come after it
    at: int  # its instant, or its pause after what it waits for
    sibling: int  # the next that waits for the same, or for an instant; -1: none does
    first: int  # of those that wait for it
    before: int  # the one before it on its connection, and
    next: int  # the one after it
    is_ready: int
    is_done: int
    begun: int  # when its request was written, and when it was complete
    ended: int
    client: Client
    connection: Connection


@record
class Datagram:
    """A frame at its own instant."""

    at: int
    bytes: int
    up: int
    reached: int  # when it was at the access point, or was handed to the transmitter of the client
    arrived: int  # whether it did
    ended: int
