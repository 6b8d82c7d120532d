"""Beyond the papers: is choosing labels worth it on real streams that drift?

What it models: mails of which some are spam (Katakis et al.), and whether the price of electricity goes up in the
next half-hour (Elec2), each in its own order, with a constant feature added and instances normalised.  The first fifth
is for tuning only (nearly all of the first 700 mails are spam): with all its labels the regulariser of the second-order
Perceptron and b, c of LASEC, for accuracy by the one-standard-error rule (`tuning`), and by bisection the
one parameter of every sampler that sets how much it asks.  Then every sampler starts anew on the rest, and
accuracy is counted on all of it, label bought or not.  Each has a twin with the same learner that asks by a coin of the
share the sampler came to ask for.  Baselines are three learners with all labels, and repeating the last label, of the
last round (no change) or of the last that a coin bought.  Replications are the coins' seeds; a sampler without a coin
is the same in all, its twin is not.  Every claim is ours, and none is a result.
What it leaves out: intervals over other streams of the same kind; and BBQ, whose question depends on the instance
alone: among 39,916 words it asks about all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.papers.claims import Claim, Noted, point, steps_inside
from experiments.papers.drift.shift_runs import value_for_rate
from experiments.papers.kit import DataSet, Experiment, Setup, Sweep
from experiments.papers.predicates import above, at_least, between, explained_by, wide_enough
from experiments.papers.tuning import one_standard_error
from lpsm import samplers
from lpsm.randomness import POLICY, SPLIT, WORKLOAD, generator
from lpsm.synthetic_streams import drifting

__all__ = ["C_FACTORS", "EXPERIMENTS", "GRID", "SAMPLERS", "runs"]

SOP, LASEC = "sop-label-efficient", "lasec-ss"
SAMPLERS: Mapping[str, tuple[str, float, float]] = {  # key -> parameter that sets how much it asks, and its range
    SOP: ("C", 1e-5, 1e3),
    "sop-ss": ("b", 1e-5, 1e3),
    LASEC: ("a", 1e-5, 1e3),
    "ssmd": ("K", 1e-6, 1e3),
    "perceptron-ss": ("b", 1e-5, 1e3),
}
FULL = ("sop", "lasec", "perceptron")  # all labels
RATES = (0.02, 0.05, 0.1, 0.2, 0.4)
SHOWN = 0.1  # the rate whose windows are drawn
TUNING = 0.2  # share of the stream, from its start
WINDOWS = {"spam-drift": 500, "elec2": 1344}  # rounds: mails; four weeks of half-hours
GRID = (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0)  # of a, and of b
C_FACTORS = (1.1, 2.0, 20.0, 200.0, 2e3, 2e4, 2e5, 2e6, 2e7, 2e8, 2e9)  # of c over b: on Elec2 hardly any drift is best


# -- runs ----------------------------------------------------------------------------------------------------------


class Tuned(NamedTuple):
    """Instances and labels, how many of them are for tuning, and what these have chosen."""

    X: Any
    y: NDArray[np.float64]
    cut: int
    fixed: Mapping[str, float]

    def make(self, key: str, rng: Any = None, **parameters: Any) -> samplers.Sampler:
        """Return a sampler with the parameters that were chosen and others."""
        names = "" if key.startswith("perceptron") else "bc" if key.startswith("lasec") else "a"
        parameters = {name: self.fixed[name] for name in names if name in self.fixed} | parameters
        return samplers.make(key, self.X.shape[1], rng=rng, normalize=True, **parameters)

    def early(self, key: str, rng: Any = None, **parameters: Any) -> Any:
        """Run a sampler over what is for tuning."""
        return self.make(key, rng, **parameters).run(self.X[: self.cut], self.y[: self.cut])

    def late(self, sampler: samplers.Sampler) -> Any:
        """Run a sampler over the rest."""
        return sampler.run(self.X[self.cut :], self.y[self.cut :])


def _stream(name: str, folder: str, stand_in: bool, seed: int) -> tuple[Any, NDArray[np.float64]]:
    """Return instances in order of time, a constant feature last, and labels -1 and +1."""
    from experiments.datasets import named

    if stand_in:
        drawn = drifting(6000, 7, 20.0, generator(seed, WORKLOAD))
        return np.hstack([drawn.X, np.ones((len(drawn.y), 1))]), drawn.y
    read = {"spam-drift": named.spam_drift, "elec2": named.elec2}[name](Path(folder)).with_intercept(1.0)
    return read.X, np.where(read.y == 1, 1.0, -1.0)


@lru_cache(maxsize=1)  # the same for every seed of coins
def _tuned(rounds: int, *source: Any) -> Tuned:
    """Return so many rounds of a stream (0: all)."""
    X, y = _stream(*source)
    X, y = X[: rounds or len(y)], y[: rounds or len(y)]
    tuned = Tuned(X, y, int(TUNING * len(y)), {})

    def mistakes(key: str, **parameters: Any) -> Any:
        return tuned.early(key, **parameters).prediction != y[: tuned.cut]

    ones = [{"a": a} for a in GRID]
    pairs = [{"b": b, "c over b": factor} for b, factor in product(GRID, C_FACTORS)]
    sop = one_standard_error(ones, [mistakes("sop", **one) for one in ones])
    lasec = one_standard_error(pairs, [mistakes("lasec", b=p["b"], c=p["b"] * p["c over b"]) for p in pairs])
    return tuned._replace(fixed={**sop, "b": lasec["b"], "c": lasec["b"] * lasec["c over b"]})


def runs(
    stream: str, seed: int, run: int, rates: Sequence[float], rounds: int, stand_in: bool, folder: str
) -> dict[str, Any]:  # fmt: skip
    """Tune on the first fifth, then run every sampler at every rate, and what it is compared with, on the rest."""
    tuned = _tuned(rounds, stream, folder, stand_in, seed)
    early, rest = np.split(tuned.y, [tuned.cut])
    starts = np.arange(0, len(rest), WINDOWS[stream])
    ends = np.append(starts[1:], len(rest))  # the last window is shorter
    windows: list[pd.DataFrame] = []
    totals: list[dict[str, Any]] = []
    for key, wanted, prediction, queried, parameter in chain(
        _samplers(tuned, seed, run, rates), _baselines(tuned, seed, run, rates)
    ):
        common: dict[str, Any] = {"run": run, "key": key, "wanted": wanted}
        shares = {"rate": queried, "accuracy": prediction == rest}
        positive = int((prediction > 0).sum() + (rest > 0).sum())
        f_measure = 2.0 * int(((prediction > 0) & (rest > 0)).sum()) / max(1, positive)
        means = {name: float(one.mean()) for name, one in shares.items()}
        totals.append({**common, **means, "f_measure": f_measure, "parameter": parameter})
        within = {name: np.add.reduceat(one.astype(float), starts) / (ends - starts) for name, one in shares.items()}
        place = {"window": np.arange(len(starts)), "end": ends, "rounds": ends - starts}
        windows.append(pd.DataFrame({**common, **place, **within}))
    same: dict[str, Any] = {"rate": 1.0, "accuracy": float(np.mean(tuned.y[1:] == tuned.y[:-1])), "f_measure": 0.0}
    totals.append({"run": run, "key": "no change, whole stream", "wanted": 1.0, **same, "parameter": 0.0})
    chosen = {f"positive_{name}": float(np.mean(part > 0)) for name, part in (("tuning", early), ("rest", rest))}
    return {"totals": totals, "windows": pd.concat(windows), "tuned": [{"run": run, **tuned.fixed, **chosen}]}


Counted = tuple[str, float, Any, Any, float]  # key, wanted rate, predictions, whether asked, parameter


def _samplers(tuned: Tuned, seed: int, run: int, rates: Sequence[float]) -> Iterator[Counted]:
    """Run every sampler at every rate, each followed by its twin."""
    for (key, (symbol, low, high)), (number, rate) in product(SAMPLERS.items(), enumerate(rates)):
        tossed, coins = generator(seed, SPLIT, run), generator(seed, POLICY, 100 * run + number)

        def asked(value: float, key: str = key, symbol: str = symbol, tossed: Any = tossed) -> float:
            return float(tuned.early(key, tossed, **{symbol: value}).queried.mean())

        value = value_for_rate(asked, low, high, rate)
        sampler = tuned.make(key, coins, **{symbol: value})
        log = tuned.late(sampler)
        yield key, rate, log.prediction, log.queried, value
        coin = samplers.FixedCoin(rate=float(log.queried.mean()))
        same: dict[str, Any] = {"stores": sampler.stores, "normalize": True, "kernel": sampler.kernel}
        twin = samplers.Sampler(sampler.learner, coin, n_features=tuned.X.shape[1], rng=coins, **same)
        log = tuned.late(twin)
        yield f"{key} at random", rate, log.prediction, log.queried, 0.0


def _baselines(tuned: Tuned, seed: int, run: int, rates: Sequence[float]) -> Iterator[Counted]:
    """Run learners with all labels, and repeat the last label, or at each rate the last that a coin bought."""
    before, rest = tuned.y[tuned.cut - 1 : -1], tuned.y[tuned.cut :]
    for key in FULL:
        log = tuned.late(tuned.make(key))
        yield key, 1.0, log.prediction, log.queried, 0.0
    yield "no change", 1.0, before, np.ones(len(rest), dtype=np.bool_), 0.0
    coins = generator(seed, POLICY, 100 * run + 50)
    for rate in rates:
        asked = coins.random(len(rest)) < rate
        bought = np.maximum.accumulate(np.where(asked, np.arange(len(rest)), -1))
        bought = np.concatenate([[-1], bought[:-1]])  # what was bought before this round
        yield "last bought", rate, np.where(bought >= 0, rest[bought], before[0]), asked, 0.0


# -- measures ------------------------------------------------------------------------------------------------------


def _rows(totals: pd.DataFrame) -> Any:
    """Return the rows of a key and wanted rate under that pair, a row a run."""
    return totals.set_index(["key", "wanted", "run"]).sort_index()


def _means(totals: pd.DataFrame) -> Any:
    """Return means over runs by key and wanted rate."""
    return totals.groupby(["key", "wanted"])[["accuracy", "rate", "f_measure"]].mean()


def _rates(totals: pd.DataFrame) -> list[float]:
    return sorted(rate for rate in totals["wanted"].unique() if rate < 1.0)


def _shown(totals: pd.DataFrame) -> float:
    return min(_rates(totals), key=lambda rate: abs(rate - SHOWN))


def _points(ours: Any, theirs: Any, words: str = "") -> Noted:
    """Return how many points of accuracy one is above the other, run by run."""
    return Noted(100 * (ours["accuracy"].to_numpy() - theirs["accuracy"].to_numpy()), words)


def _window_means(windows: pd.DataFrame, key: str, rate: float, by: str = "window") -> pd.Series:
    return windows[(windows["key"] == key) & (windows["wanted"] == rate)].groupby(by)["accuracy"].mean()


def _over_chance(totals: pd.DataFrame, key: str) -> dict[str, Any]:
    """Points of accuracy over asking by chance with the same learner and as many labels, by share of the labels."""
    samples, rows = {}, _rows(totals)
    for rate in _rates(totals):
        own, twin = rows.loc[key, rate], rows.loc[f"{key} at random", rate]
        words = f"(F {own['f_measure'].mean():.2f} against {twin['f_measure'].mean():.2f})"
        samples[f"at {100 * own['rate'].mean():.1f} %"] = _points(own, twin, words)
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


def _best_full(totals: pd.DataFrame) -> str:
    means = _means(totals)["accuracy"]
    return max(FULL, key=lambda key: float(means[key, 1.0]))


def _best_cheap(totals: pd.DataFrame, most: float, reference: str = "") -> dict[str, Any]:
    """Points of the best sampler that asked for at most such a share of the labels over a reference."""
    means, rows = _means(totals), _rows(totals)
    full = reference or _best_full(totals)
    cheap = [one for one in product(SAMPLERS, _rates(totals)) if means["rate"][one] <= most]
    if not cheap:
        return {}
    best = max(cheap, key=lambda one: float(means["accuracy"][one]))
    own, other = means.loc[best], means.loc[full, 1.0]
    words = (
        f"points over {full} ({100 * own['accuracy']:.2f} against {100 * other['accuracy']:.2f} %, F "
        f"{own['f_measure']:.3f} against {other['f_measure']:.3f}), with {100 * own['rate']:.1f} % of the labels"
    )
    return {best[0]: _points(rows.loc[best], rows.loc[full, 1.0], words)}


def _each_at_best(totals: pd.DataFrame) -> str:
    means, rates = 100 * _means(totals)["accuracy"], _rates(totals)
    return "each at its best rate: " + ", ".join(f"{key} {means[key][rates].max():.2f} %" for key in SAMPLERS)


def _lasec_over_other(totals: pd.DataFrame) -> dict[str, Any]:
    """LASEC-SS against the other at as many labels: its accuracies, run by run, read at LASEC-SS's shares."""
    rows, samples = _rows(totals), {}
    other = rows.loc[SOP].unstack("wanted")
    shares, accuracies = np.log(other["rate"].to_numpy()), other["accuracy"].to_numpy()
    for rate in _rates(totals):
        share = float(rows.loc[LASEC, rate]["rate"].mean())
        if np.exp(shares.min()) <= share <= np.exp(shares.max()):
            read = [np.interp(np.log(share), *pair) for pair in zip(shares, accuracies, strict=True)]
            samples[f"at {100 * share:.1f} %"] = _points(rows.loc[LASEC, rate], pd.DataFrame({"accuracy": read}))
    return samples


def _why_not_lasec(totals: pd.DataFrame, tuned: pd.DataFrame) -> str:
    means, chosen = _means(totals)["accuracy"], tuned.iloc[0]
    values = ", ".join(f"{name} = {chosen[name]:g}" for name in "abc")
    ahead = 100 * (means["lasec", 1.0] - means["sop", 1.0])
    return f"with all labels lasec is {ahead:+.2f} points from sop, and the start of the stream chose {values}"


def _rates_kept(totals: pd.DataFrame) -> dict[str, Any]:
    """Share of the labels asked for over the one set, by sampler and rate."""
    asked = _rows(totals)["rate"]
    return {
        f"{key} {rate:g}:": Noted(asked[key, rate] / rate, f"({asked[key, rate].mean():.3f})")
        for key, rate in product(SAMPLERS, _rates(totals))
    }


def _positives(tuned: pd.DataFrame) -> str:
    tuning, rest = (100 * tuned[f"positive_{part}"].iloc[0] for part in ("tuning", "rest"))
    return f"of the stretch for tuning {tuning:.0f} % are positive, of the rest {rest:.0f} %"


def _published(totals: pd.DataFrame) -> Any:
    return 100 * totals.loc[totals["key"] == "no change, whole stream", "accuracy"]


def _full_over_no_change(totals: pd.DataFrame, windows: pd.DataFrame) -> dict[str, Any]:
    rows, means, best = _rows(totals), 100 * _means(totals)["accuracy"], _best_full(totals)
    ahead = _window_means(windows, best, 1.0) - _window_means(windows, "no change", 1.0)
    levels = ", ".join(f"{key} {means[key, 1.0]:.2f} %" for key in (*FULL, "no change"))
    words = f"points ({levels}; ahead in {int((ahead > 0).sum())} of {len(ahead)} windows)"
    return {best: _points(rows.loc[best, 1.0], rows.loc["no change", 1.0], words)}


def _over_last_bought(totals: pd.DataFrame) -> dict[str, Any]:
    rows, rate = _rows(totals), _shown(totals)
    return {key: _points(rows.loc[key, rate], rows.loc["last bought", rate]) for key in SAMPLERS}


def _inside(tuned: pd.DataFrame) -> dict[str, Any]:
    inside = {name: steps_inside(tuned[name], GRID) for name in ("a", "b")}
    return {**inside, "c over b": steps_inside((tuned["c"] / tuned["b"]).round(6), C_FACTORS)}


# -- pictures ------------------------------------------------------------------------------------------------------


def _margin_and_chance(totals: pd.DataFrame, value: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Return every sampler's curve over the share of the labels, and its twin's, beside the references' levels."""
    accuracy = value == "accuracy"
    for how, twin in (("margin", ""), ("chance", " at random")):
        names = {key: key + twin for key in SAMPLERS} | ({"last bought": "last bought"} if twin and accuracy else {})
        rows: list[dict[str, Any]] = [
            point(key, own["rate"].mean(), own[value]) | {"reference": False}
            for key, name in names.items()
            for _, own in totals[totals["key"] == name].groupby("wanted")
        ]
        ends = [extreme(row["x"] for row in rows) for extreme in (min, max)]
        for key in ("sop", "no change") if accuracy else ("sop",):
            level = float(totals.loc[totals["key"] == key, value].mean())
            rows += [{"group": f"{key}, all labels", "x": x, "y": level, "reference": True} for x in ends]
        yield f"asking by {how}", pd.DataFrame(rows)


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
          above(partial(_best_cheap, most=0.25), -1.0),
          reason=f"{POINTS}; the best that asked for a quarter or less, however set", why=_each_at_best),
    wide_enough(_inside),
)  # fmt: skip
ELEC2 = (
    Claim("repeating the last label is right on the whole stream as often as published",
          between(_published, 85.325, 85.335, unit=" %"), "85.33 %"),
    Claim("with all labels a linear learner beats no change, which needs them too", above(_full_over_no_change),
          reason=f"{POINTS}; the best of three, after the first fifth"),
    Claim("with less than half of the labels a sampler still beats no change with all of them",
          above(partial(_best_cheap, most=0.45, reference="no change")),
          reason=f"{POINTS}; the best sampler that asked for 45 % or less", why=_each_at_best),
    Claim("every sampler beats repeating the last label that a coin bought", above(_over_last_bought),
          reason=f"{POINTS}; set to a tenth of the labels"),
)  # fmt: skip


def _sweep(stream: str) -> Sweep:
    def tasks(setup: Setup) -> dict[str, dict[str, Any]]:
        sizes = {"rates": list(setup.pick((0.1, 0.4), RATES)), "rounds": setup.pick(2000, 0)}
        common = {"stream": stream, "seed": setup.seed, **sizes, **setup.source()}
        return {f"run {number}": {**common, "run": number} for number in range(setup.pick(2, 10))}

    return tasks


def _study(stream: str, subject: str, folder: str, published: str, claims: Sequence[Claim]) -> Experiment:
    data = DataSet(folder, published, "a generated target that drifts")
    study = Experiment(f"ours/{stream}", subject, "1 min", data, claims=list(claims))
    study.runs(_sweep(stream))(runs)
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
