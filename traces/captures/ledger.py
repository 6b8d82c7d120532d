"""The book of a capture: requests in the order in which they were sent, and where every byte went.

Exchanges are finished in another order than that in which they begin, so up to `MOST_WAITING` of them wait and leave in
order.  Flows between two addresses of one network at home are left out, except for name lookups, HTTP/1 and calls
(each direction of which has its own clock), unless the capture holds nothing else.  What a client sends to many, or to
find its neighbours, leaves an empty datagram, so that its instant is kept.  A clock that jumps begins a new session,
whose clients have names of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

from traces.captures.frames import MULTICAST, Segment, address_text, ends
from traces.records import DATAGRAM_DOWN, DATAGRAM_UP, MESSAGE, FlowGroup, Payload, Report, Request

MOST_WAITING = 1 << 16
_MOST_TRIPS = 1 << 14
_MOST_GROUPS = 1 << 12
_MOST_CLIENTS = 1 << 14
_DATAGRAMS = DATAGRAM_UP, DATAGRAM_DOWN


class Ledger:
    """The book of one capture, whose counts, payload and flows `report` receives."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._trips: dict[tuple[bytes, bytes], tuple[int, int]] = {}
        self._clients: set[str] = set()  # whose traffic leaves the network at home
        self._seen: set[str] = set()
        self._connections = 0
        self._session = 1
        self._remote = False
        self.payload = report.payload = Payload()
        self.count = report.count
        self.waiting: list[tuple[int, Request, bool]] = []  #: When it began, the request, whether it stays at home.
        self.ready: list[Request] = []  #: What may leave, in the order of sending.

    def name(self, address: bytes) -> str:
        """Return the name of a client in this session."""
        text = address_text(address)
        return text if self._session == 1 else f"{text} ({self._session})"

    def addresses(self, key: bytes, forward: bool) -> tuple[bytes, bytes]:
        """Return client and server of a flow, the first of whose packets the client sent if `forward`."""
        source, _, target, _ = ends(key)
        return (source, target) if forward else (target, source)

    def names(self, key: bytes, forward: bool) -> tuple[str, str]:
        """Return the names of client and server of a flow."""
        client, port, server, to_port = ends(key)
        if not forward:
            client, server, to_port = server, client, port
        return self.name(client), f"{address_text(server)}:{to_port}"

    def dropped(self, reason: str, size_bytes: int) -> None:
        """Take captured payload that is in no exchange and no message."""
        if size_bytes:
            self.payload.left_out[reason] = self.payload.left_out.get(reason, 0) + size_bytes

    def leave_out(self, segment: Segment, now_us: int) -> None:
        """Take a packet that is part of nobody's traffic: an empty datagram of each of its ends that is a client."""
        reason, key = segment.reason, segment.key
        self.count(f"{reason}_packets" if "background" in reason else reason)
        self.payload.captured += segment.size
        self.dropped(reason, segment.size)
        of_one_end = (DATAGRAM_UP,) if key else ()
        for kind in _DATAGRAMS if key and reason != MULTICAST else of_one_end:
            client, other = self.addresses(key, kind == DATAGRAM_UP)
            found = Request(self.name(client), address_text(other), now_us, now_us, 0, 0, "", kind)
            self.waiting.append((now_us, found, False))

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

    def opened(self, name: str, *, at_home: bool = False, spared: bool = False) -> Callable[[Request], None]:
        """Return what takes the exchanges, messages and datagrams of another flow as they are finished.

        It is called after transport and port of the server, ``"tcp/443"``.  One that is `spared` counts although both
        of its ends are `at_home`, as HTTP/1 and calls do.
        """
        groups = self._report.flows
        if name not in groups and len(groups) >= _MOST_GROUPS:
            name = name.partition("/")[0] + "/other"
        group = groups.setdefault(name, FlowGroup())
        group.flows += 1
        self._connections += 1
        connection = self._connections

        def enter(request: Request) -> None:
            up, down = request.request_bytes, request.reply_bytes
            group.up_bytes += up
            group.down_bytes += down
            counts = spared or request.url or (request.kind in _DATAGRAMS and up + down > 0)
            stays = at_home and not counts
            self._remote = self._remote or not at_home
            self._seen.add(request.client)
            if not stays:
                self._clients.add(request.client)
            self.waiting.append((request.start_us, request._replace(connection=connection), stays))

        return enter

    def end_session(self, first_us: int, last_us: int) -> None:
        """Finish what was found since the clock jumped last: the recording of its clients lasts so long."""
        spans = self._report.spans_us
        spans |= dict.fromkeys(sorted(self._seen)[: max(0, _MOST_CLIENTS - len(spans))], (first_us, last_us))
        self.release(len(self.waiting))
        self._clients.clear()
        self._seen.clear()
        self._session += 1
        self._remote = False

    def release(self, n: int) -> None:
        """Let the first `n` of those that wait leave."""
        self.waiting.sort(key=itemgetter(0))
        leaving, self.waiting = self.waiting[:n], self.waiting[n:]
        payload = self.payload
        for _, request, stays in leaving:
            up, down = request.request_bytes, request.reply_bytes
            if stays and self._remote:
                self.dropped("local", up + down)
                self.count("exchanges_between_local_addresses")
                continue
            if stays:
                self._clients.add(request.client)
            if request.kind in _DATAGRAMS:
                if request.connection < 0 and request.client not in self._clients:
                    continue  # of somebody who has no traffic here
                payload.in_datagrams += up + down
                self.count("datagrams")
            elif request.kind == MESSAGE:
                payload.in_messages += down
                self.count("messages")
            else:
                payload.in_requests += up
                payload.in_replies += down
                self.count("requests")
                self.count("uploads", not down)
                if request.wait_us >= 0:
                    self._report.waits_us.add(request.wait_us)
            self.ready.append(request)
