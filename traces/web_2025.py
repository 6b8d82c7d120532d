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
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib import resources
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from traces.records import Cause, Page
from traces.web_model import think_s

__all__ = ["TYPES", "amounts", "drawn", "model", "quantile"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Model: TypeAlias = dict[str, Any]
TYPES = ("html", "css", "js", "font", "image", "other")
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
RAREST = 0.005
RAREST_OF_REQUESTS = 0.05  # of which recorded pages tell less
_KIB = 1024
_AT = ndtri(LEVELS)
_SCORES = np.linspace(-3.0, 3.0, 121)


def drawn(n_pages: int, rng: np.random.Generator) -> Iterator[Page]:
    """Yield pages as they are drawn; the first k are the same whatever `n_pages` is."""
    packaged = model()
    for index in range(n_pages):
        yield _page(f"w{index}", packaged, rng)


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
    n = len(TYPES)
    counts = [np.rint(quantile(packaged["requests"][kind], scores[:, i])) for i, kind in enumerate(TYPES)]
    counts = [of if kind == "font" else np.maximum(of, 1.0) for of, kind in zip(counts, TYPES, strict=True)]
    tables = packaged["kib"]
    home, inner = (quantile(tables[kind], scores[:, 2 * n - 2]) for kind in ("image_home", "image_inner"))
    kib = [quantile(tables[kind], scores[:, n + i]) for i, kind in enumerate(TYPES[:-2])] + [
        np.where(is_home, home, inner)
    ]
    kib = [of * (count > 0) for of, count in zip(kib, counts, strict=False)]
    kib[TYPES.index("font")] *= counts[TYPES.index("font")]  # of a font, which is what is published
    rest = np.interp(np.log1p(sum(kib)), np.log1p(quantile(tables["rest"], _SCORES)), _SCORES)
    return np.column_stack(counts), _KIB * np.column_stack([*kib, quantile(tables["other"], rest)])


def _page(name: str, model: Model, rng: np.random.Generator) -> Page:
    scores = model["root"] @ rng.standard_normal(2 * len(TYPES) - 1)
    found = amounts(model, scores[np.newaxis], rng.random(1) < model["home_pages"])
    counts, totals = (of[0] for of in found)
    kinds = np.repeat(np.arange(len(TYPES)), counts.astype(int))  # the document is the first of its type
    n = len(kinds)
    shares = np.exp(_of_type(model["spread"], kinds) * rng.standard_normal(n))
    shares[: int(counts[0])].sort()
    shares[: int(counts[0])] = shares[: int(counts[0])][::-1]  # the document is the largest of its type
    replies = totals[kinds] * shares / np.bincount(kinds, shares, len(TYPES))[kinds]
    hosts, is_stream = _hosts(model["hosts"], n, rng)
    requests = quantile(model["request_bytes"], rng.standard_normal(n))
    again = is_stream.copy()
    again[np.unique(hosts, return_index=True)[1]] = False  # a host's first
    requests[again] *= model["repeated_headers"]
    waits_s = _waits_s(model["wait_ms"], kinds, rng)
    parents = _parents(model["named_by"], kinds, rng)
    pauses_s = np.zeros(n)
    for kind, table in enumerate(model["pause_ms"][name] for name in TYPES):
        of = kinds == kind
        pauses_s[of] = quantile(table, rng.standard_normal(of.sum()), RAREST_OF_REQUESTS) / 1000
    is_awaited = rng.random(n) >= _of_type(model["unawaited"], kinds)
    is_awaited[parents] = True
    order, after = _order(parents, pauses_s + waits_s[parents])
    pairs = [(int(asked), int(reply)) for asked, reply in np.maximum(np.rint((requests, replies)), 1).T[order]]
    columns = (of[order].tolist() for of in (pauses_s.round(6), is_awaited, is_stream))
    return Page(
        name, *pairs[0], tuple(pairs[1:]), think_s(rng.random()), waits_s=tuple(waits_s[order].round(6).tolist()),
        servers=tuple(hosts[order].tolist()),
        causes=(Cause(0, 0.0, True, bool(is_stream[0])), *islice(map(Cause, after, *columns), 1, None)),
    )  # fmt: skip


def _of_type(figures: dict[str, float], kinds: Ints) -> Floats:
    return np.array([figures.get(kind, 0.0) for kind in TYPES])[kinds]


def _hosts(model: dict[str, float], n: int, rng: np.random.Generator) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the host of each of `n` requests, the document's being 0, and whether it speaks HTTP/2.

    More requests mean more hosts, by a power; a share of the requests is the document's own host's, and the
    others are asked the less the later they were added (Zipf).
    """
    wanted = (n / model["requests_of_one"]) ** model["power"] * np.exp(model["scatter"] * rng.standard_normal())
    n_hosts = int(np.clip(np.rint(wanted), 1, n))
    own = rng.uniform(model["least_own_share"], model["most_own_share"])
    is_stream = rng.random(n_hosts) >= model["http_1"]
    hosts = np.zeros(n, np.int64)
    if n_hosts > 1:
        weights = 1.0 / np.arange(1, n_hosts)
        hosts[1:] = np.where(rng.random(n - 1) < own, 0, 1 + rng.choice(n_hosts - 1, n - 1, p=weights / weights.sum()))
        hosts[1 + rng.permutation(n - 1)[: n_hosts - 1]] = np.arange(1, n_hosts)  # each is asked for something
    return hosts, is_stream[hosts]


def _waits_s(model: Model, kinds: Ints, rng: np.random.Generator) -> Floats:
    """Return what servers take, the document first."""
    scores, waits_ms = rng.standard_normal(len(kinds)), np.empty(len(kinds))
    data = kinds == TYPES.index("other")
    for table, of in (("static", ~data), ("data", data), ("document", np.arange(len(kinds)) == 0)):
        waits_ms[of] = quantile(model[table], scores[of], RAREST_OF_REQUESTS)
    return waits_ms / 1000


def _parents(named_by: dict[str, dict[str, float]], kinds: Ints, rng: np.random.Generator) -> Ints:
    """Return what names each request: a place among the requests, that of the document being 0.

    A script is named by one before it, so that nothing names itself in a circle; what should be named by something
    that the page has not is named by the document.
    """
    n = len(kinds)
    first, counts = np.searchsorted(kinds, np.arange(len(TYPES))), np.bincount(kinds, minlength=len(TYPES))
    by, which, parents = rng.random(n), rng.random(n), np.zeros(n, np.int64)
    for place in range(1, n):
        kind = kinds[place]
        for name, share in named_by[TYPES[kind]].items():
            parent = TYPES.index(name)
            choices = place - first[parent] if parent == kind else counts[parent]
            if 0.0 <= by[place] < share and choices:
                parents[place] = first[parent] + int(which[place] * choices)
            by[place] -= share
    return parents


def _order(parents: Ints, delays_s: Floats) -> tuple[Ints, list[int]]:
    """Return the order in which requests can first be known, and how far before each what names it then stands."""
    begun, before = np.zeros(len(parents)), None
    delays_s = np.maximum(delays_s, 1e-6)
    delays_s[0] = 0.0
    while before is None or (begun != before).any():  # as often as the page is deep
        begun, before = begun[parents] + delays_s, begun
    order = np.argsort(begun, kind="stable")
    place = np.argsort(order)
    return order, (place - place[parents])[order].tolist()
