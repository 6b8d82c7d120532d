"""Pages that the express engine leaves over go to the compiled loop of events, from a state between two pages and back.

That loop (`netsim.air.express`, here with `wires` for its medium) has TCP's whole sender and receiver at both ends, and
the order of events of the packet model; it needs several times as long for a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsim.air.express import layout as event
from netsim.air.express.engine import run_cell
from netsim.air.express.memory import Memory
from netsim.express import layout as slot
from netsim.express.coverage import NotCoveredError

if TYPE_CHECKING:
    from netsim.express.engine import Run

__all__ = ["Handover", "run_cell"]


class Handover(Memory):
    """The loop of events beside a run of the express engine, whose arrays it works on too."""

    def __init__(self, run: Run) -> None:
        super().__init__([(run.workload, run.policy)], [run.delays_ns], [run.messages], run.config, {})
        self._run = run
        self.w[event.ON_WIRES] = 1
        self._fresh = self.w[: self.places["pages"]].copy()

    def browse(self, first: int) -> int:
        """Browse from page `first` on until all is quiet between two pages.

        Returns
        -------
        int
            The next page; one more than there can be if the run has ended.
        """
        run = self._run
        kept = run.state()
        while not self._browse(first):
            run.take_back(kept)
            run.make_room()
        w, client = self.w, self.places["clients"]
        page = (int(w[client + event.CLIENT_LOADS]) - self.places["loads"]) // event.LOAD_SIZE
        run.loads[first:page] = self.part("loads", first, page)[:, :4]
        run.left_over += page - first
        if run.messages:
            delivered = int(run.world[slot.DELIVERED])
            before = int(kept[0][slot.DELIVERED - slot.FIRST_STATE])
            run.pushed[before:delivered, 2] = self.part("messages", before, delivered)[:, event.MESSAGE_DELIVERED]
        return page + int(w[client + event.CLIENT_IS_DONE])

    def _browse(self, first: int) -> bool:
        """Do so; return whether there was room enough for the polls and intervals awake."""
        run, w = self._run, self.w
        w[: len(self._fresh)] = self._fresh
        page = self.places["pages"] + event.PAGE_SIZE * first
        self.enter({event.FIRST_PAGE: page, event.BEGUN: first > 0})
        self.enter_columns({
            event.CLIENT_WIRES: run.world.ctypes.data, event.CLIENT_FLOW: run.flow.ctypes.data,
            event.CLIENT_POLLS: run.polls.ctypes.data, event.CLIENT_INTERVALS: run.intervals.ctypes.data,
            event.CLIENT_PAGES: page,
            event.CLIENT_OBJECTS: self.places["objects"] + event.OBJECT_SIZE * int(run.pages[first, 2]),
            event.CLIENT_LOADS: self.places["loads"] + event.LOAD_SIZE * first,
        })  # fmt: skip
        run.world[slot.POLLS_ROOM], run.world[slot.INTERVALS_ROOM] = run.polls.size, run.intervals.size
        if run_cell(w) & event.REFUSED:
            raise NotCoveredError("too much is under way at once, or the policy plans a wake-up that is no beacon")
        return run.filled() <= 1.0
