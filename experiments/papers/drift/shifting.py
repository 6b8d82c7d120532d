"""Figure 2 of Moroshko and Crammer 2014: a target that is replaced every 500 rounds.

What it models: section 5. Panels a, b, c, e: 10,000 Gaussian instances in 50 dimensions, the
target another Gaussian vector every 500.  Panels d, f: handwritten digits in random order, the
classes that are positive drawn anew every 500.  LASEC's b and c and SOP's a are tuned on a draw of their
own, and so is the one parameter that sets each selective sampler's query rate: nothing is
tuned on the rounds that count.  Accuracy is cumulative; runs are paired.
What it leaves out: tuning of the Shifting and the Budget Perceptron, whose parameters are the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.datasets import load
from experiments.figures.papers import lines
from experiments.papers.registry import Claim, Experiment, Record, Rows, Setup, Verdict
from experiments.study.compare import estimate
from lpsm import samplers
from lpsm.randomness import POLICY, SPLIT, WORKLOAD, generator

__all__ = ["EXPERIMENTS"]

SHIFT = 500
D = 50
POINTS = 100  # of a curve
B_GRID = (0.1, 1.0, 10.0)
C_FACTORS = (2.0, 20.0, 200.0, 2000.0)
SELECTIVE: Mapping[str, tuple[str, float, float]] = {  # key -> parameter of the query rate, and its range
    "lasec-ss": ("a", 1e-4, 1e3),
    "sop-label-efficient": ("C", 1e-4, 1e3),
    "perceptron-ss": ("b", 1e-4, 1e3),
    "bbq": ("kappa", 1e-3, 5.0),
    "bbq-i": ("kappa", 1e-3, 5.0),
}
FIRST_ORDER = ("perceptron", "shifting-perceptron", "modified-perceptron", "randomized-budget-perceptron")
RATES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)


def _sweep(rounds: tuple[int, int], runs: tuple[int, int], **what: Any) -> Callable[[Setup], dict[str, dict[str, Any]]]:
    def sweep(setup: Setup) -> dict[str, dict[str, Any]]:
        common: dict[str, Any] = {"seed": setup.seed, "rounds": setup.pick(*rounds), **what}
        smaller = common.pop("smoke_rates", None)
        if smaller is not None:
            common["rates"] = setup.pick(smaller, common["rates"])
        if what.get("digits"):
            common["stand_in"] = setup.stand_in
            common["folder"] = "" if setup.stand_in else str(setup.data)
        return {f"run {run}": {**common, "run": run} for run in range(setup.pick(*runs))}

    return sweep


def _draw(task: dict[str, Any], tuning: bool) -> tuple[Any, Any]:
    """Return instances and labels of a run, or of the draw its parameters are tuned on."""
    rng = generator(task["seed"], SPLIT if tuning else WORKLOAD, task["run"])
    rounds = task["rounds"]
    if task.get("digits"):
        X, y = _digits(task)
        order = rng.permutation(len(y))[:rounds]
        groups = [_subgroup(rng) for _ in range(-(-len(order) // SHIFT))]
        positive = np.array([groups[t // SHIFT][y[row]] for t, row in enumerate(order)])
        return X[order], np.where(positive, 1.0, -1.0)
    X = rng.standard_normal((rounds, D))
    targets = rng.standard_normal((-(-rounds // SHIFT), D))
    return X, np.where(np.sum(X * targets[np.arange(rounds) // SHIFT], axis=1) >= 0.0, 1.0, -1.0)


def _digits(task: dict[str, Any]) -> tuple[Any, Any]:
    if task["stand_in"]:
        from sklearn.datasets import load_digits

        bunch = load_digits()
        return bunch.data / 16.0, bunch.target
    stream = load("usps", Path(task["folder"]))
    return stream.X, stream.y


def _subgroup(rng: np.random.Generator) -> Any:
    """Which of ten digits are positive: not none, not all."""
    while True:
        chosen = rng.random(10) < 0.5
        if 0 < chosen.sum() < 10:
            return chosen


def _run(task: dict[str, Any], key: str, X: Any, y: Any, **parameters: Any) -> Any:
    return samplers.make(key, X.shape[1], rng=generator(task["seed"], POLICY, task["run"]), **parameters).run(X, y)


def _accuracy(log: Any, y: Any) -> float:
    return float(np.mean(log.prediction == y))


def _tuned(task: dict[str, Any], X: Any, y: Any) -> tuple[dict[str, float], dict[str, float]]:
    """LASEC's b and c and SOP's a: the most accurate with all labels, on the draw for tuning."""
    scale = float(np.mean(np.sum(X * X, axis=1)))
    pairs = [{"b": b * scale, "c": b * scale * factor} for b in B_GRID for factor in C_FACTORS]
    lasec = max(pairs, key=lambda pair: _accuracy(_run(task, "lasec", X, y, **pair), y))
    sop = max(({"a": b * scale} for b in B_GRID), key=lambda pair: _accuracy(_run(task, "sop", X, y, **pair), y))
    return lasec, sop


def _fixed(key: str, lasec: Mapping[str, float], sop: Mapping[str, float]) -> dict[str, float]:
    return dict(lasec) if key == "lasec-ss" else dict(sop) if key == "sop-label-efficient" else {}


def supervised(task: dict[str, Any]) -> Rows:
    """Panels a and d: six learners, all labels."""
    lasec, sop = _tuned(task, *_draw(task, tuning=True))
    X, y = _draw(task, tuning=False)
    shifting, budget = (1e-4, 1000) if task.get("digits") else (0.01, 500)
    learners: dict[str, dict[str, Any]] = {
        "lasec": dict(lasec), "sop": dict(sop), "perceptron": {}, "shifting-perceptron": {"lambda_": shifting},
        "modified-perceptron": {"factor": 1.0}, "randomized-budget-perceptron": {"B": budget},
    }  # fmt: skip
    rows: list[dict[str, Any]] = []
    for key, parameters in learners.items():
        rows += _curve(task, key, _run(task, key, X, y, **parameters), y)
    return {"curve": rows, "tuned": [{"run": task["run"], **lasec, **sop}]}


def selective(task: dict[str, Any]) -> Rows:
    """Panels b, c, e and f: selective samplers at given query rates, set on the draw for tuning."""
    tuning = _draw(task, tuning=True)
    lasec, sop = _tuned(task, *tuning)
    X, y = _draw(task, tuning=False)
    rows, totals = [], []
    for key, (symbol, low, high) in SELECTIVE.items():
        fixed = _fixed(key, lasec, sop)
        for rate in task["rates"]:
            value = _value_for_rate(task, key, symbol, low, high, fixed, rate, *tuning)
            log = _run(task, key, X, y, **fixed, **{symbol: value})
            totals.append(
                {"run": task["run"], "key": key, "wanted": rate, "rate": float(log.queried.mean()),
                 "accuracy": _accuracy(log, y), "parameter": value}
            )  # fmt: skip
            if len(task["rates"]) == 1:
                rows += _curve(task, key, log, y)
    full = _accuracy(_run(task, "lasec", X, y, **lasec), y)
    totals.append({"run": task["run"], "key": "lasec", "wanted": 1.0, "rate": 1.0, "accuracy": full, "parameter": 0.0})
    return {"curve": rows, "totals": totals} if rows else {"totals": totals}


def _value_for_rate(
    task: dict[str, Any], key: str, symbol: str, low: float, high: float, fixed: dict[str, float], rate: float,
    X: Any, y: Any, steps: int = 9,
) -> float:  # fmt: skip
    """Bisect the parameter, in log scale, for the query rate: every sampler asks more as its parameter grows."""
    for _ in range(steps):
        middle = float(np.sqrt(low * high))
        asked = float(_run(task, key, X, y, **fixed, **{symbol: middle}).queried.mean())
        if asked < rate:
            low = middle
        else:
            high = middle
    return float(np.sqrt(low * high))


def _curve(task: dict[str, Any], key: str, log: Any, y: Any) -> list[dict[str, Any]]:
    right = np.cumsum(log.prediction == y)
    step = max(1, len(y) // POINTS)
    return [
        {"run": task["run"], "key": key, "t": t, "accuracy": float(right[t - 1] / t)}
        for t in range(step, len(y) + 1, step)
    ]


# -- what a record says -----------------------------------------------------------------------------------


def _at(record: Record, t: int | None) -> pd.DataFrame:
    """Accuracy at round t (None: at the end), a row a run and a column a key."""
    curve = record["curve"]
    when = int(curve["t"].max()) if t is None else int(curve["t"][curve["t"] <= t].max())
    table: pd.DataFrame = curve[curve["t"] == when].pivot(index="run", columns="key", values="accuracy")
    return table


def _best(winner: str, t: int | None, others: tuple[str, ...] | None = None) -> Callable[[Record], Verdict]:
    def check(record: Record) -> Verdict:
        table = _at(record, t)
        rivals = [key for key in (others or table.columns) if key != winner]
        rival = max(rivals, key=table.mean().__getitem__)
        found = estimate(100 * (table[winner] - table[rival]))
        means = ", ".join(f"{key} {100 * table[key].mean():.1f}" for key in (winner, *rivals))
        return Verdict(
            f"{found.mean:+.2f} ± {found.half_width:.2f} % against {rival}", found.mean - found.half_width > 0.0,
            f"accuracies in %: {means}",
        )  # fmt: skip

    return check


def _rates_met(record: Record) -> Verdict:
    totals = record["totals"][record["totals"]["key"] != "lasec"]
    means = totals.groupby("key", sort=False)["rate"].mean()
    words = ", ".join(f"{key} {rate:.3f}" for key, rate in means.items())
    wanted = float(totals["wanted"].iloc[0])
    return Verdict(words, bool((np.abs(means - wanted) <= 0.25 * wanted).all()), words)


def _bbq_degrades(record: Record) -> Verdict:
    before, after = _at(record, SHIFT), _at(record, None)
    drops = {key: estimate(100 * (before[key] - after[key])) for key in before.columns}
    largest = max(drops, key=lambda key: drops[key].mean)
    words = ", ".join(f"{key} {found.mean:+.1f} ± {found.half_width:.1f}" for key, found in drops.items())
    return Verdict(
        f"loses {drops['bbq'].mean:.1f} points", largest == "bbq" and drops["bbq"].mean > 0, f"points lost: {words}"
    )


def _does_not_decrease(record: Record) -> Verdict:
    found = estimate(100 * (_at(record, None)["lasec-ss"] - _at(record, SHIFT)["lasec-ss"]))
    return Verdict(
        f"{found.mean:+.2f} ± {found.half_width:.2f} points from round {SHIFT} on",
        found.mean + found.half_width >= 0.0,
        _why_it_falls(record),
    )


def _why_it_falls(record: Record) -> str:
    """Accuracy of LASEC-SS before the first shift and after it, and how all samplers fare."""
    before, after = _at(record, SHIFT), _at(record, None)
    end = int(record["curve"]["t"].max())
    later = (end * after - SHIFT * before) / max(1, end - SHIFT)  # accuracy in the rounds after the first shift
    first, rest = estimate(100 * before["lasec-ss"]), estimate(100 * later["lasec-ss"])
    others = ", ".join(f"{key} {100 * (after[key] - before[key]).mean():+.1f}" for key in after.columns)
    return (
        f"the first {SHIFT} rounds, with a target that does not move, are answered with {first.mean:.1f} ± "
        f"{first.half_width:.1f} % and those after with {rest.mean:.1f} ± {rest.half_width:.1f} %, a "
        f"level that the average goes down to; every sampler's change: {others} points"
    )


def _recovers(record: Record) -> Verdict:
    end, early = _at(record, None)["sop-label-efficient"], _at(record, 4 * SHIFT)["sop-label-efficient"]
    found = estimate(100 * (end - early))
    return Verdict(
        f"{found.mean:+.2f} ± {found.half_width:.2f} points from round {4 * SHIFT} on",
        found.mean - found.half_width > 0.0,
        f"{100 * early.mean():.1f} % until then, {100 * end.mean():.1f} % at the end; it rises in "
        f"{(end > early).sum()} of {len(end)} runs",
    )


def _trade_off(record: Record) -> pd.DataFrame:
    totals = record["totals"][record["totals"]["key"] != "lasec"]
    rows = []
    for (key, wanted), own in totals.groupby(["key", "wanted"], sort=False):
        found = estimate(own["accuracy"])
        rows.append(
            {"group": key, "wanted": wanted, "x": own["rate"].mean(), "y": found.mean, "half_width": found.half_width}
        )
    return pd.DataFrame(rows)


def _best_everywhere(record: Record) -> Verdict:
    totals = record["totals"]
    wins, words = 0, []
    rates = [rate for rate in dict.fromkeys(totals["wanted"]) if rate < 1.0]
    for rate in rates:
        table = totals[totals["wanted"] == rate].pivot(index="run", columns="key", values="accuracy")
        rivals = [key for key in table.columns if key != "lasec-ss"]
        rival = max(rivals, key=table.mean().__getitem__)
        found = estimate(100 * (table["lasec-ss"] - table[rival]))
        wins += found.mean - found.half_width > 0.0
        words.append(f"{found.mean:+.2f} ± {found.half_width:.2f} at {rate:g} ({rival})")
    return Verdict(
        f"points over the best other: {', '.join(words)}", wins == len(rates), f"ahead at {wins} of {len(rates)}"
    )


def _half_is_near(record: Record) -> Verdict:
    totals = record["totals"]
    half = totals[(totals["key"] == "lasec-ss") & (totals["wanted"] == 0.5)].set_index("run")["accuracy"]
    full = totals[totals["key"] == "lasec"].set_index("run")["accuracy"]
    found = estimate(100 * (full - half))
    return Verdict(f"{found.mean:.2f} ± {found.half_width:.2f} points below all labels", found.mean <= 5.0)


def _draw_curve(name: str) -> Any:
    def figures(record: Record) -> Mapping[str, Figure]:
        rows = []
        for (key, t), own in record["curve"].groupby(["key", "t"], sort=False):
            found = estimate(own["accuracy"])
            rows.append({"group": key, "x": t, "y": found.mean, "half_width": found.half_width})
        return {name: lines(pd.DataFrame(rows), x="rounds", y="cumulative accuracy")}

    return figures


def _draw_trade_off(name: str) -> Any:
    return lambda record: {name: lines(_trade_off(record), x="fraction of labels asked for", y="accuracy")}


WINS = "whole 95 % interval of the paired difference from the best of the others"


def _claim(statement: str, check: Any, printed: str, tolerance: str = WINS) -> Claim:
    return Claim(statement=statement, check=check, printed=printed, tolerance=tolerance)


def _middle(place: str, rate: float, more: tuple[Claim, ...]) -> Experiment:
    return Experiment(
        name=f"drift/{place}", claim=f"accuracy over time at a query rate of {rate:g}, synthetic shifts", time="4 min",
        sweep=_sweep((2000, 10_000), (3, 50), rates=(rate,)), run=selective,
        claims=(
            _claim(
                f"all samplers ask for about {rate:g} of the labels", _rates_met, f"about {rate:g}",
                "mean rate within a quarter of it; parameters are set on another draw",
            ),
            _claim("LASEC-SS ends with the best average accuracy", _best("lasec-ss", None), "outperforms"),
            _claim("before the first shift BBQ is the best", _best("bbq", SHIFT), "the best"),
            _claim(
                "after it BBQ's performance degrades most", _bbq_degrades, "significantly degrades",
                "largest mean loss from round 500 to the end",
            ),
            *more,
        ),
        figures=_draw_curve(place),
    )  # fmt: skip


_USPS: dict[str, Any] = {
    "data": "usps",
    "published": "USPS handwritten digits, as usps/usps.npz with X_train, y_train, X_test, y_test",
    "stand_in": "scikit-learn's 8 x 8 digits",
}

EXPERIMENTS = (
    Experiment(
        name="drift/fig-2-a", claim="accuracy over time with all labels, synthetic shifts", time="1 min",
        sweep=_sweep((2000, 10_000), (3, 50)), run=supervised,
        claims=(
            _claim("before the first shift the second-order Perceptron is the best", _best("sop", SHIFT), "the best"),
            _claim("LASEC outperforms all others over the whole stream", _best("lasec", None), "outperforms"),
            _claim("LASEC outperforms the second-order Perceptron", _best("lasec", None, ("sop",)), "deals better"),
        ),
        figures=_draw_curve("fig-2-a"),
    ),
    _middle("fig-2-b", 0.1, ()),
    Experiment(
        name="drift/fig-2-c", claim="accuracy against query rate, synthetic shifts", time="15 min",
        sweep=_sweep((2000, 10_000), (3, 50), rates=RATES, smoke_rates=(0.1, 0.5)), run=selective,
        claims=(
            _claim("LASEC-SS is the best at every query rate", _best_everywhere, "evidently the best"),
            _claim(
                "half of the labels get LASEC-SS not too far from all of them", _half_is_near, "not too far",
                "at most 5 points of accuracy",
            ),
        ),
        figures=_draw_trade_off("fig-2-c"),
    ),
    Experiment(
        name="drift/fig-2-d", claim="accuracy over time with all labels, shifting digits", time="5 min",
        sweep=_sweep((1000, 9298), (2, 50), digits=True), run=supervised,
        claims=(
            _claim("LASEC slightly outperforms SOP", _best("lasec", None, ("sop",)), "slightly"),
            _claim(
                "both outperform the first-order learners",
                _best("sop", None, FIRST_ORDER),
                "outperform",
            ),
        ),
        figures=_draw_curve("fig-2-d"), **_USPS,
    ),
    _middle(
        "fig-2-e", 0.4,
        (
            _claim(
                "the average accuracy of LASEC-SS does not decrease", _does_not_decrease, "does not decrease",
                "from round 500 to the end; the 95 % interval reaches 0",
            ),
            _claim(
                "SOP-SS, after an initial drop, improves over time", _recovers, "increases over time",
                "from round 2000 to the end, whole 95 % interval",
            ),
        ),
    ),
    Experiment(
        name="drift/fig-2-f", claim="accuracy against query rate, shifting digits", time="30 min",
        sweep=_sweep((1000, 9298), (2, 20), digits=True, rates=(0.1, 0.2, 0.3, 0.4, 0.5), smoke_rates=(0.1, 0.5)),
        run=selective,
        claims=(
            _claim("LASEC-SS is the best at every query rate", _best_everywhere, "evidently the best"),
            _claim(
                "half of the labels get LASEC-SS not too far from all of them", _half_is_near, "not too far",
                "at most 5 points of accuracy",
            ),
        ),
        figures=_draw_trade_off("fig-2-f"), **_USPS,
    ),
)  # fmt: skip
