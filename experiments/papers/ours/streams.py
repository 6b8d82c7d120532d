"""Beyond the papers: is choosing labels worth it on real streams that drift?

What it models: the runs of `stream_runs`.  Every claim is ours, and none is a result: that asking by margin beats
asking by chance, that a quarter of the labels is nearly as good as all, that LASEC, made for drift, helps there,
that a rate set on the start of a stream lasts, and on Elec2 that anything of it beats repeating the last label.
What it leaves out: intervals over other streams of the same kind; there is one of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import lines, panels
from experiments.papers.claims import Claim, Measure, Noted, Record, point, steps_inside
from experiments.papers.kit import DataSet, Experiment
from experiments.papers.ours.stream_runs import C_FACTORS, FULL, GRID, SAMPLERS, run, sweep
from experiments.papers.predicates import above, at_least, between, explained_by, wide_enough

__all__ = ["EXPERIMENTS"]

SHOWN = 0.1  # the rate whose windows are drawn


def _table(record: Record, value: str = "accuracy") -> pd.DataFrame:
    """A row a run, a column a key and wanted rate."""
    table: pd.DataFrame = record["totals"].pivot(index="run", columns=["key", "wanted"], values=value)
    return table


def _rates(record: Record) -> list[float]:
    wanted = record["totals"]["wanted"]
    return sorted(rate for rate in wanted.unique() if rate < 1.0)


def _over(ours: Any, theirs: Any, words: str = "") -> Noted:
    """A difference of shares in points, run by run."""
    return Noted(100 * (np.asarray(ours) - np.asarray(theirs)), words)


def _over_chance(key: str) -> Measure:
    """Points of accuracy over asking by chance with the same learner and as many labels, by share of the labels."""

    def measure(record: Record) -> dict[str, Any]:
        table, asked, f = _table(record), _table(record, "rate"), _table(record, "f_measure")
        twin = f"{key} at random"
        return {
            f"at {100 * asked[key, rate].mean():.1f} %": _over(
                table[key, rate], table[twin, rate], f"(F {f[key, rate].mean():.2f} against {f[twin, rate].mean():.2f})"
            )
            for rate in _rates(record)
        }

    return measure


def _windows(record: Record, key: str, rate: float) -> pd.Series:
    own = record["windows"]
    own = own[(own["key"] == key) & (own["wanted"] == rate)]
    mean: pd.Series = own.groupby("window")["accuracy"].mean()
    return mean


def _shown(record: Record) -> float:
    return min(_rates(record), key=lambda rate: abs(rate - SHOWN))


def _windows_ahead(*keys: str) -> Measure:
    """Share of the windows in which a sampler is ahead of chance, percent, at the rate that is shown."""

    def measure(record: Record) -> dict[str, Any]:
        found, rate = {}, _shown(record)
        for key in keys:
            ahead = 100 * (_windows(record, key, rate) - _windows(record, f"{key} at random", rate))
            half = len(ahead) // 2
            early, late = int((ahead.iloc[:half] > 0).sum()), int((ahead.iloc[half:] > 0).sum())
            words = (
                f"({early} of the first {half}, {late} of the last {len(ahead) - half}, {ahead.min():+.1f} to "
                f"{ahead.max():+.1f} points)"
            )
            found[key] = Noted(100 * (ahead > 0).mean(), words)
        return found

    return measure


def _best_cheap(most: float, against: Any) -> Measure:
    """Points of the best sampler that asked for at most such a share of the labels over a reference."""

    def measure(record: Record) -> dict[str, Any]:
        table, asked, f = _table(record), _table(record, "rate"), _table(record, "f_measure")
        full = against(table)
        cheap = [(key, rate) for key in SAMPLERS for rate in _rates(record) if asked[key, rate].mean() <= most]
        if not cheap:
            return {}
        best = max(cheap, key=lambda pair: float(table[pair[0], pair[1]].mean()))
        words = (
            f"points over {full[0]} ({100 * table[best].mean():.2f} against {100 * table[full].mean():.2f} %, F "
            f"{f[best].mean():.3f} against {f[full].mean():.3f}), with {100 * asked[best].mean():.1f} % of the labels"
        )
        return {best[0]: _over(table[best], table[full], words)}

    return measure


def _each_at_best(record: Record) -> str:
    """Say everybody's best accuracy, whatever it asked for."""
    table, rates = _table(record), _rates(record)
    return "each at its best rate: " + ", ".join(
        f"{key} {100 * max(float(table[key, rate].mean()) for rate in rates):.2f} %" for key in SAMPLERS
    )


def _best_full(table: pd.DataFrame) -> tuple[str, float]:
    return max(((key, 1.0) for key in FULL), key=lambda pair: float(table[pair[0], 1.0].mean()))


def _lasec_over_other(record: Record) -> dict[str, Any]:
    """LASEC-SS against the other at as many labels: its accuracies, run by run, read at LASEC-SS's shares."""
    table, asked, rates = _table(record), _table(record, "rate"), _rates(record)
    other, found = "sop-label-efficient", {}
    for rate in rates:
        share = float(asked["lasec-ss", rate].mean())
        shares, values = np.log(asked[other][rates].to_numpy()), table[other][rates].to_numpy()
        if np.exp(shares.min()) <= share <= np.exp(shares.max()):
            read = [np.interp(np.log(share), *pair) for pair in zip(shares, values, strict=True)]
            found[f"at {100 * share:.1f} %"] = _over(table["lasec-ss", rate], read)
    return found


def _why_not_lasec(record: Record) -> str:
    table, tuned = _table(record), record["tuned"].iloc[0]
    ahead = 100 * (table["lasec", 1.0] - table["sop", 1.0]).mean()
    return (
        f"with all labels lasec is {ahead:+.2f} points from sop, and the start of the stream chose a = {tuned['a']:g}, "
        f"b = {tuned['b']:g}, c = {tuned['c']:g}"
    )


def _rates_kept(record: Record) -> dict[str, Any]:
    """Share of the labels asked for over the one set, by sampler and rate."""
    asked = _table(record, "rate")
    return {
        f"{key} {rate:g}:": Noted(asked[key, rate] / rate, f"({asked[key, rate].mean():.3f})")
        for key in SAMPLERS
        for rate in _rates(record)
    }


def _positives(record: Record) -> str:
    tuned = record["tuned"].iloc[0]
    shares = (100 * tuned[f"positive_{part}"] for part in ("tuning", "rest"))
    return "of the stretch for tuning {:.0f} % are positive, of the rest {:.0f} %".format(*shares)


def _full_over_no_change(record: Record) -> dict[str, Any]:
    table = _table(record)
    best = _best_full(table)
    ahead = _windows(record, best[0], 1.0) - _windows(record, "no change", 1.0)
    levels = ", ".join(f"{key} {100 * table[key, 1.0].mean():.2f} %" for key in (*FULL, "no change"))
    words = f"points ({levels}; ahead in {int((ahead > 0).sum())} of {len(ahead)} windows)"
    return {best[0]: _over(table[best], table["no change", 1.0], words)}


def _over_last_bought(record: Record) -> dict[str, Any]:
    table, rate = _table(record), _shown(record)
    return {key: _over(table[key, rate], table["last bought", rate]) for key in SAMPLERS}


def _inside(record: Record) -> dict[str, Any]:
    tuned = record["tuned"]
    found = {name: steps_inside(tuned[name], GRID) for name in ("a", "b")}
    return {**found, "c over b": steps_inside((tuned["c"] / tuned["b"]).round(6), C_FACTORS)}


# -- pictures ---------------------------------------------------------------------------------------------------


def _curves(record: Record, value: str, twin: bool) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    totals = record["totals"]
    for key in (*SAMPLERS, *(("last bought",) if twin and value == "accuracy" else ())):
        name = f"{key} at random" if twin and key in SAMPLERS else key
        for _, own in totals[totals["key"] == name].groupby("wanted"):
            rows.append(point(key, own["rate"].mean(), own[value]))
    frame = pd.DataFrame(rows)
    references = ("sop", "no change") if value == "accuracy" else ("sop",)
    for key in references:
        level = float(totals.loc[totals["key"] == key, value].mean())
        name = {"sop": "sop, all labels", "no change": "no change, all labels"}[key]
        ends = [{"group": name, "x": x, "y": level, "reference": True} for x in (frame["x"].min(), frame["x"].max())]
        rows += ends
    return pd.DataFrame(rows).fillna({"reference": False})


def _figures(name: str, record: Record) -> Mapping[str, Figure]:
    drawn = {}
    for suffix, value, label in (("", "accuracy", "accuracy"), ("-f", "f_measure", "F-measure")):
        sides = [(f"asking by {how}", _curves(record, value, how == "chance")) for how in ("margin", "chance")]
        drawn[name + suffix] = panels(sides, x="fraction of labels asked for", y=label, x_scale="log")
    rate = _shown(record)
    chosen = {
        "sop, all labels": ("sop", 1.0),
        "no change": ("no change", 1.0),
        f"by margin, {rate:g}": ("sop-label-efficient", rate),
        "by chance": ("sop-label-efficient at random", rate),
    }
    windows, rows = record["windows"], []
    for label, (key, wanted) in chosen.items():
        own = windows[(windows["key"] == key) & (windows["wanted"] == wanted)].groupby("end")["accuracy"].mean()
        rows += [{"group": label, "x": end, "y": value} for end, value in own.items()]
    drawn[f"{name}-windows"] = lines(pd.DataFrame(rows), x="rounds after the tuning", y="accuracy in the window")
    return drawn


_POINTS = "points of accuracy, paired over the coins' seeds"
_COMMON = (
    *(
        Claim(
            f"{key} is more accurate than asking by chance, with the same learner and as many labels",
            above(_over_chance(key)),
            reason=f"{_POINTS}; at every rate",
            why=explained_by("windows in which it is ahead, %:", _windows_ahead(key)),
        )
        for key in SAMPLERS
    ),
    Claim(
        "the advantage over chance is not that of one stretch",
        at_least(_windows_ahead(*SAMPLERS), 75.0, unit=" %"),
        reason="windows in which a sampler is ahead, means over coins, set to a tenth of the labels",
    ),
    Claim(
        "LASEC-SS, made for drift, is more accurate than the second-order Perceptron with the same coin",
        above(_lasec_over_other),
        reason=f"{_POINTS}; at every share it asked for that the other's span, read off in log share",
        why=_why_not_lasec,
    ),
    Claim(
        "a rate of asking that was set on the first fifth of the stream lasts",
        between(_rates_kept, 0.5, 2.0),
        reason="share of the rest that is asked for over the one set, every sampler and rate",
        why=_positives,
    ),
    Claim(
        "with a quarter of the labels the best sampler is nearly as accurate as the best learner with all of them",
        above(_best_cheap(0.25, _best_full), -1.0),
        reason=f"{_POINTS}; the best that asked for a quarter or less, however set",
        why=_each_at_best,
    ),
    wide_enough(_inside),
)

EXPERIMENTS = (
    Experiment(
        name="ours/spam-drift",
        subject="labels bought of mails that drift, by margin or by chance",
        time="1 min",
        sweep=partial(sweep, "spam-drift"),
        run=run,
        claims=_COMMON,
        figures=partial(_figures, "spam-drift"),
        data=DataSet(
            "spam_katakis_stream",
            "the spam stream of Katakis et al. as spam_stream.npz: a CSR matrix of 0 and 1, and y",
            "a generated target that drifts",
        ),
    ),
    Experiment(
        name="ours/elec2",
        subject="labels bought of electricity prices, and the last label repeated",
        time="1 min",
        sweep=partial(sweep, "elec2"),
        run=run,
        claims=(
            *_COMMON,
            Claim(
                "repeating the last label is right on the whole stream as often as published",
                between(
                    lambda record: {"": 100 * _table(record)["no change, whole stream", 1.0]}, 85.325, 85.335, unit=" %"
                ),
                "85.33 %",
            ),
            Claim(
                "with all labels a linear learner beats no change, which needs them too",
                above(_full_over_no_change),
                reason=f"{_POINTS}; the best of three, after the first fifth",
            ),
            Claim(
                "with less than half of the labels a sampler still beats no change with all of them",
                above(_best_cheap(0.45, lambda _: ("no change", 1.0))),
                reason=f"{_POINTS}; the best sampler that asked for 45 % or less",
                why=_each_at_best,
            ),
            Claim(
                "every sampler beats repeating the last label that a coin bought",
                above(_over_last_bought),
                reason=f"{_POINTS}; set to a tenth of the labels",
            ),
        ),
        figures=partial(_figures, "elec2"),
        data=DataSet(
            "elec2",
            "Elec2 (normalised) as electricity-normalized.csv.gz, in order of time",
            "a generated target that drifts",
        ),
    ),
)
