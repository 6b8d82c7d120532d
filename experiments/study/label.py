"""A selective sampler over a stream: what it asked for, and how well it predicted.

What it models: one sampler decides on every instance in turn and sees only the labels it asks for; the labels it did
not ask for are used afterwards, to count.  More than two classes go one against the rest: a sampler a class, each
asking for its own yes or no; where an instance has exactly one class the largest margin names it; or one sampler of
several classes asks for the class itself.  Accuracy, F-measure 2PR/(P+R) of the class +1, and the share of labels asked
for are given for the stream and for windows sliding over it.  With no true positive F is 0 if anything was positive or
predicted so, and otherwise undefined: such a class is left out of the mean over classes.
What it leaves out: reading streams and drawing.
Source: Cavallanti et al. 2010, section 3.3, for F-measure and windows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.quantities import Row
from experiments.world import Settings, setting
from lpsm import bounds, samplers
from lpsm.samplers.last_labels import TIMES

POLICY_STREAM = 3  # of the seed's generators; class number k draws from its child k
MOST_WINDOWS = 400  # drawn and written


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelConfig:
    """Which sampler, and how it is judged; `window` rounds, `normalize` None for what the key's paper does."""

    algorithm: str
    parameters: Row
    seed: int = 0
    window: int = 2000  # the papers'
    normalize: bool | None = None
    max_queries: int | None = None  # labels a sampler asks for at most
    last_labels: bool = False  # whether it sees the labels it bought lately
    multiclass: bool = False  # whether one sampler asks for the class, of any number

    def coins(self, index: int) -> np.random.Generator:
        """Return the random numbers of class number `index`."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(POLICY_STREAM, index)))

    def sampler(self, n_features: int, index: int = 0, classes: int = 1) -> samplers.Sampler:
        """Return the sampler of class number `index`, its coins its own, or the one of so many classes."""
        common: Any = {"rng": self.coins(index), "normalize": self.normalize, "max_queries": self.max_queries}
        common |= self.parameters
        if self.multiclass:
            return samplers.MulticlassSampler(self.algorithm, n_features, max(classes, 2), **common)
        return samplers.make(self.algorithm, n_features, **common)

    def player(self, n_features: int, index: int, classes: int = 1) -> Any:
        """Return the sampler of class number `index`, with the labels that it bought lately if it is to see them."""
        if not self.last_labels:
            return self.sampler(n_features, index, classes)
        return samplers.LastLabels(self.sampler(n_features + len(TIMES) * classes, index, classes), TIMES)


class Problem(NamedTuple):
    """One question of yes and no: `y` holds -1 and +1, (T,); +1 is the class `positive`."""

    positive: str
    negative: str
    y: NDArray[np.int8]


class Labelled(NamedTuple):
    """What came of it."""

    classes: pd.DataFrame  #: A row a problem: labels asked for and stored, mistakes, accuracy, precision, recall, F.
    windows: pd.DataFrame  #: A row a window: its last round, and label rate, accuracy and F in it and from the start.
    summary: Row  #: The whole stream in a few numbers.
    rounds: pd.DataFrame  #: A row a round of a single problem: margin, prediction, label, queried, stored; else empty.


def parse_parameters(pairs: Sequence[str]) -> Settings:
    """Return ``NAME=VALUE`` pairs as a sampler's parameters: integers, numbers, inf, true, false, or words.

    >>> parse_parameters(["K=0.1", "R=8", "mistake_driven=true"])
    {'K': 0.1, 'R': 8, 'mistake_driven': True}
    """
    found: Settings = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals or not value:
            raise ValueError(f"a parameter must be NAME=VALUE, got {pair!r}")
        found[name] = setting(value)
    return found


def problems(
    y: NDArray[Any], classes: Sequence[str], *, one_vs_rest: bool = False, positive: str | None = None
) -> list[Problem]:
    """Return the questions of yes and no in a stream's labels.

    `y` holds numbers of the classes, (T,), or is bool, (T, k), where an instance has any number of them.  Of two
    classes the second is +1; with `one_vs_rest` there may be more, each then against the rest; `positive` alone is
    asked about.  A class that is missing, and too many or too few of them, are a `ValueError`.
    """
    several, chosen = y.ndim == 2, range(len(classes)) if one_vs_rest else range(len(classes))[-1:]
    counts = y.sum(axis=0) if several else np.bincount(y, minlength=len(classes))
    if positive is not None:
        if positive not in classes:
            raise ValueError(f"the positive class must be one of {', '.join(classes)}, got {positive!r}")
        chosen = range(len(classes))[classes.index(positive) :][:1]
    elif not one_vs_rest and (several or len(classes) > 2):
        got = ", ".join(f"{name} ({count} times)" for name, count in zip(classes, counts, strict=True))
        hint = "--one-vs-rest takes more, or name one with --positive"
        raise ValueError(f"an instance must have one of two classes, got {got}: {hint}")
    for at in chosen:
        if counts[at] in (0, len(y)):
            only = classes[at] if counts[at] else f"something else than {classes[at]}"
            raise ValueError(f"labels must name two classes, all {len(y)} name {only}")
    two = len(classes) == 2 and not several
    return [
        Problem(
            positive=classes[at], negative=classes[1 - at] if two else "the rest",
            y=np.where(y[:, at] if several else y == at, 1, -1).astype(np.int8),
        )
        for at in chosen
    ]  # fmt: skip


def label(
    X: Any, asked: Sequence[Problem], config: LabelConfig, advance: Callable[[], None] = lambda: None
) -> Labelled:
    """Run a sampler over every problem, of T labels each; `X` is (T, d), array or CSR.

    `advance` is called after each problem; an unknown parameter, or an instance that the sampler cannot take, is a
    `ValueError`.
    """
    rounds, count = X.shape[0], len(asked)
    answers = np.array([problem.y > 0 for problem in asked])  # (k, T)
    exclusive = count > 1 and bool((answers.sum(axis=0) == 1).all())
    predicted, queried = np.zeros((2, count, rounds), bool)
    stored, table = np.zeros(count, np.int64), pd.DataFrame()
    best, named = np.full(rounds, -np.inf), np.zeros(rounds, np.int64)
    if config.multiclass:
        if not exclusive:
            raise ValueError("an instance must have one of several classes with --multiclass, here it need not")
        player = config.player(X.shape[1], 0, count)
        named, queried[:] = player.run(X, answers.argmax(axis=0))
        predicted, stored[:] = named == np.arange(count)[:, None], getattr(player, "sampler", player).stored
    for index, problem in enumerate(() if config.multiclass else asked):
        log = config.player(X.shape[1], index).run(X, problem.y)
        predicted[index], queried[index], stored[index] = log.prediction > 0, log.queried, log.stored.sum()
        named[log.margin > best] = index
        best = np.maximum(best, log.margin)
        if count == 1:
            columns = {"margin": log.margin, "prediction": log.prediction, "label": problem.y}
            columns |= {name: getattr(log, name).astype(np.int8) for name in ("queried", "stored")}
            table = pd.DataFrame({"t": np.arange(1, rounds + 1), **columns})
        advance()
    hits = np.stack([predicted & answers, predicted, answers, queried])
    hit, of_yes, positive, queries = hits.sum(axis=2)
    mistakes = (predicted != answers).sum(axis=1)
    with np.errstate(invalid="ignore"):
        precision = hit / of_yes
    classes = pd.DataFrame({
        "class": [problem.positive for problem in asked], "against": [problem.negative for problem in asked],
        "positive": positive, "queries": queries, "label_rate": queries / rounds, "stored": stored,
        "mistakes": mistakes, "accuracy": (rounds - mistakes) / rounds, "precision": precision,
        "recall": hit / positive, "f_measure": _f_measure(hits[:3].sum(axis=2)),
    })  # fmt: skip
    wrong = 1.0 - answers[named, np.arange(rounds)] if exclusive else (predicted != answers).mean(axis=0)  # (T,)
    summary: Row = {
        "rounds": rounds, "features": X.shape[1], "problems": count, "accuracy": float(1.0 - wrong.mean()),
        "f_measure": float(classes["f_measure"].mean()), "label_rate": float(queried.mean()),
        "rounds_asked": float(queried.any(axis=0).mean()), "exclusive": exclusive,
        "queries": int(queries[0] if config.multiclass else queries.sum()),
    }  # fmt: skip
    return Labelled(classes=classes, windows=_windows(hits, wrong, config.window), summary=summary, rounds=table)


def held_to_bounds(
    X: Any, asked: Sequence[Problem], config: LabelConfig, runs: int, advance: Callable[[], None]
) -> pd.DataFrame:
    """Return what is proved about the sampler against what it does: for every problem the rows of `report_sampler`.

    A randomised sampler runs `runs` times over each problem; `advance` is called after each problem.
    """
    parts = []
    for index, problem in enumerate(asked):
        sampler = config.sampler(X.shape[1], index)
        part = bounds.report_sampler(sampler, X, problem.y, runs=runs, rng=config.coins(index))
        parts.append(part.assign(**{"class": problem.positive})[["class", *part]])
        advance()
    return pd.concat(parts, ignore_index=True)


def _f_measure(counts: NDArray[Any]) -> Any:
    """2PR/(P+R) = 2 hit/(predicted + positive) of counts (3, ...); NaN where nothing is positive or predicted so."""
    with np.errstate(invalid="ignore"):
        return 2.0 * counts[0] / (counts[1] + counts[2])


def _windows(hits: NDArray[np.bool_], wrong: NDArray[Any], window: int) -> pd.DataFrame:
    """Rows of windows that slide by a step, the last one ending with the stream."""
    rounds = len(wrong)
    width = min(window, rounds)
    step = max(1, width // 20, -(-(rounds - width) // MOST_WINDOWS))
    ends = np.arange(rounds, width - 1, -step)[::-1]
    sums = np.pad(np.cumsum(hits, axis=2), ((0, 0), (0, 0), (1, 0)))
    errors = np.pad(np.cumsum(wrong), (1, 0))
    columns: Row = {"t": ends}
    for suffix, starts in (("", ends - width), ("_so_far", np.zeros_like(ends))):
        inside: NDArray[Any] = sums[:, :, ends] - sums[:, :, starts]
        lengths = ends - starts
        columns[f"label_rate{suffix}"] = inside[3].mean(axis=0) / lengths
        columns[f"accuracy{suffix}"] = 1.0 - (errors[ends] - errors[starts]) / lengths
        columns[f"f_measure{suffix}"] = pd.DataFrame(_f_measure(inside[:3])).mean().to_numpy()
    return pd.DataFrame(columns)
