"""pcapng files: their packets with time and link type, whatever number of interfaces and sections they have.

dpkt's reader takes the link type and the clock of the first interface for those of all, so blocks are read here.  Read
are section headers, interface descriptions, and packets (enhanced, and obsolete ones); packets without a time (simple
ones) are passed over, as are all other blocks.

Source: draft-ietf-opsawg-pcapng, sections 3.1 and 4.1 to 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct, unpack
from typing import NamedTuple

__all__ = ["SECTION", "packets"]

SECTION = b"\x0a\x0d\x0d\x0a"
"""How a pcapng file begins."""

_INTERFACE, _OBSOLETE_PACKET, _SIMPLE_PACKET, _ENHANCED_PACKET = 1, 2, 3, 6
_RESOLUTION, _OFFSET = 9, 14  # options of an interface
_BYTE_ORDER = 0x1A2B3C4D
_MOST_INTERFACES = 1 << 10
_MICROSECONDS = 1_000_000


class _Interface(NamedTuple):
    link: int
    ticks: int  # a second
    offset_us: int


def packets(read: Callable[[int], bytes], count: Callable[[str], None]) -> Iterator[tuple[int, int, bytes, int]]:
    """Yield time (microseconds), link type and bytes of the packets of a file, and how many bytes were sent.

    Parameters
    ----------
    read : callable
        Returns so many bytes of the file, or none at its end.
    count : callable
        Told by name of each packet that is passed over.

    Raises
    ------
    ValueError, struct.error
        If a block breaks a rule.
    """
    order, of_packet = "<", Struct("<IIIII").unpack_from
    interfaces: list[_Interface] = []
    while head := read(8):
        is_section = head[:4] == SECTION
        if is_section:
            magic = read(4)
            order = next((o for o in "<>" if unpack(f"{o}I", magic)[0] == _BYTE_ORDER), "")
            if not order:
                raise ValueError(f"a section must tell its byte order, got {magic.hex()}")
            interfaces, of_packet = [], Struct(f"{order}IIIII").unpack_from
        kind, size = unpack(f"{order}II", head)
        if size % 4 or size < (28 if is_section else 12):
            raise ValueError(f"the length of a block must be a multiple of 4 and hold the block, got {size}")
        rest = size - 8 - 4 * is_section
        body = read(rest)
        if len(body) < rest:
            raise ValueError(f"a block must be complete, got {len(body)} of {rest} bytes")
        if is_section:
            version = unpack(f"{order}H", body[:2])[0]
            if version != 1:
                raise ValueError(f"the version of pcapng must be 1, got {version}")
        elif kind == _INTERFACE:
            if len(interfaces) >= _MOST_INTERFACES:
                raise ValueError(f"a section must have at most {_MOST_INTERFACES} interfaces")
            interfaces.append(_described(body[:-4], order))
        elif kind in (_ENHANCED_PACKET, _OBSOLETE_PACKET):
            number, high, low, captured, sent = of_packet(body)
            if kind == _OBSOLETE_PACKET:
                number = unpack(f"{order}H", body[:2])[0]
            if number >= len(interfaces):
                raise ValueError(f"the interface of a packet must be described before it, got number {number}")
            if captured > len(body) - 24:
                raise ValueError(f"a packet must fit into its block, got {captured} bytes in {len(body) - 24}")
            link, ticks, offset_us = interfaces[number]
            stamp = high << 32 | low
            if ticks != _MICROSECONDS:
                stamp = (2 * stamp * _MICROSECONDS + ticks) // (2 * ticks)
            yield offset_us + stamp, link, body[20 : 20 + captured], sent
        elif kind == _SIMPLE_PACKET:
            count("packets_without_a_time")


def _described(body: bytes, order: str) -> _Interface:
    """Read the description of an interface."""
    link = unpack(f"{order}H", body[:2])[0]
    at, ticks, offset_us = 8, _MICROSECONDS, 0
    while at + 4 <= len(body):
        code, size = unpack(f"{order}HH", body[at : at + 4])
        value = body[at + 4 : at + 4 + size]
        if code == _RESOLUTION and value:
            ticks = (2 if value[0] & 0x80 else 10) ** (value[0] & 0x7F)
        elif code == _OFFSET and len(value) == 8:
            offset_us = unpack(f"{order}q", value)[0] * _MICROSECONDS
        at += 4 + size + -size % 4
        if not code:
            break
    return _Interface(link, ticks, offset_us)
