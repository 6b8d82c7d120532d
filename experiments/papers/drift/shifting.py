"""Figure 2 of Moroshko and Crammer 2014: who stays accurate when the target is replaced every 500 rounds.

What it models: what the records of `shift_runs` say.  What it leaves out: other kinds of drift.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import lines
from experiments.papers.claims import Claim, Measure, Noted, Record, point, steps_inside, wide
from experiments.papers.drift.shift_runs import (
    B_GRID,
    C_FACTORS,
    FIRST_ORDER,
    RATES,
    SHIFT,
    selective,
    supervised,
    sweep,
)
from experiments.papers.kit import DataSet, Experiment
from experiments.papers.predicates import above, at_least, at_most, between, both, largest, reaching, wide_enough

__all__ = ["EXPERIMENTS"]


# -- what a record says -----------------------------------------------------------------------------------


def _at(record: Record, t: int | None) -> pd.DataFrame:
    """Accuracy in percent at round t (None: at the end), a row a run and a column a key."""
    times = record["curve"]["t"]
    when = int(times.max()) if t is None else int(times[times <= t].max())
    return 100 * wide(record, "curve", "accuracy", "key", "run", t=when)


def _over_best(table: pd.DataFrame, winner: str, others: Sequence[str] = ()) -> Noted:
    """What one has more than the best of the others, run by run."""
    rival = max((key for key in others or table.columns if key != winner), key=table.mean().__getitem__)
    return Noted(
        table[winner] - table[rival], f"({table[winner].mean():.1f} against {table[rival].mean():.1f} of {rival})"
    )


def _lead(winner: str, t: int | None, others: Sequence[str] = ()) -> Measure:
    return lambda record: {"": _over_best(_at(record, t), winner, others)}


def _levels(t: int | None) -> Callable[[Record], str]:
    """Say everybody's accuracy."""
    return lambda record: (
        "accuracies " + ", ".join(f"{key} {value:.1f}" for key, value in _at(record, t).mean().items())
    )


def _rates(record: Record) -> dict[str, Any]:
    """Query rates over the wanted one."""
    totals = record["totals"][record["totals"]["key"] != "lasec"]
    shares = totals["rate"] / totals["wanted"]
    return {str(key): own for key, own in shares.groupby(totals["key"], sort=False)}


def _gain(since: int, *keys: str) -> Measure:
    """Change of the average accuracy from round `since` to the end, points, of these samplers or of all."""

    def measure(record: Record) -> dict[str, Any]:
        gain = _at(record, None) - _at(record, since)
        return {"" if len(keys) == 1 else key: gain[key] for key in keys or gain.columns}

    return measure


def _loss(record: Record) -> dict[str, Any]:
    return {key: -gain for key, gain in _gain(SHIFT)(record).items()}


def _why_it_falls(record: Record) -> str:
    """Say the accuracy of LASEC-SS before the first shift and after it, and how all samplers fare."""
    before, after = _at(record, SHIFT), _at(record, None)
    end = int(record["curve"]["t"].max())
    later = (end * after - SHIFT * before) / max(1, end - SHIFT)  # accuracy in the rounds after the first shift
    others = ", ".join(f"{key} {(after[key] - before[key]).mean():+.1f}" for key in after.columns)
    return (
        f"the first {SHIFT} rounds, with a target that does not move, are answered with "
        f"{before['lasec-ss'].mean():.1f} % and those after with {later['lasec-ss'].mean():.1f} %, a level that the "
        f"average goes down to; every sampler's change: {others} points"
    )


def _by_rate(record: Record) -> dict[str, Any]:
    """LASEC-SS over the best other at every query rate, points."""
    rates = [rate for rate in dict.fromkeys(record["totals"]["wanted"]) if rate < 1.0]
    tables = {rate: 100 * wide(record, "totals", "accuracy", "key", "run", wanted=rate) for rate in rates}
    return {f"at {rate:g}": _over_best(table, "lasec-ss") for rate, table in tables.items()}


def _below_all_labels(record: Record) -> dict[str, Any]:
    half, full = (
        wide(record, "totals", "accuracy", "key", "run", wanted=rate)[key]
        for rate, key in ((0.5, "lasec-ss"), (1.0, "lasec"))
    )
    return {"": 100 * (full - half)}


def _chosen(record: Record) -> dict[str, Any]:
    """How far inside their grids b, c and a lie, in multiples of the mean squared norm."""
    rows = record["tuned"].dropna()
    found = {name: steps_inside(rows[f"{name}_over"].round(9), B_GRID) for name in ("b", "a")}
    return {**found, "c over b": steps_inside(rows["c_over"].round(6), C_FACTORS)}


def _trade_off(record: Record) -> pd.DataFrame:
    totals = record["totals"][record["totals"]["key"] != "lasec"]
    groups = totals.groupby(["key", "wanted"], sort=False)
    return pd.DataFrame([point(key, own["rate"].mean(), own["accuracy"]) for (key, _), own in groups])


def _draw_curve(name: str) -> Any:
    def figures(record: Record) -> Mapping[str, Figure]:
        rows = []
        for (key, t), own in record["curve"].groupby(["key", "t"], sort=False):
            rows.append(point(key, t, own["accuracy"]))
        return {name: lines(pd.DataFrame(rows), x="rounds", y="cumulative accuracy")}

    return figures


def _draw_trade_off(name: str) -> Any:
    return lambda record: {name: lines(_trade_off(record), x="fraction of labels asked for", y="accuracy")}


_POINTS = "points of accuracy over the best of the others, paired over runs"
_BEST_AT_ALL = (
    Claim("LASEC-SS is the best at every query rate", above(_by_rate), "evidently the best", _POINTS),
    Claim(
        "half of the labels get LASEC-SS not too far from all of them",
        at_most(_below_all_labels, 5.0, unit=" points"),
        "not too far",
    ),
    wide_enough(_chosen),
)


def _best(statement: str, key: str, t: int | None, printed: str, others: Sequence[str] = ()) -> Claim:
    return Claim(statement, above(_lead(key, t, others)), printed, _POINTS, why=_levels(t))


def _middle(place: str, rate: float, more: tuple[Claim, ...]) -> Experiment:
    return Experiment(
        name=f"drift/{place}",
        subject=f"accuracy over time at a query rate of {rate:g}, synthetic shifts",
        time="4 min",
        sweep=sweep((2000, 10_000), (3, 50), rates=(rate,)),
        run=selective,
        claims=(
            Claim(
                f"all samplers ask for about {rate:g} of the labels",
                between(_rates, 0.75, 1.25),
                f"about {rate:g}",
                "rate over the wanted one; parameters are set on another draw",
            ),
            _best("LASEC-SS ends with the best average accuracy", "lasec-ss", None, "outperforms"),
            _best("before the first shift BBQ is the best", "bbq", SHIFT, "the best"),
            Claim(
                "after it BBQ's performance degrades most",
                both(largest(_loss, "bbq"), at_least(lambda record: {"bbq": _loss(record)["bbq"]}, 0.0, open=True)),
                "significantly degrades",
                "points lost from round 500 to the end",
            ),
            *more,
            wide_enough(_chosen),
        ),
        figures=_draw_curve(place),
    )


_USPS = DataSet(
    "usps",
    "USPS handwritten digits, as usps/usps.npz with X_train, y_train, X_test, y_test",
    "scikit-learn's 8 x 8 digits",
)

EXPERIMENTS = (
    Experiment(
        name="drift/fig-2-a",
        subject="accuracy over time with all labels, synthetic shifts",
        time="1 min",
        sweep=sweep((2000, 10_000), (3, 50)),
        run=supervised,
        claims=(
            _best("before the first shift the second-order Perceptron is the best", "sop", SHIFT, "the best"),
            _best("LASEC outperforms all others over the whole stream", "lasec", None, "outperforms"),
            _best("LASEC outperforms the second-order Perceptron", "lasec", None, "deals better", ("sop",)),
            wide_enough(_chosen),
        ),
        figures=_draw_curve("fig-2-a"),
    ),
    _middle("fig-2-b", 0.1, ()),
    Experiment(
        name="drift/fig-2-c",
        subject="accuracy against query rate, synthetic shifts",
        time="15 min",
        sweep=sweep((2000, 10_000), (3, 50), rates=RATES, smoke_rates=(0.1, 0.5)),
        run=selective,
        claims=_BEST_AT_ALL,
        figures=_draw_trade_off("fig-2-c"),
    ),
    Experiment(
        name="drift/fig-2-d",
        subject="accuracy over time with all labels, shifting digits",
        time="5 min",
        sweep=sweep((1000, 9298), (2, 50), digits=True),
        run=supervised,
        claims=(
            _best("LASEC slightly outperforms SOP", "lasec", None, "slightly", ("sop",)),
            _best("both outperform the first-order learners", "sop", None, "outperform", FIRST_ORDER),
            wide_enough(_chosen),
        ),
        figures=_draw_curve("fig-2-d"),
        data=_USPS,
    ),
    _middle(
        "fig-2-e",
        0.4,
        (
            Claim(
                "the average accuracy of LASEC-SS does not decrease",
                reaching(_gain(SHIFT, "lasec-ss"), 0.0, unit=" points"),
                "does not decrease",
                f"from round {SHIFT} to the end",
                why=_why_it_falls,
            ),
            Claim(
                "SOP-SS, after an initial drop, improves over time",
                above(_gain(4 * SHIFT, "sop-label-efficient"), unit=" points"),
                "increases over time",
                f"from round {4 * SHIFT} to the end",
            ),
        ),
    ),
    Experiment(
        name="drift/fig-2-f",
        subject="accuracy against query rate, shifting digits",
        time="30 min",
        sweep=sweep((1000, 9298), (2, 20), digits=True, rates=(0.1, 0.2, 0.3, 0.4, 0.5), smoke_rates=(0.1, 0.5)),
        run=selective,
        claims=_BEST_AT_ALL,
        figures=_draw_trade_off("fig-2-f"),
        data=_USPS,
    ),
)
