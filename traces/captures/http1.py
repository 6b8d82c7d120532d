"""The requests and replies of one HTTP/1 connection, from its two streams of bytes.

h11 does the parsing, twice as a bystander: as a server that hears the requests,
and, once a request is known, as a client that hears its reply.  A fresh parser
for every message makes pipelining and kept-alive connections the same thing.
"""

import re
from collections.abc import Callable

import h11

from traces.grouping import is_embedded
from traces.records import DOCUMENT, EMBEDDED, UNKNOWN_WAIT_US, Request

_EMBEDDED_TYPES = re.compile(
    rb"(image|font|audio)/|text/(css|javascript)|application/((x-)?javascript|font|x-shockwave-flash)"
)
_MOST_UNANSWERED = 1 << 10


class _Message:
    """One request or reply as it comes in."""

    def __init__(self, parser: h11.Connection) -> None:
        self._parser = parser
        self.start_us = self.end_us = -1
        self.size = self.pause_us = self.before_pause = 0
        self.complete = False
        self.method, self.target = b"GET", b""
        self.headers: dict[bytes, bytes] = {}

    def feed(self, data: bytes, moment_us: int) -> bytes:
        """Take bytes, and return those behind its end."""
        self.start_us = self.start_us if self.start_us >= 0 else moment_us
        if data:
            if self.size and moment_us - self.end_us > self.pause_us:
                self.pause_us, self.before_pause = moment_us - self.end_us, self.size
            self.end_us = moment_us
        self._parser.receive_data(data)
        while (event := self._parser.next_event()) is not h11.NEED_DATA:
            if event is h11.PAUSED or isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
                self.complete = True
                rest = self._parser.trailing_data[0]
                self.size += len(data) - len(rest)
                return rest
            if isinstance(event, h11.Request):
                self.method, self.target = event.method, event.target
            if isinstance(event, h11.Request | h11.Response):
                self.headers = dict(event.headers)
        self.size += len(data)
        return b""


class Exchanges:
    """Requests, and the replies that answer them in turn; `trip_us` is the round trip, -1 if it is not known."""

    def __init__(self, client: str, server: str, trip_us: int = -1) -> None:
        self._names = client, server
        self._trip_us = trip_us
        self._replied_us = -1  # when the latest reply was complete
        self._asked: list[_Message] = []
        self._done: list[Request] = []
        self.broken = False
        self._request = _Message(h11.Connection(h11.SERVER))
        self._reply: _Message | None = None

    def take(self, up: bool, data: bytes, moment_us: int) -> None:
        """Take bytes of client or server; an answer to something before the capture is passed over."""
        try:
            while data and up:
                data = self._request.feed(data, moment_us)
                if self._request.complete:
                    self._asked.append(self._request)
                    self.broken = len(self._asked) > _MOST_UNANSWERED
                    self._request = _Message(h11.Connection(h11.SERVER))
            while data and (self._reply or self._asked):
                if self._reply is None:
                    parser = h11.Connection(h11.CLIENT)  # let it expect the reply to a request of this method
                    parser.send(h11.Request(method=self._asked[0].method, target="/", headers=[("Host", "-")]))
                    parser.send(h11.EndOfMessage())
                    self._reply = _Message(parser)
                data = self._reply.feed(data, moment_us)
                if self._reply.complete:
                    self._finish(self._reply)
        except h11.ProtocolError:
            self.broken = True

    def server_closed(self, moment_us: int) -> None:
        """Note that the server has sent its last byte: a reply without a length ends here."""
        try:
            if self._reply is not None and not self.broken:
                self._reply.feed(b"", moment_us)
                if self._reply.complete:
                    self._finish(self._reply)
        except h11.ProtocolError:
            self.broken = True

    def finished(self) -> list[Request]:
        """Return the exchanges that were completed since the last call."""
        done, self._done = self._done, []
        return done

    def close(self, count: Callable[[str, int], None]) -> list[Request]:
        """Return what is left, with a reply that was cut; count what has no reply."""
        if self._reply is not None and self._reply.size and self._asked:
            count("replies_cut", 1)
            self._finish(self._reply)
        count("requests_without_reply", len(self._asked))
        count("connections_that_left_http", self.broken)
        return self.finished()

    def _finish(self, reply: _Message) -> None:
        asked = self._asked.pop(0)
        target = asked.target
        full = b"http://" + asked.headers.get(b"host", b"") + target if target.startswith(b"/") else target
        url, content_type = full.decode("latin-1"), reply.headers.get(b"content-type", b"").lower()
        kind = EMBEDDED if is_embedded(url) and not content_type.startswith(b"text/html") else DOCUMENT
        if _EMBEDDED_TYPES.match(content_type):
            kind = EMBEDDED
        end_us, wait_us = max(reply.end_us, asked.start_us), UNKNOWN_WAIT_US
        if self._trip_us >= 0:  # a reply that follows another one waited for that one, not for the server
            wait_us = max(0, reply.start_us - max(asked.end_us, self._replied_us) - self._trip_us)
        times = wait_us, -1, asked.end_us, reply.start_us, reply.pause_us, reply.before_pause
        self._done.append(Request(*self._names, asked.start_us, end_us, asked.size, reply.size, url, kind, *times))
        self._replied_us, self._reply = end_us, None
