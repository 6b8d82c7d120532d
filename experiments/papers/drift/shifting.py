"""Figure 2 of Moroshko and Crammer 2014: which algorithm stays accurate when the target changes every 500 rounds.

What it models: section 5. Panels a, b, c, e have 10,000 Gaussian instances in 50 dimensions, and every 500 rounds
another Gaussian vector as target.  Panels d, f have handwritten digits in random order, of which every 500 rounds other
classes, drawn at random, are positive.  LASEC's b and c and SOP's a are tuned once for all runs, as in the paper, on
ten draws of their own (the paper: on one), by the one-standard-error rule over draws (`tuning`).  In panels a and e
SOP's a is LASEC's b, and SOP at its own best a stands beside it: accuracy over whole streams is flat in a, so that
tuning says little of it.  The one parameter that sets each selective sampler's query rate is set on a draw of each
run's own: nothing is tuned on the rounds that count.  Accuracy is cumulative; runs are paired.
What it leaves out: tuning of the Shifting and the Budget Perceptron, whose parameters are the paper's; and other kinds
of drift.
"""

from functools import cache, lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.datasets import load
from experiments.papers.claims import Claim, Noted, against, point, points, steps_inside, wide
from experiments.papers.kit import DataSet, Experiment, Run, Sizes, over
from experiments.papers.predicates import above, at_least, below, between, both, largest, reaching, wide_enough
from experiments.papers.tuning import one_standard_error
from experiments.quantities import Row
from lpsm import samplers
from lpsm.randomness import POLICY, SPLIT, WORKLOAD, generator

SHIFT = 500
POINTS = 100  # of a curve
B_GRID = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
C_FACTORS = (1.01, 1.1, 2.0, 20.0, 200.0, 2000.0, 20_000.0)  # LASEC wants c > b
SELECTIVE = {  # key -> parameter of the query rate, and its range
    "lasec-ss": ("a", 1e-4, 1e3),
    "sop-label-efficient": ("C", 1e-4, 1e3),
    "perceptron-ss": ("b", 1e-4, 1e3),
    "bbq": ("kappa", 1e-3, 5.0),
    "bbq-i": ("kappa", 1e-3, 5.0),
}
LASEC_SS, SOP_SS = "lasec-ss", "sop-label-efficient"
OWN_A = ", own a"  # after a key: another regulariser of the same sampler
FIRST_ORDER = ("perceptron", "shifting-perceptron", "modified-perceptron", "randomized-budget-perceptron")


class Shifts(NamedTuple):
    """Streams whose target is replaced every 500 rounds; runs differ in their draws."""

    seed: int
    rounds: int
    draws: int
    digits: bool = False
    same: bool = False  # SOP's a is LASEC's b
    stand_in: bool = False
    folder: str = ""

    def draw(self, run, *, tuning=False):
        """Return instances and labels of a run, or of the draw that its parameters are tuned on."""
        rng = generator(self.seed, SPLIT if tuning else WORKLOAD, run)
        if self.digits:
            X, y = self._digits()
            order = rng.permutation(len(y))[: self.rounds]
            groups = [_subgroup(rng) for _ in range(-(-len(order) // SHIFT))]
            positive = np.array([groups[t // SHIFT][y[row]] for t, row in enumerate(order)])
            return X[order], np.where(positive, 1.0, -1.0)
        X = rng.standard_normal((self.rounds, 50))
        targets = rng.standard_normal((-(-self.rounds // SHIFT), 50))
        along = np.sum(X * targets[np.arange(self.rounds) // SHIFT], axis=1)
        return X, np.where(along >= 0.0, 1.0, -1.0)

    def _digits(self):
        if self.stand_in:
            from sklearn.datasets import load_digits

            bunch = load_digits()
            return bunch.data / 16.0, bunch.target
        stream = load("usps", Path(self.folder))
        return stream.X, stream.y

    def log(self, run, key, stream, **parameters):
        """Run a sampler over a stream, with the coins of a run; what follows a comma in its key is left out."""
        X, y = stream
        coins = generator(self.seed, POLICY, run)
        return samplers.make(key.partition(",")[0], X.shape[1], rng=coins, **parameters).run(X, y)


def _subgroup(rng):
    """Draw which of ten digits are positive: neither none nor all."""
    while True:
        chosen = rng.random(10) < 0.5
        if 0 < chosen.sum() < 10:
            return chosen


def _learner(point, X):
    """Return LASEC or SOP at a point of its grid, whose b and a are multiples of the mean squared norm."""
    scale = float(np.mean(np.sum(X * X, axis=1)))
    if "a" in point:
        return "sop", {"a": point["a"] * scale}
    b = point["b"] * scale
    return "lasec", {"b": b, "c": b * point["c over b"]}


@lru_cache(maxsize=2)  # the panels' two streams
def _tuned(shifts):
    """Return the points of LASEC and SOP, tuned on draws of their own: the same in every run, whatever SOP's a is."""
    pairs = [{"b": b, "c over b": factor} for b, factor in product(B_GRID, C_FACTORS)]
    streams = [shifts.draw(run, tuning=True) for run in range(shifts.draws)]

    def mistakes(point, run):
        key, own = _learner(point, streams[run][0])
        return 1.0 - _accuracy(shifts.log(run, key, streams[run], **own), streams[run])

    grids = (pairs, [{"a": a} for a in B_GRID])
    return [
        one_standard_error(grid, [[mistakes(point, run) for run in range(shifts.draws)] for point in grid])
        for grid in grids
    ]


def _parameters(shifts, run):
    """Return LASEC's and SOP's parameters for the draw for tuning, and the row that says what was chosen."""
    lasec, sop = _tuned(shifts._replace(same=False))
    X, _ = shifts.draw(run, tuning=True)
    fixed = dict(_learner(point, X) for point in (lasec, sop))
    over = {"b_over": lasec["b"], "c_over": lasec["c over b"], "a_over": sop["a"]}
    row = {"run": run, **fixed["lasec"], **fixed["sop"], **over}
    if shifts.same:
        fixed |= {"sop": {"a": fixed["lasec"]["b"]}, "sop" + OWN_A: fixed["sop"]}
    return fixed, row


def supervised(run, **what):
    """Panels a and d: six learners, all labels."""
    shifts = Shifts(**what)
    fixed, chosen = _parameters(shifts, run)
    stream = shifts.draw(run)
    shifting, budget = (1e-4, 1000) if shifts.digits else (0.01, 500)
    others: Any = ({}, {"lambda_": shifting}, {"factor": 1.0}, {"B": budget})
    curve = []
    for key, own in (fixed | dict(zip(FIRST_ORDER, others, strict=True))).items():
        curve += _curve(run, key, shifts.log(run, key, stream, **own), stream)
    return {"curve": curve, "tuned": [chosen]}


def selective(run, rates, **what):
    """Panels b, c, e and f: selective samplers at given query rates, set on the draw for tuning."""
    shifts = Shifts(**what)
    fixed, chosen = _parameters(shifts, run)
    tuning, stream, played = shifts.draw(run, tuning=True), shifts.draw(run), []
    given = {LASEC_SS: fixed["lasec"], SOP_SS: fixed["sop"]}
    if shifts.same:
        given[SOP_SS + OWN_A] = fixed["sop" + OWN_A]
    for key, own in ({key: {} for key in SELECTIVE} | given).items():
        played += _at_rates(key, partial(shifts.log, run, key, **own), tuning, stream, rates)
    tables = {"tuned": [chosen]}
    if len(rates) == 1:
        tables["curve"] = [row for key, _, _, log in played for row in _curve(run, key, log, stream)]
    played.append(("lasec", 1.0, 0.0, shifts.log(run, "lasec", stream, **fixed["lasec"])))
    tables["totals"] = [
        {"run": run, "key": key, "wanted": rate, "rate": float(log.queried.mean()), "accuracy": _accuracy(log, stream),
         "parameter": value}
        for key, rate, value, log in played
    ]  # fmt: skip
    return tables


def _at_rates(key, play, tuning, stream, rates):
    """Yield key, query rate, parameter and run; bisected in log scale, as the rate rises with all of them."""
    symbol, least, most = SELECTIVE[key.partition(",")[0]]
    asked = cache(lambda value: play(tuning, **{symbol: value}).queried.mean())
    for rate in rates:
        low, high = least, most
        for _ in range(9):
            middle = float(np.sqrt(low * high))
            low, high = (middle, high) if asked(middle) < rate else (low, middle)
        value = float(np.sqrt(low * high))
        yield key, rate, value, play(stream, **{symbol: value})


def _accuracy(log, stream):
    return float(np.mean(log.prediction == stream[1]))


def _curve(run, key, log, stream):
    right = np.cumsum(log.prediction == stream[1])
    step = max(1, len(right) // POINTS)
    times = range(step, len(right) + 1, step)
    return [{"run": run, "key": key, "t": t, "accuracy": float(right[t - 1] / t)} for t in times]


def _at(curve, t=None):
    """Return accuracy in percent at round t (None: at the end), a row a run and a column a key."""
    when = int(curve["t"].max() if t is None else curve.loc[curve["t"] <= t, "t"].max())
    return 100 * wide(curve, "accuracy", "key", "run", t=when)


def _at_rate(totals, rate):
    return 100 * wide(totals, "accuracy", "key", "run", wanted=rate)


def _over_best(table, winner, others=(), *, least=False):
    """Return what one has more than the best of the others, all but second forms of it unless named, run by run."""
    best = min if least else max
    others = others or [key for key in table.columns if key.partition(",")[0] != winner]
    rival = best(others, key=table.mean().__getitem__)
    return {f"over {rival}:": against(table[winner], table[rival])}


def _rates(totals):
    """Query rates over the wanted one."""
    own = totals[totals["key"] != "lasec"]
    return {str(key): shares for key, shares in (own["rate"] / own["wanted"]).groupby(own["key"], sort=False)}


def _gain(curve, since):
    """Return the change of the average accuracy from a round to the end, points: a row a run, a column a key."""
    return _at(curve) - _at(curve, since)


def _loss(curve):
    return dict((-_gain(curve, SHIFT)).items())


def _by_rate(totals):
    """LASEC-SS over the best other at every query rate that the paper speaks of, from .1 on, points."""
    rates = [rate for rate in dict.fromkeys(totals["wanted"]) if 0.1 <= rate < 1.0]
    tables = {rate: _over_best(_at_rate(totals, rate), LASEC_SS) for rate in rates}
    return {f"at {rate:g}, {name}": sample for rate, own in tables.items() for name, sample in own.items()}


def _kept_of_all_labels(totals):
    """What half of the labels gain over chance in what all of them gain, percent."""
    whole, half = _at_rate(totals, 1.0)["lasec"], _at_rate(totals, 0.5)[LASEC_SS]
    return Noted(100 * (half - 50.0) / (whole - 50.0), f"({half.mean():.1f} against {whole.mean():.1f})")


def _chosen(tuned):
    """How far inside their grids b, c and a lie, in multiples of the mean squared norm."""
    rows = tuned.dropna()
    inside = {name: steps_inside(rows[f"{name}_over"].round(9), B_GRID) for name in ("b", "a")}
    return {**inside, "c over b": steps_inside(rows["c_over"].round(6), C_FACTORS)}


BETTER = "points of accuracy over the best of the others, paired over runs"


def _best(statement, key, t, printed, others=()):
    test = above(lambda curve: _over_best(_at(curve, t), key, others))
    return Claim(statement, test, printed, BETTER)


OVER_RATES = (
    Claim("LASEC-SS is the best at every query rate from 0.1 on", above(_by_rate), "evidently the best", BETTER),
    Claim("half of the labels get LASEC-SS not too far from all of them",
          at_least(_kept_of_all_labels, 75.0, unit=" %"), "not too far",
          "of what LASEC with all labels gains over chance, 50 %, at least three quarters"),
)  # fmt: skip


def _at_one_rate(rate):
    return (
        Claim(f"all samplers ask for about {rate:g} of the labels", between(_rates, 0.75, 1.25), f"about {rate:g}",
              "rate over the wanted one; parameters are set on another draw"),
        _best("LASEC-SS ends with the best average accuracy", LASEC_SS, None, "outperforms"),
        _best("before the first shift BBQ is the best", "bbq", SHIFT, "the best"),
        Claim("after it BBQ's performance degrades most",
              both(largest(_loss, "bbq"), at_least(lambda curve: {"bbq": _loss(curve)["bbq"]}, 0.0, open=True)),
              "significantly degrades", "points lost from round 500 to the end"),
    )  # fmt: skip


def _trade_off(totals):
    groups = totals[totals["key"] != "lasec"].groupby(["key", "wanted"], sort=False)
    return pd.DataFrame([point(key, own["rate"].mean(), own["accuracy"]) for (key, _), own in groups])


USPS = DataSet(
    "usps", "USPS handwritten digits, as usps/usps.npz with X_train, y_train, X_test, y_test",
    "scikit-learn's 8 x 8 digits",
)  # fmt: skip
GAUSS: Row = {"axes": {"run": Sizes(range(3), range(50))}, "rounds": Sizes(2000, 10_000)}
SAME = GAUSS | {"same": True}  # SOP's a is LASEC's b
DIGITS: Row = {
    "axes": {"run": Sizes(range(2), range(50))}, "rounds": Sizes(1000, 9298), "digits": True
}  # fmt: skip
TIMES, AT_RATES = "accuracy over time", "accuracy against query rate"
PANELS: dict[str, tuple[str, str, Row, tuple[Claim, ...]]] = {  # subject, time, what is swept, claims
    "a": (f"{TIMES} with all labels, synthetic shifts", "1 min", SAME, (
        _best("before the first shift the second-order Perceptron, its a being LASEC's b, is the best", "sop", SHIFT,
              "the best"),
        _best("LASEC outperforms all others over the whole stream", "lasec", None, "outperforms"),
        _best("LASEC outperforms the second-order Perceptron, with the same regulariser or its own best", "lasec", None,
              "deals better", ("sop", "sop" + OWN_A)),
    )),
    "b": (f"{TIMES} at a query rate of 0.1, synthetic shifts", "1 min", GAUSS | {"rates": [0.1]},
          _at_one_rate(0.1)),
    "c": (f"{AT_RATES}, synthetic shifts", "4 min",
          GAUSS | {"rates": Sizes([0.1, 0.5], [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])}, OVER_RATES),
    "d": (f"{TIMES} with all labels, shifting digits", "2 min", DIGITS, (
        _best("LASEC slightly outperforms SOP", "lasec", None, "slightly", ("sop",)),
        _best("both outperform the first-order learners", "sop", None, "outperform", FIRST_ORDER),
    )),
    "e": (f"{TIMES} at a query rate of 0.4, synthetic shifts", "1 min", SAME | {"rates": [0.4]}, (
        *_at_one_rate(0.4),
        Claim("the average accuracy of LASEC-SS does not decrease",
              reaching(lambda curve: _gain(curve, SHIFT)[LASEC_SS], 0.0, unit=" points"), "does not decrease",
              f"from round {SHIFT} to the end"),
        Claim("the average accuracy of LASEC-SS falls least",
              below(lambda curve: _over_best(-_gain(curve, SHIFT), LASEC_SS, least=True), unit=" points"),
              "does not decrease",
              f"points lost from round {SHIFT} to the end less those of the best other, paired over runs"),
        Claim("SOP-SS, after an initial drop, improves over time",
              above(lambda curve: _gain(curve, 4 * SHIFT)[SOP_SS], unit=" points"), "increases over time",
              f"from round {4 * SHIFT} to the end, its a being LASEC's b"),
    )),
    "f": (f"{AT_RATES}, shifting digits", "5 min",
          DIGITS | {"axes": {"run": Sizes(range(2), range(20))}, "rates": Sizes([0.1, 0.5], [0.1, 0.2, 0.3, 0.4, 0.5])},
          OVER_RATES),
}  # fmt: skip


def _panel(place, subject, time, swept, claims):
    data, tasks = USPS if "digits" in swept else None, over(draws=Sizes(2, 10), **swept)
    experiment = Experiment(
        f"drift/fig-2-{place}", subject, time, data, run=Run(selective if "rates" in swept else supervised),
        claims=[*claims, wide_enough(_chosen)],
        sweep=lambda setup: {key: task | (setup.source() if data else {}) for key, task in tasks(setup).items()},
    )  # fmt: skip
    if claims is OVER_RATES:
        experiment.picture(f"fig-2-{place}", x="fraction of labels asked for", y="accuracy")(_trade_off)
    else:
        experiment.picture(f"fig-2-{place}", x="rounds", y="cumulative accuracy")(
            lambda curve: points(curve, "key", "t", "accuracy")
        )
    return experiment


EXPERIMENTS = tuple(_panel(place, *panel) for place, panel in PANELS.items())
