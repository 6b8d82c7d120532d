"""The generator: pages drawn from the measured quantiles of a Web workload.

Requests, replies, objects and think times are independent of each other and from page to page: sizes and think times by
linear interpolation between the quantiles, the number of embedded objects by inversion of its distribution.  HTML and
images share the distribution of replies.  The number drawn is that of the objects *beside* the HTML, as ns-2's
generator takes it (the table itself counts connections a page).  Left out: any correlation, persistent interests, time
of day.

Source: B. Mah, An Empirical Model of HTTP Network Traffic, INFOCOM 1997 (figures in ``data/``); think times are those
of at most 1000 s, longer ones being rejected and not clipped.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib import resources
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from traces.checks import between, checked, shown
from traces.columns import Workload
from traces.records import Page

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
WEBS = ("2025", "1996")
"""The years of the Web that pages can be drawn from."""

_MOST_PAGES = 10**8
_BLOCK = 4096  # pages that are drawn together
_HALF_A_PAGE = 3  # pairs of draws; there are 4.84 of a page in the mean


def generate(n_pages: int, rng: np.random.Generator | int, web: str = "2025") -> Workload:
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
    Workload
        A sequence of `Page`, named ``w0``, ``w1``, ...; sizes of at least one byte, think times in whole
        microseconds.

    Raises
    ------
    TypeError, ValueError
        If `n_pages` is no such number, `rng` neither generator nor seed, or there is no such `web`.

    Examples
    --------
    >>> [page.page for page in generate(2, np.random.default_rng(0))]
    ['w0', 'w1']
    """
    return _block(n_pages, rng, web)(0, n_pages)


def drawn(n_pages: int, rng: np.random.Generator | int, web: str = "2025") -> Iterator[Page]:
    """Yield the pages of `generate` as they are drawn, in constant memory."""
    draw = _block(n_pages, rng, web)
    begun = range(0, n_pages, _BLOCK)
    return chain.from_iterable(draw(first, min(_BLOCK, n_pages - first)) for first in begun)


@checked
def _block(n_pages: int, rng: np.random.Generator | int, web: str) -> Callable[[int, int], Workload]:
    """Return what draws pages: from the number of the first and how many to these pages."""
    between(1, _MOST_PAGES, n_pages=n_pages)
    if web not in WEBS:
        raise ValueError(f"web must be {' or '.join(WEBS)}, got {shown(web)}")
    if web == "2025":
        from traces.web_2025 import block  # which needs scipy
    else:
        block = _drawn
    assert not isinstance(rng, int)  # `checked` made it of a seed
    return partial(block, rng)


def _drawn(rng: np.random.Generator, first: int, n_pages: int) -> Workload:
    levels, *sizes, _ = _table("web_model_quantiles.csv")
    objects, cumulative = _table("web_model_objects_per_page.csv")
    state, n, at = rng.bit_generator.state, _HALF_A_PAGE * n_pages, 0
    begun: list[int] = []
    while len(begun) < n_pages:  # a page's first draw tells how many it needs, and so where the next one begins
        n *= 2
        rng.bit_generator.state = state
        draws = rng.random((n, 2))
        steps = [*(2 + objects[np.searchsorted(cumulative, draws[:, 0])]).astype(int).tolist(), n + 1]
        begun, at = [], 0
        while len(begun) < n_pages and at + steps[at] <= n:
            begun.append(at)
            at += steps[at]
    rng.bit_generator.state = state
    rng.random((at, 2))  # no more than these pages need
    pairs = zip(np.delete(draws[:at], begun, axis=0).T, sizes, strict=True)  # of requests and of replies
    drawn = [np.maximum(np.rint(np.interp(level, levels, of)), 1).astype(int) for level, of in pairs]
    return columns_of(first, np.diff([*begun, at]) - 2, np.column_stack(drawn), draws[begun, 1])


def columns_of(first: int, objects: Ints, sizes: Ints, levels: Floats, **known: Any) -> Workload:
    """Return drawn pages, numbered from the `first` on; think times lie at these levels of their distribution."""
    levels_known, *_, thinks_s = _table("web_model_quantiles.csv")
    think_s = [round(one, 6) for one in np.interp(levels, levels_known, thinks_s).tolist()]  # whole microseconds
    names = [f"w{number}" for number in range(first, first + len(objects))]
    return Workload(names, objects, sizes, think_s, np.full(len(names), np.nan), **known)


@cache
def _table(name: str) -> NDArray[np.float64]:
    """Return the columns of a packaged table, below its comments and its line of names."""
    with resources.files("traces").joinpath("data", name).open(encoding="utf-8") as file:
        rows = [line for line in file if not line.startswith("#")][1:]
    return np.loadtxt(rows, delimiter=",", unpack=True, dtype=np.float64)
