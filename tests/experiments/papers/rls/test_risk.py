"""The experiments of the survey on least squares: hypotheses in force, risks, and a set with an advantage."""

import numpy as np
import pandas as pd

from experiments.papers.rls import bounds
from lpsm import samplers
from lpsm.synthetic_streams import linear_noise


def test_the_hypotheses_in_force_predict_what_the_learner_predicted():
    stream = linear_noise(400, bounds.D, 1.0, np.random.default_rng(5))
    weights, starts, mistakes = bounds._hypotheses(stream.X, stream.y)
    in_force = np.searchsorted(starts, np.arange(400), side="right") - 1
    margins = np.sum(stream.X * weights[in_force], axis=1)
    log = samplers.make("sop", bounds.D).run(stream.X, stream.y)
    np.testing.assert_array_equal(np.where(margins >= 0.0, 1, -1), log.prediction)
    assert mistakes == np.sum(log.prediction != stream.y)
    assert starts[-1] < 400


def test_the_average_risk_weighs_each_hypothesis_by_its_rounds():
    (row,) = bounds.risks(source="separable", n=300, run=0, seed=1)
    assert 0.0 <= row["picked"] <= 0.5
    assert row["average"] * 300 >= 0.5  # the first round is a coin's
    assert row["picked_bound"] > row["average_bound"] > row["mistakes"] / 300


def test_a_bound_that_fails_too_often_is_told():
    rows = pd.DataFrame(
        {"source": ["noise 1"] * 10, "n": 10, "run": range(10), "picked": [0.4] * 10, "picked_bound": [0.5] * 9 + [0.3]}
    )
    (claim,) = (one for one in bounds.RISK.claims if one.printed == "(6)")
    verdict = claim.check({"risks": rows})
    assert not verdict.holds
    assert verdict.ours.startswith("0.100 of 10 runs")
    assert claim.check({"risks": rows[:9]}).holds


def test_the_flat_set_is_separated_by_its_vector_and_keeps_to_the_bound():
    task = {"source": "flat", "run": 0, "seed": 0, "rounds": 200}
    X, y, target, margin = bounds._draw(**task)
    assert np.min(y * (X @ target)) == margin >= bounds.MARGIN
    largest = np.linalg.eigh(X.T @ X)[1][:, 1]
    assert abs(largest @ target) < 0.1
    rows = pd.DataFrame(bounds.run_once(**task)["counts"])
    made = rows[rows["key"] == "sop"]
    assert len(made) == len(bounds.A)
    assert (made["mistakes"] <= made["bound"]).all()
