"""A run on the shared air as a sniffer beside the access point would have written it down: a pcapng file.

Every frame that was on the air is here, at the instant at which it began and at the rate at which it was sent: beacons
with their TIM and their DTIM count, data with the power-management, More Data and retry bits, PS-Polls, null frames,
RTS, CTS, ACKs, group frames, and what the neighbours sent.  Frames that collided or were lost carry radiotap's flag
for a wrong checksum, so that readers pass over them.  Frames sent together are single frames with radiotap's field of
A-MPDUs, each at its own instant; one block ACK with the map of those received answers them.  Inside data frames of the
client are IPv4 and TCP with the sequence numbers of the model, and HTTP/1.1 messages of the sizes of the pages, so that
other tools see the same requests; group frames and those of neighbours hold nothing but their sizes.

Left out: association.  A client that never says that it dozes is awake from the start.

Source of the layouts: IEEE 802.11-2020, section 9 (frames), 9.4.2.5 (TIM); radiotap.org; RFC 791 and 9293; the
pcapng draft (draft-ietf-opsawg-pcapng), with time stamps in nanoseconds since the start of the run.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from operator import itemgetter

from experiments.timeline import Run
from netsim.model.air.aggregation import BLOCK_ACK_FRAMES
from netsim.model.codes import DATAGRAM, UAPSD
from netsim.running.fill import NEIGHBOUR_BYTES
from netsim.running.recorder import AirFrame, AirRecorder, Exchange, Transmission

__all__ = ["ACCESS_POINT", "CLIENT", "capture"]

ACCESS_POINT, CLIENT, GATEWAY = (bytes((2, 0, 0, 0, 0, last)) for last in (1, 2, 3))  # locally administered addresses
CLIENT_IP, SERVER_IP = bytes((192, 168, 1, 2)), bytes((203, 0, 113, 1))  # RFC 1918 and RFC 5737
_EVERYBODY = b"\xff" * 6
_ADDRESSES = {"access point": ACCESS_POINT, "client 0": CLIENT, "everybody": _EVERYBODY}
_BAD_CHECKSUM = 0x40
_AMPDU_STATUS, _LAST_IS_KNOWN, _IS_LAST = 1 << 20, 0x04, 0x08
_CHANNEL_6, _CHANNEL_36 = (2437, 0x0480), (5180, 0x0140)  # MHz, and radiotap's flags: CCK or OFDM, OFDM at 5 GHz
_LINKTYPE_RADIOTAP = 127
_TU_NS = 1_024_000
_FIRST_PORT, _PORTS = 49152, 16384
_WINDOW = 65535
_TCP, _UDP = 6, 17
_TCP_FLAGS = {0: 0x10, 1: 0x02, 2: 0x12}  # ACK, SYN, SYN and ACK
_COMPRESSED = 2 << 1  # the kind of block ACK, in its control field
_QOS = 0x80  # added to the kind of a data or null frame
_AID = 0xC001  # association identifier 1 as a PS-Poll carries it
_SNAP = bytes((0xAA, 0xAA, 3, 0, 0, 0))
_IPV4, _SIZES_ALONE = b"\x08\0", b"\x88\xb5"  # the second is IEEE's first number for local experiments
_FCS_BYTES, _HEADER_BYTES, _PADDING_ELEMENT = 4, 24, 221


_KINDS = {
    "beacon": 0x80, "data": 0x08, "group": 0x08, "null": 0x48, "block-ack": 0x94, "poll": 0xA4, "rts": 0xB4,
    "cts": 0xC4, "ack": 0xD4,
}  # fmt: skip
"""First octet of the frame control: type and subtype."""
_TO_DS, _FROM_DS, _RETRY, _PM, _MORE_DATA = 0x01, 0x02, 0x08, 0x10, 0x20  # of the second octet


def capture(run: Run, start_s: float = 0.0, length_s: float = float("inf")) -> bytes:
    """Return the capture of a recorded run on the shared air, or of a window of it.

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
    if not isinstance(run.recorder, AirRecorder):
        raise ValueError("run must be one on the shared air, wires have no frames of 802.11")
    first_ns, end_ns = round(start_s * 1e9), round(min(start_s + length_s, run.result.elapsed_s) * 1e9)
    sniffer = _Sniffer(run.recorder)
    blocks = [_SECTION, _INTERFACE]
    for frame in sorted(run.recorder.frames, key=lambda frame: frame.start_ns):
        data = sniffer.heard(frame)
        if first_ns <= frame.start_ns <= end_ns:
            at, size = frame.start_ns, len(data)
            blocks.append(_block(6, struct.pack("<IIIII", 0, at >> 32, at & 0xFFFFFFFF, size, size) + data))
    return b"".join(blocks)


class _Sniffer:
    """Writes frames down as they come: it knows the numbers of those before, and what was received of them."""

    def __init__(self, recorder: AirRecorder) -> None:
        self.recorder, self.air = recorder, recorder.air
        self.streams = _Streams(recorder.exchanges)
        self.channel = _CHANNEL_36 if self.air.phy.kind == "11a" else _CHANNEL_6
        self._numbers: dict[int, int] = {}  # of data frames that may go together, by identity
        self._members: defaultdict[int, list[AirFrame]] = defaultdict(list)  # of A-MPDUs
        self._received: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        self._sent: Counter[str] = Counter()  # frames of a sender that are numbered as they come
        self._last: dict[tuple[str, str], tuple[int, bytes]] = {}  # number and body
        self._followed: set[int] = set()  # beacons after which group frames come before the next beacon
        counts: Counter[tuple[str, str]] = Counter()
        beacon = -1
        for frame in recorder.frames:
            ends = frame.sender, frame.receiver
            if frame.identity >= 0 and frame.identity not in self._numbers:
                self._numbers[frame.identity] = counts[ends]
                counts[ends] += 1
            if frame.aggregate >= 0 and frame.kind == "data":
                self._members[frame.aggregate].append(frame)
            if frame.kind == "beacon":
                beacon = frame.number
            elif frame.kind == "group":
                self._followed.add(beacon)

    def heard(self, frame: AirFrame) -> bytes:
        """Return a frame with its radiotap header."""
        phy, sender, receiver = self.air.phy, _address(frame.sender), _address(frame.receiver)
        kind = _KINDS[frame.kind]
        addresses, body, flags, duration, together = receiver + sender, b"", 0, 0, None
        rate_mbps = phy.lowest_mbps if frame.kind in ("beacon", "group", "rts", "cts") else phy.control_mbps
        if frame.kind == "beacon":
            body = self._beacon(frame)
            addresses += sender + self._number(frame, body)
        elif frame.kind in ("data", "null", "group"):
            flags = _FROM_DS if frame.sender == "access point" else _TO_DS
            flags |= _PM * frame.sleeps | _MORE_DATA * frame.more_data | _RETRY * frame.retry
            ours = "client 0" in (frame.sender, frame.receiver) and frame.kind != "group"
            if frame.identity >= 0 or (ours and self.recorder.run.clients[0].retrieval == UAPSD):
                kind, body = kind | _QOS, bytes(2)
            if frame.kind == "data":
                rate_mbps, body = phy.rate_mbps, body + self._datagram(frame)
            elif frame.kind == "group":
                body += _SNAP + _SIZES_ALONE + bytes(self.air.beacons.broadcast_bytes)
            third = ACCESS_POINT if frame.kind == "null" else GATEWAY
            addresses += third + self._number(frame, body)
            if frame.aggregate >= 0:
                together = frame.aggregate, frame is self._members[frame.aggregate][-1]
        elif frame.kind == "block-ack":
            first = self._numbers[self._members[frame.aggregate][0].identity]
            received = self._received[frame.receiver, frame.sender]
            bits = sum(1 << place for place in range(BLOCK_ACK_FRAMES) if first + place in received)
            body = struct.pack("<HHQ", _COMPRESSED, first % 4096 << 4, bits)
        elif frame.kind == "poll":
            flags, duration = _PM, _AID
        elif frame.kind in ("cts", "ack"):
            addresses = receiver
        broken = not frame.received and frame.kind not in ("beacon", "block-ack")
        header = struct.pack("<BBH", kind, flags, duration) + addresses
        return self._radiotap(frame.start_ns, broken, rate_mbps, together) + header + body

    def _number(self, frame: AirFrame, body: bytes) -> bytes:
        """Return the sequence control: a number of its own, that of the last one if it is sent again, or the next."""
        ends = frame.sender, frame.receiver
        number, last = self._last.get(ends, (-1, b""))
        if frame.identity >= 0:
            number = self._numbers[frame.identity]
            if frame.received:
                self._received[ends].add(number)
        elif number < 0 or not frame.retry or last != body:
            number = self._sent[frame.sender]
            self._sent[frame.sender] += 1
        self._last[ends] = number, body
        return struct.pack("<H", number % 4096 << 4)

    def _beacon(self, frame: AirFrame) -> bytes:
        """Return what a beacon says: its time, its interval, its network, rates of 802.11b, the TIM, and padding."""
        beacons, period = self.air.beacons, self.air.beacons.dtim_period
        until = -frame.number % period
        listened = not all(client.never_sleeps for client in self.recorder.run.clients)
        groups = frame.number in self._followed and not until and listened
        body = struct.pack("<QHH", frame.start_ns // 1000, round(self.recorder.run.interval / _TU_NS), 0x0001)
        body += bytes((0, 4)) + b"lpsm" + bytes((1, 4, 0x82, 0x84, 0x8B, 0x96))
        body += bytes((5, 4, until, period, int(groups), 0b10 * frame.announces))
        room = beacons.size_bytes - _FCS_BYTES - _HEADER_BYTES - len(body)
        while room >= 2:  # elements of other kinds, of which the model knows the size
            size = min(255, room - 2 - (room - 2 == 256))
            body += bytes((_PADDING_ELEMENT, size)) + bytes(size)
            room -= 2 + size
        return body

    def _datagram(self, frame: AirFrame) -> bytes:
        """Return what a data frame carries; of a neighbour nothing but as many bytes as all of its frames have."""
        if frame.number >= 0:
            return _SNAP + _IPV4 + self.streams.datagram(self.recorder.transmissions[frame.number])
        return _SNAP + _SIZES_ALONE + bytes(NEIGHBOUR_BYTES)

    def _radiotap(self, at_ns: int, broken: bool, rate_mbps: float, together: tuple[int, bool] | None) -> bytes:
        """Return a radiotap header: time, flags (a wrong check sequence), rate in 500 kb/s, channel, A-MPDU."""
        rate, present = max(1, min(255, round(2 * rate_mbps))), 0x0F
        fields = struct.pack("<QBBHH", at_ns // 1000, _BAD_CHECKSUM * broken, rate, *self.channel)
        if together is not None:
            fields += struct.pack("<xxIHxx", together[0], _LAST_IS_KNOWN | _IS_LAST * together[1])
            present |= _AMPDU_STATUS
        return struct.pack("<BBHI", 0, 0, 8 + len(fields), present) + fields


def _address(station: str) -> bytes:
    """Return the address of a station by its name in the record."""
    own = _ADDRESSES.get(station)
    return own if own is not None else bytes((2, 0, 0, 1)) + int(station.rpartition(" ")[2]).to_bytes(2, "big")


class _Streams:
    """What the connections carry: HTTP messages of the sizes of the exchanges, made where a frame has a piece of them.

    Bytes that belong to no complete exchange, such as pushed messages, are zeros.
    """

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._heads: defaultdict[tuple[int, bool], list[tuple[int, bytes]]] = defaultdict(list)
        ends: Counter[tuple[int, bool]] = Counter()
        for one in exchanges:
            name = f"/{one.page}/{'' if one.object_index < 0 else one.object_index}"
            for down, size, head in (
                (False, one.request_bytes, _request(name, one.request_bytes)),
                (True, one.reply_bytes, _reply(one.reply_bytes)),
            ):
                self._heads[one.connection, down].append((ends[one.connection, down], head))
                ends[one.connection, down] += size

    def datagram(self, frame: Transmission) -> bytes:
        """Return a packet of IPv4 and TCP, or of a datagram IPv4, with options up to the model's size, and UDP."""
        port = _FIRST_PORT + frame.connection % _PORTS
        ports = (80, port) if frame.down else (port, 80)
        ends = SERVER_IP + CLIENT_IP if frame.down else CLIENT_IP + SERVER_IP
        is_datagram = frame.flag == DATAGRAM
        least = frame.length + (28 if is_datagram else 40)
        options = bytes((1,)) * min(40, max(0, (frame.size_bytes - least) // 4 * 4))  # no-operations
        if is_datagram:
            segment = struct.pack(">HHHH", *ports, 8 + frame.length, 0) + bytes(frame.length)
            return _ipv4(_UDP, ends + options, segment)
        numbers = (frame.seq + (frame.flag == 0)) % 2**32, 0 if frame.flag == 1 else (frame.ack + 1) % 2**32
        offset = (20 + len(options)) // 4 << 4
        segment = struct.pack(">HHIIBBHHH", *ports, *numbers, offset, _TCP_FLAGS[frame.flag], _WINDOW, 0, 0) + options
        segment += self._payload(frame.connection, frame.down, frame.seq, frame.length)
        return _ipv4(_TCP, ends, _summed(segment, 16, ends + struct.pack(">HH", _TCP, len(segment))))

    def _payload(self, connection: int, down: bool, seq: int, length: int) -> bytes:
        found = bytearray(length)
        heads = self._heads[connection, down] if length else []
        for first, head in heads[max(0, bisect_right(heads, seq, key=itemgetter(0)) - 1) :]:
            if first >= seq + length:
                break
            low, high = max(first, seq), min(first + len(head), seq + length)
            if low < high:
                found[low - seq : high - seq] = head[low - first : high - first]
        return bytes(found)


def _ipv4(protocol: int, ends: bytes, segment: bytes) -> bytes:
    """Return a packet; behind the addresses of both ends there may be options."""
    words = 3 + len(ends) // 4
    header = struct.pack(">BBHHHBBH", 0x40 + words, 0, 4 * words + len(segment), 0, 0, 64, protocol, 0) + ends
    return _summed(header, 10) + segment


def _request(name: str, size: int) -> bytes:
    """Return a request of `size` bytes, or a meaningless one where that is too few for any."""
    start, end = f"GET {name} HTTP/1.1\r\nHost: server\r\nX-Padding: ".encode(), b"\r\n\r\n"
    room = size - len(start) - len(end)
    return start + b"x" * room + end if room >= 0 else b"x" * size


def _reply(size: int) -> bytes:
    """Return the head of a reply of `size` bytes in all, whose body is zeros; too small a reply has none."""
    for length in (b"%d", b" %d"):  # where another digit would be needed, a space takes its place
        for digits in range(1, 16):
            head = b"HTTP/1.1 200 OK\r\nContent-Length: " + length + b"\r\n\r\n"
            body = size - (len(head) - 2 + digits)
            if body >= 0 and len(str(body)) == digits:
                return head % body
    return b"x" * size


def _summed(data: bytes, at: int, pseudo: bytes = b"") -> bytes:
    """Return the data with their checksum, which counts a header that is not sent, in the two octets at a place."""
    words = pseudo + data + bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(words) // 2}H", words))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return data[:at] + struct.pack(">H", ~total & 0xFFFF) + data[at + 2 :]


def _block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


_SECTION = _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
_INTERFACE = _block(1, struct.pack("<HHI", _LINKTYPE_RADIOTAP, 0, 0) + struct.pack("<HHBxxxHH", 9, 1, 9, 0, 0))
