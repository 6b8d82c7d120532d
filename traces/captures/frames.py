"""From the frames of a capture to what is in them: the headers of Ethernet, IP, TCP and UDP, and nothing below.

Decoding to objects of a library takes longer than everything else that is done with a packet, so the few fields that
are needed are taken from their places.  A size is that of the IP header, so that packets of which only
the beginning was captured count in full.  Fragments after the first are left out, and so are tunnels.

Sources: RFC 791, RFC 8200, RFC 9293, RFC 768; the list of link types of libpcap.
"""

from ipaddress import ip_address, ip_network
from struct import Struct
from typing import NamedTuple

RAW_IP_AT = {0: 4, 12: 0, 14: 0, 101: 0, 108: 4, 228: 0, 229: 0}
"""Link types whose header ends at a fixed place, where IP begins."""

ETHERNET, LINUX_COOKED, LINUX_COOKED_2 = 1, 113, 276
WIRELESS = (105, 119, 127, 192)
"""Link types of 802.11: bare, with Prism, radiotap or PPI headers (`traces.captures.wireless`)."""

LINK_TYPES = frozenset((*RAW_IP_AT, ETHERNET, LINUX_COOKED, LINUX_COOKED_2, *WIRELESS))

MULTICAST, UNICAST = "background_multicast", "background_unicast"
"""Why a packet is part of nobody's traffic: it is sent to many, or looks for neighbours."""

_HEADERS = {ETHERNET: (12, 14, 0), LINUX_COOKED: (14, 16, 1), LINUX_COOKED_2: (0, 20, 10)}
"""Where the kind of a packet is told, where it begins, and where it is told that it goes to many."""

TCP, UDP = 6, 17
IPV4, IPV6, ARP = 0x0800, 0x86DD, 0x0806
_TAGGED = (0x8100, 0x88A8, 0x9100)
_NO_PORTS = b"\0\0\0\0u"
_FRAGMENT, _AUTHENTICATION = 44, 51
_EXTENSIONS = (0, 43, _FRAGMENT, _AUTHENTICATION, 60, 135, 139, 140)
_BACKGROUND_PORTS = frozenset((1900, 5353))  # SSDP, mDNS
DHCP_CLIENT_PORTS = frozenset((68, 546))  # of DHCP and DHCPv6

_tcp, _half = (Struct(form).unpack_from for form in (">IIBB", ">H"))
_PORTS = Struct(">HH")


class Segment(NamedTuple):
    """A TCP segment or a UDP datagram, or what is left out of a packet that is neither."""

    key: bytes  #: Source address, target address, source port, target port, and the letter u for UDP.
    payload_at: int = 0  #: Where in the frame its payload begins, and how long it is, bytes.
    size: int = 0
    sequence: int = 0  #: Of TCP; flags are -1 for UDP.
    acknowledged: int = 0
    flags: int = -1
    reason: str = ""  #: Why it is left out; then the key may be empty.


def decode(link: int, frame: bytes) -> Segment:
    """Return what a frame of a link type that is not of 802.11 holds; one that is cut is as for `decode_ip`."""
    if link in RAW_IP_AT:
        return decode_ip(frame, RAW_IP_AT[link])
    first, at, cast_at = _HEADERS[link]
    kind = _half(frame, first)[0]
    while kind in _TAGGED:
        kind, at = _half(frame, at + 2)[0], at + 4
    is_group = frame[cast_at] & 1 if link == ETHERNET else frame[cast_at] in (1, 2)
    if kind in (IPV4, IPV6):
        found = decode_ip(frame, at)
        return found._replace(reason=MULTICAST) if is_group and link == ETHERNET and not found.reason else found
    if kind != ARP:
        return Segment(b"", reason="packets_of_other_protocols")
    source, target = frame[at + 14 : at + 18], frame[at + 24 : at + 28]
    key = source + target + _NO_PORTS if len(target) == 4 else b""
    return Segment(key, reason=MULTICAST if is_group else UNICAST)


def decode_ip(frame: bytes, at: int) -> Segment:
    """Return what an IP packet holds that begins at a place of a frame.

    Headers that are cut are an IndexError or a struct.error.
    """
    version = frame[at] >> 4
    if version == 4:
        length, protocol, is_later = _half(frame, at + 2)[0], frame[at + 9], frame[at + 6] & 0x1F or frame[at + 7]
        begin, addresses = at, frame[at + 12 : at + 20]
        at += (frame[at] & 15) * 4
    elif version == 6:
        length, protocol, is_later = _half(frame, at + 4)[0], frame[at + 6], 0
        addresses = frame[at + 8 : at + 40]
        begin = at = at + 40
        while protocol in _EXTENSIONS and not is_later:
            size = 8 * (frame[at + 1] + 1)
            if protocol == _FRAGMENT:
                size, is_later = 8, _half(frame, at + 2)[0] & 0xFFF8
            elif protocol == _AUTHENTICATION:
                size = 4 * (frame[at + 1] + 2)
            protocol, at = frame[at], at + size
    else:
        return Segment(b"", reason="packets_of_other_protocols")
    end = begin + length if length else len(frame)  # 0: written before the network card cut it into packets
    if is_later:
        size = max(0, end - at) if protocol in (TCP, UDP) else 0
        return Segment(addresses + _NO_PORTS, size=size, reason="fragments")
    if protocol == TCP:
        sequence, acknowledged, offset, flags = _tcp(frame, at + 4)
        data = at + (offset >> 4) * 4
        return Segment(addresses + frame[at : at + 4], data, max(0, end - data), sequence, acknowledged, flags)
    if protocol == UDP:
        size = _half(frame, at + 4)[0] - 8
        if not 0 <= size <= end - at - 8:
            size = max(0, end - at - 8)
        return Segment(addresses + frame[at : at + 4] + b"u", at + 8, size)
    return Segment(addresses + _NO_PORTS, reason="packets_of_other_protocols")


def ends(key: bytes) -> tuple[bytes, int, bytes, int]:
    """Return source address, source port, target address and target port of a key."""
    width = 4 if len(key) < 36 else 16
    source_port, target_port = _PORTS.unpack_from(key, 2 * width)
    return key[:width], source_port, key[width : 2 * width], target_port


def reversed_key(key: bytes) -> bytes:
    """Return the key of the opposite direction."""
    source, source_port, target, target_port = ends(key)
    return target + source + _PORTS.pack(target_port, source_port) + key[2 * len(source) + _PORTS.size :]


def address_text(address: bytes) -> str:
    """Return an address as it is written: IPv4, IPv6, or the six bytes of a MAC address."""
    return address.hex(":") if len(address) == 6 else str(ip_address(address))


def is_background(key: bytes) -> str:
    """Return why a datagram is background, empty if it is not."""
    source, source_port, target, target_port = ends(key)
    if target[0] >= 224 if len(target) == 4 else target[0] == 0xFF:
        return MULTICAST
    if _BACKGROUND_PORTS & {source_port, target_port}:
        return UNICAST
    return MULTICAST if source == bytes(4) else ""


def is_local(here: bytes, there: bytes) -> bool:
    """Tell whether two addresses lie in one network at home: of one private block, or one IPv6 prefix of 64 bits."""
    ends = ip_address(here), ip_address(there)
    return any(all(end in block for end in ends) for block in _AT_HOME) or (len(here) == 16 and here[:8] == there[:8])


_AT_HOME = [ip_network(block) for block in (
    "10.0.0.0/8", "127.0.0.0/8", "192.168.0.0/16", "169.254.0.0/16", "172.16.0.0/12", "fc00::/8", "fd00::/8",
)]  # fmt: skip
