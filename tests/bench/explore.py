"""How long the explorer takes to answer: 10 seeds of 100 pages under none and 8 policies, pictures included.

Run ``python -m tests.bench.explore``.  Every answer is to a server's delay that was not asked for before, so
that nothing is remembered; beside it the answers to the same positions asked for again, and the processor's time.
"""

from __future__ import annotations

import json
import time

import numpy as np

from experiments.explore.answer import Explorer
from experiments.explore.app import figures
from experiments.explore.settings import Settings
from experiments.report.html import _json

TARGET_MS = 300.0


def asked(explorer, delays):
    """Wall clock and processor time of each answer, milliseconds."""
    found = []
    for delay in delays:
        wall, cpu = time.perf_counter(), time.process_time()
        json.loads(_json(figures(explorer.answer(Settings(server_s=float(delay))))))
        found.append((1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu)))
    return np.array(found)


if __name__ == "__main__":
    explorer = Explorer()
    explorer.warm_up()
    delays = np.round(np.linspace(0.101, 0.499, 24), 4)
    for name, times in (("new", asked(explorer, delays)), ("again", asked(explorer, delays))):
        wall, cpu = np.quantile(times[:, 0], [0.5, 0.95]), np.median(times[:, 1])
        said = f"median {wall[0]:6.0f} ms, p95 {wall[1]:6.0f} ms (target {TARGET_MS:.0f})"
        print(f"{name:6} {said}, processor {cpu:5.0f} ms")
