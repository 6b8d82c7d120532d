"""The vocabulary of the grammars: fields, ordinary or nasty, and changes of structures and of bytes.

An input is first a structure of dicts, lists and fields (text, bytes, numbers), as valid as its format allows; a
grammar renders it.  A change of structure drops, repeats, exchanges or replaces any part of it, so that lengths and
checksums, which are computed when it is rendered, still fit.  A change of bytes does not know the format.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from struct import Struct
from typing import Any

Content = bytes | dict[str, bytes]  # a file, or a folder of them


class Chance(Random):
    """A generator of chance that knows how many of the fields drawn with it are nasty."""

    nasty_share = 0.03


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """A format: how a structure is drawn and rendered, and what reads it.

    Attributes
    ----------
    make : callable
        From a generator of chance to a structure.
    render : callable
        From a structure, changed or not, to the content of a file or a folder.
    read : callable
        ``read(path, chance)`` returns whether it came past the header, and raises the reader's own error otherwise.
    name : str
        What the file is called.
    packed : bool
        Whether such files may be packed with gzip or xz.
    """

    make: Callable[[Chance], Any]
    render: Callable[[Any], Content]
    read: Callable[..., None]
    name: str = "input"
    packed: bool = True


class Raw(str):
    """A number that is written as it stands, in formats where other text has quotes."""

    __slots__ = ()


NASTY_NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64),
    *(-(2**31), -(2**63), 10**30, 10**400, 0.1, -0.0, 1e-320, 1e300, 1.7e308, float("nan"), float("inf")),
    *(Raw("-inf"), Raw("1e999"), Raw("1" * 5000), Raw("0x10"), Raw("1_0"), Raw("07"), Raw("+5"), Raw("٣"), Raw("")),
)
NASTY_TEXTS: tuple[str, ...] = (
    "", " ", "\n", "\r", "\r\n", "\t", "\0", '"', "'", "\\", ",", ";", ":", "#", "=cmd|' /C calc'!A0", "null", "[]",
    "{}", "nan", "-1", "1e999", "..", "../../etc/passwd", "</script><script>alert(1)</script>",
    "\x1b[2J\x1b]0;x\x07", "\u202etxt.exe", "\ud800", "\ufeff", "a" * 5000, "é" * 100, "http://", "http://[::1", "//",
    "://", "%00", "\x85", "HTTP/1.1 200 OK\r\n", "Content-Length: -1\r\n", "[" * 60,
    "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n",
)  # fmt: skip
NASTY_BYTES = (
    *(b"\0", b"\xff", b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b"\n", b"\r\n", b'"', b" ", b",", b"\xc3\x28"),
    *(b"-1", b"9" * 20, b"1e999", b"NaN", b"null", b"[" * 50, b"{}", b"\\ud800", b"HTTP/1.1 200 OK\r\n", b"../../"),
    *(b"Content-Length: -1\r\n", b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\n", b"\x1f\x8b", b"PK\x03\x04"),
)
_MOST_NODES = 4000


def number(chance: Chance, low: int, high: int) -> Any:
    """Draw a whole number, sometimes a nasty one."""
    return nasty(chance) if chance.random() < chance.nasty_share else chance.randint(low, high)


def real(chance: Chance, low: float, high: float) -> Any:
    """Draw a number, sometimes a nasty one."""
    return (
        nasty(chance) if chance.random() < chance.nasty_share else round(chance.uniform(low, high), chance.randrange(8))
    )


def text(chance: Chance, *usual: str) -> Any:
    """Draw one of the texts that are usual, sometimes a nasty one."""
    return nasty(chance) if chance.random() < chance.nasty_share else chance.choice(usual)


def maybe(chance: Chance, value: Any, share: float = 0.8) -> Any:
    """Return the value, or else None."""
    return value if chance.random() < share else None


def nasty(chance: Chance) -> Any:
    """Draw something that is seldom expected."""
    return chance.choice(
        chance.choice((NASTY_NUMBERS, NASTY_NUMBERS, NASTY_TEXTS, (None, True, [], {}, [[]], b"\xff")))
    )


def written(value: Any) -> str:
    """Return a field as text formats hold it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return "" if value is None else str(value)


def encoded(value: Any) -> bytes:
    """Return a field in UTF-8; what is bytes stays so."""
    return value if isinstance(value, bytes) else written(value).encode("utf-8", "surrogatepass")


def binary(code: str, value: Any) -> bytes:
    """Return a number as `struct` packs it, whatever it is, modulo its range."""
    packer = Struct(code)
    if isinstance(value, bytes):
        return value
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        whole = -1
    return (whole % (1 << 8 * packer.size)).to_bytes(packer.size, "little" if code[0] == "<" else "big")


def reshaped(structure: Any, chance: Chance) -> Any:
    """Return a copy of a structure with one to four of its parts changed."""
    top = [deepcopy(structure)]
    for _ in range(chance.choice((1, 1, 2, 4))):
        places = _places(top)
        holder, key = chance.choice(places)
        part = holder[key]
        kind = chance.randrange(8)
        if kind == 0 and holder is not top:
            del holder[key]
        elif kind == 1 and isinstance(holder, list):
            holder[key:key] = [deepcopy(part) for _ in range(chance.choice((1, 1, 3, 30)))]
        elif kind == 2:
            other, there = chance.choice(places)
            holder[key] = deepcopy(other[there])
        elif kind == 3:
            holder[key] = chance.choice(([part], {"": part}, [], {}, None))
        elif kind == 4 and isinstance(holder, list):
            chance.shuffle(holder)
        elif isinstance(part, dict | list) and kind == 5:
            part.clear()
        else:
            holder[key] = _near(part, chance) if chance.random() < 0.5 else nasty(chance)
    return top[0]


def _places(top: list[Any]) -> list[tuple[Any, Any]]:
    """Return where every part of a structure hangs: what holds it, and under which key."""
    found: list[tuple[Any, Any]] = []
    waiting: list[Any] = [top]
    while waiting and len(found) < _MOST_NODES:
        holder = waiting.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
    return found


def _near(part: Any, chance: Chance) -> Any:
    """Return a field a little unlike the one given."""
    if isinstance(part, bool) or part is None:
        return not part
    if isinstance(part, int | float):
        return chance.choice((part + 1, part - 1, -part, part * 2, part * 256))
    if isinstance(part, str):
        return type(part)(changed(part.encode("utf-8", "surrogatepass"), chance).decode("utf-8", "replace"))
    return changed(part, chance) if isinstance(part, bytes) else nasty(chance)


def changed(data: bytes, chance: Chance) -> bytes:
    """Return bytes with one to four changes that know nothing of their meaning."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = int(chance.random() * len(data))
        value = chance.choice(NASTY_BYTES) if chance.random() < 0.6 else chance.randbytes(chance.randrange(1, 9))
        kind = chance.randrange(6)
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + bytes(byte ^ (value[0] or 1) for byte in data[at : at + 1]) + data[at + 1 :]
        elif kind == 2:
            data = data[:at] + value + data[at + len(value) :]
        elif kind == 3:
            data = data[:at] + value + data[at:]
        elif kind == 4:
            data = data[:at] + data[at + 1 + len(value) :]
        else:
            data = data[:at] + data[at : at + 200] * 3 + data[at + 200 :]
    return data
