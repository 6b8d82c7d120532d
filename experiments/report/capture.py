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

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from struct import pack, unpack

from experiments.timeline import Run
from netsim.model.codes import DATAGRAM, UAPSD
from netsim.running.recorder import AirFrame, AirRecorder, Exchange, Transmission
from netsim.running.setup import NEIGHBOUR_BYTES

_ACCESS_POINT, CLIENT, _GATEWAY = (bytes((2, 0, 0, 0, 0, last)) for last in (1, 2, 3))  # locally administered addresses
_CLIENT_IP, _SERVER_IP = bytes((192, 168, 1, 2)), bytes((203, 0, 113, 1))  # RFC 1918 and RFC 5737
_ADDRESSES = {"access point": _ACCESS_POINT, "client 0": CLIENT, "everybody": b"\xff" * 6}
_KINDS = {
    "beacon": 0x80, "data": 0x08, "group": 0x08, "null": 0x48, "request": 0x84, "block-ack": 0x94, "poll": 0xA4,
    "rts": 0xB4, "cts": 0xC4, "ack": 0xD4,
}  # fmt: skip
"""First octet of the frame control: type and subtype, to which a data or null frame of quality of service adds."""
_QOS = 0x80
_TO_DS, _FROM_DS, _RETRY, _PM, _MORE_DATA = 0x01, 0x02, 0x08, 0x10, 0x20  # of the second octet
_AID = 0xC001  # association identifier 1 as a PS-Poll carries it
_CHANNEL_6, _CHANNEL_36 = (2437, 0x0480), (5180, 0x0140)  # MHz, and radiotap's flags: CCK or OFDM, OFDM at 5 GHz
_BAD_CHECKSUM, _AMPDU_STATUS, _LAST_IS_KNOWN, _IS_LAST = 0x40, 1 << 20, 0x04, 0x08  # of radiotap
_SNAP = bytes((0xAA, 0xAA, 3, 0, 0, 0))
_IPV4, _SIZES_ALONE = _SNAP + b"\x08\0", _SNAP + b"\x88\xb5"  # the second is for local experiments
_TCP, _UDP = 6, 17
_TCP_FLAGS = {0: 0x10, 1: 0x02, 2: 0x12}  # ACK, SYN, SYN and ACK


def capture(run: Run, start_s: float = 0.0, length_s: float = float("inf")) -> bytes:
    """Return the capture of a recorded run, or of a window of its seconds; a run on wires raises a ValueError."""
    if not isinstance(run.recorder, AirRecorder):
        raise ValueError("run must be one on the shared air, wires have no frames of 802.11")
    first_ns, end_ns = round(start_s * 1e9), round(min(start_s + length_s, run.result.elapsed_s) * 1e9)
    blocks = [  # the section, and an interface of radiotap with nanoseconds
        _block(0x0A0D0D0A, pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
        _block(1, pack("<HHIHHBxxxHH", 127, 0, 0, 9, 1, 9, 0, 0)),
    ]
    for at, data in (*_twt_setup(run), *_frames(run.recorder)):
        if first_ns <= at <= end_ns:
            blocks.append(_block(6, pack("<IIIII", 0, at >> 32, at & 0xFFFFFFFF, len(data), len(data)) + data))
    return b"".join(blocks)


def _twt_setup(run: Run) -> Iterator[tuple[int, bytes]]:
    """Yield the frame with which the access point grants service periods, if the policy is one of target wake time."""
    name, _, rest = run.result.policy.partition(":")
    if name != "twt":
        return
    every_us, length_us = (round(float(part) * 1000) for part in rest.split(":"))
    exponent = max(0, every_us.bit_length() - 16)
    request = 4 << 1 | exponent << 10  # accepted
    element = pack("<BBBHQBHB", 216, 15, 0, request, 0, min(255, round(length_us / 256)), every_us >> exponent, 0)
    header = pack("<BBH6s6s6sH", 0xD0, 0, 0, CLIENT, _ACCESS_POINT, _ACCESS_POINT, 0)
    yield 0, pack("<BBHI", 0, 0, 8, 0) + header + b"\x16\x06\0" + element


def _block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = len(body) + 12
    return pack("<II", kind, size) + body + pack("<I", size)


def _frames(recorder: AirRecorder) -> Iterator[tuple[int, bytes]]:
    """Yield when each frame began, and the frame behind its radiotap header."""
    phy, streams = recorder.air.phy, _streams(recorder.exchanges)
    channel = _CHANNEL_36 if phy.kind == "11a" else _CHANNEL_6
    triggered = recorder.run.clients[0].retrieval == UAPSD
    frames = sorted(recorder.frames, key=lambda frame: frame.start_ns)
    last_member = {frame.aggregate: frame for frame in frames if frame.kind == "data"}
    followed, beacon = set(), -1  # beacons after which group frames come before the next beacon
    for frame in frames:
        beacon = frame.number if frame.kind == "beacon" else beacon
        followed |= {beacon} if frame.kind == "group" else set()
    counts: Counter[object] = Counter()  # frames of a sender, or to a receiver, that have a number
    numbers: dict[int, int] = {}  # of data frames that may go together, by identity
    first: dict[int, int] = {}  # number of the first frame of an A-MPDU
    last: dict[tuple[str, str], int] = {}  # number of the last frame
    was: dict[tuple[str, str], bytes] = {}  # and its body
    received: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for frame in frames:
        ends = frame.sender, frame.receiver
        kind, flags, duration, body = _KINDS[frame.kind], 0, 0, b""
        rate_mbps = phy.control_mbps
        addresses = _address(frame.receiver) + _address(frame.sender) * (frame.kind not in ("cts", "ack"))
        if frame.kind in ("beacon", "group", "rts", "cts"):
            named_mbps = recorder.air.beacons.beacon_mbps if frame.kind in ("beacon", "group") else 0.0
            rate_mbps = named_mbps or phy.lowest_mbps
        if frame.kind == "beacon":
            body = _beacon(recorder, frame, frame.number in followed)
        elif frame.kind in ("data", "null", "group"):
            flags = _FROM_DS if frame.sender == "access point" else _TO_DS
            flags |= _PM * frame.sleeps | _MORE_DATA * frame.more_data | _RETRY * frame.retry
            if frame.identity >= 0 or (triggered and "client 0" in ends):
                kind, body = kind | _QOS, bytes(2)
            if frame.kind == "group":
                body += _SIZES_ALONE + bytes(recorder.air.beacons.broadcast_bytes)
            elif frame.kind == "data":
                rate_mbps = phy.rate_mbps
                ours = frame.number >= 0  # of a neighbour there is nothing but as many bytes as all of its frames have
                body += (
                    _IPV4 + _packet(recorder.transmissions[frame.number], streams)
                    if ours else _SIZES_ALONE + bytes(NEIGHBOUR_BYTES)
                )  # fmt: skip
        elif frame.kind == "block-ack":
            start, had = first[frame.aggregate], received[ends[::-1]]
            told = phy.block_ack_frames
            bits = sum(1 << place for place in range(told) if start + place in had)
            body = pack("<HH", 2 << 1, start % 4096 << 4 | 4 * (told == 256))  # a compressed one; 4: of 256 bits
            body += bits.to_bytes(told // 8, "little")
        elif frame.kind == "request":
            body = pack("<HH", 2 << 1, first[frame.aggregate] % 4096 << 4)
        elif frame.kind == "poll":
            flags, duration = _PM, _AID
        if frame.kind in ("beacon", "data", "null", "group"):
            if frame.identity >= 0:
                if frame.identity not in numbers:
                    numbers[frame.identity] = counts[ends]
                    counts[ends] += 1
                last[ends] = numbers[frame.identity]
                first.setdefault(frame.aggregate, last[ends])
                received[ends] |= {last[ends]} if frame.received else set()
            elif not frame.retry or was.get(ends) != body:
                last[ends] = counts[frame.sender]
                counts[frame.sender] += 1
            was[ends] = body
            third = _GATEWAY if frame.kind in ("data", "group") else _ACCESS_POINT
            addresses += third + pack("<H", last[ends] % 4096 << 4)
        broken = not frame.received and frame.kind not in ("beacon", "block-ack")
        rate, present = max(1, min(255, round(2 * rate_mbps))), 0x0F  # time, flags, rate in 500 kb/s, channel
        fields = pack("<QBBHH", frame.start_ns // 1000, _BAD_CHECKSUM * broken, rate, *channel)
        if frame.kind == "data" and frame.aggregate >= 0:
            present |= _AMPDU_STATUS
            is_last = frame is last_member[frame.aggregate]
            fields += pack("<xxIHxx", frame.aggregate, _LAST_IS_KNOWN | _IS_LAST * is_last)
        radiotap = pack("<BBHI", 0, 0, 8 + len(fields), present) + fields
        yield frame.start_ns, radiotap + pack("<BBH", kind, flags, duration) + addresses + body


def _address(station: str) -> bytes:
    """Return the address of a station by its name in the record."""
    return _ADDRESSES.get(station) or bytes((2, 0, 0, 1)) + int(station.rpartition(" ")[2]).to_bytes(2, "big")


def _beacon(recorder: AirRecorder, frame: AirFrame, followed: bool) -> bytes:
    """Return what a beacon says: its time, its interval, its network, rates of 802.11b, the TIM, and padding."""
    beacons, run = recorder.air.beacons, recorder.run
    until = -frame.number % beacons.dtim_period
    groups = followed and not until and not all(client.never_sleeps for client in run.clients)
    body = pack("<QHH", frame.start_ns // 1000, round(run.interval / 1_024_000), 0x0001)
    body += bytes((0, 4)) + b"lpsm" + bytes((1, 4, 0x82, 0x84, 0x8B, 0x96))
    body += bytes((5, 4, until, beacons.dtim_period, groups, 0b10 * frame.announces))
    for room in range(beacons.size_bytes - 28 - len(body), 1, -257):  # without the header and the check sequence
        size = min(room - 2, 255)  # of elements of other kinds, of which the model knows the size
        body += bytes((221, size)) + bytes(size)
    return body


def _streams(exchanges: Sequence[Exchange]) -> defaultdict[tuple[int, bool], bytearray]:
    """Return what connections carry in either direction: HTTP messages of the sizes of the exchanges."""
    found: defaultdict[tuple[int, bool], bytearray] = defaultdict(bytearray)
    for one in exchanges:
        request = f"GET /{one.page}/{'' if one.object_index < 0 else one.object_index} HTTP/1.1\r\nHost: server"
        found[one.connection, False] += _message(request, one.request_bytes)
        found[one.connection, True] += _message("HTTP/1.1 200 OK", one.reply_bytes)
    return found


def _message(start: str, size: int) -> bytes:
    """Return a message of so many bytes with a body of zeros, or a meaningless one where that is too few for any."""
    room = size - len(start) - 34
    head = f"{start}\r\nContent-Length: {room:012d}\r\n\r\n".encode()
    return head + bytes(room) if room >= 0 else b"x" * size


def _packet(frame: Transmission, streams: defaultdict[tuple[int, bool], bytearray]) -> bytes:
    """Return a packet of IPv4 and TCP, or of a datagram UDP, with options up to the model's size.

    Bytes that belong to no complete exchange, such as pushed messages, are zeros.
    """
    port = 49152 + frame.connection % 16384
    ports, ends = (80, port) if frame.down else (port, 80), (_SERVER_IP, _CLIENT_IP)[:: 1 if frame.down else -1]
    is_datagram = frame.flag == DATAGRAM
    least = frame.length + (28 if is_datagram else 40)
    options = bytes((1,)) * min(40, max(0, (frame.size_bytes - least) // 4 * 4))  # no-operations
    if is_datagram:
        return _ipv4(_UDP, b"".join(ends) + options, pack(">HHHH", *ports, 8 + frame.length, 0) + bytes(frame.length))
    seq, ack = (frame.seq + (frame.flag == 0)) % 2**32, 0 if frame.flag == 1 else (frame.ack + 1) % 2**32
    control = (20 + len(options)) // 4 << 4, _TCP_FLAGS[frame.flag], 65535, 0, 0
    payload = streams[frame.connection, frame.down][frame.seq : frame.seq + frame.length].ljust(frame.length, b"\0")
    segment = pack(">HHIIBBHHH", *ports, seq, ack, *control) + options + payload
    return _ipv4(_TCP, b"".join(ends), _summed(segment, 16, b"".join(ends) + pack(">HH", _TCP, len(segment))))


def _ipv4(protocol: int, ends: bytes, segment: bytes) -> bytes:
    """Return a packet; behind the addresses of both ends there may be options."""
    words = 3 + len(ends) // 4
    header = pack(">BBHHHBBH", 0x40 + words, 0, 4 * words + len(segment), 0, 0, 64, protocol, 0) + ends
    return _summed(header, 10) + segment


def _summed(data: bytes, at: int, pseudo: bytes = b"") -> bytes:
    """Return the data with their checksum, which counts a header that is not sent, in the two octets at a place."""
    words = pseudo + data + bytes(len(data) % 2)
    total = sum(unpack(f">{len(words) // 2}H", words)) % 0xFFFF  # in ones' complement
    return data[:at] + pack(">H", 0xFFFF - total) + data[at + 2 :]
