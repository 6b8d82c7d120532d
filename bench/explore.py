"""How long the explorer takes to answer: 5 seeds of 20 pages under none and 11 policies.

Run ``python -m bench.explore``.  "first" is the answer over the first seed, "whole" that over all; "new" are round
trips that were not asked for before, "radio" is another radio of the same times for each, and "limit" another limit of
the slowdown.  Beside them the processor's time.
"""

from __future__ import annotations

import asyncio
import json
import time

import numpy as np

from experiments.explore.answer import Explorer
from experiments.explore.app import Page

POLICIES = "psm,listen:3,dynamic:100,bsd:1,bsd:0.5,lpsm,lpsm:log,lpsm3:1.05,lpsm3:1.2,hold:50,twt:500:20"
RADIOS = ("esp32-c6", "esp32-c5", "esp32-s3", "esp32-c3-states")


async def asked(page, query):
    """Milliseconds until the first answer and the whole one, each with the processor's time."""
    start, cpu, first = time.perf_counter(), time.process_time(), None
    async for line in page.told(page.explorer.settings({"policies": POLICIES, **query})):
        if "summary" in json.loads(line):
            first = first or (time.perf_counter() - start, time.process_time() - cpu)
    return 1e3 * np.array([*first, time.perf_counter() - start, time.process_time() - cpu])


if __name__ == "__main__":
    page = Page(Explorer())
    asyncio.run(asked(page, {}))
    asyncio.run(asked(page, {"radio": RADIOS[0]}))
    cases = {
        "new": [{"rtt_ms": str(20 + n)} for n in range(5)],
        "radio": [{"radio": radio} for radio in RADIOS[1:]],
        "limit": [{"max_slowdown": f"1.{n}"} for n in range(12)],
    }
    for name, queries in cases.items():
        times = np.array([asyncio.run(asked(page, query)) for query in queries])
        for part, taken in zip(("first", "its processor", "whole", "its processor"), times.T, strict=True):
            print(f"{name:6} {part:13} median {np.median(taken):6.0f} ms, most {taken.max():6.0f} ms")
