"""Figure 2 of Moroshko and Crammer 2014: which algorithm stays accurate when the target changes every 500 rounds.

What it models: what the records of `shift_runs` say.  What it leaves out: other kinds of drift.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd

from experiments.papers.claims import Claim, Noted, point, steps_inside, wide
from experiments.papers.drift.shift_runs import (
    B_GRID,
    C_FACTORS,
    FIRST_ORDER,
    RATES,
    SHIFT,
    TUNED_SOP,
    TUNED_SOP_SS,
    selective,
    supervised,
    sweep,
)
from experiments.papers.kit import DataSet, Experiment, Run
from experiments.papers.predicates import above, at_least, below, between, both, largest, reaching, wide_enough

__all__ = ["EXPERIMENTS"]

LASEC_SS, SOP_SS = "lasec-ss", "sop-label-efficient"
LEAST_RATE = 0.1  # the lowest query rate in the text


# -- measures ------------------------------------------------------------------------------------------------------


def _at(curve: pd.DataFrame, t: int | None) -> pd.DataFrame:
    """Return accuracy in percent at round t (None: at the end), a row a run and a column a key."""
    when = int(curve["t"].max() if t is None else curve.loc[curve["t"] <= t, "t"].max())
    return 100 * wide({"curve": curve}, "curve", "accuracy", "key", "run", t=when)


def _at_rate(totals: pd.DataFrame, rate: float) -> pd.DataFrame:
    return wide({"totals": totals}, "totals", "accuracy", "key", "run", wanted=rate)


def _over_best(table: pd.DataFrame, winner: str, others: Sequence[str] = (), *, least: bool = False) -> Noted:
    """Return what one has more than the best of the others, run by run."""
    best = min if least else max
    rival = best((key for key in others or table.columns if key != winner), key=table.mean().__getitem__)
    means = f"({table[winner].mean():.1f} against {table[rival].mean():.1f} of {rival})"
    return Noted(table[winner] - table[rival], means)


def _lead(curve: pd.DataFrame, winner: str, t: int | None, others: Sequence[str]) -> Noted:
    """Return the lead over the best of the others, which are all but second forms of one learner unless named."""
    table = _at(curve, t)
    return _over_best(table, winner, others or [key for key in table.columns if key.partition(",")[0] != winner])


def _levels(curve: pd.DataFrame, t: int | None) -> str:
    return "accuracies " + ", ".join(f"{key} {value:.1f}" for key, value in _at(curve, t).mean().items())


def _rates(totals: pd.DataFrame) -> Any:
    """Query rates over the wanted one."""
    own = totals[totals["key"] != "lasec"]
    return {str(key): shares for key, shares in (own["rate"] / own["wanted"]).groupby(own["key"], sort=False)}


def _gain(curve: pd.DataFrame, since: int) -> pd.DataFrame:
    """Return the change of the average accuracy from a round to the end, points: a row a run, a column a key."""
    return _at(curve, None) - _at(curve, since)


def _gain_of(curve: pd.DataFrame, key: str, since: int) -> pd.Series:
    return _gain(curve, since)[key]


def _loss(curve: pd.DataFrame) -> Any:
    return dict((-_gain(curve, SHIFT)).items())


def _least_loss(curve: pd.DataFrame) -> Noted:
    """What LASEC-SS loses from round 500 to the end, less what the best of the others does."""
    return _over_best(-_gain(curve, SHIFT), LASEC_SS, least=True)


def _loss_of_bbq(curve: pd.DataFrame) -> Any:
    return {"bbq": _loss(curve)["bbq"]}


def _with_own_a(curve: pd.DataFrame) -> str:
    change = _gain(curve, 4 * SHIFT)
    return f"with its own best a {change[TUNED_SOP_SS].mean():+.2f} points" if TUNED_SOP_SS in change else ""


def _why_it_falls(curve: pd.DataFrame) -> str:
    """Say the accuracy of LASEC-SS before the first shift and after it, and how all samplers fare."""
    before, after = _at(curve, SHIFT), _at(curve, None)
    end = int(curve["t"].max())
    later = (end * after - SHIFT * before) / max(1, end - SHIFT)  # accuracy in the rounds after the first shift
    others = ", ".join(f"{key} {change:+.1f}" for key, change in (after - before).mean().items())
    return (
        f"the first {SHIFT} rounds, with a target that does not move, are answered with "
        f"{before[LASEC_SS].mean():.1f} % and those after with {later[LASEC_SS].mean():.1f} %, a level that the "
        f"average goes down to; every sampler's change: {others} points"
    )


def _by_rate(totals: pd.DataFrame) -> Any:
    """LASEC-SS over the best other at every query rate that the paper speaks of, points."""
    rates = [rate for rate in dict.fromkeys(totals["wanted"]) if LEAST_RATE <= rate < 1.0]
    return {f"at {rate:g}": _over_best(100 * _at_rate(totals, rate), LASEC_SS) for rate in rates}


def _kept_of_all_labels(totals: pd.DataFrame) -> Noted:
    """What half of the labels gain over chance in what all of them gain, percent."""
    whole, half = 100 * _at_rate(totals, 1.0)["lasec"], 100 * _at_rate(totals, 0.5)[LASEC_SS]
    return Noted(100 * (half - 50.0) / (whole - 50.0), f"({half.mean():.1f} against {whole.mean():.1f})")


def _chosen(tuned: pd.DataFrame) -> Any:
    """How far inside their grids b, c and a lie, in multiples of the mean squared norm."""
    rows = tuned.dropna()
    inside = {name: steps_inside(rows[f"{name}_over"].round(9), B_GRID) for name in ("b", "a")}
    return {**inside, "c over b": steps_inside(rows["c_over"].round(6), C_FACTORS)}


# -- claims and pictures ---------------------------------------------------------------------------------------------

POINTS = "points of accuracy over the best of the others, paired over runs"


def _best(statement: str, key: str, t: int | None, printed: str, others: Sequence[str] = ()) -> Claim:
    test = above(partial(_lead, winner=key, t=t, others=others))
    return Claim(statement, test, printed, POINTS, why=partial(_levels, t=t))


OVER_RATES = (
    Claim("LASEC-SS is the best at every query rate from 0.1 on", above(_by_rate), "evidently the best", POINTS),
    Claim("half of the labels get LASEC-SS not too far from all of them",
          at_least(_kept_of_all_labels, 75.0, unit=" %"), "not too far",
          "of what LASEC with all labels gains over chance, 50 %, at least three quarters"),
)  # fmt: skip


def _at_one_rate(rate: float) -> tuple[Claim, ...]:
    return (
        Claim(f"all samplers ask for about {rate:g} of the labels", between(_rates, 0.75, 1.25), f"about {rate:g}",
              "rate over the wanted one; parameters are set on another draw"),
        _best("LASEC-SS ends with the best average accuracy", LASEC_SS, None, "outperforms"),
        _best("before the first shift BBQ is the best", "bbq", SHIFT, "the best"),
        Claim("after it BBQ's performance degrades most",
              both(largest(_loss, "bbq"), at_least(_loss_of_bbq, 0.0, open=True)), "significantly degrades",
              "points lost from round 500 to the end"),
    )  # fmt: skip


def _over_time(curve: pd.DataFrame) -> pd.DataFrame:
    groups: Any = curve.groupby(["key", "t"], sort=False)["accuracy"]
    return pd.DataFrame([point(key, t, own) for (key, t), own in groups])


def _trade_off(totals: pd.DataFrame) -> pd.DataFrame:
    groups: Any = totals[totals["key"] != "lasec"].groupby(["key", "wanted"], sort=False)
    return pd.DataFrame([point(key, own["rate"].mean(), own["accuracy"]) for (key, _), own in groups])


USPS = DataSet(
    "usps", "USPS handwritten digits, as usps/usps.npz with X_train, y_train, X_test, y_test",
    "scikit-learn's 8 x 8 digits",
)  # fmt: skip
GAUSS: dict[str, Any] = {"rounds": (2000, 10_000), "runs": (3, 50)}
SAME = GAUSS | {"same": True}  # SOP's a is LASEC's b
DIGITS: dict[str, Any] = {"rounds": (1000, 9298), "runs": (2, 50), "digits": True}
TIMES, AT_RATES = "accuracy over time", "accuracy against query rate"
PANELS: dict[str, tuple[str, str, dict[str, Any], tuple[Claim, ...]]] = {  # subject, time, what is swept, claims
    "a": (f"{TIMES} with all labels, synthetic shifts", "1 min", SAME, (
        _best("before the first shift the second-order Perceptron, its a being LASEC's b, is the best", "sop", SHIFT,
              "the best"),
        _best("LASEC outperforms all others over the whole stream", "lasec", None, "outperforms"),
        _best("LASEC outperforms the second-order Perceptron, with the same regulariser or its own best", "lasec", None,
              "deals better", ("sop", TUNED_SOP)),
    )),
    "b": (f"{TIMES} at a query rate of 0.1, synthetic shifts", "4 min", GAUSS | {"rates": ((0.1,), (0.1,))},
          _at_one_rate(0.1)),
    "c": (f"{AT_RATES}, synthetic shifts", "15 min", GAUSS | {"rates": ((0.1, 0.5), RATES)}, OVER_RATES),
    "d": (f"{TIMES} with all labels, shifting digits", "5 min", DIGITS, (
        _best("LASEC slightly outperforms SOP", "lasec", None, "slightly", ("sop",)),
        _best("both outperform the first-order learners", "sop", None, "outperform", FIRST_ORDER),
    )),
    "e": (f"{TIMES} at a query rate of 0.4, synthetic shifts", "4 min", SAME | {"rates": ((0.4,), (0.4,))}, (
        *_at_one_rate(0.4),
        Claim("the average accuracy of LASEC-SS does not decrease",
              reaching(partial(_gain_of, key=LASEC_SS, since=SHIFT), 0.0, unit=" points"),
              "does not decrease", f"from round {SHIFT} to the end", why=_why_it_falls),
        Claim("the average accuracy of LASEC-SS falls least", below(_least_loss, unit=" points"), "does not decrease",
              f"points lost from round {SHIFT} to the end less those of the best other, paired over runs"),
        Claim("SOP-SS, after an initial drop, improves over time",
              above(partial(_gain_of, key=SOP_SS, since=4 * SHIFT), unit=" points"), "increases over time",
              f"from round {4 * SHIFT} to the end, its a being LASEC's b", why=_with_own_a),
    )),
    "f": (f"{AT_RATES}, shifting digits", "30 min",
          DIGITS | {"runs": (2, 20), "rates": ((0.1, 0.5), (0.1, 0.2, 0.3, 0.4, 0.5))}, OVER_RATES),
}  # fmt: skip


def _panel(place: str, subject: str, time: str, swept: dict[str, Any], claims: Sequence[Claim]) -> Experiment:
    experiment = Experiment(
        f"drift/fig-2-{place}", subject, time, USPS if "digits" in swept else None, sweep=sweep(**swept),
        run=Run(selective if "rates" in swept else supervised), claims=[*claims, wide_enough(_chosen)],
    )  # fmt: skip
    if claims is OVER_RATES:
        experiment.picture(f"fig-2-{place}", x="fraction of labels asked for", y="accuracy")(_trade_off)
    else:
        experiment.picture(f"fig-2-{place}", x="rounds", y="cumulative accuracy")(_over_time)
    return experiment


EXPERIMENTS = tuple(_panel(place, *panel) for place, panel in PANELS.items())
