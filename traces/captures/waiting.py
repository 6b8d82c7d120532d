"""What a client waits for, told packet by packet as it passes: the rules of `flows` and `runs`, one packet at a time.

A connection is waited for from its SYN to the answer, and from payload up until payload comes down.  A reply is over
when nothing of it has come for 100 ms, or a round trip: only then would what follows be a message that nobody asked
for.  What goes up while a reply comes and can only acknowledge it asks for nothing.  Left out: the exact borders of
HTTP/1, which a look inside would tell, and whether each direction of a flow over UDP has its own clock.
"""

import struct
from dataclasses import dataclass
from typing import NamedTuple

from traces.captures.flows import SILENCE_US
from traces.captures.frames import Segment, decode_ip, ends, reversed_key
from traces.captures.runs import SMALL_DATAGRAM_BYTES, UNASKED_AFTER_US, are_small_tls_records
from traces.captures.streams import ACK, FIN, RST, SYN, Stream

MOST_FLOWS = 1 << 10
READ_BYTES = 192
"""Of a packet, as far as it is read: its headers, and the heads of a few small records of TLS."""
_QUIC = 443
_US = 1_000
_NOTHING, _OPENING, _ASKED, _REPLIED = range(4)


class Seen(NamedTuple):
    """What a host knows of a packet: which flow, whether it opens one, its new payload, whether it ends a wait."""

    flow: int = -1
    opens: bool = False
    payload_bytes: int = 0
    completes: bool = False
    wanted: bool = False  #: whether it asks for something or, coming down, tells something
    server: int = -1  #: the number of the far end, in the order in which they were met


@dataclass(slots=True)
class _Flow:
    number: int
    server: int
    streams: tuple[Stream, Stream]
    state: int = _NOTHING
    since_ns: int = 0
    last_ns: int = 0
    trip_ns: int = 0

    def silence_ns(self) -> int:
        return max(UNASKED_AFTER_US * _US, self.trip_ns)


class Waiting:
    """The flows of one client, of which the oldest is forgotten where there are too many."""

    def __init__(self) -> None:
        self._flows: dict[bytes, _Flow] = {}
        self._servers: dict[bytes, int] = {}
        self._met = 0
        self.n = 0  #: how many flows wait
        self.due_ns = -1  #: when a reply may be over next; -1: none comes

    def take(self, now_ns: int, packet: bytes, up: bool) -> Seen:
        """Take an IP packet that the client sends, or receives, at an instant (nanoseconds)."""
        try:
            segment = decode_ip(packet, 0)
        except (IndexError, struct.error):
            return Seen()
        if segment.reason:
            return Seen()
        is_tcp, flags = segment.flags >= 0, max(segment.flags, 0)
        key = segment.key if up else reversed_key(segment.key)
        flow = self._flow(key)
        before, flow.last_ns, new = flow.state, now_ns, segment.size
        if new and is_tcp:
            new = flow.streams[up].count(segment.sequence + bool(flags & SYN), new)
        completes = False
        if up:
            if flags & SYN:
                flow.state, flow.since_ns = _OPENING, now_ns
            elif asks := new > 0 and not self._acknowledges(flow, segment, packet, is_tcp):
                flow.state = _ASKED
        elif flags & (SYN | ACK) == SYN | ACK:
            flow.trip_ns, flow.state = now_ns - flow.since_ns, _NOTHING
        elif new and before in (_ASKED, _REPLIED):
            flow.state, flow.since_ns = _REPLIED, now_ns
            self._look_at(now_ns + flow.silence_ns())
        if flags & (FIN | RST) and not (up and before == _ASKED and flags & FIN):
            completes, flow.state = before != _NOTHING, _NOTHING
        self.n += (flow.state != _NOTHING) - (before != _NOTHING)
        if flags & RST:
            del self._flows[key]
        wanted = asks if up and not flags & SYN else bool(new or flags & SYN or completes)
        return Seen(flow.number, bool(flags & SYN), new, completes, wanted, flow.server)

    def over(self, now_ns: int) -> list[tuple[Seen, int]]:
        """Return the waits that silence has ended by now, each with the instant of its last payload."""
        if not 0 <= self.due_ns <= now_ns:
            return []
        found, self.due_ns = [], -1
        for flow in self._flows.values():
            if flow.state == _REPLIED:
                at = flow.since_ns + flow.silence_ns()
            elif flow.state != _NOTHING:
                at = flow.last_ns + SILENCE_US * _US
            else:
                continue
            if at <= now_ns:
                flow.state = _NOTHING
                self.n -= 1
                found.append((Seen(flow.number, False, 0, True, True, flow.server), flow.since_ns))
            else:
                self._look_at(at)
        return found

    def _look_at(self, at: int) -> None:
        self.due_ns = at if self.due_ns < 0 else min(self.due_ns, at)

    @staticmethod
    def _acknowledges(flow: _Flow, segment: Segment, packet: bytes, is_tcp: bool) -> bool:
        """Whether payload up, while a reply comes, can only acknowledge it."""
        if flow.state != _REPLIED:
            return False
        if is_tcp:
            return are_small_tls_records(packet[segment.payload_at :], segment.size)
        return segment.size <= SMALL_DATAGRAM_BYTES and ends(segment.key)[3] == _QUIC

    def _flow(self, key: bytes) -> _Flow:
        flow = self._flows.get(key)
        if flow is None:
            if len(self._flows) >= MOST_FLOWS:
                oldest = min(self._flows, key=lambda one: self._flows[one].last_ns)
                self.n -= self._flows.pop(oldest).state != _NOTHING
            _, _, address, port = ends(key)
            server = self._servers.setdefault(b"%b:%d" % (address, port), len(self._servers))
            if len(self._servers) > MOST_FLOWS:
                self._servers.clear()
            flow = self._flows[key] = _Flow(self._met, server, (Stream(), Stream()))
            self._met += 1
        return flow
