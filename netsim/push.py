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

import numpy as np
from numpy.typing import NDArray
from simpy import Event, Timeout

from netsim.clock import Clock
from netsim.medium import WirelessStation
from netsim.tcp import Endpoint, Packet, TcpConfig
from traces.records import Message

__all__ = ["PushChannel", "table_of"]

_NS_PER_S = 1_000_000_000
_NOT_YET_NS = 2**62


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
    """

    def __init__(
        self,
        env: Clock,
        station: WirelessStation,
        tcp: TcpConfig,
        messages: Sequence[Message],
    ) -> None:
        self._env = env
        self._messages = messages
        self._table = table_of(messages)
        self._client = _Subscriber(env, tcp, station.send, self._table[:, 1].tolist())
        self._server = _Publisher(env, tcp, station.send_down)
        self._client.peer, self._server.peer = self._server, self._client

    def deliver(self) -> Generator[Event, None, None]:
        """Write every message at its instant, and end when the last one is delivered; a SimPy process."""
        env = self._env
        for at_ns, message in zip(self._table[:, 0].tolist(), self._messages, strict=True):
            if at_ns > env.now:
                yield Timeout(env, at_ns - env.now)
            self._client.expect(message.size_bytes)
            self._server.write(message.size_bytes)
        if self._client.delivered < len(self._messages):
            yield self._client.complete

    def record(self) -> NDArray[np.int64]:
        """Return a row a message: instant written, size in bytes, instant of its last byte at the client."""
        sizes = [message.size_bytes for message in self._messages]
        return np.column_stack([self._table[:, 0], sizes, self._client.delivered_ns]).astype(np.int64)


class _Publisher(Endpoint):
    """The server's end of a connection that was opened before the run."""

    __slots__ = ()

    def __init__(self, env: Clock, config: TcpConfig, send: Callable[[Packet], None]) -> None:
        super().__init__(env, config, send, _nothing)
        self._established = True


class _Subscriber(Endpoint):
    """The client's end: knows where messages end, `ends` in bytes from the first, and how many are `delivered`."""

    __slots__ = ("_ends", "complete", "delivered", "delivered_ns")

    def __init__(self, env: Clock, config: TcpConfig, send: Callable[[Packet], None], ends: list[int]) -> None:
        super().__init__(env, config, send, _nothing)
        self._established = True
        self._ends = ends
        self.delivered = 0
        self.delivered_ns: list[int] = []
        self.complete = Event(env)

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
