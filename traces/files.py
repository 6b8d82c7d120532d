"""Bytes in and out: plain, gzip and xz input in constant memory, and output that is whole or absent.

The decompressors are driven piece by piece with a bound on what one call may
give back, on the memory of the xz dictionary, and on the total size unpacked,
so that a few kilobytes of crafted input cannot fill memory or disk.  A gzip
file may hold several members; one that stops in its middle is an error, never
a shorter file.
"""

from __future__ import annotations

import codecs
import errno
import io
import lzma
import os
import re
import secrets
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

from traces.errors import TraceError

__all__ = ["MAX_UNPACKED_BYTES", "OnDamage", "OnRead", "decompressed", "open_trace", "read_line", "replacing"]

MAX_UNPACKED_BYTES = 1 << 36
"""Largest size of an unpacked file, 64 GiB: seventy times the longest trace we know of."""

OnDamage = Callable[[TraceError], None]
OnRead = Callable[[int, int], None]

_XZ_MEMORY_BYTES = 1 << 27
_PIECE_BYTES = 1 << 18
_GZIP_MAGIC = b"\x1f\x8b"
_XZ_MAGIC = b"\xfd7zXZ\x00"


@contextmanager
def open_trace(
    path: str | os.PathLike[str],
    *,
    max_unpacked_bytes: int = MAX_UNPACKED_BYTES,
    on_damage: OnDamage | None = None,
    on_read: OnRead | None = None,
) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, unpacking gzip or xz by its content, not its name.

    Parameters
    ----------
    path : path-like
        The file.
    max_unpacked_bytes : int
        Reading past this many unpacked bytes is an error.
    on_damage : callable, optional
        Called with the error of damaged packed data, after which the stream ends; without it the error is raised.
    on_read : callable, optional
        Called after each piece with the bytes of the file that were read so far, still packed, and its size.

    Raises
    ------
    TraceError
        While reading: packed data that are damaged, end too early, or unpack to more than the limit.
    OSError
        If the file cannot be opened.
    """
    with Path(path).open("rb") as file:
        watched = file if on_read is None else _Watched(file, on_read)
        inner = decompressed(watched, path, max_unpacked_bytes=max_unpacked_bytes, on_damage=on_damage)
        with inner as stream:
            yield stream


@contextmanager
def decompressed(
    file: Source,
    path: str | os.PathLike[str],
    *,
    max_unpacked_bytes: int = MAX_UNPACKED_BYTES,
    on_damage: OnDamage | None = None,
) -> Iterator[BinaryIO]:
    """Unpack an open file by its content; see `open_trace`. `path` is for messages."""
    head = _read_up_to(file, len(_XZ_MAGIC))
    source = _Joined(head, file)
    maker: Callable[[], _Decompressor]
    if head.startswith(_GZIP_MAGIC):
        kind, maker = "gzip", lambda: _Gzip()
    elif head == _XZ_MAGIC:
        kind, maker = "xz", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES)
    else:
        with io.BufferedReader(source, _PIECE_BYTES) as stream:
            yield _in_utf8(stream, path)
        return
    unpacked = _Unpacked(source, maker, kind, os.fspath(path), max_unpacked_bytes, on_damage)
    with io.BufferedReader(unpacked, _PIECE_BYTES) as stream:
        yield _in_utf8(stream, path)


def _in_utf8(stream: io.BufferedReader[Any], path: str | os.PathLike[str]) -> BinaryIO:
    """Return the stream, whose text will be in UTF-8 if it begins as UTF-16 does."""
    return io.BufferedReader(_Recoded(stream, os.fspath(path)), _PIECE_BYTES)


def read_line(stream: BinaryIO, longest: int, path: str | os.PathLike[str], number: int) -> bytes:
    """Read one line with its end; empty only at the end of the file.

    Raises
    ------
    TraceError
        If the line is longer than `longest` bytes.
    """
    line = stream.readline(longest + 1)
    if len(line) > longest:
        raise TraceError(path, f"line {number}", f"a line must not be longer than {longest} bytes", "a longer one")
    return line


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
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
        if _is_special(path):
            with _opened(path) as file:
                yield file
            return
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder, a file name is needed", str(path))
        temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
        try:
            with temporary.open("xb") as file:
                if target.exists():
                    temporary.chmod(stat.S_IMODE(target.stat().st_mode))
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:  # of a full disk it has no name, of a missing folder that of the temporary file
        if error.filename is None or str(error.filename).endswith(".tmp"):
            error.filename, error.filename2 = os.fspath(path), None
        raise


def _is_special(path: str | os.PathLike[str]) -> bool:
    """Tell what is no regular file, or is a file that is open already (``/dev/stdout``), from a name to be written."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return _descriptor(path) is not None or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _opened(path: str | os.PathLike[str]) -> IO[bytes]:
    descriptor = _descriptor(path)
    if descriptor is None:
        return Path(path).open("wb")
    sys.stdout.flush()
    return os.fdopen(os.dup(descriptor), "wb")


def _descriptor(path: str | os.PathLike[str]) -> int | None:
    """Return the number of the open file that a path such as ``/dev/stdout`` or ``/dev/fd/3`` names, or None."""
    name = _DESCRIPTORS.get(os.fspath(path), os.fspath(path))
    found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d{1,9})", name)
    return int(found[1]) if found else None


_DESCRIPTORS = {"/dev/stdin": "/dev/fd/0", "/dev/stdout": "/dev/fd/1", "/dev/stderr": "/dev/fd/2"}


class Source(Protocol):
    """What bytes are read from."""

    def read(self, size: int = -1, /) -> bytes: ...


class _Watched:
    """A file that tells how much of it was read."""

    def __init__(self, file: IO[bytes], on_read: OnRead) -> None:
        self._file = file
        self._on_read = on_read
        self._size = os.fstat(file.fileno()).st_size

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(size)
        self._on_read(self._file.tell(), self._size)
        return data


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Gzip:
    """zlib's decompressor with the interface of lzma's: input it could not use yet is kept inside."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        out = self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)
        self.needs_input = len(out) < max_length and not self._inflate.unconsumed_tail
        return out


class _Joined(io.RawIOBase):
    """The bytes already looked at, then the rest of the file."""

    def __init__(self, head: bytes, rest: Source) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        piece = self._head[: len(view)]
        self._head = self._head[len(piece) :]
        if len(piece) < len(view):
            piece += self._rest.read(len(view) - len(piece))
        view[: len(piece)] = piece
        return len(piece)


class _Recoded(io.RawIOBase):
    """A text in UTF-16 as bytes in UTF-8; anything else as it is.  Which it is shows when it is first read."""

    def __init__(self, source: io.BufferedReader[Any], path: str) -> None:
        self._source = source
        self._path = path
        self._begun = False
        self._decoder: codecs.IncrementalDecoder | None = None
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        while not self._waiting:
            if not self._begun:
                self._begun = True
                if self._source.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                    self._decoder = codecs.getincrementaldecoder("utf-16")()
            piece = self._source.read1(_PIECE_BYTES)
            self._waiting = piece if self._decoder is None else self._recoded(self._decoder, piece)
            if not piece:
                break
        taken = self._waiting[: len(view)]
        self._waiting = self._waiting[len(taken) :]
        view[: len(taken)] = taken
        return len(taken)

    def _recoded(self, decoder: codecs.IncrementalDecoder, piece: bytes) -> bytes:
        try:
            return decoder.decode(piece, final=not piece).encode("utf-8", "replace")
        except UnicodeDecodeError as error:
            raise TraceError(self._path, "", "a text that begins as UTF-16 must be UTF-16", error.reason) from None


class _Unpacked(io.RawIOBase):
    """A packed file as a stream of its unpacked bytes, member after member."""

    def __init__(
        self,
        source: _Joined,
        maker: Callable[[], _Decompressor],
        kind: str,
        path: str,
        limit: int,
        on_damage: OnDamage | None,
    ) -> None:
        self._source = source
        self._maker = maker
        self._kind = kind
        self._path = path
        self._limit = limit
        self._on_damage = on_damage
        self._member = maker()
        self._ended = False
        self._given = 0
        self._taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        filled = 0
        while filled < len(view) and not self._ended:
            try:
                piece = self._piece(len(view) - filled)
            except TraceError as error:
                if self._on_damage is None:
                    raise
                self._on_damage(error)
                piece = b""
            self._ended = not piece
            view[filled : filled + len(piece)] = piece
            filled += len(piece)
        return filled

    def _piece(self, room: int) -> bytes:
        """Return at least one unpacked byte, none only at the end."""
        while True:
            data = b""
            if self._member.eof:
                data = self._next_member()
                if not data:
                    return b""
            elif self._member.needs_input:
                data = self._take()
                if not data:
                    place = f"packed byte {self._taken}"
                    raise TraceError(self._path, place, f"a {self._kind} member must be complete", "its end")
            out = self._decompress(data, room)
            self._given += len(out)
            if self._given > self._limit:
                rule = f"the unpacked file must not exceed {self._limit} bytes"
                raise TraceError(self._path, f"packed byte {self._taken}", rule, f"more from {self._kind}")
            if out:
                return out

    def _decompress(self, data: bytes, room: int) -> bytes:
        try:
            return self._member.decompress(data, room)
        except (zlib.error, lzma.LZMAError, EOFError) as error:
            raise TraceError(
                self._path, f"packed byte {self._taken}", f"{self._kind} data must be intact", str(error)
            ) from None

    def _next_member(self) -> bytes:
        """Start the member behind the one that ended; zero bytes between members are padding."""
        data = self._member.unused_data.lstrip(b"\0")
        while not data:
            piece = self._take()
            if not piece:
                return b""
            data = piece.lstrip(b"\0")
        self._member = self._maker()
        return data

    def _take(self) -> bytes:
        piece = self._source.read(_PIECE_BYTES) or b""
        self._taken += len(piece)
        return piece


def _read_up_to(file: Source, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = file.read(count - len(data))
        if not piece:
            break
        data += piece
    return data
