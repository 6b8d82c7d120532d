"""Samplers over news: what a record of counts says, by hand."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

from experiments import datasets
from experiments.datasets.words import generated_news
from experiments.papers import news
from lpsm.samplers import RunLog
from tests.tables import cases_of, near, unequal

COUNTS = ("rounds", "tp", "predicted", "positive", "queried", "stored")


def record_of(rows):
    """A record of rows of (rank, key, value, *COUNTS), or of text with such lines."""
    if isinstance(rows, str):
        cells = [line.split() for line in rows.strip().splitlines()]
        rows = [(int(rank), key, float(value), *map(int, counts)) for rank, key, value, *counts in cells]
    totals = pd.DataFrame(rows, columns=["rank", "key", "value", *COUNTS])
    return {"totals": totals.assign(topic="t" + totals["rank"].astype(str), run=0)}


def test_windows_go_from_the_first_round_to_the_last_and_count_what_is_in_them():
    rng = default_rng(3)
    prediction = rng.choice([-1, 1], 103).astype(np.int8)
    queried = rng.random(103) < 0.4
    stored = queried & (rng.random(103) < 0.5)
    y = rng.choice([-1, 1], 103).astype(np.int8)
    total, windows = news.counts(RunLog(prediction, queried, stored, np.zeros(103)), y)
    assert total == {"rounds": 103, "tp": int(np.sum((prediction > 0) & (y > 0))),
        "predicted": int(np.sum(prediction > 0)), "positive": int(np.sum(y > 0)), "queried": int(queried.sum()),
        "stored": int(stored.sum())}  # fmt: skip
    assert [row["t"] for row in windows] == [*range(20, 101, 5), 103]
    for row in windows:
        inside = slice(row["t"] - 20, row["t"])
        assert row["queried"] == queried[inside].sum()
        assert row["tp"] == np.sum((prediction[inside] > 0) & (y[inside] > 0))


def test_counts_become_rates_by_hand_and_coins_are_averaged():
    first = record_of("""
        0 ss 1 100 6 10 20 30 5
        1 ss nan 100 0 0 0 10 1
        2 ss nan 100 0 3 2 10 1
    """)["totals"]
    second = record_of("0 ss 1 100 3 10 10 10 5")["totals"].assign(run=1)
    scores = news.scored({"totals": pd.concat([first, second])})
    windows = pd.concat([first.assign(t=t, tp=t) for t in (2, 1)])
    assert scores.loc[1, ["f", "precision", "recall"]].isna().all()
    assert not unequal("""
scores["value"].tolist() -> [1.0, 0.0, 0.0]  # none is 0
scores.loc[0, ["f", "precision", "recall", "rate"]].tolist() -> [0.35, 0.45, 0.3, 0.2] ; "run" in scores -> False
mean_by_value(scores, "ss")["f"].tolist() -> [0.0, 0.35]  # what is none is left out
of("ss", 1.0)(scores).index.tolist() -> [0] ; of("ss")(scores.iloc[::-1]).index.tolist() -> [0, 1, 2]
scored({"windows": windows}, "windows").groupby("t")["tp"].first().to_dict() -> {1: 1.0, 2: 2.0}
""", vars(news) | {"scores": scores, "windows": windows})  # fmt: skip


def test_a_value_is_chosen_on_the_other_half_of_the_topics():
    rows = []
    for rank in range(8):  # on even topics .1 is the better value, on odd ones .2
        for value in (0.1, 0.2):
            good = (value == 0.1) == (rank % 2 == 0)
            rows.append((rank, "ssmd", value, 100, 8 if good else 2, 10, 10, 20, 5))
    chosen = news.chosen("ssmd", news.most_f())(news.scored(record_of(rows)))
    assert chosen["value"].tolist() == [0.2, 0.1] * 4
    assert chosen["f"].tolist() == [0.2] * 8


def test_samplers_are_compared_at_the_label_rates_that_both_reach_interpolated_in_the_logarithm():
    rows = [(rank, key, value, 1000, tp + rank * (key == "ss"), 10, 10, queried, 5) for rank in range(2)
        for key, tps in (("ss", (2, 4, 7)), ("ssmd", (1, 3, 3)))
        for value, tp, queried in zip((0.3, 0.1, 0.2), tps, (10, 40, 160), strict=True)]  # fmt: skip
    rows += [(rank, "sop", np.nan, 1000, 10, 10, 10, 1000, 5) for rank in range(2)]
    record = record_of(rows)
    gains = news.at_rates("f", "ss", "ssmd", (0.005, 0.02, 0.08, 0.16, 0.5))(record)
    # of SS .3 and .4, .55 and .65, .7 and .8; of SSMD .2, .3, .3
    assert {name: gain.sample.tolist() for name, gain in gains.items()} == {
        name: near(gain)
        for name, gain in (("at 2 %", [0.1, 0.2]), ("at 8 %", [0.25, 0.35]), ("at 16 %", [0.4, 0.5]))}  # fmt: skip
    assert gains["at 8 %"].note == "(0.6 with 8 % of the labels against 0.3 with 8 % of the labels)"
    percent = news.paired("rate", news.at_rate("ss", 0.02), news.of("sop"), percent=True)(record)
    assert percent[""].sample.tolist() == near([-98.0, -98.0])
    assert news.paired("f", news.of("ss", 0.7), news.of("sop"))(record) == {}
    frame = news.trade_off(news.scored(record), ("ss", "ssmd"), ("sop",))
    assert list(frame["group"].value_counts(sort=False)) == [3, 3, 2]
    ss, reference = frame[frame["group"] == "SS"], frame[frame["reference"].eq(True)]
    assert dict(zip(ss["x"], ss["y"], strict=True)) == near({4.0: 0.45, 16.0: 0.75, 1.0: 0.25})
    assert reference[["group", "x", "y"]].to_numpy().tolist() == [[news.NAMES["sop"], x, 1.0] for x in (1.0, 16.0)]
    inside = news.inside({"ss": news.of("ss", 0.2), "ssmd": news.chosen("ssmd", lambda *_: 0.1)})(record)
    assert {name: found.sample for name, found in inside.items()} == {"SS": [1], "SSMD": [0]}


def test_pictures_are_of_means_over_topics(monkeypatch):
    drawn = []
    monkeypatch.setattr(news, "panels", lambda frames, **words: drawn.append((frames, words)))
    totals = record_of(
        [(rank, key, value, 20, 4 + 2 * rank, 10, 10, queried, 5) for rank in range(2)
         for key, value, queried in (("ss", 0.1, 5), ("ss", 0.3, 10), ("sop", np.nan, 20))]
    )["totals"]  # fmt: skip
    windows = pd.concat([totals.assign(t=t, tp=totals["tp"] * t, rounds=10 * (1 + t)) for t in (1, 2)])
    windows["queried"] = windows["queried"].where(windows["key"] == "ss", windows["rounds"])
    news.curves({"windows": windows}, [("few", "ss", 0.3), ("all", "sop", None)], {"f": "F", "rate": "share"})
    ((((first, f), (second, rate)), words),) = drawn
    assert (first, second) == ("F", "share")
    assert (words["x"], words["y"], words["share_y"]) == ("stories", "mean over topics, last 30 stories", False)
    assert f[["group", "x", "y"]].to_numpy().tolist() == [["few", 1, 0.5], ["few", 2, 1.0], ["all", 1, 0.5],
        ["all", 2, 1.0]]  # fmt: skip
    assert rate["group"].unique().tolist() == ["few"]  # a share of 1 is not drawn
    assert rate["y"].tolist() == near([0.5, 1 / 3])


def test_windows_are_read_at_the_values_selected():
    rows = record_of([(rank, "ss", k, 10, 0, 1, 1, 10 * rank + k, 0) for rank in (0, 1) for k in (1, 3)])["totals"]
    windows = pd.concat([rows.assign(t=t, queried=rows["queried"] * t) for t in (1, 2, 3)])
    others = windows.assign(key="sop", queried=0)
    selection = pd.DataFrame({"rank": [0, 1], "key": "ss", "value": [3, 1]}).set_index("rank")
    table = news.by_window({"windows": pd.concat([windows, others])}, "queried", selection)
    assert table.to_numpy().tolist() == [[3.0, 6.0, 9.0], [11.0, 22.0, 33.0]]


@cases_of("pick value", """
news.most_f(), 10.0 ; news.most_f(0.2), 3.0 ; news.below_f(lambda scores: 0.7), 3.0
news.below_f(lambda scores: 0.4), 1.0  # none is below: the nearest
news.rate_near(0.15), 3.0  # in ratio .2 is nearer to .15 than .1 is
""", globals())  # fmt: skip
def test_a_value_is_picked_by_its_means(pick, value):
    table = pd.DataFrame({"f": [0.5, 0.7, 0.9], "rate": [0.1, 0.2, 0.6]}, index=[1.0, 3.0, 10.0])
    assert pick(table, table) == value


@cases_of("f other cheapest", "0.69, 0.72, 1.0 ; 0.68, 0.72, 3.0 ; 0.5, 0.6, 3.0 ; 0.6, 0.5, 1.0")
def test_the_cheapest_value_within_a_hundredth_of_the_reference_is_taken_or_else_the_best(f, other, cheapest):
    rows = [(0, "ss", 1.0, 999, round(100 * f), 100, 100, 10, 5)]
    rows += [(0, "ss", 3.0, 999, round(100 * other), 100, 100, 20, 5)]
    scores = news.scored(record_of([*rows, (0, "sop", np.nan, 999, 70, 100, 100, 999, 5)]))
    assert news.cheapest_near("sop")(news.mean_by_value(scores, "ss"), scores) == cheapest


def test_generated_news_has_uneven_topics_whose_words_tell_them():
    stream = generated_news(1500, 20, default_rng(0))
    shares = stream.y.mean(axis=0)
    assert np.all(np.diff(shares) <= 0)
    assert shares[0] > 0.2
    assert 0.005 < shares[-1] < 0.03
    np.testing.assert_allclose(np.asarray(stream.X.multiply(stream.X).sum(axis=1)).ravel(), 1.0)
    log = news.make("sop", stream.X, default_rng(0), {}).run(stream.X, np.where(stream.y[:, 1], 1, -1))
    later = slice(750, None)
    assert np.mean((log.prediction > 0)[later] != stream.y[later, 1]) < 0.5 * shares[1]


@pytest.mark.long
def test_the_topics_of_more_than_one_percent_are_those_the_module_names():
    from experiments.datasets.named import reuters

    try:
        stream = reuters(datasets.data_folder(), 60)
    except (ValueError, FileNotFoundError):
        pytest.skip("no Reuters-21578 here")
    counts = stream.y.sum(axis=0)
    share = counts / len(stream.y)
    assert not unequal("""
np.flatnonzero(share > 0.01).tolist() -> list(news.ABOVE_1)
np.flatnonzero((share > 0.01) & (share < 0.05)).tolist() -> list(news.FROM_1_TO_5)
np.flatnonzero(counts >= 20).tolist() -> list(news.ABOVE_20)
""", globals() | locals())  # fmt: skip
