"""Cavallanti et al. 2010, theory: growth of regret and labels, regret for labels bought, the low-noise condition.

What it models: linear label noise in the plane under the low-noise condition P(abs(u.x) < eps) = eps^alpha, that is
with c = 1.  The regret of a round is the conditional one: abs(u.x) where the prediction differs from the Bayes rule's.
The theorems give upper bounds, so that a measured exponent may be smaller than theirs.  Theorem 2 is checked in its
explicit form (13), as 10^6 rounds are few for its asymptotic form.

Remark 5: with N labels the bound of the adaptive sampler falls as N^(-(1+alpha)(2+alpha)/(2(3+alpha))), that of all
labels as N^(-(1+alpha)/(2+alpha)); the former falls faster for alpha above sqrt(3) - 1 = 0.73.  Infinite alpha is the
hard margin, here of 1/2: there O(ln n) labels are to be enough, and the average regret is to fall exponentially in
them.  Exponents are measured over the last two decades of rounds.

Section 4: the equivalent form of the condition bounds P(f* f < 0) by a power of the regret of f.  It is held with the
constant that is printed, c, on half-planes turned away from the target and on the f that are hardest for it, those
wrong exactly where abs(f*) is below a level; both sides are integrals over the law of instances, taken at the midpoints
of its quantiles.  With the constant that follows from c (`theorems.disagreement_cap`) it is a theorem.
What it leaves out: other kinds of noise, more than two dimensions, and the logarithmic factors of the remark.
"""

from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd

from experiments.papers.claims import Noted, against, by, jackknifed, point, slope, where, wide
from experiments.papers.kit import Experiment, Sizes, over
from experiments.papers.predicates import at_least, at_most, below, between, each, falling, reaching
from experiments.papers.theorems import (
    adaptive_labels,
    adaptive_rate_in_labels,
    adaptive_regret,
    supervised_rate_in_labels,
    supervised_regret_of_spectrum,
)
from lpsm import samplers
from lpsm.randomness import POLICY, WORKLOAD, generator
from lpsm.synthetic_streams import linear_noise

AS_LONG = "as long as theorem-1, whose runs it takes where they are"
HARD = 1.0, 0.5  # exponent and margin
LAWS = (*((alpha, 0.0) for alpha in (0.5, 1.0, 2.0, 4.0)), HARD)
ALL, ADAPTIVE = "rls-all", "adaptive-sampler"
NAMES = {ALL: "all labels", ADAPTIVE: "adaptive"}
THEOREM_1 = Experiment("adaptive/theorem-1", "regret of least squares with all labels under low noise", "3 min")


RUNS = [
    (key, *law, run) for key, law in product(NAMES, LAWS) for run in range(20 if key == ALL and law != HARD else 10)
]


@THEOREM_1.runs(
    over({"key alpha margin run": Sizes([one for one in RUNS if one[1] != 2.0 and one[3] < 2], RUNS)},
         "{key} alpha {alpha:g} margin {margin:g} run {run}", rounds=Sizes(30_000, 1_000_000))
)  # fmt: skip
def growth(key, alpha, margin, rounds, seed, run):
    """Run one sampler; return its regret and labels so far, on a geometric grid of rounds."""
    stream = linear_noise(rounds, 2, alpha, generator(seed, WORKLOAD, run), margin=margin)
    smallest = float(stream.correlation_eigenvalues.min())
    parameters: Any = {"lambda_": smallest} if key == ADAPTIVE else {}
    log = samplers.make(key, 2, rng=generator(seed, POLICY, run), **parameters).run(stream.X, stream.y)
    margins = stream.X @ stream.target
    regret = np.cumsum(np.where(log.prediction != np.where(margins >= 0.0, 1, -1), np.abs(margins), 0.0))
    labels = np.cumsum(log.queried)
    return [
        {"key": key, "alpha": alpha, "margin": margin, "run": run, "n": int(at), "regret": float(regret[at - 1]),
         "labels": int(labels[at - 1]), "eigenvalue": smallest}
        for at in np.unique(np.geomspace(10, rounds, 40).astype(int))
    ]  # fmt: skip


def _late(rows, column, factor=100.0):
    """Return a column over the last two decades of rounds, or another factor: a row a run, a column an n."""
    return wide(rows[rows["n"] >= rows["n"].max() / factor], column, "n", "run")


def _exponents(x, y, over=1.0):
    """Return the slope of the means over runs of two tables, as pseudo-values, a number a run."""
    return jackknifed(y.index, lambda runs: slope(x.loc[runs].mean(), y.loc[runs].mean() / over))


def _bound(key, column, n, alpha, eigenvalue):
    """Return the explicit bound of a theorem."""
    if key == ALL:
        along = alpha / (alpha + 2.0)
        return supervised_regret_of_spectrum(n_rounds=n, alpha=alpha, c=1.0, eigenvalues=[along, 1.0 - along])
    bound = adaptive_regret if column == "regret" else adaptive_labels
    return float(bound(n_rounds=n, n_features=2, eigenvalue=eigenvalue, alpha=alpha, c=1.0))


def _means(growth, key, column):
    """Return means over runs with their half widths and the bounds, a row an alpha and n."""
    return pd.DataFrame([
        {"alpha": alpha, "bound": _bound(key, column, int(n), float(alpha), float(own["eigenvalue"].iloc[0])),
         **point(f"alpha {alpha:g}", n, own[column])}
        for (alpha, n), own in where(growth, key=key, margin=0.0).groupby(["alpha", "n"])
    ])  # fmt: skip


def _over_bound(growth, key, column):
    means = _means(growth, key, column)
    return by(means["y"] / means["bound"], "alpha {:g}:", means["alpha"])


def _excess_exponent(growth, key, column, powers):
    """Slope of ln(mean) on ln n over the last two decades less the predicted one, a pseudo-value a run, by alpha."""
    means, samples = _means(growth, key, column), {}
    for alpha, own in where(growth, key=key, margin=0.0).groupby("alpha"):
        table = _late(own, column)
        sample = _exponents(0.0 * table + table.columns, table)
        at = means[(means["alpha"] == alpha) & means["x"].isin(table.columns)]
        bound = f"the explicit bound's is {slope(at['x'], at['bound']):.2f} over these rounds"
        power, of_logarithm = powers(alpha)
        expected = power + of_logarithm * slope(table.columns, np.log(table.columns))
        samples[f"alpha {alpha:g}:"] = Noted(sample - expected, f"(exponent {sample.mean():.2f}; {bound})")
    return samples


def _at_the_end(growth, key, column):
    last = where(growth, key=key, margin=0.0, n=growth["n"].max())
    return by(last[column], "alpha {:g}", last["alpha"])


def _beside_bound(growth, key, column):
    means = _means(growth, key, column).assign(reference=False)
    limits = means.assign(group="bound, " + means["group"], y=means["bound"], half_width=np.nan, reference=True)
    frame = pd.concat([means, limits], ignore_index=True)
    return frame[frame["y"] > 0]


THEOREM_2 = THEOREM_1.view("adaptive/theorem-2", "regret and labels of the adaptive sampler under low noise", AS_LONG)
_of_1 = [{
    "key": ALL, "column": "regret", "what": "regret", "in_theorem": "Theorem 1", "grow": "the regret grows",
    "as_printed": "n^(1/(2+alpha))", "powers": lambda alpha: (1.0 / (2.0 + alpha), (1.0 + alpha) / (2.0 + alpha)),
    "idle": "the bound is tens of times the regret",
}]  # fmt: skip
_of_2 = [
    {"key": ADAPTIVE, "column": "regret", "what": "regret", "in_theorem": "Theorem 2, (13)", "grow": "the regret grows",
     "as_printed": "n^(2/(3+alpha))", "powers": lambda alpha: (2.0 / (3.0 + alpha), (1.0 + alpha) / (3.0 + alpha)),
     "idle": "the constants of (13) leave a factor of hundreds"},
    {"key": ADAPTIVE, "column": "labels", "what": "number of labels", "in_theorem": "Theorem 2", "grow": "labels grow",
     "as_printed": "n^(2/(2+alpha))", "powers": lambda alpha: (2.0 / (2.0 + alpha), alpha / (2.0 + alpha)), "idle": ""},
]  # fmt: skip
for _experiment, _rows, _less in (
    (THEOREM_1, _of_1, "the less noise (the larger alpha), the less regret"),
    (THEOREM_2, _of_2, "the less noise, the fewer labels"),
):
    _experiment.claim(
        "the expected {what} is below the bound", each, "{in_theorem}",
        "mean over runs over the bound with its explicit constants, at every n", of=_rows, no_test="{idle}", high=1.0,
    )(_over_bound)  # fmt: skip
    _experiment.claim(
        "{grow} no faster than the bound's powers of n and ln n", reaching, "{as_printed}",
        "exponent over the last two decades of n less that of the printed powers of n and ln n, jackknife over runs",
        of=_rows, high=0.02,
    )(_excess_exponent)  # fmt: skip
    _experiment.claim(_less, falling, "decreasing in alpha", of=_rows[-1:])(_at_the_end)
    for _row in _rows:
        _key, _column = _row["key"], _row["column"]
        _name = f"{_experiment.name.partition('/')[2]}-{_column}"
        _experiment.picture(_name, x="rounds", y=_column, x_scale="log", y_scale="log")(
            lambda growth, key=_key, column=_column: _beside_bound(growth, key, column)
        )

ANGLES, LEVELS = np.pi * 2.0 ** np.arange(-7.0, 0.0), 2.0 ** np.arange(-5.0, 0.1)
NOISE = Experiment(
    "adaptive/noise-condition", "the low-noise condition, its equivalent form, and the hard margin", "10 s"
)


@NOISE.runs(over({"alpha margin": LAWS}, quantiles=Sizes(1000, 200_000)))
def classifiers(alpha, margin, seed, quantiles):
    """Disagreement with the Bayes rule, and regret, of half-planes and of what errs on small margins alone."""
    size = margin + (1.0 - margin) * ((np.arange(quantiles) + 0.5) / quantiles) ** (1.0 / alpha)
    across = np.sqrt(1.0 - size * size)
    # by symmetry both signs of the margin err alike; of the two instances with one margin a turn reaches one
    errs = {("turned by", angle): (np.cos(angle) * size < np.sin(angle) * across) / 2.0 for angle in ANGLES}
    errs |= {("wrong below", level): 1.0 * (size < level) for level in margin + (1.0 - margin) * LEVELS}
    return [
        {"alpha": alpha, "margin": margin, "kind": kind, "at": float(at), "disagreement": float(own.mean()),
         "regret": float(np.mean(size * own)), "least": float(size.min())}
        for (kind, at), own in errs.items()
    ]  # fmt: skip


@NOISE.claim(
    "the equivalent form: P(f* f < 0) <= c R(f)^(alpha/(1+alpha)) for all f", each, "equivalent",
    "over the bound with the constant as printed, c = 1; every f tried", high=1.0,
)  # fmt: skip
def _equivalent(classifiers):
    ratios = {}
    for alpha, rows in classifiers.query("margin == 0 and regret > 0").groupby("alpha"):
        own = rows["disagreement"] / rows["regret"] ** (alpha / (1.0 + alpha))
        ratios[f"alpha {alpha:g}:"] = Noted(own, f"({100 * (own > 1.0).mean():.0f} % of {len(own)} beyond it)")
    return ratios


@NOISE.claim(
    "where alpha is infinite, abs(f*) >= 1/(2c)", at_least, "1/(2c)",
    "c: the least with P(f* f < 0) <= c R(f) for every f tried", limit=1.0,
)  # fmt: skip
def _hard_margin(classifiers):
    rows = classifiers.query("margin > 0 and regret > 0")
    c, least = (rows["disagreement"] / rows["regret"]).max(), rows["least"].iloc[0]
    return Noted(least * 2.0 * c, f"times 1/(2c) (c = {c:.2f}, least abs(f*) {least:.2f})")


CRITICAL = sqrt(3.0) - 1.0
REMARK_5 = THEOREM_1.view(
    "adaptive/remark-5", "average regret as a function of the labels bought, and the hard margin", AS_LONG
)
OVER = "exponent over the last two decades of rounds, jackknife over runs"


def _in_labels(rows, factor=100.0):
    """Return the exponent of the average regret in the labels over the last rounds."""
    regret = _late(rows, "regret", factor)
    return _exponents(_late(rows, "labels", factor), regret, regret.columns)


@REMARK_5.claim(
    "{name}: the average regret falls at least as fast in the labels as the bound", reaching, "{as_printed}",
    f"{OVER}, less the predicted one; 0.05 for logarithms", high=0.05,
    of=[
        {"key": ALL, "name": NAMES[ALL], "power": supervised_rate_in_labels, "as_printed": "N^(-(1+alpha)/(2+alpha))"},
        {"key": ADAPTIVE, "name": NAMES[ADAPTIVE], "power": adaptive_rate_in_labels,
         "as_printed": "N^(-(1+alpha)(2+alpha)/(2(3+alpha)))"},
    ],
)  # fmt: skip
def _beyond(growth, key, power):
    samples = {}
    for alpha, own in where(growth, key=key, margin=0.0).groupby("alpha"):
        sample, expected = _in_labels(own), power(alpha)
        words = f"(N^{sample.mean():.2f}; the bound's is N^{expected:.2f})"
        samples[f"alpha {alpha:g}:"] = Noted(sample - expected, words)
    return samples


@REMARK_5.claim(
    "for alpha > sqrt 3 - 1 the average regret falls faster in the labels that the adaptive sampler buys", below,
    "asymptotically faster", f"difference of exponents: {OVER}; ours, the paper compares bounds",
)  # fmt: skip
def _faster(growth):
    samples, other = {}, where(growth, key=ALL, margin=0.0)
    for alpha, own in where(growth, key=ADAPTIVE, margin=0.0).groupby("alpha"):
        if alpha > CRITICAL:
            ours = _in_labels(own)
            theirs = _in_labels(other[(other["alpha"] == alpha) & other["run"].isin(own["run"])])
            samples[f"alpha {alpha:g}:"] = against(ours, theirs)
    return samples


def _by_factors(growth, key, column):
    """Return what the hard margin costs in the last factor 5 of the rounds and in the one before, (runs, 2)."""
    table = wide(growth, column, "n", "run", key=key, margin=HARD[1])
    logarithms = np.log(table.columns)
    ends = logarithms.max() - np.log(5.0) * np.arange(3)
    at = np.array([np.interp(ends, logarithms, row) for row in table.to_numpy()])
    return at[:, :2] - at[:, 1:]


@REMARK_5.claim(
    "under a hard margin the adaptive sampler's labels are of order ln n", at_most, "O(ln n)",
    "labels bought in the last factor 5 of the rounds over those in the one before", limit=1.25,
)  # fmt: skip
def _labels_late_to_early(growth):
    late, early = _by_factors(growth, ADAPTIVE, "labels").mean(axis=0)
    return Noted(late / early, f"({early:.0f}, then {late:.0f} labels)")


def _hard_exponent(growth, key, factor=100.0):
    """Exponent of the average regret in the labels under the hard margin, over the last factor of the rounds."""
    rows = where(growth, key=key, margin=HARD[1])
    last = rows[rows["n"] == rows["n"].max()]
    words = f"({last['labels'].mean():.0f} labels, average regret {(last['regret'] / last['n']).mean():.2g})"
    return {NAMES[key]: Noted(_in_labels(rows, factor), words)}


REMARK_5.claim(
    "then the average regret is of order (ln N)/N with all labels", between, "(ln N)/N", OVER, low=-1.1, high=-0.8
)(lambda growth: _hard_exponent(growth, ALL))
REMARK_5.claim(
    "and falls exponentially in the labels that the adaptive sampler buys", below, "N/e^N",
    "faster than N^-5 over the last factor 5 of the rounds (two decades hold the start of the run as well)", limit=-5.0,
)(lambda growth: _hard_exponent(growth, ADAPTIVE, 5.0))  # fmt: skip


@REMARK_5.picture("remark-5", x="labels", y="average regret", x_scale="log", y_scale="log")
def _curves(growth):
    laws = growth[["alpha", "margin"]].drop_duplicates().sort_values(["margin", "alpha"])
    for alpha, margin in laws.itertuples(index=False):
        rows = []
        for key, name in NAMES.items():
            means = where(growth, key=key, margin=margin, alpha=alpha).groupby("n")[["labels", "regret"]].mean()
            rows.append(pd.DataFrame({"group": name, "x": means["labels"], "y": means["regret"] / means.index}))
        yield (f"hard margin {margin:g}" if margin else f"alpha {alpha:g}"), pd.concat(rows)
