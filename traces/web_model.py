"""The generator: pages drawn from the measured quantiles of a Web workload.

Requests, replies, objects and think times are independent of each other and from page to page: sizes and think times by
linear interpolation between the quantiles, the number of embedded objects by inversion of its distribution.  HTML and
images share the distribution of replies.  The number drawn is that of the objects *beside* the HTML, as ns-2's
generator takes it (the table itself counts connections a page).  Left out: any correlation, persistent interests, time
of day.

Source: B. Mah, An Empirical Model of HTTP Network Traffic, INFOCOM 1997 (figures in ``data/``); think times are those
of at most 1000 s, longer ones being rejected and not clipped.
"""

from collections.abc import Iterator
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from traces.checks import between, checked, shown
from traces.records import Page

WEBS = ("2025", "1996")
"""The years of the Web that pages can be drawn from."""

_MOST_PAGES = 10**8


def generate(n_pages: int, rng: np.random.Generator | int, web: str = "2025") -> list[Page]:
    """Draw pages of a Web model.

    Parameters
    ----------
    n_pages : int
        How many, in [1, 10^8].
    rng : numpy.random.Generator or int
        The only source of chance, or its seed; the first k pages are the same whatever `n_pages` is.
    web : {"2025", "1996"}
        Pages of today (`traces.web_2025`), whose objects wait for each other, or as B. Mah measured them.

    Returns
    -------
    list of Page
        Named ``w0``, ``w1``, ...; sizes of at least one byte, think times in whole microseconds.

    Raises
    ------
    TypeError, ValueError
        If `n_pages` is no such number, `rng` neither generator nor seed, or there is no such `web`.

    Examples
    --------
    >>> [page.page for page in generate(2, np.random.default_rng(0))]
    ['w0', 'w1']
    """
    return list(drawn(n_pages, rng, web))


@checked
def drawn(n_pages: int, rng: np.random.Generator | int, web: str = "2025") -> Iterator[Page]:
    """Yield the pages of `generate` as they are drawn, in constant memory."""
    between(1, _MOST_PAGES, n_pages=n_pages)
    if web not in WEBS:
        raise ValueError(f"web must be {' or '.join(WEBS)}, got {shown(web)}")
    assert not isinstance(rng, int)  # `checked` made it of a seed
    if web == "2025":
        from traces import web_2025  # which needs scipy

        return web_2025.drawn(n_pages, rng)
    return _drawn(n_pages, rng)


def _drawn(n_pages: int, rng: np.random.Generator) -> Iterator[Page]:
    levels, *sizes, _ = _table("web_model_quantiles.csv")
    objects, cumulative = _table("web_model_objects_per_page.csv")
    for index in range(n_pages):
        count_level, think_level = rng.random(2)
        n_objects = int(objects[np.searchsorted(cumulative, count_level)])
        drawn = zip(rng.random((n_objects + 1, 2)).T, sizes, strict=True)  # of requests and of replies
        requests, replies = (np.maximum(np.rint(np.interp(at, levels, of)), 1).astype(int).tolist() for at, of in drawn)
        objects_of = tuple(zip(requests[1:], replies[1:], strict=True))
        yield Page(f"w{index}", requests[0], replies[0], objects_of, think_s(think_level))


def think_s(level: float) -> float:
    """Return the think time at a level of its distribution, whole microseconds in seconds."""
    levels, *_, thinks_s = _table("web_model_quantiles.csv")
    return round(float(np.interp(level, levels, thinks_s)), 6)


@cache
def _table(name: str) -> NDArray[np.float64]:
    """Return the columns of a packaged table, below its comments and its line of names."""
    with resources.files("traces").joinpath("data", name).open(encoding="utf-8") as file:
        rows = [line for line in file if not line.startswith("#")][1:]
    return np.loadtxt(rows, delimiter=",", unpack=True, dtype=np.float64)
