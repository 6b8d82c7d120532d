"""A run before it begins, and what it leaves behind: pages, world and seeds to records, and records to a `Trip`.

The run, its clients and its contenders are records; what stands in rows (pages, objects, messages, loads, exchanges) is
arrays of int64, a row a record and a column a number, which each way of running makes its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpsm import randomness
from netsim.config import RETRIEVALS, AirConfig, LinkConfig, SimulationConfig
from netsim.model import codes, things
from netsim.model.air import exchange_times
from netsim.model.air.air_times import DATA_OVERHEAD_BYTES, QOS_BYTES
from netsim.model.records import NEVER, RECORDS
from netsim.policies.compiled import NOT_YET_NS
from netsim.policies.protocol import Observer, Policy
from netsim.radio import Radio, StateRadioConfig
from netsim.radio_states import StateTimes
from netsim.result import Trip
from netsim.running.draws import Draws, backoffs, gaps, uniform
from netsim.running.layout import words_of
from traces.columns import Workload
from traces.records import Message

__all__ = ["NEIGHBOUR_BYTES", "World", "trip_of"]

Ints = NDArray[np.int64]
Member = tuple[Workload, Policy]

NEIGHBOUR_BYTES = 1500
"""Size of a neighbour's packets."""
_NS_PER_S, _NS_PER_MS = 1_000_000_000, 1_000_000
_NS_PER_BYTE_AT_1_BIT_PER_S = 8_000_000_000


@dataclass(slots=True)
class World:
    """A run that has not begun."""

    members: Sequence[Member]  #: what each client browses, and its policy, which the run advances
    delays_ns: Sequence[Ints]  #: the server's delays, one a reply in the order of the pages
    pushed: Sequence[Sequence[Message]]  #: what the server writes to each client of its own accord
    config: SimulationConfig  #: the world
    seed: int  #: of losses, backoffs, neighbours and group frames
    room: int = 64  #: how many beacons a client may wait for at once, and batches of group frames may be on their way
    run: things.Run = field(default_factory=things.Run)  #: the run; its rows of clients and contenders are lists
    streams: list[tuple[things.Stream, Draws]] = field(default_factory=list)  #: what draws the numbers of each stream

    def __post_init__(self) -> None:
        run, config, tcp, n = self.run, self.config, self.config.tcp, len(self.members)
        run.mss, run.header, run.full = tcp.mss_bytes, tcp.header_bytes, tcp.mss_bytes + tcp.header_bytes
        run.first_window, run.window, run.nagle = tcp.initial_window, tcp.window, int(tcp.nagle)
        run.min_rto, run.first_rto = round(tcp.min_rto_s * _NS_PER_S), round(tcp.initial_rto_s * _NS_PER_S)
        run.persistent, run.max_connections = int(config.connections == "persistent"), config.max_connections
        run.interval, run.on_wires = config.beacon_interval_ns, int(config.medium is None)
        run.loss_rate = config.link.loss_rate
        _set_links(run, config.link)
        run.clients = [self._client(number) for number in range(n)]
        run.n_clients = n
        if run.loss_rate:
            self._draw(run.losses, uniform(randomness.generator(self.seed, randomness.LOSS)))
        if config.medium is None:
            for client, (_, policy) in zip(run.clients, self.members, strict=True):
                client.never_sleeps = int(n == 1 and _never_sleeps(policy))
        else:
            self._set_air(config.medium)

    def _draw(self, stream: things.Stream, draws: Draws) -> None:
        stream.stop = 1
        self.streams.append((stream, draws))

    def _client(self, number: int) -> things.Client:
        (workload, policy), messages = self.members[number], self.pushed[number]
        client = things.Client()
        client.number, client.host_aware = number, int(policy.host_aware)
        client.observes, client.never_sleeps = int(isinstance(policy, Observer)), int(_never_sleeps(policy))
        client.last_sent = client.last_received = NOT_YET_NS
        client.deadline = NEVER
        client.n_pages, client.n_messages, client.next_number = len(workload), len(messages), 1
        pages = np.empty((len(workload), 4), dtype=np.int64)
        issue_s, think_s, deadline_s = workload.issue_s, workload.think_s, workload.deadline_s
        pages[:, 0] = np.where(np.isnan(issue_s), -1, np.rint(issue_s * _NS_PER_S))
        pages[:, 1] = np.where(think_s == 0.0, -1, np.rint(think_s * _NS_PER_S))
        pages[:, 2] = workload.objects
        pages[:, 3] = np.where(np.isnan(deadline_s), NEVER, np.rint(deadline_s * _NS_PER_S))
        sizes = [message.size_bytes for message in messages]
        rows: Any = client  # its rows are arrays until a way of running takes them
        rows.pages = pages
        rows.objects = np.empty((len(workload.sizes), 3), dtype=np.int64)
        rows.objects[:, :2], rows.objects[:, 2] = workload.sizes, self.delays_ns[number]
        rows.loads = np.zeros((len(workload), words_of("Load")), dtype=np.int64)
        rows.messages = np.zeros((len(messages), 4), dtype=np.int64)
        rows.messages[:, 0] = [round(message.at_s * _NS_PER_S) for message in messages]
        rows.messages[:, 1], rows.messages[:, 2] = sizes, np.cumsum(sizes, dtype=np.int64)
        return client

    # -- the air

    def _set_air(self, air: AirConfig) -> None:
        run, phy, n = self.run, air.phy, len(self.members)
        if isinstance(radio := self.config.radio, StateRadioConfig):  # the others have passages of no time
            times_ms = radio.wakeup_ms, radio.settle_ms, radio.listen_advance_ms
            run.wakeup, run.settle, run.guard = (round(time_ms * _NS_PER_MS) for time_ms in times_ms)
            run.drift = radio.drift_ppm
        run.slot, run.difs, run.pifs = phy.slot_ns, phy.difs_ns, phy.pifs_ns
        run.timeout, run.after_collision = phy.timeout_ns, phy.difs_ns
        run.cw_min, run.cw_max, run.attempts = phy.cw_min, phy.cw_max, 7
        run.beacon_air, run.dtim = phy.lowest_ns(air.beacons.size_bytes), air.beacons.dtim_period
        run.next_beacon, run.next_target = 1, run.interval
        run.wanted = run.turn = run.beacon_turn = NEVER
        run.edca = int(air.edca)
        run.beacons_lossy = int(air.beacon_loss and run.loss_rate > 0.0)
        run.batches_room, run.listeners_room = self.room, self.room * (n + 1)
        run.n_neighbours, run.offered = air.neighbours, int(air.neighbour_mbps > 0.0)
        run.most_bytes = exchange_times.most_together(phy, air.max_ampdu_bytes) if air.max_ampdu_bytes else 0
        rows: Any = run
        rows.exchanges = exchange_times.data_table(phy, air.rts_bytes, max(run.full, NEIGHBOUR_BYTES))
        rows.fetches = exchange_times.fetch_table(phy, run.full)
        rows.together = exchange_times.together_table(phy, air.rts_bytes, run.most_bytes)
        group = exchange_times.group(phy, air.beacons.broadcast_bytes + DATA_OVERHEAD_BYTES)
        for name, value in zip(RECORDS["Exchange"].fields, group, strict=True):
            setattr(run.group_exchange, name, value)
        self._set_contenders(air)
        self._set_stations(air)

    def _set_contenders(self, air: AirConfig) -> None:
        """Give every station its stream of backoffs; neighbours and group frames draw theirs after all of them."""
        run, stream = self.run, partial(randomness.generator, self.seed, randomness.AIR)
        run.contenders = [things.Contender() for _ in range(1 + air.neighbours + len(self.members))]
        after = len(run.contenders)
        for place, contender in enumerate(run.contenders):
            contender.place, contender.cw = place, run.cw_min
            self._draw(contender.backoffs, backoffs(stream(place)))
            if not 1 <= place <= air.neighbours:
                continue
            frame = contender.alike = things.Frame()
            frame.code = codes.OFFERED if run.offered else codes.SATURATED
            size: Any = NEIGHBOUR_BYTES + DATA_OVERHEAD_BYTES + (QOS_BYTES if run.most_bytes else 0)
            frame.exchange = size  # its place among the exchanges
            if run.offered:
                mean_ns = NEIGHBOUR_BYTES * 8_000 / air.neighbour_mbps
                self._draw(contender.gaps, gaps(stream(after), mean_ns))
                after += 1
        if air.beacons.broadcast_per_s:
            self._draw(run.group_gaps, gaps(stream(after), _NS_PER_S / air.beacons.broadcast_per_s))

    def _set_stations(self, air: AirConfig) -> None:
        wanted = RETRIEVALS.index(air.retrieval)
        for client, (_, policy) in zip(self.run.clients, self.members, strict=True):
            client.contender = self.run.contenders[1 + air.neighbours + client.number]
            client.contender.client = client
            uapsd = wanted == codes.AUTO and policy.spec.startswith("uapsd")
            client.retrieval = codes.UAPSD if uapsd else wanted
            client.announces = int(air.twt_announced)
            client.expected = client.missed = -1
            client.close = client.timer = client.wake = NEVER
            if self.run.beacons_lossy:
                stream = randomness.generator(self.seed, randomness.LOSS, 1 + client.number)
                self._draw(client.reception, uniform(stream))


def _never_sleeps(policy: Policy) -> bool:
    return bool(getattr(policy, "never_sleeps", False))


def _set_links(run: things.Run, link: LinkConfig) -> None:
    air, wire = (link.wireless_mbps, link.wireless_delay_ms), (link.wired_mbps, link.wired_delay_ms)
    for line, (mbps, delay_ms) in ((run.wire_up, wire), (run.wire_down, wire), (run.air_up, air), (run.air_down, air)):
        rate_bps = round(mbps * 1e6)
        common = gcd(_NS_PER_BYTE_AT_1_BIT_PER_S, rate_bps)
        line.numerator, line.denominator = _NS_PER_BYTE_AT_1_BIT_PER_S // common, rate_bps // common
        line.delay = round(delay_ms * 1e6)
        line.full = run.full * line.numerator // line.denominator
        line.bare = run.header * line.numerator // line.denominator


def trip_of(
    totals: Sequence[int], loads: Ints, polls: Ints, intervals: Ints, messages: Ints, radio: Radio, on_air: bool
) -> tuple[Trip, Ints]:
    """Return what a client's run leaves behind, and its messages: instant written, size, instant delivered.

    Parameters
    ----------
    totals : sequence of int
        The numbers of `netsim.model.things.Totals`, in their order.
    loads, messages : array of int64
        A row a `Load`, and a `Message`.
    polls, intervals : array of int64
        As in `Trip`.
    radio : Radio
        Of the client.
    on_air : bool
        Whether the states of its radio were told apart.
    """
    end, awake, beacons, air_up, air_down, lost, groups_lost, beacons_lost, *states = totals
    n = words_of("States")
    at = words_of("Load") - 2 * n  # the states before and after stand behind the rest
    trip = Trip(
        end_ns=end, awake_ns=awake, beacons=beacons, air_up_ns=air_up, air_down_ns=air_down, frames_lost=lost,
        loads=loads[:, :at].copy(), polls=polls, intervals=intervals,
        states=StateTimes.of(states) if on_air else None,
        page_states=loads[:, at + n :] - loads[:, at : at + n] if on_air else None,
        groups_lost=groups_lost, beacons_lost=beacons_lost,
    )  # fmt: skip
    return trip, messages[:, [0, 1, 3]]
