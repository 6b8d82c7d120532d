"""Boston University Web client traces (1994-95): one file a session of the Mosaic browser.

A line is ``machine sec usec "url" size delay``.  The third field is microseconds (not the user number that the original
description calls it), not padded; size counts bytes with protocol overhead, delay seconds.  Size 0 with delay 0.0 was
served from the browser's own cache: such rows are counted and left out.  The user is in the name of the file,
``con<user>.<machine>.<start>``.

The time that the server took is the delay less what the simulator's network needs for such a reply
(`traces.server_times`).

Defects that the collection is known to have are counted: a URL that holds a line end (the request is left out), a
network request of size 0, an empty session.  Anything else is damage.

Members of a tar archive are read as they stream past, never unpacked to disk, so that a path leads nowhere: it is only
a name.  Links, devices and other special members have no contents and are skipped.  Left out: sparse files and archives
of several volumes, which are errors.

Source: C. Cunha, A. Bestavros, M. Crovella, Characteristics of WWW client-based traces, BUCS-95-010.
"""

import re
import tarfile
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, Self

from traces.errors import PathName, RuleError, TraceError
from traces.files import OnDamage, Source, Stream, decompressed, open_trace
from traces.records import BY_SUFFIX, MAX_BYTES, UNKNOWN_REQUEST_BYTES, Report, Request, counting
from traces.server_times import network_us

_LARGEST_SESSION_BYTES = 1 << 27
_NAME = re.compile(r"con(\d+)\.[^.]+\.\d{1,12}(?:\.(?:gz|xz))?")
_NO_SESSION = (
    "a folder or an archive must hold sessions of Boston University in files named con<user>.<machine>.<start>"
    " (of other formats, name the files themselves)"
)
_RECORD = re.compile(
    rb'\S+ (\d{1,10}) (\d{1,6}) "([^"]*)" (\d{1,13}) (\d{1,7}(?:\.\d{1,12})?(?:e-\d{1,3})?)\r?\n|[^\n]*\n|[^\n]+\Z'
)
_OPEN = re.compile(rb'\S+ \d{1,10} \d{1,6} "[^"]*')
_WHOLE = 'a line must be whole: machine sec usec "url" size delay, numbers of at least 0, usec below 1000000'
_LONGEST_NAME = 1 << 16
_MOST_MEMBERS = 1 << 17
_LARGEST_MEMBER_BYTES = 1 << 30  # a session is a few megabytes
_LONG_NAMES = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_KINDS = {*tarfile.SUPPORTED_TYPES, *_LONG_NAMES} - {tarfile.GNUTYPE_SPARSE}
_INTACT = "the header of a member must be intact"


def sessions(
    path: PathName, report: Report, member: str | None = None, skip_damaged: bool = False
) -> Iterator[tuple[str, str, Iterator[Request]]]:
    """Yield name, user and requests of the sessions of a file, a folder (in the order of names) or a tar archive.

    Each is valid until the next is asked for.  The user of a file whose name has another form is that name.  `member`
    is a glob that the path, or the end of it, must match; that none does is a `TraceError`.
    """
    path = Path(path)
    seen = chosen = 0

    def wanted(name: str) -> bool:
        nonlocal seen, chosen
        is_chosen = member is None or fnmatchcase(name, member) or PurePosixPath(name).match(member)
        seen, chosen = seen + 1, chosen + is_chosen
        return is_chosen

    for name, source in _files(path, report, skip_damaged, wanted):
        match = _NAME.fullmatch(name)
        yield name, match[1] if match else name, counting(_requests(source, name), report)
    if not seen:
        raise TraceError(path, "", _NO_SESSION, "no such file")
    if not chosen:
        raise TraceError(path, "", f"--member must match at least one of {seen} sessions", member)


def recognises(head: bytes) -> bool:
    """Tell an archive of sessions by its first block, and a session file by its first line."""
    return head[257:262] == b"ustar" or _OPEN.match(head.split(b"\n", 1)[0]) is not None


def _files(
    path: Path, report: Report, skip_damaged: bool, wanted: Callable[[str], bool]
) -> Iterator[tuple[str, Source]]:
    """Yield names and contents of the session files whose path in a folder or an archive is wanted."""
    on_damage = report.on_damage if skip_damaged else None
    is_folder = path.is_dir()
    for where in sorted(item for item in path.rglob("*") if item.is_file()) if is_folder else [path]:
        if is_folder and not _NAME.fullmatch(where.name):
            report.count("other_files")
            continue
        with open_trace(where, on_damage=on_damage) as stream:
            if stream.peek(512)[257:262] != b"ustar":
                if wanted(where.relative_to(path).as_posix() if is_folder else path.name):
                    yield where.name, Source(stream, where, report, skip_damaged)
                continue
            for inner, packed in _members(stream, where, on_damage):
                name = PurePosixPath(inner).name
                if not _NAME.fullmatch(name):
                    report.count("other_files")
                elif wanted(inner):
                    inside = f"{where}:{inner}"
                    contents = decompressed(packed, inside, on_damage=on_damage)
                    yield name, Source(contents, inside, report, skip_damaged)


def _requests(source: Source, name: str) -> Iterator[Request]:
    """Yield the requests of one session, whose client is called as its file is."""
    report, previous = source.report, -1

    def records() -> Iterator[tuple[int, re.Match[bytes]]]:
        data, number = source.stream.read(_LARGEST_SESSION_BYTES + 1), 1
        if len(data) > _LARGEST_SESSION_BYTES:
            rule = f"a session must not exceed {_LARGEST_SESSION_BYTES} bytes"
            raise TraceError(source.path, "", rule, "a larger one")
        report.count("empty_sessions", not data)
        for match in _RECORD.finditer(data):
            yield number, match
            number += match[0].count(b"\n")

    def request(match: re.Match[bytes]) -> Request | None:
        nonlocal previous
        second, micro, url, size_text, delay_text = match.groups()
        if url is None:
            raise RuleError(_WHOLE, match[0].decode("latin-1").rstrip("\n"))
        size, delay_us = int(size_text), round(float(delay_text) * 1e6)
        if size > MAX_BYTES:
            raise RuleError(f"size must be at most {MAX_BYTES}", size)
        if b"\n" in url or b"\r" in url:
            report.count("requests_with_a_line_end_in_the_url")
            return None
        start_us = int(second) * 1_000_000 + int(micro)
        if start_us < previous:
            raise RuleError("times must not run backwards in a session", f"{start_us - previous} us")
        previous = start_us
        report.count("records")
        if not size:
            report.count("network_requests_of_size_0" if delay_us else "cache_hits")
            if not delay_us:
                return None
        _, mark, rest = url.partition(b"://")
        host = (rest if mark else url).split(b"/", 1)[0].lower().removesuffix(b":80")
        wait_us = max(0, delay_us - network_us(size))
        report.waits_us.add(wait_us)
        texts, sizes = (host.decode("latin-1"), url.decode("latin-1")), (UNKNOWN_REQUEST_BYTES, size)
        return Request(name, texts[0], start_us, start_us + delay_us, *sizes, texts[1], BY_SUFFIX, wait_us)

    return source.parsed(request, records())


class _Header(tarfile.TarInfo):
    """A header that is held to limits before anything behind it is read."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        try:
            found = super().frombuf(buf, encoding, errors)
        except tarfile.InvalidHeaderError as error:  # type: ignore[attr-defined]
            raise RuleError(_INTACT, str(error)) from None
        if found.type not in _KINDS:
            raise RuleError("a member must be a file, a folder or a link", found.type)
        found.check()
        return found

    def check(self) -> None:
        """Refuse a length that no session and no name has, and files with holes."""
        what, most = ("long name", _LONGEST_NAME) if self.type in _LONG_NAMES else ("member", _LARGEST_MEMBER_BYTES)
        if self.issparse() or not 0 <= self.size <= most:
            raise RuleError(f"a {what} must not exceed {most} bytes", self.size)


class _Source:
    """The bytes of an archive; those that it lacks are an error, because it ends with empty blocks."""

    def __init__(self, stream: Stream, path: PathName) -> None:
        self._stream = stream
        self._path = path
        self._at = 0

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size)
        self._at += len(data)
        if not data:
            rule = "an archive must be complete, with empty blocks at its end"
            raise TraceError(self._path, f"byte {self._at}", rule, "the end of the file")
        return data


def _members(stream: Stream, path: PathName, on_damage: OnDamage | None) -> Iterator[tuple[str, Stream]]:
    """Yield path and contents of the regular files of an archive in its order, valid until the next is asked for.

    A header or a member that is cut or damaged, or a name absurdly long, is a `TraceError`; `on_damage` receives it in
    place of the caller, and the archive ends.
    """
    number = 0
    source: Any = _Source(stream, path)  # all that is read of it
    try:
        with tarfile.open(fileobj=source, mode="r|", tarinfo=_Header) as archive:
            for number, item in enumerate(archive, 1):
                if number > _MOST_MEMBERS:
                    raise RuleError(f"an archive must have at most {_MOST_MEMBERS} members", "more")
                assert isinstance(item, _Header)
                item.check()  # once more: a header of pax may have another length
                if item.isreg() and (contents := archive.extractfile(item)) is not None:
                    yield item.name, contents  # type: ignore[misc]
        return
    except (tarfile.TarError, ValueError, OverflowError) as error:
        broken = error if isinstance(error, RuleError | TraceError) else RuleError(_INTACT, str(error))
    found = broken.at(path, f"member {number + 1}") if isinstance(broken, RuleError) else broken
    if on_damage is None:
        raise found
    on_damage(found)
