"""What an event of the model costs: on SimPy as a callback or a process, compiled in today's world, and in plain C.

Compiled, pages of 2025 are browsed in one process, on wires and on the air; the least of several runs counts, without
what sets a run up.  The peer in C takes the next of 64 events out of a binary heap, as often, and puts another in at a
random distance: no model at all.  It needs a C compiler (``cc``).
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

from simpy import Environment, Event, Interrupt

import netsim
import traces
from bench.air import counted
from experiments import world
from lpsm import randomness
from netsim.model.primitives import Occurrence

EVENTS, STEP_NS = 200_000, 100
PAGES, TIMES = 300, 3
POLICIES = "none", "psm", "dynamic:100", "lpsm3:1.05"
ASKED = {"wires": 8.0, "air": 4.0}  # million events a second
IN_C = r"""
#include <stdint.h>
#include <stdio.h>
#include <time.h>
typedef struct { int64_t at, order, word; } Event;
static Event heap[64];
static int before(Event a, Event b) { return a.at < b.at || (a.at == b.at && a.order < b.order); }
static void put(int hole, Event one) { /* in place of the first, which has been taken out */
    for (int next; (next = 2 * hole + 1) < 64; hole = next) {
        if (next + 1 < 64 && before(heap[next + 1], heap[next])) next++;
        if (!before(heap[next], one)) break;
        heap[hole] = heap[next];
    }
    heap[hole] = one;
}
static uint64_t drawn = 1;
static int64_t again(Event one) { drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return one.at + 1 + (int64_t)(drawn >> 44); }
static int64_t (*volatile handlers[2])(Event) = {again, again};
int main(void) {
    for (int i = 0; i < 64; i++) heap[i] = (Event){i, i, i};
    struct timespec begun, ended;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
    for (int64_t i = 64; i < 5000000 + 64; i++) {
        Event one = heap[0];
        put(0, (Event){handlers[one.word & 1](one), i, one.word});
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
    printf("%f\n", 5.0 / ((ended.tv_sec - begun.tv_sec) + 1e-9 * (ended.tv_nsec - begun.tv_nsec)));
    return heap[0].at < 0;
}
"""


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


def in_c() -> float | None:
    """Return million events a second of a loop in C; None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "loop.c"
        source.write_text(IN_C)
        subprocess.run([compiler, "-O2", "-o", f"{folder}/loop", source], check=True)
        return max(float(subprocess.run([f"{folder}/loop"], check=True, capture_output=True).stdout) for _ in range(3))


def compiled() -> Iterator[tuple[str, str, int, float]]:
    """Yield medium, policy, events, and million events a processor second."""
    pages = traces.Workload.of(traces.generate(PAGES, randomness.generator(0, randomness.WORKLOAD), "2025"))
    for medium, said in (("wires", {"air": "wires"}), ("air", {})):
        config = world.made("today", said).config
        for spec in POLICIES:
            policy = netsim.policies.make(spec, beacon_interval_ns=config.beacon_interval_ns)
            runs = [counted([pages], [policy], config) for _ in range(TIMES)]
            yield medium, spec, runs[0][0], max(events / seconds for events, seconds, _ in runs) / 1e6


if __name__ == "__main__":
    peer = microseconds(called_back)
    print(f"{'callback':22} {peer:5.2f} us an event")
    for name, set_up in (("process", waited_for), ("process, interrupted", interrupted)):
        cost = microseconds(set_up)
        print(f"{name:22} {cost:5.2f} us an event, {cost / peer:4.1f} x a callback")
    loop = in_c()
    print(f"a loop in C            {'no compiler' if loop is None else f'{loop:5.1f} million events a second'}")
    print("\n| medium | policy | events | million a second | asked | of the loop in C |\n|---|---|---|---|---|---|")
    for medium, spec, events, speed in compiled():
        beside = "" if loop is None else f"{speed / loop:.0%}"
        print(f"| {medium} | `{spec}` | {events:,} | {speed:.1f} | {ASKED[medium]:.0f} | {beside} |")
