"""The risk bounds of Cesa-Bianchi 2007, section 3.2: average risk, and the risk of the hypothesis that is picked.

What it models: the second-order Perceptron (a = 1) over independent examples on the sphere, of a separable source and
of two sources with linear noise.  The hypotheses are the weights in force between its updates; the one
picked has the fewest penalised mistakes on what came after it.  Risks are measured on 20,000 fresh examples
of the source; their error, about .003, counts as a violation.  For (6) in terms of the data's spectrum the
mistakes are bounded by Theorem 1, with the best length of a reference classifier along the target.
What it leaves out: other learners, for which the bounds hold as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from experiments.papers.claims import Claim, Noted, point
from experiments.papers.kit import Experiment, Sizes, over
from experiments.papers.predicates import above, at_least, at_most, below, between, each
from experiments.papers.proved import penalised_hypothesis, selected_risk
from lpsm import samplers
from lpsm.bounds.risk import average_risk
from lpsm.bounds.second_order import log_determinant, second_order_mistakes
from lpsm.randomness import WORKLOAD, generator
from lpsm.synthetic_streams import linear_noise, separable

__all__ = ["EXPERIMENTS"]

D, DELTA, MARGIN, FRESH = 20, 0.05, 0.02, 20_000
SOURCES: Mapping[str, float] = {"separable": 0.0, "noise 4": 4.0, "noise 1": 1.0}  # name -> exponent of the noise
SLIGHTLY = 0.02
LENGTHS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)  # of the reference classifiers of Theorem 1, along the target
RISK = Experiment(
    "rls/risk-bound", "the average risk, and the risk of the picked hypothesis, beside their bounds", "2 min"
)


@RISK.runs(
    over(
        {"source": SOURCES, "n": Sizes((500,), (1250, 5000, 10_000)), "run": Sizes(range(3), range(20))},
        key="{source} n {n} run {run}",
    )
)
def risks(source: str, n: int, run: int, seed: int) -> list[dict[str, Any]]:
    """Run over n examples; return average risk, that of the picked hypothesis, and the bounds on both."""
    rng = generator(seed, WORKLOAD, 1000 * list(SOURCES).index(source) + run)
    exponent = SOURCES[source]
    stream: Any = linear_noise(n + FRESH, D, exponent, rng) if exponent else separable(n + FRESH, D, MARGIN, rng)
    X, y = stream.X[:n], stream.y[:n]
    weights, starts, mistakes = _hypotheses(X, y)
    fresh, truth = stream.X[n:], stream.y[n:]
    of_each = np.array([float(np.mean(np.where(fresh @ w >= 0.0, 1.0, -1.0) != truth)) for w in weights])
    limit, hinge, expected = _theorem_1(X, y, stream.target, _missed(X, y, weights, starts), fresh, truth)
    picked = penalised_hypothesis(weights, starts, X, y, DELTA)
    return [
        {"source": source, "n": n, "run": run, "mistakes": mistakes, "hypotheses": len(weights),
         "average": float(np.sum(of_each * np.diff([*starts, n])) / n),
         "average_bound": average_risk(mistakes, n, DELTA),
         "picked": float(of_each[picked]), "picked_bound": selected_risk(mistakes, n, DELTA),
         "picked_at": int(starts[picked]), "limit": limit, "hinge": hinge, "expected_hinge": expected,
         "spectral_bound": selected_risk(mistakes, n, DELTA) + (limit - mistakes) / n}
    ]  # fmt: skip


def _missed(X: Any, y: Any, weights: Any, starts: Any) -> Any:
    """Return the examples that were mistaken, (m, d): those that a hypothesis of its own follows, and the last one."""
    in_force = np.searchsorted(starts, np.arange(len(y)), side="right") - 1
    return X[np.where(np.sum(X * weights[in_force], axis=1) >= 0.0, 1.0, -1.0) != y]


def _theorem_1(X: Any, y: Any, target: Any, missed: Any, fresh: Any, truth: Any) -> tuple[float, float, float]:
    """Return the least bound on the mistakes along the target, its hinge loss a round, and that on fresh examples."""
    bounds = []
    for length in LENGTHS:
        u = length * target
        hinge = float(np.sum(np.maximum(0.0, 1.0 - y * (X @ u))))
        limit = second_order_mistakes(
            hinge=hinge, quadratic=float(np.sum((missed @ u) ** 2)), comparator_norm=length,
            log_det=log_determinant(missed),
        )  # fmt: skip
        bounds.append((limit, hinge / len(y), float(np.mean(np.maximum(0.0, 1.0 - truth * (fresh @ u))))))
    return min(bounds)


def _hypotheses(X: Any, y: Any) -> tuple[Any, Any, int]:
    """Return the weights in force (k, d), the examples seen when each came into force (k,), and the mistakes."""
    stored = np.flatnonzero(samplers.make("sop", D).run(X, y).stored)
    sampler, weights = samplers.make("sop", D), [np.zeros(D)]
    starts = np.concatenate([[0], stored + 1])
    for start, end in pairwise(starts):
        sampler.run(X[start:end], y[start:end])
        weights.append(sampler.weights)
    kept = starts < len(y)
    return np.array(weights)[kept], starts[kept], len(stored)


# -- claims --------------------------------------------------------------------------------------------------------


def _violations(risks: pd.DataFrame, column: str, bound: str) -> Noted:
    """Share of the runs in which a risk is above its bound, beside the least slack by source."""
    slack = (risks[bound] - risks[column]).groupby(risks["source"], sort=False).min()
    words = ", ".join(f"{source} {value:.3f}" for source, value in slack.items())
    return Noted(float((risks[column] > risks[bound]).mean()), f"of {len(risks)} runs; least slack {words}")


def _share_below_a_coin(risks: pd.DataFrame, bound: str) -> Noted:
    """Share of runs with a bound below 1/2, at the source and n where it is largest."""
    groups = (
        risks[["n", "source"]].assign(bound=risks[bound], low=risks[bound] < 0.5).groupby(["n", "source"], sort=False)
    )
    means: Any = groups.mean().reset_index()
    words = ", ".join(f"{row.source} n = {row.n}: {row.bound:.2f}" for row in means.itertuples())
    return Noted(means["low"].max(), f"of the runs (mean bound {words})")


def _at_most_delta(statement: str, printed: str, column: str, bound: str, no_test: str = "") -> Claim:
    often = "share of runs, all sources and n together, in which the risk is above its bound; delta is allowed"
    test = at_most(partial(_violations, column=column, bound=bound), DELTA)
    return Claim(statement, test, printed, often, no_test=no_test)


def _says_something(statement: str, bound: str) -> Claim:
    test = at_least(partial(_share_below_a_coin, bound=bound), 1.0)
    return Claim(f"{statement} something: at some n it is below the risk of a coin", test,
                 reason="every run of some source and n")  # fmt: skip


def _by_source(sample: pd.Series, risks: pd.DataFrame) -> dict[str, pd.Series]:
    return {str(source): own for source, own in sample.groupby(risks["source"], sort=False)}


RISK.claims += [
    _at_most_delta("with probability 1 - delta the average risk is at most M/n + sqrt((2/n) ln(1/delta))", "above (6)",
                   "average", "average_bound"),
    _at_most_delta("with probability 1 - delta the picked hypothesis' risk is at most (6)", "(6)",
                   "picked", "picked_bound", "the bound is tens of times the risk"),
    _says_something("(6) says", "picked_bound"),
]  # fmt: skip


@RISK.claim(
    "the mistakes M are at most the bound of Theorem 1", each, "Theorem 1",
    "over the bound of the best reference classifier along the target, every run", high=1.0,
)  # fmt: skip
def _over_theorem_1(risks: pd.DataFrame) -> Any:
    return _by_source(risks["mistakes"] / risks["limit"], risks)


RISK.claims += [
    _at_most_delta("with M bounded by Theorem 1 (6) still holds", "a data-dependent bound", "picked", "spectral_bound"),
    _says_something("and still says", "spectral_bound"),
]


def _last(risks: pd.DataFrame) -> Any:
    return risks[risks["n"] == risks["n"].max()]


@RISK.claim(
    "the hinge loss in it is the expected one", between, "E[1 - Y u.X]_+",
    "hinge loss a round less that on fresh examples, at the largest n", low=-SLIGHTLY, high=SLIGHTLY,
)  # fmt: skip
def _hinge_beyond_expected(risks: pd.DataFrame) -> Any:
    return {
        str(source): Noted(own["hinge"] - own["expected_hinge"], f"(expected {own['expected_hinge'].mean():.3f})")
        for source, own in _last(risks).groupby("source", sort=False)
    }


@RISK.claim(
    "the picked hypothesis' risk is just slightly higher than the average", below, "slightly",
    "risk beyond the average at the largest n, every source", limit=SLIGHTLY,
)  # fmt: skip
def _beyond_average(risks: pd.DataFrame) -> Any:
    rows = _last(risks)
    return _by_source(rows["picked"] - rows["average"], rows)


@RISK.claim(
    "(6) is not tight when there are very few mistakes", above, "not tight",
    "ln of bound over risk, of the separable source less that of the noisiest",
)  # fmt: skip
def _looseness(risks: pd.DataFrame) -> Noted:
    rows = _last(risks)
    ratios = _by_source(rows["picked_bound"] / rows["picked"].clip(lower=1.0 / FRESH), rows)
    words = ", ".join(f"{source} {ratios[source].median():.1f} times the risk" for source in SOURCES)
    logarithms = {source: np.log(own.to_numpy()) for source, own in ratios.items()}
    return Noted(logarithms["separable"] - logarithms["noise 1"], f"(bound {words}, medians)")


@RISK.picture("risk-bound", x="examples", y="risk", x_scale="log", y_scale="log")
def _curves(risks: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    names = {"picked": "picked hypothesis", "average": "average of all"}
    names |= {"picked_bound": "bound (6)", "spectral_bound": "(6) by Theorem 1"}
    for source, rows in risks.groupby("source", sort=False):
        points = [point(name, n, own) for column, name in names.items() for n, own in rows.groupby("n")[column]]
        yield str(source), pd.DataFrame(points)


EXPERIMENTS = (RISK,)
