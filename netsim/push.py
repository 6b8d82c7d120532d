"""Push: a server that writes of its own accord on a connection that stays open.

One TCP connection between the server and the client is open before the run begins.  On it the
server writes the messages, each at its instant, whether or not the client has asked for anything.
The client acknowledges full segments at once; a last, partial segment counts as acknowledged on its
arrival, as everywhere in the model (`netsim.tcp`), but since no request ever carries its ACK here, the
server's window moves on with it.  What a message waited for at the access point is seen beside the same run
of a client that never sleeps.  Left out: the handshake, keep-alives, replies to messages.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from simpy import Event, Timeout

from netsim.clock import Clock
from netsim.link import Link
from netsim.medium import WirelessStation
from netsim.tcp import Endpoint, Packet, TcpConfig
from traces.records import Message

__all__ = ["PushChannel", "PushState", "table_of"]

_NS_PER_S = 1_000_000_000
_NOT_YET_NS = 2**62


class PushState(NamedTuple):
    """What decides about the future of the connection while all that was written is delivered and acknowledged.

    Attributes
    ----------
    delivered : int
        Messages so far.
    cwnd, ssthresh : float
        Of the server's end, segments, as the rest.
    duplicates, recovering, recover : int
        What is left of a recovery; `recover` counts bytes from the first message's.
    rto_ns, srtt_ns, rttvar_ns : int
        The retransmission time-out, and the round trip as it was measured; -1 if it was not.
    """

    delivered: int
    cwnd: float
    ssthresh: float
    duplicates: int
    recovering: int
    recover: int
    rto_ns: int
    srtt_ns: int
    rttvar_ns: int

    @classmethod
    def first(cls, tcp: TcpConfig) -> PushState:
        """Return the state before the first message."""
        rto_ns = round(tcp.initial_rto_s * _NS_PER_S)
        return cls(0, float(tcp.initial_window), float(tcp.window), 0, 0, 0, rto_ns, -1, 0)


def table_of(messages: Sequence[Message]) -> NDArray[np.int64]:
    """Return a row a message: instant written, last byte counted from the first message's, and never delivered."""
    table = np.full((len(messages), 3), _NOT_YET_NS, dtype=np.int64)
    table[:, 0] = [round(message.at_s * _NS_PER_S) for message in messages]
    table[:, 1] = np.cumsum([message.size_bytes for message in messages])
    return table


class PushChannel:
    """Delivers messages to a station.

    Parameters
    ----------
    env : Clock
        Tells and keeps the time.
    station : WirelessStation
        The client.
    tcp : TcpConfig
        Parameters of the connection.
    messages : sequence of Message
        In the order of their instants; at least one.
    state : PushState, optional
        Goes on from there, with the messages that are not delivered.
    """

    def __init__(
        self,
        env: Clock,
        station: WirelessStation,
        tcp: TcpConfig,
        messages: Sequence[Message],
        state: PushState | None = None,
    ) -> None:
        self._env = env
        self._messages = messages
        self._table = table_of(messages)
        state = PushState.first(tcp) if state is None else state
        self._first = state.delivered
        self._client = _Subscriber(env, tcp, station.send, self._table[:, 1].tolist(), state.delivered)
        self._server = _Publisher(env, tcp, station.send_down, self._client.has, state)
        self._client.peer, self._server.peer = self._server, self._client

    def deliver(self) -> Generator[Event, None, None]:
        """Write every message at its instant, and end when the last one is delivered; a SimPy process."""
        env = self._env
        for number in range(self._first, len(self._messages)):
            at_ns = int(self._table[number, 0])
            if at_ns > env.now:
                yield Timeout(env, at_ns - env.now)
            self._client.expect(self._messages[number].size_bytes)
            self._server.write(self._messages[number].size_bytes)
        if self._client.delivered < len(self._messages):
            yield self._client.complete

    def quiet(self, now_ns: int, up: Link) -> bool:
        """Return whether nothing of it is on its way at `now_ns`, not even an ACK on the link `up`."""
        return self._server.is_quiet(self._client.has) and up.free_ns + up.delay_ns < now_ns

    def state(self) -> PushState:
        """Return the state of a channel that is quiet."""
        return self._server.state(self._client.delivered)

    def delivered_ns(self) -> NDArray[np.int64]:
        """Return the instants of the last bytes at the client, of the messages delivered from the first state on."""
        return np.array(self._client.delivered_ns, dtype=np.int64)

    def record(self) -> NDArray[np.int64]:
        """Return a row a message: instant written, size in bytes, instant of its last byte at the client."""
        sizes = [message.size_bytes for message in self._messages]
        return np.column_stack([self._table[:, 0], sizes, self._client.delivered_ns]).astype(np.int64)


class _Publisher(Endpoint):
    """The server's end of a connection that was opened before the run."""

    __slots__ = ()

    def __init__(
        self, env: Clock, config: TcpConfig, send: Callable[[Packet], None], sent: int, state: PushState
    ) -> None:
        super().__init__(env, config, send, _nothing)
        self._established = True
        self._unacked = self._next = self._end = sent
        self._cwnd, self._ssthresh = state.cwnd, state.ssthresh
        self._duplicates, self._recovering, self._recover = state.duplicates, bool(state.recovering), state.recover
        self._rto_ns, self._srtt_ns, self._rttvar_ns = state.rto_ns, state.srtt_ns, state.rttvar_ns

    def is_quiet(self, delivered_bytes: int) -> bool:
        """Return whether all that was written is delivered and acknowledged, and the timer is off."""
        return self._unacked == self._end == delivered_bytes and self._deadline_ns == _NOT_YET_NS

    def state(self, delivered: int) -> PushState:
        """Return the state, with so many messages delivered."""
        return PushState(
            delivered, self._cwnd, self._ssthresh, self._duplicates, int(self._recovering), self._recover, self._rto_ns,
            self._srtt_ns, self._rttvar_ns,
        )  # fmt: skip


class _Subscriber(Endpoint):
    """The client's end: knows where messages end, `ends` in bytes from the first, and how many are `delivered`."""

    __slots__ = ("_ends", "complete", "delivered", "delivered_ns")

    def __init__(
        self, env: Clock, config: TcpConfig, send: Callable[[Packet], None], ends: list[int], delivered: int
    ) -> None:
        super().__init__(env, config, send, _nothing)
        self._established = True
        self._received = self._expected = self._ack_sent = ends[delivered - 1] if delivered else 0
        self._ends = ends
        self.delivered = delivered
        self.delivered_ns: list[int] = []
        self.complete = Event(env)

    @property
    def has(self) -> int:
        """Bytes received."""
        return self._received

    def receive(self, packet: Packet) -> None:
        """Take in a packet; note the messages that are whole with it."""
        super().receive(packet)
        before, ends = self.delivered, self._ends
        while self.delivered < len(ends) and ends[self.delivered] <= self._received:
            self.delivered_ns.append(self._env.now)
            self.delivered += 1
        if self.delivered == before:
            return
        if self._ack_sent < self._received:
            self._ack_sent = self._received
            self.peer._new_ack(self._received)
        if self.delivered == len(ends):
            self.complete.succeed()


def _nothing() -> None:
    """Nobody waits for what was expected: messages are told apart by where they end."""
