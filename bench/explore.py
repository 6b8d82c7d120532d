"""How long the explorer takes to answer: 10 seeds of 100 pages under none and 8 policies, pictures included.

Run ``python -m bench.explore``.  Every answer is to a server's delay that was not asked for before, so that nothing is
remembered; "again" are the answers to the same positions asked for again.  Beside them the processor's time.
"""

from __future__ import annotations

import time

import numpy as np

from experiments.explore.answer import Explorer
from experiments.explore.app import pictures
from experiments.explore.settings import Settings
from experiments.figures.style import saved


def asked(explorer, delays):
    """Milliseconds until the table and the whole of each answer are there, and the processor's time."""
    found = []
    for delay in delays:
        start, cpu = time.perf_counter(), time.process_time()
        summary = explorer.answer(Settings(server_s=float(delay)))
        table = time.perf_counter() - start
        for figure in pictures(summary).values():
            saved(figure, "svg")
        found.append((table, time.perf_counter() - start, time.process_time() - cpu))
    return 1e3 * np.array(found)


if __name__ == "__main__":
    explorer = Explorer()
    explorer.answer(Settings(pages=2, seeds=1))
    delays = np.round(np.linspace(0.101, 0.499, 24), 4)
    for name, times in (("new", asked(explorer, delays)), ("again", asked(explorer, delays))):
        for part, taken in zip(("table", "whole", "processor"), times.T, strict=True):
            median, most = np.quantile(taken, [0.5, 0.95])
            print(f"{name:6} {part:9} median {median:6.0f} ms, p95 {most:6.0f} ms")
