"""Samplers over news stories, a topic at a time: what three papers' experiments have in common.

What it models: every topic is a question of yes and no over the same stories in order of time; a
task runs a set of samplers over one topic and returns counts, over the stream and over windows of 2,000 stories.
Reuters-21578 stands in for RCV1, which the papers use and whose texts are licensed: its 13,476 indexed stories
instead of the first 20,000 or 40,000, and the 18 topics that more than 1 % of them have where a
paper takes the 50 most frequent (which are those above 1 %, as the one of 2004 says).  Weights are TF-IDF of the past.
Who has the vectors of RCV1 runs on them, with as many stories and topics as the paper; their document frequencies are
of all stories, those to come included, which the record says.
Nothing is drawn but the coins of randomised samplers; a topic is the replication.
What it leaves out: what a record says (`readings`).
Sources: Cesa-Bianchi et al. 2004, section 4; Cesa-Bianchi 2007, section 4; Cavallanti et al. 2010, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import Stream
from experiments.papers.registry import Better, Rows, Setup
from lpsm import samplers
from lpsm.randomness import POLICY, WORKLOAD, generator

__all__ = [
    "ABOVE_1",
    "ABOVE_20",
    "ALL_LABELS",
    "FROM_1_TO_5",
    "NEWS",
    "Case",
    "counts",
    "grid",
    "make",
    "news",
    "question",
    "run_cases",
    "sweep",
]

WINDOW, STEP = 2000, 500
ABOVE_1 = tuple(range(18))  # ranks of the topics of more than 1 % of the stories
FROM_1_TO_5 = tuple(range(3, 18))
ABOVE_20 = tuple(range(57))  # of at least 20 stories
FIRST_ORDER = ("perceptron", "perceptron-ss", "random-perceptron", "dkm-perceptron", "ffoat", "ffole")
RCV1_STORIES, RCV1_TOPICS = 20_000, 102  # stories unless a paper takes more; all topics
NEWS: dict[str, Any] = {
    "data": "reuters21578",
    "better": Better("RCV1 (its document frequencies look ahead)", "RCV1/lyrl2004_vectors_train.dat*"),
    "published": "Reuters-21578, Distribution 1.0, as reuters21578/reuters21578.jsonl.gz, a story a line",
    "stand_in": "generated news",
}
Case = tuple[str, dict[str, Any], int]  # key of the sampler, its parameters (one varies), runs with other coins
ALL_LABELS: tuple[Case, ...] = (("sop", {}, 1), ("perceptron", {}, 1))


def grid(key: str, symbol: str, values: Iterable[Any], runs: int = 1) -> tuple[Case, ...]:
    """Return a case for each value of a sampler's parameter."""
    return tuple((key, {symbol: value}, runs) for value in values)


def sweep(
    cases: Sequence[Case], *, topics: tuple[int, ...] = ABOVE_1, smoke: Sequence[Case] = (), smoke_topics: int = 4,
    rcv1_stories: int = RCV1_STORIES,
) -> Callable[[Setup], Mapping[str, dict[str, Any]]]:  # fmt: skip
    """Return the sweep of a task a topic; `smoke` cases and the first `smoke_topics` topics at the smaller size."""

    def tasks(setup: Setup) -> dict[str, dict[str, Any]]:
        chosen = setup.pick(tuple(smoke) or tuple(cases)[:3], tuple(cases))
        documents = setup.pick(1500, rcv1_stories if setup.better else 0)
        ranks = _rcv1_ranks(str(setup.data), documents, topics) if setup.better else topics
        ranks = setup.pick(ranks[:smoke_topics], ranks)
        return {
            f"topic {rank + 1}": {
                "rank": rank,
                "cases": [list(case) for case in chosen],
                "seed": setup.seed,
                "documents": documents,
                **setup.source(),
            }
            for rank in ranks
        }

    return tasks


def _rcv1_ranks(folder: str, documents: int, topics: tuple[int, ...]) -> tuple[int, ...]:
    """Return the ranks of RCV1's topics that a paper takes where Reuters-21578 has these: 50, 32 or all 102 there."""
    stream = news(folder, False, 0, documents, better=True)
    count = stream.y.sum(axis=0)
    taken = {ABOVE_20: count >= 20, FROM_1_TO_5: (count > 0.01 * len(stream.y)) & (count < 0.05 * len(stream.y))}
    return tuple(np.flatnonzero(taken.get(topics, np.arange(len(count)) < 50)).tolist())


@lru_cache(maxsize=1)
def news(folder: str, stand_in: bool, seed: int, documents: int, better: bool = False) -> Stream:
    """Return the first stories (all of them if `documents` is 0) and their topics, the most frequent first."""
    from experiments.datasets.generated import generated_news
    from experiments.datasets.rcv1 import rcv1
    from experiments.datasets.texts import reuters

    if better:
        return rcv1(Path(folder), RCV1_TOPICS, documents)
    if stand_in:
        return generated_news(documents or 13_000, len(ABOVE_20), generator(seed, WORKLOAD))
    stream = reuters(Path(folder), len(ABOVE_20))
    return stream.head(documents) if documents else stream


def question(task: Mapping[str, Any]) -> tuple[Any, NDArray[np.int8], dict[str, Any]]:
    """Return the stories, the yes and no (+1, -1) of the task's topic, and the columns that name it."""
    seed = task["seed"] if task["stand_in"] else 0
    stream = news(task["folder"], task["stand_in"], seed, task["documents"], better=task.get("better", False))
    rank = task["rank"]
    y = np.where(stream.y[:, rank], 1, -1).astype(np.int8)
    return stream.X, y, {"topic": stream.classes[rank], "rank": rank}


def run_cases(task: dict[str, Any]) -> Rows:
    """Run every case over one topic: counts over the stream and over its windows."""
    X, y, named = question(task)
    totals: list[dict[str, Any]] = []
    windows: list[dict[str, Any]] = []
    for key, parameters, runs in task["cases"]:
        for run in range(runs):
            coins = generator(task["seed"], POLICY, 1000 * run + task["rank"])
            log = make(key, X, coins, parameters).run(X, y)
            what = {**named, "key": key, "value": float(next(iter(parameters.values()), np.nan)), "run": run}
            total, within = counts(log, y)
            totals.append({**what, **total})
            windows += [{**what, **row} for row in within]
    return {"totals": totals, "windows": windows}


def make(key: str, X: Any, coins: np.random.Generator, parameters: Mapping[str, Any]) -> samplers.Sampler:
    """Return a sampler for these stories; one with a matrix in dual variables, as in the papers: words are many."""
    kernel = None if key in FIRST_ORDER else "linear"
    return samplers.make(key, X.shape[1], rng=coins, kernel=kernel, **parameters)


def counts(log: Any, y: NDArray[np.int8]) -> tuple[dict[str, int], list[dict[str, int]]]:
    """Return true positives, predicted and true yes, labels and stored: over all rounds, and of every window.

    Windows of 2,000 rounds (a fifth of a shorter stream) slide by a quarter from the first round on; another
    one ends with the stream.
    """
    width = min(WINDOW, len(y) // 5)
    step = width * STEP // WINDOW
    predicted, positive = log.prediction > 0, y > 0
    columns = {"tp": predicted & positive, "predicted": predicted, "positive": positive}
    columns |= {"queried": log.queried, "stored": log.stored}
    so_far = {name: np.concatenate([[0], np.cumsum(column)]) for name, column in columns.items()}
    total = {"rounds": len(y), **{name: int(sums[-1]) for name, sums in so_far.items()}}
    ends = sorted({*range(width, len(y) + 1, step), len(y)})
    within = [
        {"t": end, "rounds": width, **{name: int(sums[end] - sums[end - width]) for name, sums in so_far.items()}}
        for end in ends
    ]
    return total, within
