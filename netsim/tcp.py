"""TCP as the model has it: slow start, a window, ACKs at once, RFC 6298 timer, Reno recovery.

A connection is two endpoints.  Each is a sender of its own bytes and a receiver of the other's; messages (a request, a
reply) follow one another on it.  What is modelled:

* one ACK for every full segment, at once; a segment that goes out anyway carries it;
* slow start by one segment an ACK up to the window, congestion avoidance above the threshold;
* an RFC 6298 retransmission timer, and Reno's fast retransmit and recovery; Karn's rule as in ns-2
  (tcp-full.cc): a segment is timed only if it has bytes that were never sent before;
* optionally Nagle: a last, partial segment waits until all before it is acknowledged.

Left out: delayed ACKs (instead the last, partial segment of a message counts as acknowledged when it arrives, and the
window grows when the next message carries the ACK; a message that nothing will answer is acknowledged in full), FIN,
slow-start restart, selective acknowledgement, checksums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from netsim.clock import Clock, Occurrence
from netsim.whole_numbers import keep_whole

__all__ = ["Endpoint", "Packet", "TcpConfig"]

_NS_PER_S, _NEVER_NS = 1_000_000_000, 2**62
_MAX_RTO_NS = 60 * _NS_PER_S
_DUPLICATE_ACKS = 3

DATA, SYN, SYN_ACK = 0, 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TcpConfig:
    """Parameters of TCP; the defaults are those of the ns-2 runs that the model is held against.

    Attributes
    ----------
    mss_bytes, header_bytes : int
        Payload of a full segment, and the header on every packet.
    initial_window, window : int
        Segments that may be in flight at first, and at most.
    min_rto_s, initial_rto_s : float
        Least retransmission time-out, and the one before any round trip was measured (RFC 6298).
    nagle : bool
        Hold a partial segment back while anything is unacknowledged.
    """

    mss_bytes: int = 1460
    header_bytes: int = 40
    initial_window: int = 2
    window: int = 20
    min_rto_s: float = 1.0
    initial_rto_s: float = 3.0
    nagle: bool = False

    def __post_init__(self) -> None:
        whole = ("mss_bytes", "header_bytes", "initial_window", "window")
        keep_whole(self, *whole)
        for name in whole:
            value = getattr(self, name)
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        if self.initial_window > self.window:
            raise ValueError(f"initial_window must be at most window ({self.window}), got {self.initial_window}")
        for name in ("min_rto_s", "initial_rto_s"):
            value = getattr(self, name)
            if not 0.0 < value < float("inf"):
                raise ValueError(f"{name} must be above 0 and finite, got {value}")


class Packet:
    """A segment on its way: to whom, what it carries, and how large it is with its header."""

    __slots__ = ("ack", "flag", "length", "seq", "size_bytes", "to")

    def __init__(self, to: Endpoint, flag: int, seq: int, length: int, ack: int, size_bytes: int) -> None:
        self.to = to
        self.flag = flag
        self.seq = seq
        self.length = length
        self.ack = ack
        self.size_bytes = size_bytes


class Endpoint:
    """One end of a connection.

    Parameters
    ----------
    env : Clock
        Tells and keeps the time.
    config : TcpConfig
        Parameters.
    send : callable
        Takes a `Packet` and puts it on the way to the other end.
    on_message : callable
        Called without arguments when all the bytes expected have arrived in order.
    on_open : callable
        Called when the other end has accepted the connection (the opening end only).
    number : int
        Of the connection, for whoever must tell connections apart.

    Notes
    -----
    `peer` must be set to the other end before the first use.  Sequence numbers count payload bytes from 0;
    SYNs have none.
    """

    __slots__ = (
        "_ack_sent", "_acknowledges", "_closed", "_config", "_cwnd", "_deadline_ns", "_duplicates", "_end", "_env",
        "_established", "_expected", "_min_rto_ns", "_next", "_on_all_acked", "_on_message", "_on_open",
        "_out_of_order", "_peer_has_all", "_received", "_recover", "_recovering", "_rto_ns", "_rttvar_ns", "_send",
        "_srtt_ns", "_ssthresh", "_timed_ns", "_timed_seq", "_timer_ns", "_unacked", "number", "peer",
    )  # fmt: skip

    def __init__(
        self,
        env: Clock,
        config: TcpConfig,
        send: Callable[[Packet], None],
        on_message: Callable[[], None],
        on_open: Callable[[], None] | None = None,
        number: int = 0,
    ) -> None:
        self.peer: Endpoint
        self.number = number
        self._env = env
        self._config = config
        self._send = send
        self._on_message = on_message
        self._on_open = on_open
        self._established = False
        self._closed = False
        # sender
        self._unacked = self._next = self._end = 0
        self._cwnd = float(config.initial_window)
        self._ssthresh = float(config.window)
        self._duplicates = 0
        self._recovering = False
        self._recover = 0  # where what was sent before the last loss ends (RFC 6582, section 3.2)
        self._peer_has_all = True
        # timer
        self._deadline_ns = self._timer_ns = _NEVER_NS
        self._rto_ns = round(config.initial_rto_s * _NS_PER_S)
        self._min_rto_ns = round(config.min_rto_s * _NS_PER_S)
        self._srtt_ns = -1
        self._rttvar_ns = 0
        self._timed_seq = -1
        self._timed_ns = 0
        # receiver
        self._received = self._expected = self._ack_sent = 0
        self._acknowledges = False
        self._on_all_acked: Callable[[], None] | None = None
        self._out_of_order: dict[int, int] = {}

    # -- what the application does

    def open(self) -> None:
        """Send a SYN."""
        self._timed_ns, self._timed_seq = self._env.now, 0
        self._transmit_control(SYN)

    def expect(self, n_bytes: int, *, acknowledged: bool = False) -> None:
        """Announce that the next message from the other end has so many bytes.

        Its last, partial segment is acknowledged by a packet only if that is asked for.
        """
        self._expected += n_bytes
        self._acknowledges = acknowledged

    def write(self, n_bytes: int, on_all_acked: Callable[[], None] | None = None) -> None:
        """Send a message of so many bytes; call `on_all_acked` when its last byte is acknowledged."""
        self._end += n_bytes
        self._peer_has_all = False
        self._on_all_acked = on_all_acked
        self._push()

    def acknowledge(self) -> None:
        """Send an ACK that carries nothing."""
        self._ack_sent = self._received
        self._send(Packet(self.peer, DATA, self._next, 0, self._received, self._config.header_bytes))

    def close(self) -> None:
        """Vanish: nothing more is sent or heard."""
        self._closed = True
        self._deadline_ns = _NEVER_NS

    # -- what the network does

    def receive(self, packet: Packet) -> None:
        """Take in a packet that has just arrived."""
        if self._closed:
            return
        if packet.flag or not self._established:
            self._handshake(packet)
            if packet.flag:
                return
        ack, length = packet.ack, packet.length
        if ack > self._unacked:
            self._new_ack(ack)
        elif not length and ack == self._unacked and self._next > ack and not self._peer_has_all:
            self._duplicate_ack()
        if not length:
            return
        end = packet.seq + length
        if packet.seq == self._received and not self._out_of_order:
            self._received = end
        else:
            if end > self._received:
                self._out_of_order[packet.seq] = max(end, self._out_of_order.get(packet.seq, 0))
            if not self._advance():  # a duplicate, or a hole before it
                self.acknowledge()
                return
        config = self._config
        wants_ack = length == config.mss_bytes
        if self._received == self._expected:
            if self._acknowledges:
                wants_ack = True
            elif not wants_ack:
                self.peer._complete()
            self._on_message()
        if self._ack_sent < self._received and wants_ack:
            self.acknowledge()

    def foresee(self, packet: Packet) -> tuple[bool, bool]:
        """Return whether taking in `packet` now would change anything, and complete the message expected."""
        if self._on_all_acked is not None and self._unacked < packet.ack == self._end and not self._closed:
            return True, True
        received, reached = self._received, packet.seq + packet.length
        if self._closed or (packet.length and reached <= received):
            return False, False
        if packet.seq <= received:
            for seq in sorted(self._out_of_order):
                reached = max(reached, self._out_of_order[seq]) if seq <= reached else reached
        return True, packet.seq <= received < reached == self._expected

    def _advance(self) -> bool:
        """Join the segments that are in order by now; return whether there were any."""
        before = self._received
        waiting = self._out_of_order
        for seq in sorted(waiting):
            if seq > self._received:
                break
            self._received = max(self._received, waiting.pop(seq))
        return self._received > before

    def _complete(self) -> None:
        """The other end has everything: the last, partial segment needs no ACK packet."""
        self._peer_has_all = True
        self._deadline_ns = _NEVER_NS

    # -- handshake

    def _handshake(self, packet: Packet) -> None:
        if packet.flag == SYN:
            if not self._established:
                first = self._deadline_ns == _NEVER_NS
                self._timed_ns, self._timed_seq = self._env.now, 0 if first else -1
                self._transmit_control(SYN_ACK)
            return
        if packet.flag == SYN_ACK and self._established:
            self.acknowledge()  # ours was lost
            return
        self._established = True
        self._deadline_ns = _NEVER_NS
        if self._timed_seq >= 0:
            self._sample(self._env.now - self._timed_ns)
            self._timed_seq = -1
        if packet.flag == SYN_ACK:
            self.acknowledge()
            if self._on_open is not None:
                self._on_open()

    def _transmit_control(self, flag: int) -> None:
        self._send(Packet(self.peer, flag, 0, 0, 0, self._config.header_bytes))
        self._arm()

    # -- sender

    def _push(self) -> None:
        """Send what the window, and Nagle if asked for, allow."""
        config = self._config
        mss, header = config.mss_bytes, config.header_bytes
        limit = self._unacked + int(min(self._cwnd, config.window)) * mss
        sent = False
        while self._next < self._end:
            length = self._end - self._next
            if length >= mss:
                length = mss
            elif config.nagle and self._next > self._unacked:
                break
            if self._next + length > limit:
                break
            if self._timed_seq < 0 and self._next + length > self._recover:  # Karn: nothing that was sent before
                self._timed_seq, self._timed_ns = self._next + length, self._env.now
            self._ack_sent = self._received
            self._send(Packet(self.peer, DATA, self._next, length, self._received, length + header))
            self._next += length
            sent = True
        if sent and self._deadline_ns == _NEVER_NS:
            self._arm()

    def _new_ack(self, ack: int) -> None:
        if 0 <= self._timed_seq <= ack:
            self._sample(self._env.now - self._timed_ns)
            self._timed_seq = -1
        self._unacked = ack
        if self._next < ack:
            self._next = ack
        self._duplicates = 0
        if self._recovering:
            self._recovering = False
            self._cwnd = self._ssthresh
        elif self._cwnd < self._ssthresh:
            self._cwnd += 1.0
        else:
            self._cwnd = min(self._cwnd + 1.0 / self._cwnd, self._config.window)
        if self._next == ack or self._peer_has_all:
            self._deadline_ns = _NEVER_NS
        else:
            self._arm()
        if self._next < self._end:
            self._push()
        elif self._on_all_acked is not None and ack == self._end:
            done, self._on_all_acked = self._on_all_acked, None
            done()

    def _duplicate_ack(self) -> None:
        self._duplicates += 1
        if self._recovering:
            self._cwnd += 1.0
            self._push()
        elif self._duplicates == _DUPLICATE_ACKS and self._unacked >= self._recover:
            self._halve()
            self._recovering = True
            self._recover = self._next
            self._cwnd = self._ssthresh + _DUPLICATE_ACKS
            self._retransmit()

    def _halve(self) -> None:
        in_flight = (self._next - self._unacked) / self._config.mss_bytes
        self._ssthresh = max(in_flight / 2.0, 2.0)

    def _retransmit(self) -> None:
        """Send the first unacknowledged segment again."""
        length = min(self._config.mss_bytes, self._end - self._unacked)
        self._timed_seq = -1  # Karn: no round trip is measured on what was sent twice
        self._ack_sent = self._received
        self._send(Packet(self.peer, DATA, self._unacked, length, self._received, length + self._config.header_bytes))
        self._arm()

    # -- timer: a deadline that moves; events are never cancelled, a late one looks again, and comes last at its instant

    def _arm(self) -> None:
        self._deadline_ns = deadline = self._env.now + self._rto_ns
        if deadline < self._timer_ns:  # looking early enough for all shorter time-outs to come spares one event each
            self._schedule(min(deadline, self._env.now + self._min_rto_ns))

    def _schedule(self, at_ns: int) -> None:
        self._timer_ns = at_ns
        Occurrence(self._env, at_ns, self._on_timer, last=True)

    def _on_timer(self, _: Occurrence) -> None:
        now = self._env.now
        if now != self._timer_ns:
            return  # an earlier one took its place
        self._timer_ns = _NEVER_NS
        if self._deadline_ns == _NEVER_NS:
            return
        if now < self._deadline_ns:
            self._schedule(self._deadline_ns)
        else:
            self._time_out()

    def _time_out(self) -> None:
        self._deadline_ns = _NEVER_NS
        self._timed_seq = -1
        self._rto_ns = min(2 * self._rto_ns, _MAX_RTO_NS)
        if not self._established:
            self._transmit_control(SYN if self._on_open is not None else SYN_ACK)
            return
        self._halve()
        self._cwnd = 1.0
        self._duplicates = 0
        self._recovering = False
        self._recover = max(self._recover, self._next)
        self._next = self._unacked  # go back
        self._retransmit()
        self._next = min(self._unacked + self._config.mss_bytes, self._end)

    def _sample(self, rtt_ns: int) -> None:
        """RFC 6298, section 2, in integers."""
        if self._srtt_ns < 0:
            self._srtt_ns, self._rttvar_ns = rtt_ns, rtt_ns // 2
        else:
            self._rttvar_ns += (abs(self._srtt_ns - rtt_ns) - self._rttvar_ns) // 4
            self._srtt_ns += (rtt_ns - self._srtt_ns) // 8
        self._rto_ns = min(max(self._srtt_ns + 4 * self._rttvar_ns, self._min_rto_ns), _MAX_RTO_NS)
