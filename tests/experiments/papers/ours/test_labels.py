"""Labels bought on streams: shares that are kept, and nobody sees a label it did not buy."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from experiments.papers.claims import NOTHING
from experiments.papers.kit import Setup
from experiments.papers.ours import labels
from experiments.papers.registry import all_experiments
from tests.tables import each


def drawn(rounds=400):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(rounds, 4))
    return X, np.where(X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * rng.normal(size=rounds) > 0, 1, -1)


@each("play", [
    lambda X, y: labels._sgd(0.2, (X, y), loss="log_loss", alpha=1e-4),
    lambda X, y: labels._sgd(0.2, (sparse.csr_matrix(X), y), loss="hinge", alpha=1e-4),
    lambda X, y: labels._ours("kept-rate", 0.2, (X, y), lately=True, c=100.0),
])  # fmt: skip
def test_a_label_that_was_not_asked_for_changes_nothing(play):
    X, y = drawn()
    right, asked = play(X, y)
    other, again = play(X, np.where(asked, y, -y))
    assert np.array_equal(asked, again)
    assert np.array_equal(right[asked], other[asked])
    assert (right != other)[~asked].all()
    assert 0.01 < asked.mean() <= 0.2 + 1 / 400
    assert right[200:].mean() > 0.7


def test_points_over_another_are_those_of_the_same_windows_and_the_rate_is_over_that_wanted():
    levels = {"ours": (0.9, 0.8), "a coin": (0.7, 0.75)}
    rows = [{"key": key, "wanted": 0.1, "window": i, "accuracy": level}
            for key, own in levels.items() for i, level in enumerate(own)]  # fmt: skip
    found = labels._over(pd.DataFrame(rows), ["a coin"])
    assert list(found) == ["at 10 %"]
    np.testing.assert_allclose(found["at 10 %"].sample, [20.0, 5.0])
    assert found["at 10 %"].note == "(85.00 against 72.50 % of a coin)"
    totals = pd.DataFrame([{"key": "ours", "wanted": 0.1, "rate": 0.098}])
    assert labels._kept(totals)["at 10 %"] == pytest.approx([0.98])


@each("name", "labelling-elec2 labelling-classes lpsm3-browsing")
def test_a_small_run_gives_verdicts_and_pictures(name):
    experiment = all_experiments()[f"ours/{name}"]
    tasks = experiment.sweep(experiment.setup(Setup(size="smoke", stand_in=experiment.data is not None)))
    record = {}
    for task in tasks.values():
        for table, rows in experiment.run(task).items():
            record[table] = pd.concat([record.get(table, pd.DataFrame()), pd.DataFrame(rows)])
    assert all(verdict.ours != NOTHING for _, verdict in experiment.verdicts(record))
    assert len(experiment.figures(record)) == 1
