"""The flows of a capture: TCP connections and UDP conversations, from their packets to exchanges and messages.

A connection that speaks HTTP/1 is parsed (`http1`), so that its exchanges have URLs and exact borders.  Any
other flow is told apart by its runs (`runs`), as is what follows once a connection no longer speaks HTTP/1.

The client of a flow is who opened it, the sender of the SYN or of the first datagram; of a connection that was
already open, the end with the higher port.  The round trip is the time from SYN to SYN-ACK, and, where the capture
was taken away from the client, the time from SYN-ACK to ACK as well (a client itself answers within 1 ms).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from traces.captures import runs
from traces.captures.frames import Segment, address_text, ends
from traces.captures.runs import Runs
from traces.captures.streams import ACK, FIN, RST, SYN, Counted, Ordered
from traces.records import DATAGRAM_DOWN, DATAGRAM_UP, Request

if TYPE_CHECKING:
    from traces.captures.http1 import Exchanges

__all__ = ["Book", "Flow", "TcpFlow", "UdpFlow"]

AT_THE_CLIENT_US = 1_000
AGAIN_AFTER_US = 100_000
"""A segment that was sent before is a packet of its own if nothing came so shortly before."""

LEAST_TOLD, MOST_HELD = 40, 512
"""How many datagrams of a flow are looked at to find out whether each direction has its own clock."""

MORE_OFTEN = 0.25
"""By how much larger the share of packets must be that follow the other direction than it would be by chance."""

_SHIFTS_US = (-1_137_300, -731_900, -413_700, 417_100, 733_300, 1_131_700)  # no multiples of a common period
_EVEN_US, _EVENLY, _MOSTLY = (5_000, 70_000), 0.3, 0.6
_WITHIN_US = (2_000, 10_000, 50_000, 200_000)
_LONGEST_HEAD = 8
_Held = tuple[int, bool, int, bytes]
_HTTP = re.compile(rb"HTTP/1\.|[A-Z]{3,20} (?:\S*\Z|\S+ (?:HTTP/1\.|H?T?T?P?/?1?\Z))")
_SHORT = re.compile(rb"[A-Z]{1,20} ?\Z|HTTP?/?1?\Z")
_QUIC_PORT = 443
_QUIC_VERSIONS = (b"\0\0\0\1", b"\x6b\x33\x43\xcf")  # RFC 9000, RFC 9369


class Book(runs.Book, Protocol):
    """Where a flow enters what it finds."""

    def captured(self, size_bytes: int) -> None:
        """Count payload, before it is known what it is part of."""

    def count(self, name: str, occurrences: int = 1) -> None:
        """Count something else."""

    def correct(self, request_bytes: int, reply_bytes: int) -> None:
        """Take back payload that stands in exchanges but was not in the capture."""

    def round_trip(self, client: bytes, server: bytes, seen_us: int, whole_us: int) -> None:
        """Note the round trip between the capture and a server, and between the client and the server."""

    def known_trip(self, client: bytes, server: bytes) -> tuple[int, int]:
        """Return the last round trip noted between two addresses, -1 for each part that is not known."""

    def name(self, address: bytes) -> str:
        """Return the name of a client in this session."""


class Flow(Protocol):
    """What takes the packets of a flow."""

    def take(self, forward: bool, segment: Segment, frame: bytes, now_us: int) -> None:
        """Take a packet; `forward` tells whether it goes the way of the first packet of the flow."""

    def close(self) -> None:
        """End the flow."""


class UdpFlow:
    """A conversation over UDP; after a minute of silence its next datagram begins a new one between the same ends.

    The first of its datagrams are held until it is known whether each direction has its own clock (`open_loop`): then
    all of them are datagrams, else they are told apart by their runs.

    Parameters
    ----------
    key : bytes
        Of its first datagram.
    forward : bool
        Whether that one is the client's.
    book : Book
        Receives what is found.
    is_open_loop : bool
        Whether that is known already.
    """

    __slots__ = ("_book", "_client_forward", "_held", "_last_us", "_names", "_runs", "_takes")

    SILENCE_US = 60_000_000

    def __init__(
        self, key: bytes, forward: bool, book: Book, frame: bytes, at: int, *, is_open_loop: bool = False
    ) -> None:
        client, client_port, server, server_port = ends(key)
        if not forward:
            client, client_port, server, server_port = server, server_port, client, client_port
        quic = _QUIC_PORT in (server_port, client_port) or is_quic(frame, at)
        names = book.name(client), f"{address_text(server)}:{server_port}"
        self._book = book
        self._client_forward = forward
        self._last_us = -1
        self._names = names
        self._runs = Runs(*names, book, quic=quic)
        self._held: list[_Held] = []
        self._takes: Callable[[_Held], None] = self._as_datagram if is_open_loop else self._hold

    def take(self, forward: bool, segment: Segment, frame: bytes, now_us: int) -> None:
        """Take a datagram."""
        size = segment.size
        if self._last_us >= 0 and now_us - self._last_us > self.SILENCE_US:
            self.close()
        self._last_us = now_us
        if not size:
            return
        self._book.captured(size)
        head = frame[segment.payload_at : segment.payload_at + _LONGEST_HEAD]
        self._takes((now_us, forward is self._client_forward, size, head))

    def close(self) -> None:
        """End the conversation."""
        self._decide()
        self._runs.close()

    def _hold(self, datagram: _Held) -> None:
        self._held.append(datagram)
        if len(self._held) >= MOST_HELD:
            self._decide()

    def _decide(self) -> None:
        """Find out what the datagrams are that were held, and enter them as such."""
        held, self._held = self._held, []
        if held:
            is_open = open_loop([(now_us, up) for now_us, up, _, _ in held])
            self._takes = self._as_datagram if is_open else self._as_run
            for datagram in held:
                self._takes(datagram)

    def _as_datagram(self, datagram: _Held) -> None:
        now_us, up, size, _ = datagram
        sizes = (size, 0) if up else (0, size)
        kind = DATAGRAM_UP if up else DATAGRAM_DOWN
        self._book.enter(Request(*self._names, now_us, now_us, *sizes, kind=kind))

    def _as_run(self, datagram: _Held) -> None:
        now_us, up, size, head = datagram
        if up:
            self._runs.up(now_us, size, head, 0)
        else:
            unknown = self._runs.round_trip_us < 0
            self._runs.down(now_us, size)
            if unknown and self._runs.round_trip_us >= 0:
                trip_us = self._runs.round_trip_us
                self._book.round_trip(b"", b"", trip_us, trip_us)


def open_loop(packets: Sequence[tuple[int, bool]]) -> bool:
    """Tell whether each direction of a flow has its own clock.

    That is so if packets of neither direction follow one of the other within some milliseconds more often than they
    would by chance: than the same packets would some tenths of a second earlier or later, when both directions are as
    busy.  Two directions of the same even pace, as voice has it, follow each other at the same distance for minutes;
    they have their own clocks because nothing asks and answers so often.  So has a flow of one direction.  Of few
    packets nothing is known.

    Parameters
    ----------
    packets : sequence of (int, bool)
        When each was seen, in microseconds, and whether it went up, in the order of time.
    """
    ups, downs = (np.array([at for at, up in packets if up is way]) for way in (True, False))
    if len(packets) < LEAST_TOLD:
        return False
    if min(len(ups), len(downs)) < LEAST_TOLD // 4:
        return not min(len(ups), len(downs))
    if _is_even(ups) and _is_even(downs):
        return True
    return all(
        _follow(later, earlier, within_us, 0) - np.mean([_follow(later, earlier, within_us, by) for by in _SHIFTS_US])
        < MORE_OFTEN
        for later, earlier in ((ups, downs), (downs, ups))
        for within_us in _WITHIN_US
    )


def _is_even(at_us: NDArray[np.int64]) -> bool:
    """Tell whether most packets come at the same pace, every 5 to 70 ms."""
    gaps = np.diff(at_us)
    pace = np.median(gaps)
    return bool(_EVEN_US[0] <= pace <= _EVEN_US[1] and np.mean(np.abs(gaps - pace) <= _EVENLY * pace) >= _MOSTLY)


def _follow(later: NDArray[np.int64], earlier: NDArray[np.int64], within_us: int, by_us: int) -> float:
    """Return which share of packets, moved in time, comes so soon after one of the others."""
    moved = later + by_us
    before = np.searchsorted(earlier, moved, side="right") - 1
    return float(np.mean((before >= 0) & (moved - earlier[np.maximum(before, 0)] <= within_us)))


class TcpFlow:
    """A TCP connection as seen from its middle.

    Parameters
    ----------
    key : bytes
        Of its first packet.
    forward : bool or None
        Whether the client sends that way, None if that is to be found out.
    book : Book
        Receives what is found.
    """

    __slots__ = (
        *("_back", "_book", "_client_forward", "_exchanges", "_filled", "_forth", "_held_back", "_held_forth"),
        *(
            "_key",
            "_latest_us",
            "_order",
            "_probed",
            "_runs",
            "_spoken",
            "_syn_ack_us",
            "_syn_us",
            "_trip_us",
            "_undecided",
            "_whole_us",
        ),
        *("began_with", "found_bytes", "http_bytes", "ordered_back", "ordered_forth"),
    )

    def __init__(self, key: bytes, forward: bool | None, book: Book) -> None:
        self._key = key
        self._client_forward = forward
        self._book = book
        self._forth, self._back = Counted(), Counted()
        self._syn_us = self._syn_ack_us = self._trip_us = self._whole_us = -1
        self.began_with = -1  # the number of the client's SYN
        self._undecided = True
        self._latest_us = -1  # when payload came last
        self._probed: bool | None = None  # which way the last keep-alive went that is not answered
        self._held_forth = self._held_back = 0  # captured while it was not known what is spoken
        self._exchanges: Exchanges | None = None
        self._runs: Runs | None = None
        self._order: tuple[Ordered, Ordered] | None = (Ordered(), Ordered())
        self._filled = [0, 0]  # bytes that only the capture lost: up, down
        self.http_bytes = self.found_bytes = 0  # captured while HTTP was spoken; in its exchanges

    def take(self, forward: bool, segment: Segment, frame: bytes, now_us: int) -> None:
        """Take a segment."""
        flags, sequence = segment.flags, segment.sequence
        counted = self._forth if forward else self._back
        if flags & SYN:
            self._open(forward, flags, now_us)
            if not flags & ACK:
                self.began_with = sequence
            counted.begin(sequence + 1)
            sequence += 1
        elif self._syn_ack_us >= 0 and forward is self._client_forward and flags & ACK:
            away_us = now_us - self._syn_ack_us
            self._whole_us = self._trip_us + (away_us if away_us > AT_THE_CLIENT_US else 0)
            self._syn_ack_us = -1
            client, server = self._addresses()
            self._book.round_trip(client, server, self._trip_us, self._whole_us)
        new = counted.take(sequence, segment.size) if segment.size else 0
        if new:
            self._book.captured(new)
        elif not flags & (SYN | FIN | RST):
            self._take_again(forward, counted.is_again(sequence), segment.size, now_us)
        if segment.size:
            self._latest_us = now_us
        if self._order is not None:
            self._read(forward, new, segment, frame, now_us)
        elif new and self._runs is not None:
            if forward is self._client_forward:
                self._runs.up(now_us, new, frame, segment.payload_at)
            else:
                self._runs.down(now_us, new)

    def close(self) -> None:
        """End the connection."""
        held = self._held_forth + self._held_back
        if self._undecided and self._order is not None:
            self._book.leave_out("behind_a_gap_of_the_capture", held)
            self._book.count("connections_without_data", not held)
        if self._order is not None:
            self._book.count("connections_cut_at_a_gap", any(part.waiting for part in self._order))
        self._book.count("bytes_lost_in_the_capture", sum(self._filled))
        if self._exchanges is not None:
            left = self._exchanges.close(self._book)
            self._enter(left)
            self._settle()
        if self._runs is not None:
            self._runs.close()

    def _take_again(self, forward: bool, is_again: bool, size: int, now_us: int) -> None:
        """Take a packet that brings nothing new: it keeps the connection alive, answers that, or was sent before."""
        if (size or is_again) and now_us - self._latest_us > AGAIN_AFTER_US:
            self._beside(forward, now_us, "keep_alives" if is_again and size <= 1 else "segments_sent_again")
            self._probed, self._latest_us = forward, now_us
        elif not size and self._probed is not None and forward is not self._probed:
            self._beside(forward, now_us, "answers_to_what_was_sent_again")
            self._probed = None

    def _beside(self, forward: bool, now_us: int, name: str) -> None:
        """Enter a packet that brings nothing new as a datagram."""
        client, server, port = self._names()
        kind = DATAGRAM_UP if forward is self._client_forward else DATAGRAM_DOWN
        names = self._book.name(client), f"{address_text(server)}:{port}"
        self._book.enter(Request(*names, now_us, now_us, 0, 0, "", kind))
        self._book.count(name)

    def _open(self, forward: bool, flags: int, now_us: int) -> None:
        if flags & ACK:
            if self._client_forward is None:
                self._client_forward = not forward
            if self._syn_us >= 0 and self._trip_us < 0:
                self._trip_us = now_us - self._syn_us
                self._syn_ack_us = now_us
        else:
            if self._client_forward is None:
                self._client_forward = forward
            self._syn_us = now_us

    def _read(self, forward: bool, new: int, segment: Segment, frame: bytes, now_us: int) -> None:
        """Put a segment in order and hand on what is contiguous, until it is known that this is not HTTP/1."""
        assert self._order is not None
        if self._undecided:
            if forward:
                self._held_forth += new
            else:
                self._held_back += new
        else:
            self.http_bytes += new
        own, other = self._order if forward else self._order[::-1]
        flags = segment.flags
        if other.waiting and flags & ACK:
            filled = other.fill(segment.acknowledged)
            if filled:
                up = forward is not self._client_forward
                self._filled[not up] += len(filled[0])
                for data in filled:
                    self._hand_on(not forward, data, now_us)
        at = segment.payload_at
        for data in own.take(segment.sequence, flags, frame[at : at + segment.size]):
            self._hand_on(forward, data, now_us)
        if self._runs is not None:  # what came is not HTTP/1: all of it is runs
            self._catch_up(frame, at, now_us)
        elif self._exchanges is not None:
            if own.ended and forward is not self._client_forward:
                self._exchanges.server_closed(now_us)
            self._enter(self._exchanges.finished())
            if self._exchanges.broken:
                self._enter(self._exchanges.close(self._book))
                self._settle()
                self._exchanges = None
                self._order = None
                self._speak_runs()

    def _hand_on(self, forward: bool, data: bytes, now_us: int) -> None:
        if self._undecided:
            self._decide(forward, data)
        if self._exchanges is not None:
            if forward is self._client_forward:
                self._exchanges.sent(data, now_us)
            else:
                self._exchanges.received(data, now_us)

    def _decide(self, forward: bool, data: bytes) -> None:
        """Find out by its first bytes whether the connection speaks HTTP/1."""
        self._undecided = False
        if not (_HTTP.match(data) or _SHORT.match(data)):
            self._order = None
            self._filled = [0, 0]  # runs have no need of what the capture lost
            self._book.count("connections_not_of_http")
            self._speak_runs()
            return
        from traces.captures.http1 import Exchanges

        self._client_forward = forward is not data.startswith(b"HTTP/")
        client, server, port = self._names()
        self._exchanges = Exchanges(self._book.name(client), f"{address_text(server)}:{port}", self._trip_us)
        self.http_bytes = self._held_forth + self._held_back

    def _speak_runs(self) -> None:
        if self._client_forward is None:
            _, source_port, _, target_port = ends(self._key)
            self._client_forward = source_port >= target_port
        client, server, port = self._names()
        trip_us, whole_us = self._trip_us, self._whole_us
        if trip_us < 0:
            trip_us, whole_us = self._book.known_trip(client, server)
        self._runs = Runs(
            self._book.name(client),
            f"{address_text(server)}:{port}",
            self._book,
            server_trip_us=trip_us,
            round_trip_us=max(trip_us, whole_us),
        )

    def _catch_up(self, frame: bytes, at: int, now_us: int) -> None:
        """Enter as runs what was held back until now."""
        assert self._runs is not None
        up, down = self._held_forth, self._held_back
        if not self._client_forward:
            up, down = down, up
        if up:
            self._runs.up(now_us, up, frame, at)
        if down:
            self._runs.down(now_us, down)

    def _addresses(self) -> tuple[bytes, bytes]:
        source, _, target, _ = ends(self._key)
        return (source, target) if self._client_forward else (target, source)

    def _names(self) -> tuple[bytes, bytes, int]:
        """Return client, server and the port of the server."""
        _, source_port, _, target_port = ends(self._key)
        return (*self._addresses(), target_port if self._client_forward else source_port)

    def _enter(self, requests: list[Request]) -> None:
        for request in requests:
            self.found_bytes += request.request_bytes + request.reply_bytes
            self._book.enter(request)

    def _settle(self) -> None:
        """Account for the payload of HTTP/1 that is in no exchange."""
        up, down = self._filled
        self._book.correct(up, down)
        self._book.leave_out("http_outside_exchanges", self.http_bytes - (self.found_bytes - up - down))


def is_quic(frame: bytes, at: int) -> bool:
    """Tell the first datagram of a QUIC connection: a long header of a version that is in use."""
    head = frame[at : at + 5]
    version = head[1:5]
    return len(head) == 5 and head[0] & 0xC0 == 0xC0 and (version in _QUIC_VERSIONS or version[:3] == b"\xff\0\0")
