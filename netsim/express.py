"""Runs on the compiled twin of the packet model, equal to it to the nanosecond.

`netsim.twin` holds the recurrence; here it is fed, and the pages that it
leaves over (where a retransmission timer would have run out) are browsed by the
packet model from the state that the kernel stopped in, until nothing of them is on
its way any more.  Not covered at all: losses, policies of one's own, and what
`netsim.twin.lpsm2` names of LPSM2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import is_compiled
from netsim.access_point import AccessPoint
from netsim.browser import Browser, Trip
from netsim.clock import Clock
from netsim.policies.bsd import BoundedSlowdown
from netsim.policies.lpsm import Lpsm
from netsim.policies.lpsm2 import Lpsm2
from netsim.policies.protocol import Policy
from netsim.policies.static import AlwaysAwake, StaticPsm
from netsim.station import Station
from netsim.twin import layout as slot
from netsim.twin.lpsm2 import Carried, why_not_lpsm2
from netsim.twin.run import run_pages, run_pages_learning, run_pages_on_schedules
from traces.columns import Workload

__all__ = ["NotCoveredError", "browse", "is_ready", "why_not"]

Ints = NDArray[np.int64]

_NS_PER_S = 1_000_000_000
_MAX_BYTES = 2**40


class NotCoveredError(ValueError):
    """The compiled twin does not cover this run, or a page of it."""


def why_not(policy: Policy, loss_rate: float) -> str | None:
    """Say why runs like this are not covered, or None if they are."""
    if loss_rate:
        return f"loss_rate is {loss_rate}, and only lossless links are covered"
    if type(policy) is Lpsm2:
        return why_not_lpsm2(policy)
    if type(policy) not in (AlwaysAwake, StaticPsm, BoundedSlowdown, Lpsm):
        return f"policy {policy.spec} has no compiled twin"
    return None


def is_ready(policy: Policy) -> bool:
    """Whether what runs under `policy` need is compiled, in this process or on disk."""
    entry: Any = run_pages
    if isinstance(policy, Lpsm | Lpsm2):
        entry = run_pages_learning if isinstance(policy, Lpsm) else run_pages_on_schedules
    return is_compiled(entry)


class _Run:
    """The arrays of one run, and the steps on them."""

    def __init__(
        self,
        workload: Workload,
        delays_ns: Ints,
        policy: Policy,
        browser: Browser,
        access_point: AccessPoint,
        beacon_interval_ns: int,
    ) -> None:
        n = len(workload)
        if workload.sizes.max() > _MAX_BYTES:
            raise NotCoveredError(f"sizes must be at most {_MAX_BYTES} bytes, got {workload.sizes.max()}")
        self.workload, self.delays_ns, self.policy = workload, delays_ns, policy
        self.browser, self.access_point, self.interval_ns = browser, access_point, beacon_interval_ns
        self.sizes = np.empty(3 * len(delays_ns), dtype=np.int64)
        self.sizes[::3], self.sizes[1::3], self.sizes[2::3] = *workload.sizes.T, delays_ns
        objects = workload.objects
        self.pages = np.full((n + 1, 4), -1, dtype=np.int64)
        self.pages[:-1, 0] = np.where(np.isnan(workload.issue_s), -1, np.rint(workload.issue_s * _NS_PER_S))
        self.pages[:-1, 1] = np.rint(workload.think_s * _NS_PER_S)
        self.pages[:-1, 2] = np.cumsum(objects + 1) - objects - 1
        self.pages[:-1, 3] = objects
        self.world = _world(policy, browser, access_point, beacon_interval_ns, int(objects.max()))
        self.kept = np.empty(slot.RING - slot.FIRST_STATE, dtype=np.int64)
        self.learner = policy.learner.arrays() if isinstance(policy, Lpsm) else ()
        self.kept_learner = tuple(np.empty_like(part) for part in self.learner[:4])
        self.carried = None
        if isinstance(policy, Lpsm2):
            self.carried = Carried(policy, int(self.world[slot.ROOM]), beacon_interval_ns)
        self.loads = np.zeros((n, 4), dtype=np.int64)
        self.polls = np.empty(6 * (64 * n + 256), dtype=np.int64)
        self.intervals = np.empty(2 * (64 * n + 256), dtype=np.int64)
        self.left_over = 0

    def express(self, first: int) -> int:
        """Browse from page `first` on to the end; return the first page left over, or one beyond the end."""
        while True:
            self.world[slot.BAIL] = 0
            work = (first, self.pages, self.sizes, self.world, self.kept, self.loads, self.polls, self.intervals)
            carried = self.carried
            if carried is not None:
                first = run_pages_on_schedules(*work, carried.integers, carried.floats, *carried.kept)
            elif self.learner:
                first = run_pages_learning(*work, *self.learner, *self.kept_learner)
            else:
                first = run_pages(*work)
            if self.world[slot.BAIL] != slot.FULL:
                return first
            self.polls = np.concatenate([self.polls, np.empty_like(self.polls)])
            self.intervals = np.concatenate([self.intervals, np.empty_like(self.intervals)])
            if carried is not None:
                carried.grow()

    def packet(self, first: int) -> int:
        """Browse from page `first` on by the packet model until all is quiet between two pages; return the next."""
        state = self.world
        clock = Clock(int(state[slot.NOW]))
        browser = self.browser.again(clock, self._load_station(clock))
        station = browser.station
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
        state[slot.NOW] = clock.now
        self.save_station(station)
        self._append(np.array(station.polls, dtype=np.int64), np.array(station.intervals, dtype=np.int64))
        return page

    def save_station(self, station: Station) -> None:
        """Enter the station, the links and the policy into the state."""
        state, point = self.world, self.access_point
        state[slot.GATE : slot.RECEIVED + 1] = station.state()
        links = (point.air_up, point.wire_up, point.wire_down, point.air_down)
        state[slot.AIR_UP : slot.AIR_DOWN + 1] = [link.free_ns for link in links]
        state[slot.AIR_UP_BUSY], state[slot.AIR_DOWN_BUSY] = point.air_up.busy_ns, point.air_down.busy_ns
        if station.never_sleeps:
            state[slot.BUSY] = slot.NEVER
        if isinstance(self.policy, Lpsm):
            state[slot.BEACONS_TO_SLEEP] = self.policy.beacons
        if self.carried is not None:
            self.carried.load()

    def _load_station(self, clock: Clock) -> Station:
        state, point = self.world, self.access_point
        links = (point.air_up, point.wire_up, point.wire_down, point.air_down)
        for link, free in zip(links, state[slot.AIR_UP : slot.AIR_DOWN + 1].tolist(), strict=True):
            link.free_ns = free
        point.air_up.busy_ns, point.air_down.busy_ns = int(state[slot.AIR_UP_BUSY]), int(state[slot.AIR_DOWN_BUSY])
        if isinstance(self.policy, Lpsm):
            self.policy.resume(int(state[slot.BEACONS_TO_SLEEP]))
        station = Station(clock, point.again(clock), self.policy, self.interval_ns)
        station.resume(state[slot.GATE : slot.RECEIVED + 1].tolist())
        if self.carried is not None:
            self.carried.unload()
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
    browser: Browser,
    access_point: AccessPoint,
    *,
    beacon_interval_ns: int,
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
        One of the package's own; advanced by the run.
    browser, access_point : Browser, AccessPoint
        Fresh ones of the packet model: what they are set to counts here too.
    beacon_interval_ns : int
        Time between beacons.
    hand_over : bool
        Whether pages that are not covered go to the packet model; otherwise they raise.

    Raises
    ------
    NotCoveredError
        If a page is left over and may not be handed over, or a size exceeds 2**40 bytes.
    """
    run = _Run(workload, delays_ns, policy, browser, access_point, beacon_interval_ns)
    run.save_station(browser.station)
    page = 0
    while (page := run.express(page)) <= len(workload):
        if not hand_over:
            raise NotCoveredError(f"page {workload[page].page!r}: a retransmission timer would run out")
        page = run.packet(page)
    state = run.world
    if isinstance(policy, Lpsm):
        policy.resume(int(state[slot.BEACONS_TO_SLEEP]))
    if run.carried is not None:
        run.carried.unload()
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


def _world(policy: Policy, browser: Browser, point: AccessPoint, interval_ns: int, most_objects: int) -> Ints:
    tcp = browser.tcp
    in_flight = (tcp.window + 4) * (browser.max_connections + 1)
    p = slot.new_world(1 << (2 * in_flight).bit_length(), most_objects)
    (p[slot.AIR_NUM], p[slot.AIR_DEN]), p[slot.AIR_DELAY] = point.air_up.ns_per_byte, point.air_up.delay_ns
    (p[slot.WIRE_NUM], p[slot.WIRE_DEN]), p[slot.WIRE_DELAY] = point.wire_up.ns_per_byte, point.wire_up.delay_ns
    p[slot.MSS], p[slot.HEADER] = tcp.mss_bytes, tcp.header_bytes
    p[slot.FIRST_WINDOW], p[slot.WINDOW], p[slot.NAGLE] = tcp.initial_window, tcp.window, tcp.nagle
    p[slot.MIN_RTO], p[slot.FIRST_RTO] = round(tcp.min_rto_s * _NS_PER_S), round(tcp.initial_rto_s * _NS_PER_S)
    p[slot.PERSISTENT], p[slot.MAX_CONNECTIONS] = browser.persistent, browser.max_connections
    p[slot.INTERVAL] = interval_ns
    full, bare = tcp.mss_bytes + tcp.header_bytes, tcp.header_bytes
    p[slot.AIR_FULL] = full * p[slot.AIR_NUM] // p[slot.AIR_DEN]
    p[slot.AIR_BARE] = bare * p[slot.AIR_NUM] // p[slot.AIR_DEN]
    p[slot.WIRE_FULL] = full * p[slot.WIRE_NUM] // p[slot.WIRE_DEN]
    p[slot.WIRE_BARE] = bare * p[slot.WIRE_NUM] // p[slot.WIRE_DEN]
    if isinstance(policy, StaticPsm):
        p[slot.KIND] = slot.PSM
        p[slot.PERIOD], p[slot.TIMEOUT] = policy.integers
    elif isinstance(policy, BoundedSlowdown):
        p[slot.KIND] = slot.BSD
        p[slot.NUMERATOR], p[slot.DENOMINATOR], p[slot.HOLD], p[slot.MAX_BEACONS] = policy.integers
    elif isinstance(policy, Lpsm):
        p[slot.KIND] = slot.LPSM
    return p
