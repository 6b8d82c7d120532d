"""Boston University Web client traces (1994-95): one file a session of the Mosaic browser.

A line is ``machine sec usec "url" size delay``.  The third field is
microseconds (not the user number that the original description calls it), not
padded; size counts bytes with protocol overhead, delay seconds.  Size 0 with
delay 0.0 was served from the browser's own cache: such rows are counted and
left out.  The user is in the name of the file, ``con<user>.<machine>.<start>``.

The time that the server took is the delay less what the simulator's network needs for such a reply (`traces.waits`).

Defects that the collection is known to have are counted: a URL that holds a
line end (the request is left out), a machine name unlike that of the file, a
start more than 600 s off the one in the name, a network request of size 0, an
empty session.  Anything else is damage.

Source: C. Cunha, A. Bestavros, M. Crovella, Characteristics of WWW client-based traces, BUCS-95-010.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from traces.archives import is_tar, members
from traces.errors import Place, RuleError, TraceError
from traces.files import Stream, decompressed, lines, open_trace
from traces.formats import Format
from traces.records import REQUEST_DTYPE, UNKNOWN_REQUEST_BYTES, Batch, Report
from traces.waits import network_us

__all__ = ["FORMATS", "SessionFile", "session_batches", "session_files", "user_of"]

_LONGEST_LINE_BYTES = 1 << 16
_ROWS_A_BATCH = 1 << 15
_MAX_REPLY_BYTES = 1 << 40
_NAME_SLACK_S = 600
_NAME = re.compile(r"con(\d+)\.([^.]+)\.(\d{1,12})(?:\.(?:gz|xz))?")
_NO_SESSION = (
    "a folder or an archive must hold sessions of Boston University in files named con<user>.<machine>.<start>"
    " (of other formats, name the files themselves)"
)
_LINE = re.compile(rb'(\S+) (\d{1,10}) (\d{1,6}) "([^"]*)" (\d{1,13}) (\d{1,7}(?:\.\d{1,12})?(?:e-\d{1,3})?)\r?\n')
_OPEN = re.compile(rb'\S+ \d{1,10} \d{1,6} "[^"]*')
_LOOSE = re.compile(rb'(\S+) (\S+) (\S+) "([^"]*)" (\S+) (\S+)\r?\n?')
_FIELDS = (
    ("sec", rb"\d{1,13}", "a whole number of at least 0"),
    ("usec", rb"\d{1,6}", "a whole number below 1000000"),
    ("size", rb"\d{1,13}", "a whole number of at least 0"),
    ("delay", rb"\d{1,7}(\.\d{1,12})?(e-\d{1,3})?", "a number of seconds of at least 0"),
)


class SessionFile(NamedTuple):
    """One session's file and an open stream of it, valid until the next is asked for."""

    name: str
    where: str  # for messages: the path, with the member of an archive behind it
    stream: Stream


def user_of(name: str) -> str:
    """Return the user in a file's name; a name of another form is its own user.

    >>> user_of("con396.huey.792945489")
    '396'
    """
    match = _NAME.fullmatch(name)
    return match[1] if match else name


def session_files(
    path: str | PathLike[str], report: Report, member: str | None = None, *, skip_damaged: bool = False
) -> Iterator[SessionFile]:
    """Yield the session files of a file, a folder (in the order of names) or a tar archive, packed or not.

    Parameters
    ----------
    member : str, optional
        A glob; only sessions whose path, or the end of it, matches are read.

    Raises
    ------
    TraceError
        If there is no session file, or none that matches.
    """
    source = Path(path)
    seen = chosen = 0
    on_damage = report.on_damage if skip_damaged else None

    def wanted(name: str, among_others: bool) -> bool:
        nonlocal seen, chosen
        if among_others and not _NAME.fullmatch(PurePosixPath(name).name):
            report.count("other_files")
            return False
        matches = member is None or fnmatchcase(name, member) or PurePosixPath(name).match(member)
        seen, chosen = seen + 1, chosen + matches
        return matches

    folder = source.is_dir()
    for where in sorted(item for item in source.rglob("*") if item.is_file()) if folder else [source]:
        with open_trace(where, on_damage=on_damage) as stream:
            name = where.relative_to(source).as_posix() if folder else source.name
            if (not folder or _NAME.fullmatch(where.name)) and is_tar(stream.peek(512)[:512]):
                for item in members(stream, where, on_damage):
                    if wanted(item.path, True):
                        inside = f"{where}:{item.path}"
                        inner = decompressed(item.stream, inside, on_damage=on_damage)
                        yield SessionFile(PurePosixPath(item.path).name, inside, inner)
            elif wanted(name, folder):
                yield SessionFile(where.name, str(where), stream)
    if not seen:
        raise TraceError(source, "", _NO_SESSION, "no such file")
    if not chosen:
        raise TraceError(source, "", f"--member must match at least one of {seen} sessions", member)


def session_batches(session: SessionFile, report: Report, *, skip_damaged: bool = False) -> Iterator[Batch]:
    """Read one session as batches (of one client, named as the file is).

    Raises
    ------
    TraceError
        For a line that is no record and no known defect, a time that runs backwards, a cut last line; with
        `skip_damaged` they are counted and left out.
    """
    match = _NAME.fullmatch(session.name)
    machine, named_start = (match[2].encode(), int(match[3])) if match else (None, None)
    place = Place(session.where, report if skip_damaged else None)
    rows: list[tuple[int, ...]] = []
    urls: list[bytes] = []
    servers: dict[str, int] = {}
    at = 0
    previous = -1
    for number, line in _records(session, report):
        with place.at("line", number):
            found = _parse(line)
            if found is None:
                report.count("requests_with_a_line_end_in_the_url")
                continue
            who, moment, url, size, delay = found
            if moment < previous:
                raise RuleError("times must not run backwards in a session", f"{moment - previous} us")
            if previous < 0 and named_start is not None and abs(moment // 1_000_000 - named_start) > _NAME_SLACK_S:
                report.count("sessions_off_the_time_in_their_name")
            previous = moment
            if machine is not None and who != machine:
                report.count("rows_of_another_machine")
            report.count("records")
            if not size and not delay:
                report.count("cache_hits")
                continue
            if not size:
                report.count("network_requests_of_size_0")
            server = servers.setdefault(_host(url), len(servers))
            wait = max(0, delay - network_us(size))
            report.waits_us.add(wait)
            rows.append(
                (moment, moment + delay, UNKNOWN_REQUEST_BYTES, size, 0, server, 0, at, len(url), wait, -1, -1, -1)
            )
            urls.append(url)
            at += len(url)
        if len(rows) == _ROWS_A_BATCH:
            yield _batch(session.name, rows, urls, servers, report)
            rows, urls, servers, at = [], [], {}, 0
    if rows:
        yield _batch(session.name, rows, urls, servers, report)


def _batch(name: str, rows: list[tuple[int, ...]], urls: list[bytes], servers: dict[str, int], report: Report) -> Batch:
    report.count("requests", len(rows))
    names = list(servers)
    return Batch(np.array(rows, dtype=REQUEST_DTYPE), b"".join(urls), lambda _: name, names.__getitem__)


def _records(session: SessionFile, report: Report) -> Iterator[tuple[int, bytes]]:
    """Yield (number of its first line, record): a record goes on while the quote of its URL is open."""
    number = first = 0
    pending = b""
    for number, line in lines(session.stream, _LONGEST_LINE_BYTES, session.where):
        if not pending and line.count(b'"') == 1 and line.endswith(b"\n") and _OPEN.match(line):
            pending, first = line, number
            continue
        if pending:
            whole, pending = pending + line, b""
            if _LINE.fullmatch(whole):
                yield first, whole
                continue
            yield first, whole[: -len(line)]
        yield number, line
    if pending:
        yield first, pending
    if not number:
        report.count("empty_sessions")


def _parse(line: bytes) -> tuple[bytes, int, bytes, int, int] | None:
    """Return machine, time (us), URL, size and delay (us); None for a URL that holds a line end."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise _complaint(line)
    machine, second, micro, url, size_text, delay_text = match.groups()
    size, delay = int(size_text), round(float(delay_text) * 1e6)
    if size > _MAX_REPLY_BYTES:
        raise RuleError(f"size must be at most {_MAX_REPLY_BYTES}", size)
    if b"\n" in url or b"\r" in url:
        return None
    return machine, int(second) * 1_000_000 + int(micro), url, size, delay


def _complaint(line: bytes) -> RuleError:
    """Say which rule a line breaks."""
    match = _LOOSE.fullmatch(line)
    if match is None or not line.endswith(b"\n"):
        whole = 'a line must be whole: machine sec usec "url" size delay'
        return RuleError(whole, line.decode("latin-1").rstrip("\n"))
    for (name, pattern, wanted), value in zip(_FIELDS, (match[2], match[3], match[5], match[6]), strict=True):
        if not re.fullmatch(pattern, value):
            return RuleError(f"{name} must be {wanted}", value.decode("latin-1"))
    return RuleError("sec must have at most ten digits", match[2].decode("latin-1"))


def _host(url: bytes) -> str:
    """Return the server of a URL, with its port if it has one."""
    _, mark, rest = url.partition(b"://")
    host = (rest if mark else url).split(b"/", 1)[0].lower().removesuffix(b":80")
    return host.decode("latin-1")


def _recognises(head: bytes) -> bool:
    """Tell an archive of sessions by its first block, and a session file by its first line."""
    return is_tar(head) or _OPEN.match(head.split(b"\n", 1)[0]) is not None


def _sessions(
    path: str | PathLike[str], report: Report, member: str | None, skip_damaged: bool
) -> Iterator[tuple[str, str, Iterator[Batch]]]:
    """Yield name, user and requests of the sessions, one after another."""
    for item in session_files(path, report, member, skip_damaged=skip_damaged):
        yield item.name, user_of(item.name), session_batches(item, report, skip_damaged=skip_damaged)


FORMATS = (
    Format(
        name="bu",
        written="con<user>.<machine>.<start>, a folder or a .tar of them",
        meaning="Boston University client sessions: a file, a folder, a tar archive",
        source="C. Cunha, A. Bestavros, M. Crovella, BUCS-95-010, 1995; the Internet Traffic Archive",
        example="lpsm pages condensed.tar.xz --member '272/Nov94/*' --out pages.jsonl",
        recognises=_recognises,
        sessions=_sessions,
    ),
)
