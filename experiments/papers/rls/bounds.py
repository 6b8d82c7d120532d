"""Cesa-Bianchi 2007, section 3: the second-order Perceptron and its bounds on generated data.

What it models: `rls/fig-1` is a long flat cloud in the plane whose separating line runs along its length; beside it
stand instances spread evenly over the sphere in far more dimensions than there are mistakes, which is to take the
advantage away.  The bound of Theorem 1 is evaluated at the separating vector scaled to margin 1, so that no hinge loss
is left; for a -> infinity it is the classical Perceptron's.  It holds for every comparator: both sides of the
comparison over a take the one of least norm that has the margins of the separating vector on the mistakes.
`rls/risk-bound` (section 3.2): the hypotheses are the weights in force between updates; the one picked has the fewest
penalised mistakes on what came after it.  Risks are measured on 20,000 fresh examples of the source; their error, about
.003, counts as a violation.  In terms of the data's spectrum the mistakes of (6) are bounded by Theorem 1, with the
best length of a reference classifier along the target.
`rls/equation-5` (section 3.1): lambda_0 is the mean of (u.x)^2 over the mistakes at a margin gamma.
What it leaves out: other comparators, other learners, for which the risk bounds hold as well, and other distributions.
"""

from itertools import pairwise
from math import inf, sqrt
from typing import Any

import numpy as np
import pandas as pd

from experiments.papers.claims import Noted, against, by, point, where, wide
from experiments.papers.kit import Experiment, Sizes, over
from experiments.papers.predicates import above, at_least, at_most, below, between, each
from experiments.papers.theorems import (
    penalised_hypothesis,
    second_order_limit,
    selected_risk,
    separable_second_order_step,
)
from experiments.quantities import Row
from lpsm import samplers
from lpsm.bounds.risk import average_risk
from lpsm.bounds.second_order import log_determinant, second_order_mistakes
from lpsm.randomness import WORKLOAD, generator
from lpsm.synthetic_streams import linear_noise, separable

D = 20


def _theorem_1(u, missed, hinge, a=1.0):
    """Return the bound of Theorem 1 on the mistakes at a comparator, or its limit for an infinite a."""
    norm = float(np.linalg.norm(u))
    if a == inf:
        return sqrt(second_order_limit(comparator_norm=norm, trace=float(np.sum(missed * missed))))
    return second_order_mistakes(
        hinge=hinge, quadratic=float(np.sum((missed @ u) ** 2)), comparator_norm=norm,
        log_det=log_determinant(missed, a), a=a,
    )  # fmt: skip


A = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
MARGIN = 0.01  # of the cloud: |x_2| in [margin, 0.1], |x_1| up to 1
SOURCES = {"flat": "flat cloud", "even": "even cloud, 1000 dimensions"}
FIG_1 = Experiment("rls/fig-1", "a separable set on which the second-order Perceptron has an advantage", "1 min")


def _draw(source, run, seed, rounds):
    """Return instances, labels, the unit vector that separates them, and its margin."""
    rng = generator(seed, WORKLOAD, run)
    if source == "even":
        stream = separable(rounds, 1000, MARGIN, rng)
        X, y, target = stream.X, stream.y, stream.target
    else:
        y, target = np.where(rng.random(rounds) < 0.5, 1.0, -1.0), np.array([0.0, 1.0])
        X = np.column_stack([rng.uniform(-1.0, 1.0, rounds), y * rng.uniform(MARGIN, 0.1, rounds)])
    return X, y, target, float(np.min(y * (X @ target)))


@FIG_1.runs(
    over({"source rounds": Sizes((("flat", 300), ("even", 300)), (("flat", 2000), ("even", 500))),
          "run": Sizes(range(3), range(20))}, "{source} run {run}")
)  # fmt: skip
def run_once(source, run, seed, rounds):
    """Count mistakes of both Perceptrons, and evaluate the bound on the mistakes made at a = 1."""
    X, y, target, margin = _draw(source, run, seed, rounds)
    u, named = target / margin, {"source": source, "replication": run, "rounds": len(y)}
    wrong = samplers.make("perceptron", X.shape[1]).run(X, y).prediction != y
    counts: list[Row] = [{**named, "key": "perceptron", "a": inf, "mistakes": int(wrong.sum())}]
    for a in A:
        missed = X[samplers.make("sop", X.shape[1], a=a).run(X, y).prediction != y]
        counts.append({**named, "key": "sop", "a": a, "mistakes": len(missed), "bound": _theorem_1(u, missed, 0.0, a)})
        if a == 1.0:
            inside = np.linalg.lstsq(missed, missed @ u, rcond=None)[0]  # the same margins on the mistakes, least norm
            bounds = [{**named, "a": value, "bound": _theorem_1(inside, missed, 0.0, value)} for value in (*A, inf)]
    return {"counts": counts, "bounds": bounds}


@FIG_1.claim(
    "on such a set the second-order Perceptron makes fewer mistakes than the Perceptron", below, "has an advantage",
    "a = 1, paired over runs",
)  # fmt: skip
def _mistakes_less_perceptron(counts):
    own = where(counts, source="flat").query("a == 1 or key == 'perceptron'")
    made = wide(own, "mistakes", "key")
    return against(made["sop"], made["perceptron"])


def _over_limit(bounds, source):
    """Least bound over finite a over that of a -> infinity: a number a run."""
    table = wide(bounds, "bound", "a", source=source)
    finite = table[list(A)]
    places = ", ".join(f"{a:g}" for a in sorted(set(finite.idxmin(axis=1))))
    return Noted(finite.min(axis=1) / table[inf], f"(at a = {places})")


LEAST = "least bound over the limit for a -> infinity, both at the comparator of least norm, in every run"
FIG_1.claim(
    "the bound of Theorem 1 there reaches its minimum at a finite a", each, "a < infinity", LEAST, high=0.99, open=True
)(lambda bounds: _over_limit(bounds, "flat"))
FIG_1.claim(
    "it loses this with a nearly uniform spectrum and many more dimensions than mistakes", each, "loses its advantage",
    LEAST, low=0.95,
)(lambda bounds: _over_limit(bounds, "even"))  # fmt: skip


@FIG_1.claim(
    "the mistakes are at most the bound of Theorem 1", each, "Theorem 1",
    "mistakes over the bound, every run, source and a", high=1.0,
)  # fmt: skip
def _over_bound(counts):
    own = where(counts, key="sop")
    return own["mistakes"] / own["bound"]


@FIG_1.picture("fig-1", x="regulariser a", y="mistakes", x_scale="log", y_scale="log", share_y=False)
def _by_regulariser(counts, bounds):
    both = ((counts, "mistakes", "mistakes, 2nd order", "Perceptron"), (bounds, "bound", "bound", "a -> infinity"))
    for source, title in SOURCES.items():
        rows: list[Row] = []
        for table, column, name, at_infinity in both:
            for a, own in where(table, source=source).groupby("a")[column]:
                level = [{"group": f"{column}, {at_infinity}", "x": x, "y": own.mean()} for x in A]
                rows += level if a == inf else [point(name, a, own)]
        yield title, pd.DataFrame(rows)


DELTA, FRESH, SLIGHTLY = 0.05, 20_000, 0.02
NOISES = {"separable": 0.0, "noise 4": 4.0, "noise 1": 1.0}  # source -> exponent of the noise
LENGTHS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)  # of the reference classifiers of Theorem 1, along the target
RISK = Experiment(
    "rls/risk-bound", "the average risk, and the risk of the picked hypothesis, beside their bounds", "2 min"
)


@RISK.runs(
    over(
        {"source": NOISES, "n": Sizes((500,), (1250, 5000, 10_000)), "run": Sizes(range(3), range(20))},
        key="{source} n {n} run {run}",
    )
)
def risks(source, n, run, seed):
    """Run over n examples; return average risk, that of the picked hypothesis, and the bounds on both."""
    rng, exponent = generator(seed, WORKLOAD, 1000 * list(NOISES).index(source) + run), NOISES[source]
    stream: Any = linear_noise(n + FRESH, D, exponent, rng) if exponent else separable(n + FRESH, D, 0.02, rng)
    (X, fresh), (y, truth) = (np.split(part, [n]) for part in (stream.X, stream.y))
    weights, starts, mistakes = _hypotheses(X, y)
    of_each = np.array([float(np.mean(np.where(fresh @ w >= 0.0, 1.0, -1.0) != truth)) for w in weights])
    in_force = np.searchsorted(starts, np.arange(n), side="right") - 1
    missed = X[np.where(np.sum(X * weights[in_force], axis=1) >= 0.0, 1.0, -1.0) != y]
    bounds = []
    for length in LENGTHS:
        u = length * stream.target
        hinge = float(np.sum(np.maximum(0.0, 1.0 - y * (X @ u))))
        expected = float(np.mean(np.maximum(0.0, 1.0 - truth * (fresh @ u))))
        bounds.append((_theorem_1(u, missed, hinge), hinge / n, expected))
    limit, hinge, expected = min(bounds)
    picked = penalised_hypothesis(weights, starts, X, y, DELTA)
    return [
        {"source": source, "n": n, "run": run, "mistakes": mistakes,
         "average": float(np.sum(of_each * np.diff([*starts, n])) / n),
         "average_bound": average_risk(mistakes, n, DELTA),
         "picked": float(of_each[picked]), "picked_bound": selected_risk(mistakes, n, DELTA),
         "limit": limit, "hinge": hinge, "expected_hinge": expected,
         "spectral_bound": selected_risk(mistakes, n, DELTA) + (limit - mistakes) / n}
    ]  # fmt: skip


def _hypotheses(X, y):
    """Return the weights in force (k, d), the examples seen when each came into force (k,), and the mistakes."""
    stored = np.flatnonzero(samplers.make("sop", D).run(X, y).stored)
    sampler, weights = samplers.make("sop", D), [np.zeros(D)]
    starts = np.concatenate([[0], stored + 1])
    for start, end in pairwise(starts):
        sampler.run(X[start:end], y[start:end])
        weights.append(sampler.weights)
    kept = starts < len(y)
    return np.array(weights)[kept], starts[kept], len(stored)


def _violations(risks, column, bound):
    """Share of the runs in which a risk is above its bound, beside the least slack by source."""
    slack = (risks[bound] - risks[column]).groupby(risks["source"], sort=False).min()
    words = ", ".join(f"{source} {value:.3f}" for source, value in slack.items())
    return Noted(float((risks[column] > risks[bound]).mean()), f"of {len(risks)} runs; least slack {words}")


def _share_below_a_coin(risks, bound):
    """Share of runs with a bound below 1/2, at the source and n where it is largest."""
    groups = risks.assign(bound=risks[bound], low=risks[bound] < 0.5).groupby(["n", "source"], sort=False)
    means = groups[["bound", "low"]].mean().reset_index()
    words = ", ".join(f"{row.source} n = {row.n}: {row.bound:.2f}" for row in means.itertuples())
    return Noted(means["low"].max(), f"of the runs (mean bound {words})")


def _by_source(sample, risks):
    return {str(source): own for source, own in sample.groupby(risks["source"], sort=False)}


def _last(risks):
    return risks[risks["n"] == risks["n"].max()]


RISK.claim(
    "{words}", at_most, "{as_printed}",
    "share of runs, all sources and n together, in which the risk is above its bound; delta is allowed", limit=DELTA,
    no_test="{idle}",
    of=[
        {"words": "with probability 1 - delta the average risk is at most M/n + sqrt((2/n) ln(1/delta))",
         "as_printed": "above (6)", "column": "average", "bound": "average_bound", "idle": ""},
        {"words": "with probability 1 - delta the picked hypothesis' risk is at most (6)", "as_printed": "(6)",
         "column": "picked", "bound": "picked_bound", "idle": "the bound is tens of times the risk"},
        {"words": "with M bounded by Theorem 1 (6) still holds", "as_printed": "a data-dependent bound",
         "column": "picked", "bound": "spectral_bound", "idle": ""},
    ],
)(_violations)  # fmt: skip
RISK.claim(
    "{words} something: at some n it is below the risk of a coin", at_least, "", "every run of some source and n",
    of={"words bound": (("(6) says", "picked_bound"), ("with M bounded by Theorem 1 it still says", "spectral_bound"))},
    limit=1.0,
)(_share_below_a_coin)  # fmt: skip


@RISK.claim(
    "the mistakes M are at most the bound of Theorem 1", each, "Theorem 1",
    "over the bound of the best reference classifier along the target, every run", high=1.0,
)  # fmt: skip
def _over_theorem_1(risks):
    return _by_source(risks["mistakes"] / risks["limit"], risks)


@RISK.claim(
    "the hinge loss in it is the expected one", between, "E[1 - Y u.X]_+",
    "hinge loss a round less that on fresh examples, at the largest n", low=-SLIGHTLY, high=SLIGHTLY,
)  # fmt: skip
def _hinge_beyond_expected(risks):
    return {
        str(source): against(own["hinge"], own["expected_hinge"])
        for source, own in _last(risks).groupby("source", sort=False)
    }


@RISK.claim(
    "the picked hypothesis' risk is just slightly higher than the average", below, "slightly",
    "risk beyond the average at the largest n, every source", limit=SLIGHTLY,
)  # fmt: skip
def _beyond_average(risks):
    rows = _last(risks)
    return _by_source(rows["picked"] - rows["average"], rows)


@RISK.claim(
    "(6) is not tight when there are very few mistakes", above, "not tight",
    "ln of bound over risk, of the separable source less that of the noisiest",
)  # fmt: skip
def _looseness(risks):
    rows = _last(risks)
    ratios = _by_source(rows["picked_bound"] / rows["picked"].clip(lower=1.0 / FRESH), rows)
    return np.log(ratios["separable"].to_numpy()) - np.log(ratios["noise 1"].to_numpy())


MARGINS = (0.3, 0.1, 0.03, 0.01, 0.003)  # gamma
EQUATION_5 = Experiment(
    "rls/equation-5", "the mistake bound in closed form, for data that are separable with a margin", "10 s"
)


@EQUATION_5.runs(over({"margin": MARGINS, "run": Sizes(range(2), range(10))}, rounds=Sizes(500, 5000)))
def mistakes(margin, run, seed, rounds):
    """Run the second-order Perceptron; return its mistakes, where they lie, and the right-hand side of (5)."""
    stream = separable(rounds, D, margin, generator(seed, WORKLOAD, run))
    missed = stream.X[samplers.make("sop", D).run(stream.X, stream.y).prediction != stream.y]
    along, m = np.abs(missed @ stream.target), len(missed)
    lambda_0 = float(np.mean(along**2))
    return [
        {"margin": margin, "run": run, "mistakes": m, "lambda_0": lambda_0,
         "near": float(np.mean(along <= sqrt(margin))), "step": separable_second_order_step(
             m, n_features=D, gamma=margin, lambda_0=lambda_0)}
    ]  # fmt: skip


@EQUATION_5.claim(
    "the mistakes satisfy (5)", each, "(5)",
    "over the right-hand side at the lambda_0 of the run, every run", high=1.0, no_test="a theorem on any such data",
)  # fmt: skip
def _over_step(mistakes):
    return by(mistakes["mistakes"] / mistakes["step"], "gamma = {:g}:", mistakes["margin"])


@EQUATION_5.claim(
    "many mistakes are made where the margin is at most sqrt(gamma)", at_least, "plausible",
    "share of them, at every gamma", limit=0.5,
)  # fmt: skip
def _near(mistakes):
    return {
        f"gamma = {margin:g}:": Noted(own["near"], f"(lambda_0/gamma {(own['lambda_0'] / own['margin']).mean():.2f})")
        for margin, own in mistakes.groupby("margin")
    }
