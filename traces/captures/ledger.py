"""What is found in a capture, entered once: requests in the order in which they were sent, and where every byte went.

Exchanges are finished in another order than that in which they begin, so up to `MOST_WAITING` of them wait and leave in
order.  Flows between two addresses of one network at home are left out, except for name lookups, HTTP/1 and calls
(each direction of which has its own clock), unless the capture holds nothing else.  What a client sends to many, or to
find its neighbours, leaves an empty datagram, so that its instant is kept.  A clock that jumps begins a new session,
whose clients have names of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from traces.captures.frames import Segment, address_text, ends
from traces.records import DATAGRAM_DOWN, DATAGRAM_UP, MESSAGE, FlowGroup, Payload, Report, Request

__all__ = ["Entries", "Ledger", "LeftOut"]

MOST_WAITING = 1 << 16
_MOST_TRIPS = 1 << 14
_MOST_GROUPS = 1 << 12
_MOST_CLIENTS = 1 << 14
_DATAGRAMS = DATAGRAM_UP, DATAGRAM_DOWN


class Ledger:
    """The book of one capture.

    Parameters
    ----------
    report : Report
        Receives counts, payload and flows.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._trips: dict[tuple[bytes, bytes], tuple[int, int]] = {}
        self._waiting: list[tuple[int, Request, bool]] = []
        self._ready: list[Request] = []
        self._clients: set[str] = set()  # whose traffic leaves the network at home
        self._seen: set[str] = set()
        self._connections = 0
        self.payload = report.payload = Payload()
        self.session = 1
        self.remote = False
        self.count = report.count

    def name(self, address: bytes) -> str:
        """Return the name of a client in this session."""
        text = address_text(address)
        return text if self.session == 1 else f"{text} ({self.session})"

    def captured(self, size_bytes: int) -> None:
        """Count payload, before it is known what it is part of."""
        self.payload.captured += size_bytes

    def leave_out(self, reason: str, size_bytes: int) -> None:
        """Take payload that is in no exchange and no message."""
        if size_bytes:
            self.payload.left_out[reason] = self.payload.left_out.get(reason, 0) + size_bytes

    def correct(self, request_bytes: int, reply_bytes: int) -> None:
        """Take back payload that stands in exchanges but was not in the capture."""
        self.payload.in_requests -= request_bytes
        self.payload.in_replies -= reply_bytes

    def round_trip(self, client: bytes, server: bytes, seen_us: int, whole_us: int) -> None:
        """Note a round trip, as the capture saw it and from end to end."""
        self._report.round_trips_us.add(whole_us)
        if client:
            if len(self._trips) >= _MOST_TRIPS:
                self._trips.clear()
            self._trips[client, server] = seen_us, whole_us

    def known_trip(self, client: bytes, server: bytes) -> tuple[int, int]:
        """Return the last round trip noted between two addresses, -1 for each part that is not known."""
        return self._trips.get((client, server), (-1, -1))

    def enter(self, request: Request) -> None:
        """Take a finished exchange or message of no flow that is listed."""
        self.take(request, FlowGroup(), at_home=False)

    def group(self, transport: str, port: int) -> FlowGroup:
        """Return the group of a flow, which becomes one more."""
        name = f"{transport}/{port}"
        groups = self._report.flows
        if name not in groups and len(groups) >= _MOST_GROUPS:
            name = f"{transport}/other"
        found = groups.setdefault(name, FlowGroup())
        found.flows += 1
        return found

    def connection(self) -> int:
        """Return the number of another connection."""
        self._connections += 1
        return self._connections

    def neighbours(self, now_us: int, source: bytes, target: bytes, *, to_many: bool) -> None:
        """Take a packet whose payload is left out: an empty datagram of each of its ends that is a client."""
        for kind, address, other in ((DATAGRAM_UP, source, target), (DATAGRAM_DOWN, target, source)):
            if kind == DATAGRAM_UP or not to_many:
                found = Request(self.name(address), address_text(other), now_us, now_us, 0, 0, "", kind)
                self._waiting.append((now_us, found, False))

    def end_session(self, first_us: int, last_us: int) -> None:
        """Note how long the recording of all clients lasts that were found since the clock jumped last."""
        spans = self._report.spans_us
        spans |= dict.fromkeys(sorted(self._seen)[: max(0, _MOST_CLIENTS - len(spans))], (first_us, last_us))

    def begin_session(self) -> None:
        """Finish what was found before the clock jumped."""
        self._ready += self._release(len(self._waiting))
        self._clients.clear()
        self._seen.clear()
        self.session += 1
        self.remote = False

    def released(self, *, everything: bool = False) -> list[Request]:
        """Return requests in the order of sending, once enough of them wait; all that are left at the end."""
        waiting = len(self._waiting)
        if everything or waiting >= MOST_WAITING:
            self._ready += self._release(waiting if everything else waiting // 2)
        ready, self._ready = self._ready, []
        return ready

    def _release(self, cut: int) -> Iterator[Request]:
        self._waiting.sort(key=itemgetter(0))
        ready, self._waiting = self._waiting[:cut], self._waiting[cut:]
        payload = self.payload
        for _, request, at_home in ready:
            if at_home and self.remote:
                self.leave_out("local", request.request_bytes + request.reply_bytes)
                self.count("exchanges_between_local_addresses")
                continue
            if at_home:
                self._clients.add(request.client)
            if request.kind in _DATAGRAMS:
                if request.connection < 0 and request.client not in self._clients:
                    continue  # of somebody who has no traffic here
                payload.in_datagrams += request.request_bytes + request.reply_bytes
                self.count("datagrams")
            elif request.kind == MESSAGE:
                payload.in_messages += request.reply_bytes
                self.count("messages")
            else:
                payload.in_requests += request.request_bytes
                payload.in_replies += request.reply_bytes
                self.count("requests")
                self.count("uploads", not request.reply_bytes)
                if request.wait_us >= 0:
                    self._report.waits_us.add(request.wait_us)
            yield request

    def take(self, request: Request, group: FlowGroup, *, at_home: bool) -> None:
        """Take a finished exchange or message of a flow."""
        group.up_bytes += request.request_bytes
        group.down_bytes += request.reply_bytes
        self._seen.add(request.client)
        if not at_home:
            self._clients.add(request.client)
        self._waiting.append((request.start_us, request, at_home))


class Entries:
    """What one flow enters into the ledger.

    Parameters
    ----------
    ledger : Ledger
        The book.
    group : FlowGroup
        The flows that this one belongs to.
    at_home : bool
        Whether both ends are local.
    spared : bool
        Whether it is entered although both ends are local.
    """

    __slots__ = (
        "_at_home",
        "_connection",
        "_group",
        "_ledger",
        "_spared",
        "captured",
        "correct",
        "count",
        "known_trip",
        "leave_out",
        "name",
        "round_trip",
    )

    def __init__(self, ledger: Ledger, group: FlowGroup, *, at_home: bool, spared: bool = False) -> None:
        self._ledger = ledger
        self._connection = ledger.connection()
        self._spared = spared
        self._group = group
        self._at_home = at_home
        self.captured = ledger.captured
        self.correct = ledger.correct
        self.count = ledger.count
        self.known_trip = ledger.known_trip
        self.leave_out = ledger.leave_out
        self.name = ledger.name
        self.round_trip = ledger.round_trip

    def enter(self, request: Request) -> None:
        """Take a finished exchange, message or datagram; HTTP/1 and calls count wherever they go."""
        self._ledger.remote = self._ledger.remote or not self._at_home
        spared = self._spared or bool(request.url) or (request.kind in _DATAGRAMS and request[4] + request[5] > 0)
        request = request._replace(connection=self._connection)
        self._ledger.take(request, self._group, at_home=self._at_home and not spared)


class LeftOut:
    """Datagrams that are nobody's exchange."""

    __slots__ = ("_ledger", "_reason")

    def __init__(self, ledger: Ledger, reason: str) -> None:
        self._ledger = ledger
        self._reason = reason

    def take(self, forward: bool, segment: Segment, frame: bytes, now_us: int) -> None:
        """Take a datagram."""
        ledger = self._ledger
        ledger.captured(segment.size)
        ledger.leave_out(self._reason, segment.size)
        ledger.count(f"{self._reason}_packets")
        source, _, target, _ = ends(segment.key)
        ledger.neighbours(now_us, source, target, to_many="multi" in self._reason)

    def close(self) -> None:
        """End the flow."""
