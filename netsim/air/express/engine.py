"""Runs of cells on the compiled air, equal to those of the packet model to the nanosecond.

`run.run_cell` is the packet model's loop of events, event for event; here its array is filled, numbers are drawn for
it from the same streams, and what it leaves is made into records.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lpsm import randomness
from netsim.air.access import Medium
from netsim.air.air_times import DATA_OVERHEAD_BYTES, NULL_BYTES, POLL_BYTES, QOS_BYTES, Phy
from netsim.air.cell import NEIGHBOUR_BYTES
from netsim.air.exchanges import control, data, group, polled
from netsim.air.express import layout as slot
from netsim.air.express.draws import DRAWN_AHEAD, Streams, backoffs, gaps, uniform
from netsim.air.express.memory import Memory, form_of
from netsim.air.radio_states import Passages, StateTimes
from netsim.browser import Trip
from netsim.clock import Clock
from netsim.express.coverage import NotCoveredError
from netsim.policies.protocol import Policy
from netsim.radio import StateRadioConfig
from netsim.running.standalone import standalone
from traces.columns import Workload
from traces.records import Message

if TYPE_CHECKING:
    from netsim.simulation import SimulationConfig

__all__ = ["browse_together", "is_ready", "run_cell"]

Ints = NDArray[np.int64]

_NS_PER_S = 1_000_000_000
_LOG = 4096
_LATE = 1024  # beacons that were late, before there is made more room for them

run_cell = standalone("netsim.air.express.run", "run_cell")


def is_ready(policies: Sequence[Policy]) -> bool:
    """Whether what runs under these policies need is compiled, in this process or on disk."""
    return run_cell.ready() and all(form_of(policy).is_ready for policy in policies)


def browse_together(
    members: Sequence[tuple[Workload, Policy]],
    delays_ns: Sequence[Ints],
    pushed: Sequence[Sequence[Message]],
    config: SimulationConfig,
    seed: int,
) -> list[tuple[Trip, Ints]]:
    """Browse with the clients of one cell, as the packet model would.

    Parameters
    ----------
    members : sequence of (Workload, Policy)
        What each client browses, and a policy with a compiled form, which the run advances.
    delays_ns : sequence of arrays of int64
        The server's delays, one a reply in the order of the pages.
    pushed : sequence of sequences of Message
        What the server writes to each client of its own accord.
    config : SimulationConfig
        The world; its medium is an `AirConfig`.
    seed : int
        Of losses, backoffs, neighbours and group frames.

    Raises
    ------
    NotCoveredError
        If more is under way at once than there is room for, a policy plans what it must not, or a size exceeds 2**40
        bytes.
    """
    run = _Run(members, delays_ns, pushed, config, seed)
    run.go()
    return [run.result(client) for client in range(len(members))]


class _Run(Memory):
    """The array of one run, and what fills and empties it."""

    def __init__(
        self,
        members: Sequence[tuple[Workload, Policy]],
        delays_ns: Sequence[Ints],
        pushed: Sequence[Sequence[Message]],
        config: SimulationConfig,
        seed: int,
    ) -> None:
        assert config.medium is not None
        self._members, self._config, self._seed = members, config, seed
        self._air = air = config.medium
        self._contenders = 1 + air.neighbours + len(members)
        if self._contenders >= 1 << slot.ORDER_BITS:
            raise NotCoveredError(f"at most {(1 << slot.ORDER_BITS) - 1} stations are covered, got {self._contenders}")
        self._logs: list[Ints] = []
        n = len(members)
        exchanges = _exchanges(air.phy, air.rts_bytes, config.tcp.mss_bytes + config.tcp.header_bytes)
        own = {
            "contenders": slot.CONTENDER_SIZE * self._contenders,
            "exchanges": exchanges.size,
            "draws": DRAWN_AHEAD * (self._contenders + air.neighbours + 2),
            "winners": self._contenders,
            "waiting": self._contenders,
            "listeners": 2 * (8 * n + 8),
            "told": 8 * n + 8,
            "batches": slot.MOST_BATCHES * (3 + n),
            "log": slot.LOG_SIZE * (_LOG + 16 * n),
            "neighbours": slot.FRAME_SIZE * air.neighbours,
        }
        super().__init__(members, delays_ns, pushed, config, own)
        at = self.places["exchanges"]
        self.w[at : at + exchanges.size] = exchanges.ravel()
        self._streams = Streams(self.places["draws"])
        self._set_world()
        self._set_contenders()
        self._set_clients()

    def go(self) -> None:
        """Run to the end."""
        w, status = self.w, 0
        while not status & slot.OVER:
            self._streams.refill(w)
            status = run_cell(w)
            if status & slot.REFUSED:
                raise NotCoveredError("too much is under way at once, or the policy plans a wake-up that is no beacon")
            at = self.places["log"]
            self._logs.append(w[at : at + slot.LOG_SIZE * int(w[slot.N_LOG])].reshape(-1, slot.LOG_SIZE).copy())
            w[slot.N_LOG] = w[slot.STATUS] = 0
            if status & slot.LATES:  # they come last
                w = self.w = np.concatenate([w, np.zeros(2 * int(w[slot.LATE_ROOM]), dtype=np.int64)])
                w[slot.LATE_ROOM] *= 2
        log = np.concatenate(self._logs)
        self._logs = [log[np.argsort(log[:, 0], kind="stable")]]

    def result(self, number: int) -> tuple[Trip, Ints]:
        """Return what a client's run leaves behind, and its messages."""
        w, workload = self.w, self._members[number][0]
        client = self.places["clients"] + slot.CLIENT_SIZE * number
        [log] = self._logs
        mine = log[slice(*np.searchsorted(log[:, 0], (client, client + 1)))]
        end, awake, beacons, up, down, lost, groups_lost, *states = self._row(
            int(w[client + slot.CLIENT_TOTALS]), slot.TOTALS_SIZE
        ).tolist()
        n = len(workload)
        loads = self._row(int(w[client + slot.CLIENT_LOADS]) - slot.LOAD_SIZE * n, slot.LOAD_SIZE * n)
        loads = loads.reshape(-1, slot.LOAD_SIZE)
        page_states: list[tuple[StateTimes, StateTimes]] = []
        if isinstance(self._config.radio, StateRadioConfig):
            page_states = [(_states(row[: slot.STATES]), _states(row[slot.STATES :])) for row in loads[:, 4:].tolist()]
        trip = Trip(
            end_ns=end, awake_ns=awake, beacons=beacons, air_up_ns=up, air_down_ns=down, frames_lost=lost,
            loads=loads[:, :4].copy(),
            polls=mine[mine[:, 1] == 1, 2:].copy(),
            intervals=mine[mine[:, 1] == 0, 2:4].ravel(),
            pages_handed_over=0,
            states=_states(states),
            page_states=page_states,
            groups_lost=groups_lost,
        )  # fmt: skip
        begin = (int(w[client + slot.CLIENT_MESSAGES]) - self.places["messages"]) // slot.MESSAGE_SIZE
        messages = self.part("messages", begin, begin + int(w[client + slot.CLIENT_N_MESSAGES]))
        return trip, messages[:, [slot.MESSAGE_AT, slot.MESSAGE_BYTES, slot.MESSAGE_DELIVERED]]

    def _row(self, at: int, size: int) -> Ints:
        return self.w[at : at + size]

    def _set_world(self) -> None:
        config, air, places = self._config, self._air, self.places
        phy, wire, passages = air.phy, config.link.wire(), Passages.of(config.radio)
        medium = Medium(Clock(), phy)
        poll = polled(phy, NULL_BYTES, None)
        late, self.w = self.w.size, np.concatenate([self.w, np.zeros(2 * _LATE, dtype=np.int64)])
        self.enter({
            slot.SLOT: phy.slot_ns, slot.DIFS: phy.difs_ns, slot.PIFS: phy.pifs_ns, slot.TIMEOUT: phy.timeout_ns,
            slot.AFTER_COLLISION: phy.difs_ns, slot.CW_MIN: phy.cw_min, slot.CW_MAX: phy.cw_max,
            slot.ATTEMPTS: medium.attempts, slot.LOSSY: config.link.loss_rate > 0.0,
            slot.LOSS_RATE: _bits(config.link.loss_rate),
            slot.POLL_AIR: phy.control_ns(POLL_BYTES), slot.POLL_SENDER: poll.sender_ns,
            slot.GROUP_AIR: group(phy, air.beacons.broadcast_bytes + DATA_OVERHEAD_BYTES, None).first_ns,
            slot.INTERVAL: config.beacon_interval_ns, slot.BEACON_AIR: phy.lowest_ns(air.beacons.size_bytes),
            slot.DTIM: air.beacons.dtim_period,
            slot.WIRE_NUM: wire.ns_per_byte[0], slot.WIRE_DEN: wire.ns_per_byte[1], slot.WIRE_DELAY: wire.delay_ns,
            slot.WAKEUP: passages.wakeup_ns, slot.SETTLE: passages.settle_ns, slot.GUARD: passages.guard_ns,
            slot.DRIFT: _bits(passages.drift_ppm),
            slot.N_NEIGHBOURS: air.neighbours, slot.NEIGHBOUR_RATE: air.neighbour_mbps > 0.0,
            slot.CONTENDERS: places["contenders"], slot.WINNERS: places["winners"],
            slot.EXCHANGES: places["exchanges"], slot.WAITING: places["waiting"], slot.TOLD: places["told"],
            slot.LISTENERS: places["listeners"], slot.LISTENERS_ROOM: self.rooms["listeners"] // 2,
            slot.LATE: late, slot.LATE_ROOM: _LATE,
            slot.BATCHES: places["batches"], slot.BATCH_SIZE: 3 + len(self._members),
            slot.LOG: places["log"], slot.LOG_ROOM: self.rooms["log"] // slot.LOG_SIZE, slot.LOG_FEW_LEFT: _LOG // 2,
            slot.TURN: slot.NEVER, slot.BEACON_TURN: slot.NEVER, slot.WANTED: slot.NEVER,
            slot.NEXT_BEACON: 1, slot.NEXT_TARGET: config.beacon_interval_ns,
        })  # fmt: skip

    def _set_contenders(self) -> None:
        """Give every station its stream of backoffs; neighbours and group frames draw theirs after all of them."""
        w, air, drawn = self.w, self._air, self._contenders

        def rng(number: int) -> np.random.Generator:
            return randomness.generator(self._seed, randomness.AIR, number)

        for number in range(self._contenders):
            contender = self.places["contenders"] + slot.CONTENDER_SIZE * number
            w[contender + slot.CONTENDER_CW] = air.phy.cw_min
            self._streams.add(w, contender + slot.CONTENDER_NEXT, backoffs(rng(number)))
            if not 1 <= number <= air.neighbours:
                continue
            frame = self.places["neighbours"] + slot.FRAME_SIZE * (number - 1)
            w[contender + slot.CONTENDER_HEAD] = frame
            w[frame + slot.FRAME_CODE] = slot.OFFERED if air.neighbour_mbps else slot.SATURATED
            w[frame + slot.FRAME_FIRST : frame + slot.FRAME_FIRST + 5] = data(
                air.phy, NEIGHBOUR_BYTES + DATA_OVERHEAD_BYTES, air.rts_bytes
            )[:5]
            w[frame + slot.FRAME_ANSWERED] = 1
            if air.neighbour_mbps:
                mean_ns = NEIGHBOUR_BYTES * 8_000 / air.neighbour_mbps
                self._streams.add(w, contender + slot.CONTENDER_GAP, gaps(rng(drawn), mean_ns))
                drawn += 1
        if air.beacons.broadcast_per_s:
            self._streams.add(w, slot.GAP_NEXT, gaps(rng(drawn), _NS_PER_S / air.beacons.broadcast_per_s))
        if self._config.link.loss_rate:
            self._streams.add(w, slot.LOSS_NEXT, uniform(randomness.generator(self._seed, randomness.LOSS)))

    def _set_clients(self) -> None:
        wanted = ("ps-poll", "null", "uapsd", "twt", "auto").index(self._air.retrieval)
        uapsd = [wanted == slot.AUTO and policy.spec.startswith("uapsd") for _, policy in self._members]
        number = 1 + self._air.neighbours + np.arange(len(self._members))
        self.enter_columns({
            slot.CLIENT_RETRIEVAL: np.where(uapsd, slot.UAPSD, wanted),
            slot.CLIENT_CONTENDER: self.places["contenders"] + slot.CONTENDER_SIZE * number,
            slot.CLIENT_CLOSE: slot.NEVER, slot.CLIENT_TIMER: slot.NEVER,
        })  # fmt: skip


def _states(values: Sequence[int]) -> StateTimes:
    return StateTimes(**dict(zip(StateTimes.__slots__, values, strict=True)))


def _bits(value: float) -> int:
    return int(np.array([value]).view(np.int64)[0])


@lru_cache(maxsize=8)
def _exchanges(phy: Phy, rts_bytes: int | None, packet_bytes: int) -> Ints:
    """Return the times of a data frame, a row a size of its MPDU; those of null frames are among them."""
    most = packet_bytes + DATA_OVERHEAD_BYTES + QOS_BYTES
    rows = np.zeros((most + 1, slot.EXCHANGE_SIZE), dtype=np.int64)
    for size in (NULL_BYTES, NULL_BYTES + QOS_BYTES):
        rows[size, :6] = control(phy, size, None)[:6]
    for size in range(DATA_OVERHEAD_BYTES + 1, most + 1):
        fetched = polled(phy, size, None)
        rows[size] = *data(phy, size, rts_bytes)[:6], fetched.delivered_ns, fetched.total_ns
    return rows
