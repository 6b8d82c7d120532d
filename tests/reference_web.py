"""Recorded pages beside drawn ones: `python -m tests.reference_web DIRECTORY [--pages N]`.

DIRECTORY holds HTTP Archives.  It prints what `traces/data/web_2025.toml` has from them and what it calibrates, so that
the numbers there can be made again; then what recorded and drawn pages have in common and in what they differ.
"""

import argparse
import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtri
from scipy.stats import rankdata

import traces
from traces.web_2025 import TYPES, amounts, model, quantile

PERCENT = (10, 25, 50, 75, 90)
SHRINKING = 0.2  # of correlations, of which ten pages tell little
LEAST = 7  # requests of a recorded page


class Recorded(NamedTuple):
    """One load of a page: of each request its type, bytes, host, beginning and end, place of what named it (-1)."""

    name: str
    is_first: bool  # load of this page
    kinds: list[str]
    sizes: list[int]
    hosts: list[str]
    begun_s: list[float]
    ended_s: list[float]
    parents: list[int]
    waits_ms: list[float]  # of servers; NaN where no round trip is known
    headers: list[int]
    loaded_s: float  # when the page was loaded; NaN

    def sizes_of(self, kind: str) -> list[int]:
        """Return the sizes that are known of a type."""
        return [size for size, of in zip(self.sizes, self.kinds, strict=True) if of == kind and size]

    @property
    def pauses_s(self) -> list[float]:
        """The time from the end of what named each request to its beginning; NaN where that is not known."""
        return [max(0.0, at - self.ended_s[parent]) if parent >= 0 else np.nan
            for at, parent in zip(self.begun_s, self.parents, strict=True)]  # fmt: skip


def kind_of(entry: dict[str, Any]) -> str:
    """Return the type of a request."""
    told = (entry["response"].get("content", {}).get("mimeType") or "").lower()
    path = urlsplit(entry["request"]["url"]).path.lower()
    for kind, words in {"html": "html", "css": "css", "js": "javascript ecmascript", "font": "font"}.items():
        if any(word in told for word in words.split()):
            return kind
    if path.endswith((".woff", ".woff2", ".ttf")):
        return "font"
    return "image" if told.startswith("image") else "other"


def moment_s(text: str) -> float:
    """Return an instant of an archive."""
    return datetime.fromisoformat(text).timestamp()


def named_by(entry: dict[str, Any]) -> str | None:
    """Return the address of what asked for a request, as Chrome tells it."""
    told = json.loads(entry.get("_initiator_detail") or "{}")
    frames = (told.get("stack") or {}).get("callFrames") or [{}]
    return entry.get("_initiator") or told.get("url") or frames[0].get("url")


def loads(folder: Path) -> list[Recorded]:
    """Read every load of a page with seven requests or more."""
    found = []
    for path in sorted(folder.glob("*.har")):
        log = json.loads(path.read_text(encoding="utf-8-sig"))["log"]
        entries = [one for one in log["entries"] if one["response"].get("status") and one.get("startedDateTime")]
        loaded = {one["id"]: one for one in log.get("pages", []) if one.get("startedDateTime")}
        pages = sorted({str(one.get("pageref")) for one in entries})
        firsts = set()
        for page in pages:
            of = sorted((one for one in entries if str(one.get("pageref")) == page),
                key=lambda one: moment_s(one["startedDateTime"]))  # fmt: skip
            if len(of) < LEAST:
                continue
            address = of[0]["request"]["url"]
            found.append(recorded(f"{path.name} {page}", address not in firsts, of, loaded.get(page)))
            firsts.add(address)
    return found


def recorded(name: str, is_first: bool, entries: list[dict[str, Any]], page: dict[str, Any] | None) -> Recorded:
    """Return one load."""
    hosts = [urlsplit(one["request"]["url"]).netloc for one in entries]
    trips: dict[str, float] = {}
    for host, one in zip(hosts, entries, strict=True):
        connect, tls = (max(one["timings"].get(name) or 0, 0) for name in ("connect", "ssl"))
        if connect:
            trips.setdefault(host, connect - tls if tls < connect else connect)
    places: dict[str, int] = {}
    for place, one in enumerate(entries):
        places.setdefault(one["request"]["url"], place)
    begun = [moment_s(one["startedDateTime"]) for one in entries]
    parents = [places.get(named_by(one) or "", -1) for one in entries]
    sizes, headers, waits = [], [], []
    for host, one in zip(hosts, entries, strict=True):
        answer = one["response"]
        told = max(answer.get("_transferSize") or 0, answer.get("bodySize") or 0)
        sizes.append(int(told if told > 0 else max((answer.get("content") or {}).get("size") or 0, 0)))
        headers.append(max(one["request"].get("headersSize") or 0, 0))
        wait = one["timings"].get("wait") or 0
        waits.append(max(0.0, wait - trips[host]) if host in trips and wait > 0 else np.nan)
    on_load = ((page or {}).get("pageTimings") or {}).get("onLoad") or np.nan
    return Recorded(name, is_first, [kind_of(one) for one in entries], sizes, hosts, begun,
        [at + (one.get("time") or 0) / 1000 for at, one in zip(begun, entries, strict=True)],
        [parent if parent < place else -1 for place, parent in enumerate(parents)], waits, headers,
        moment_s(page["startedDateTime"]) + on_load / 1000 if page else np.nan)  # fmt: skip


def correlations(pages: list[Recorded]) -> np.ndarray:
    """Return the correlations of normal scores of requests and bytes by type, shrunk towards independence."""
    rows = [
        [*(page.kinds.count(kind) for kind in TYPES),
         *(sum(size for size, of in zip(page.sizes, page.kinds, strict=True) if of == kind) for kind in TYPES[:-1])]
        for page in pages
    ]  # fmt: skip
    scores = [ndtri((rankdata(column) - 0.5) / len(rows)) for column in np.array(rows).T]
    return (1 - SHRINKING) * np.corrcoef(scores) + SHRINKING * np.eye(2 * len(TYPES) - 1)


def calibrated(given: dict[str, Any], n: int = 200_000, seed: int = 1) -> dict[str, list[float]]:
    """Return the percentiles of `other` with which requests and bytes in all come out as published.

    Of bytes it is what is published less what all other types have (`rest`) at the same level.
    """
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, 2 * len(TYPES) - 1)) @ given["root"].T
    counts, sizes = amounts(given, scores, rng.random(n) < given["home_pages"])
    rest = np.percentile(sizes[:, :-1].sum(axis=1), PERCENT) / 1024
    own, others = scores[:, len(TYPES) - 1], counts[:, :-1].sum(axis=1) + rng.random(n) - 0.5  # no whole numbers
    wanted = np.array(given["published"]["requests"])

    def miss(steps):
        drawn = np.maximum(np.rint(quantile(np.cumsum(np.exp(steps)), own)), 1.0)
        return (np.log(np.percentile(others + drawn, PERCENT) / wanted) ** 2).sum()

    steps = np.log(np.diff(wanted, prepend=0) / 10)
    for _ in range(3):  # begun again, as it may stop short
        steps = minimize(miss, steps, method="Nelder-Mead", options={"maxiter": 1000, "xatol": 1e-3}).x
    requests = np.cumsum(np.exp(steps))
    return {"requests": requests.round(1).tolist(), "rest, kib": rest.round().tolist(),
        "kib": (given["published"]["kib"] - rest).round().tolist()}  # fmt: skip


def parents_of(page: traces.Page) -> list[int]:
    """Return the place of what names each request of a drawn page, -1 of the document."""
    return [at - one.after if one.after else -1 for at, one in enumerate(page.causes)]


def depths(parents: list[int]) -> list[int]:
    """Return how many requests stand between each and the document."""
    found: list[int] = []
    for parent in parents:
        found.append(0 if parent < 0 else found[parent] + 1)
    return found


def main() -> None:
    """Print the fits, then both kinds of pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--fit", action="store_true", help="calibrate as well (a minute)")
    given = parser.parse_args()
    every, drawn = loads(given.directory), traces.generate(given.pages, np.random.default_rng(2025), web="2025")
    first = [one for one in every if one.is_first]
    print(f"{len(every)} loads of {len(first)} pages; correlations\n{correlations(first).round(2).tolist()}")
    for kind in TYPES:
        own = [(page, at) for page in every for at, of in enumerate(page.kinds) if of == kind]
        logs = [np.std(np.log(of), ddof=1) for page in first if len(of := page.sizes_of(kind)) >= 4]
        named = Counter(page.kinds[page.parents[at]] for page, at in own if page.parents[at] >= 0)
        pauses = [1000 * page.pauses_s[at] for page, at in own if page.parents[at] >= 0] or [0]
        late = [page.begun_s[at] > page.loaded_s for page, at in own if page.loaded_s == page.loaded_s]
        told = f"{kind}: spread {np.mean(logs):.2f}; named by {dict(named)}; late {np.mean(late):.2f}; pauses, ms"
        print(told, np.percentile(pauses, PERCENT).round())
    if given.fit:
        print("other:", calibrated(model()))
    waits = [(kind, wait) for page in every for kind, wait in zip(page.kinds, page.waits_ms, strict=True)]
    print("published, and percentiles of what is recorded and drawn:", model()["published"])
    for name, values in {
        "waits of css, js and fonts, ms": [wait for kind, wait in waits if kind in ("css", "js", "font")],
        "waits of data, ms": [wait for kind, wait in waits if kind == "other"],
        "waits of documents, ms": [page.waits_ms[0] for page in every],
        "headers of requests": [size for page in every for size in page.headers if size],
        "requests a host, recorded": [len(page.kinds) / len({*page.hosts}) for page in first],
        "requests a host, drawn": [len(page.causes) / len({*page.servers}) for page in drawn],
        "depth, recorded": [depth for page in every for depth in depths(page.parents) if depth],
        "depth, drawn": [depth for page in drawn for depth in depths(parents_of(page)) if depth],
        "pauses, s, recorded": [pause for page in every for pause in page.pauses_s],
        "pauses, s, drawn": [one.pause_s for page in drawn for one in page.causes if one.after],
        "requests, drawn": [len(page.causes) for page in drawn],
        "kib, drawn": [(page.reply_bytes + sum(reply for _, reply in page.objects)) / 1024 for page in drawn],
    }.items():
        print(f"{name:32}", np.nanpercentile(values, PERCENT).round(3))


if __name__ == "__main__":
    main()
