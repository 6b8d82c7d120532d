"""Samplers over news stories, a topic at a time: what three papers' experiments run and measure alike.

What it models: every topic is a question of yes and no over the same stories in order of time; a
task runs a set of samplers over one topic and returns counts, over the stream and over windows of 2,000 stories.
Where RCV1, which the papers use, is not at hand, Reuters-21578 stands in for it: its 13,476 indexed stories
instead of the first 20,000 or 40,000, and the 18 topics that more than 1 % of them have where a
paper takes the 50 most frequent (which are those above 1 %, as the one of 2004 says).  Weights are TF-IDF of the past
(of LYRL2004's vectors, which have only those, of its training stories, the first 23,149).
Nothing is drawn but the coins of randomised samplers.

Counts of a record become F-measure, precision, recall and label rate, a number a topic; topics are the replications
of every interval, and compared samplers are paired over them.  A selection takes one row a topic of these scores: at
one value of a sampler's parameter, at a value chosen, or between two values at a label rate.  What has to be chosen is
chosen on the topics of the other half, those of odd rank for even ones and the other way round, so that nothing is
measured where it was tuned.  With no true positive F is 0 if anything was positive or predicted so, and otherwise left
out of means.
What it leaves out: claims of one figure.
Sources: Cesa-Bianchi et al. 2004, section 4; Cesa-Bianchi 2007, section 4; Cavallanti et al. 2010, section 3.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.figures.papers import panels
from experiments.papers.claims import Noted, named, steps_inside, where, wide
from experiments.papers.kit import DataSet
from lpsm import samplers
from lpsm.randomness import POLICY, WORKLOAD, generator

WINDOW, STEP = 2000, 500
ABOVE_1 = tuple(range(18))  # ranks of the topics of more than 1 % of the stories
FROM_1_TO_5 = tuple(range(3, 18))
ABOVE_20 = tuple(range(57))  # of at least 20 stories
FIRST_ORDER = ("perceptron", "perceptron-ss", "random-perceptron", "dkm-perceptron", "ffoat", "ffole")
RCV1 = "rcv1"
OF_RCV1 = {ABOVE_1: tuple(range(50)), FROM_1_TO_5: tuple(range(18, 50)), ABOVE_20: tuple(range(101))}
"""The same topics of RCV1: the 50 above 1 %, the 32 of them below 5 %, and all but the rarest."""
NEWS = DataSet(
    "reuters21578", "Reuters-21578, Distribution 1.0, as reuters21578/reuters21578.jsonl.gz, a story a line",
    "generated news", paper="RCV1", own="rcv1/*",
)  # fmt: skip
ALL_LABELS: Any = (("sop", {}, 1), ("perceptron", {}, 1))


def grid(key, symbol, values, runs=1):
    """Return a case for each value of a sampler's parameter: its key, the parameter, runs with other coins."""
    return tuple((key, {symbol: value}, runs) for value in values)


def sweep(cases, *, topics=ABOVE_1, smoke_topics=4, stories=20_000):
    """Return the sweep of a task a topic, of the first `stories` of RCV1 or all of Reuters-21578.

    The smaller size has two coins, and the first `smoke_topics` topics.
    """

    def tasks(setup):
        own = [[key, parameters, setup.pick(min(runs, 2), runs)] for key, parameters, runs in cases]
        common = {"cases": own, "seed": setup.seed, "documents": setup.pick(1500, 0), **setup.source()}
        ranks = topics
        if setup.material == RCV1:
            common["documents"], ranks = setup.pick(1500, stories), OF_RCV1[topics]
        return {f"topic {rank + 1}": {"rank": rank, **common} for rank in setup.pick(ranks[:smoke_topics], ranks)}

    return tasks


@lru_cache(maxsize=1)
def stories(folder, stand_in, seed, documents):
    """Return the first stories (all of them if `documents` is 0) and their topics, the most frequent first."""
    from experiments.datasets.named import rcv1, reuters
    from experiments.datasets.words import generated_news

    if stand_in:
        return generated_news(documents or 13_000, len(ABOVE_20), generator(seed, WORKLOAD))
    if any(Path(folder).glob(NEWS.own)):
        return rcv1(Path(folder), len(OF_RCV1[ABOVE_20]), documents=documents)
    stream = reuters(Path(folder), len(ABOVE_20))
    return stream.take(slice(documents)) if documents else stream


def question(task):
    """Return the stories, the yes and no (+1, -1) of the task's topic, and the columns that name it."""
    seed, rank = task["seed"] if task["stand_in"] else 0, task["rank"]
    stream = stories(task["folder"], task["stand_in"], seed, task["documents"])
    y = np.where(stream.y[:, rank], 1, -1).astype(np.int8)
    return stream.X, y, {"topic": stream.classes[rank], "rank": rank}


def run_cases(task):
    """Run every case over one topic: counts over the stream and over its windows."""
    X, y, named = question(task)
    totals, windows = [], []
    for key, parameters, runs in task["cases"]:
        for run in range(runs):
            coins = generator(task["seed"], POLICY, 1000 * run + task["rank"])
            total, within = counts(make(key, X, coins, parameters).run(X, y), y)
            what = {**named, "key": key, "value": float(next(iter(parameters.values()), np.nan)), "run": run}
            totals.append({**what, **total})
            windows += [{**what, **row} for row in within]
    return {"totals": totals, "windows": windows}


def make(key, X, coins, parameters):
    """Return a sampler for these stories; one with a matrix in dual variables, as in the papers: words are many."""
    kernel = None if key in FIRST_ORDER else "linear"
    return samplers.make(key, X.shape[1], rng=coins, kernel=kernel, **parameters)


def counts(log, y):
    """Return true positives, predicted and true yes, labels and stored: over all rounds, and of every window.

    Windows of 2,000 rounds (a fifth of a shorter stream) slide by a quarter from the first round on; another
    one ends with the stream.
    """
    predicted, positive = log.prediction > 0, y > 0
    flags = {"tp": predicted & positive, "predicted": predicted, "positive": positive}
    so_far = pd.DataFrame({"rounds": 1, **flags, "queried": log.queried, "stored": log.stored}).astype(int).cumsum()
    width = min(WINDOW, len(y) // 5)
    ends = sorted({*range(width, len(y) + 1, width * STEP // WINDOW), len(y)})
    before = so_far.reindex([end - width - 1 for end in ends], fill_value=0)
    within = so_far.iloc[[end - 1 for end in ends]].reset_index(drop=True) - before.reset_index(drop=True)
    rows = within.assign(t=ends)[["t", *within.columns]].to_dict("records")
    return so_far.iloc[-1].to_dict(), rows


# -- scores ------------------------------------------------------------------------------------------------------

SAME = 0.02  # of F, mean paired difference: about the error of a topic's F with a few hundred positives
NEAR = 0.01
NAMES = {
    "sop": "2nd order, all labels", "perceptron": "Perceptron, all labels", "sop-ss": "2nd order",
    "perceptron-ss": "1st order", "sop-fixed-bias": "2nd order, fixed bias", "filter": "FILTER",
    "random-perceptron": "1st order, fixed bias", "sop-label-efficient": "SOLE", "dkm-perceptron": "DKMPERC",
    **{key: key.upper() for key in ("ss", "ssnci", "ssmd", "ssnl", "ffoat", "fsoat", "ffole", "fsole")},
}  # fmt: skip


def with_scores(frame):
    """Add f, precision, recall and rate to rows of counts."""
    tp, predicted, positive = (frame[name].astype(float) for name in ("tp", "predicted", "positive"))
    shares = {"f": 2.0 * tp / (predicted + positive), "precision": tp / predicted, "recall": tp / positive}
    return frame.assign(**shares, rate=frame["queried"] / frame["rounds"])


def scored(record, table="totals"):
    """Return a row a topic, sampler, value (and window), averaged over coins; scores are returned as they are."""
    if isinstance(record, pd.DataFrame):
        return record
    by = ["rank", "topic", "key", "value", *(["t"] if table == "windows" else [])]
    rows = with_scores(record[table].fillna({"value": 0.0}))
    return rows.groupby(by, sort=False, as_index=False).mean(numeric_only=True).drop(columns="run")


def mean_by_value(record, key):
    """Return means over topics, a row a value of the parameter."""
    return where(scored(record), key=key).groupby("value").mean(numeric_only=True)


# -- selections: record or scores -> a row a topic, none where there is no such thing ----------------------------
# a pick: (means by value, all scores) of the topics of the other half -> value


def of(key, value=None):
    """Select a sampler's rows, at one value of its parameter if that is given."""
    having = {"key": key} if value is None else {"key": key, "value": value}
    return lambda record: where(scored(record), **having).set_index("rank").sort_index()


def chosen(key, pick, *, one_out=False):
    """Select a sampler at the value that `pick` takes on the topics of the other half, or on all `one_out` but it."""

    def select(record):
        scores, parts = scored(record), []
        folds = scores["rank"] if one_out else scores["rank"] % 2
        for fold in sorted(set(folds)):
            others = scores[folds != fold]
            parts.append(of(key, pick(mean_by_value(others, key), others))(scores[folds == fold]))
        return pd.concat(parts).sort_index()

    return select


def at_rate(key, rate):
    """Select a sampler where it asks for `rate` on the mean, between two of its values.

    Interpolated in the logarithm of the mean rate, which every topic's row then states; no row where no two values
    enclose the rate.
    """

    def select(record):
        scores = scored(record)
        rates = mean_by_value(scores, key)["rate"].sort_values()
        above = int(np.searchsorted(rates, rate))
        if not 0 < above < len(rates):
            return scores.iloc[:0]
        share = float(np.interp(np.log(rate), np.log(rates.iloc[above - 1 : above + 1]), (0.0, 1.0)))
        low, high = (of(key, rates.index[place])(scores).select_dtypes("number") for place in (above - 1, above))
        return ((1.0 - share) * low + share * high).drop(columns="value").assign(rate=rate)

    return select


def cheapest_near(reference):
    """Take the value with fewest labels whose mean F is within .01 of the reference's, or else that of best F."""

    def pick(table, others):
        good = table[table["f"] >= mean_by_value(others, reference)["f"].iloc[0] - NEAR]
        return good["rate"].idxmin() if len(good) else table["f"].idxmax()

    return pick


def most_f(most_rate=1.0):
    """Take the value of best mean F, of those that ask for at most such a share of the labels."""
    return lambda table, _: table.loc[table["rate"] <= most_rate, "f"].idxmax()


def rate_near(target):
    """Take the value whose mean label rate is nearest the target, in ratio."""
    return lambda table, _: np.abs(np.log(table["rate"] / target)).idxmin()


def below_f(target):
    """Take the value whose mean F is the largest not above the target on these topics, or else the nearest."""

    def pick(table, others):
        limit = target(others)
        under = table[table["f"] <= limit]
        return under["f"].idxmax() if len(under) else (table["f"] - limit).abs().idxmin()

    return pick


# -- measures ----------------------------------------------------------------------------------------------------


def paired(column, ours, theirs, *, percent=False):
    """Measure the difference of a column between two selections, topic by topic, beside both means and label rates."""

    def measure(record):
        scores = scored(record)
        rows = [select(scores) for select in (ours, theirs)]
        if not all(map(len, rows)):
            return {}
        difference = (100.0 if percent else 1.0) * (rows[0][column] - rows[1][column])
        means = [f"{own[column].mean():.3g} with {100 * own['rate'].mean():.3g} % of the labels" for own in rows]
        return {"": Noted(difference, f"({' against '.join(means)})")}

    return measure


def at_rates(column, ours, theirs, rates):
    """Measure such differences where both samplers ask for each of these rates, as far as both reach it."""
    return named({f"at {100 * rate:g} %": paired(column, at_rate(ours, rate), at_rate(theirs, rate)) for rate in rates})


def inside(selections):
    """Measure how far inside its grid every chosen parameter lies, by the sampler's key."""

    def measure(record):
        scores = scored(record)
        grids = scores.groupby("key")["value"]
        return {
            NAMES[key]: steps_inside(select(scores)["value"], grids.get_group(key))
            for key, select in selections.items()
        }

    return measure


def by_window(record, column, rows):
    """Return a column of the windows at the values of a selection: a row a topic, a column a window."""
    own = scored(record, "windows").merge(rows.reset_index()[["rank", "key", "value"]])
    return wide(own, column, "t", "rank")


# -- pictures --------------------------------------------------------------------------------------------------


def curves(record, groups, columns):
    """Draw means over topics of the windows: a panel a column, a line a (name, key, value)."""
    windows, lines, frames = scored(record, "windows"), [], []
    for name, key, value in groups:
        own = where(windows, key=key)
        own = own if value is None else own[np.isclose(own["value"], value)]
        lines.append(own.groupby("t").mean(numeric_only=True).rename_axis("x").reset_index().assign(group=name))
    for column, title in columns.items():
        shown = [own.assign(y=own[column]) for own in lines if column != "rate" or not (own["rate"] == 1.0).all()]
        frames.append((title, pd.concat(shown, ignore_index=True)))
    most = int(windows["rounds"].max())
    return panels(frames, x="stories", y=f"mean over topics, last {most:,} stories", share_y=False)


def trade_off(record, keys, references=()):
    """Return F against label rate, means over topics: a line a sampler, a level line a reference."""
    means = pd.concat(mean_by_value(record, key).assign(group=NAMES[key]) for key in keys)
    frame = pd.DataFrame({"group": means["group"], "x": 100.0 * means["rate"], "y": means["f"]})
    ends = frame["x"].agg(["min", "max"])
    levels = [pd.DataFrame({"group": NAMES[key], "x": ends, "y": of(key)(record)["f"].mean()}) for key in references]
    return pd.concat([frame, *(level.assign(reference=True) for level in levels)], ignore_index=True)
