"""Samplers over news: what a record of counts says, by hand."""

import numpy as np
import pandas as pd
import pytest

from experiments import datasets
from experiments.datasets.generated import generated_news
from experiments.papers import news, readings
from experiments.papers.registry import Setup
from lpsm.samplers import RunLog

COUNTS = ("rounds", "tp", "predicted", "positive", "queried", "stored")


def record_of(rows):
    """Rows of (rank, key, value, *COUNTS)."""
    named = [
        {"topic": f"t{rank}", "rank": rank, "key": key, "value": value, "run": 0}
        | dict(zip(COUNTS, counts, strict=True))
        for rank, key, value, *counts in rows
    ]
    return {"totals": pd.DataFrame(named)}


def test_windows_go_from_the_first_round_to_the_last_and_count_what_is_in_them():
    rng = np.random.default_rng(3)
    prediction = rng.choice([-1, 1], 103).astype(np.int8)
    queried = rng.random(103) < 0.4
    stored = queried & (rng.random(103) < 0.5)
    y = rng.choice([-1, 1], 103).astype(np.int8)
    total, windows = news.counts(RunLog(prediction, queried, stored, np.zeros(103)), y)
    assert total == {
        "rounds": 103, "tp": int(np.sum((prediction > 0) & (y > 0))), "predicted": int(np.sum(prediction > 0)),
        "positive": int(np.sum(y > 0)), "queried": int(queried.sum()), "stored": int(stored.sum()),
    }  # fmt: skip
    assert [row["t"] for row in windows] == [*range(20, 101, 5), 103]
    for row in windows:
        inside = slice(row["t"] - 20, row["t"])
        assert row["queried"] == queried[inside].sum()
        assert row["tp"] == np.sum((prediction[inside] > 0) & (y[inside] > 0))


def test_f_without_a_true_positive_is_nought_or_undefined():
    rows = record_of([(0, "sop", np.nan, 10, 0, 3, 2, 10, 1), (1, "sop", np.nan, 10, 0, 0, 0, 10, 1)])
    f = readings.of("sop")(readings.scored(rows))["f"]
    assert f[0] == 0.0
    assert np.isnan(f[1])
    assert readings.mean_by_value(readings.scored(rows), "sop")["f"].iloc[0] == 0.0


def test_a_value_is_chosen_on_the_other_half_of_the_topics():
    rows = []
    for rank in range(8):  # on even topics .1 is the better value, on odd ones .2
        for value in (0.1, 0.2):
            good = (value == 0.1) == (rank % 2 == 0)
            rows.append((rank, "ssmd", value, 100, 8 if good else 2, 10, 10, 20, 5))
    chosen = readings.chosen("ssmd", readings.most_f())(readings.scored(record_of(rows)))
    assert chosen["value"].tolist() == [0.2, 0.1] * 4
    assert chosen["f"].tolist() == [0.2] * 8


def test_at_a_label_rate_between_two_values_f_is_interpolated_in_its_logarithm():
    rows = [
        (rank, "ss", value, 1000, tp + rank, 10, 10, queried, 5)
        for rank in range(3)
        for value, tp, queried in ((0.1, 2, 10), (0.2, 6, 40))
    ]
    scores = readings.scored(record_of(rows))
    np.testing.assert_allclose(readings.at_rate("ss", 0.02)(scores)["f"], [0.4, 0.5, 0.6])
    assert readings.at_rate("ss", 0.05)(scores).empty
    assert readings.at_rate("ss", 0.005)(scores).empty


def a_pair(f_of_ss, f_of_sop, rate_of_ss=0.1):
    """Topics with these F of SS, at K = 1, and of the second-order Perceptron with all labels: 2tp / 100."""
    return record_of(
        [
            row
            for rank, (ss, sop) in enumerate(zip(f_of_ss, f_of_sop, strict=True))
            for row in (
                (rank, "ss", 1.0, 1000, round(50 * ss), 50, 50, round(1000 * rate_of_ss), 5),
                (rank, "sop", np.nan, 1000, round(50 * sop), 50, 50, 1000, 5),
            )
        ]
    )


def test_samplers_are_paired_over_topics_beside_their_means_and_label_rates():
    (found,) = readings.paired("f", readings.of("ss"), readings.of("sop"))(a_pair([0.4, 0.6], [0.3, 0.9])).values()
    np.testing.assert_allclose(found.sample, [0.1, -0.3])
    assert found.words == "(0.5 with 10 % of the labels against 0.6 with 100 % of the labels)"


def test_the_first_and_the_last_window_are_read_at_the_values_selected():
    rows = record_of([(rank, "ss", k, 10, 0, 1, 1, 10 * rank + k, 0) for rank in (0, 1) for k in (1, 3)])["totals"]
    windows = pd.concat([rows.assign(t=t, queried=rows["queried"] * t) for t in (1, 2, 3)])
    others = windows.assign(key="sop", queried=0)
    selection = pd.DataFrame({"value": [3, 1]}, index=[0, 1])
    record = {"windows": pd.concat([windows, others])}
    assert readings.ends(record, "queried", selection, "ss").tolist() == [9.0, 33.0]
    assert readings.ends(record, "queried", selection, "ss", first=True).tolist() == [3.0, 11.0]


def test_the_best_value_is_taken_of_those_that_are_sparing_enough():
    table = pd.DataFrame({"f": [0.5, 0.7, 0.9], "rate": [0.1, 0.2, 0.6]}, index=[1.0, 3.0, 10.0])
    assert readings.most_f()(table, table) == 10.0
    assert readings.most_f(0.25)(table, table) == 3.0
    assert readings.rate_near(0.15)(table, table) == 3.0  # in ratio .2 is nearer to .15 than .1 is
    assert readings.below_f(lambda _: 0.8)(table, table) == 3.0
    assert readings.below_f(lambda _: 0.4)(table, table) == 1.0  # none is below: the nearest


@pytest.mark.parametrize(("f", "cheapest"), [(0.7, 1.0), (0.69, 1.0), (0.68, 3.0)])
def test_the_cheapest_value_within_a_hundredth_of_the_reference_is_taken(f, cheapest):
    rows = [(0, "ss", 1.0, 999, round(100 * f), 100, 100, 10, 5), (0, "ss", 3.0, 999, 72, 100, 100, 20, 5)]
    scores = readings.scored(record_of([*rows, (0, "sop", np.nan, 999, 70, 100, 100, 999, 5)]))
    assert readings.cheapest_near("sop")(readings.mean_by_value(scores, "ss"), scores) == cheapest


def test_generated_news_has_uneven_topics_whose_words_tell_them():
    stream = generated_news(3000, 20, np.random.default_rng(0))
    shares = stream.y.mean(axis=0)
    assert np.all(np.diff(shares) <= 0)
    assert shares[0] > 0.2
    assert 0.005 < shares[-1] < 0.03
    np.testing.assert_allclose(np.asarray(stream.X.multiply(stream.X).sum(axis=1)).ravel(), 1.0)
    log = news.make("sop", stream.X, np.random.default_rng(0), {}).run(stream.X, np.where(stream.y[:, 1], 1, -1))
    later = slice(1500, None)
    assert np.mean((log.prediction > 0)[later] != stream.y[later, 1]) < 0.5 * shares[1]


@pytest.mark.long
def test_the_topics_of_more_than_one_percent_are_those_the_module_names():
    from experiments.datasets.texts import reuters

    try:
        stream = reuters(datasets.data_folder(), 60)
    except (ValueError, FileNotFoundError):
        pytest.skip("no Reuters-21578 here")
    counts = stream.y.sum(axis=0)
    share = counts / len(stream.y)
    assert np.flatnonzero(share > 0.01).tolist() == list(news.ABOVE_1)
    assert np.flatnonzero((share > 0.01) & (share < 0.05)).tolist() == list(news.FROM_1_TO_5)
    assert np.flatnonzero(counts >= 20).tolist() == list(news.ABOVE_20)


def test_a_sweep_is_a_task_a_topic_and_smaller_when_asked():
    cases = (("sop", {}, 1), ("ssmd", {"K": 0.1}, 1))
    full = news.sweep(cases)(Setup())
    assert [task["rank"] for task in full.values()] == list(news.ABOVE_1)
    assert len(news.sweep(cases)(Setup(size="smoke"))) == 4
