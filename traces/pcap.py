"""Captures of plain HTTP: pcap and pcapng files, reassembled to requests and replies.

Packets are decoded by dpkt, each direction of a TCP connection is put in order
(retransmissions cut off, overtaking packets kept back), and what it carries is
parsed by h11, pipelining and bodies of every kind included.  A request starts with the
packet of its first byte and ends with the packet that completes its reply; both
sizes are the bytes of the TCP stream, headers included.

Packets that the capture lost but the receiver acknowledged count with their bytes.

Left out and counted: connections that do not speak HTTP/1 (encrypted ones), requests
without a reply.  A reply that the end of the capture cuts counts with the bytes
that came.  Left out: fragments of IP, HTTP/2, QUIC.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from ipaddress import ip_address
from os import PathLike
from typing import Any, BinaryIO

import dpkt

from traces.errors import TraceError
from traces.formats import Format
from traces.http1 import Exchanges
from traces.records import Batch, Report, Request, batch_of

__all__ = ["FORMATS", "batches"]

_LARGEST_BLOCK_BYTES = 1 << 20
_LARGEST_GAP_BYTES = 1 << 20
_MOST_WAITING = 1 << 12
_MOST_CONNECTIONS = 1 << 14
_REQUESTS_A_BATCH = 1 << 12
_HALF = 1 << 31
_LATEST_S = 1e11

_IP_AFTER = {0: 4, 12: 0, 14: 0, 101: 0, 228: 0, 229: 0, 108: 4}  # link types whose header ends at a fixed place
_FRAMES = {1: "ethernet.Ethernet", 113: "sll.SLL", 276: "sll2.SLL2"}
_DAMAGE = (dpkt.Error, ValueError, IndexError, KeyError, AttributeError, struct.error, TypeError, OverflowError)


def batches(
    stream: BinaryIO, path: str | PathLike[str], report: Report, *, skip_damaged: bool = False
) -> Iterator[Batch]:
    """Read the exchanges of a capture, in the order in which they are completed.

    Raises
    ------
    TraceError
        If the capture is cut or damaged (with `skip_damaged` it ends there, counted), its link layer unknown, or
        there is no HTTP exchange in it.
    """
    connections: dict[tuple[Any, ...], _Connection] = {}
    done: list[Request] = []
    total = 0
    for moment_us, segment, source, target in _segments(stream, path, report, skip_damaged):
        here, there = (source, segment.sport), (target, segment.dport)
        key = (here, there) if here <= there else (there, here)
        connection = connections.get(key)
        if segment.flags & dpkt.tcp.TH_SYN and not segment.flags & dpkt.tcp.TH_ACK and connection is not None:
            done += connections.pop(key).close(report)  # the ports are used again
            connection = None
        if connection is None:
            if len(connections) >= _MOST_CONNECTIONS:
                done += connections.pop(next(iter(connections))).close(report)
            connection = connections[key] = _Connection()
            report.count("connections")
        connection.take(here, there, segment, moment_us)
        done += connection.finished()
        if len(done) >= _REQUESTS_A_BATCH:
            total += len(done)
            report.count("requests", len(done))
            yield batch_of(done)
            done = []
    for connection in connections.values():
        done += connection.close(report)
    total += len(done)
    if not total:
        held = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in report.counts.items()) or "no packets"
        raise TraceError(path, "", "a capture must hold an exchange of plain HTTP/1", held)
    if done:
        done.sort(key=lambda request: request.end_us)
        report.count("requests", len(done))
        yield batch_of(done)


class _Connection:
    """A TCP connection as seen from its middle."""

    def __init__(self) -> None:
        self._flows: dict[tuple[str, int], _Flow] = {}
        self._client: tuple[str, int] | None = None
        self._exchanges: Exchanges | None = None
        self._other = False
        self.bytes_lost = 0

    def take(self, here: tuple[str, int], there: tuple[str, int], segment: Any, moment_us: int) -> None:
        """Take a segment that went from `here` to `there`."""
        flow, answered = self._flows.setdefault(here, _Flow()), self._flows.get(there)
        if answered is not None and answered.waiting and segment.flags & dpkt.tcp.TH_ACK:
            filled = answered.fill(segment.ack)
            if filled:
                self.bytes_lost += len(filled[0])
                self._hand_on(there, here, filled, moment_us)
        self._hand_on(here, there, flow.take(segment), moment_us)
        if flow.ended and self._exchanges is not None and here != self._client:
            self._exchanges.server_closed(moment_us)

    def _hand_on(self, here: tuple[str, int], there: tuple[str, int], pieces: list[bytes], moment_us: int) -> None:
        for data in pieces:
            if self._exchanges is None and not self._other:
                if not data[:1].isalpha():
                    self._other = True
                else:
                    from_server = data.startswith(b"HTTP/")  # the capture began in the middle
                    self._client = there if from_server else here
                    server = here if from_server else there
                    self._exchanges = Exchanges(self._client[0], f"{server[0]}:{server[1]}")
            if self._exchanges is not None:
                if here == self._client:
                    self._exchanges.sent(data, moment_us)
                else:
                    self._exchanges.received(data, moment_us)

    def finished(self) -> list[Request]:
        """Return the exchanges that are complete and not yet returned."""
        return self._exchanges.finished() if self._exchanges is not None else []

    def close(self, report: Report) -> list[Request]:
        """End the connection; return what is left of it."""
        lost = any(flow.waiting for flow in self._flows.values())
        report.count("connections_cut_at_a_gap", lost)
        report.count("bytes_lost_in_the_capture", self.bytes_lost)
        if self._exchanges is None:
            report.count("connections_not_of_http", self._other)
            report.count("connections_without_data", not self._other)
            return []
        return self._exchanges.close(report)


class _Flow:
    """One direction of a connection, put in order."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._held = 0
        self._end: int | None = None
        self.waiting: dict[int, bytes] = {}
        self.ended = False

    def take(self, segment: Any) -> list[bytes]:
        """Take a segment; return the data that it makes contiguous."""
        data, at = bytes(segment.data), segment.seq
        if segment.flags & dpkt.tcp.TH_SYN:
            self._next = (at + 1) % (1 << 32)
            return []
        if self._next is None:
            self._next = at
        if segment.flags & dpkt.tcp.TH_FIN:
            self._end = (at + len(data)) % (1 << 32)
        longer = len(data) - len(self.waiting.get(at, b""))
        if longer > 0 and self._held + longer <= _LARGEST_GAP_BYTES and len(self.waiting) < _MOST_WAITING:
            self._held += longer
            self.waiting[at] = data
        ready = self._contiguous(at)
        self.ended = self.ended or bool(segment.flags & dpkt.tcp.TH_RST) or self._next == self._end
        return ready

    def fill(self, acknowledged: int) -> list[bytes]:
        """Stand in for packets that the receiver acknowledged and the capture lost, if later ones wait for them.

        The zeros returned first have their number; within a body that is all that matters.
        """
        assert self._next is not None
        gap = min((begin - self._next) % (1 << 32) for begin in self.waiting)
        if not 0 < gap <= _LARGEST_GAP_BYTES or (acknowledged - self._next) % (1 << 32) < gap:
            return []
        if (acknowledged - self._next) % (1 << 32) >= _HALF:  # an old acknowledgement
            return []
        self._next = (self._next + gap) % (1 << 32)
        return [bytes(gap), *self._contiguous(self._next)]

    def _contiguous(self, at: int) -> list[bytes]:
        """Take what is now in order out of what waits, after a segment came in at `at`."""
        assert self._next is not None
        ready: list[bytes] = []
        if (self._next - at) % (1 << 32) >= _HALF:  # the new one lies ahead
            return ready
        while self.waiting:
            begin = self._next if self._next in self.waiting else self._overlapping()
            if begin is None:
                break
            piece = self.waiting.pop(begin)
            self._held -= len(piece)
            old = (self._next - begin) % (1 << 32)
            if old < len(piece):
                ready.append(piece[old:])
                self._next = (self._next + len(piece) - old) % (1 << 32)
        return ready

    def _overlapping(self) -> int | None:
        """Return a waiting segment that begins before the next byte."""
        return next((begin for begin in self.waiting if (self._next - begin) % (1 << 32) < _HALF), None)  # type: ignore[operator]


def _segments(
    stream: BinaryIO, path: str | PathLike[str], report: Report, skip_damaged: bool
) -> Iterator[tuple[int, Any, str, str]]:
    """Yield (time in us, TCP segment, source, target) of the packets that have one."""
    source = _Checked(stream, path)
    try:
        try:
            is_pcapng = stream.peek(4)[:4] == b"\x0a\x0d\x0d\x0a"  # type: ignore[attr-defined]
            reader = (dpkt.pcapng.Reader if is_pcapng else dpkt.pcap.Reader)(source)
            link = reader.datalink()
            if link not in _FRAMES and link not in _IP_AFTER:
                raise TraceError(path, "", "the link layer must be Ethernet, Linux cooked, loopback or raw IP", link)
            for moment, frame in reader:
                if source.ended:
                    raise TraceError(path, f"byte {source.at}", "a packet must be complete", "its end")
                if not 0 <= moment <= _LATEST_S:
                    rule = f"the time of a packet must lie in [0, {_LATEST_S:.0e}] s"
                    raise TraceError(path, f"byte {source.at}", rule, moment)
                report.count("packets")
                segment, here, there = _tcp(link, frame)
                if segment is not None:
                    yield round(moment * 1e6), segment, here, there
        except _DAMAGE as error:
            if isinstance(error, TraceError):
                raise
            place = f"byte {source.at}"
            raise TraceError(path, place, "a capture must be intact", f"{type(error).__name__}: {error}") from None
    except TraceError as error:
        if not skip_damaged:
            raise
        report.on_damage(error)


def _tcp(link: int, frame: bytes) -> tuple[Any, str, str]:
    """Return the TCP segment of a frame and its addresses; (None, ...) if there is none, or it is cut."""
    try:
        if link in _IP_AFTER:
            data = frame[_IP_AFTER[link] :]
            packet = (dpkt.ip6.IP6 if data[:1] and data[0] >> 4 == 6 else dpkt.ip.IP)(data)
        else:
            module, name = _FRAMES[link].split(".")
            packet = getattr(getattr(dpkt, module), name)(frame).data
        if isinstance(packet, dpkt.ip.IP | dpkt.ip6.IP6) and isinstance(packet.data, dpkt.tcp.TCP):
            return packet.data, str(ip_address(packet.src)), str(ip_address(packet.dst))
    except _DAMAGE:
        pass
    return None, "", ""


class _Checked:
    """The file as dpkt sees it: reads of an absurd size, or that come back short, are errors."""

    def __init__(self, stream: BinaryIO, path: str | PathLike[str]) -> None:
        self._stream = stream
        self._path = path
        self.at = 0
        self.ended = False

    def read(self, size: int) -> bytes:
        """Read exactly `size` bytes, or none at the end."""
        if not 0 <= size <= _LARGEST_BLOCK_BYTES:
            rule = f"a packet or block must be at most {_LARGEST_BLOCK_BYTES} bytes long"
            raise TraceError(self._path, f"byte {self.at}", rule, size)
        data = self._stream.read(size)
        if size and not data:
            self.ended = True
        elif len(data) < size:
            raise TraceError(self._path, f"byte {self.at}", "a packet must be complete", f"{len(data)} of {size} bytes")
        self.at += len(data)
        return data


_MAGIC = tuple(bytes.fromhex(magic) for magic in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "0a0d0d0a"))

FORMATS = (
    Format(
        name="pcap",
        written="*.pcap, *.pcapng, *.cap",
        meaning="pcap or pcapng capture",
        source="tcpdump, Wireshark and others",
        example="lpsm pages capture.pcapng --client 192.168.1.7 --out pages.jsonl",
        recognises=lambda head: head.startswith(_MAGIC),
        batches=batches,
    ),
)
