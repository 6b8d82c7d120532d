import numpy as np
import pandas as pd
import pytest

from experiments.figures import replay as figures
from tests.experiments.figures.drawn import replayed


def test_thinning_keeps_the_mean_of_equal_stretches_and_short_frames_as_they_are():
    frame = pd.DataFrame({"x": np.arange(600.0)})
    thin = figures.thinned(frame, 200)
    assert thin["x"].tolist() == [3.0 * k + 1 for k in range(200)]
    assert figures.thinned(frame.head(10), 200)["x"].tolist() == list(range(10))
    assert len(figures.thinned(frame.head(401), 200)) <= 200


def test_the_map_of_weights_spans_the_replay_and_the_competition_ends_at_the_regrets():
    found = replayed()
    (mesh,) = figures.weights(found.polls).axes[0].collections
    edges = mesh.get_coordinates()[0, :, 0]
    assert edges[0] == 0.0
    assert edges[-1] == found.polls["time_s"].iloc[-1]
    assert (np.diff(edges) > 0).all()
    assert mesh.get_array().shape[0] == sum(name.startswith("weight_") for name in found.polls)
    fixed, _, segments = figures.competition(found.regrets, found.partitions).axes
    step = max(1, len(found.regrets) // figures.STRETCHES)
    row, last = found.regrets.iloc[::step].iloc[-1], found.regrets.iloc[-1]
    assert fixed.lines[0].get_ydata()[-1] == pytest.approx(row["polling_loss"] - row["best_expert_loss"])
    curves = {line.get_label(): line.get_ydata() for line in segments.lines}
    assert curves["best k segments"].tolist() == found.partitions["loss"].tolist()
    assert (curves["mixture loss"] == last["mixture_loss"]).all()
