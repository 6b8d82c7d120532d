"""The front door to traces: any supported file as requests, as columns, or session by session.

Everything streams: batches of some ten thousand rows, light tuples on demand.
Sessions of a format that keeps its clients apart in time (Boston University)
are read one after another; the clients of a Home IP trace are interleaved, so
it is split over temporary files by client first, and each part is read alone.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory

from traces.checks import checked
from traces.detect import detect
from traces.errors import TraceError
from traces.files import OnRead, open_trace
from traces.formats import Format, registry
from traces.records import Batch, Report, Request, Session

__all__ = ["Requests", "batches", "read", "sessions"]

_PARTS = 64
_LINES_KEPT = 1 << 16  # of all parts together


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

    def __init__(
        self, path: str | PathLike[str], member: str | None, skip_damaged: bool, client: str | None = None
    ) -> None:
        self.path = path
        self.format = detect(path)
        self.report = Report(self.format)
        self._member = member
        self._skip_damaged = skip_damaged
        self._client = client

    def batches(self) -> Iterator[Batch]:
        """Yield the requests as columns."""
        self.report = Report(self.format)
        return batches(
            self.path, member=self._member, skip_damaged=self._skip_damaged, client=self._client, report=self.report
        )

    def __iter__(self) -> Iterator[Request]:
        return chain.from_iterable(batch.requests() for batch in self.batches())


@checked
def read(
    path: str | PathLike[str], *, member: str | None = None, skip_damaged: bool = False, client: str | None = None
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
    path: str | PathLike[str],
    *,
    member: str | None = None,
    skip_damaged: bool = False,
    client: str | None = None,
    report: Report | None = None,
    on_read: OnRead | None = None,
) -> Iterator[Batch]:
    """Yield the requests of a trace as columns, batch after batch; arguments as for `read`.

    Parameters
    ----------
    report : Report, optional
        Receives the counts.
    on_read : callable, optional
        Told, now and then, how many bytes of the file have been read, and of how many.
    """
    report = report if report is not None else Report()
    entry = _format(path, member, client, report)
    if entry.sessions is not None:
        for _, _, of_session in entry.sessions(path, report, member, skip_damaged):
            report.count("sessions")
            yield from of_session
        return
    if entry.batches is None:
        raise TraceError(path, "", "a trace must hold requests", "a workload, which holds pages")
    options = {"client": client} if "client" in entry.options else {}
    with open_trace(path, on_damage=report.on_damage if skip_damaged else None, on_read=on_read) as stream:
        yield from entry.batches(stream, path, report, skip_damaged=skip_damaged, **options)


@checked
def sessions(
    path: str | PathLike[str],
    *,
    member: str | None = None,
    skip_damaged: bool = False,
    client: str | None = None,
    report: Report | None = None,
    on_read: OnRead | None = None,
) -> Iterator[Session]:
    """Yield the sessions of a trace; arguments as for `batches`.

    A session is a file of the Boston University traces, and a client of any other trace.  Memory holds one
    session; for Home IP traces one sixty-fourth of the trace, and temporary files the requests of all of it.
    Sessions without a request are not yielded.
    """
    report = report if report is not None else Report()
    entry = _format(path, member, client, report)
    if entry.sessions is not None:
        for name, user, of_session in entry.sessions(path, report, member, skip_damaged):
            report.count("sessions")
            requests = tuple(request for batch in of_session for request in batch.requests())
            if requests:
                yield Session(name, user, requests)
        return
    of_trace = batches(path, skip_damaged=skip_damaged, client=client, report=report, on_read=on_read)
    all_requests = (request for batch in of_trace for request in batch.requests())
    for session in _split(all_requests) if entry.interleaved else _by_client(all_requests):
        report.count("sessions")
        yield session


def _format(path: str | PathLike[str], member: str | None, client: str | None, report: Report) -> Format:
    """Return the format of a file, once it is known that the selection applies to it."""
    report.format = found = detect(path)
    report.path = fspath(path)
    entry = registry()[found]
    if member is not None and entry.sessions is None:
        raise TraceError(path, "", "--member is for folders and archives of sessions", found)
    if client is not None and "client" not in entry.options:
        raise TraceError(path, "", "--client is for captures", found)
    return entry


def _by_client(requests: Iterable[Request]) -> Iterator[Session]:
    clients: dict[str, list[Request]] = {}
    for request in requests:
        clients.setdefault(request.client, []).append(request)
    for name, of_client in clients.items():
        yield Session(name, name, tuple(of_client))


def _split(requests: Iterable[Request]) -> Iterator[Session]:
    """Split requests by client over temporary files, then yield the sessions of each file."""
    with TemporaryDirectory(prefix="traces-") as folder:
        parts: dict[Path, list[str]] = {Path(folder, str(part)): [] for part in range(_PARTS)}
        paths = list(parts)
        for number, request in enumerate(requests, 1):
            parts[paths[zlib.crc32(request.client.encode()) % _PARTS]].append(json.dumps(request) + "\n")
            if number % _LINES_KEPT == 0:
                _append(parts)
        _append(parts)
        for path in paths:
            with path.open(encoding="utf-8") as part:
                yield from _by_client(Request(*json.loads(line)) for line in part)


def _append(parts: dict[Path, list[str]]) -> None:
    """Write the lines that are kept of each file, one file after another: all at once are too many to be open."""
    for path, lines in parts.items():
        with path.open("a", encoding="utf-8") as part:
            part.writelines(lines)
        lines.clear()
