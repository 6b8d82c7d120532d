"""Captures: pcap and pcapng files, from packets to exchanges, uploads and messages, whatever they carry.

`packets` reads the files; headers are taken from their places (`frames`), flows are told
apart (`flows`) and entered into a ledger: every byte of payload is in exactly one place (`ledger`).
Nothing is decrypted.  Encrypted frames of 802.11 (`wireless`) are the runs of their station, by their sizes.

Left out and counted: background (ARP, DHCP, mDNS, SSDP, whatever is sent to many), flows between two local addresses,
fragments of IP after the first.  What the end of the capture cuts counts with what came.  Memory is bounded by the
number of flows and exchanges that are open at a time.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from ipaddress import ip_address
from os import PathLike

from traces.captures.flows import Flow, TcpFlow, UdpFlow
from traces.captures.frames import (
    DHCP_CLIENT_PORTS,
    IPV4,
    IPV6,
    WIRELESS,
    Background,
    Segment,
    decode,
    decode_ip,
    ends,
    is_background,
    is_local,
    reversed_key,
)  # fmt: skip
from traces.captures.ledger import Entries, Ledger, LeftOut
from traces.captures.packets import frames, is_capture
from traces.captures.runs import Runs
from traces.captures.streams import ACK, SYN, Counted
from traces.captures.wireless import Copies, data_body, has_wrong_checksum, parse, payload_bytes
from traces.errors import TraceError
from traces.files import Stream
from traces.formats import Format
from traces.records import Batch, Report, Request, batch_of

__all__ = ["FORMATS", "JUMP_BACK_US", "JUMP_US", "batches"]

JUMP_US, JUMP_BACK_US = 3_600_000_000, 1_000_000
"""A clock that goes on by more than an hour, or back by more than a second, has jumped."""

_MOST_FLOWS = 1 << 14
_MOST_HEARD = 10  # addresses that an error names
_REQUESTS_A_BATCH = 1 << 12
_NAME_SERVICE = 53


def batches(
    stream: Stream,
    path: str | PathLike[str],
    report: Report,
    *,
    skip_damaged: bool = False,
    client: str | None = None,
) -> Iterator[Batch]:
    """Read the exchanges and messages of a capture, in the order in which they begin.

    Parameters
    ----------
    client : str, optional
        Address of the one device whose flows are wanted (of 802.11 its MAC address); it is the client of all of them.

    Raises
    ------
    TraceError
        If the capture is cut or damaged (with `skip_damaged` it ends there, counted), its link layer unknown, or
        there is no exchange and no message in it.
    """
    reader = _Reader(report, _address(client, path))
    done: list[Request] = []
    total = 0
    for moment_us, link, frame, size in frames(stream, path, report, skip_damaged=skip_damaged):
        reader.take(moment_us, link, frame, size)
        done += reader.ledger.released()
        while len(done) >= _REQUESTS_A_BATCH:
            total += _REQUESTS_A_BATCH
            yield batch_of(done[:_REQUESTS_A_BATCH])
            del done[:_REQUESTS_A_BATCH]
    reader.close()
    done += reader.ledger.released(everything=True)
    if not total and not done:
        if client is not None and reader.heard:
            heard = ", ".join(sorted(map(reader.ledger.name, reader.heard)))
            raise TraceError(path, "", f"--client must be one of those heard ({heard})", client)
        raise TraceError(path, "", "a capture must hold an exchange over TCP or UDP", report.counted() or "no packets")
    for begin in range(0, len(done), _REQUESTS_A_BATCH):
        yield batch_of(done[begin : begin + _REQUESTS_A_BATCH])


class _Reader:
    """The flows that are open, by the keys of both directions."""

    def __init__(self, report: Report, client: bytes | None) -> None:
        self.ledger = Ledger(report)
        self._report = report
        self._client = client
        self._flows: dict[bytes, tuple[Flow, bool]] = {}
        self._stations: dict[bytes, Runs] = {}
        self._first_us = self._latest_us = -1
        self._copies = Copies()
        self.heard: set[bytes] = set()  #: some addresses, for who asks for one that is not there

    def take(self, moment_us: int, link: int, frame: bytes, size: int) -> None:
        """Take a frame, of which `size` bytes were sent."""
        if self._latest_us >= 0:
            step_us = moment_us - self._latest_us
            if step_us > JUMP_US or step_us < -JUMP_BACK_US:
                self.close()
                self.ledger.begin_session()
                self._report.count("clock_jumps")
                self._first_us = self._latest_us = moment_us
            elif step_us < 0:
                moment_us = self._latest_us  # packets that overtook each other on their way into the file
        else:
            self._first_us = moment_us
        self._latest_us = moment_us
        segment = decode(link, frame) if link not in WIRELESS else self._on_air(link, frame, moment_us, size)
        if segment is None:
            return
        if type(segment) is Background:
            self._report.count(f"{segment.reason}_packets" if "background" in segment.reason else segment.reason)
            self.ledger.captured(segment.size)
            self.ledger.leave_out(segment.reason, segment.size)
            if segment.target:
                self.ledger.neighbours(moment_us, segment.source, segment.target, to_many="multi" in segment.reason)
            return
        assert type(segment) is Segment
        entry = self._flows.get(segment.key)
        if entry is None or (segment.flags >= 0 and segment.flags & (SYN | ACK) == SYN and not _again(entry, segment)):
            entry = self._open(segment, frame, entry)  # with a SYN the ports are used again
        entry[0].take(entry[1], segment, frame, moment_us)

    def _on_air(self, link: int, captured: bytes, now_us: int, sent: int) -> Segment | Background | None:
        """Return what a frame of 802.11 holds; take an encrypted one as payload of its station, by its size."""
        frame = parse(link, captured, sent)
        if frame is None or not frame.is_data:
            wrong = frame is None and has_wrong_checksum(link, captured, sent)
            return Background("frames_with_a_wrong_check_sequence" if wrong else "frames_of_802.11_without_data")
        if self._copies.hear(frame):
            return Background("frames_of_802.11_heard_before")
        kind, at = data_body(frame, captured)
        if kind in (IPV4, IPV6):
            try:
                found = decode_ip(captured, at)
            except (IndexError, struct.error):
                return Background("packets_cut_in_their_headers")
            many = isinstance(found, Segment) and frame.receiver[0] & 1
            return Background("background_multicast", found.size) if many else found
        size = payload_bytes(frame)
        if not frame.protected or frame.receiver[0] & 1 or frame.up is frame.down or not size:
            return Background("frames_of_802.11_without_data")
        self.ledger.captured(size)
        station = frame.transmitter if frame.up else frame.receiver
        if len(self.heard) < _MOST_HEARD:
            self.heard.add(station)
        if self._client not in (None, station):
            self.ledger.leave_out("other_clients", size)
            return None
        if station not in self._stations:
            if len(self._stations) >= _MOST_FLOWS:
                self._stations.pop(next(iter(self._stations))).close()
            entries = Entries(self.ledger, self.ledger.group("802.11", 0), at_home=False)
            self._stations[station] = Runs(self.ledger.name(station), frame.bssid.hex(":"), entries)
        if frame.up:
            self._stations[station].up(now_us, size, b"", 0)
        else:
            self._stations[station].down(now_us, size)
        return None

    def close(self) -> None:
        """End all flows."""
        for runs in self._stations.values():
            runs.close()
        self._stations.clear()
        for flow in {id(flow): flow for flow, _ in self._flows.values()}.values():
            flow.close()
        self._flows.clear()
        self.ledger.end_session(self._first_us, self._latest_us)

    def _open(self, segment: Segment, frame: bytes, old: tuple[Flow, bool] | None) -> tuple[Flow, bool]:
        key, back = segment.key, reversed_key(segment.key)
        if old is not None:
            old[0].close()
        elif len(self._flows) >= 2 * _MOST_FLOWS:
            oldest = next(iter(self._flows))
            self._flows[oldest][0].close()
            for name in (oldest, reversed_key(oldest)):
                self._flows.pop(name, None)
        flow = self._flow(segment, frame)
        self._flows[back] = (flow, False)
        entry = self._flows[key] = (flow, True)
        return entry

    def _flow(self, segment: Segment, frame: bytes) -> Flow:
        key = segment.key
        here, from_port, there, to_port = ends(key)
        if len(self.heard) < _MOST_HEARD:
            self.heard |= {here, there}
        tcp = segment.flags >= 0
        forward: bool | None = None
        if tcp:
            self._report.count("connections")
        elif reason := is_background(key):
            return LeftOut(self.ledger, reason)
        if self._client is not None:
            forward = here == self._client
            if not forward and there != self._client:
                return _Other(self.ledger)
        elif tcp and segment.flags & SYN:
            forward = not segment.flags & ACK
        elif tcp:
            forward = from_port >= to_port
        else:
            forward = to_port not in DHCP_CLIENT_PORTS
        ports = {from_port, to_port}
        lookup, dhcp = not tcp and _NAME_SERVICE in ports, not tcp and bool(DHCP_CLIENT_PORTS & ports)
        group = self.ledger.group("tcp" if tcp else "udp", to_port if forward else from_port)
        entries = Entries(self.ledger, group, at_home=is_local(here, there), spared=lookup or dhcp)
        if tcp:
            return TcpFlow(key, forward, entries)
        return UdpFlow(key, forward, entries, frame, segment.payload_at, is_open_loop=dhcp)


def _again(entry: tuple[Flow, bool], segment: Segment) -> bool:
    """Tell whether a SYN is that of the flow itself, sent once more."""
    flow, forward = entry
    return isinstance(flow, TcpFlow) and forward and flow.began_with == segment.sequence


class _Other:
    """A flow of a device that was not asked for."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._counted = (Counted(), Counted())

    def take(self, forward: bool, segment: Segment, frame: bytes, now_us: int) -> None:
        """Take a packet."""
        new = segment.size
        if new and segment.flags >= 0:
            new = self._counted[forward].take(segment.sequence, new)
        self._ledger.captured(new)
        self._ledger.leave_out("other_clients", new)

    def close(self) -> None:
        """End the flow."""


def _address(client: str | None, path: str | PathLike[str]) -> bytes | None:
    if client is None:
        return None
    digits = client.replace(":", "").replace("-", "")
    if len(client) == 17 and len(digits) == 12 and not digits.strip("0123456789abcdefABCDEF"):
        return bytes.fromhex(digits)
    try:
        return ip_address(client).packed
    except ValueError:
        raise TraceError(path, "", "--client must be an IP address, or a MAC address in 802.11", client) from None


FORMATS = (
    Format(
        name="pcap",
        written="*.pcap, *.pcapng, *.cap",
        meaning="pcap or pcapng capture",
        source="tcpdump, Wireshark and others",
        example="lpsm pages capture.pcapng --client 192.168.1.7 --out pages.jsonl",
        recognises=is_capture,
        batches=batches,
        options=("client",),
    ),
)
