"""The generator of today's pages: many requests of several kinds, to several hosts, that one names after another.

A page has requests and bytes by type.  Their marginals are the published percentiles of mobile pages, joined by a
Gaussian copula whose correlations were fitted to recorded pages.  What of a page is of no type that is published
(`other`: data, films) was chosen so that requests and bytes in all come out as published.  Between percentiles a
quantile is interpolated as a piecewise log-normal one (the logarithm of one plus it, along normal scores), beyond them
the outer pieces go on, up to 1 in 200 at either end; of requests, of which recorded pages tell less, up to 1 in 20.

The page is a graph.  The HTML names style sheets, scripts, fonts and images; style sheets name fonts and images; and
scripts ask for more scripts, documents and data.  A request waits for the end of what named it, then for a pause of the
host (parsing, scripts, what the browser holds back).  Who names whom, the pauses, hosts, what servers take, the spread
of sizes within a page and the requests that nobody waits for were fitted to ten recorded pages (`data/web_2025.toml`
has every number with its source; `python -m tests.reference_web` sets recorded pages and drawn ones side by side).

Left out: what of a page is cached, pages that follow one another on one site, and that a browser acts on the first
bytes of what names something.  Think times are those of `traces.web_model`, for want of newer ones.
"""

import tomllib
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from traces.columns import Workload
from traces.web_model import Floats, Ints, columns_of

__all__ = ["TYPES", "amounts", "block", "model", "quantile"]

Model: TypeAlias = dict[str, Any]
TYPES = ("html", "css", "js", "font", "image", "other")
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
RAREST = 0.005
RAREST_OF_REQUESTS = 0.05  # of which recorded pages tell less
_KIB = 1024
_AT = ndtri(LEVELS)
_HIGHEST = 40.0  # of normal scores
_SCORES = np.linspace(-3.0, 3.0, 121)


def block(rng: np.random.Generator, first: int, n_pages: int) -> Workload:
    """Draw pages, the first of which has this number.

    What decides how many numbers a page takes is drawn page by page, all else is computed for the block.
    """
    packaged = model()
    drawn = zip(*(_draws(packaged, rng) for _ in range(n_pages)), strict=True)
    scores, is_home, think, *of_requests = drawn
    spread, hosts, is_stream, asked, waits, by, which, pauses, awaited = map(np.concatenate, of_requests)
    found, totals = amounts(packaged, np.array(scores), np.array(is_home))
    counts = found.astype(np.int64)
    n = counts.sum(axis=1)
    start = np.cumsum(n) - n
    page = np.repeat(np.arange(n_pages), n)
    place = np.arange(len(page)) - start[page]
    kinds = np.repeat(np.tile(np.arange(len(TYPES)), n_pages), counts.ravel())  # a document is the first of its type
    shares = np.exp(_of_type(packaged["spread"], kinds) * spread)
    documents = np.flatnonzero(kinds == 0)  # the largest of its type
    shares[documents] = shares[documents][np.lexsort((-shares[documents], page[documents]))]
    group = len(TYPES) * page + kinds
    replies = totals.ravel()[group] * shares / np.bincount(group, shares, totals.size)[group]
    requests = quantile(packaged["request_bytes"], asked)
    again = is_stream.copy()
    again[np.unique(page * len(page) + hosts, return_index=True)[1]] = False  # a host's first
    requests[again] *= packaged["repeated_headers"]
    waits_s, pauses_s = np.empty(len(page)), np.empty(len(page))
    data = kinds == TYPES.index("other")
    for table, mask in (("static", ~data), ("data", data), ("document", place == 0)):
        waits_s[mask] = quantile(packaged["wait_ms"][table], waits[mask], RAREST_OF_REQUESTS) / 1000
    for kind, name in enumerate(TYPES):
        mask = kinds == kind
        pauses_s[mask] = quantile(packaged["pause_ms"][name], pauses[mask], RAREST_OF_REQUESTS) / 1000
    parents = start[page] + _parents(packaged["named_by"], kinds, place, counts[page], by, which)
    is_awaited = awaited >= _of_type(packaged["unawaited"], kinds)
    is_awaited[parents] = True
    order, after = _order(page, place, parents, pauses_s + waits_s[parents])
    pauses_s[start], sizes = 0.0, np.maximum(np.rint((requests, replies)), 1).astype(np.int64).T
    causes = np.column_stack([after, *(known[order] for known in (pauses_s.round(6), is_awaited, is_stream))])
    return columns_of(
        first, n - 1, sizes[order], np.array(think), waits_s=waits_s[order].round(6),
        servers=hosts[order], causes=causes,
    )  # fmt: skip


def quantile(table: Sequence[float], scores: Floats, rarest: float = RAREST) -> Floats:
    """Return the quantile at normal scores of what has these values at the levels .1, .25, .5, .75 and .9.

    Nothing is rarer than `rarest` at either end.

    >>> quantile([22, 39, 66, 109, 170], np.array([0.0, 1.2815515655446004])).round().tolist()
    [66.0, 170.0]
    """
    values, steps = _pieces(tuple(table))
    least = ndtri(rarest)
    scores = np.clip(scores, least, -least)
    below, above = np.minimum(scores - _AT[0], 0.0) * steps[0], np.maximum(scores - _AT[-1], 0.0) * steps[-1]
    found: Floats = np.maximum(np.expm1(np.interp(scores, _AT, values) + below + above), 0.0)
    return found


@lru_cache
def _pieces(table: tuple[float, ...]) -> tuple[Floats, Floats]:
    values = np.log1p(np.asarray(table, float))
    return values, np.diff(values) / np.diff(_AT)


@cache
def model() -> Model:
    """Return the packaged numbers, with the root of the correlations."""
    with resources.files("traces").joinpath("data", "web_2025.toml").open("rb") as file:
        found = tomllib.load(file)
    found["root"] = np.linalg.cholesky(np.array(found["correlations"]["matrix"]))
    return found


def amounts(packaged: Model, scores: Floats, is_home: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return requests and bytes by type, shape (n, 6) each, of pages with these normal scores, shape (n, 11).

    The bytes of `other` follow from those of all else: a page that is larger than so many of all pages without it is so
    with it.
    """
    tables, n, font = packaged["kib"], len(TYPES), TYPES.index("font")
    counts = np.column_stack([_counts(packaged, kind, scores[:, i]) for i, kind in enumerate(TYPES)])
    home, inner = (quantile(tables[kind], scores[:, 2 * n - 2]) for kind in ("image_home", "image_inner"))
    others = [quantile(tables[kind], scores[:, n + i]) for i, kind in enumerate(TYPES[:-2])]
    kib = np.column_stack([*others, np.where(is_home, home, inner)]) * (counts[:, :-1] > 0)
    kib[:, font] *= counts[:, font]  # of a font, which is what is published
    rest = np.interp(np.log1p(kib.sum(axis=1)), np.log1p(quantile(tables["rest"], _SCORES)), _SCORES)
    return counts, _KIB * np.column_stack([kib, quantile(tables["other"], rest)])


def _counts(packaged: Model, kind: str, scores: Floats) -> Floats:
    """Return how many requests of a type pages have; all but fonts are on every page."""
    found: Floats = np.maximum(np.rint(quantile(packaged["requests"][kind], scores)), kind != "font")
    return found


@cache
def _rises(kind: str) -> list[float]:
    """Return the least scores at which a page has one request of a type, two, three, ..."""
    wanted = np.arange(1, 1 + _counts(model(), kind, np.array([_HIGHEST]))[0])
    low, high = np.full(wanted.shape, -_HIGHEST), np.full(wanted.shape, _HIGHEST)
    while ((low < (middle := (low + high) / 2)) & (middle < high)).any():
        reached = _counts(model(), kind, middle) >= wanted
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return high.tolist()


def _draws(packaged: Model, rng: np.random.Generator) -> tuple[Any, ...]:
    """Draw what a page needs: of itself, then of its requests, type after type."""
    scores = packaged["root"] @ rng.standard_normal(2 * len(TYPES) - 1)
    is_home = rng.random() < packaged["home_pages"]
    n = sum(bisect_right(_rises(kind), score) for kind, score in zip(TYPES, scores.tolist(), strict=False))
    spread = rng.standard_normal(n + 1)
    hosts, is_stream = _hosts(packaged["hosts"], n, spread[n], rng)
    normal, uniform = rng.standard_normal((2, n)), rng.random((2, n))
    pauses, last = rng.standard_normal(n), rng.random(n + 1)
    return scores, is_home, last[n], spread[:n], hosts, is_stream, *normal, *uniform, pauses, last[:n]


def _of_type(figures: dict[str, float], kinds: Ints) -> Floats:
    return np.array([figures.get(kind, 0.0) for kind in TYPES])[kinds]


def _hosts(model: dict[str, float], n: int, scatter: float, rng: np.random.Generator) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the host of each of `n` requests, the document's being 0, and whether it speaks HTTP/2.

    More requests mean more hosts, by a power; a share of the requests is the document's own host's, and the
    others are asked the less the later they were added (Zipf).
    """
    wanted = (n / model["requests_of_one"]) ** model["power"] * np.exp(model["scatter"] * scatter)
    n_hosts = int(min(max(np.rint(wanted), 1), n))
    draws = rng.random(1 + n_hosts + (2 * (n - 1) if n_hosts > 1 else 0))
    own = model["least_own_share"] + (model["most_own_share"] - model["least_own_share"]) * draws[0]
    is_stream, hosts = draws[1 : 1 + n_hosts] >= model["http_1"], np.zeros(n, np.int64)
    if n_hosts > 1:
        is_own, others = draws[1 + n_hosts :].reshape(2, -1)
        hosts[1:] = np.where(is_own < own, 0, 1 + _zipf(n_hosts - 1).searchsorted(others, side="right"))
        hosts[1 + rng.permutation(n - 1)[: n_hosts - 1]] = np.arange(1, n_hosts)  # each is asked for something
    return hosts, is_stream[hosts]


@lru_cache
def _zipf(n: int) -> Floats:
    """Return the distribution function of one of `n`, as `Generator.choice` has it."""
    weights = 1.0 / np.arange(1, n + 1)
    reached: Floats = (weights / weights.sum()).cumsum()
    reached /= reached[-1]
    return reached


def _parents(
    named_by: dict[str, dict[str, float]], kinds: Ints, place: Ints, counts: Ints, by: Floats, which: Floats
) -> Ints:
    """Return what names each request: a place among those of its page, that of the document being 0.

    A script is named by one before it, so that nothing names itself in a circle; what should be named by something
    that the page has not is named by the document.
    """
    first, parents = np.cumsum(counts, axis=1) - counts, np.zeros(len(kinds), np.int64)
    for kind, names in enumerate(TYPES):
        mask = np.flatnonzero((kinds == kind) & (place > 0))
        left = by[mask]
        for name, share in named_by[names].items():
            parent = TYPES.index(name)
            begun = first[mask, parent]
            choices = place[mask] - begun if parent == kind else counts[mask, parent]
            chosen = (left >= 0.0) & (left < share) & (choices > 0)
            parents[mask[chosen]] = (begun + (which[mask] * choices).astype(np.int64))[chosen]
            left = left - share
    return parents


def _order(page: Ints, place: Ints, parents: Ints, delays_s: Floats) -> tuple[Ints, Ints]:
    """Return the order in which requests can first be known, and how far before each what names it then stands."""
    begun, before = np.zeros(len(parents)), None
    delays_s = np.where(place > 0, np.maximum(delays_s, 1e-6), 0.0)
    while before is None or (begun != before).any():  # as often as the deepest page is deep
        begun, before = begun[parents] + delays_s, begun
    order = np.lexsort((begun, page))
    placed = np.argsort(order)
    return order, (placed - placed[parents])[order]
