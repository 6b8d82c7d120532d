"""SimPy's environment with a clock in integer nanoseconds, and one short way to be called at an instant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simpy import Environment, Event

__all__ = ["Clock", "Occurrence"]


class Occurrence(Event):
    """Something that happens at an instant known beforehand, with a value for whoever is called."""

    def __init__(self, clock: Clock, at_ns: int, callback: Callable[[Occurrence], None], value: Any) -> None:
        self.env = clock
        self.callbacks = [callback]
        self._value = value
        self._ok = True
        clock.schedule(self, delay=at_ns - clock.now)


class Clock(Environment):
    """A SimPy environment whose time is an integer number of nanoseconds, from 0."""

    def __init__(self) -> None:
        super().__init__(initial_time=0)

    @property
    def now(self) -> int:
        """The instant, nanoseconds since the start of the run."""
        return self._now  # type: ignore[return-value]  # integers in, integers out

    def at(self, at_ns: int, callback: Callable[[Occurrence], None], value: Any = None) -> None:
        """Call `callback` with an event that carries `value` at `at_ns`, which must not be in the past."""
        if at_ns < self._now:
            raise ValueError(f"at_ns must not lie before now ({self._now}), got {at_ns}")
        Occurrence(self, at_ns, callback, value)
