"""From the payload of a flow to exchanges, uploads and messages, without a look inside.

A *run* is payload in one direction without payload in the other between.

* An **exchange** is a run up and what comes down after it, until the next run up; one that nothing comes down after
  is an upload.  A run up ends after 250 ms of silence, or two round trips, so that each part of what nobody answers
  keeps its time.
* While a run down arrives (its last payload came less than one round trip, or 10 ms, ago), what goes up and can only
  be acknowledgements or window updates belongs to the exchange: datagrams of at most 100 bytes in a QUIC flow, TLS
  records of at most 64 bytes.
* A **message** is a run down that nothing asked for: no run up since the run down before, whose last byte came more
  than one round trip and at least 100 ms ago; or what a server sends first.  A run down that goes on for longer than
  100 ms is several messages, each of which keeps its time.

The time that the server took is from the last byte up to the first byte down, less the round trip between the place
of the capture and the server, where that is known.
"""

from __future__ import annotations

from typing import Protocol

from traces.records import BY_SUFFIX, MESSAGE, UNKNOWN_WAIT_US, Request

__all__ = ["Book", "Runs", "are_small_tls_records"]

ACKNOWLEDGED_WITHIN_US = 10_000
UNASKED_AFTER_US = 100_000
UPLOADED_AFTER_US = 250_000
MESSAGE_US = 100_000
ON_ITS_WAY = 0.9  # of a round trip: what comes down sooner was on its way already
SMALL_DATAGRAM_BYTES = 100
SMALL_RECORD_BYTES = 64
_RECORD_HEAD = 5


class Book(Protocol):
    """Where the payload of a capture is entered."""

    def enter(self, request: Request) -> None:
        """Take an exchange, an upload or a message that is finished."""

    def leave_out(self, reason: str, size_bytes: int) -> None:
        """Take payload that is none of these."""


class Runs:
    """The runs of one flow as they come.

    Parameters
    ----------
    client, server : str
        Their names.
    book : Book
        Receives exchanges and messages as they are finished.
    server_trip_us : int
        Round trip between the place of the capture and the server, -1 if it is not known.
    round_trip_us : int
        Round trip between client and server, -1 if it is not known.
    quic : bool
        Whether small datagrams up are acknowledgements.
    """

    __slots__ = (
        *("_asked", "_asked_us", "_book", "_client", "_first_down_us", "_last_down_us", "_last_up_us"),
        *("_pushed", "_quic", "_replied", "_server", "_start_us", "round_trip_us", "server_trip_us"),
    )

    def __init__(
        self,
        client: str,
        server: str,
        book: Book,
        *,
        server_trip_us: int = -1,
        round_trip_us: int = -1,
        quic: bool = False,
    ) -> None:
        self._client = client
        self._server = server
        self._book = book
        self._quic = quic
        self.server_trip_us = server_trip_us
        self.round_trip_us = round_trip_us
        self._start_us = self._last_up_us = self._first_down_us = self._last_down_us = -1
        self._asked = self._replied = self._pushed = 0  # bytes of what is open

    def up(self, now_us: int, size: int, frame: bytes, at: int) -> None:
        """Take payload that the client sent: `size` bytes, from a place of a frame on."""
        if self._asked and not self._replied and self._goes_on(now_us):
            self._asked += size
            self._last_up_us = now_us
            return
        if self._replied or self._pushed:
            soon = now_us - self._last_down_us < max(self.round_trip_us, ACKNOWLEDGED_WITHIN_US)
            if soon and self._acknowledges(size, frame, at):
                if self._asked:
                    self._asked += size
                else:
                    self._book.leave_out("acknowledgements_of_messages", size)
                return
        self.close()
        self._asked = size
        self._start_us = self._last_up_us = now_us

    def down(self, now_us: int, size: int) -> None:
        """Take payload that the server sent."""
        since_us = now_us - self._last_down_us
        if self._asked and not self._replied:
            self._first_down_us = now_us
            self._replied = size
            if self.round_trip_us < 0 and self._quic:
                self.round_trip_us = self.server_trip_us = now_us - self._start_us
        elif self._replied and (since_us < UNASKED_AFTER_US or since_us <= self.round_trip_us):
            self._replied += size
        elif self._pushed and now_us - self._start_us <= MESSAGE_US:
            self._pushed += size
        else:
            self.close()
            self._pushed = size
            self._start_us = now_us
        self._last_down_us = now_us

    def close(self) -> None:
        """Finish what is open."""
        if self._asked:
            wait_us, end_us = UNKNOWN_WAIT_US, self._last_up_us
            if self._replied:
                end_us = self._last_down_us
                if self.server_trip_us >= 0:
                    wait_us = max(0, self._first_down_us - self._last_up_us - self.server_trip_us)
            first_us = self._first_down_us if self._replied else -1
            if first_us - self._last_up_us < ON_ITS_WAY * self.server_trip_us:  # it answers something else
                first_us = self._last_up_us
            ends = self._client, self._server, self._start_us, end_us
            times = wait_us, -1, self._last_up_us, first_us
            self._book.enter(Request(*ends, self._asked, self._replied, "", BY_SUFFIX, *times))
        elif self._pushed:
            self._book.enter(
                Request(self._client, self._server, self._start_us, self._last_down_us, 0, self._pushed, "", MESSAGE)
            )
        self._asked = self._replied = self._pushed = 0

    def _goes_on(self, now_us: int) -> bool:
        """Tell whether the run up that is open has not ended."""
        return now_us - self._last_up_us <= max(UPLOADED_AFTER_US, 2 * self.round_trip_us)

    def _acknowledges(self, size: int, frame: bytes, at: int) -> bool:
        if self._quic:
            return size <= SMALL_DATAGRAM_BYTES
        return are_small_tls_records(frame, at, size)


def are_small_tls_records(frame: bytes, at: int, size: int) -> bool:
    r"""Tell whether some payload is whole TLS records, each of at most 64 bytes; their heads must have been captured.

    >>> are_small_tls_records(b"\x17\x03\x03\x00\x03abc", 0, 8), are_small_tls_records(b"\x17\x03\x03\x01\x00", 0, 261)
    (True, False)
    """
    end = at + size
    while at + _RECORD_HEAD <= min(end, len(frame)):
        if not 20 <= frame[at] <= 23 or frame[at + 1] != 3 or frame[at + 3]:
            return False
        if frame[at + 4] > SMALL_RECORD_BYTES:
            return False
        at += _RECORD_HEAD + frame[at + 4]
    return at == end
