"""Captures: pcap and pcapng files, from packets to exchanges, uploads and messages, whatever they carry.

`packets` reads the files; headers are taken from their places (`frames`), flows are told
apart (`flows`) and entered into a ledger: every byte of payload, and every packet, is in exactly one place (`ledger`).
Nothing is decrypted.  Encrypted frames of 802.11 (`wireless`) are the runs of their station, by their sizes.

Left out and counted: the payload of background (ARP, mDNS, SSDP, whatever is sent to many) and of fragments of IP after
the first, flows between two local addresses that have no traffic elsewhere.  What the end of the capture cuts counts
with what came.  Memory is bounded by the number of flows and exchanges that are open at a time.
"""

import re
import struct
from collections.abc import Iterator
from ipaddress import ip_address

from traces.captures import flows
from traces.captures import frames as of
from traces.captures.byte_accounting import MOST_WAITING, Ledger
from traces.captures.packets import frames
from traces.captures.runs import Run, runs
from traces.captures.streams import ACK, SYN
from traces.captures.wireless import Copies, data_body, heard, payload_bytes
from traces.errors import TraceError
from traces.files import Source
from traces.records import Request

JUMP_US, JUMP_BACK_US = 3_600_000_000, 1_000_000
"""A clock that goes on by more than an hour, or back by more than a second, has jumped."""

_MOST_FLOWS = 1 << 14
_NAME_SERVICE, _QUIC = 53, 443
Open = tuple[flows.Flow, bool, int]
"""A flow, whether packets of this key go the way of its first one, and the number of the SYN that opened it or -1."""


def requests(source: Source) -> Iterator[Request]:
    """Read the exchanges and messages of a capture, in the order in which they begin.

    The client of a source is the one device whose flows are wanted, the client of them all: its addresses, separated by
    commas, or its MAC address, which in Ethernet stands for all addresses that it is seen with.
    """
    report = source.report
    reader = _Reader(source)
    ledger = reader.ledger
    found = False
    for packet in frames(source.stream, source.path, report, source.skip_damaged):
        reader.take(*packet)
        if len(ledger.waiting) >= MOST_WAITING:
            ledger.release(len(ledger.waiting) // 2)
        if ledger.ready:
            found = True
            yield from ledger.ready
            ledger.ready.clear()
    reader.close()
    if not found and not ledger.ready:
        whose = "" if source.client is None else f" of {source.client}"
        rule = f"a capture must hold an exchange{whose} over TCP or UDP"
        raise TraceError(source.path, "", rule, report.counted() or "no packets")
    yield from ledger.ready


class _Reader:
    """The flows that are open, by the keys of both directions."""

    def __init__(self, source: Source) -> None:
        self.ledger = Ledger(source.report, _addresses(source))
        self._flows: dict[bytes, Open] = {}
        self._stations: dict[bytes, Run] = {}
        self._first_us = self._latest_us = -1
        self._copies = Copies()

    def take(self, moment_us: int, link: int, frame: bytes, size: int) -> None:
        """Take a frame, of which `size` bytes were sent."""
        step_us = moment_us - self._latest_us
        if self._latest_us < 0:
            self._first_us = moment_us
        elif not -JUMP_BACK_US <= step_us <= JUMP_US:
            self.close()
            self.ledger.count("clock_jumps")
            self._first_us = moment_us
        elif step_us < 0:
            moment_us = self._latest_us  # packets that overtook each other on their way into the file
        self._latest_us = moment_us
        self.ledger.packets.captured += 1
        try:
            segment = of.decode(link, frame) if link not in of.WIRELESS else self._on_air(link, frame, moment_us, size)
        except (IndexError, struct.error):
            segment = of.Segment(b"", reason="packets_cut_in_their_headers")
        if segment is None:
            return
        device = self.ledger.device
        if len(device) == 6 and link == of.ETHERNET and segment.key:
            source, _, target, _ = of.ends(segment.key)
            own = (source, frame[6:12]), (target, frame[:6])
            self.ledger.devices.update(address for address, mac in own if mac == device and any(address))
        entry, is_tcp = self._flows.get(segment.key), segment.flags >= 0
        reason = segment.reason or ("" if entry or is_tcp else of.is_background(segment.key))
        if reason:
            self.ledger.leave_out(segment._replace(reason=reason), moment_us)
            return
        began = segment.sequence if is_tcp and segment.flags & (SYN | ACK) == SYN else -1
        if entry is None or (began >= 0 and entry[1:] != (True, began)):  # with a SYN the ports are used again
            entry = self._open(segment, entry, began)
        entry[0].send((entry[1], segment, frame, moment_us))

    def _on_air(self, link: int, captured: bytes, now_us: int, sent: int) -> of.Segment | None:
        """Return what a frame of 802.11 holds; take an encrypted one as payload of its station, by its size."""
        frame, is_wrong = heard(link, captured, sent)
        if frame is None or not frame.is_data:
            what = "with_a_wrong_check_sequence" if is_wrong else "of_802.11_without_data"
            return of.Segment(b"", reason=f"frames_{what}")
        if self._copies.hear(frame):
            return of.Segment(b"", reason="frames_of_802.11_heard_before")
        kind, at = data_body(frame, captured)
        is_group = frame.receiver[0] & 1
        if kind in (of.IPV4, of.IPV6):
            found = of.decode_ip(captured, at)
            return of.Segment(b"", size=found.size, reason=of.MULTICAST) if is_group and not found.reason else found
        size = payload_bytes(frame)
        if not frame.protected or is_group or frame.up is frame.down or not size:
            return of.Segment(b"", reason="frames_of_802.11_without_data")
        self.ledger.payload.captured += size
        station = frame.transmitter if frame.up else frame.receiver
        if self.ledger.device not in (b"", station):
            self.ledger.dropped("other_clients", size)
            return None
        if station not in self._stations:
            if len(self._stations) >= _MOST_FLOWS:
                self._stations.pop(next(iter(self._stations))).send(None)
            names = self.ledger.name(station), frame.bssid.hex(":")
            self._stations[station] = runs(*names, self.ledger.opened("802.11/0"))
        self._stations[station].send((frame.up, now_us, size, b""))
        return None

    def close(self) -> None:
        """End all flows, and the session."""
        for station in self._stations.values():
            station.send(None)
        for flow in dict.fromkeys(flow for flow, *_ in self._flows.values()):
            flow.send(None)
        self._stations.clear()
        self._flows.clear()
        self.ledger.end_session(self._first_us, self._latest_us)

    def _open(self, segment: of.Segment, old: Open | None, began: int) -> Open:
        """Open a flow in place of an old one, or of the oldest if there are too many."""
        key = segment.key
        if old is None and len(self._flows) >= 2 * _MOST_FLOWS:
            oldest = next(iter(self._flows))
            old = self._flows.pop(oldest)
            self._flows.pop(of.reversed_key(oldest), None)
        if old is not None:
            old[0].send(None)
        flow = self._flow(segment)
        self._flows[of.reversed_key(key)] = flow, False, began
        entry = self._flows[key] = flow, True, began
        return entry

    def _flow(self, segment: of.Segment) -> flows.Flow:
        key, ledger, flags = segment.key, self.ledger, segment.flags
        here, from_port, there, to_port = of.ends(key)
        is_tcp = flags >= 0
        ledger.count("connections", is_tcp)
        if ledger.device:
            forward = here in ledger.devices
            if not forward and there not in ledger.devices:
                return flows.of_others(ledger)
        elif is_tcp:
            forward = not flags & ACK if flags & SYN else from_port >= to_port
        else:
            forward = to_port not in of.DHCP_CLIENT_PORTS
        ports, at_home = {from_port, to_port}, of.is_local(here, there)
        server = f"{'tcp' if is_tcp else 'udp'}/{to_port if forward else from_port}"
        is_dhcp = not is_tcp and bool(of.DHCP_CLIENT_PORTS & ports)
        spared = is_dhcp or (not is_tcp and _NAME_SERVICE in ports)
        enter = ledger.opened(server, at_home=at_home, spared=spared)
        if is_tcp:
            return flows.tcp(key, forward, ledger, enter)
        return flows.udp(key, forward, ledger, enter, quic=_QUIC in ports, is_open=is_dhcp)


def _addresses(source: Source) -> list[bytes]:
    found = []
    for client in source.client.split(",") if source.client is not None else ():
        is_mac = re.fullmatch("[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}", client)
        try:
            found.append(bytes.fromhex(re.sub("[:-]", "", client)) if is_mac else ip_address(client).packed)
        except ValueError:
            rule = "--client must be an IP address, several of one device separated by commas, or a MAC address"
            raise TraceError(source.path, "", rule, client) from None
    return found
