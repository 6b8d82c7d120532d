"""The model in real time: SimPy's events stepped against a clock, between two ends that hand it packets.

A packet enters as a datagram does, up or down, at the instant at which it is read, and is handed to the other end when
it lands; so every policy, medium and radio works as it does in a simulation.  The last 0.2 ms before an event are spent
looking at the clock, and how late a packet is handed over is measured.  Memory is constant: what is kept of a packet
goes when it lands; of the run some bytes stay for each interval awake and each answer of the policy at a beacon.

Beside the run, each packet is carried over the same links as if the client never slept: on wires exactly, on the air
over a channel that is idle but for these packets, frames going alone.  What it comes later by is its added delay.

A host-aware policy is told what the packets tell (`traces.captures.waiting`).  Left out: fragments put together, and
more than one client.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from select import select
from time import monotonic_ns
from typing import Any, NamedTuple, Protocol

import numpy as np

from netsim.config import SimulationConfig
from netsim.model.browsed import Datagram
from netsim.model.browser import leave
from netsim.model.codes import NEVER
from netsim.model.datagrams import datagram_frame
from netsim.model.entities import Frame
from netsim.model.events import begin
from netsim.model.medium import send_down, send_up
from netsim.model.wires import transmit
from netsim.policies import AnyPolicy
from netsim.result import SimulationResult, result_of
from netsim.running.on_simpy import prepared
from netsim.running.on_simpy import result as left_behind
from netsim.running.policy_adapter import PacketAdviser
from netsim.running.recorder import Recorder
from netsim.running.setup import World
from netsim.simulation import _MOST_ROOM, _made
from traces.columns import Workload

MOST_WAITING = 1000
"""Packets that are under way in one direction, as in the queue of a Linux interface; others are dropped."""
BUSY_NS, LONGEST_NS = 200_000, 100_000_000
RESTLESS_NS = 500_000  # who looks at the clock for so long sleeps, lest the kernel stops it for 50 ms each second
LATE_NS, LATE_SHARE = 5_000_000, 20
"""How late one packet in a hundred may be: this, and of a beacon interval one part in so many."""
_BATCH = 32  # packets that are read from an end before events have their turn
_DIGITS = 10  # binary, of what a distribution keeps of a value


class End(Protocol):
    """What packets come from and go to: `read` returns the next, or nothing; `fileno` is what may be waited for."""

    def fileno(self) -> int: ...  # noqa: D102
    def read(self) -> bytes: ...  # noqa: D102
    def write(self, packet: bytes) -> None: ...  # noqa: D102


class Distribution:
    """How often values came, nanoseconds to three digits, so that millions of them take no room."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self.n = self.total = self.max = 0

    def add(self, value: int) -> None:
        """Count a value."""
        grain = max(0, value.bit_length() - _DIGITS)
        self.counts[value >> grain << grain] += 1
        self.n, self.total, self.max = self.n + 1, self.total + value, max(self.max, value)

    def ms(self) -> dict[str, float | None]:
        """Return mean, median, 95th and 99th percentile, and maximum, milliseconds; None without values."""
        if not self.n:
            return dict.fromkeys(("mean", "median", "p95", "p99", "max"))
        found, wanted, seen = {"mean": self.total / self.n}, [("median", 0.5), ("p95", 0.95), ("p99", 0.99)], 0
        for value, count in sorted(self.counts.items()):
            seen += count
            while wanted and seen >= wanted[0][1] * self.n:
                found[wanted.pop(0)[0]] = float(value)
        return {name: round(value / 1e6, 6) for name, value in {**found, "max": float(self.max)}.items()}


class _Packet(NamedTuple):
    data: bytes
    up: bool
    base_ns: int


class Emulated(NamedTuple):
    """What a run in real time leaves behind."""

    result: SimulationResult
    packets: tuple[int, int]  #: down, up, all that were taken in
    dropped: int  #: since too many were under way
    lost: int  #: on the air
    added: Distribution  #: how much later packets landed than if the client had never slept
    late: Distribution  #: how much later they were handed over than they landed
    interval_ns: int

    @property
    def trusted(self) -> bool:
        """Whether packets were handed over in time, so that delays tell something."""
        late_ms = self.late.ms()["p99"] or 0.0
        return late_ms * 1e6 <= min(LATE_NS, self.interval_ns / LATE_SHARE)


class RealTime:
    """A link of one client under a policy, between two ends.

    Parameters
    ----------
    policy : str, Policy or OwnPolicy
        As for `netsim.simulate`.
    config : SimulationConfig, optional
        The world; packets may have at most the header and a full segment of its TCP.
    deliver : callable
        Is given each packet that lands, and whether it went up.
    sent : callable, optional
        Is given each packet that is taken in, whether it goes up, the instant (nanoseconds) of its sending, and the one
        at which it would land if the client never slept.
    recorder : Recorder, optional
        Is told of frames and decisions until `recorder` of the run is taken away.

    Examples
    --------
    >>> came, now = [], [0]
    >>> link = RealTime("psm", deliver=lambda packet, up: came.append((now[0], up)), clock=lambda: now[0])
    >>> link.send(bytes([0x45]) + bytes(99), up=False)
    True
    >>> while not came:
    ...     now[0] += link.step()
    >>> came  # after the wire it waited for the first beacon
    [(100260000, False)]
    """

    def __init__(
        self, policy: AnyPolicy, config: SimulationConfig | None = None, *, deliver: Callable[[bytes, bool], None],
        sent: Callable[[bytes, bool, int, int], None] | None = None, seed: int = 0,
        recorder: Recorder | None = None, clock: Callable[[], int] = monotonic_ns,
    ) -> None:  # fmt: skip
        self.config = config or SimulationConfig()
        self.largest = self.config.tcp.mss_bytes + self.config.tcp.header_bytes
        self._pages, self._policy = Workload.of([]), _made(policy, self.config)
        no_delays = np.empty(0, dtype=np.int64)
        self._world = World([(self._pages, self._policy)], [no_delays], [()], self.config, seed, _MOST_ROOM)
        self.run = run = self._world.run
        machine = prepared(self._world, recorder)
        machine.landed, self._clock, self._client = self._land, machine.clock, run.clients[0]
        self._under_way: dict[int, _Packet] = {}
        self._numbers, self._waiting = 0, [0, 0]
        self._deliver, self._sent, self._time = deliver, sent, clock
        self._shadow = {name: copy(getattr(run, name)) for name in ("wire_up", "wire_down", "air_up", "air_down")}
        self._channel = 0
        self.packets, self.dropped, self.lost = [0, 0], 0, 0
        self.added, self.late = Distribution(), Distribution()
        client: Any = self._client
        self._heads = dict[int, bytes]()
        if self._policy.host_aware:
            client.policy, client.observes = PacketAdviser(self._policy, self._heads), 1
        client.n_datagrams = client.cast = NEVER  # which never end
        client.datagrams = self._datagrams = dict[int, Datagram]()
        begin(run)
        self.begin()

    def begin(self) -> None:
        """Begin, or begin anew where nothing has come yet: from now on the clock counts."""
        self._begun = self._time()

    @property
    def now_ns(self) -> int:
        """The instant, nanoseconds since the beginning."""
        return self._time() - self._begun

    def step(self) -> int:
        """Let all happen that is due; return how long nothing is, nanoseconds."""
        queue, step = self._clock._queue, self._clock.step
        while queue and queue[0][0] <= self.now_ns:
            step()
        return max(0, int(queue[0][0]) - self.now_ns) if queue else LONGEST_NS

    def send(self, packet: bytes, up: bool) -> bool:
        """Take a packet in; return whether there was room for it."""
        if not 0 < len(packet) <= self.largest:
            return False
        self.packets[up] += 1
        if self._waiting[up] >= MOST_WAITING:
            self.dropped += 1
            return False
        self.step()
        run, client, number = self.run, self._client, self._numbers
        run.now = self._clock._now = max(self.now_ns, self._clock._now)  # type: ignore[assignment]
        datagram = Datagram()
        datagram.at, datagram.bytes, datagram.up = run.now, max(0, len(packet) - run.header), int(up)
        self._datagrams[number] = datagram
        base_ns = self._unimpeded(len(packet), up)
        self._under_way[number], self._heads[number] = _Packet(packet, up, base_ns), packet
        self._waiting[up] += 1
        self._numbers += 1
        if self._sent is not None:
            self._sent(packet, up, run.now, base_ns)
        frame = datagram_frame(run, client, client.casts.client if up else client.casts.server, number)
        frame.bytes = len(packet)
        (send_up if up else send_down)(run, client, frame)
        return True

    def carry(self, client: End, server: End, *others: Any) -> Iterator[list[Any]]:
        """Carry packets between two ends for as long as it is asked to go on; yield which of the others are readable.

        That is at least each tenth of a second.
        """
        ends: list[tuple[End, bool]] = [(client, True), (server, False)]
        rested = self.now_ns
        with _first_in_line():
            while True:
                wait_ns = min(self.step(), LONGEST_NS)
                busy_ns = BUSY_NS if self.now_ns - rested < RESTLESS_NS else 0
                ready = select([client, server, *others], [], [], max(0, wait_ns - busy_ns) / 1e9)[0]
                if wait_ns > busy_ns:
                    rested = self.now_ns
                for end, up in ends:
                    for _ in range(_BATCH if end in ready else 0):
                        if not (packet := end.read()):
                            break
                        self.send(packet, up)
                yield [one for one in ready if one in others]

    def end(self) -> Emulated:
        """End the run now; packets that are under way have not landed."""
        self.step()
        run, client = self.run, self._client
        run.now = self._clock._now = max(self.now_ns, self._clock._now)  # type: ignore[assignment]
        leave(run, client)
        rows: Any = client
        rows.datagrams = []
        result = result_of(self._pages, self._policy, self.config.radio, *left_behind(self._world, client))
        down, up = self.packets
        return Emulated(result, (down, up), self.dropped, self.lost, self.added, self.late, run.interval)

    def _land(self, frame: Frame, arrived: int) -> None:
        """Hand over what has landed, and forget it."""
        packet = self._under_way.pop(frame.seq)
        del self._datagrams[frame.seq], self._heads[frame.seq]
        self._waiting[packet.up] -= 1
        if not arrived:
            self.lost += 1
            return
        now = self.run.now
        self.late.add(max(0, self.now_ns - now))
        self._deliver(packet.data, packet.up)
        self.added.add(max(0, now - packet.base_ns))

    def _unimpeded(self, size: int, up: bool) -> int:
        """Return when a packet would land if the client never slept."""
        run, at, lines = self.run, self.run.now, self._shadow
        if not up:
            at = transmit(run, lines["wire_down"], size, at)
        if run.on_wires:
            at = transmit(run, lines["air_up" if up else "air_down"], size, at)
        else:
            exchange = run.exchanges[size + self._client.overhead]
            start = max(self._channel, at) + run.difs
            self._channel, at = start + exchange.total, start + exchange.delivered
        return transmit(run, lines["wire_up"], size, at) if up else at


@contextmanager
def _first_in_line() -> Iterator[None]:
    """Be served by the kernel before others, where that is allowed."""
    usual: Any = ()
    with suppress(PermissionError, AttributeError):
        usual = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    try:
        yield
    finally:
        with suppress(PermissionError, AttributeError):
            os.sched_setscheduler(0, *usual)
