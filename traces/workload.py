"""The workload file: what a client does, one JSON object a line.

There are five kinds of lines, in any order between each other.

* A **page**, in the order in which the pages are browsed: ``{"page": "w0", "issue_s": 1.0, "request_bytes": 433,
  "reply_bytes": 9319, "objects": [[369, 4665]], "think_s": 40.1, "waits_s": [0.25, null], "deadline_s": 5.0}``.
  `issue_s` (no fixed time), `objects` (none), `think_s` (0), `waits_s` (how long the server took for the page and
  each object, null where it is not known), `deadline_s` (none), `servers` and `timings` may be missing.  A reply of
  0 bytes is an upload.  `servers` holds for the page and each object the number of the server that is asked, from 0
  on, and -1 where it is not known.  `timings`, which all pages have or none, holds for each of them six numbers:
  ``[connection, after, at_s, request_s, response_s, reply_s]``, or eight, with ``pause_s, before_pause``.  Where
  `after` is 0, the exchange begins at the instant `at_s`; else `at_s` after the end of the exchange so many places
  before it, counted over pages and objects as they stand in the file; and never before the one before it on its
  connection is complete.  Its request takes `request_s` from the first to the last byte; the first byte of its reply
  came `response_s` after that, and the last one `reply_s` later, as they were recorded; after `before_pause` bytes
  there was a pause of `pause_s` in it.  `causes`, which again all pages have or none, holds for each of them ``[after,
  pause_s, awaited, stream]``: it begins `pause_s` after the end of the exchange of its page so many places before it
  (0 for the page itself alone), the page is complete only with it or not, and its server speaks HTTP/2 or HTTP/1.1.
* A **message** that the server pushes, in the order of time: ``{"message_bytes": 412, "at_s": 63.2}``.
* A **datagram** that nobody waits for and nobody sends again, in the order of time: ``{"datagram_bytes": 172, "at_s":
  0.02, "up": true}``; with ``"head": "4500..."``, the first bytes of its IP packet, if a host is to know what is asked.
* How long the traffic was **captured**, from its first packet to its last, at most once: ``{"captured_s": 76.1}``.
* The **round trip** to the servers that was recorded, at most once: ``{"round_trip_s": 0.031}``.

Anything else in a file is an error that names the line; a workload is never read in part.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import chain
from math import isfinite, nan
from typing import Any, NamedTuple

from traces.checks import checked, shown
from traces.columns import Workload
from traces.errors import PathName, RuleError, placed
from traces.files import lines, opened, replacing
from traces.records import MAX_BYTES, Captured, Cause, Datagram, Message, Page, Report, Timing

_MAX_LINE_BYTES = 1 << 24
_MAX_OBJECTS = 100_000
_LARGEST_DATAGRAM = 1 << 16
_MOST_CONNECTIONS = 1 << 40
_MOST_SERVERS = 1 << 31
Record = Page | Message | Datagram | Captured
Fields = dict[str, Any]


class RoundTrip(NamedTuple):
    """The round trip to the servers that was recorded."""

    round_trip_s: float


def load(path: PathName) -> Workload:
    """Read a workload (`traces.read_workload`)."""
    book = _Book()
    with opened(path, Report()) as source, placed(path):
        found = gathered(source.parsed(book.checked, lines(source.stream, _MAX_LINE_BYTES, path)))
        book.close()
    return found


def gathered(records: Iterable[Record | RoundTrip]) -> Workload:
    """Return the workload of which these are the pages, messages, datagrams, and what was recorded of the whole."""
    found: defaultdict[type, list[Any]] = defaultdict(list)
    for record in records:
        found[type(record)].append(record)
    trip_s, captured_s = (found[kind][0][0] if found[kind] else None for kind in (RoundTrip, Captured))
    return Workload.of(found[Page], found[Message], trip_s, found[Datagram], captured_s)


@checked
def write_workload(
    path: PathName, records: Iterable[Record], round_trip_s: float | Callable[[], float | None] | None = None
) -> int:
    """Write pages and what else there is, one a line, and return the number of pages; the file is whole or untouched.

    Parameters
    ----------
    path : path-like
        The file.
    records : Workload, or iterable of Page, Message, Datagram and Captured
        Pages in the order in which they are browsed, messages and datagrams in the order of time.
    round_trip_s : float or callable, optional
        The round trip to the servers, or what tells it after the last record; that of a `Workload` by itself.
    """
    if isinstance(records, Workload):
        round_trip_s = records.round_trip_s if round_trip_s is None else round_trip_s
        ends = () if records.captured_s is None else (Captured(records.captured_s),)
        records = chain(records, records.messages, records.datagrams, ends)

    def written() -> Iterator[Fields]:
        yield from map(_fields, records)
        known_s = round_trip_s() if callable(round_trip_s) else round_trip_s
        if known_s is not None:
            yield {"round_trip_s": float(known_s)}

    book = _Book()
    with replacing(path) as file:
        for number, fields in enumerate(written(), 1):
            with placed(path, f"line {number}"):
                book.record(fields)
            file.write(json.dumps(fields).encode() + b"\n")
        with placed(path):
            book.close()
    return book.counts["page"]


_WRITTEN: dict[str, Callable[[Any], object]] = {  # of a page, in this order
    "page": str,
    "issue_s": float,
    "request_bytes": int,
    "reply_bytes": int,
    "objects": lambda pairs: [[int(asked), int(reply)] for asked, reply in pairs],
    "think_s": float,
    "waits_s": lambda waits: [float(wait) if wait == wait else None for wait in waits],
    "deadline_s": float,
    "timings": lambda timings: [
        [int(one[0]), int(one[1]), *map(float, one[2:7]), int(one[7])][: 8 if any(one[6:]) else 6] for one in timings
    ],
    "servers": lambda servers: [int(server) for server in servers],
    "causes": lambda causes: [[int(one[0]), float(one[1]), bool(one[2]), bool(one[3])] for one in causes],
}


def workload_line(record: Record) -> str:
    r"""Return the line of one page, message or datagram, or of how long all was captured; equal ones give equal bytes.

    >>> workload_line(Page("a", 300, 500))
    '{"page": "a", "request_bytes": 300, "reply_bytes": 500, "objects": [], "think_s": 0.0}\n'
    >>> workload_line(Message(63.25, 412))
    '{"message_bytes": 412, "at_s": 63.25}\n'
    >>> workload_line(Datagram(0.5, 9, True, b"E"))
    '{"datagram_bytes": 9, "at_s": 0.5, "up": true, "head": "45"}\n'
    """
    return json.dumps(_fields(record)) + "\n"


def _fields(record: Record) -> Fields:
    if isinstance(record, Message):
        return {"message_bytes": int(record.size_bytes), "at_s": float(record.at_s)}
    if isinstance(record, Datagram):
        fields = {"datagram_bytes": int(record.size_bytes), "at_s": float(record.at_s), "up": bool(record.up)}
        return fields | ({"head": record.head.hex()} if record.head else {})
    if isinstance(record, Captured):
        return {"captured_s": float(record.captured_s)}
    if not isinstance(record, Page):
        raise TypeError(f"record must be a Page or a Message, got {shown(record)}")
    return {
        name: written for name, write in _WRITTEN.items()
        if (value := getattr(record, name)) is not None and ((written := write(value)) != [] or name == "objects")
    }  # fmt: skip


class _Book:
    """What the lines of a workload say, held to its rules line by line."""

    def __init__(self) -> None:
        self.counts: defaultdict[str, int] = defaultdict(int)
        self._latest: defaultdict[str, float] = defaultdict(float)
        self._exchanges = 0
        self._known: dict[str, bool] = {}

    def checked(self, line: bytes) -> Record | RoundTrip | None:
        """Return what a line holds; None if it is empty."""
        text = line.removeprefix(b"\xef\xbb\xbf").strip()
        return self.record(_json(text)) if text else None

    def record(self, fields: object) -> Record | RoundTrip:
        """Return what the fields of a line hold."""
        if not isinstance(fields, dict):
            raise RuleError("a page must be a JSON object", fields)
        own = next((own for own in _KINDS if own in fields), "page")
        kind, needed, make = _KINDS[own]
        may = _WRITTEN if own == "page" else (*needed, *(("head",) if make is _datagram else ()))
        for key in needed:
            if key not in fields:
                raise RuleError(f"a {kind} must have {key}", f"only {', '.join(map(str, fields)) or 'nothing'}")
        for key in fields:
            if key not in may:
                raise RuleError(f"a {kind} has only the fields {', '.join(sorted(may))}", key)
        record = _page(fields, self._exchanges) if make is None else make(*map(fields.get, may))
        if needed == (own,) and self.counts[kind]:
            raise RuleError(f"a workload must hold at most one {kind}", f"another, {fields[own]}")
        self.counts[kind] += 1
        name, latest = "issue_s" if own == "page" else "at_s", self._latest[kind]
        moment = getattr(record, name, None)
        if moment is not None and moment < latest:
            raise RuleError(f"{name} must not run backwards (the {kind} before has {latest})", moment)
        self._latest[kind] = latest if moment is None else moment
        if isinstance(record, Page):
            self._exchanges += 1 + len(record.objects)
            for name in ("timings", "causes"):
                given = getattr(record, name)
                if self._known.setdefault(name, bool(given)) != bool(given):
                    raise RuleError(f"all pages must have {name}, or none", f"{len(given)} {name}")
        return record

    def close(self) -> None:
        """Refuse a workload of nothing."""
        if not any(self.counts[kind] for kind in ("page", "message", "datagram")):
            raise RuleError("a workload must hold at least one page, message or datagram", "none")


def _json(text: bytes) -> object:
    try:
        return json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise RuleError(f"a line must be whole JSON in UTF-8 ({reason})", text[:40].decode("latin-1")) from None


def _page(fields: Fields, exchanges_before: int) -> Page:
    if not isinstance(fields["page"], str) or not fields["page"]:
        raise RuleError("page must be a name", fields["page"])
    rule = f"objects must be a list of at most {_MAX_OBJECTS} pairs [request, reply]"
    objects = _list(fields.get("objects", []), range(_MAX_OBJECTS + 1), rule)
    for pair in objects:
        if not isinstance(pair, list) or len(pair) != 2:
            raise RuleError("an object must be a pair [request bytes, reply bytes]", pair)
    n = 1 + len(objects)
    each = {"waits_s": "one wait", "servers": "one server", "timings": "six numbers", "causes": "one cause"}
    waits, servers, timings, causes = (
        _list(fields.get(name, []), (0, n), f"{name} must be a list of {one} an exchange ({n})")
        for name, one in each.items()
    )
    issue_s, deadline_s = (
        None if fields.get(name) is None else _seconds(fields[name], name) for name in ("issue_s", "deadline_s")
    )
    return Page(
        fields["page"], _size(fields["request_bytes"], "request_bytes"), _size(fields["reply_bytes"], "reply_bytes", 0),
        tuple((_size(asked, "request"), _size(reply, "reply", 0)) for asked, reply in objects),
        _seconds(fields.get("think_s", 0.0), "think_s"), issue_s,
        tuple(nan if wait is None else _seconds(wait, "a wait") for wait in waits), deadline_s,
        tuple(_timing(timing, n, exchanges_before + place) for place, timing in enumerate(timings)),
        tuple(_size(server, "a server", -1, _MOST_SERVERS) for server in servers),
        tuple(_cause(cause, n, place) for place, cause in enumerate(causes)),
    )  # fmt: skip


def _list(given: object, lengths: Container[int], rule: str) -> list[Any]:
    if not isinstance(given, list) or len(given) not in lengths:
        raise RuleError(rule, len(given) if isinstance(given, list) else type(given).__name__)
    return given


def _timing(given: object, exchanges: int, before: int) -> Timing:
    rule = f"timings must be a list of six or eight numbers an exchange ({exchanges})"
    connection, after, *times = _list(given, (6, 8), rule)
    before_pause = times.pop() if len(times) > 4 else 0
    places = (
        _size(connection, "the connection of a timing", 0, _MOST_CONNECTIONS),
        _size(after, "the exchange that one waits for", 0, before),
    )
    times_s = (_seconds(value, "a time of a timing") for value in (*times, 0.0)[:5])
    return Timing._make((*places, *times_s, _size(before_pause, "the bytes before a pause", 0)))


def _cause(given: object, exchanges: int, place: int) -> Cause:
    rule = f"causes must be a list of [after, pause, awaited, stream] an exchange ({exchanges})"
    after, pause_s, *yes_or_no = _list(given, (4,), rule)
    if not all(isinstance(one, bool) for one in yes_or_no):
        raise RuleError("the last two of a cause must be true or false", given)
    what = "the exchange that one waits for"
    return Cause(_size(after, what, min(place, 1), place), _seconds(pause_s, "the pause of a cause"), *yes_or_no)


def _datagram(size: object, at_s: object, up: object, head: object) -> Datagram:
    if not isinstance(up, bool):
        raise RuleError("up must be true or false", up)
    try:
        first = b"" if head is None else bytes.fromhex(head)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise RuleError("head must be bytes, each two hexadecimal digits", head) from None
    return Datagram(_seconds(at_s, "at_s"), _size(size, "datagram_bytes", 0, _LARGEST_DATAGRAM), up, first)


def _size(value: object, name: str, least: int = 1, most: int = MAX_BYTES) -> int:
    if type(value) is not int or not least <= value <= most:
        raise RuleError(f"{name} must be a whole number in [{least}, {most}]", value)
    return value


def _seconds(value: object, name: str) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1e12 or not isfinite(value):  # type: ignore[operator, arg-type]
        raise RuleError(f"{name} must be a number of seconds in [0, 1e12]", value)
    return float(value)  # type: ignore[arg-type]


_KINDS: dict[str, tuple[str, tuple[str, ...], Callable[..., Record | RoundTrip] | None]] = {
    "round_trip_s": ("round trip", ("round_trip_s",), lambda s: RoundTrip(_seconds(s, "round_trip_s"))),
    "captured_s": ("time of capture", ("captured_s",), lambda s: Captured(_seconds(s, "captured_s"))),
    "datagram_bytes": ("datagram", ("datagram_bytes", "at_s", "up"), _datagram),
    "message_bytes": (
        "message", ("message_bytes", "at_s"),
        lambda size, at_s: Message(_seconds(at_s, "at_s"), _size(size, "message_bytes")),
    ),
    "page": ("page", ("page", "request_bytes", "reply_bytes"), None),
}  # fmt: skip
"""Of lines, by a field that they alone have: how they are called, what they must have, and what makes their record."""

_LINE = re.compile(rb'(\xef\xbb\xbf)?\s*(\{[^{}]*"(page|message_bytes|datagram_bytes|captured_s|round_trip_s)"|$)')


def recognises(head: bytes) -> bool:
    """Tell a workload by the first field of its first line that no other line has."""
    return _LINE.match(head) is not None
