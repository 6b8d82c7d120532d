"""SimPy's environment with a clock in integer nanoseconds, and one short way to be called at an instant."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush
from typing import Any

from simpy import Environment, Event
from simpy.events import NORMAL, EventPriority

__all__ = ["Clock", "Occurrence"]

_LAST = EventPriority(NORMAL + 1)


class Occurrence(Event):
    """Something that happens at an instant known beforehand, with a value for whoever is called.

    It is SimPy's `Timeout` with an absolute instant and its one callback given at once.  Nearly all events of a run
    are of this kind, so it enters itself into SimPy's queue instead of calling `Environment.schedule`, which would
    make a run of the Web model under static PSM 3 to 6 % slower.

    Parameters
    ----------
    clock : Clock
        Where it is scheduled.
    at_ns : int
        When; must not be in the past.
    callback : callable
        Called with this event.
    value : object, optional
        What the event carries.
    last : bool
        Whether it comes after all else that happens at its instant, rather than in the order in which it was scheduled.
    """

    def __init__(
        self, clock: Clock, at_ns: int, callback: Callable[[Occurrence], None], value: Any = None, last: bool = False
    ) -> None:
        if at_ns < clock._now:
            raise ValueError(f"at_ns must not lie before now ({clock._now}), got {at_ns}")
        self.env = clock
        self.callbacks = [callback]
        self._value = value
        self._ok = True
        heappush(clock._queue, (at_ns, _LAST if last else NORMAL, next(clock._eid), self))


class Clock(Environment):
    """A SimPy environment whose time is an integer number of nanoseconds, from `start_ns` on."""

    def __init__(self, start_ns: int = 0) -> None:
        super().__init__(initial_time=start_ns)

    @property
    def now(self) -> int:
        """The instant, nanoseconds since the start of the run."""
        return self._now  # type: ignore[return-value]  # integers in, integers out
