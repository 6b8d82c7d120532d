"""From the frames of a capture to what is in them: the headers of Ethernet, IP, TCP and UDP, and nothing below.

Decoding to objects of a library takes longer than everything else that is done with a packet, so the few fields that
are needed are taken from their places.  A size is that of the IP header, so that packets of which only
the beginning was captured count in full.  Fragments after the first are background; left out: tunnels.

Sources: RFC 791, RFC 8200, RFC 9293, RFC 768; the list of link types of libpcap.
"""

from __future__ import annotations

from ipaddress import ip_address
from struct import Struct, error
from typing import NamedTuple

__all__ = [
    *("DHCP_CLIENT_PORTS", "LINK_TYPES", "WIRELESS", "Background", "Segment", "address_text", "decode", "decode_ip"),
    *("IPV4", "IPV6", "ends", "is_background", "is_local", "reversed_key"),
]

RAW_IP_AT = {0: 4, 12: 0, 14: 0, 101: 0, 108: 4, 228: 0, 229: 0}
"""Link types whose header ends at a fixed place, where IP begins."""

ETHERNET, LINUX_COOKED, LINUX_COOKED_2 = 1, 113, 276
WIRELESS = (105, 119, 127, 192)
"""Link types of 802.11: bare, with Prism, radiotap or PPI headers (`traces.captures.wireless`)."""

LINK_TYPES = frozenset((*RAW_IP_AT, ETHERNET, LINUX_COOKED, LINUX_COOKED_2, *WIRELESS))

TCP, UDP = 6, 17
IPV4, IPV6, ARP = 0x0800, 0x86DD, 0x0806
_TAGGED = (0x8100, 0x88A8, 0x9100)
_EXTENSIONS = (0, 43, 60, 135, 139, 140)
_FRAGMENT, _AUTHENTICATION = 44, 51
_BACKGROUND_PORTS = frozenset((1900, 5353))  # SSDP, mDNS
DHCP_CLIENT_PORTS = frozenset((68, 546))  # of DHCP and DHCPv6

_tcp = Struct(">IIBB").unpack_from


class Segment(NamedTuple):
    """A TCP segment or a UDP datagram."""

    key: bytes  #: Source address, target address, source port, target port, and the letter u for UDP.
    payload_at: int  #: Where in the frame its payload begins, and how long it is, bytes.
    size: int
    sequence: int  #: Of TCP; flags are -1 for UDP.
    acknowledged: int
    flags: int


class Background(NamedTuple):
    """A packet that is part of nobody's traffic, or is neither TCP nor UDP: why, and its payload in bytes."""

    reason: str
    size: int = 0
    source: bytes = b""  # of a packet of ARP, and of what is sent to many: who sends it, and to whom
    target: bytes = b""


def decode(link: int, frame: bytes) -> Segment | Background:
    """Return what a frame holds.

    Parameters
    ----------
    link : int
        Its link type, one of `LINK_TYPES` that is not of 802.11.
    frame : bytes
        The frame, or its beginning.
    """
    try:
        if link == ETHERNET:
            kind, at = frame[12] << 8 | frame[13], 14
            while kind in _TAGGED:
                kind, at = frame[at + 2] << 8 | frame[at + 3], at + 4
            if kind in (IPV4, IPV6):
                found = decode_ip(frame, at)
                if frame[0] & 1 and isinstance(found, Segment):
                    source, _, target, _ = ends(found.key)
                    return Background("background_multicast", found.size, source, target)
                return found
            return _no_ip(kind, bool(frame[0] & 1), frame, at)
        if link in RAW_IP_AT:
            return decode_ip(frame, RAW_IP_AT[link])
        first = 14 if link == LINUX_COOKED else 0
        kind, group = frame[first] << 8 | frame[first + 1], frame[1 if link == LINUX_COOKED else 10] in (1, 2)
        at = 16 if link == LINUX_COOKED else 20
        while kind in _TAGGED:
            kind, at = frame[at + 2] << 8 | frame[at + 3], at + 4
        if kind in (IPV4, IPV6):
            return decode_ip(frame, at)
        return _no_ip(kind, group, frame, at)
    except (IndexError, error):
        return Background("packets_cut_in_their_headers")


def decode_ip(frame: bytes, at: int) -> Segment | Background:
    """Return what an IP packet holds that begins at a place of a frame.

    Raises
    ------
    IndexError, struct.error
        If its headers are cut.
    """
    version = frame[at] >> 4
    if version == 4:
        end = at + (frame[at + 2] << 8 | frame[at + 3])
        if end == at:  # written by the sender's own machine before the network card cut it into packets
            end = len(frame)
        protocol = frame[at + 9]
        addresses = frame[at + 12 : at + 20]
        if frame[at + 6] & 0x1F or frame[at + 7]:
            return _fragment(protocol, end - at - (frame[at] & 15) * 4)
        at += (frame[at] & 15) * 4
    elif version == 6:
        length = frame[at + 4] << 8 | frame[at + 5]
        end = at + 40 + length if length else len(frame)
        protocol = frame[at + 6]
        addresses = frame[at + 8 : at + 40]
        at += 40
        while protocol in _EXTENSIONS or protocol in (_FRAGMENT, _AUTHENTICATION):
            if protocol == _FRAGMENT and (frame[at + 2] << 8 | frame[at + 3]) & 0xFFF8:
                return _fragment(frame[at], end - at - 8)
            size = 8 if protocol == _FRAGMENT else 8 * (frame[at + 1] + 1)
            protocol, at = frame[at], at + (size if protocol != _AUTHENTICATION else 4 * (frame[at + 1] + 2))
    else:
        return Background("packets_of_other_protocols")
    if protocol == TCP:
        sequence, acknowledged, offset, flags = _tcp(frame, at + 4)
        data = at + (offset >> 4) * 4
        return Segment(addresses + frame[at : at + 4], data, max(0, end - data), sequence, acknowledged, flags)
    if protocol == UDP:
        size = (frame[at + 4] << 8 | frame[at + 5]) - 8
        if not 0 <= size <= end - at - 8:
            size = max(0, end - at - 8)
        return Segment(addresses + frame[at : at + 4] + b"u", at + 8, size, 0, 0, -1)
    return Background("packets_of_other_protocols")


def _fragment(protocol: int, size: int) -> Background:
    """Return what a fragment after the first is: payload that stands in no flow."""
    return Background("fragments", max(0, size) if protocol in (TCP, UDP) else 0)


def _no_ip(kind: int, group: bool, frame: bytes, at: int) -> Background:
    if kind == ARP:
        source, target = frame[at + 14 : at + 18], frame[at + 24 : at + 28]
        found = source, target if len(target) == 4 else b""
        return Background("background_multicast" if group else "background_unicast", 0, *found)
    return Background("packets_of_other_protocols")


def ends(key: bytes) -> tuple[bytes, int, bytes, int]:
    """Return source address, source port, target address and target port of a key."""
    width = 4 if len(key) < 36 else 16
    source, target, ports = key[:width], key[width : 2 * width], key[2 * width : 2 * width + 4]
    return source, ports[0] << 8 | ports[1], target, ports[2] << 8 | ports[3]


def reversed_key(key: bytes) -> bytes:
    """Return the key of the opposite direction."""
    width = 4 if len(key) < 36 else 16
    middle = 2 * width
    return key[width:middle] + key[:width] + key[middle + 2 : middle + 4] + key[middle : middle + 2] + key[middle + 4 :]


def address_text(address: bytes) -> str:
    """Return an address as it is written: IPv4, IPv6, or the six bytes of a MAC address."""
    return address.hex(":") if len(address) == 6 else str(ip_address(address))


def is_background(key: bytes) -> str:
    """Return why a datagram is background, empty if it is not."""
    source, source_port, target, target_port = ends(key)
    many = target[0] >= 224 if len(target) == 4 else target[0] == 0xFF
    if many:
        return "background_multicast"
    if key[-1:] == b"u" and len(key) % 2 and (source_port in _BACKGROUND_PORTS or target_port in _BACKGROUND_PORTS):
        return "background_unicast"
    return "background_multicast" if not any(source) and len(source) == 4 else ""


def is_local(here: bytes, there: bytes) -> bool:
    """Tell whether two addresses lie in one network at home: of one private block, or one IPv6 prefix of 64 bits."""
    block = _block(here)
    return block is not None and block == _block(there)


def _block(address: bytes) -> bytes | None:
    """Return the part of an address that its neighbours share; None for one of the public IPv4 network."""
    if len(address) == 16:
        return address[:1] if address[0] & 0xFE == 0xFC else address[:8]
    first, second = address[0], address[1]
    if first in (10, 127):
        return address[:1]
    if (first, second) in ((192, 168), (169, 254)):
        return address[:2]
    return b"\xac\x10" if first == 172 and 16 <= second < 32 else None
