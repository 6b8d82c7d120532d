"""What records of growth say: laws that are put into them come out."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

from experiments.papers.adaptive.regret_growth import ADAPTIVE, ALL, HARD, classifiers
from experiments.papers.claims import measured
from experiments.papers.registry import all_experiments
from experiments.papers.theorems import disagreement_cap
from experiments.papers.thesis import sphere
from tests.tables import cases_of, near

CLAIMS = {claim.statement: claim for name in ("adaptive/remark-5", "thesis/table-3-1", "adaptive/noise-condition")
          for claim in all_experiments()[name].claims}  # fmt: skip


def grown(laws):
    """Rows of growth: (key, alpha, margin, labels as a function of n, average regret as a function of labels)."""
    n = np.unique(np.geomspace(10, 1e6, 40).astype(int))
    tables = []
    for key, alpha, margin, bought, average in laws:
        for run in range(3):
            had = bought(n)
            rows = {"key": key, "alpha": alpha, "margin": margin, "run": run, "n": n, "labels": had}
            tables.append(pd.DataFrame({**rows, "regret": n * average(had), "eigenvalue": 0.3}))
    return {"growth": pd.concat(tables, ignore_index=True)}


def test_a_power_of_the_labels_is_found_and_the_faster_one_is_told():
    record = grown(
        [(ALL, 1.0, 0.0, lambda n: 1.0 * n, lambda had: had**-0.7),
         (ADAPTIVE, 1.0, 0.0, lambda n: n**0.6, lambda had: had**-0.9)]
    )  # fmt: skip
    faster = CLAIMS[
        "for alpha > sqrt 3 - 1 the average regret falls faster in the labels that the adaptive sampler buys"
    ]
    (found,) = measured(faster.test.measure, record).values()
    assert_allclose(found.sample, -0.2)
    assert faster.check(record).holds
    swapped = record["growth"].assign(key=record["growth"]["key"].map({ALL: ADAPTIVE, ADAPTIVE: ALL}))
    assert not faster.check({"growth": swapped}).holds
    slow = CLAIMS["all labels: the average regret falls at least as fast in the labels as the bound"]
    assert slow.check(record).holds  # -0.7 against -2/3
    assert not slow.check(grown([(ALL, 1.0, 0.0, lambda n: 1.0 * n, lambda had: had**-0.6)])).holds


LABELS = "under a hard margin the adaptive sampler's labels are of order ln n"
FALL = "and falls exponentially in the labels that the adaptive sampler buys"


@cases_of("statement bought average holds", """
LABELS, lambda n: 50 * np.log(n), lambda had: np.exp(-had / 50), True
LABELS, lambda n: n**0.4, lambda had: np.exp(-had / 50), False
FALL, lambda n: 50 * np.log(n), lambda had: np.exp(-had / 50), True
FALL, lambda n: 50 * np.log(n), lambda had: had**-2.0, False
""", globals())  # fmt: skip
def test_logarithms_and_exponentials_are_told_from_powers(statement, bought, average, holds):
    assert CLAIMS[statement].check(grown([(ADAPTIVE, *HARD, bought, average)])).holds == holds


def test_what_a_halving_costs_tells_logarithms_from_powers():
    goals = (0.16, 0.08, 0.04, 0.02, 0.01)
    rows = [
        {"key": key, "d": 10, "run": run, "goal": goal, "labels": 90 + 50 * np.log(1 / goal), "mistakes": goal**-2.0,
         "rounds": 7 + 3 / goal}
        for key in sphere.ONLINE
        for run in range(3)
        for goal in goals
    ]  # fmt: skip
    record = {"goals": pd.DataFrame(rows)}
    for statement, exponent in (("labels grow as log 1/eps", 0.0), ("total errors grow as log 1/eps", 2.0),
        ("samples grow as 1/eps, but for logarithms", 1.0)):  # fmt: skip
        (slope,) = measured(CLAIMS[f"dkm: {statement}"].test.measure, record).values()
        assert_allclose(slope, exponent, atol=1e-9)
    assert CLAIMS["dkm: labels grow as log 1/eps"].check(record).holds
    assert not CLAIMS["dkm: total errors grow as log 1/eps"].check(record).holds
    assert CLAIMS["perceptron: mistakes grow as 1/eps^2"].check(record).holds


def test_the_constant_of_the_noise_condition_is_too_small_as_printed_and_the_one_that_follows_is_met():
    for alpha in (0.5, 1.0, 2.0):
        rows = pd.DataFrame(classifiers(alpha=alpha, margin=0.0, seed=0, quantiles=20_000))
        exact = {"wrong below": 1.0, "turned by": 0.5 ** (1.0 / (1.0 + alpha))}  # by hand, times ((1+a)/a)^(a/(1+a))
        for kind, own in rows.groupby("kind"):
            ratio = own["disagreement"] / own["regret"] ** (alpha / (1.0 + alpha))
            assert ratio.to_numpy() == near(exact[kind] * (1.0 + 1.0 / alpha) ** (alpha / (1.0 + alpha)), 0.01)
        caps = [disagreement_cap(regret, alpha=alpha, c=1.0) for regret in rows["regret"]]
        assert (rows["disagreement"] <= caps).all()
        claim = CLAIMS["the equivalent form: P(f* f < 0) <= c R(f)^(alpha/(1+alpha)) for all f"]
        for factor, right in ((1.0, False), (9.0, True)):
            assert claim.check({"classifiers": rows.assign(alpha=alpha, regret=factor * rows["regret"])}).holds == right
