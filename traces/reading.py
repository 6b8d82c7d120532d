"""The front door to traces: any supported file as requests, as columns, or session by session.

Everything streams: batches of some ten thousand rows, light tuples on demand. Sessions of a format that keeps its
clients apart in time (Boston University) are read one after another; the clients of any other trace are interleaved, so
it is sorted by client on disk first.

Which format a file has is told by its first bytes after unpacking, never by its name: every format says whether they
are its own.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from os import fspath
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from traces import workload
from traces.checks import checked
from traces.columns import Workload
from traces.errors import PathName, TraceError
from traces.files import Source, open_trace, opened
from traces.records import Batch, Report, Request, Session, batched

_HEAD_BYTES = 1 << 16


class Format(NamedTuple):
    """A format of traces."""

    name: str  #: What `traces.detect` returns.
    written: str  #: The usual names of such files; they are recognised by their content all the same.
    meaning: str  #: What is in a file.
    source: str  #: Where the format is described, or who writes it.
    example: str  #: A command that reads such a file.
    recognises: Callable[[bytes], bool]  #: From the first bytes of a file, unpacked, to whether it is one.
    #: Yields the requests of a source; None where files hold none, or one of the next two reads them.
    requests: Callable[[Source], Iterator[Request]] | None = None
    #: ``sessions(path, report, member, skip_damaged)`` yields (name, user, requests) of sessions that are files of a
    #: folder or an archive.
    sessions: Callable[..., Iterator[tuple[str, str, Iterator[Request]]]] | None = None
    batches: Callable[[Source], Iterator[Batch]] | None = None  #: Yields them as columns, as they stand in the file.


@cache
def registry() -> Mapping[str, Format]:
    """Return every format by its name, in the order in which they are tried on a file.

    >>> list(registry())
    ['bu', 'pcap', 'har', 'workload', 'ucb', 'csv']
    """
    from traces import bu, har, table, ucb
    from traces.captures import packets, pcap

    found = (
        Format(
            "bu", "con<user>.<machine>.<start>, a folder or a .tar of them",
            "Boston University client sessions: a file, a folder, a tar archive",
            "C. Cunha, A. Bestavros, M. Crovella, BUCS-95-010, 1995; the Internet Traffic Archive",
            "lpsm pages condensed.tar.xz --member '272/Nov94/*' --out pages.jsonl", bu.recognises, sessions=bu.sessions,
        ),
        Format(
            "pcap", "*.pcap, *.pcapng, *.cap", "pcap or pcapng capture", "tcpdump, Wireshark and others",
            "lpsm pages capture.pcapng --client 192.168.1.7 --out pages.jsonl", packets.is_capture, pcap.requests,
        ),
        Format(
            "har", "*.har", "HTTP Archive (HAR) of a browser",
            "HAR 1.2 specification; the network panel of any browser saves it",
            "lpsm pages session.har --out pages.jsonl", har.recognises, har.requests,
        ),
        Format(
            "workload", "*.jsonl", "a workload of pages and messages, one JSON object a line",
            "lpsm pages and lpsm generate write it", "lpsm simulate pages.jsonl --policy bsd:1", workload.recognises,
        ),
        Format(
            "ucb", "UCB-home-IP-*.tr, *.tr.gz", "UC Berkeley Home IP, binary",
            "S. D. Gribble, UC Berkeley Home IP HTTP Traces, 1997; the Internet Traffic Archive",
            "lpsm pages UCB-home-IP-846890339-847313219.tr.gz --out pages.jsonl", ucb.recognises,
            batches=ucb.batches,
        ),
        Format(
            "csv", "*.csv, *.tsv, *.txt", "table of replies: time, bytes", "any program that writes a table",
            "lpsm pages replies.csv --out pages.jsonl", table.recognises, batches=table.batches,
        ),
    )  # fmt: skip
    return MappingProxyType({entry.name: entry for entry in found})


@checked
def detect(path: PathName) -> str:
    """Return the name of a file's format, a key of `traces.registry()`; a folder is taken for sessions.

    Raises
    ------
    TraceError
        If the content is of no known format, or there is none.
    OSError
        If the file cannot be opened.
    """
    source = Path(path)
    if source.is_dir():
        return "bu"
    if source.exists() and not source.is_file():
        raise TraceError(path, "", "a trace must be a file or a folder, because it is opened twice", "a pipe or device")
    damage: list[TraceError] = []  # of the packing: what comes before it still tells the format
    with open_trace(path, on_damage=damage.append) as stream:
        head = stream.read(_HEAD_BYTES)
    if not head:
        raise damage[0] if damage else TraceError(path, "", "a trace must not be empty", "0 bytes")
    for entry in registry().values():
        if entry.recognises(head):
            return entry.name
    known = "; ".join(entry.meaning for entry in registry().values())
    rule = f"the content must be of a known format ({known})"
    raise TraceError(path, "", rule, head.split(b"\n", 1)[0][:60].decode("latin-1"))


class Requests:
    """The requests of a trace; each iteration reads the file anew, in constant memory.

    Attributes
    ----------
    path : path-like
        The trace.
    format : str
        What it was found to be, a key of `traces.registry()`.
    report : Report
        Counts of the latest iteration, complete when it is.
    """

    def __init__(self, path: PathName, member: str | None, skip_damaged: bool, client: str | None = None) -> None:
        self.path = path
        self.format = detect(path)
        self.report = Report(self.format)
        self._asked = {"member": member, "skip_damaged": skip_damaged, "client": client}

    def batches(self) -> Iterator[Batch]:
        """Yield the requests as columns."""
        self.report = Report(self.format)
        return batches(self.path, report=self.report, **self._asked)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Request]:
        self.report = Report(self.format)
        return _read(self.path, self.report, **self._asked)  # type: ignore[arg-type]


@checked
def read(
    path: PathName, *, member: str | None = None, skip_damaged: bool = False, client: str | None = None
) -> Requests:
    """Open a trace of any supported format, detected by its content.

    Parameters
    ----------
    path : path-like
        A file, plain or packed with gzip or xz, or a folder or tar archive of sessions.
    member : str, optional
        Glob that chooses sessions of a folder or archive.
    skip_damaged : bool
        Count and leave out damaged records instead of raising.
    client : str, optional
        Address of the one device of a capture whose traffic is wanted.

    Returns
    -------
    Requests
        Iterable of `Request`, as often as wanted.

    Raises
    ------
    TraceError
        If the format is not known; while iterating, at the first damaged record, with its place.
    """
    return Requests(path, member, skip_damaged, client)


@checked
def batches(
    path: PathName, *, member: str | None = None, skip_damaged: bool = False, client: str | None = None,
    report: Report | None = None,
) -> Iterator[Batch]:  # fmt: skip
    """Yield the requests of a trace as columns, batch after batch; arguments as for `read`.

    Parameters
    ----------
    report : Report, optional
        Receives the counts.
    """
    report = report or Report()
    entry = _format(path, member, client, report)
    if entry.batches is None:
        yield from batched(_read(path, report, member, skip_damaged, client))
        return
    with opened(path, report, skip_damaged, client) as source:
        yield from entry.batches(source)


def _read(
    path: PathName, report: Report, member: str | None, skip_damaged: bool, client: str | None
) -> Iterator[Request]:
    """Yield the requests of a trace one by one."""
    entry = _format(path, member, client, report)
    if entry.sessions is not None:
        for _, _, of_session in entry.sessions(path, report, member, skip_damaged):
            report.count("sessions")
            yield from of_session
    elif entry.batches is not None:
        for batch in batches(path, skip_damaged=skip_damaged, client=client, report=report):
            yield from batch.requests()
    elif entry.requests is None:
        raise TraceError(path, "", "a trace must hold requests", "a workload, which holds pages")
    else:
        with opened(path, report, skip_damaged, client) as source:
            yield from entry.requests(source)


@checked
def sessions(
    path: PathName, *, member: str | None = None, skip_damaged: bool = False, client: str | None = None,
    report: Report | None = None, on_disk: bool = False,
) -> Iterator[Session]:  # fmt: skip
    """Yield the sessions of a trace; arguments as for `batches`.

    A session is a file of the Boston University traces, and a client of any other trace.  Memory holds one session,
    and a temporary file all requests of any other trace.  With `on_disk` memory holds none of those: each loop over
    `Session.requests` reads the file.  Sessions without a request are not yielded.
    """
    report = report or Report()
    entry = _format(path, member, client, report)
    if entry.sessions is not None:
        for name, user, of_session in entry.sessions(path, report, member, skip_damaged):
            report.count("sessions")
            if requests := tuple(of_session):
                yield Session(name, user, requests)
        return
    numbers, sizes, last = dict[str, int](), Counter[str](), 0  # of clients, in the order in which they first occur

    def row(one: Request) -> tuple[object, ...]:
        sizes[one.client] += 1
        return numbers.setdefault(one.client, len(numbers)), *one

    disk = sqlite3.connect("")  # closed with the last that holds it
    columns = ", ".join(Request._fields)
    disk.execute(f"CREATE TABLE sent (number, {columns})")
    rows = map(row, _read(path, report, None, skip_damaged, client))
    disk.executemany(f"INSERT INTO sent VALUES (?{', ?' * len(Request._fields)})", rows)
    disk.execute(f"CREATE TABLE sorted AS SELECT {columns} FROM sent ORDER BY number, rowid")
    disk.execute("DROP TABLE sent")
    for name, n in sizes.items():
        report.count("sessions")
        held = _OnDisk(disk, (last, last := last + n))
        yield Session(name, name, held if on_disk else tuple(held))


@dataclass(frozen=True, slots=True)
class _OnDisk:
    """The requests of one client, in a temporary file that each iteration reads."""

    disk: sqlite3.Connection
    rows: tuple[int, int]

    def __iter__(self) -> Iterator[Request]:
        return map(Request._make, self.disk.execute("SELECT * FROM sorted WHERE rowid > ? AND rowid <= ?", self.rows))


@checked
def read_workload(path: PathName) -> Workload:
    """Read a workload, plain or packed with gzip or xz.

    Returns
    -------
    Workload
        A sequence of the pages, in the order of the file, with all else beside them.

    Raises
    ------
    TraceError
        If a line breaks a rule: path, line, rule and value are in the message.
    """
    try:
        return workload.load(path)
    except TraceError:
        kind = ""
        with suppress(TraceError):
            kind = detect(path)
        if kind in ("", "workload"):
            raise
    rule = "a workload of pages is needed here; run lpsm pages first, which makes one of a trace"
    raise TraceError(path, "", rule, f"a trace, {kind}")


def _format(path: PathName, member: str | None, client: str | None, report: Report) -> Format:
    """Return the format of a file, once it is known that the selection applies to it."""
    report.format = found = detect(path)
    report.path = fspath(path)
    entry = registry()[found]
    if member is not None and entry.sessions is None:
        raise TraceError(path, "", "--member is for folders and archives of sessions", found)
    if client is not None and found != "pcap":
        raise TraceError(path, "", "--client is for captures", found)
    return entry
