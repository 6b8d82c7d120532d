"""Labels bought on streams that drift, beside twins that ask by chance."""

import numpy as np
import pandas as pd
import pytest

from experiments.papers.ours import streams


@pytest.fixture(scope="module")
def stream_rows():
    task = {"stream": "elec2", "seed": 1, "run": 0, "rates": [0.1, 0.4], "rounds": 900, "stand_in": True, "folder": ""}
    with pytest.MonkeyPatch.context() as patch:  # two values a grid: what is tuned is not what is tested
        for grid, value in (("GRID", 1.0), ("C_FACTORS", 20.0)):
            patch.setattr(streams, grid, (value, 2.0 * value))
        return streams.runs(**task)


def test_a_twin_asks_for_as_many_labels_and_nothing_is_counted_before_the_tuning_ends(stream_rows):
    totals = pd.DataFrame(stream_rows["totals"])
    for key in streams.SAMPLERS:
        for wanted in (0.1, 0.4):
            own, twin = (totals[(totals.key == name) & (totals.wanted == wanted)] for name in (key, f"{key} at random"))
            share = float(own.rate.iloc[0])
            assert abs(share - float(twin.rate.iloc[0])) < 5 * np.sqrt(share * (1 - share) / 720) + 1e-9
    windows = pd.DataFrame(stream_rows["windows"])
    assert (windows.groupby(["key", "wanted"])["rounds"].sum() == 720).all()
    full = totals[totals.key == "sop"].iloc[0]
    own = windows[windows.key == "sop"]
    assert np.average(own.accuracy, weights=own.rounds) == pytest.approx(full.accuracy)


def test_repeating_a_label_repeats_the_last_that_was_there_to_repeat(stream_rows):
    _, y = streams._stream("elec2", "", True, 1)
    y = y[:900]
    totals = pd.DataFrame(stream_rows["totals"]).set_index("key")
    assert totals.loc["no change", "accuracy"] == np.mean(y[180:] == y[179:-1])
    coins = streams.generator(1, streams.POLICY, 50)
    for wanted in (0.1, 0.4):
        last, right = y[179], 0
        for label, coin in zip(y[180:], coins.random(720), strict=True):
            right += label == last
            last = label if coin < wanted else last
        found = pd.DataFrame(stream_rows["totals"])
        found = found[(found.key == "last bought") & (found.wanted == wanted)]
        assert float(found.accuracy.iloc[0]) == right / 720
