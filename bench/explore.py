"""How long the explorer takes to answer: 10 seeds of 100 pages under none and 8 policies, pictures included.

Run ``python -m bench.explore``.  Every answer is to a server's delay that was not asked for before, so that nothing is
remembered.  An answer that takes long comes in two parts: "first" is the table of what is there at once, "whole" all of
it with its pictures, "again" the answers to the same positions asked for again.  Beside them the processor's time.
"""

from __future__ import annotations

import time

import numpy as np

from experiments.explore.answer import Explorer
from experiments.explore.app import WITHIN_S, pictures
from experiments.explore.settings import Settings
from experiments.figures.style import saved


def asked(explorer, delays):
    """Milliseconds until the first part and the whole of each answer are there, and the processor's time."""
    found = []
    for delay in delays:
        settings = Settings(server_s=float(delay))
        start, cpu, first = time.perf_counter(), time.process_time(), None
        while True:
            answer = explorer.answer(settings, within_s=WITHIN_S)
            first = first or time.perf_counter() - start
            if not answer.pending and answer.timelines is not None:
                break
        for figure in pictures(answer).values():
            saved(figure, "svg")
        found.append((first, time.perf_counter() - start, time.process_time() - cpu))
    return 1e3 * np.array(found)


if __name__ == "__main__":
    explorer = Explorer()
    explorer.warm_up()
    delays = np.round(np.linspace(0.101, 0.499, 24), 4)
    new, again = asked(explorer, delays), asked(explorer, delays)
    for name, times, cpu in (
        ("first", new[:, 0], new[:, 2]), ("whole", new[:, 1], new[:, 2]), ("again", again[:, 1], again[:, 2])
    ):  # fmt: skip
        median, most = np.quantile(times, [0.5, 0.95])
        said = f"median {median:6.0f} ms, p95 {most:6.0f} ms"
        print(f"{name:6} {said}, processor {np.median(cpu):5.0f} ms")
