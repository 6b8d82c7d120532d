"""Runs on the express engine, equal to those on the packet model to the nanosecond.

`run.run_pages` holds the recurrence; here it is fed, and the pages that it
leaves over (where a retransmission timer would have run out, or the order of two events
at one instant decides) go to the compiled loop of events from the state that the kernel
stopped in, until nothing of them is on its way any more (`netsim.express.handover`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from netsim.air.express.memory import form_of
from netsim.browser import Trip
from netsim.express import layout as slot
from netsim.express.coverage import NotCoveredError
from netsim.express.state import new_world
from netsim.policies.protocol import Policy
from netsim.push import table_of
from netsim.running.standalone import standalone
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
    return run_pages.ready() and form_of(policy).is_ready


class Run:
    """The arrays of one run, and the express steps on them.

    Attributes
    ----------
    workload, messages, delays_ns, policy, config
        As `browse` takes them.
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
        self._form = form_of(policy)
        self.world = new_world(policy, self._form, config, int(objects.max(initial=0)))
        self.world[slot.N_PAGES], self.world[slot.N_MESSAGES] = n, len(messages)
        self.flow = np.array([config.tcp.initial_window, config.tcp.window], dtype=np.float64)
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
            kept = self.state()
            page = self._browse(first, min(first + at_once, end))
            reason = int(self.world[slot.BAIL])
            if reason:
                self.take_back(kept)
                if page > first:
                    self._browse(first, page)
                self.world[slot.BAIL] = reason
                if reason != slot.FULL:
                    return page
            else:
                at_once = min(2 * at_once, _MOST_AT_ONCE)
            if reason or 2 * self.filled() > 1.0:
                self.make_room()
            first = page
        return first

    def _browse(self, first: int, end: int) -> int:
        form = self._form
        return run_pages(
            first, end, self.pages, self._sizes, self.world, self.loads, self.polls, self.intervals, self._reached,
            self.pushed, self.flow, form.ints, form.floats,
        )  # fmt: skip

    def state(self) -> tuple[Ints, Floats, Ints, Floats]:
        """Return a copy of the state, which `take_back` returns to."""
        form = self._form
        return self.world[slot.FIRST_STATE : slot.RING].copy(), self.flow.copy(), form.ints.copy(), form.floats.copy()

    def take_back(self, kept: tuple[Ints, Floats, Ints, Floats]) -> None:
        """Return to a state."""
        form = self._form
        self.world[slot.FIRST_STATE : slot.RING], self.flow[:], form.ints[:], form.floats[:] = kept

    def filled(self) -> float:
        """Return how full the room for polls, or that for intervals, is; above 1 there was too little of it."""
        w = self.world
        return max(6 * w[slot.N_POLLS] / self.polls.size, 2 * w[slot.N_INTERVALS] / self.intervals.size)

    def make_room(self) -> None:
        """Double the room for polls and intervals."""
        self.polls = np.concatenate([self.polls, np.empty_like(self.polls)])
        self.intervals = np.concatenate([self.intervals, np.empty_like(self.intervals)])

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
    compile_more: bool,
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
    compile_more : bool
        Whether pages that are left over may wait until the loop of events is compiled.

    Returns
    -------
    Trip, array of int64
        The record, and that of the messages as `PushChannel.record` returns it.

    Raises
    ------
    NotCoveredError
        If that loop is needed, and neither compiled nor to be compiled; if more is under way at once than it has room
        for, the policy plans what it must not, or a size exceeds 2**40 bytes.
    """
    run = Run(workload, messages, delays_ns, policy, config)
    page, events = 0, None
    while (page := run.express(page)) <= len(workload):
        if run.world[slot.BAIL] == slot.REFUSED:
            raise NotCoveredError("the policy plans a wake-up that is no beacon")
        if events is None:
            from netsim.express.handover import Handover, run_cell

            if not compile_more and not run_cell.ready():
                raise NotCoveredError("the loop of events would have to be compiled")
            events = Handover(run)
        page = events.browse(page)
    record = run.pushed[:-1].copy()
    record[:, 1] = np.diff(record[:, 1], prepend=0)
    return run.trip(), record
