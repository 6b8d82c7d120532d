import numpy as np
import pandas as pd
import pytest

from experiments.figures import replay as figures
from experiments.figures.labels import apart
from experiments.study.replay import ReplayConfig, details
from traces import Request

CONFIG = ReplayConfig(horizon=100)


@pytest.fixture(scope="module")
def found():
    starts = range(0, 400_000_000, 9_000_000)
    return details([Request("c", "s", start, start + 2_000_000, 300, start % 50_000 + 1) for start in starts], CONFIG)


def test_thinning_keeps_the_mean_of_equal_stretches_and_short_frames_as_they_are():
    frame = pd.DataFrame({"x": np.arange(600.0)})
    thin = figures.thinned(frame, 200)
    assert thin["x"].tolist() == [3.0 * k + 1 for k in range(200)]
    assert figures.thinned(frame.head(10), 200)["x"].tolist() == list(range(10))
    assert len(figures.thinned(frame.head(401), 200)) <= 200


def test_the_map_of_weights_spans_the_replay_and_has_a_row_an_expert(found):
    axes = figures.weights(found.polls).axes[0]
    (mesh,) = axes.collections
    edges = mesh.get_coordinates()[0, :, 0]
    assert edges[0] == 0.0
    assert edges[-1] == found.polls["time_s"].iloc[-1]
    assert (np.diff(edges) > 0).all()
    assert mesh.get_array().shape[0] == len(CONFIG.times_ms)


def test_names_of_lines_that_meet_are_apart_inside_the_picture_and_in_order():
    drawn = np.random.default_rng(0)
    for ends in (np.zeros(12), np.r_[np.zeros(6), np.ones(6)], np.sort(drawn.random(12)) ** 3):
        places = apart(ends, 0.055, 0.0, 1.0)
        assert (np.diff(places) >= 0.055 - 1e-12).all()
        assert places[0] >= -1e-12
        assert places[-1] <= 1.0 + 1e-12
    far = np.array([0.1, 0.4, 0.9])
    assert apart(far, 0.055, 0.0, 1.0) == pytest.approx(far)
    assert apart(np.array([0.5, 0.5]), 0.1, 0.0, 1.0) == pytest.approx([0.45, 0.55])


def test_the_competition_ends_at_the_regrets_of_the_frame(found):
    fixed = figures.competition(found.regrets, found.partitions).axes[0]
    step = max(1, len(found.regrets) // figures.STRETCHES)
    row = found.regrets.iloc[::step].iloc[-1]
    assert fixed.lines[0].get_ydata()[-1] == pytest.approx(row["polling_loss"] - row["best_expert_loss"])
