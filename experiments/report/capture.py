"""A run as a capture that a sniffer beside the access point would have made: 802.11 frames in a pcapng file.

It has the frames of a run on the shared air (`experiments.report.air_capture`); on wires there are none.  Inside are
IPv4 and TCP with the sequence numbers of the model, and HTTP/1.1 messages of the sizes of the pages, so that other
tools see the same requests.

Source of the layouts: IEEE 802.11-2020, section 9 (frames), 9.4.2.5 (TIM); radiotap.org; the pcapng draft
(draft-ietf-opsawg-pcapng), with time stamps in nanoseconds since the start of the run.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import IntEnum, IntFlag
from itertools import count
from typing import NamedTuple

import dpkt

from experiments.timeline import Run
from netsim.running.recorder import AirRecorder, Exchange, Transmission

__all__ = ["ACCESS_POINT", "CLIENT", "GATEWAY", "SNAP", "Captured", "Flag", "Kind", "Streams", "beacon_body", "capture"]

ACCESS_POINT, CLIENT, GATEWAY = (bytes((2, 0, 0, 0, 0, last)) for last in (1, 2, 3))  # locally administered addresses
CLIENT_IP, SERVER_IP = bytes((192, 168, 1, 2)), bytes((203, 0, 113, 1))  # RFC 1918 and RFC 5737
_BAD_CHECKSUM = 0x40
_AMPDU_STATUS, _LAST_IS_KNOWN, _IS_LAST = 1 << 20, 0x04, 0x08
_CHANNEL_6, _CHANNEL_36 = (2437, 0x0480), (5180, 0x0140)  # MHz, and radiotap's flags: CCK or OFDM, OFDM at 5 GHz
SNAP = bytes((0xAA, 0xAA, 3, 0, 0, 0, 8, 0))
_LINKTYPE_RADIOTAP = 127
_TU_NS = 1_024_000
_FIRST_PORT, _PORTS = 49152, 16384
_WINDOW = 65535


class Kind(IntEnum):
    """First octet of the frame control: type and subtype."""

    DATA = 0x08
    NULL = 0x48
    BEACON = 0x80
    BLOCK_ACK = 0x94
    POLL = 0xA4
    RTS = 0xB4
    CTS = 0xC4
    ACK = 0xD4


class Flag(IntFlag):
    """Second octet of the frame control."""

    TO_DS = 0x01
    FROM_DS = 0x02
    RETRY = 0x08
    PM = 0x10
    MORE_DATA = 0x20


class Captured(NamedTuple):
    """A frame of 802.11: when, its frame control, its addresses (three if it has a number), and what follows them.

    Attributes
    ----------
    rate_mbps : float
        For radiotap.
    duration : int
        Of its header.
    broken : bool
        Whether its checksum is wrong, as that of a frame that was lost or collided.
    sequence : int
        Its number; -1: the next of its sender.
    aggregate : (int, bool) or None
        Of frames sent together: which A-MPDU it was in, and whether it was the last of it.
    """

    at_ns: int
    control: tuple[int, int]
    addresses: tuple[bytes, ...]
    body: bytes = b""
    rate_mbps: float = 0.0
    duration: int = 0
    broken: bool = False
    sequence: int = -1
    aggregate: tuple[int, bool] | None = None


def capture(run: Run, start_s: float = 0.0, length_s: float = float("inf")) -> bytes:
    """Return the capture of a run on the shared air, or of a window of it.

    Parameters
    ----------
    run : Run
        A recorded run.
    start_s, length_s : float
        The window, seconds of the run.

    Raises
    ------
    ValueError
        If the run is on wires, which have no frames of 802.11.
    """
    from experiments.report.air_capture import on_the_air

    if not isinstance(run.recorder, AirRecorder):
        raise ValueError("run must be one on the shared air, wires have no frames of 802.11")
    end_ns = round(min(start_s + length_s, run.result.elapsed_s) * 1e9)
    first_ns = round(start_s * 1e9)
    channel = _CHANNEL_36 if run.recorder.air.phy.kind == "11a" else _CHANNEL_6
    found = on_the_air(run.recorder)
    blocks = [_SECTION, _INTERFACE]
    numbers: dict[bytes, Iterator[int]] = {}
    last: dict[tuple[bytes, ...], tuple[int, bytes]] = {}  # number and body
    for frame in sorted(found, key=lambda frame: frame.at_ns):
        header = struct.pack("<BBH", *frame.control, frame.duration) + b"".join(frame.addresses)
        if len(frame.addresses) == 3:
            ends = frame.addresses[:2]
            number, body = last.get(ends, (-1, b""))
            if frame.sequence >= 0:
                number = frame.sequence % 4096
            elif number < 0 or not frame.control[1] & Flag.RETRY or body != frame.body:  # not the last one sent again
                number = next(numbers.setdefault(ends[1], count())) % 4096
            last[ends] = number, frame.body
            header += struct.pack("<H", number << 4)
        if first_ns <= frame.at_ns <= end_ns:
            radiotap = _radiotap(frame, frame.rate_mbps, channel)
            blocks.append(_packet(frame.at_ns, radiotap + header + frame.body))
    return b"".join(blocks)


def beacon_body(at_ns: int, interval_ns: int, dtim: tuple[int, int], bits: int, *, groups: bool = False) -> bytes:
    """Return what a beacon says: its time, its interval, its network, rates of 802.11b, and the TIM.

    Parameters
    ----------
    dtim : (int, int)
        How many beacons until the next DTIM, and from one to the next.
    bits : int
        The first octet of the map of clients for which frames wait.
    groups : bool
        Whether group frames follow.
    """
    fixed = struct.pack("<QHH", at_ns // 1000, round(interval_ns / _TU_NS), 0x0001)
    tim = bytes((5, 4, *dtim, int(groups), bits))
    return fixed + bytes((0, 4)) + b"lpsm" + bytes((1, 4, 0x82, 0x84, 0x8B, 0x96)) + tim


class Streams:
    """What the connections carry: HTTP messages of the sizes of the exchanges, made where a frame has a piece of them.

    Bytes that belong to no complete exchange, such as pushed messages, are zeros.
    """

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._heads: dict[tuple[int, bool], list[tuple[int, bytes]]] = {}
        ends: dict[tuple[int, bool], int] = {}
        for one in exchanges:
            name = f"/{one.page}/{'' if one.object_index < 0 else one.object_index}"
            for down, size, head in (
                (False, one.request_bytes, _request(name, one.request_bytes)),
                (True, one.reply_bytes, _reply(one.reply_bytes)),
            ):
                first = ends.get((one.connection, down), 0)
                self._heads.setdefault((one.connection, down), []).append((first, head))
                ends[one.connection, down] = first + size

    def datagram(self, frame: Transmission) -> bytes:
        """Return the frame body: LLC/SNAP, IPv4 and TCP."""
        port = _FIRST_PORT + frame.connection % _PORTS
        ports = (80, port) if frame.down else (port, 80)
        flags = {0: dpkt.tcp.TH_ACK, 1: dpkt.tcp.TH_SYN, 2: dpkt.tcp.TH_SYN | dpkt.tcp.TH_ACK}[frame.flag]
        options = bytes((1,)) * min(40, max(0, (frame.size_bytes - frame.length - 40) // 4 * 4))  # no-operations
        segment = dpkt.tcp.TCP(
            sport=ports[0], dport=ports[1], seq=(frame.seq + (frame.flag == 0)) % 2**32, flags=flags, win=_WINDOW,
            ack=0 if frame.flag == 1 else (frame.ack + 1) % 2**32, opts=options,
            data=self._payload(frame.connection, frame.down, frame.seq, frame.length),
        )  # fmt: skip
        segment.off = (20 + len(options)) // 4
        ends = (SERVER_IP, CLIENT_IP) if frame.down else (CLIENT_IP, SERVER_IP)
        datagram = dpkt.ip.IP(src=ends[0], dst=ends[1], p=6, ttl=64, id=0, data=segment)
        datagram.len = 20 + len(segment)
        return SNAP + bytes(datagram)

    def _payload(self, connection: int, down: bool, seq: int, length: int) -> bytes:
        if not length:
            return b""
        found = bytearray(length)
        heads = self._heads.get((connection, down), [])
        place = max(0, bisect_right(heads, seq, key=lambda head: head[0]) - 1)
        for first, head in heads[place:]:
            if first >= seq + length:
                break
            low, high = max(first, seq), min(first + len(head), seq + length)
            if low < high:
                found[low - seq : high - seq] = head[low - first : high - first]
        return bytes(found)


def _request(name: str, size: int) -> bytes:
    """Return a request of `size` bytes, or a meaningless one where that is too few for any."""
    start, end = f"GET {name} HTTP/1.1\r\nHost: server\r\nX-Padding: ".encode(), b"\r\n\r\n"
    room = size - len(start) - len(end)
    return start + b"x" * room + end if room >= 0 else b"x" * size


def _reply(size: int) -> bytes:
    """Return the head of a reply of `size` bytes in all, whose body is zeros; too small a reply has none."""
    for padding in (b"", b" "):  # where another digit would be needed, a space takes its place
        for digits in range(1, 16):
            head = len(b"HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n") + len(padding) + digits
            if size >= head and len(str(size - head)) == digits:
                return b"HTTP/1.1 200 OK\r\nContent-Length: " + padding + str(size - head).encode() + b"\r\n\r\n"
    return b"x" * size


def _radiotap(frame: Captured, rate_mbps: float, channel: tuple[int, int]) -> bytes:
    """Return a radiotap header: time, flags (no check sequence, or a wrong one), rate in 500 kb/s, channel, A-MPDU."""
    rate, together = max(1, min(255, round(2 * rate_mbps))), frame.aggregate
    fields = struct.pack("<QBBHH", frame.at_ns // 1000, _BAD_CHECKSUM * frame.broken, rate, *channel)
    present = 0x0F
    if together is not None:
        flags = _LAST_IS_KNOWN | _IS_LAST * together[1]
        fields += struct.pack("<xxIHxx", together[0], flags)
        present |= _AMPDU_STATUS
    return struct.pack("<BBHI", 0, 0, 8 + len(fields), present) + fields


def _block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def _packet(at_ns: int, data: bytes) -> bytes:
    return _block(6, struct.pack("<IIIII", 0, at_ns >> 32, at_ns & 0xFFFFFFFF, len(data), len(data)) + data)


_SECTION = _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
_INTERFACE = _block(1, struct.pack("<HHI", _LINKTYPE_RADIOTAP, 0, 0) + struct.pack("<HHBxxxHH", 9, 1, 9, 0, 0))
