"""The browser: a page over its connections, one page after another.

A page is issued, its HTML fetched on a first connection, and its objects then on
up to `max_connections` connections, in order, one outstanding request each.
Persistent connections go on with the next object; otherwise every object has a
connection of its own (HTTP/1.0).  An upload, which has no reply, is
complete when its last byte is acknowledged.  A connection with no further object vanishes.
The loop is closed: the next page is issued when the previous one is complete and
has been thought about.  Left out: caches, name look-ups, pipelining, aborts.
"""

from __future__ import annotations

from array import array
from collections.abc import Generator, Iterable, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from simpy import Event, Timeout

from netsim.air.radio_states import StateTimes
from netsim.clock import Clock
from netsim.medium import WirelessStation
from netsim.server import Server
from netsim.tcp import Endpoint, TcpConfig
from traces.records import Page

__all__ = ["Browser", "Trip"]

_NS_PER_S = 1_000_000_000


class Trip(NamedTuple):
    """What browsing a workload leaves behind, whichever engine did it.

    Attributes
    ----------
    end_ns, awake_ns, beacons, air_up_ns, air_down_ns, frames_lost : int
        Totals of the run.
    loads : array of int64, shape (pages, 4)
        Issue, last byte, and between them time awake and beacons.
    polls : array of int64, shape (entries, 6)
        As in `Station`.
    intervals : array of int64
        Start and end of every interval awake.
    pages_handed_over : int
        Pages that the express engine left to the compiled loop of events.
    states : StateTimes or None
        Time in each state of the radio, on the shared air.
    page_states : list of (StateTimes, StateTimes)
        The same up to the issue and up to the last byte of every page.
    groups_lost : int
        Group frames that the client was asleep for, on the shared air.
    """

    end_ns: int
    awake_ns: int
    beacons: int
    air_up_ns: int
    air_down_ns: int
    frames_lost: int
    loads: NDArray[np.int64]
    polls: NDArray[np.int64]
    intervals: NDArray[np.int64]
    pages_handed_over: int
    states: StateTimes | None = None
    page_states: Sequence[tuple[StateTimes, StateTimes]] = ()
    groups_lost: int = 0


class Browser:
    """Loads pages through a station.

    Parameters
    ----------
    env : Clock
        Tells and keeps the time.
    station : WirelessStation
        Sends and receives.
    server : Server
        Answers.
    tcp : TcpConfig
        Parameters of every connection.
    persistent : bool
        Whether a connection goes on with the next object.
    max_connections : int
        Connections at a time.

    Attributes
    ----------
    page_name : str or None
        That of the page issued last.
    numbers : iterator of int
        Gives every connection a number of its own, from 1 on; 0 is that of pushed messages.
    loads : array of int64
        Groups of four, one a page: issue, last byte (instants), time awake and beacons between the two.
    """

    def __init__(
        self,
        env: Clock,
        station: WirelessStation,
        server: Server,
        tcp: TcpConfig,
        *,
        persistent: bool = True,
        max_connections: int = 4,
    ) -> None:
        self.env = env
        self.station = station
        self.server = server
        self.tcp = tcp
        self.numbers = count(1)
        self.loads = array("q")
        self._page_states: list[tuple[StateTimes, StateTimes]] = []
        self.persistent = persistent
        self.max_connections = max_connections
        self.page_name: str | None = None
        self._page: Page
        self._delays: list[int] = []
        self._taken = 0
        self._missing = 0
        self._complete: Event

    def browse(self, pages: Iterable[Page], delays_ns: NDArray[np.int64]) -> Generator[Event, None, None]:
        """Issue the pages one after another; a SimPy process."""
        env, station = self.env, self.station
        first = 0
        for page in pages:
            if page.issue_s is not None:
                wait = round(page.issue_s * _NS_PER_S) - env.now
                if wait > 0:
                    yield Timeout(env, wait)
            issued = env.now
            station.advance(issued)
            awake, beacons = station.awake_ns(issued), station.beacons
            before = station.state_times(issued)
            station.deadline_ns = None if page.deadline_s is None else round(page.deadline_s * _NS_PER_S)
            self.page_name = page.page
            self._page, self._delays = page, delays_ns[first : first + 1 + len(page.objects)].tolist()
            first += 1 + len(page.objects)
            self._taken, self._missing = 0, len(page.objects)
            self._complete = Event(env)
            self._fetch(Connection(self), -1)
            yield self._complete
            done = env.now
            station.advance(done)
            self.loads.extend((issued, done, station.awake_ns(done) - awake, station.beacons - beacons))
            after = station.state_times(done)
            if before is not None and after is not None:
                self._page_states.append((before, after))
            if page.think_s:
                yield Timeout(env, round(page.think_s * _NS_PER_S))

    def trip(self, end_ns: int) -> Trip:
        """End the run at `end_ns`, and return what it leaves behind."""
        station = self.station
        station.finish(end_ns)
        return Trip(
            end_ns=end_ns,
            awake_ns=station.awake_ns(end_ns),
            beacons=station.beacons,
            air_up_ns=station.air_up_ns,
            air_down_ns=station.air_down_ns,
            frames_lost=station.lost,
            loads=np.array(self.loads, dtype=np.int64).reshape(-1, 4),
            polls=np.array(station.polls, dtype=np.int64).reshape(-1, 6),
            intervals=np.array(station.intervals, dtype=np.int64),
            pages_handed_over=0,
            states=station.state_times(end_ns),
            page_states=self._page_states,
            groups_lost=station.groups_lost,
        )

    def arrived(self, connection: Connection) -> None:
        """Go on when the last byte of what `connection` was fetching has come, or of its upload is acknowledged."""
        self.station.outstanding -= 1
        if connection.index < 0:
            n = min(self.max_connections, len(self._page.objects))
            if self.persistent and n:
                self._fetch_next(connection)
                n -= 1
            else:
                connection.close()
            for _ in range(n):
                self._fetch_next(Connection(self))
        else:
            self._missing -= 1
            if self._taken == len(self._page.objects):
                connection.close()
            elif self.persistent:
                self._fetch_next(connection)
            else:
                connection.close()
                self._fetch_next(Connection(self))
        if not self._missing:
            self._complete.succeed()

    def _fetch_next(self, connection: Connection) -> None:
        self._taken += 1
        self._fetch(connection, self._taken - 1)

    def _fetch(self, connection: Connection, index: int) -> None:
        page = self._page
        request, reply = (page.request_bytes, page.reply_bytes) if index < 0 else page.objects[index]
        connection.fetch(index, request, reply, self._delays[index + 1])


class Connection:
    """Two endpoints and what is being fetched over them."""

    __slots__ = ("_browser", "_client", "_delay_ns", "_open", "_reply", "_request", "_server", "index")

    def __init__(self, browser: Browser) -> None:
        env, station = browser.env, browser.station
        self._browser = browser
        number = next(browser.numbers)
        self._client = Endpoint(env, browser.tcp, station.send, self._on_reply, self._on_open, number)
        self._server = Endpoint(env, browser.tcp, station.send_down, self._on_request)
        self._client.peer, self._server.peer = self._server, self._client
        self._open = False
        self.index = -1
        self._request = self._reply = self._delay_ns = 0

    def fetch(self, index: int, request_bytes: int, reply_bytes: int, delay_ns: int) -> None:
        """Ask for object `index` (-1: the HTML), opening the connection first if it is new."""
        self.index = index
        self._request, self._reply, self._delay_ns = request_bytes, reply_bytes, delay_ns
        self._server.expect(request_bytes, acknowledged=not reply_bytes)
        self._client.expect(reply_bytes)
        if self._open:
            self._ask()
        else:
            self._client.open()

    def close(self) -> None:
        """Vanish at both ends."""
        self._client.close()
        self._server.close()

    def _on_open(self) -> None:
        self._open = True
        self._ask()

    def _ask(self) -> None:
        self._browser.station.outstanding += 1
        self._client.write(self._request, None if self._reply else self._on_reply)

    def _on_request(self) -> None:
        if self._reply:
            self._browser.server.answer(self._server, self._reply, self._delay_ns)

    def _on_reply(self) -> None:
        self._browser.arrived(self)
