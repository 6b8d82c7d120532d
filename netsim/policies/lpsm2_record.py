"""What LPSM2 learned from, and what the best schedules would have cost instead.

With `Lpsm2Config(record=True)` a policy keeps one `Round` an episode; after a run they are in
`result.final_policy.record`.  The comparators know all episodes beforehand: the best fixed
schedule of each context, and the best sequence of schedules with so many switches.  The episodes
are those that the run had, as if they would have come the same under any schedule::

    run = netsim.simulate(pages, Lpsm2(Lpsm2Config(record=True)))
    for context, past in by_context(run.final_policy.record).items():
        print(context, past.paid_j, past.best_fixed_j, past.best_switching_j(4))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpsm import hindsight

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Round(NamedTuple):
    """An episode that was learned from."""

    context: str  #: its context
    #: the episode
    start_ns: int
    end_ns: int
    arrived: bool  #: whether a frame ended it
    waiting: int  #: what its delay was divided by
    price_w: float  #: Lambda, watts
    chosen: int  #: the schedule followed
    costs: Floats  #: shape (n,): what every schedule would have cost, joules
    #: shape (n,): what they are made of
    awake_ns: Ints
    beacons: Ints
    wakeups: Ints
    delay_ns: Ints

    def costs_at(self, price_w: float) -> Floats:
        """What every schedule would have cost at another price of delay, joules, shape (n,)."""
        return self.costs + (price_w - self.price_w) / self.waiting * self.delay_ns * 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Past:
    """The rounds of one context."""

    costs: Floats  #: shape (T, n): of every schedule in every round, joules
    chosen: Ints  #: shape (T,): the schedules followed

    @property
    def paid_j(self) -> float:
        """What was paid."""
        return float(self.costs[np.arange(len(self.chosen)), self.chosen].sum())

    @property
    def best_fixed(self) -> int:
        """The schedule that would have been cheapest throughout."""
        return int(self.costs.sum(axis=0).argmin())

    @property
    def best_fixed_j(self) -> float:
        """What it would have cost."""
        return float(self.costs.sum(axis=0).min())

    def best_switching_j(self, parts: int) -> float:
        """What the best sequence of at most so many schedules would have cost, one after another."""
        least = self.costs.min(axis=1, keepdims=True)
        return hindsight.best_partition(self.costs - least, min(parts, len(self.costs))).loss + float(least.sum())


def by_context(rounds: Sequence[Round], price_w: float | None = None) -> dict[str, Past]:
    """Sort rounds by their contexts, in the order in which these first occur.

    Parameters
    ----------
    rounds : sequence of Round
        From one run; all of as many schedules.
    price_w : float, optional
        A price of delay for all of them; by default that of the moment.
    """
    sorted_rounds: dict[str, list[Round]] = {}
    for one in rounds:
        sorted_rounds.setdefault(one.context, []).append(one)
    return {
        context: Past(
            np.array([one.costs if price_w is None else one.costs_at(price_w) for one in found]),
            np.array([one.chosen for one in found], dtype=np.int64),
        )
        for context, found in sorted_rounds.items()
    }
