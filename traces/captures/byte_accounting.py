"""The book of a capture: requests in the order in which they were sent, and where every byte and packet went.

Exchanges are finished in another order than that in which they begin, so up to `MOST_WAITING` of them wait and leave in
order.  Flows between two addresses of one network at home are left out, except for those of a client that has traffic
elsewhere, name lookups, HTTP/1 and calls (each direction of which has its own clock), unless the capture holds nothing
else.  What a client sends to many, what passes to find neighbours, fragments and other protocols over IP leave an empty
datagram, so that their instants are kept.  A clock that jumps begins a new session, whose clients have names of their
own.  Addresses of one device have one name (`device`).
"""

from collections.abc import Callable, Sequence

from traces.captures.frames import Segment, address_text, ends
from traces.records import DATAGRAM_DOWN, DATAGRAM_UP, MESSAGE, UNASKED, FlowGroup, Payload, Report, Request

MOST_WAITING = 1 << 16
_MOST_TRIPS = 1 << 14
_MOST_GROUPS = 1 << 12
_MOST_CLIENTS = 1 << 14
_DATAGRAMS = DATAGRAM_UP, DATAGRAM_DOWN
Enter = Callable[[Request, int, int], None]
"""What takes an exchange, message or datagram, and its packets up and down."""


def datagram(client: str, server: str, at_us: int, up: bool, size: int = 0) -> Request:
    """Return what was sent at an instant, up or down, and nobody waits for."""
    sizes, kind = ((size, 0), DATAGRAM_UP) if up else ((0, size), DATAGRAM_DOWN)
    return Request(client, server, at_us, at_us, *sizes, kind=kind)


class Ledger:
    """The book of one capture, whose counts, payload and flows `report` receives.

    The `addresses` are those of the one device that is wanted, if one is; it is called by the first of them.
    """

    def __init__(self, report: Report, addresses: Sequence[bytes]) -> None:
        self.payload, self.packets = report.payload, report.packets = Payload(), Payload()
        self.count, self.round_trip = report.count, report.round_trips_us.add
        #: The request, whether it stays at home, its packets up and down, and who may have it instead.
        self.waiting: list[tuple[Request, bool, int, int, Request | None]] = []
        self.ready: list[Request] = []  #: What may leave, in the order of sending.
        #: The last round trip noted between client and server, as the capture saw it and from end to end.
        self.trips: dict[tuple[bytes, bytes], tuple[int, int]] = {}
        self.devices, self.device = set(addresses), next(iter(addresses), b"")
        self._report = report
        self._clients, self._seen = set[str](), set[str]()  # the former's traffic leaves the network at home
        self._connections, self._session, self._remote = 0, 1, False

    def name(self, address: bytes) -> str:
        """Return the name of a client in this session."""
        text = address_text(self.device if address in self.devices else address)
        return text if self._session == 1 else f"{text} ({self._session})"

    def ends(self, key: bytes, forward: bool) -> tuple[bytes, bytes, str, str]:
        """Return the addresses and names of client and server of a flow, whose first packet is the client's if so."""
        client, port, server, to_port = ends(key)
        if not forward:
            client, server, to_port = server, client, port
        return client, server, self.name(client), f"{address_text(server)}:{to_port}"

    def dropped(self, reason: str, size_bytes: int, packets: int = 1) -> None:
        """Take captured payload, and packets, that are in no exchange, message or datagram."""
        for book, lost in ((self.payload, size_bytes), (self.packets, packets)):
            if lost:
                book.left_out[reason] = book.left_out.get(reason, 0) + lost

    def leave_out(self, segment: Segment, now_us: int) -> None:
        """Take a packet that is part of nobody's traffic: an empty datagram of each of its ends that is a client."""
        reason, key = segment.reason, segment.key
        self.count(f"{reason}_packets" if "background" in reason else reason)
        self.payload.captured += segment.size
        self.dropped(reason, segment.size, not key)
        if not key:
            return
        source, _, target, _ = ends(key)
        sent = datagram(self.name(source), reason, now_us, up=True)
        self.waiting.append((sent, False, 1, 0, datagram(self.name(target), reason, now_us, up=False)))

    def trip(self, ends: tuple[bytes, bytes], seen_us: int, whole_us: int) -> None:
        """Note the round trip between two ends."""
        if len(self.trips) >= _MOST_TRIPS:
            self.trips.clear()
        self.trips[ends] = seen_us, whole_us

    def opened(self, name: str, *, at_home: bool = False, spared: bool = False) -> Enter:
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

        def enter(request: Request, up_packets: int, down_packets: int) -> None:
            up, down = request.request_bytes, request.reply_bytes
            group.up_bytes += up
            group.down_bytes += down
            counts = spared or request.url or (request.kind in _DATAGRAMS and up + down > 0)
            stays = at_home and not counts
            self._remote = self._remote or not at_home
            self._seen.add(request.client)
            if not stays:
                self._clients.add(request.client)
            self.waiting.append((request._replace(connection=connection), stays, up_packets, down_packets, None))

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
        self.waiting.sort(key=lambda one: one[0].start_us)
        leaving, self.waiting = self.waiting[:n], self.waiting[n:]
        for request, stays, up_packets, down_packets, other in leaving:
            up, down, kind = request.request_bytes, request.reply_bytes, request.kind
            if stays and self._remote and request.client not in self._clients:
                self.dropped("local", up + down, up_packets + down_packets)
                self.count("exchanges_between_local_addresses", kind not in _DATAGRAMS)
                continue
            if stays:
                self._clients.add(request.client)
            whose = [one for one in (request, other) if one and (not other or one.client in self._clients)]
            if not whose:  # of somebody who has no traffic here
                self.dropped(request.server, 0, up_packets)
            self.ready += whose
            self.count("datagrams" if kind in _DATAGRAMS else "messages" if kind == MESSAGE else "requests", len(whose))
            for book, *sizes in ((self.payload, up, down), (self.packets, up_packets, down_packets)):
                if kind in _DATAGRAMS:
                    book.in_datagrams += sum(sizes) * bool(whose)
                elif kind == MESSAGE:
                    book.in_messages += sizes[1]
                else:
                    book.in_requests += sizes[0]
                    book.in_replies += sizes[1]
            if kind not in UNASKED:
                self.count("uploads", not down)
                if request.wait_us >= 0:
                    self._report.waits_us.add(request.wait_us)
