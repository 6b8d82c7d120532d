"""The frames of a run on the shared air as a sniffer beside the access point would have written them down.

Every frame that was on the air is here, at the instant at which it began and at the rate at which it was sent: beacons
with their TIM and their DTIM count, data with the power-management, More Data and retry bits, PS-Polls, null frames,
RTS, CTS, ACKs, group frames, and what the neighbours sent.  Frames that collided or were lost carry radiotap's flag
for a wrong checksum, so that readers pass over them.  Frames sent together are single frames with radiotap's field of
A-MPDUs, each at its own instant; one block ACK with the map of those received answers them.  Inside data frames of the
client are IPv4, TCP and HTTP as in a capture of a run on wires; group frames and those of neighbours hold nothing but
their sizes.

Left out: association.  A client that never says that it dozes is awake from the start.

Source of the layouts: IEEE 802.11-2020, section 9 (frames), 9.4.2.5 (TIM); radiotap.org.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import dpkt

from experiments.report.capture import (
    ACCESS_POINT,
    CLIENT,
    GATEWAY,
    SERVER_IP,
    SNAP,
    Captured,
    Flag,
    Kind,
    Streams,
    beacon_body,
)
from netsim.model.air.aggregation import BLOCK_ACK_FRAMES
from netsim.model.codes import UAPSD
from netsim.running.fill import NEIGHBOUR_BYTES
from netsim.running.recorder import AirFrame, AirRecorder

__all__ = ["on_the_air"]

_EVERYBODY = b"\xff" * 6
_COMPRESSED = 2 << 1  # the kind of block ACK, in its control field
_QOS = 0x80  # added to the kind of a data or null frame
_AID = 0xC001  # association identifier 1 as a PS-Poll carries it
_SIZES_ALONE = b"\xaa\xaa\x03\0\0\0\x88\xb5"  # LLC of IEEE's first number for local experiments
_FCS_BYTES, _HEADER_BYTES, _PADDING_ELEMENT = 4, 24, 221


def on_the_air(recorder: AirRecorder) -> Iterator[Captured]:
    """Yield the frames of a recorded run, in the order of time."""
    frames = recorder.frames
    streams = Streams(recorder.exchanges)
    followed, together = _followed_by_groups(frames), _Together(frames)
    for frame in frames:
        if frame.kind == "beacon":
            yield _beacon(recorder, frame, frame.number in followed)
        elif frame.kind in ("data", "null", "group"):
            yield together.numbered(frame, _of_data(recorder, frame, streams))
        elif frame.kind == "block-ack":
            yield together.block_ack(recorder, frame)
        else:
            yield _of_control(recorder, frame)


class _Together:
    """The numbers of data frames that may go together, and what was sent with what."""

    def __init__(self, frames: list[AirFrame]) -> None:
        counts: dict[tuple[str, str], int] = {}
        self._numbers: dict[int, int] = {}
        self._members: dict[int, list[AirFrame]] = {}
        self._received: dict[tuple[str, str], set[int]] = {}
        for frame in frames:
            if frame.identity >= 0 and frame.identity not in self._numbers:
                ends = frame.sender, frame.receiver
                self._numbers[frame.identity] = counts.get(ends, 0)
                counts[ends] = self._numbers[frame.identity] + 1
            if frame.aggregate >= 0 and frame.kind == "data":
                self._members.setdefault(frame.aggregate, []).append(frame)

    def numbered(self, frame: AirFrame, captured: Captured) -> Captured:
        """Return a captured frame with its number and its place in an A-MPDU, if it has them."""
        if frame.identity < 0:
            return captured
        if frame.received:
            self._received.setdefault((frame.sender, frame.receiver), set()).add(self._numbers[frame.identity])
        place = (frame.aggregate, frame is self._members[frame.aggregate][-1]) if frame.aggregate >= 0 else None
        return captured._replace(sequence=self._numbers[frame.identity], aggregate=place)

    def block_ack(self, recorder: AirRecorder, frame: AirFrame) -> Captured:
        """Return a block ACK, whose map begins with the first frame of the A-MPDU."""
        first = self._numbers[self._members[frame.aggregate][0].identity]
        received = self._received[frame.receiver, frame.sender]
        bits = sum(1 << place for place in range(BLOCK_ACK_FRAMES) if first + place in received)
        body = struct.pack("<HHQ", _COMPRESSED, first % 4096 << 4, bits)
        addresses = (_address(frame.receiver), _address(frame.sender))
        return Captured(frame.start_ns, (Kind.BLOCK_ACK, 0), addresses, body, recorder.air.phy.control_mbps)


def _followed_by_groups(frames: list[AirFrame]) -> set[int]:
    """Return the numbers of the beacons after which group frames come before the next beacon."""
    found, latest = set(), -1
    for frame in frames:
        if frame.kind == "beacon":
            latest = frame.number
        elif frame.kind == "group":
            found.add(latest)
    return found


def _beacon(recorder: AirRecorder, frame: AirFrame, groups: bool) -> Captured:
    beacons, period = recorder.air.beacons, recorder.air.beacons.dtim_period
    until = -frame.number % period
    groups = groups and not until and not all(client.never_sleeps for client in recorder.run.clients)
    body = beacon_body(frame.start_ns, recorder.run.interval, (until, period), 0b10 * frame.announces, groups=groups)
    room = beacons.size_bytes - _FCS_BYTES - _HEADER_BYTES - len(body)
    while room >= 2:  # elements of other kinds, of which the model knows the size
        size = min(255, room - 2 - (room - 2 == 256))
        body += bytes((_PADDING_ELEMENT, size)) + bytes(size)
        room -= 2 + size
    addresses = (_EVERYBODY, ACCESS_POINT, ACCESS_POINT)
    return Captured(frame.start_ns, (Kind.BEACON, 0), addresses, body, recorder.air.phy.lowest_mbps)


def _of_data(recorder: AirRecorder, frame: AirFrame, streams: Streams) -> Captured:
    phy, down = recorder.air.phy, frame.sender == "access point"
    ends = (_address(frame.receiver), _address(frame.sender))
    ours = "client 0" in (frame.sender, frame.receiver) and frame.kind != "group"
    qos = frame.identity >= 0 or (ours and recorder.run.clients[0].retrieval == UAPSD)
    flags = Flag.FROM_DS if down else Flag.TO_DS
    flags |= Flag.PM * frame.sleeps | Flag.MORE_DATA * frame.more_data | Flag.RETRY * frame.retry
    body, third, rate_mbps = bytes(2 * qos), GATEWAY, phy.rate_mbps
    if frame.kind == "null":
        third, rate_mbps = ACCESS_POINT, phy.control_mbps
    elif frame.kind == "group":
        body += _SIZES_ALONE + bytes(recorder.air.beacons.broadcast_bytes)
        rate_mbps = phy.lowest_mbps
    elif frame.number >= 0:
        body += streams.datagram(recorder.transmissions[frame.number])
    else:
        body += SNAP + _neighbours_packet(frame.sender)
    kind = (Kind.NULL if frame.kind == "null" else Kind.DATA) | _QOS * qos
    return Captured(frame.start_ns, (kind, flags), (*ends, third), body, rate_mbps, broken=not frame.received)


def _of_control(recorder: AirRecorder, frame: AirFrame) -> Captured:
    phy = recorder.air.phy
    to, own = _address(frame.receiver), _address(frame.sender)
    kinds = {
        "poll": (Kind.POLL, (to, own)),
        "rts": (Kind.RTS, (to, own)),
        "cts": (Kind.CTS, (to,)),
        "ack": (Kind.ACK, (to,)),
    }
    kind, addresses = kinds[frame.kind]
    polls = frame.kind == "poll"
    rate_mbps = phy.lowest_mbps if frame.kind in ("rts", "cts") else phy.control_mbps
    control, duration = (kind, Flag.PM * polls), _AID * polls
    return Captured(frame.start_ns, control, addresses, b"", rate_mbps, duration, not frame.received)


def _address(station: str) -> bytes:
    """Return the address of a station by its name in the record."""
    known = {"access point": ACCESS_POINT, "client 0": CLIENT, "everybody": _EVERYBODY}
    return known[station] if station in known else struct.pack(">4sH", bytes((2, 0, 0, 1)), _place(station))


def _place(station: str) -> int:
    return int(station.rpartition(" ")[2])


def _neighbours_packet(station: str) -> bytes:
    """Return a packet for the discard port, of the size of all of a neighbour's."""
    place = _place(station)
    datagram = dpkt.udp.UDP(sport=9, dport=9, data=bytes(NEIGHBOUR_BYTES - 28))
    datagram.ulen = NEIGHBOUR_BYTES - 20
    packet = dpkt.ip.IP(src=bytes((10, 0, place >> 8, place & 255)), dst=SERVER_IP, p=17, ttl=64, id=0, data=datagram)
    packet.len = NEIGHBOUR_BYTES
    return bytes(packet)
