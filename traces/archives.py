"""Members of a tar archive as they stream past: read in place, never unpacked to disk.

Since nothing is written, no member's path can lead anywhere; it is only a name.  `tarfile` reads the archive; what it
would take from a header without a limit, and what it takes for the end of an archive though it is damage, is refused
here.  Links, devices and other special members have no contents and are skipped.  Left out: sparse files and archives
of several volumes, which are errors.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from os import PathLike
from typing import Any, Self

from traces.errors import RuleError, TraceError
from traces.files import OnDamage, Stream

_LONGEST_NAME = 1 << 16
_MOST_MEMBERS = 1 << 17
_LARGEST_MEMBER_BYTES = 1 << 30  # a session is a few megabytes
_LONG_NAMES = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
_KINDS = {*tarfile.SUPPORTED_TYPES, *_LONG_NAMES} - {tarfile.GNUTYPE_SPARSE}
_INTACT = "the header of a member must be intact"


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

    def __init__(self, stream: Stream, path: str | PathLike[str]) -> None:
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


def is_tar(head: bytes) -> bool:
    """Tell a tar archive by its first block."""
    return len(head) >= 512 and head[257:262] == b"ustar"


def members(stream: Stream, path: str | PathLike[str], on_damage: OnDamage | None) -> Iterator[tuple[str, Stream]]:
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
    except TraceError as error:
        found = error
    except (RuleError, tarfile.TarError, ValueError, OverflowError) as error:
        broken = error if isinstance(error, RuleError) else RuleError(_INTACT, str(error))
        found = broken.at(path, f"member {number + 1}")
    if on_damage is None:
        raise found
    on_damage(found)
