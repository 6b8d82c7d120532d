"""The records everything else is made of: a request on the wire, a batch of them as columns, a page to replay.

Readers yield `Batch`es, structured arrays with one row a request; a row becomes a light `Request` only where somebody
asks for it.  A `Page` is what a person asked for: one HTML document and its embedded objects.  It is deliberately free
of times inside the page, because those are what the simulator computes; only how long the servers took is kept, where a
trace tells it.  A `Message` is what a server sent without being asked.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from traces.checks import checked

UNKNOWN_REQUEST_BYTES = 300
"""Size taken for a request whose trace does not tell it."""

UNKNOWN_WAIT_US = -1
"""Stands for the time that a server took where the trace does not tell it."""

MAX_BYTES = 1 << 40
"""Largest request or reply that is believed, 1 TiB."""

_REQUESTS_A_BATCH = 1 << 13
_MOST_KEPT = 1 << 12  # of a sample

BY_SUFFIX, DOCUMENT, EMBEDDED, PART, MESSAGE, OPENING, DATAGRAM_UP, DATAGRAM_DOWN = range(8)
"""What a trace says of a request: nothing, it is a document, its kind is embedded, it is part of the open page, it is
no request at all but a message that the server sent unasked (and has 0 request bytes), it opens a page, it is no
request but a datagram that nobody waits for, up or down."""

UNASKED = (MESSAGE, DATAGRAM_UP, DATAGRAM_DOWN)
"""Kinds of what is no exchange."""

REQUEST_DTYPE = np.dtype(
    [
        # when the request was sent and the last byte of the reply came, microseconds since 1970 (or since the start of
        # the trace); sizes; keys of client and server, equal within a batch if and only if the names are
        *((name, np.int64) for name in ("start_us", "end_us", "request_bytes", "reply_bytes")),
        *(("client", np.uint64), ("server", np.uint64), ("kind", np.uint8)),
        # its place in the text; time the server took, UNKNOWN_WAIT_US where the trace does not tell; number of the
        # connection, last byte of the request and first byte of the reply, -1 where the trace does not tell; the
        # longest pause within the reply, and its bytes before it
        *((name, np.int64) for name in ("url_at", "url_bytes", "wait_us", "connection", "sent_us", "first_us")),
        *((name, np.int64) for name in ("pause_us", "before_pause")),
    ]
)
_UNKNOWN = {"request_bytes": UNKNOWN_REQUEST_BYTES} | dict.fromkeys(
    ("wait_us", "connection", "sent_us", "first_us"), -1
)


class Request(NamedTuple):
    """One request and its reply as the trace has them; times in whole microseconds, sizes in bytes."""

    client: str
    server: str
    start_us: int
    end_us: int
    request_bytes: int
    reply_bytes: int
    url: str = ""
    kind: int = BY_SUFFIX
    wait_us: int = UNKNOWN_WAIT_US
    connection: int = -1
    sent_us: int = -1
    first_us: int = -1
    pause_us: int = 0
    before_pause: int = 0


class Timing(NamedTuple):
    """When an exchange begins, and how long its parts take."""

    connection: int  #: The number of its connection, which carries its exchanges in their order, one at a time.
    after: int  #: How many exchanges before this one the exchange is that it waits for; 0: it waits for none.
    #: Its pause after the end of the exchange that it waits for, else its instant on the clock of the workload.
    at_s: float
    #: From the first to the last byte of its request, from there to the first byte of its reply, and from there to
    #: the last one, as the recording saw it: round trip and transfer included.
    request_s: float = 0.0
    response_s: float = 0.0
    reply_s: float = 0.0
    pause_s: float = 0.0  #: The longest time within `reply_s` in which nothing of the reply came,
    before_pause: int = 0  #: and how many of its bytes came before that.


class Cause(NamedTuple):
    """What an exchange of a page waits for before it begins, and how it is carried."""

    #: How many exchanges before this one, within the page, the one is that names it and whose end it waits for; 0 for
    #: the HTML, which waits for none.
    after: int
    pause_s: float = 0.0  #: The host's own pause after that: parsing, scripts.
    is_awaited: bool = True  #: Whether the page is complete only with it.
    is_stream: bool = True  #: Whether its server speaks HTTP/2: one connection, any number of requests at a time.


class Datagram(NamedTuple):
    """A frame at `at_s` seconds with `size_bytes` of payload, up or down, that nobody waits for or sends again."""

    at_s: float
    size_bytes: int
    up: bool
    head: bytes = b""  #: The first bytes of its IP packet, by which a host knows what is outstanding.


class Captured(NamedTuple):
    """How long traffic was recorded, seconds: from the first packet to the last."""

    captured_s: float


class Message(NamedTuple):
    """Something a server writes to the client of its own accord: at `at_s` seconds, `size_bytes` of payload."""

    at_s: float
    size_bytes: int


class Page(NamedTuple):
    """One Web page to be browsed."""

    page: str  #: Its name; the same page may be browsed several times.
    #: Size of the request for the HTML, at least 1, and of the reply; payload only.  A reply of 0 bytes is an
    #: upload without an answer, complete when its last byte is acknowledged.
    request_bytes: int
    reply_bytes: int
    #: (request bytes, reply bytes) of the embedded objects, in the order in which they are asked for.
    objects: tuple[tuple[int, int], ...] = ()
    think_s: float = 0.0  #: Seconds between the last byte of this page and the issue of the next one.
    #: If given, the page is issued at this time, or when the previous page is complete and thought about, whichever
    #: is later.
    issue_s: float | None = None
    #: How long the server took for each exchange, from the whole request to the first byte of the reply, in
    #: seconds: the HTML first, then the objects.  NaN where it is not known; empty if nothing is known.
    waits_s: tuple[float, ...] = ()
    #: When the page must be complete, on the clock of `issue_s`, as the player of a stream knows it; None if
    #: nothing depends on it.
    deadline_s: float | None = None
    #: When each exchange begins, the HTML first, then the objects; then pages decide nothing but what belongs
    #: together.  Empty if that is not known: the page is browsed as a whole.
    timings: tuple[Timing, ...] = ()
    #: The number of the server of each exchange, the HTML first, then the objects; negative where it is not known,
    #: empty if nothing is known.
    servers: tuple[int, ...] = ()
    #: What each exchange waits for, the HTML first, then the objects in the order in which they can first be known.
    #: Empty if that is not known: the objects are asked for in their order when the HTML is there.
    causes: tuple[Cause, ...] = ()


class Session(NamedTuple):
    """What one person did in one sitting (or, where the trace knows no sittings, one client did)."""

    name: str
    user: str
    requests: Iterable[Request]  #: A tuple; or what reads them from disk, each time anew.


@dataclass(slots=True)
class Sample:
    """Whole numbers that were seen, in bounded memory: all of the first 4096; of more, every second, fourth, ... one.

    >>> sample = Sample()
    >>> sample.extend([5, 1, 3])
    >>> len(sample), sample.quantile(0.5)
    (3, 3.0)
    """

    kept: list[int] = field(default_factory=list)  #: Some of them, how many there were, and every which one is kept.
    seen: int = 0
    step: int = 1

    def add(self, value: int) -> None:
        """Take a number."""
        self.extend((value,))

    def extend(self, values: Sequence[int] | NDArray[np.int64]) -> None:
        """Take several numbers."""
        self.kept += map(int, values[-self.seen % self.step :: self.step])
        self.seen += len(values)
        while len(self.kept) > _MOST_KEPT:
            self.kept = self.kept[::2]
            self.step *= 2

    def __len__(self) -> int:
        return self.seen

    def quantile(self, level: float) -> float | None:
        """Return the quantile of a level in [0, 1]; None if nothing was seen."""
        return float(np.quantile(self.kept, level)) if self.kept else None


@dataclass(slots=True)
class Payload:
    """Where the payload of a capture went, bytes, or its packets: each is in exactly one place."""

    captured: int = 0  #: All of it: bytes of TCP streams, each once, and of datagrams; or all packets.
    in_requests: int = 0  #: What is in exchanges (and uploads), in pushed messages and in datagrams.
    in_replies: int = 0
    in_messages: int = 0
    in_datagrams: int = 0
    left_out: dict[str, int] = field(default_factory=dict)  #: The rest, by reason.

    as_dict = asdict  #: The figures as plain data.


@dataclass(slots=True)
class FlowGroup:
    """The flows to one port of servers: how many there were, and their payload up and down, bytes."""

    flows: int = 0
    up_bytes: int = 0
    down_bytes: int = 0


@dataclass(slots=True)
class Report:
    """What was read, and what was left out or mended on the way: nothing is dropped without a count here."""

    format: str = ""  #: The format that was found, and the file.
    path: str = ""
    #: Number of occurrences by name, in the order in which they first occurred.
    counts: dict[str, int] = field(default_factory=dict)
    payload: Payload | None = None  #: Where the payload of a capture went, and its packets; None for other formats.
    packets: Payload | None = None
    #: The flows of a capture, by transport and port of the server: ``"tcp/443"``.
    flows: dict[str, FlowGroup] = field(default_factory=dict)
    #: Round trips to servers and times that servers took, as far as they were recorded, microseconds.
    round_trips_us: Sample = field(default_factory=Sample)
    waits_us: Sample = field(default_factory=Sample)
    #: Of the clients of a capture, the first and the last packet of the recording, whosever they are, microseconds.
    spans_us: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def round_trip_s(self) -> float | None:
        """The median of the recorded round trips, in whole microseconds; None if none was recorded."""
        median = self.round_trips_us.quantile(0.5)
        return None if median is None else round(median) / 1e6

    def count(self, name: str, occurrences: int = 1) -> None:
        """Add occurrences of something; zero leaves no trace."""
        if occurrences:
            self.counts[name] = self.counts.get(name, 0) + occurrences

    def on_damage(self, error: Exception) -> None:
        """Count damage after which nothing more could be read of a file."""
        self.count("damaged")
        self.count("files_cut_short_by_damage")

    def __getitem__(self, name: str) -> int:
        return self.counts.get(name, 0)

    def __str__(self) -> str:
        return f"{self.format}: {self.counted()}"

    def counted(self) -> str:
        """Say all counts in words; empty if there are none."""
        return ", ".join(counted(value, name) for name, value in self.counts.items())


@checked
def counted(number: int, name: str) -> str:
    """Return a count in words, its noun in the singular if it is one.

    >>> counted(2, "empty_replies"), counted(1, "empty_replies"), counted(1, "bytes_lost_in_the_capture")
    ('2 empty replies', '1 empty reply', '1 byte lost in the capture')
    """
    words = name.split("_")
    if number == 1:
        for place in [place for place, word in enumerate(words) if word.endswith("s")][:1]:
            words[place] = re.sub("ies$|s$", lambda end: "y" if end[0] == "ies" else "", words[place])
    return " ".join((str(number), *words))


@dataclass(slots=True, eq=False)
class Batch:
    """Some consecutive requests of a trace as columns."""

    #: The columns that the trace has, each of shape (n,); ``batch["kind"]`` gives any of `REQUEST_DTYPE`, in its type.
    known: Mapping[str, NDArray[Any]]
    text: bytes  #: Where the URLs stand.
    client_name: Callable[[int], str]  #: From the keys in the columns to names.
    server_name: Callable[[int], str]

    def __len__(self) -> int:
        return len(self.known["start_us"])

    def __getitem__(self, name: str) -> NDArray[Any]:
        found = self.known[name] if name in self.known else np.full(len(self), _UNKNOWN.get(name, 0))
        return np.asarray(found, REQUEST_DTYPE[name])

    @property
    def columns(self) -> NDArray[np.void]:
        """All columns, shape (n,), dtype `REQUEST_DTYPE`; made when it is asked for."""
        found = np.empty(len(self), REQUEST_DTYPE)
        for name in REQUEST_DTYPE.names or ():
            found[name] = self[name]
        return found

    def requests(self) -> Iterator[Request]:
        """Yield the rows as light tuples, in the order of the trace."""
        text, client_name, server_name = self.text, self.client_name, self.server_name
        columns = zip(*(self[name].tolist() for name in REQUEST_DTYPE.names or ()), strict=True)
        for start, end, request, reply, client, server, kind, at, size, *times in columns:
            url = text[at : at + size].decode("latin-1")
            yield Request(client_name(client), server_name(server), start, end, request, reply, url, kind, *times)


def batch_of(requests: Iterable[Request]) -> Batch:
    """Return some requests, at least one, as a batch."""
    fields = dict(zip(Request._fields, zip(*requests, strict=True), strict=True))
    urls = [url.encode("latin-1", "replace") for url in fields.pop("url")]
    sizes = np.fromiter(map(len, urls), np.int64, len(urls))
    columns = {"url_bytes": sizes, "url_at": np.cumsum(sizes) - sizes}
    names: dict[str, list[str]] = {}
    for name, values in fields.items():
        if name in ("client", "server"):
            keys: dict[str, int] = {}
            columns[name] = np.array([keys.setdefault(value, len(keys)) for value in values])
            names[name] = list(keys)
        else:
            columns[name] = np.array(values)
    return Batch(columns, b"".join(urls), names["client"].__getitem__, names["server"].__getitem__)


def moment_us(text: str) -> int:
    """Return a date and time as in ISO 8601, in UTC if it tells no zone, as microseconds since 1970."""
    moment = datetime.fromisoformat(text)
    since = datetime(1970, 1, 1, tzinfo=moment.tzinfo and UTC)
    return (moment - since) // timedelta(microseconds=1)


def counting(requests: Iterator[Request], report: Report) -> Iterator[Request]:
    """Yield requests, and count them, some thousands at a time."""
    while some := list(islice(requests, _REQUESTS_A_BATCH)):
        report.count("requests", len(some))
        yield from some


def batched(requests: Iterator[Request]) -> Iterator[Batch]:
    """Yield requests as batches of some thousands."""
    while some := list(islice(requests, _REQUESTS_A_BATCH)):
        yield batch_of(some)
