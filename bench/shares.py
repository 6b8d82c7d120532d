"""A share of the labels: samplers of ours beside rivals that ask for as many, on streams of two classes and of many.

    python -m bench.shares [elec2 | mails | news | messages | servers | classes | runs | digits] ...

Without names all are played; all but `classes` and `runs` need data, which are found through LPSM_DATA.

Of two classes the first fifth is for choosing every method's constants; then all start anew on the rest.  Ours is the
key that docs/label.md recommends (`kept-rate`, of words `arow-diagonal`); beside it the same with the labels it bought
lately or, of words, `adagrad`; the same learner with labels bought by a coin; scikit-learn's `SGDClassifier`, which
asks by our rule; and two algorithms of active learning, PAA and SOAL.  They have no share to keep to: their delta is
found for each run, in hindsight, so that they ask for the share and no more.

Of many classes: `nearest` and `kept-rate` with the labels they bought lately and without, and the rival that needs no
classifier: ask where x has moved far from the last instance whose label was bought, and repeat that label; how far is
found in hindsight.  `servers` are those of recorded Web requests.  Drawn are `classes`, the 40 of
`ours/labelling-classes`; `runs N APART`, the same with runs of one cloud, of N rounds on average, and other distances
between the clouds; and `digits`, those of USPS put into runs of eight of one digit.

A number in brackets is how many points of accuracy the first method is ahead, with the 95 % interval over 40 blocks of
the stream, or five drawn streams, paired.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from experiments.datasets import named
from experiments.datasets.stream import Stream
from experiments.papers.ours import labels
from experiments.study.compare import estimate
from lpsm import samplers
from lpsm.randomness import POLICY, WORKLOAD, generator
from traces import bu
from traces.grouping import is_embedded
from traces.records import Report

Played = tuple[np.ndarray, np.ndarray]  # which predictions are right, and which labels were asked for, (T,)
SEED, COINS, RUNS = 9500, 5, 5
TWO, MANY = ("elec2", "mails", "news", "messages"), ("servers", "classes", "runs", "digits")
ADAGRAD = tuple({"eta": eta} for eta in (0.1, 0.3, 1.0))
PAA = tuple({"C": C} for C in (0.01, 0.1, 1.0, np.inf))
SOAL = tuple({"eta": eta, "gamma": gamma} for eta, gamma in product((0.03, 0.3, 3.0), (0.1, 1.0, 10.0)))
DENSE = 1000  # features up to which SOAL has its whole matrix; beyond it has the diagonal alone
LEAST, MOST, HALVINGS = 1e-7, 1e4, 14  # of delta, where it is looked for
STREAMS_OF_RUNS = ((8.0, 2.5), (8.0, 3.5), (20.0, 2.5))  # mean length, and how far centres are apart
ROUNDS = 4000


def rows_of(X: Any) -> list[tuple[np.ndarray, Any]]:
    """Return the values of every row, and where they are."""
    if not sparse.issparse(X):
        return [(x, slice(None)) for x in X]
    parts = [slice(*X.indptr[t : t + 2]) for t in range(X.shape[0])]
    return [(X.data[part], X.indices[part]) for part in parts]


def paa(X: Any, y: np.ndarray, coins: np.ndarray, delta: float, C: float = np.inf) -> tuple[np.ndarray, np.ndarray]:
    """Return margins and questions of PAA-I, without C of PAA (Lu, Zhao and Hoi 2016, algorithm 1).

    The label is asked for with the probability delta/(delta + |p|), p = w.x; if it is, and l = 1 - y p > 0, then
    w += y min(C, l/|x|^2) x.
    """
    w, p, asked = np.zeros(X.shape[1]), np.zeros(len(y)), np.zeros(len(y), bool)
    for t, (x, at) in enumerate(rows_of(X)):
        margin = p[t] = x @ w[at]
        asked[t] = coins[t] * (delta + abs(margin)) < delta
        if asked[t] and (loss := 1.0 - y[t] * margin) > 0.0 and (square := x @ x) > 0.0:
            w[at] += y[t] * min(C, loss / square) * x
    return p, asked


def soal(
    X: Any, y: np.ndarray, coins: np.ndarray, delta: float, eta: float = 1.0, gamma: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return margins and questions of SOAL (Hao, Lu, Zhao, Zhang, Hoi and Miao 2018, algorithm 1).

    With p = m.x, v = x'S x and rho = |p| - (eta/2)/(1/v + 1/gamma) the label is asked for with the probability
    delta/(delta + rho), and if rho <= 0 in any case.  If it is, and y p < 1, then S -= S x x'S/(gamma + v), and with
    this S m += eta y S x.  Of more than 1,000 features S has its diagonal alone.
    """
    d = X.shape[1]
    whole = d <= DENSE
    m, S, p, asked = np.zeros(d), np.eye(d) if whole else np.ones(d), np.zeros(len(y)), np.zeros(len(y), bool)
    for t, (x, at) in enumerate(rows_of(X)):
        margin = p[t] = x @ m[at]
        g = S[:, at] @ x if whole else S[at] * x
        v = float((g[at] if whole else g) @ x)
        rho = abs(margin) - 0.5 * eta * v * gamma / (v + gamma)
        asked[t] = rho <= 0.0 or coins[t] * (delta + rho) < delta
        if asked[t] and y[t] * margin < 1.0:
            if whole:
                S -= np.outer(g, g / (gamma + v))
                m += eta * y[t] * gamma / (gamma + v) * g  # S x, of the new S
            else:
                S[at] -= g * g / (gamma + v)
                m[at] += eta * y[t] * S[at] * x
    return p, asked


def jumps(X: np.ndarray, y: np.ndarray, far: float) -> Played:
    """Ask where x is farther than that from the last instance whose label was bought, and else repeat that label."""
    right, asked, last = np.zeros(len(y), bool), np.zeros(len(y), bool), 0
    for t, x in enumerate(X):
        right[t] = y[last] == y[t] if t else False
        asked[t] = not t or np.linalg.norm(x - X[last]) > far
        last = t if asked[t] else last
    return right, asked


def at_share(play: Callable[[float], Played], share: float, low: float = LEAST, high: float = MOST) -> Played:
    """Play at the largest number, between two, at which no more than the share is asked for; the more, the larger."""
    found = play(low)
    for _ in range(HALVINGS):
        middle = float(np.sqrt(low * high))
        if (now := play(middle))[1].mean() <= share:
            found, low = now, middle
        else:
            high = middle
    return found


def of_delta(
    method: Callable[..., Any], share: float, stretch: Any, coins: np.random.Generator, **options: Any
) -> Played:
    """Play PAA or SOAL at the delta that asks for the share."""
    X, y = stretch
    uniforms = coins.random(len(y))

    def play(delta: float) -> Played:
        p, asked = method(X, y, uniforms, delta, **options)
        return (p >= 0.0) == (y > 0), asked

    return at_share(play, share)


def best(grid: Any, play: Callable[..., Played], share: float) -> dict[str, Any]:
    """Return the setting that is most often right among those that keep to the share."""
    tried = [(play(**one), one) for one in grid]
    kept = [(float(right.mean()), i) for i, ((right, asked), _) in enumerate(tried) if asked.mean() <= 1.1 * share]
    return dict(grid[max(kept, default=(0.0, 0))[1]])


def two_classes(stream: str, share: float) -> Iterator[tuple[str, list[Played]]]:
    """Play all methods on a stream of two classes."""
    folder = os.environ["LPSM_DATA"]
    if stream == "messages":
        read = named.sms_spam(Path(folder)).with_intercept(None)
        X, y, cut = read.X, np.where(read.y == 1, 1.0, -1.0), len(read.y) // 5
    else:
        X, y, cut = labels.prepared(stream, folder, False, 0, 0)
    early, rest = (X[:cut], y[:cut]), (X[cut:], y[cut:])
    key, grid = labels.WORDS if sparse.issparse(X) else labels.DENSE
    ours = partial(labels._ours, key, share)
    own = best(grid, partial(ours, early), share)
    yield f"`{key}`", [ours(rest, **own)]
    if key == "kept-rate":
        lately = partial(ours, lately=True)
        yield "and the last labels", [lately(rest, **best(grid, partial(lately, early), share))]
    else:
        other = partial(labels._ours, "adagrad", share)
        yield "`adagrad`", [other(rest, **best(ADAGRAD, partial(other, early), share))]
    yield "a coin", [ours(rest, coin=generator(SEED, POLICY, run), **own) for run in range(COINS)]
    sgd = partial(labels._sgd, share)
    yield "scikit-learn", [sgd(rest, **best(labels.SGD, partial(sgd, early), share))]
    for name, method, settings in (("PAA", paa, PAA), ("SOAL", soal, SOAL)):
        chosen = best(
            settings, lambda method=method, **one: of_delta(method, share, early, generator(SEED, POLICY), **one), share
        )
        yield name, [of_delta(method, share, rest, generator(SEED, POLICY, run), **chosen) for run in range(COINS)]


def clouds(rng: np.random.Generator, length: float, apart: float) -> tuple[np.ndarray, np.ndarray]:
    """Return instances of 40 classes of three clouds each, a constant last, and the classes; a run is of one cloud."""
    size = labels.CLASSES, labels.CLOUDS, labels.FEATURES
    centres = apart / np.sqrt(2.0) * rng.normal(size=size)
    at = np.cumsum(rng.random(ROUNDS) < 1.0 / length)
    y, cloud = rng.integers(labels.CLASSES, size=at[-1] + 1)[at], rng.integers(labels.CLOUDS, size=at[-1] + 1)[at]
    X = centres[y, cloud] + rng.normal(size=(ROUNDS, labels.FEATURES))
    return np.hstack([X, np.ones((ROUNDS, 1))]), y


def digits(rng: np.random.Generator, length: float = 8.0) -> tuple[np.ndarray, np.ndarray]:
    """Return digits of USPS in random order, put into runs of one digit, as long as there are more of it."""
    read = named.usps(Path(os.environ["LPSM_DATA"]))
    left = {digit: rng.permutation(np.flatnonzero(read.y == digit)).tolist() for digit in range(10)}
    order: list[int] = []
    digit = 0
    while len(order) < ROUNDS:
        if not order or rng.random() < 1.0 / length or not left[digit]:
            digit = int(rng.choice([one for one in left if left[one]]))
        order.append(left[digit].pop())
    return np.hstack([read.X[order], np.ones((ROUNDS, 1))]), read.y[order]


def servers() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give the first requests that browsers of one room made, from November 1994 on, and whose they were.

    Classes are the 39 servers of most requests, and the rest.  Features are the logarithms of size, duration and time
    since the request before, and whether it is for a picture or a sound, standardised by the rows so far, and a one.
    """
    path, found = Path(os.environ["LPSM_DATA"]) / "bu-www-client" / "condensed.tar.xz", []
    for _, _, requests in bu.sessions(path, Report(), "272/*/*"):
        found += [(one.start_us, one.end_us, one.reply_bytes, is_embedded(one.url), one.server) for one in requests]
    start, end, size, embedded, server = zip(*sorted(found)[: 2 * ROUNDS], strict=True)
    names = [name for name, _ in Counter(server).most_common(labels.CLASSES - 1)]
    y = np.array([names.index(one) if one in names else len(names) for one in server])
    times = np.column_stack([np.subtract(end, start), np.diff(start, prepend=start[0])]) / 1e6
    X = np.column_stack([np.log1p(size), np.log(1e-3 + times), embedded])
    scaled = Stream(name="servers", X=X, y=y, classes=(*names, "other")).scaled().X
    yield np.hstack([scaled, np.ones((len(y), 1))]), y


def many_classes(X: np.ndarray, y: np.ndarray, share: float) -> Iterator[tuple[str, Played]]:
    """Play all methods on a stream of several classes."""
    k, d = int(y.max()) + 1, X.shape[1]
    for key, lately in (("nearest", True), ("nearest", False), ("kept-rate", True), ("kept-rate", False)):
        shown = len(labels.TIMES) * k if lately else 0
        one: Any = samplers.MulticlassSampler(key, d + shown, k, rate=share, step=labels.STEP)
        said, asked = (samplers.LastLabels(one) if lately else one).run(X, y)
        yield f"`{key}`{' and the last labels' if lately else ''}", (said == y, asked)
    yield "where x jumps", at_share(lambda near: jumps(X, y, 1.0 / near), share, 1e-4, 1e4)


def line(what: str, share: float, shares: dict[str, Any], samples: dict[str, np.ndarray]) -> str:
    """Return a row of a table: of each method how often it is right, and how far the first is ahead."""
    own, cells = next(iter(samples.values())), []
    for who, sample in samples.items():
        ahead = estimate(100 * (own - sample))
        cell = f"{100 * sample.mean():.1f}"
        if sample is not own:
            cell += f" ({ahead.mean:+.1f}±{ahead.half_width:.1f})"
        if abs(shares[who] - share) > 0.01 * share + 0.001:
            cell += f", asked for {100 * shares[who]:.1f} %"
        cells.append(cell)
    return f"| {what} | {100 * share:g} % | {' | '.join(cells)} |"


def two(stream: str) -> Iterator[str]:
    """A row for each share of a stream of two classes, after the names of the methods."""
    for share in labels.SHARES:
        played = dict(two_classes(stream, share))
        if share == labels.SHARES[0]:
            yield f"| stream | labels | {' | '.join(played)} |\n|---|---:|{'---:|' * len(played)}"
        means = {who: np.mean([right for right, _ in logs], axis=0) for who, logs in played.items()}
        blocks = {
            who: np.array([part.mean() for part in np.array_split(one, labels.BLOCKS)]) for who, one in means.items()
        }
        shares = {who: float(np.mean([asked.mean() for _, asked in logs])) for who, logs in played.items()}
        yield line(stream, share, shares, blocks)


def many(stream: str) -> Iterator[str]:
    """A row for each share of streams of many classes, after the names of the methods."""
    kinds = STREAMS_OF_RUNS if stream == "runs" else ((1.0, labels.APART),)
    for length, apart in kinds:
        seeds = [generator(SEED, WORKLOAD, run) for run in range(RUNS)]
        if stream == "servers":
            streams = list(servers())
        else:
            streams = [digits(one) if stream == "digits" else clouds(one, length, apart) for one in seeds]
        for share in labels.SHARES:
            played = [dict(many_classes(*one, share)) for one in streams]
            if (length, apart, share) == (*kinds[0], labels.SHARES[0]):
                yield f"| stream | labels | {' | '.join(played[0])} |\n|---|---:|{'---:|' * len(played[0])}"
            parts = labels.BLOCKS if len(played) == 1 else 1
            means = {
                who: [part.mean() for one in played for part in np.array_split(one[who][0], parts)] for who in played[0]
            }
            shares = {who: float(np.mean([one[who][1].mean() for one in played])) for who in played[0]}
            what = f"{stream} {length:g} {apart:g}" if stream == "runs" else stream
            yield line(what, share, shares, {who: np.array(one) for who, one in means.items()})


if __name__ == "__main__":
    for one in sys.argv[1:] or (*TWO, *MANY):
        for row in two(one) if one in TWO else many(one):
            print(row, flush=True)
