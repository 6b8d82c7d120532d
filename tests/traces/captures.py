"""Captures made by hand: a device, a server whose waits and round trip are known, and what they say to each other."""

import struct

import dpkt

DEVICE, SERVER = b"\xc0\xa8\x01\x07", b"\x08\x08\x04\x04"
SYN, ACK, FIN = dpkt.tcp.TH_SYN, dpkt.tcp.TH_ACK, dpkt.tcp.TH_FIN
Frame = tuple[float, bytes]


class Tcp:
    """A connection as a capture at some place between its ends sees it.

    Parameters
    ----------
    start_s : float
        When the SYN passes.
    to_server_s, to_client_s : float
        Round trips from the place of the capture to either end.
    """

    def __init__(self, start_s, to_server_s, to_client_s=0.0, *, port=40_000, server_port=443):
        self.frames = []
        self._ports = port, server_port
        self._next = [1000, 5000]
        self._add(start_s, True, b"", SYN)
        self._add(start_s + to_server_s, False, b"", SYN | ACK)
        self._next = [1001, 5001]
        self._add(start_s + to_server_s + to_client_s, True, b"", ACK)

    def up(self, at_s, data, mss=1400, *, up=True):
        """Let the device send."""
        for number, begin in enumerate(range(0, len(data), mss)):
            self._add(at_s + number * 1e-5, up, data[begin : begin + mss], ACK)

    def down(self, at_s, data, mss=1400):
        """Let the server send."""
        self.up(at_s, data, mss, up=False)

    def _add(self, at_s, up, data, flags):
        ports = self._ports if up else self._ports[::-1]
        numbers = {"seq": self._next[not up], "ack": self._next[up]}
        tcp = dpkt.tcp.TCP(sport=ports[0], dport=ports[1], flags=flags, data=data, **numbers)
        self._next[not up] += len(data)
        self.frames.append((at_s, ip(tcp, 6, up)))


def udp(at_s, up, data, *, port=50_000, server_port=443):
    """Return a datagram."""
    ports = (port, server_port) if up else (server_port, port)
    return at_s, ip(dpkt.udp.UDP(sport=ports[0], dport=ports[1], ulen=8 + len(data), data=data), 17, up)


def ip(transport, protocol, up, device=DEVICE, server=SERVER):
    """Return an Ethernet frame."""
    source, target = (device, server) if up else (server, device)
    packet = dpkt.ip.IP(src=source, dst=target, p=protocol, data=transport)
    packet.len = len(packet)
    return bytes(dpkt.ethernet.Ethernet(type=0x0800, data=packet))


def authenticated(frame):
    """Return a TCP segment of a frame of IPv4 in a packet of IPv6 with an authentication header."""
    header, addresses = b"\x06\4" + bytes(22), bytes(12) + frame[26:30] + bytes(12) + frame[30:34]
    return struct.pack(">IHBB", 0x60000000, len(header) + len(frame) - 34, 51, 64) + addresses + header + frame[34:]


def with_options(frame):
    """Return a TCP segment of a frame of IPv4 in a packet of IPv6 with hop-by-hop options of 24 bytes."""
    addresses = bytes(12) + frame[26:30] + bytes(12) + frame[30:34]
    return struct.pack(">IHBB", 0x60000000, 24 + len(frame) - 34, 0, 64) + addresses + b"\6\2" + bytes(22) + frame[34:]


def loaded(requests):
    """Return those with payload, without the frames that only keep their instants."""
    return [one for one in requests if one.request_bytes + one.reply_bytes]


def record(size):
    """Return a TLS record of application data whose contents have so many bytes."""
    return b"\x17\x03\x03" + size.to_bytes(2, "big") + b"\x5a" * size


def pcap(frames, link=1, kept_bytes=1 << 16):
    """Return a capture file of the frames, or of the beginning of each, in the order of time."""
    data = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 16, link)]  # with nanoseconds
    for at_s, frame in sorted(frames, key=lambda item: item[0]):
        second, rest_s = divmod(at_s, 1.0)
        kept = frame[:kept_bytes]
        data.append(struct.pack("<IIII", int(second), round(rest_s * 1e9), len(kept), len(frame)) + kept)
    return b"".join(data)
