"""Bytes in and out: plain, gzip and xz input in constant memory, and output that is whole or absent.

Packed input is unpacked piece by piece, with a bound on the memory of the xz dictionary and on the total size, so that
a few kilobytes of crafted input cannot fill memory or disk.  A gzip or xz file may hold several members; one that stops
in its middle is an error, never a shorter file.  A `Source` is what a reader of a format is given.
"""

import errno
import gzip
import io
import lzma
import os
import re
import secrets
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, TypeVar

from traces.errors import PathName, RuleError, TraceError
from traces.records import Report

MAX_UNPACKED_BYTES = 1 << 36
"""Largest size of an unpacked file, 64 GiB: seventy times the longest trace we know of."""

TEMPORARY = ".lpsm-tmp"
"""How a name ends of what is not whole yet."""

Stream: TypeAlias = "io.BufferedReader[Any]"
OnDamage = Callable[[TraceError], None]
Item = TypeVar("Item")
Made = TypeVar("Made")

_XZ_MEMORY_BYTES = 1 << 27
_PIECE_BYTES = 1 << 18
_DAMAGE = (gzip.BadGzipFile, zlib.error, lzma.LZMAError)


class Source(NamedTuple):
    """What a reader reads: bytes, their name for messages, where it counts, and whether damage is counted, too."""

    stream: Stream
    path: PathName
    report: Report
    skip_damaged: bool = False
    client: str | None = None  #: The one device of a capture that is wanted.

    def damaged(self, where: str, error: RuleError) -> None:
        """Count damage, or raise it as a `TraceError` at its place."""
        if not self.skip_damaged:
            raise error.at(self.path, where) from None
        self.report.count("damaged")

    def parsed(
        self, parse: Callable[[Item], Made | None], items: Iterable[tuple[int, Item]], unit: str = "line"
    ) -> Iterator[Made]:
        """Yield what is made of numbered items, without those of which nothing is; one that breaks a rule is damage."""
        for number, item in items:
            try:
                made = parse(item)
            except RuleError as error:
                self.damaged(f"{unit} {number}", error)
                continue
            if made is not None:
                yield made


@contextmanager
def open_trace(
    path: PathName, *, max_unpacked_bytes: int = MAX_UNPACKED_BYTES, on_damage: OnDamage | None = None
) -> Iterator[Stream]:
    """Open a file for reading bytes, unpacking gzip or xz by its content, not its name.

    Parameters
    ----------
    path : path-like
        The file.
    max_unpacked_bytes : int
        Reading past this many unpacked bytes is an error.
    on_damage : callable, optional
        Called with the error of damaged packed data, after which the stream ends; without it the error is raised.

    Raises
    ------
    TraceError
        While opening or reading: packed data that are damaged, end too early, or unpack to more than the limit.
    OSError
        If the file cannot be opened.
    """
    with io.BufferedReader(io.FileIO(path), _PIECE_BYTES) as file:
        yield decompressed(file, path, max_unpacked_bytes, on_damage)


@contextmanager
def opened(path: PathName, report: Report, skip_damaged: bool = False, client: str | None = None) -> Iterator[Source]:
    """Open a trace for its reader; with `skip_damaged` it may end where it is damaged, which is counted."""
    with open_trace(path, on_damage=report.on_damage if skip_damaged else None) as stream:
        yield Source(stream, path, report, skip_damaged, client)


def decompressed(
    file: Stream, path: PathName, limit: int = MAX_UNPACKED_BYTES, on_damage: OnDamage | None = None
) -> Stream:
    """Unpack an open file by its content; see `open_trace`. `path` is for messages."""
    head = file.peek(6)
    for magic, kind, unpacked in ((b"\x1f\x8b", "gzip", _of_gzip), (b"\xfd7zXZ\0", "xz", _of_xz)):
        if head.startswith(magic):
            pieces = _Pieces(_limited(unpacked(file), file, kind, path, limit, on_damage))
            file = io.BufferedReader(pieces, _PIECE_BYTES)
    return file


def lines(stream: IO[bytes], longest: int, path: PathName, number: int = 1) -> Iterator[tuple[int, bytes]]:
    """Yield number and text of each line, its end included; a line longer than `longest` bytes is a `TraceError`."""
    while line := stream.readline(longest + 1):
        if len(line) > longest:
            rule = f"a line must not be longer than {longest} bytes"
            raise TraceError(path, f"line {number}", rule, "a longer one")
        yield number, line
        number += 1


@contextmanager
def replacing(path: PathName) -> Iterator[IO[bytes]]:
    """Write a file so that a reader sees all of it or none: under a temporary name beside it, synced, then renamed.

    If the body raises, nothing is left behind and a previous file stays as it was.  A symbolic link is followed: the
    file it leads to is replaced.  What is no regular file (a device, a pipe, standard output) is opened and written.

    Raises
    ------
    OSError
        If it is a folder or cannot be written; the error names it.
    """
    target = Path(os.path.realpath(path))
    try:
        if (special := _special(path)) is not None:
            with special as file:
                yield file
            return
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder, a file name is needed", str(path))
        made = temporary(target)
        with made.open("xb") as file:
            try:
                if target.exists():
                    made.chmod(stat.S_IMODE(target.stat().st_mode))
                yield file
                file.flush()
                os.fsync(file.fileno())
                made.replace(target)
            except BaseException:
                with suppress(OSError):
                    made.unlink()
                raise
    except OSError as error:  # of a full disk it has no name, of a missing folder that of the temporary file
        if error.filename is None or str(error.filename).endswith(TEMPORARY):
            error.filename, error.filename2 = os.fspath(path), None
        raise


def temporary(path: Path) -> Path:
    """Return a name beside a path that nothing has, and that says whose it is: ``.NAME.<12 hex digits>.lpsm-tmp``."""
    name = os.fsdecode(os.fsencode(path.name)[:200])  # in bytes, of which a name has 255
    return path.with_name(f".{name}.{secrets.token_hex(6)}{TEMPORARY}")


def _special(path: PathName) -> IO[bytes] | None:
    """Open what is no regular file, or a file that is open already (``/dev/fd/3``); None for a name to be written."""
    name = os.fspath(path)
    descriptor = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d{1,9})", _DESCRIPTORS.get(name, name))
    if not os.path.exists(path):
        return None
    if descriptor is not None:
        sys.stdout.flush()
        return os.fdopen(os.dup(int(descriptor[1])), "wb")
    mode = os.stat(path).st_mode
    return None if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else Path(path).open("wb")


_DESCRIPTORS = {"/dev/stdin": "/dev/fd/0", "/dev/stdout": "/dev/fd/1", "/dev/stderr": "/dev/fd/2"}


class _Pieces(io.RawIOBase):
    """The pieces that an iterator yields, as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count


def _of_gzip(file: Stream) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=file) as packed:
        while piece := packed.read1(_PIECE_BYTES):
            yield piece


def _of_xz(file: Stream) -> Iterator[bytes]:
    """Yield what is in an xz file; `lzma.LZMAFile` takes no limit of memory."""
    data = file.read1(_PIECE_BYTES)
    while data := data.lstrip(b"\0") or file.read1(_PIECE_BYTES).lstrip(b"\0"):  # zeros between members are padding
        member = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES)
        while not member.eof:
            if member.needs_input and not data and not (data := file.read1(_PIECE_BYTES)):
                raise EOFError
            yield member.decompress(data, _PIECE_BYTES)
            data = b""
        data = member.unused_data


def _limited(
    pieces: Iterator[bytes], file: Stream, kind: str, path: PathName, limit: int,
    on_damage: OnDamage | None,
) -> Iterator[bytes]:  # fmt: skip
    """Yield unpacked pieces up to a limit; what is wrong with them is an error that names the packed byte."""
    given = 0
    try:
        for piece in pieces:
            given += len(piece)
            if given > limit:
                broken = f"the unpacked file must not exceed {limit} bytes", f"more from {kind}"
                break
            yield piece
        else:
            return
    except EOFError:
        broken = f"a {kind} member must be complete", "its end"
    except _DAMAGE as error:
        broken = f"{kind} data must be intact", str(error)
    found = TraceError(path, f"packed byte {file.tell()}", *broken)
    if on_damage is None:
        raise found
    on_damage(found)
