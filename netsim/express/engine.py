"""Runs on the express engine, equal to those on the packet model to the nanosecond.

`run.run_pages` holds the recurrence; here it is fed, and the pages that it
leaves over (where a retransmission timer would have run out) are browsed by the
packet model from the state that the kernel stopped in, until nothing of them is on
its way any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lpsm import randomness
from lpsm._compile import standalone
from netsim.access_point import AccessPoint
from netsim.browser import Browser, Trip
from netsim.clock import Clock
from netsim.express import layout as slot
from netsim.express.coverage import NotCoveredError
from netsim.policies.compiled import CompiledForm
from netsim.policies.protocol import Policy
from netsim.server import Server
from netsim.station import Station
from netsim.station_state import StationState
from traces.columns import Workload

if TYPE_CHECKING:
    from netsim.simulation import SimulationConfig

__all__ = ["browse", "is_ready"]

Ints = NDArray[np.int64]

_NS_PER_S = 1_000_000_000
_MAX_BYTES = 2**40
_FEWEST_AT_ONCE, _MOST_AT_ONCE = 64, 8192  # pages from one keeping of the state to the next

run_pages = standalone("netsim.express.run", "run_pages")


def is_ready(policy: Policy) -> bool:
    """Whether what runs under `policy` need is compiled, in this process or on disk."""
    return run_pages.ready() and _form(policy).is_ready


def _form(policy: Policy) -> CompiledForm:
    form: CompiledForm = policy.compiled  # type: ignore[attr-defined]
    return form


class _Run:
    """The arrays of one run, and the steps on them."""

    def __init__(self, workload: Workload, delays_ns: Ints, policy: Policy, config: SimulationConfig) -> None:
        n = len(workload)
        if workload.sizes.max() > _MAX_BYTES:
            raise NotCoveredError(f"sizes must be at most {_MAX_BYTES} bytes, got {workload.sizes.max()}")
        self.workload, self.delays_ns, self.policy = workload, delays_ns, policy
        self.config = config
        clock = Clock()
        self.access_point = AccessPoint(clock, config.link, randomness.generator(0, randomness.LOSS))  # without loss
        station = Station(clock, self.access_point, policy, config.beacon_interval_ns)
        self.sizes = np.empty(3 * len(delays_ns), dtype=np.int64)
        self.sizes[::3], self.sizes[1::3], self.sizes[2::3] = *workload.sizes.T, delays_ns
        objects = workload.objects
        self.pages = np.full((n + 1, 5), -1, dtype=np.int64)
        self.pages[:-1, 0] = np.where(np.isnan(workload.issue_s), -1, np.rint(workload.issue_s * _NS_PER_S))
        self.pages[:-1, 1] = np.rint(workload.think_s * _NS_PER_S)
        self.pages[:-1, 2] = np.cumsum(objects + 1) - objects - 1
        self.pages[:-1, 3] = objects
        self.pages[:, 4] = slot.NEVER
        if policy.host_aware:
            due = ~np.isnan(workload.deadline_s)
            self.pages[:-1, 4][due] = np.rint(workload.deadline_s[due] * _NS_PER_S)
        self.world = _world(policy, config, self.access_point, int(objects.max()))
        self.save_station(station)
        self.form = _form(policy)
        self.reached = np.empty(int(self.world[slot.ROOM]), dtype=np.int64)
        self.loads = np.zeros((n, 4), dtype=np.int64)
        self.polls = np.empty(6 * (64 * n + 256), dtype=np.int64)
        self.intervals = np.empty(2 * (64 * n + 256), dtype=np.int64)
        self.left_over = 0

    def express(self, first: int) -> int:
        """Browse from page `first` on to the end; return the first page left over, or one beyond the end.

        The state is kept every so many pages, more and more of them while none is left over; a page left over takes it
        back there, and on to before that page.
        """
        end, at_once = len(self.pages), _FEWEST_AT_ONCE
        while first < end:
            kept = self._state()
            page = self._browse(first, min(first + at_once, end))
            reason = int(self.world[slot.BAIL])
            if reason:
                self._take_back(kept)
                self._browse(first, page)
                self.world[slot.BAIL] = reason
                if reason != slot.FULL:
                    return page
                self.polls = np.concatenate([self.polls, np.empty_like(self.polls)])
                self.intervals = np.concatenate([self.intervals, np.empty_like(self.intervals)])
            else:
                at_once = min(2 * at_once, _MOST_AT_ONCE)
            first = page
        return end

    def _browse(self, first: int, end: int) -> int:
        form = self.form
        return run_pages(
            first, end, self.pages, self.sizes, self.world, self.loads, self.polls, self.intervals, self.reached,
            form.ints, form.floats,
        )  # fmt: skip

    def _state(self) -> tuple[Ints, Ints, NDArray[np.float64]]:
        return self.world[slot.FIRST_STATE : slot.RING].copy(), self.form.ints.copy(), self.form.floats.copy()

    def _take_back(self, state: tuple[Ints, Ints, NDArray[np.float64]]) -> None:
        self.world[slot.FIRST_STATE : slot.RING], self.form.ints[:], self.form.floats[:] = state

    def packet(self, first: int) -> int:
        """Browse from page `first` on by the packet model until all is quiet between two pages; return the next."""
        state = self.world
        clock = Clock(int(state[slot.NOW]))
        station, config = self._load_station(clock), self.config
        browser = Browser(
            clock,
            station,
            Server(clock),
            config.tcp,
            persistent=config.connections == "persistent",
            max_connections=config.max_connections,
        )
        page = first
        while page < len(self.workload):
            first_object, n_objects = self.pages[page, 2], self.pages[page, 3] + 1
            delays = self.delays_ns[first_object : first_object + n_objects]
            clock.run(until=clock.process(browser.browse(self.workload[page : page + 1], delays)))
            page += 1
            if station.quiet(clock.now):
                break
        self.left_over += page - first
        self.loads[first:page] = np.array(browser.loads, dtype=np.int64).reshape(-1, 4)
        state[slot.NOW], state[slot.PAGE_DEADLINE] = clock.now, self.pages[page - 1, 4]
        self.save_station(station)
        self._append(np.array(station.polls, dtype=np.int64), np.array(station.intervals, dtype=np.int64))
        return page

    def save_station(self, station: Station) -> None:
        """Enter the station and the links into the state."""
        state, point = self.world, self.access_point
        station_state = station.state()
        state[slot.FIRST_OF_STATION : slot.FIRST_OF_STATION + len(station_state)] = station_state
        links = (point.air_up, point.wire_up, point.wire_down, point.air_down)
        state[slot.FIRST_LINK : slot.FIRST_LINK + len(links)] = [link.free_ns for link in links]
        state[slot.AIR_UP_BUSY], state[slot.AIR_DOWN_BUSY] = point.air_up.busy_ns, point.air_down.busy_ns
        if station.never_sleeps:
            state[slot.BUSY] = slot.NEVER

    def _load_station(self, clock: Clock) -> Station:
        state, point = self.world, self.access_point
        links = (point.air_up, point.wire_up, point.wire_down, point.air_down)
        free = state[slot.FIRST_LINK : slot.FIRST_LINK + len(links)].tolist()
        for link, free_ns in zip(links, free, strict=True):
            link.free_ns = free_ns
        point.air_up.busy_ns, point.air_down.busy_ns = int(state[slot.AIR_UP_BUSY]), int(state[slot.AIR_DOWN_BUSY])
        station = Station(clock, point.again(clock), self.policy, self.config.beacon_interval_ns, asked=True)
        due = int(state[slot.PAGE_DEADLINE])
        station.deadline_ns = None if due == slot.NEVER else due
        fields = len(StationState._fields)
        station.resume(StationState(*state[slot.FIRST_OF_STATION : slot.FIRST_OF_STATION + fields].tolist()))
        return station

    def _append(self, polls: Ints, intervals: Ints) -> None:
        state = self.world
        n_polls, n_intervals = int(state[slot.N_POLLS]), int(state[slot.N_INTERVALS])
        self.polls = np.concatenate([self.polls[: 6 * n_polls], polls, np.empty_like(self.polls)])
        self.intervals = np.concatenate([self.intervals[: 2 * n_intervals], intervals, np.empty_like(self.intervals)])
        state[slot.N_POLLS] += len(polls) // 6
        state[slot.N_INTERVALS] += len(intervals) // 2


def browse(
    workload: Workload,
    delays_ns: Ints,
    policy: Policy,
    config: SimulationConfig,
    *,
    hand_over: bool,
) -> Trip:
    """Browse the pages on links without loss, as the packet model would.

    Parameters
    ----------
    workload : Workload
        What to browse.
    delays_ns : array of int64
        The server's delays, one a reply in the order of the pages.
    policy : Policy
        One with a compiled form; advanced by the run.
    config : SimulationConfig
        The world.
    hand_over : bool
        Whether pages that are not covered go to the packet model; otherwise they raise.

    Raises
    ------
    NotCoveredError
        If a page is left over and may not be handed over, or a size exceeds 2**40 bytes.
    """
    run = _Run(workload, delays_ns, policy, config)
    page = 0
    while (page := run.express(page)) <= len(workload):
        if not hand_over and run.world[slot.BAIL] != slot.REFUSED:  # what a policy must not the packet model refuses
            raise NotCoveredError(f"page {workload[page].page!r}: a retransmission timer would run out")
        page = run.packet(page)
    state = run.world
    end, since = int(state[slot.NOW]), int(state[slot.SINCE])
    until = end if state[slot.GATE] else min(end, int(state[slot.UNTIL]))
    last = np.array([since, until] if until > since else [], dtype=np.int64)
    return Trip(
        end_ns=end,
        awake_ns=int(state[slot.BEFORE]) + max(0, until - since),
        beacons=int(state[slot.BEACONS]),
        air_up_ns=int(state[slot.AIR_UP_BUSY]),
        air_down_ns=int(state[slot.AIR_DOWN_BUSY]),
        frames_lost=0,
        loads=run.loads,
        polls=run.polls[: 6 * int(state[slot.N_POLLS])].reshape(-1, 6),
        intervals=np.concatenate([run.intervals[: 2 * int(state[slot.N_INTERVALS])], last]),
        pages_handed_over=run.left_over,
    )


def _world(policy: Policy, config: SimulationConfig, point: AccessPoint, most_objects: int) -> Ints:
    tcp = config.tcp
    in_flight = (tcp.window + 4) * (config.max_connections + 1)
    p = slot.new_world(1 << (2 * in_flight).bit_length(), most_objects)
    (p[slot.AIR_NUM], p[slot.AIR_DEN]), p[slot.AIR_DELAY] = point.air_up.ns_per_byte, point.air_up.delay_ns
    (p[slot.WIRE_NUM], p[slot.WIRE_DEN]), p[slot.WIRE_DELAY] = point.wire_up.ns_per_byte, point.wire_up.delay_ns
    p[slot.MSS], p[slot.HEADER] = tcp.mss_bytes, tcp.header_bytes
    p[slot.FIRST_WINDOW], p[slot.WINDOW], p[slot.NAGLE] = tcp.initial_window, tcp.window, tcp.nagle
    p[slot.MIN_RTO], p[slot.FIRST_RTO] = round(tcp.min_rto_s * _NS_PER_S), round(tcp.initial_rto_s * _NS_PER_S)
    p[slot.PERSISTENT], p[slot.MAX_CONNECTIONS] = config.connections == "persistent", config.max_connections
    p[slot.INTERVAL], p[slot.PAGE_DEADLINE] = config.beacon_interval_ns, slot.NEVER
    full, bare = tcp.mss_bytes + tcp.header_bytes, tcp.header_bytes
    p[slot.AIR_FULL] = full * p[slot.AIR_NUM] // p[slot.AIR_DEN]
    p[slot.AIR_BARE] = bare * p[slot.AIR_NUM] // p[slot.AIR_DEN]
    p[slot.WIRE_FULL] = full * p[slot.WIRE_NUM] // p[slot.WIRE_DEN]
    p[slot.WIRE_BARE] = bare * p[slot.WIRE_NUM] // p[slot.WIRE_DEN]
    form = _form(policy)
    p[slot.RULE], p[slot.OBSERVER] = form.addresses
    p[slot.HOST_AWARE] = policy.host_aware
    p[slot.N_INTS], p[slot.N_FLOATS] = form.ints.size, form.floats.size
    return p
