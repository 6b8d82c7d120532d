"""The generator: pages drawn from the measured quantiles of a Web workload.

Requests, replies, objects and think times are independent of each other and
from page to page: sizes and think times by linear interpolation between the
quantiles, the number of embedded objects by inversion of its distribution.
HTML and images share the distribution of replies.  The number drawn is that of
the objects *beside* the HTML, as ns-2's generator takes it (the table itself
counts connections a page).  Left out: any correlation, persistent interests,
time of day.

Source: B. Mah, An Empirical Model of HTTP Network Traffic, INFOCOM 1997
(figures in ``data/``); think times are those of at most 1000 s, longer ones
being rejected and not clipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from traces.checks import between, checked
from traces.records import Page

__all__ = ["drawn", "generate"]

_MOST_PAGES = 10**8


def generate(n_pages: int, rng: np.random.Generator) -> list[Page]:
    """Draw pages of the Web model.

    Parameters
    ----------
    n_pages : int
        How many, in [1, 10^8].
    rng : numpy.random.Generator or int
        The only source of chance, or its seed; the first k pages are the same whatever `n_pages` is.

    Returns
    -------
    list of Page
        Named ``w0``, ``w1``, ...; sizes of at least one byte, think times in whole microseconds.

    Raises
    ------
    TypeError, ValueError
        If `n_pages` is no such number, or `rng` neither generator nor seed.

    Examples
    --------
    >>> [page.page for page in generate(2, np.random.default_rng(0))]
    ['w0', 'w1']
    """
    return list(drawn(n_pages, rng))


@checked
def drawn(n_pages: int, rng: np.random.Generator) -> Iterator[Page]:
    """Yield the pages of `generate` as they are drawn, in constant memory."""
    between(1, _MOST_PAGES, n_pages=n_pages)
    model = _quantiles()
    for index in range(n_pages):
        count_level, think_level = rng.random(2)
        n_objects = int(model.objects[np.searchsorted(model.objects_cumulative, count_level)])
        levels = rng.random((n_objects + 1, 2))
        requests = _sizes(levels[:, 0], model.probability, model.request_bytes)
        replies = _sizes(levels[:, 1], model.probability, model.reply_bytes)
        think_s = float(np.interp(think_level, model.probability, model.think_s))
        embedded = tuple(zip(requests[1:], replies[1:], strict=True))
        yield Page(f"w{index}", requests[0], replies[0], embedded, round(think_s, 6))


class _Quantiles(NamedTuple):
    probability: NDArray[np.float64]
    request_bytes: NDArray[np.float64]
    reply_bytes: NDArray[np.float64]
    think_s: NDArray[np.float64]
    objects: NDArray[np.float64]
    objects_cumulative: NDArray[np.float64]


@lru_cache(maxsize=1)
def _quantiles() -> _Quantiles:
    probability, request_bytes, reply_bytes, think_s = _table("web_model_quantiles.csv")
    objects, cumulative = _table("web_model_objects_per_page.csv")
    return _Quantiles(probability, request_bytes, reply_bytes, think_s, objects, cumulative)


def _table(name: str) -> NDArray[np.float64]:
    """Return the columns of a packaged table, below its comments and its line of names."""
    with resources.files("traces").joinpath("data", name).open(encoding="utf-8") as file:
        rows = [line for line in file if not line.startswith("#")][1:]
    return np.loadtxt(rows, delimiter=",", unpack=True, dtype=np.float64)


def _sizes(levels: NDArray[np.float64], probability: NDArray[np.float64], values: NDArray[np.float64]) -> list[int]:
    """Interpolate sizes (bytes) at the levels, rounded to whole bytes and at least 1."""
    sizes = np.rint(np.interp(levels, probability, values)).astype(np.int64)
    return [int(size) for size in np.maximum(sizes, 1)]
