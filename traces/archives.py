"""Members of a tar archive as they stream past: read in place, never unpacked to disk.

Since nothing is written, no member's path can lead anywhere; it is only a name.
Memory is bounded: contents are handed on as a stream, long names (GNU and pax)
up to a limit.  Links, devices and other special members have no contents and
are skipped.  Left out: sparse files and multi-volume archives, which are errors.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from os import PathLike
from typing import BinaryIO, NamedTuple

from traces.errors import TraceError

__all__ = ["Member", "is_tar", "members"]

_BLOCK = 512
_LONGEST_NAME = 1 << 16
_MOST_MEMBERS = 1 << 17
_LARGEST_MEMBER_BYTES = 1 << 30  # a session is a few megabytes
_FILE, _FOLDER, _SPECIAL = (b"0", b"\0", b"7"), b"5", (b"1", b"2", b"3", b"4", b"6")
_LONG_NAME, _LONG_LINK, _PAX, _PAX_GLOBAL = b"L", b"K", b"x", b"g"


class Member(NamedTuple):
    """One regular file of an archive; its stream is valid until the next member is asked for."""

    path: str
    size_bytes: int
    stream: BinaryIO


def is_tar(head: bytes) -> bool:
    """Tell a tar archive by its first block."""
    return len(head) >= _BLOCK and head[257:262] == b"ustar"


def members(stream: BinaryIO, path: str | PathLike[str]) -> Iterator[Member]:
    """Yield the regular files of an archive in its order.

    Raises
    ------
    TraceError
        If a header or a member is cut or damaged, or a name absurdly long.
    """
    at = count = 0
    name: str | None = None
    while True:
        count += 1
        if count > _MOST_MEMBERS:
            raise TraceError(path, f"byte {at}", f"an archive must have at most {_MOST_MEMBERS} members", "more")
        header = stream.read(_BLOCK)
        where = f"byte {at}"
        at += len(header)
        if len(header) < _BLOCK:
            raise TraceError(path, where, "an archive must end with empty blocks", f"{len(header)} bytes of a header")
        if not header.strip(b"\0"):
            return
        if sum(header) - sum(header[148:156]) + 256 != _number(header[148:156], path, where):
            raise TraceError(
                path, where, "the checksum of a member's header must be right", header[:40].decode("latin-1")
            )
        kind, size = header[156:157], _number(header[124:136], path, where)
        if size > _LARGEST_MEMBER_BYTES:
            raise TraceError(path, where, f"a member must not exceed {_LARGEST_MEMBER_BYTES} bytes", size)
        padded = -(-size // _BLOCK) * _BLOCK
        if kind in (_LONG_NAME, _LONG_LINK, _PAX, _PAX_GLOBAL):
            if size > _LONGEST_NAME:
                raise TraceError(path, where, f"a long name must not exceed {_LONGEST_NAME} bytes", size)
            data = stream.read(padded)
            if len(data) < padded:
                raise TraceError(path, where, "a long name must be complete", f"{len(data)} of {padded} bytes")
            if kind == _LONG_NAME:
                name = data[:size].rstrip(b"\0").decode("utf-8", "replace")
            elif kind == _PAX:
                name = _pax_path(data[:size]) or name
        elif kind in _FILE:
            prefix = _text(header[345:500]) if header[257:263] == b"ustar\0" else ""
            short = _text(header[:100])
            limited = _Limited(stream, size, path, where)
            yield Member(name or (f"{prefix}/{short}" if prefix else short), size, io.BufferedReader(limited))
            limited.drain()
            _skip(stream, padded - size, path, where)
            name = None
        elif kind == _FOLDER or kind in _SPECIAL:
            _skip(stream, padded if kind == _FOLDER else 0, path, where)
            name = None
        else:
            raise TraceError(path, where, "a member must be a file, a folder or a link", kind)
        at += padded


class _Limited(io.RawIOBase):
    """The contents of one member."""

    def __init__(self, stream: BinaryIO, size: int, path: str | PathLike[str], where: str) -> None:
        self._stream = stream
        self._left = size
        self._path = path
        self._where = where

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        wanted = min(len(view), self._left)
        if not wanted:
            return 0
        piece = self._stream.read(wanted)
        if not piece:
            raise TraceError(self._path, self._where, "a member must be complete", f"{self._left} bytes too few")
        self._left -= len(piece)
        view[: len(piece)] = piece
        return len(piece)

    def drain(self) -> None:
        """Pass over what was not read."""
        scratch = bytearray(1 << 16)
        while self.readinto(scratch):
            pass


def _skip(stream: BinaryIO, count: int, path: str | PathLike[str], where: str) -> None:
    _Limited(stream, count, path, where).drain()


def _number(field: bytes, path: str | PathLike[str], where: str) -> int:
    """Read an octal number, or a base-256 one as GNU writes large sizes."""
    if field[:1] == b"\x80":
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0")
    if digits.strip(b"01234567"):
        raise TraceError(path, where, "a number in a member's header must be octal", digits.decode("latin-1"))
    return int(digits, 8) if digits else 0


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "replace")


def _pax_path(data: bytes) -> str | None:
    r"""Return the path of a pax header: records are ``"<length> <key>=<value>\n"``."""
    found = None
    while data:
        digits, _, _ = data.partition(b" ")
        length = int(digits) if digits.isdigit() and len(digits) < 8 else 0
        if length < len(digits) + 3:
            return found
        key, _, value = data[len(digits) + 1 : length].partition(b"=")
        if key == b"path":
            found = value.rstrip(b"\n").decode("utf-8", "replace")
        data = data[length:]
    return found
