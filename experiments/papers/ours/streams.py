"""Beyond the papers: is choosing labels worth it on real streams that drift?

What it models: the runs of `stream_runs`.  Every claim is ours, and none is a result: that asking by margin beats
asking by chance, that a quarter of the labels is nearly as good as all, that LASEC, made for drift, helps there,
that a rate set on the start of a stream lasts, and on Elec2 that anything of it beats repeating the last label.
What it leaves out: intervals over other streams of the same kind; there is one of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import lines, panels
from experiments.papers.ours.stream_runs import FULL, SAMPLERS, run, sweep
from experiments.papers.registry import Claim, Experiment, Record, Verdict
from experiments.study.compare import Estimate, estimate

__all__ = ["EXPERIMENTS"]

OVER_COINS = "mean over the coins' seeds, whole 95 % interval"
SHOWN = 0.1  # the rate whose windows are drawn


def _table(record: Record, value: str = "accuracy") -> pd.DataFrame:
    """A row a run, a column a key and wanted rate."""
    table: pd.DataFrame = record["totals"].pivot(index="run", columns=["key", "wanted"], values=value)
    return table


def _rates(record: Record) -> list[float]:
    wanted = record["totals"]["wanted"]
    return sorted(rate for rate in wanted.unique() if rate < 1.0)


def _points(values: Any) -> Estimate:
    """A difference of shares in points."""
    return estimate(100.0 * np.asarray(values, dtype=float))


def _said(found: Estimate) -> str:
    return f"{found.mean:+.2f}" + (f" ± {found.half_width:.2f}" if np.isfinite(found.half_width) else "")


def _above(found: Estimate, least: float = 0.0) -> bool:
    return bool(found.mean - np.nan_to_num(found.half_width) > least)


def _beats_chance(key: str) -> Claim:
    def check(record: Record) -> Verdict:
        table, asked, f = _table(record), _table(record, "rate"), _table(record, "f_measure")
        words, lost = [], []
        for rate in _rates(record):
            own, twin = table[key, rate], table[f"{key} at random", rate]
            found = _points(own - twin)
            share = 100 * asked[key, rate].mean()
            pair = f"{f[key, rate].mean():.2f} against {f[f'{key} at random', rate].mean():.2f}"
            words.append(f"{_said(found)} at {share:.1f} % (F {pair})")
            if not _above(found):
                lost.append(f"at {share:.1f} % {100 * own.mean():.2f} against {100 * twin.mean():.2f} % by chance")
        return Verdict(
            f"points of accuracy {', '.join(words)} of the labels", not lost,
            f"{', '.join(lost)}; in windows: {_by_window(record, key)}",
        )  # fmt: skip

    return Claim(
        statement=f"{key} is more accurate than asking by chance, with the same learner and as many labels",
        check=check, tolerance=f"at every rate, paired; {OVER_COINS}",
    )  # fmt: skip


def _windows(record: Record, key: str, rate: float) -> pd.Series:
    own = record["windows"]
    own = own[(own["key"] == key) & (own["wanted"] == rate)]
    mean: pd.Series = own.groupby("window")["accuracy"].mean()
    return mean


def _shown(record: Record) -> float:
    return min(_rates(record), key=lambda rate: abs(rate - SHOWN))


def _by_window(record: Record, key: str) -> str:
    rate = _shown(record)
    ahead = 100 * (_windows(record, key, rate) - _windows(record, f"{key} at random", rate))
    count = int((ahead > 0).sum())
    return f"ahead in {count} of {len(ahead)} at {rate:g}, {ahead.min():+.1f} to {ahead.max():+.1f} points"


def _not_one_stretch(record: Record) -> Verdict:
    rate = _shown(record)
    words, fails = [], []
    for key in SAMPLERS:
        ahead = _windows(record, key, rate) - _windows(record, f"{key} at random", rate)
        count = int((ahead > 0).sum())
        words.append(f"{key} in {count} of {len(ahead)}")
        if count < 0.75 * len(ahead):
            half = len(ahead) // 2
            early, late = int((ahead.iloc[:half] > 0).sum()), int((ahead.iloc[half:] > 0).sum())
            fails.append(f"{key} is ahead in {early} of the first {half} and {late} of the last {len(ahead) - half}")
    return Verdict(f"ahead {', '.join(words)} windows at {rate:g}", not fails, "; ".join(fails))


def _quarter_is_enough(record: Record) -> Verdict:
    table, scores, asked = _table(record), _table(record, "f_measure"), _table(record, "rate")
    full = max(FULL, key=lambda key: float(table[key, 1.0].mean()))
    cheap = [(key, rate) for key in SAMPLERS for rate in _rates(record) if asked[key, rate].mean() <= 0.25]
    if not cheap:
        return Verdict("no sampler asked for a quarter or less", False, "all asked for more than they were set to")
    key, rate = max(cheap, key=lambda pair: float(table[pair[0], pair[1]].mean()))
    found = _points(table[key, rate] - table[full, 1.0])
    f = f"F {scores[key, rate].mean():.3f} against {scores[full, 1.0].mean():.3f}"
    share = 100 * asked[key, rate].mean()
    others = ", ".join(
        f"{key} {100 * max(float(table[pair[0], pair[1]].mean()) for pair in cheap if pair[0] == key):.2f} %"
        for key in dict.fromkeys(key for key, _ in cheap)
    )
    return Verdict(
        f"{key} {_said(found)} points against {full}, with {share:.1f} % of the labels; {f}", _above(found, -1.0),
        f"{full} has {100 * table[full, 1.0].mean():.2f} %; the best of each at a quarter or less: {others}",
    )  # fmt: skip


def _lasec_helps(record: Record) -> Verdict:
    """LASEC-SS against the other at as many labels: its accuracies, run by run, read at LASEC-SS's shares."""
    table, asked = _table(record), _table(record, "rate")
    rates = _rates(record)
    other = "sop-label-efficient"
    words, lost = [], []
    for rate in rates:
        share = float(asked["lasec-ss", rate].mean())
        shares, values = np.log(asked[other][rates].to_numpy()), table[other][rates].to_numpy()
        if not np.exp(shares.min()) <= share <= np.exp(shares.max()):
            continue
        read = [np.interp(np.log(share), *pair) for pair in zip(shares, values, strict=True)]
        found = _points(table["lasec-ss", rate].to_numpy() - read)
        words.append(f"{_said(found)} at {100 * share:.1f} %")
        if not _above(found):
            lost.append(f"{100 * share:.1f} %")
    full = _points(table["lasec", 1.0] - table["sop", 1.0])
    tuned = record["tuned"].iloc[0]
    why = (
        f"not at {', '.join(lost) or 'any share that both asked for'}; with all labels lasec is {_said(full)} points "
        f"from sop, and the start of the stream chose a = {tuned['a']:g}, b = {tuned['b']:g}, c = {tuned['c']:g}"
    )
    return Verdict(f"points {', '.join(words) or 'none'} of the labels", bool(words) and not lost, why)


def _rates_last(record: Record) -> Verdict:
    asked = _table(record, "rate")
    words, off = [], []
    for key in SAMPLERS:
        shares = {rate: float(asked[key, rate].mean()) for rate in _rates(record)}
        words.append(f"{key} {', '.join(f'{share:.3f}' for share in shares.values())}")
        wrong = [f"{rate:g} became {share:.3f}" for rate, share in shares.items() if not rate / 2 <= share <= 2 * rate]
        if wrong:
            off.append(f"{key}: {', '.join(wrong)}")
    rates = ", ".join(f"{rate:g}" for rate in _rates(record))
    tuned = record["tuned"].iloc[0]
    why = (
        f"{'; '.join(off)}; of the stretch for tuning {100 * tuned['positive_tuning']:.0f} % are positive, of the rest "
        f"{100 * tuned['positive_rest']:.0f} %"
    )
    return Verdict(f"set to {rates}: {'; '.join(words)}", not off, why)


def _no_change_as_published(record: Record) -> Verdict:
    value = 100 * float(_table(record)["no change, whole stream", 1.0].iloc[0])
    return Verdict(f"{value:.2f} %", round(value, 2) == 85.33)


def _learner_beats_no_change(record: Record) -> Verdict:
    table = _table(record)
    base = table["no change", 1.0]
    best = max(FULL, key=lambda key: float(table[key, 1.0].mean()))
    words = ", ".join(f"{key} {100 * table[key, 1.0].mean():.2f} %" for key in FULL)
    ahead = _windows(record, best, 1.0) - _windows(record, "no change", 1.0)
    return Verdict(
        f"{words} against {100 * base.mean():.2f} %; {best} ahead in {int((ahead > 0).sum())} of {len(ahead)} windows",
        _above(_points(table[best, 1.0] - base)),
        f"{best} is behind by up to {-100 * ahead.min():.1f} points in a window",
    )  # fmt: skip


def _sampler_beats_no_change(record: Record) -> Verdict:
    table, asked = _table(record), _table(record, "rate")
    base = table["no change", 1.0]
    cheap = [(key, rate) for key in SAMPLERS for rate in _rates(record) if asked[key, rate].mean() <= 0.45]
    if not cheap:
        return Verdict("no sampler asked for 45 % or less", False, "all asked for more than they were set to")
    key, rate = max(cheap, key=lambda pair: float(table[pair[0], pair[1]].mean()))
    found = _points(table[key, rate] - base)
    words = f"{key} {100 * table[key, rate].mean():.2f} % with {100 * asked[key, rate].mean():.1f} % of the labels"
    more = ", ".join(
        f"{key} {100 * max(float(table[key, rate].mean()) for rate in _rates(record)):.2f} %" for key in SAMPLERS
    )
    full = 100 * float(table["sop", 1.0].mean())
    return Verdict(
        f"{words}, against {100 * base.mean():.2f} %", _above(found),
        f"{_said(found)} points; each at its best rate: {more}; sop with all labels {full:.2f} %",
    )  # fmt: skip


def _beats_last_bought(record: Record) -> Verdict:
    table = _table(record)
    rate = _shown(record)
    words, lost = [], []
    for key in SAMPLERS:
        found = _points(table[key, rate] - table["last bought", rate])
        words.append(f"{key} {_said(found)}")
        if not _above(found):
            lost.append(key)
    base = 100 * table["last bought", rate].mean()
    return Verdict(
        f"points above it at {rate:g}: {', '.join(words)}", not lost,
        f"{', '.join(lost)} not above the {base:.2f} % of a label repeated, bought every {1 / rate:.0f} rounds",
    )  # fmt: skip


# -- pictures ---------------------------------------------------------------------------------------------------


def _curves(record: Record, value: str, twin: bool) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    totals = record["totals"]
    for key in (*SAMPLERS, *(("last bought",) if twin and value == "accuracy" else ())):
        name = f"{key} at random" if twin and key in SAMPLERS else key
        for _, own in totals[totals["key"] == name].groupby("wanted"):
            found = estimate(own[value])
            rows.append({"group": key, "x": own["rate"].mean(), "y": found.mean, "half_width": found.half_width})
    frame = pd.DataFrame(rows)
    references = ("sop", "no change") if value == "accuracy" else ("sop",)
    for key in references:
        level = float(totals.loc[totals["key"] == key, value].mean())
        name = {"sop": "sop, all labels", "no change": "no change, all labels"}[key]
        ends = [{"group": name, "x": x, "y": level, "reference": True} for x in (frame["x"].min(), frame["x"].max())]
        rows += ends
    return pd.DataFrame(rows).fillna({"reference": False})


def _figures(name: str, record: Record) -> Mapping[str, Figure]:
    drawn = {
        f"{name}{suffix}": panels(
            [("asking by margin", _curves(record, value, False)), ("asking by chance", _curves(record, value, True))],
            x="fraction of labels asked for", y=label, x_scale="log",
        )
        for suffix, value, label in (("", "accuracy", "accuracy"), ("-f", "f_measure", "F-measure"))
    }  # fmt: skip
    rate = _shown(record)
    chosen = {
        "sop, all labels": ("sop", 1.0), "no change": ("no change", 1.0),
        f"by margin, {rate:g}": ("sop-label-efficient", rate), "by chance": ("sop-label-efficient at random", rate),
    }  # fmt: skip
    windows, rows = record["windows"], []
    for label, (key, wanted) in chosen.items():
        own = windows[(windows["key"] == key) & (windows["wanted"] == wanted)].groupby("end")["accuracy"].mean()
        rows += [{"group": label, "x": end, "y": value} for end, value in own.items()]
    drawn[f"{name}-windows"] = lines(pd.DataFrame(rows), x="rounds after the tuning", y="accuracy in the window")
    return drawn


def _claim(statement: str, check: Callable[[Record], Verdict], tolerance: str, printed: str = "") -> Claim:
    return Claim(statement=statement, check=check, tolerance=tolerance, printed=printed)


_COMMON = (
    *(_beats_chance(key) for key in SAMPLERS),
    _claim(
        "the advantage over chance is not that of one stretch", _not_one_stretch,
        "every sampler ahead in three quarters of the windows, means over coins, set to a tenth of the labels",
    ),
    _claim(
        "LASEC-SS, made for drift, is more accurate than the second-order Perceptron with the same coin", _lasec_helps,
        f"at every share it asked for that the other's span, read off in log share, paired; {OVER_COINS}",
    ),
    _claim(
        "a rate of asking that was set on the first fifth of the stream lasts", _rates_last,
        "the rest is asked for within a factor of 2 of it, every sampler and rate",
    ),
    _claim(
        "with a quarter of the labels the best sampler is nearly as accurate as the best learner with all of them",
        _quarter_is_enough,
        f"at most one point behind; the best that asked for a quarter or less, however set; {OVER_COINS}",
    ),
)  # fmt: skip

EXPERIMENTS = (
    Experiment(
        name="ours/spam-drift", claim="labels bought of mails that drift, by margin or by chance", time="1 min",
        sweep=partial(sweep, "spam-drift"), run=run, claims=_COMMON, figures=partial(_figures, "spam-drift"),
        data="spam_katakis_stream",
        published="the spam stream of Katakis et al. as spam_stream.npz: a CSR matrix of 0 and 1, and y",
        stand_in="a generated target that drifts",
    ),
    Experiment(
        name="ours/elec2", claim="labels bought of electricity prices, and the last label repeated", time="1 min",
        sweep=partial(sweep, "elec2"), run=run,
        claims=(
            *_COMMON,
            _claim(
                "repeating the last label is right on the whole stream as often as published",
                _no_change_as_published, "none", "85.33 %",
            ),
            _claim(
                "with all labels a linear learner beats no change, which needs them too", _learner_beats_no_change,
                f"the best of three, after the first fifth; {OVER_COINS}",
            ),
            _claim(
                "with less than half of the labels a sampler still beats no change with all of them",
                _sampler_beats_no_change, f"the best sampler that asked for 45 % or less; {OVER_COINS}",
            ),
            _claim(
                "every sampler beats repeating the last label that a coin bought", _beats_last_bought,
                f"set to a tenth of the labels; {OVER_COINS}",
            ),
        ),
        figures=partial(_figures, "elec2"), data="elec2",
        published="Elec2 (normalised) as electricity-normalized.csv.gz, in order of time",
        stand_in="a generated target that drifts",
    ),
)  # fmt: skip
