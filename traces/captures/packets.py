"""The packets of pcap and pcapng files: their times, link types and bytes, and how many bytes were sent.

Of pcapng, section headers, interface descriptions and packets (enhanced, and obsolete ones) are read, whatever number
of interfaces and sections there is; packets without a time (simple ones) are passed over and counted, and so are those
of interfaces whose link type is of no use.  All other blocks are passed over.

Sources: draft-ietf-opsawg-pcap, sections 4 and 5; draft-ietf-opsawg-pcapng, sections 3.1 and 4.1 to 4.4.
"""

import struct
from collections.abc import Collection, Iterator

from traces.captures.frames import LINK_TYPES, WIRELESS
from traces.errors import PathName, RuleError, TraceError
from traces.files import Stream
from traces.records import Report

Packet = tuple[int, int, bytes, int]
"""Time in microseconds, link type, the bytes that were captured, how many were sent."""

_SECTION = b"\x0a\x0d\x0d\x0a"
_FORMS = {
    b"\xa1\xb2\xc3\xd4": (">", 1), b"\xd4\xc3\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1000), b"\x4d\x3c\xb2\xa1": ("<", 1000),
}  # fmt: skip
"""How a pcap file begins, the order of its bytes, and the parts of a microsecond that it counts."""

_LARGEST_BYTES = 1 << 20
_LATEST_US = 10**17
_INTERFACE, _OBSOLETE_PACKET, _SIMPLE_PACKET, _ENHANCED_PACKET = 1, 2, 3, 6
_RESOLUTION, _OFFSET = 9, 14  # options of an interface
_BYTE_ORDER = 0x1A2B3C4D
_MOST_INTERFACES = 1 << 10
_Interface = tuple[int, int, int]  # link type, ticks a second, and the offset of its times in microseconds


def is_capture(head: bytes) -> bool:
    """Tell a capture by its first bytes."""
    return head[:4] in _FORMS or head.startswith(_SECTION)


def frames(
    stream: Stream, path: PathName, report: Report, skip_damaged: bool = False, *,
    links: Collection[int] = LINK_TYPES,
) -> Iterator[Packet]:  # fmt: skip
    """Yield the packets of a capture file whose link types are among `links`; others are passed over, counted.

    A `TraceError` tells that it is cut or damaged (with `skip_damaged` it ends there, counted) or has no such packet.
    """
    source = _Source(stream)
    packets, other, damaged = 0, -1, report["damaged"]
    try:
        head = source.read(4)
        for packet in _of_pcapng(source, head, report) if head == _SECTION else _of_pcap(source, head):
            if not 0 <= packet[0] <= _LATEST_US:
                raise RuleError(f"the time of a packet must lie in [0, {_LATEST_US / 1e6:.0e}] s", packet[0] / 1e6)
            if packet[1] not in links:
                other = packet[1]
                report.count("packets_of_other_link_layers")
                continue
            packets += 1
            yield packet
        if other < 0 or packets:
            return
        rule = "the link layer must be Ethernet, 802.11, Linux cooked, loopback or raw IP"
        if links == WIRELESS:
            rule = "the capture must be of 802.11 frames, taken in monitor mode"
        damage = TraceError(path, "", rule, f"link type {other}")
    except (RuleError, struct.error) as error:
        broken = error if isinstance(error, RuleError) else RuleError("a capture must be intact", error)
        damage = broken.at(path, f"byte {source.begun}")
    except TraceError as error:
        damage = error
    finally:
        report.count("packets", packets)
    if not skip_damaged:
        raise damage
    if report["damaged"] == damaged:  # else a packed file ended before, and was counted
        report.on_damage(damage)


class _Source:
    """A file whose latest packet or block begins at the byte `begun`."""

    def __init__(self, stream: Stream) -> None:
        self._read = stream.read
        self.begun = 0

    def read(self, size: int, before: int = 0) -> bytes:
        """Return so many bytes of a packet, behind others of it; a file that ends within it is damaged."""
        if size > _LARGEST_BYTES:
            raise RuleError(f"a packet or block must be at most {_LARGEST_BYTES} bytes long", size)
        data = self._read(size)
        if len(data) != size and (data or before):
            found = f"{before + len(data)} of {before + size} bytes; --skip-damaged takes what is before"
            raise RuleError("a packet must be complete", found)
        return data


def _of_pcap(source: _Source, head: bytes) -> Iterator[Packet]:
    if head not in _FORMS:
        raise RuleError("a capture must begin as pcap or pcapng does", head)
    order, parts = _FORMS[head]
    link = struct.unpack(f"{order}16xI", source.read(20, 4))[0] & 0xFFFF  # above are bits about checksums
    numbers = struct.Struct(f"{order}IIII").unpack
    source.begun = 24
    while head := source.read(16):
        second, part, captured, sent = numbers(head)
        micro = part if parts == 1 else round(part / parts)
        yield second * 1_000_000 + micro, link, source.read(captured, 16), sent
        source.begun += 16 + captured


def _of_pcapng(source: _Source, head: bytes, report: Report) -> Iterator[Packet]:
    order, interfaces = "<", list[_Interface]()
    head += source.read(8, 4)
    while head:
        if is_section := head[:4] == _SECTION:
            order = next((o for o in "<>" if struct.unpack_from(f"{o}I", head, 8)[0] == _BYTE_ORDER), "")
            if not order:
                raise RuleError("a section must tell its byte order", head[8:].hex())
        kind, size = struct.unpack_from(f"{order}II", head)
        if size % 4 or size < (28 if is_section else 12):
            raise RuleError("the length of a block must be a multiple of 4 and hold the block", size)
        body = (head[8:] + source.read(size - 12, 12))[:-4]
        if is_section:
            version = struct.unpack_from(f"{order}H", body, 4)[0]
            if version != 1:
                raise RuleError("the version of pcapng must be 1", version)
            interfaces = []
        elif kind == _INTERFACE:
            if len(interfaces) >= _MOST_INTERFACES:
                raise RuleError(f"a section must have at most {_MOST_INTERFACES} interfaces", "more")
            interfaces.append(_described(body, order))
        elif kind in (_ENHANCED_PACKET, _OBSOLETE_PACKET):
            number, high, low, captured, sent = struct.unpack_from(f"{order}IIIII", body)
            if kind == _OBSOLETE_PACKET:
                number = struct.unpack_from(f"{order}H", body)[0]
            if number >= len(interfaces):
                raise RuleError("the interface of a packet must be described before it", f"number {number}")
            if captured > len(body) - 20:
                raise RuleError("a packet must fit into its block", f"{captured} bytes in {len(body) - 20}")
            link, ticks, offset_us = interfaces[number]
            stamp = high << 32 | low
            if ticks != 1_000_000:
                stamp = (2 * stamp * 1_000_000 + ticks) // (2 * ticks)
            yield offset_us + stamp, link, body[20 : 20 + captured], sent
        elif kind == _SIMPLE_PACKET:
            report.count("packets_without_a_time")
        source.begun += size
        head = source.read(12)


def _described(body: bytes, order: str) -> _Interface:
    """Read the description of an interface."""
    link = struct.unpack_from(f"{order}H", body)[0]
    at, ticks, offset_us, code = 8, 1_000_000, 0, -1
    while code and at + 4 <= len(body):
        code, size = struct.unpack_from(f"{order}HH", body, at)
        value = body[at + 4 : at + 4 + size]
        if code == _RESOLUTION and value:
            ticks = (2 if value[0] & 0x80 else 10) ** (value[0] & 0x7F)
        elif code == _OFFSET and len(value) == 8:
            offset_us = struct.unpack(f"{order}q", value)[0] * 1_000_000
        at += 4 + size + -size % 4
    return link, ticks, offset_us
