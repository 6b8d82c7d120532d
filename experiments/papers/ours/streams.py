"""Beyond the papers: is choosing labels worth it on real streams that drift?

What it models: the runs of `stream_runs`.  Every claim is ours, and none is a result: that asking by margin beats
asking by chance, that a quarter of the labels is nearly as good as all, that LASEC, made for drift, helps there,
that a rate set on the start of a stream lasts, and on Elec2 that anything of it beats repeating the last label.
What it leaves out: intervals over other streams of the same kind; there is one of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from experiments.papers.claims import Claim, Noted, point, steps_inside
from experiments.papers.kit import DataSet, Experiment
from experiments.papers.ours.stream_runs import C_FACTORS, FULL, GRID, SAMPLERS, runs, sweep
from experiments.papers.predicates import above, at_least, between, explained_by, wide_enough

__all__ = ["EXPERIMENTS"]

SHOWN = 0.1  # the rate whose windows are drawn
SOP, LASEC = "sop-label-efficient", "lasec-ss"


def _table(totals: pd.DataFrame, value: str = "accuracy") -> Any:
    """Return a row a run, a column a key and wanted rate."""
    return totals.pivot(index="run", columns=["key", "wanted"], values=value)


def _rates(totals: pd.DataFrame) -> list[float]:
    return sorted(rate for rate in totals["wanted"].unique() if rate < 1.0)


def _shown(totals: pd.DataFrame) -> float:
    return min(_rates(totals), key=lambda rate: abs(rate - SHOWN))


def _points(ours: Any, theirs: Any, words: str = "") -> Noted:
    """Return a difference of shares in points, run by run."""
    return Noted(100 * (np.asarray(ours) - np.asarray(theirs)), words)


def _window_means(windows: pd.DataFrame, key: str, rate: float, by: str = "window") -> pd.Series:
    return windows[(windows["key"] == key) & (windows["wanted"] == rate)].groupby(by)["accuracy"].mean()


# -- measures ------------------------------------------------------------------------------------------------------


def _over_chance(totals: pd.DataFrame, key: str) -> dict[str, Any]:
    """Points of accuracy over asking by chance with the same learner and as many labels, by share of the labels."""
    table, asked, f = (_table(totals, value) for value in ("accuracy", "rate", "f_measure"))
    samples, twin = {}, f"{key} at random"
    for rate in _rates(totals):
        words = f"(F {f[key, rate].mean():.2f} against {f[twin, rate].mean():.2f})"
        samples[f"at {100 * asked[key, rate].mean():.1f} %"] = _points(table[key, rate], table[twin, rate], words)
    return samples


def _windows_ahead(totals: pd.DataFrame, windows: pd.DataFrame, keys: tuple[str, ...]) -> dict[str, Any]:
    """Share of the windows in which a sampler is ahead of chance, percent, at the rate that is shown."""
    samples, rate = {}, _shown(totals)
    for key in keys:
        ahead = 100 * (_window_means(windows, key, rate) - _window_means(windows, f"{key} at random", rate))
        half = len(ahead) // 2
        early, late = int((ahead.iloc[:half] > 0).sum()), int((ahead.iloc[half:] > 0).sum())
        words = f"({early} of the first {half}, {late} of the last {len(ahead) - half}, "
        words += f"{ahead.min():+.1f} to {ahead.max():+.1f} points)"
        samples[key] = Noted(100 * (ahead > 0).mean(), words)
    return samples


def _best_full(table: Any) -> tuple[str, float]:
    return max(((key, 1.0) for key in FULL), key=lambda pair: float(table[pair].mean()))


def _no_change(table: Any) -> tuple[str, float]:
    return "no change", 1.0


def _best_cheap(totals: pd.DataFrame, most: float, reference: Any) -> dict[str, Any]:
    """Points of the best sampler that asked for at most such a share of the labels over a reference."""
    table, asked, f = (_table(totals, value) for value in ("accuracy", "rate", "f_measure"))
    full = reference(table)
    cheap = [(key, rate) for key in SAMPLERS for rate in _rates(totals) if asked[key, rate].mean() <= most]
    if not cheap:
        return {}
    best = max(cheap, key=lambda pair: float(table[pair].mean()))
    words = (
        f"points over {full[0]} ({100 * table[best].mean():.2f} against {100 * table[full].mean():.2f} %, F "
        f"{f[best].mean():.3f} against {f[full].mean():.3f}), with {100 * asked[best].mean():.1f} % of the labels"
    )
    return {best[0]: _points(table[best], table[full], words)}


def _each_at_best(totals: pd.DataFrame) -> str:
    means, rates = 100 * _table(totals).mean(), _rates(totals)
    best = {key: max(means[key, rate] for rate in rates) for key in SAMPLERS}
    return "each at its best rate: " + ", ".join(f"{key} {level:.2f} %" for key, level in best.items())


def _lasec_over_other(totals: pd.DataFrame) -> dict[str, Any]:
    """LASEC-SS against the other at as many labels: its accuracies, run by run, read at LASEC-SS's shares."""
    table, asked, rates = _table(totals), _table(totals, "rate"), _rates(totals)
    samples = {}
    for rate in rates:
        share = float(asked[LASEC, rate].mean())
        shares, values = np.log(asked[SOP][rates].to_numpy()), table[SOP][rates].to_numpy()
        if np.exp(shares.min()) <= share <= np.exp(shares.max()):
            read = [np.interp(np.log(share), *pair) for pair in zip(shares, values, strict=True)]
            samples[f"at {100 * share:.1f} %"] = _points(table[LASEC, rate], read)
    return samples


def _why_not_lasec(totals: pd.DataFrame, tuned: pd.DataFrame) -> str:
    table, chosen = _table(totals), tuned.iloc[0]
    ahead = 100 * (table["lasec", 1.0] - table["sop", 1.0]).mean()
    values = ", ".join(f"{name} = {chosen[name]:g}" for name in "abc")
    return f"with all labels lasec is {ahead:+.2f} points from sop, and the start of the stream chose {values}"


def _rates_kept(totals: pd.DataFrame) -> dict[str, Any]:
    """Share of the labels asked for over the one set, by sampler and rate."""
    asked = _table(totals, "rate")
    return {
        f"{key} {rate:g}:": Noted(asked[key, rate] / rate, f"({asked[key, rate].mean():.3f})")
        for key in SAMPLERS
        for rate in _rates(totals)
    }


def _positives(tuned: pd.DataFrame) -> str:
    tuning, rest = (100 * tuned[f"positive_{part}"].iloc[0] for part in ("tuning", "rest"))
    return f"of the stretch for tuning {tuning:.0f} % are positive, of the rest {rest:.0f} %"


def _published(totals: pd.DataFrame) -> pd.Series:
    share: pd.Series = 100 * _table(totals)["no change, whole stream", 1.0]
    return share


def _full_over_no_change(totals: pd.DataFrame, windows: pd.DataFrame) -> dict[str, Any]:
    table = _table(totals)
    best = _best_full(table)
    ahead = _window_means(windows, *best) - _window_means(windows, "no change", 1.0)
    levels = ", ".join(f"{key} {100 * table[key, 1.0].mean():.2f} %" for key in (*FULL, "no change"))
    words = f"points ({levels}; ahead in {int((ahead > 0).sum())} of {len(ahead)} windows)"
    return {best[0]: _points(table[best], table["no change", 1.0], words)}


def _over_last_bought(totals: pd.DataFrame) -> dict[str, Any]:
    table, rate = _table(totals), _shown(totals)
    return {key: _points(table[key, rate], table["last bought", rate]) for key in SAMPLERS}


def _inside(tuned: pd.DataFrame) -> dict[str, Any]:
    inside = {name: steps_inside(tuned[name], GRID) for name in ("a", "b")}
    return {**inside, "c over b": steps_inside((tuned["c"] / tuned["b"]).round(6), C_FACTORS)}


# -- pictures ------------------------------------------------------------------------------------------------------


def _by_share(totals: pd.DataFrame, value: str, twin: bool) -> pd.DataFrame:
    """Return a sampler's curve over the share of the labels, or its twin's, beside the references' levels."""
    accuracy = value == "accuracy"
    names = {key: f"{key} at random" if twin else key for key in SAMPLERS}
    names |= {"last bought": "last bought"} if twin and accuracy else {}
    rows: list[dict[str, Any]] = []
    for key, name in names.items():
        for _, own in totals[totals["key"] == name].groupby("wanted"):
            rows.append(point(key, own["rate"].mean(), own[value]) | {"reference": False})
    ends = [extreme(row["x"] for row in rows) for extreme in (min, max)]
    for key in ("sop", "no change") if accuracy else ("sop",):
        level = float(totals.loc[totals["key"] == key, value].mean())
        rows += [{"group": f"{key}, all labels", "x": x, "y": level, "reference": True} for x in ends]
    return pd.DataFrame(rows)


def _margin_and_chance(totals: pd.DataFrame, value: str) -> Iterator[tuple[str, pd.DataFrame]]:
    for how in ("margin", "chance"):
        yield f"asking by {how}", _by_share(totals, value, how == "chance")


def _over_time(totals: pd.DataFrame, windows: pd.DataFrame) -> pd.DataFrame:
    rate = _shown(totals)
    drawn = {
        "sop, all labels": ("sop", 1.0), "no change": ("no change", 1.0), f"by margin, {rate:g}": (SOP, rate),
        "by chance": (f"{SOP} at random", rate),
    }  # fmt: skip
    means = {group: _window_means(windows, *which, by="end") for group, which in drawn.items()}
    return pd.DataFrame([{"group": group, "x": x, "y": y} for group, own in means.items() for x, y in own.items()])


# -- claims --------------------------------------------------------------------------------------------------------

POINTS = "points of accuracy, paired over the coins' seeds"
COMMON = (
    *(Claim(f"{key} is more accurate than asking by chance, with the same learner and as many labels",
            above(partial(_over_chance, key=key)), reason=f"{POINTS}; at every rate",
            why=explained_by("windows in which it is ahead, %:", partial(_windows_ahead, keys=(key,))))
      for key in SAMPLERS),
    Claim("the advantage over chance is not that of one stretch",
          at_least(partial(_windows_ahead, keys=tuple(SAMPLERS)), 75.0, unit=" %"),
          reason="windows in which a sampler is ahead, means over coins, set to a tenth of the labels"),
    Claim("LASEC-SS, made for drift, is more accurate than the second-order Perceptron with the same coin",
          above(_lasec_over_other),
          reason=f"{POINTS}; at every share it asked for that the other's span, read off in log share",
          why=_why_not_lasec),
    Claim("a rate of asking that was set on the first fifth of the stream lasts", between(_rates_kept, 0.5, 2.0),
          reason="share of the rest that is asked for over the one set, every sampler and rate", why=_positives),
    Claim("with a quarter of the labels the best sampler is nearly as accurate as the best learner with all of them",
          above(partial(_best_cheap, most=0.25, reference=_best_full), -1.0),
          reason=f"{POINTS}; the best that asked for a quarter or less, however set", why=_each_at_best),
    wide_enough(_inside),
)  # fmt: skip
ELEC2 = (
    Claim("repeating the last label is right on the whole stream as often as published",
          between(_published, 85.325, 85.335, unit=" %"), "85.33 %"),
    Claim("with all labels a linear learner beats no change, which needs them too", above(_full_over_no_change),
          reason=f"{POINTS}; the best of three, after the first fifth"),
    Claim("with less than half of the labels a sampler still beats no change with all of them",
          above(partial(_best_cheap, most=0.45, reference=_no_change)),
          reason=f"{POINTS}; the best sampler that asked for 45 % or less", why=_each_at_best),
    Claim("every sampler beats repeating the last label that a coin bought", above(_over_last_bought),
          reason=f"{POINTS}; set to a tenth of the labels"),
)  # fmt: skip


def _study(stream: str, subject: str, folder: str, published: str, claims: tuple[Claim, ...]) -> Experiment:
    data = DataSet(folder, published, "a generated target that drifts")
    study = Experiment(f"ours/{stream}", subject, "1 min", data, claims=claims)
    study.runs(sweep(stream))(runs)
    for name, value, label in ((stream, "accuracy", "accuracy"), (f"{stream}-f", "f_measure", "F-measure")):
        picture = study.picture(name, x="fraction of labels asked for", y=label, x_scale="log")
        picture(partial(_margin_and_chance, value=value))
    study.picture(f"{stream}-windows", x="rounds after the tuning", y="accuracy in the window")(_over_time)
    return study


EXPERIMENTS = (
    _study("spam-drift", "labels bought of mails that drift, by margin or by chance", "spam_katakis_stream",
           "the spam stream of Katakis et al. as spam_stream.npz: a CSR matrix of 0 and 1, and y", COMMON),
    _study("elec2", "labels bought of electricity prices, and the last label repeated", "elec2",
           "Elec2 (normalised) as electricity-normalized.csv.gz, in order of time", (*COMMON, *ELEC2)),
)  # fmt: skip
