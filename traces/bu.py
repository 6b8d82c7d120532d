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
from typing import BinaryIO, NamedTuple

import numpy as np

from traces.archives import Member, is_tar, members
from traces.errors import TraceError
from traces.files import OnDamage, decompressed, open_trace, read_line
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


class SessionFile(NamedTuple):
    """One session's file and an open stream of it, valid until the next is asked for."""

    name: str
    where: str  # for messages: the path, with the member of an archive behind it
    stream: BinaryIO


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
    for where, name in _folder(source) if source.is_dir() else [(source, source.name)]:
        with open_trace(where, on_damage=on_damage) as stream:
            if source.is_dir() and not (_NAME.fullmatch(PurePosixPath(name).name)):
                report.count("other_files")
                continue
            if is_tar(stream.peek(512)[:512]):  # type: ignore[attr-defined]
                for item in _members(stream, where, on_damage):
                    base = PurePosixPath(item.path).name
                    if not _NAME.fullmatch(base):
                        report.count("other_files")
                        continue
                    seen += 1
                    if _chosen(item.path, member):
                        chosen += 1
                        with decompressed(item.stream, f"{where}:{item.path}", on_damage=on_damage) as inner:
                            yield SessionFile(base, f"{where}:{item.path}", inner)
            else:
                seen += 1
                if _chosen(name, member):
                    chosen += 1
                    yield SessionFile(PurePosixPath(name).name, str(where), stream)
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
    name = session.name
    match = _NAME.fullmatch(name)
    machine, named_start = (match[2].encode(), int(match[3])) if match else (None, None)
    rows: list[tuple[int, ...]] = []
    urls: list[bytes] = []
    servers: dict[str, int] = {}
    at = 0
    previous = -1
    for number, line in _records(session, report):
        try:
            found = _parse(line, session.where, number)
            if found is None:
                report.count("requests_with_a_line_end_in_the_url")
                continue
            who, moment, url, size, delay = found
            if moment < previous:
                rule = "times must not run backwards in a session"
                raise TraceError(session.where, f"line {number}", rule, f"{moment - previous} us")
        except TraceError:
            if not skip_damaged:
                raise
            report.count("damaged")
            continue
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
        rows.append((moment, moment + delay, UNKNOWN_REQUEST_BYTES, size, 0, server, 0, at, len(url), wait))
        urls.append(url)
        at += len(url)
        if len(rows) == _ROWS_A_BATCH:
            yield _batch(name, rows, urls, servers, report)
            rows, urls, servers, at = [], [], {}, 0
    if rows:
        yield _batch(name, rows, urls, servers, report)


def _batch(name: str, rows: list[tuple[int, ...]], urls: list[bytes], servers: dict[str, int], report: Report) -> Batch:
    report.count("requests", len(rows))
    names = list(servers)
    return Batch(np.array(rows, dtype=REQUEST_DTYPE), b"".join(urls), lambda _: name, names.__getitem__)


def _records(session: SessionFile, report: Report) -> Iterator[tuple[int, bytes]]:
    """Yield (number of its first line, record): a record goes on while the quote of its URL is open."""
    number = first = 0
    pending = b""
    while line := read_line(session.stream, _LONGEST_LINE_BYTES, session.where, number + 1):
        number += 1
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


def _parse(line: bytes, where: str, number: int) -> tuple[bytes, int, bytes, int, int] | None:
    """Return machine, time (us), URL, size and delay (us); None for a URL that holds a line end."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise _complaint(line, where, number)
    machine, second, micro, url, size_text, delay_text = match.groups()
    size, delay = int(size_text), round(float(delay_text) * 1e6)
    if size > _MAX_REPLY_BYTES:
        raise TraceError(where, f"line {number}", f"size must be at most {_MAX_REPLY_BYTES}", size)
    if b"\n" in url or b"\r" in url:
        return None
    return machine, int(second) * 1_000_000 + int(micro), url, size, delay


def _complaint(line: bytes, where: str, number: int) -> TraceError:
    """Say which rule a line breaks."""
    place = f"line {number}"
    text = line.decode("latin-1")
    match = _LOOSE.fullmatch(line)
    if match is None or not line.endswith(b"\n"):
        return TraceError(where, place, 'a line must be whole: machine sec usec "url" size delay', text.rstrip("\n"))
    fields = zip(("sec", "usec", "size", "delay"), (match[2], match[3], match[5], match[6]), strict=True)
    for name, value in fields:
        pattern = {"usec": rb"\d{1,6}", "delay": rb"\d{1,7}(\.\d{1,12})?(e-\d{1,3})?"}.get(name, rb"\d{1,13}")
        if not re.fullmatch(pattern, value):
            wanted = {"usec": "a whole number below 1000000", "delay": "a number of seconds of at least 0"}
            rule = f"{name} must be {wanted.get(name, 'a whole number of at least 0')}"
            return TraceError(where, place, rule, value.decode("latin-1"))
    return TraceError(where, place, "sec must have at most ten digits", match[2].decode("latin-1"))


def _host(url: bytes) -> str:
    """Return the server of a URL, with its port if it has one."""
    _, mark, rest = url.partition(b"://")
    host = (rest if mark else url).split(b"/", 1)[0].lower().removesuffix(b":80")
    return host.decode("latin-1")


def _members(stream: BinaryIO, where: Path, on_damage: OnDamage | None) -> Iterator[Member]:
    try:
        yield from members(stream, where)
    except TraceError as error:
        if on_damage is None:
            raise
        on_damage(error)


def _chosen(path: str, member: str | None) -> bool:
    return member is None or fnmatchcase(path, member) or PurePosixPath(path).match(member)


def _folder(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(item for item in folder.rglob("*") if item.is_file()):
        yield path, path.relative_to(folder).as_posix()


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
