"""A run before it begins, and what it leaves behind: pages, world and seeds to records, and records to a `RunRecord`.

The run, its clients and its contenders are records; what stands in rows (pages, objects, messages, loads, exchanges) is
arrays of int64, a row a record and a column a number, which each way of running makes its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from math import gcd, inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lpsm import randomness
from lpsm.arrays import Floats, Ints
from lpsm.native.records import fields_of, words_of
from netsim.config import CONTROLS, RETRIEVALS, AirConfig, LinkConfig, SimulationConfig, flights_of
from netsim.model import codes, entities
from netsim.model.air import exchange_times
from netsim.model.air.air_times import DATA_OVERHEAD_BYTES, QOS_BYTES
from netsim.model.codes import NEVER
from netsim.model.packets import SACK_OPTION
from netsim.policies.compiled import NOT_YET_NS
from netsim.policies.protocol import Policy
from netsim.radio import STATES, StateRadioConfig, StateTimes
from netsim.result import DATAGRAMS, LOADS, RunRecord
from traces.columns import Workload
from traces.records import Message

Member = tuple[Workload, Policy]
Draws = Callable[[int], Floats]
"""Draws so many batches of random numbers, a row each."""
Kind = Callable[[np.random.Generator, int], Floats]
"""The same, by a generator."""
BATCH = 64
"""Numbers of a batch."""

BATCHES = 4096
"""Batches of group frames that may be on their way at once."""

NEIGHBOUR_BYTES = 1500
"""Size of a neighbour's packets."""
_NS_PER_S, _NS_PER_MS = 1_000_000_000, 1_000_000
_LEAST_TIMED_BYTES, _FASTEST_MBPS = 20_000, 1000.0
_FURTHEST_NS = 80_000_000
_NS_PER_BYTE_AT_1_BIT_PER_S = 8_000_000_000


@dataclass(slots=True)
class World:
    """A run that has not begun."""

    members: list[Member]  #: what each client browses, and its policy, which the run advances
    delays_ns: Sequence[Ints]  #: the server's delays, one a reply in the order of the pages
    pushed: Sequence[Sequence[Message]]  #: what the server writes to each client of its own accord
    config: SimulationConfig  #: the world
    seed: int  #: of losses, backoffs, neighbours and group frames
    room: int = 64  #: how many beacons a client may wait for at once
    run: entities.Run = field(default_factory=entities.Run)  #: the run; its rows of clients and contenders are lists
    streams: list[tuple[entities.Stream, Draws]] = field(default_factory=list)  #: what draws the numbers of each stream
    _drawn: list[tuple[entities.Stream, Kind, int, int]] = field(default_factory=list)  # their kinds, and of what seed

    def __post_init__(self) -> None:
        run, config, tcp, n = self.run, self.config, self.config.tcp, len(self.members)
        run.mss, run.header, run.full = tcp.mss_bytes, tcp.header_bytes, tcp.mss_bytes + tcp.header_bytes
        run.first_window, run.window, run.nagle = tcp.initial_window, tcp.window, int(tcp.nagle)
        run.min_rto, run.first_rto = round(tcp.min_rto_s * _NS_PER_S), round(tcp.initial_rto_s * _NS_PER_S)
        run.control, run.max_ack_delay = CONTROLS.index(tcp.control), round(tcp.ack_delay_s * _NS_PER_S)
        run.credit, run.quic, run.resumption = tcp.stream_window_bytes, int(tcp.http3), tcp.resumption
        run.names_at = tcp.named_after_bytes
        run.flights = np.array(flights_of("tls", tcp.tls), dtype=np.int64)
        run.resumed_flights = np.array(flights_of("tls_resumed", tcp.tls_resumed), dtype=np.int64)
        run.n_flights, run.n_resumed = len(run.flights), len(run.resumed_flights) if tcp.resumption else 0
        if tcp.tls and tcp.resumption:
            self._draw(run.resumptions, _uniform, randomness.RESUMPTION)
        run.persistent, run.max_connections = int(config.connections == "persistent"), config.max_connections
        run.interval, run.on_wires = config.beacon_interval_ns, int(config.medium is None)
        run.loss_rate, run.oracle_stamps = config.link.loss_rate, int(config.oracle_stamps)
        if run.loss_rate:
            self._draw(run.losses, _uniform, randomness.LOSS)
        run.queue, run.n_clients, run.clients = config.link.queue_packets, n, [entities.Client() for _ in range(n)]
        if config.medium is not None:
            self._set_air(config.medium)
        self._begin()

    def again(self, members: list[Member], delays_ns: Sequence[Ints], pushed: Any, seed: int) -> None:
        """Begin another run with as many clients; the records of this one must not have changed."""
        self.members, self.delays_ns, self.pushed, self.seed = members, delays_ns, pushed, seed
        self._begin()

    def _begin(self) -> None:
        """Set what differs from run to run."""
        run, config = self.run, self.config
        drawn = ((stream, kind, randomness.generator(self.seed, *which)) for stream, kind, *which in self._drawn)
        self.streams = [(stream, partial(kind, rng)) for stream, kind, rng in drawn]
        recorded_mbps = max((_recorded_mbps(workload) for workload, _ in self.members), default=0.0)
        soonest_s = min((_soonest_s(workload) for workload, _ in self.members), default=inf)
        _set_links(run, config.link, recorded_mbps, soonest_s if config.server_delay.kind == "recorded" else inf)
        run.starts = np.zeros(run.queue, dtype=np.int64)
        in_flight = recorded_mbps * 2 * (run.wire_up.delay + run.air_up.delay) / 8_000 / run.mss
        run.window = max(config.tcp.window, round(in_flight))
        for number in range(run.n_clients):
            self._set_client(number)
        if config.medium is not None:
            self._set_stations(config.medium)

    def overloaded(self) -> ValueError:
        """Return what is wrong if more group frames come than the channel carries."""
        air = self.config.medium
        assert air is not None
        return ValueError(
            f"broadcast_per_s must leave time for others on {air.phy.spec} beside {air.neighbours} neighbours, "
            f"got {air.beacons.broadcast_per_s:g}, of which {BATCHES:,} batches came to wait at once"
        )

    def _draw(self, stream: entities.Stream, kind: Kind, purpose: int, index: int = 0) -> None:
        stream.stop = 1
        self._drawn.append((stream, kind, purpose, index))

    def _set_client(self, number: int) -> None:
        (workload, policy), messages, client = self.members[number], self.pushed[number], self.run.clients[number]
        client.number, client.host_aware = number, int(policy.host_aware)
        client.observes = int(hasattr(policy, "observe"))
        alone = self.run.n_clients == 1 or not self.run.on_wires
        client.never_sleeps = int(alone and bool(getattr(policy, "never_sleeps", False)))
        client.polls = int(bool(getattr(policy, "polls", False)))
        client.last_sent = client.last_received = NOT_YET_NS
        client.deadline = NEVER
        client.n_pages, client.n_messages, client.next_number = len(workload), len(messages), 1
        issue_s, think_s, deadline_s = workload.issue_s, workload.think_s, workload.deadline_s
        sizes, (requests, replies) = [message.size_bytes for message in messages], workload.sizes.T
        rows: Any = client  # int64 tables until a run makes objects or addresses of them
        rows.pages = rows_of(
            "Page", len(workload), objects=workload.objects,
            issue=np.where(np.isnan(issue_s), -1, np.rint(issue_s * _NS_PER_S)),
            think=np.where(think_s == 0.0, -1, np.rint(think_s * _NS_PER_S)),
            deadline=np.where(np.isnan(deadline_s), NEVER, np.rint(deadline_s * _NS_PER_S)),
        )  # fmt: skip
        graph = _graph(workload)
        rows.objects = rows_of(
            "Object", len(requests), request=requests, reply=replies, delay=self.delays_ns[number],
            asked_of=workload.servers, **graph,
        )  # fmt: skip
        client.n_hosts = 1 + int(graph["host"].max()) if graph else 0
        rows.hosts, rows.queues = rows_of("Host", client.n_hosts), rows_of("Objects", client.n_hosts)
        rows.loads = rows_of("PageRecord", len(workload))
        instants, ends = [round(message.at_s * _NS_PER_S) for message in messages], np.cumsum(sizes, dtype=np.int64)
        rows.messages = rows_of("Message", len(messages), at=instants, bytes=sizes, end=ends)
        drawn_ns = self.delays_ns[number] if self.config.server_delay.kind != "recorded" else None
        rows.steps, client.next_due = _steps(workload, drawn_ns, self.run)
        rows.datagrams = _datagrams(workload, self.run.mss)
        client.n_steps, client.n_datagrams = len(rows.steps), len(rows.datagrams)
        client.until = round((workload.captured_s or 0.0) * _NS_PER_S)

    # -- the air

    def _set_air(self, air: AirConfig) -> None:
        run, phy, n = self.run, air.phy, len(self.members)
        if isinstance(radio := self.config.radio, StateRadioConfig):  # the others have passages of no time
            times_ms = radio.wakeup_ms, radio.settle_ms, radio.listen_advance_ms
            run.wakeup, run.settle, run.guard = (round(time_ms * _NS_PER_MS) for time_ms in times_ms)
            run.drift = radio.drift_ppm
        run.slot, run.difs, run.pifs = phy.slot_ns, air.aifs_ns, phy.pifs_ns
        run.timeout, run.after_collision = phy.timeout_ns, air.aifs_ns
        (run.cw_min, run.cw_max), run.attempts, beacons = air.windows, 7, air.beacons
        run.beacon_air, run.dtim = phy.everybody_ns(beacons.size_bytes, beacons.beacon_mbps), beacons.dtim_period
        run.next_beacon, run.next_target = 1, run.interval
        run.wanted = run.turn = run.beacon_turn = NEVER
        run.edca, run.asks = int(air.edca or air.access != "dcf"), int(air.block_ack_requests)
        run.beacons_lossy = int(air.beacon_loss and run.loss_rate > 0.0)
        run.batches_room, run.listeners_room = BATCHES, self.room * (n + 1)
        run.n_neighbours, run.offered = air.neighbours, int(air.neighbour_mbps > 0.0)
        run.most_bytes = exchange_times.most_together(phy, air.max_ampdu_bytes) if air.max_ampdu_bytes else 0
        run.at_once = phy.block_ack_frames if run.most_bytes else 1
        rows: Any = run
        largest = max(run.full, run.header + SACK_OPTION if run.control else 0)
        rows.exchanges = _exchanges(exchange_times.data_table, phy, air.rts_bytes, max(largest, NEIGHBOUR_BYTES))
        rows.fetches = _exchanges(exchange_times.fetch_table, phy, largest)
        rows.together = _exchanges(exchange_times.together_table, phy, air.rts_bytes, run.most_bytes)
        group = exchange_times.group(phy, beacons.broadcast_bytes + DATA_OVERHEAD_BYTES, beacons.beacon_mbps)
        asks = exchange_times.block_ack_request(phy)
        for name, of_group, asked in zip(exchange_times.TIMES, group, asks, strict=True):
            setattr(run.group_exchange, name, of_group)
            setattr(run.request_exchange, name, asked)
        self._set_contenders(air)

    def _set_contenders(self, air: AirConfig) -> None:
        """Give every station its stream of backoffs; neighbours and group frames draw theirs after all of them."""
        run = self.run
        n = 1 + air.neighbours + len(self.members)
        if n > 1 << codes.ORDER_BITS:
            raise ValueError(f"clients and neighbours must be less than {1 << codes.ORDER_BITS}, got {n - 1}")
        run.contenders = [entities.Contender() for _ in range(n)]
        after = len(run.contenders)
        for place, contender in enumerate(run.contenders):
            contender.place, contender.cw = place, run.cw_min
            self._draw(contender.backoffs, _backoffs, randomness.AIR, place)
            if not 1 <= place <= air.neighbours:
                continue
            frame = contender.template = entities.Frame()
            frame.code = codes.OFFERED if run.offered else codes.SATURATED
            size: Any = NEIGHBOUR_BYTES + DATA_OVERHEAD_BYTES + (QOS_BYTES if run.most_bytes else 0)
            frame.exchange = size  # its place among the exchanges
            if run.offered:
                mean_ns = NEIGHBOUR_BYTES * 8_000 / air.neighbour_mbps
                self._draw(contender.gaps, _gaps(mean_ns), randomness.AIR, after)
                after += 1
        if air.beacons.broadcast_per_s:
            self._draw(run.group_gaps, _gaps(_NS_PER_S / air.beacons.broadcast_per_s), randomness.AIR, after)
        if run.beacons_lossy:
            for number, client in enumerate(run.clients):
                self._draw(client.reception, _uniform, randomness.LOSS, 1 + number)

    def _set_stations(self, air: AirConfig) -> None:
        wanted = RETRIEVALS.index(air.retrieval)
        for client, (_, policy) in zip(self.run.clients, self.members, strict=True):
            client.contender = self.run.contenders[1 + air.neighbours + client.number]
            client.contender.client = client.turn.client = client
            triggers = client.polls and not getattr(policy, "opens_gate", False)
            uapsd = wanted == codes.AUTO and (policy.spec.startswith("uapsd") or triggers)
            client.retrieval = codes.UAPSD if uapsd else wanted
            client.announces = int(air.twt_announced)
            client.expected = client.missed = -1
            client.close = client.timer = client.wake = NEVER


def _steps(workload: Workload, drawn_ns: Ints | None, run: entities.Run) -> tuple[Ints, int]:
    """Return the exchanges that have times of their own, and the place of the first that waits for an instant.

    The server's delays are those drawn, if there are some, else what is left of the recorded time up to the first byte
    of the reply when these links have had theirs.  Where these links take longer than that, the reply is written faster
    by as much, and at last its pause is shorter; where they take longer than the whole exchange, what waited for it has
    so much less of a pause.
    """
    n = len(workload.timings)
    if not n:
        return rows_of("Step", 0), -1
    request_ns, response_ns, reply_ns, pause_ns = np.rint(workload.timings[:, 3:7].T * _NS_PER_S).astype(np.int64)
    requests, replies = workload.sizes[:n].T
    up, down = (run.mss, run.header, run.wire_up, run.air_up), (run.mss, run.header, run.wire_down, run.air_down)
    piece_up, every_up, up_ns, longer_up_ns = _written(requests, request_ns, *up)
    _, _, down_ns, _ = _written(replies, reply_ns, *down)
    late_ns = np.where(replies > 0, np.maximum(up_ns + down_ns - response_ns, 0), up_ns + down_ns)
    pause_ns = np.minimum(pause_ns, np.maximum(reply_ns - late_ns, 0))
    piece_down, every_down, _, longer_down_ns = _written(replies, reply_ns - late_ns - pause_ns, *down)
    columns = {
        "page": np.repeat(np.arange(len(workload)), 1 + workload.objects)[:n],
        "request": requests, "reply": replies, "asked_of": workload.servers[:n],
        "delay": np.maximum(response_ns - up_ns - down_ns, 0) if drawn_ns is None else drawn_ns[:n],
        "request_piece": piece_up, "request_every": every_up, "reply_piece": piece_down, "reply_every": every_down,
        "pause": pause_ns, "after_pause": replies - workload.timings[:, 7].astype(np.int64),
        **_relations(workload, longer_up_ns + longer_down_ns),
    }  # fmt: skip
    due = int(columns.pop("due"))
    return rows_of("Step", n, **columns), due


def _written(
    sizes: Ints, lasts_ns: Ints, mss: int, header: int, *lines: entities.Line
) -> tuple[Ints, Ints, Ints, Ints]:
    """Return how what takes so long is written over two links in turn.

    It is cut into pieces of a full segment, or less, so that no two are further apart than `_FURTHEST_NS`.  Of these
    are returned the size, the time from one to the next, how long the first is on its way, and how much longer than
    `lasts_ns` they all take; a negative `lasts_ns` is so much longer already.
    """
    written_ns = np.maximum(lasts_ns, 0)
    full = -(-sizes // mss)
    count = np.maximum(full, np.minimum(sizes, written_ns // _FURTHEST_NS + 1))
    piece = np.maximum(np.where(count == full, np.minimum(mss, sizes), -(-sizes // np.maximum(count, 1))), 1)
    more = np.maximum(-(-sizes // piece), 1) - 1
    once_ns = [(piece + header) * line.numerator // line.denominator for line in lines]
    first_ns = np.add(*once_ns) + sum(line.delay for line in lines)
    return piece, written_ns // np.maximum(more, 1), first_ns, np.maximum(more * np.maximum(*once_ns) - lasts_ns, 0)


def _relations(workload: Workload, longer_ns: Ints) -> dict[str, Ints]:
    """Return when exchanges begin, what waits for what, and as `due` the first that waits for an instant."""
    timings = workload.timings
    places = np.arange(len(timings))
    columns = {name: np.full(len(timings), -1) for name in ("sibling", "first", "before", "next")}
    latest: dict[int, int] = {}
    for place, connection in enumerate(timings[:, 0].astype(np.int64).tolist()):
        if (earlier := latest.get(connection, -1)) >= 0:
            columns["before"][place], columns["next"][earlier] = earlier, place
        latest[connection] = place
    after = np.where(timings[:, 1] > 0, places - timings[:, 1].astype(np.int64), -1)
    at = np.rint(timings[:, 2] * _NS_PER_S).astype(np.int64)
    at = np.where(after < 0, at, np.maximum(at - longer_ns[after], 0)) if len(at) else at
    due = -1
    for place in np.lexsort((places, at))[::-1].tolist():
        earlier = int(after[place])
        columns["sibling"][place] = due if earlier < 0 else columns["first"][earlier]
        if earlier < 0:
            due = place
        else:
            columns["first"][earlier] = place
    return {**columns, "at": at, "due": due}


def _graph(workload: Workload) -> dict[str, Ints]:
    """Return of each object what it waits for and whom it is asked of, if pages are graphs."""
    n = len(workload.causes)
    if not n:
        return {}
    after, pauses_s, is_awaited, is_stream = workload.causes.T
    lengths, places = 1 + workload.objects, np.arange(n)
    begun = np.repeat(np.cumsum(lengths) - lengths, lengths)  # where the page of each begins
    host, first, sibling = np.empty(n, np.int64), np.full(n, -1), np.full(n, -1)
    by_host = np.lexsort((workload.servers, begun))
    nth = np.cumsum((np.diff(begun[by_host], prepend=-1) != 0) | (np.diff(workload.servers[by_host], prepend=0) != 0))
    host[by_host] = nth - nth[begun]
    parents = np.where(places > begun, places - after.astype(np.int64), -1)
    by_parent = np.argsort(parents, kind="stable")[len(workload) :]  # each page begins with what has none
    of, known = parents[by_parent], by_parent - begun[by_parent]
    is_last = np.diff(of, append=-1) != 0
    sibling[by_parent[:-1]] = np.where(is_last[:-1], -1, known[1:])
    first[of[np.roll(is_last, 1)]] = known[np.roll(is_last, 1)]
    return {
        "host": host, "first": first, "sibling": sibling, "pause": np.rint(pauses_s * _NS_PER_S).astype(np.int64),
        "is_awaited": is_awaited.astype(np.int64), "is_stream": is_stream.astype(np.int64),
    }  # fmt: skip


def _datagrams(workload: Workload, mss: int) -> Ints:
    """Return the datagrams; one that is larger than a segment goes in several."""
    if not workload.datagrams:
        return rows_of("Datagram", 0)
    rows = [
        (round(at_s * _NS_PER_S), min(mss, max(size - begin, 0)), int(up))
        for at_s, size, up, _ in workload.datagrams
        for begin in range(0, max(size, 1), mss)
    ]
    at, size, up = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return rows_of("Datagram", len(rows), at=at, bytes=size, up=up)


def rows_of(kind: str, n: int, **columns: ArrayLike) -> Ints:
    """Return `n` records of a kind in a row, whose other fields are 0."""
    rows = np.zeros((n, words_of(kind)), dtype=np.int64)
    for name, values in columns.items():
        rows[:, fields_of(kind)[name].at] = values
    return rows


def _columns(rows: Ints, kind: str, names: tuple[str, ...], begin: int = 0) -> Ints:
    """Return some fields of records in a row that begin at a place, a column a field."""
    return rows[..., _places(kind, names, begin)]


@cache
def _places(kind: str, names: tuple[str, ...], begin: int) -> Ints:
    return np.array([begin + fields_of(kind)[name].at for name in names])


@lru_cache(maxsize=16)
def _exchanges(table: Callable[..., Ints], *given: object) -> Ints:
    """Return exchanges in a row by what tells their times."""
    times = table(*given)
    return rows_of("Exchange", len(times), **dict(zip(exchange_times.TIMES, times.T, strict=True)))


def _uniform(rng: np.random.Generator, rows: int) -> Floats:
    """Numbers uniform on [0, 1), of losses."""
    return rng.random((rows, BATCH))


def _backoffs(rng: np.random.Generator, rows: int) -> Floats:
    """The same, of backoffs: the last of a batch first."""
    return rng.random((rows, BATCH))[:, ::-1]


def _gaps(mean_ns: float) -> Kind:
    """Memoryless gaps of this mean, in whole nanoseconds."""
    return lambda rng, rows: np.rint(rng.exponential(mean_ns, (rows, BATCH)))


def _recorded_mbps(workload: Workload) -> float:
    """Return twice the rate of the fastest transfer that was recorded, so that two at a time have room; 0: none was."""
    if not len(workload.timings):
        return 0.0
    lasts_s, sizes = workload.timings[:, [3, 5]], workload.sizes[: len(workload.timings)]
    told = (sizes > _LEAST_TIMED_BYTES) & (lasts_s > 0.0)
    return float(min(2 * (8e-6 * sizes[told] / lasts_s[told]).max(initial=0.0), _FASTEST_MBPS))


def _soonest_s(workload: Workload) -> float:
    """Return the shortest recorded time from a request to the first byte of its reply; infinite: none was."""
    responses_s = workload.timings[workload.sizes[: len(workload.timings), 1] > 0, 4]
    return float(responses_s[responses_s > 0.0].min(initial=inf))


def _set_links(run: entities.Run, link: LinkConfig, least_mbps: float, longest_s: float) -> None:
    """Set the links; none is slower than `least_mbps`, and the way to the servers and back takes `longest_s` at most.

    What was recorded went through them.
    """
    air = max(link.wireless_mbps, least_mbps), link.wireless_delay_ms
    wire = max(link.wired_mbps, least_mbps), min(link.wired_delay_ms, max(0.0, 500 * longest_s - air[1]))
    for line, (mbps, delay_ms) in ((run.wire_up, wire), (run.wire_down, wire), (run.air_up, air), (run.air_down, air)):
        rate_bps = round(mbps * 1e6)
        common = gcd(_NS_PER_BYTE_AT_1_BIT_PER_S, rate_bps)
        line.numerator, line.denominator = _NS_PER_BYTE_AT_1_BIT_PER_S // common, rate_bps // common
        line.delay = round(delay_ms * 1e6)
        line.full = run.full * line.numerator // line.denominator
        line.bare = run.header * line.numerator // line.denominator


def trip_of(
    totals: Ints, loads: Ints, polls: Ints, intervals: Ints, messages: Ints, datagrams: Ints, steps: Ints,
    on_air: bool,
) -> tuple[RunRecord, Ints]:  # fmt: skip
    """Return what a client's run leaves behind, and its messages: instant written, size, instant delivered.

    `totals` are the numbers of `netsim.model.entities.Totals`, as they lie in memory, and in the same way `loads`,
    `messages`, `datagrams` and `steps` a row a record; `polls` and `intervals` are as in `RunRecord`.  On the air the
    states of the radio were told apart.
    """
    of_page = fields_of("PageRecord")
    before, after = (_columns(loads, "States", STATES, of_page[name].at) for name in ("before", "after"))
    end, awake, beacons, air_up, air_down, lost, groups_lost, beacons_lost = _columns(
        totals, "Totals",
        ("end", "awake", "beacons", "air_up", "air_down", "lost", "groups_lost", "beacons_lost"),
    ).tolist()  # fmt: skip
    pages = _columns(loads, "PageRecord", LOADS)
    if not pages[:, LOADS.index("done")].all():
        raise RuntimeError("every page of a run must be complete when it ends, got one that is not")
    states = _columns(totals, "States", STATES, fields_of("Totals")["states"].at).tolist()
    trip = RunRecord(
        end_ns=end, awake_ns=awake, beacons=beacons, air_up_ns=air_up, air_down_ns=air_down, frames_lost=lost,
        loads=pages, polls=polls, intervals=intervals,
        states=StateTimes.of(states) if on_air else None, page_states=after - before if on_air else None,
        groups_lost=groups_lost, beacons_lost=beacons_lost, datagrams=_columns(datagrams, "Datagram", DATAGRAMS),
        exchanges=_columns(steps, "Step", ("begun", "ended")),
    )  # fmt: skip
    return trip, _columns(messages, "Message", ("at", "bytes", "delivered"))
