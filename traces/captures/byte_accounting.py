"""The book of a capture: requests in the order in which they were sent, and where every byte went.

Exchanges are finished in another order than that in which they begin, so up to `MOST_WAITING` of them wait and leave in
order.  Flows between two addresses of one network at home are left out, except for name lookups, HTTP/1 and calls
(each direction of which has its own clock), unless the capture holds nothing else.  What a client sends to many, or to
find its neighbours, leaves an empty datagram, so that its instant is kept.  A clock that jumps begins a new session,
whose clients have names of their own.
"""

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
        self.payload = report.payload = Payload()
        self.count = report.count
        self.waiting: list[tuple[int, Request, bool]] = []  #: When it began, the request, whether it stays at home.
        self.ready: list[Request] = []  #: What may leave, in the order of sending.
        #: The last round trip noted between client and server, as the capture saw it and from end to end.
        self.trips: dict[tuple[bytes, bytes], tuple[int, int]] = {}
        self._report = report
        self._clients, self._seen = set[str](), set[str]()  # the former's traffic leaves the network at home
        self._connections, self._session, self._remote = 0, 1, False

    def name(self, address: bytes) -> str:
        """Return the name of a client in this session."""
        text = address_text(address)
        return text if self._session == 1 else f"{text} ({self._session})"

    def ends(self, key: bytes, forward: bool) -> tuple[bytes, bytes, str, str]:
        """Return the addresses and names of client and server of a flow, whose first packet is the client's if so."""
        client, port, server, to_port = ends(key)
        if not forward:
            client, server, to_port = server, client, port
        return client, server, self.name(client), f"{address_text(server)}:{to_port}"

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
        if not key:
            return
        source, _, target, _ = ends(key)
        both = (source, target, DATAGRAM_UP), (target, source, DATAGRAM_DOWN)
        for client, other, kind in both[: 1 if reason == MULTICAST else 2]:
            found = Request(self.name(client), address_text(other), now_us, now_us, 0, 0, "", kind)
            self.waiting.append((now_us, found, False))

    def round_trip(self, ends: tuple[bytes, bytes] | None, seen_us: int, whole_us: int) -> None:
        """Note a round trip between two ends, or (None) of one flow."""
        self._report.round_trips_us.extend((whole_us,))
        if ends:
            if len(self.trips) >= _MOST_TRIPS:
                self.trips.clear()
            self.trips[ends] = seen_us, whole_us

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
            up, down, kind = request.request_bytes, request.reply_bytes, request.kind
            if stays and self._remote:
                self.dropped("local", up + down)
                self.count("exchanges_between_local_addresses")
                continue
            if stays:
                self._clients.add(request.client)
            if kind in _DATAGRAMS and request.connection < 0 and request.client not in self._clients:
                continue  # of somebody who has no traffic here
            self.ready.append(request)
            self.count("datagrams" if kind in _DATAGRAMS else "messages" if kind == MESSAGE else "requests")
            if kind in _DATAGRAMS:
                payload.in_datagrams += up + down
            elif kind == MESSAGE:
                payload.in_messages += down
            else:
                payload.in_requests += up
                payload.in_replies += down
                self.count("uploads", not down)
                if request.wait_us >= 0:
                    self._report.waits_us.extend((request.wait_us,))
