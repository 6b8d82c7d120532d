"""Digits of section 4.6 of the thesis, and its SVMs: labels bought, folds, and what a record says."""

import numpy as np
import pandas as pd
from numpy.random import default_rng
from sklearn.svm import SVC

from experiments.papers.thesis import digit_runs, digits, svm
from experiments.papers.thesis.digit_runs import KEYS, Fold, trace
from lpsm import samplers
from lpsm.synthetic_streams import uniform_sphere
from tests.oracles.first_touch import first_touch
from tests.tables import cases_of, each

PARAMETERS = dict(zip(KEYS, ({"R": 4}, {"R": 4, "eta": 0.3}, *2 * [{"b": 0.1}], *2 * [{"rate": 0.5}]), strict=True))
USPS, MNIST = "USPS 0vAll", "MNIST 0v1"


def claim_of(experiment, words):
    """The one claim of an experiment whose statement has these words."""
    (claim,) = (claim for claim in experiment.claims if words in claim.statement)
    return claim


def a_fold(seed=0, rounds=700):
    rng = default_rng(seed)
    stream = uniform_sphere(rounds + 100, 6, rng)
    parts = stream.X[100:], stream.y[100:], stream.X[:100], stream.y[:100]
    return Fold(0, *parts, default_rng(seed))


@each("key", KEYS)
def test_a_run_finds_what_predicting_anew_after_every_update_finds(key):
    fold, run = a_fold(), trace(key, PARAMETERS[key], a_fold())
    for error in (0.25, 0.08, 0.0):
        make = lambda: samplers.make(key, 6, rng=default_rng(0), **PARAMETERS[key])  # noqa: E731
        labels, spent = first_touch(make, fold.X, fold.y, fold.test, fold.truth, error)
        assert (run.first(error), run.spent) == (-1 if labels is None else labels, spent)
    half = make().run(fold.X, fold.y).queried[len(fold.y) // 2 :]
    assert run.late == half.sum()


def test_folds_part_the_examples_and_come_again_the_same(monkeypatch):
    X, y = np.column_stack([np.arange(130.0)] * 4), np.resize([1.0, -1.0], 130)
    monkeypatch.setattr(digit_runs, "tables", lambda *_: (X, y))
    names = ("problem", "folder", "stand_in", "seed", "split", "holdout", "largest", "folds")
    task = dict(zip(names, ("", "", True, 3, 1, 30, 90, 4), strict=True))
    held, rest = digit_runs.holdout(task)
    assert len({*held, *rest}) == len(held) + len(rest) == 30 + 90
    first, again = (list(digit_runs.folds(task, 2)) for _ in range(2))
    assert sorted(np.concatenate([fold.test[:, 0] for fold in first])) == sorted(rest)
    for fold, same in zip(first, again, strict=True):
        assert sorted([*fold.X[:, 0], *fold.test[:, 0]]) == sorted(rest)
        assert np.array_equal(fold.X, same.X)
        assert fold.coins.random() == same.coins.random()


def test_runs_that_never_get_there_are_left_out():
    runs = pd.DataFrame({"problem": USPS, "split": 0, "key": "dkm", "first": [30, -1, 50]})
    assert digits.means(runs).loc[USPS, "dkm"] == 40.0


@each("never, said", [(("dkm-perceptron",), "has no number"), (KEYS, "nothing of it")])
def test_an_algorithm_that_never_gets_there_is_not_the_fastest(never, said):
    first = [-1 if key in never else 40 + place for place, key in enumerate(KEYS)]
    runs = pd.DataFrame({"problem": USPS, "split": 0, "key": KEYS, "first": first, "spent": 470})
    verdict = claim_of(digits.FIG_4_6, f"{USPS}: dkm-perceptron gets to the test error").check({"runs": runs})
    assert not verdict.holds
    assert said in verdict.why_not


def test_accuracies_that_some_run_never_reached_are_not_drawn():
    touches = pd.DataFrame({"problem": MNIST, "key": "dkm", "error": [0.1, 0.1, 0.05, 0.05], "labels": [4, 6, 9, -1]})
    table = digits.efficiency(touches, MNIST)["dkm"]
    assert table.loc[0.1] == 5.0
    assert np.isnan(table.loc[0.05])


@cases_of("labels said holds", """
{"dkm": (10, 12, 14)}, "MNIST 0v1: 0.133 (dkm 4, cbgz-dkm 30 over 3", True
{"dkm": (-1, -1, -1)}, "1.00 (dkm 0, cbgz-dkm 0 over 0 thresholds; dkm-perceptron 30", False
dict.fromkeys(("dkm", "dkm-perceptron"), (10, -1, -1)), "no number (dkm 0, cbgz-dkm 0 over 1 thres", False
""")  # fmt: skip
def test_labels_that_cannot_be_compared_fail(labels, said, holds):
    table = pd.DataFrame({key: labels.get(key, (10, 20, 40)) for key in KEYS}, index=[0.04, 0.03, 0.02])
    touches = table.melt(var_name="key", value_name="labels", ignore_index=False).rename_axis("error").reset_index()
    verdict = claim_of(digits.FIG_4_5, "increase much slower").check({"touches": touches.assign(problem=MNIST)})
    assert said in verdict.ours
    assert verdict.holds == holds


# -- SVMs --------------------------------------------------------------------------------------------------------
def test_an_svm_with_random_queries_is_an_svm_on_so_many_of_the_pool():
    fold = a_fold(4, rounds=150)

    def error_after(count):
        if len(set(fold.y[:count])) == 1:
            return np.mean(fold.truth != fold.y[0])
        return 1.0 - SVC(kernel="linear", C=10.0).fit(fold.X[:count], fold.y[:count]).score(fold.test, fold.truth)

    expected = next(count for count in range(1, 151) if error_after(count) <= 0.06 + 1e-9)
    assert svm.labels_needed(fold, 0.06, 10.0, simple=False) == expected
    assert svm.labels_needed(fold, 0.06, 10.0, simple=False, most=expected - 1) == -1


def test_simple_asks_about_what_lies_nearest_to_the_plane():
    near, far = np.linspace(-1.0, 1.0, 20), np.resize([-9.0, 12.0], 80) + np.linspace(0.0, 1.0, 80)
    X, test = (np.column_stack([place, np.ones(len(place))]) for place in (np.concatenate([far, near]), near))
    fold = Fold(0, X, np.where(X[:, 0] > 0.55, 1.0, -1.0), test, np.where(near > 0.55, 1.0, -1.0), None)
    assert svm.labels_needed(fold, 0.0, 1000.0, simple=True) < 12
    assert svm.labels_needed(fold, 0.0, 1000.0, simple=False) > 80
