"""A window into how sleep times evolve: the polls and page loads from the issue of one page on.

In a closed loop a page is issued at different times under different policies, so every policy's window starts when it
issued the same page.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

__all__ = ["busy_page", "window"]


def busy_page(issue_s: ArrayLike, window_s: float, *, n_pages: int = 5, skip: int = 5) -> int:
    """Return the first page after `skip` from whose issue on `n_pages` (or else the most) are issued in the window.

    `issue_s` are the times when pages were issued, seconds, in order; pages are passed over first only if there are
    more, so that a learner has seen some traffic.
    """
    times = np.asarray(issue_s, dtype=float)
    start = min(skip, max(len(times) - n_pages, 0))
    counts = np.searchsorted(times, times + window_s, side="left") - np.arange(len(times))
    return start + int(np.argmax(np.minimum(counts[start:], n_pages)))


def window(
    pages: pd.DataFrame, polls: pd.DataFrame, *, start_page: int, window_s: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cut a window of `window_s` seconds out of every policy's run, from the issue of a page (or of the last one).

    `pages` and `polls` are rows of one replication: policy, issue_s, latency_s, and policy, time_s, slept_ms,
    buffered_bytes, next_sleep_ms.  Returned are the polls with `time_s` since the start of the window, and policy,
    start_s, end_s of page loads.
    """
    columns = ["policy", "time_s", "slept_ms", "buffered_bytes", "next_sleep_ms"]
    kept_polls, kept_loads = [], []
    for policy, own in polls.groupby("policy", sort=False):
        loads = pages[pages["policy"] == policy]
        origin = float(loads["issue_s"].iloc[min(start_page, len(loads) - 1)])
        inside = own[(own["time_s"] >= origin) & (own["time_s"] < origin + window_s)]
        kept_polls.append(inside.assign(time_s=inside["time_s"] - origin)[columns])
        start = loads["issue_s"] - origin
        found = pd.DataFrame({"policy": policy, "start_s": start, "end_s": start + loads["latency_s"]})
        kept_loads.append(found[(found["end_s"] >= 0) & (found["start_s"] < window_s)])
    return pd.concat(kept_polls, ignore_index=True), pd.concat(kept_loads, ignore_index=True)
