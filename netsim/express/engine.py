"""Runs on the express engine, equal to those on the packet model to the nanosecond.

`run.run_pages` holds the recurrence; here it is fed, and the pages that it
leaves over (where a retransmission timer would have run out) are browsed by the
packet model from the state that the kernel stopped in, until nothing of them is on
its way any more (`netsim.express.handover`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lpsm import randomness
from lpsm._compile import standalone
from netsim.access_point import AccessPoint
from netsim.browser import Trip
from netsim.clock import Clock
from netsim.express import layout as slot
from netsim.express import state
from netsim.express.coverage import NotCoveredError
from netsim.policies.compiled import CompiledForm
from netsim.policies.protocol import Policy
from netsim.push import PushState, table_of
from netsim.station import Station
from traces.columns import Workload
from traces.records import Message

if TYPE_CHECKING:
    from netsim.simulation import SimulationConfig

__all__ = ["Run", "browse", "is_ready"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_NS_PER_S = 1_000_000_000
_MAX_BYTES = 2**40
_FEWEST_AT_ONCE, _MOST_AT_ONCE = 256, 8192  # pages from one keeping of the state to the next
_FEWEST_ROWS = 256  # room for polls, and for intervals, beside 16 a page or message; it grows

run_pages = standalone("netsim.express.run", "run_pages")


def is_ready(policy: Policy) -> bool:
    """Whether what runs under `policy` need is compiled, in this process or on disk."""
    return run_pages.ready() and _form(policy).is_ready


def _form(policy: Policy) -> CompiledForm:
    form: CompiledForm = policy.compiled  # type: ignore[attr-defined]
    return form


class Run:
    """The arrays of one run, and the express steps on them.

    Attributes
    ----------
    workload, messages, delays_ns, policy, config
        As `browse` takes them.
    access_point : AccessPoint
        Its links are used by the packet model's pages.
    world, flow : array of int64, array of float64
        The state, as `layout` and `run.run_pages` say.
    pages, pushed : array of int64
        Pages and messages, as `run.run_pages` takes them.
    loads, polls, intervals : arrays of int64
        What the run leaves behind, as `Trip` says; polls and intervals with room for more.
    """

    def __init__(
        self,
        workload: Workload,
        messages: Sequence[Message],
        delays_ns: Ints,
        policy: Policy,
        config: SimulationConfig,
    ) -> None:
        n = len(workload)
        if workload.sizes.max(initial=0) > _MAX_BYTES:
            raise NotCoveredError(f"sizes must be at most {_MAX_BYTES} bytes, got {workload.sizes.max()}")
        if sum(message.size_bytes for message in messages) > _MAX_BYTES:
            raise NotCoveredError(f"messages must have at most {_MAX_BYTES} bytes altogether")
        self.workload, self.messages, self.delays_ns, self.policy = workload, messages, delays_ns, policy
        self.config = config
        clock = Clock()
        self.access_point = AccessPoint(clock, config.link, randomness.generator(0, randomness.LOSS))  # without loss
        station = Station(clock, self.access_point, policy, config.beacon_interval_ns)
        self._sizes = np.empty(3 * len(delays_ns), dtype=np.int64)
        self._sizes[::3], self._sizes[1::3], self._sizes[2::3] = *workload.sizes.T, delays_ns
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
        self.pushed = np.full((len(messages) + 1, 3), slot.NEVER, dtype=np.int64)
        self.pushed[:-1] = table_of(messages)
        self._form = _form(policy)
        self.world = state.new_world(policy, self._form, config, self.access_point, int(objects.max(initial=0)))
        self.world[slot.N_PAGES], self.world[slot.N_MESSAGES] = n, len(messages)
        self.flow = np.zeros(2)
        state.enter_push(self.world, self.flow, 0, PushState.first(config.tcp))
        state.enter_station(self.world, self.access_point, station)
        self._reached = np.empty(int(self.world[slot.ROOM]), dtype=np.int64)
        self.loads = np.zeros((n, 4), dtype=np.int64)
        rows = 16 * (n + len(messages)) + _FEWEST_ROWS
        self.polls = np.empty(6 * rows, dtype=np.int64)
        self.intervals = np.empty(2 * rows, dtype=np.int64)
        self.left_over = 0

    def express(self, first: int) -> int:
        """Browse from page `first` on to the end; return the first page left over, or two beyond the last page.

        The state is kept every so many pages, more and more of them while none is left over; a page left over takes it
        back there, and on to before that page.
        """
        end, at_once = len(self.pages), _FEWEST_AT_ONCE
        while first <= len(self.workload):
            kept = self._state()
            page = self._browse(first, min(first + at_once, end))
            reason = int(self.world[slot.BAIL])
            if reason:
                self._take_back(kept)
                if page > first:
                    self._browse(first, page)
                self.world[slot.BAIL] = reason
                if reason != slot.FULL:
                    return page
            else:
                at_once = min(2 * at_once, _MOST_AT_ONCE)
            if reason or 12 * self.world[slot.N_POLLS] > self.polls.size:
                self.polls = np.concatenate([self.polls, np.empty_like(self.polls)])
            if reason or 4 * self.world[slot.N_INTERVALS] > self.intervals.size:
                self.intervals = np.concatenate([self.intervals, np.empty_like(self.intervals)])
            first = page
        return first

    def _browse(self, first: int, end: int) -> int:
        form = self._form
        return run_pages(
            first, end, self.pages, self._sizes, self.world, self.loads, self.polls, self.intervals, self._reached,
            self.pushed, self.flow, form.ints, form.floats,
        )  # fmt: skip

    def _state(self) -> tuple[Ints, Floats, Ints, Floats]:
        form = self._form
        return self.world[slot.FIRST_STATE : slot.RING].copy(), self.flow.copy(), form.ints.copy(), form.floats.copy()

    def _take_back(self, kept: tuple[Ints, Floats, Ints, Floats]) -> None:
        form = self._form
        self.world[slot.FIRST_STATE : slot.RING], self.flow[:], form.ints[:], form.floats[:] = kept

    def append(self, polls: Ints, intervals: Ints) -> None:
        """Enter polls and intervals that the packet model noted."""
        w = self.world
        n_polls, n_intervals = int(w[slot.N_POLLS]), int(w[slot.N_INTERVALS])
        self.polls = np.concatenate([self.polls[: 6 * n_polls], polls, np.empty_like(self.polls)])
        self.intervals = np.concatenate([self.intervals[: 2 * n_intervals], intervals, np.empty_like(self.intervals)])
        w[slot.N_POLLS] += len(polls) // 6
        w[slot.N_INTERVALS] += len(intervals) // 2

    def trip(self) -> Trip:
        """Return what the run leaves behind at its end."""
        w = self.world
        end, since = int(w[slot.NOW]), int(w[slot.SINCE])
        until = end if w[slot.GATE] else min(end, int(w[slot.UNTIL]))
        last = np.array([since, until] if until > since else [], dtype=np.int64)
        return Trip(
            end_ns=end,
            awake_ns=int(w[slot.BEFORE]) + max(0, until - since),
            beacons=int(w[slot.BEACONS]),
            air_up_ns=int(w[slot.AIR_UP_BUSY]),
            air_down_ns=int(w[slot.AIR_DOWN_BUSY]),
            frames_lost=0,
            loads=self.loads,
            polls=self.polls[: 6 * int(w[slot.N_POLLS])].reshape(-1, 6),
            intervals=np.concatenate([self.intervals[: 2 * int(w[slot.N_INTERVALS])], last]),
            pages_handed_over=self.left_over,
        )


def browse(
    workload: Workload,
    messages: Sequence[Message],
    delays_ns: Ints,
    policy: Policy,
    config: SimulationConfig,
    *,
    hand_over: bool,
) -> tuple[Trip, Ints]:
    """Browse the pages on links without loss, as the packet model would.

    Parameters
    ----------
    workload : Workload
        What to browse.
    messages : sequence of Message
        What is pushed beside it.
    delays_ns : array of int64
        The server's delays, one a reply in the order of the pages.
    policy : Policy
        One with a compiled form; advanced by the run.
    config : SimulationConfig
        The world.
    hand_over : bool
        Whether pages that are not covered go to the packet model; otherwise they raise.

    Returns
    -------
    Trip, array of int64
        The record, and that of the messages as `PushChannel.record` returns it.

    Raises
    ------
    NotCoveredError
        If a page is left over and may not be handed over, or a size exceeds 2**40 bytes.
    """
    run = Run(workload, messages, delays_ns, policy, config)
    page = 0
    while (page := run.express(page)) <= len(workload):
        if not hand_over and run.world[slot.BAIL] != slot.REFUSED:  # what a policy must not the packet model refuses
            what = f"page {workload[page].page!r}" if page < len(workload) else "after the last page"
            raise NotCoveredError(f"{what}: a retransmission timer would run out, or two things happen at once")
        from netsim.express.handover import browse_packets

        page = browse_packets(run, page)
    record = run.pushed[:-1].copy()
    record[:, 1] = np.diff(record[:, 1], prepend=0)
    return run.trip(), record
