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
    issued = pages.groupby("policy", sort=False)["issue_s"]
    origins = issued.apply(lambda own: own.iloc[min(start_page, len(own) - 1)])
    polls = polls.assign(time_s=polls["time_s"] - polls["policy"].map(origins))
    inside = polls[polls["time_s"].between(0.0, window_s, inclusive="left")]
    pages = pages[pages["policy"].isin(polls["policy"])]
    start_s = pages["issue_s"] - pages["policy"].map(origins)
    loads = pd.DataFrame({"policy": pages["policy"], "start_s": start_s, "end_s": start_s + pages["latency_s"]})
    loads = loads[(loads["end_s"] >= 0) & (loads["start_s"] < window_s)]
    columns = ["policy", "time_s", "slept_ms", "buffered_bytes", "next_sleep_ms"]
    return inside[columns].reset_index(drop=True), loads.reset_index(drop=True)
