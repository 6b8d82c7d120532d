"""What an event of the model costs on SimPy: as a callback, as a process, as a process that others interrupt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

from simpy import Environment, Event, Interrupt

from netsim.model.primitives import Occurrence

EVENTS, STEP_NS = 200_000, 100


def called_back(clock: Environment) -> None:
    """One callback after another, as the interpreted model does it."""
    left = EVENTS

    def again(_: Event) -> None:
        nonlocal left
        left -= 1
        if left:
            Occurrence(machine, int(clock.now) + STEP_NS, 0, None)

    machine = SimpleNamespace(clock=clock, handlers=[again])
    Occurrence(machine, STEP_NS, 0, None)


def waited_for(clock: Environment) -> None:
    """One process that waits and is not disturbed."""

    def waiting() -> Iterator[Event]:
        for _ in range(EVENTS):
            yield clock.timeout(STEP_NS)

    clock.process(waiting())  # type: ignore[arg-type]


def interrupted(clock: Environment) -> None:
    """A process whose waits are cut short, as every frame would cut short a station that waits for its beacon."""

    def waiting() -> Iterator[Event]:
        for _ in range(EVENTS):
            try:
                yield clock.timeout(STEP_NS)
            except Interrupt:
                continue

    process = clock.process(waiting())  # type: ignore[arg-type]

    def disturb(_: Event) -> None:
        if process.is_alive:
            process.interrupt()
            Occurrence(machine, int(clock.now) + STEP_NS * 3 // 2, 0, None)

    machine = SimpleNamespace(clock=clock, handlers=[disturb])
    Occurrence(machine, STEP_NS // 2, 0, None)


def microseconds(set_up: Callable[[Environment], None]) -> float:
    """Return microseconds an event, the best of three."""
    times = []
    for _ in range(3):
        clock = Environment(initial_time=0)
        set_up(clock)
        began = time.perf_counter()
        clock.run()
        times.append(time.perf_counter() - began)
    return min(times) / EVENTS * 1e6


if __name__ == "__main__":
    peer = microseconds(called_back)
    print(f"{'callback':22} {peer:5.2f} us an event")
    for name, set_up in (("process", waited_for), ("process, interrupted", interrupted)):
        cost = microseconds(set_up)
        print(f"{name:22} {cost:5.2f} us an event, {cost / peer:4.1f} x a callback")
