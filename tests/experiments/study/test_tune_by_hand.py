"""What `tune` measures, ranks and recommends, on four made-up units, worked out by hand."""

import numpy as np
import pandas as pd
import pytest

import netsim
from experiments.quantities import PER_PAGE
from experiments.study import sweep
from experiments.study import tune as study
from experiments.study.compare import estimate
from experiments.study.tune import Rule, measure, tune
from lpsm import randomness
from tests.tables import near, unequal

RADIO = netsim.RadioConfig(awake_mw=1000.0, asleep_mw=100.0)


@pytest.fixture(autouse=True)
def few_splits(monkeypatch):
    monkeypatch.setattr(study, "SPLITS", 8)


def by_hand(pushed=False, units="abcd"):
    """Four units of 20 s and two pages: 8 J without power saving, half of it under PSM, a quarter under `slow`.

    The latencies of PSM are 1.5 and 1 times as long, those of `slow` are 2 or, in the last unit, 6 times as long.
    """
    runs, pages, messages = [], [], []
    for place, unit in enumerate("abcd"):
        for policy, share, factors, late in (("none", 1.0, (1.0, 1.0), 0.0), ("psm", 0.5, (1.5, 1.0), 0.2),
            ("slow", 0.25, (2.0, 2.0) if place < 3 else (6.0, 6.0), 1.0 + place)):  # fmt: skip
            named = {"replication": unit, "policy": policy}
            times = {"elapsed_s": 20.0, "uplink_air_s": 1.0, "downlink_air_s": 0.5, "awake_s": 5.0}
            times |= {"beacons": 6, "wakeups": 4}
            runs.append({**dict.fromkeys(PER_PAGE, 0.0), **named, "pages": 2, **times, "total_j": 8.0 * share})
            pages += [{**named, "page": i, "latency_s": (1.0 + i) * factors[i]} for i in range(2)]
            messages += [{**named, "message": i, "delay_s": 0.1 + i * late} for i in range(2) if pushed and place % 2]
    tables = {"runs": runs, "pages": pages, "messages": messages, "delays": ()}
    return sweep.Frames(**{
        name: pd.DataFrame(row for row in rows if row["replication"] in units) for name, rows in tables.items()
    })  # fmt: skip


# energies: .1 x 20 + .9 x (1 s, 3 s), over 2; slowdowns: the sums 4, 4 and 12 over 2 pages each, so residuals of -8/3,
# -8/3 and 16/3 to 20/3, over 2; delays: messages are late by 0 and 2 s in unit b, by 0 and 4 s in d, so quantiles of
# 0, 0, 2, 4; sums of 0, 2 and 4 s over 0, 2 and 2 messages about 1.5 s a message, over 4/3
MEASURED = """
list(table[:, "units"]) -> 5 * [3] ; list(table[:, "pages"]) -> 5 * [6]
list(table[:, "energy_j_per_page"]) -> [1.45, 4.0, 2.35, 2.0, 1.0]
list(table[:, "mean_mw"]) -> [145.0, 400.0, 235.0, 200.0, 100.0]
list(table[own, "slowdown_mean"]) -> [1.0, 1.25, (2 + 2 + 6) / 3]
list(table[own[1:], "slowdown_mean_half_width"]) -> [0.0, estimate([2.0, 2.0, 6.0]).half_width]
list(table[own[1:], "slowdown_p95"]) -> [1.5, 6.0]
table["slow", "energy_vs_none_percent"] -> -75.0
table["psm", "energy_above_limit_percent"] -> 100 * (2 / 1.45 - 1)
table["psm", "energy_above_page_awake_percent"] -> 100 * (2 / 2.35 - 1)
table["psm", "energy_above_limit_percent_half_width"] -> 0.0
list(table[own, "added_delay_mean_s"]) -> [0.0, 0.1, 1.5]
table["slow", "added_delay_p95_s"] -> 2.0 + 0.85 * 2.0
table["slow", "added_delay_mean_s_half_width"] -> estimate([1.5, 1.5 - 0.75, 1.5 + 0.75]).half_width
"""


def test_measures_by_hand():
    table = measure(by_hand(pushed=True, units="abd"), RADIO).set_index("policy")
    assert list(table.index) == ["limit", "none", "page-awake", "psm", "slow"]
    own = ["none", "psm", "slow"]
    assert not unequal(MEASURED, {"table": table.loc, "own": own, "estimate": estimate})


def test_measures_without_messages_without_pages_and_of_several_clients():
    several = by_hand(units="abd")
    shared = measure(several._replace(runs=several.runs.assign(clients=2)), RADIO).set_index("policy")
    assert "added_delay_mean_s" not in shared
    assert shared.loc["psm", "slowdown_mean"] == near(1.25)  # of the pages that there are
    idle = by_hand(units="ab")
    idle = idle._replace(runs=idle.runs.assign(pages=0), pages=idle.pages.iloc[:0])
    blank = measure(idle, RADIO).set_index("policy")
    assert blank["slowdown_mean"].isna().all()
    assert blank["slowdown_mean_half_width"].isna().all()
    assert blank.loc["psm", "energy_j_per_page"] == 4.0  # of the whole run


def test_a_recommendation_by_hand():
    frames = by_hand()
    found = tune(frames, Rule(max_slowdown=9.0, battery_mwh=50.0), RADIO, seed=0)
    row = measure(frames, RADIO).set_index("policy").loc[found.policy]
    told = found.recommendation
    assert {name: told[name] for name in row.index} == near(row.to_dict(), nan_ok=True)
    assert told["battery_h"] == near(50.0 / row["mean_mw"])
    assert (told["max_slowdown"], told["battery_mwh"]) == (9.0, 50.0)
    assert "max_push_delay_s" not in told
    limit = float(row["slowdown_mean"]) - 0.01
    other = tune(frames, Rule(max_slowdown=max(limit, 1.0)), RADIO, seed=0).recommendation
    passed = {one["policy"]: one["half_width"] for one in (*other["passed_over"], *other["broken"])}
    assert passed[found.policy] == near(row["slowdown_mean_half_width"])


def test_delays_that_stand_for_many_count_as_often():
    rows = [
        {"replication": unit, "policy": policy, "kind": kind, "delay_s": scale * delay_s, "weight": weight}
        for unit in "abcd"
        for policy, scale in (("none", 0.1), ("psm", 1.0), ("slow", 2.0))
        for kind, delay_s, weight in (("exchange", 0.5, 19.0), ("exchange", 1.0, 1.0), ("datagram", 7.0, 50.0))
    ]
    frames = by_hand()._replace(delays=pd.DataFrame(rows))

    def allowed(at, limit_s):
        rule = Rule(max_slowdown=99.0, max_delay_s=limit_s, at=at)
        return bool(tune(frames, rule, RADIO, seed=0).table.set_index("policy").loc["psm", "allowed"])

    for at, delay_s in (("p95", 0.45), ("p99", 0.9)):  # beside 0.05 and 0.1 s without power saving
        assert not allowed(at, delay_s - 0.01)
        assert allowed(at, delay_s + 0.01)


def test_who_wins_most_splits_is_taken_and_those_that_do_not_are_level():
    frames = by_hand()
    found = tune(frames, Rule(max_slowdown=99.0), RADIO, seed=0)
    assert found.table.set_index("policy")["wins_percent"].dropna().to_dict() == {"psm": 0.0, "slow": 100.0}
    assert (found.policy, found.recommendation["level"]) == ("slow", [])
    frames.runs.loc[(frames.runs["policy"] == "slow") & frames.runs["replication"].isin(["a", "b"]), "total_j"] = 5.0
    level = tune(frames, Rule(max_slowdown=99.0), RADIO, seed=0)
    shares = level.splits["policy"].value_counts(normalize=True)
    assert level.table.set_index("policy").loc[level.policy, "wins_percent"] == 100 * shares[level.policy]
    assert level.recommendation["level"] == (["slow", "psm"] if shares[level.policy] < 2 / 3 else [])


def test_what_is_held_out_is_measured_on_the_units_that_were_not_chosen_on():
    frames = by_hand()
    runs = frames.runs
    runs["total_j"] *= runs["replication"].map({"a": 1.0, "b": 1.0, "c": 3.0, "d": 3.0})  # 0.1 W, or three times that
    rule = Rule(max_slowdown=99.0, battery_mwh=300.0)
    splits = study._Units(frames, RADIO).splits(rule, ["slow", "psm"], seed=0)
    assert set(splits["policy"]) == {"slow"}
    rng = randomness.generator(0, randomness.SPLIT)
    rest = [rng.permutation(4)[2:] for _ in range(8)]
    rest_mw = [sum(100.0 * (1, 1, 3, 3)[unit] for unit in units) / 2 for units in rest]
    assert splits["battery_h"].tolist() == near([300.0 / mw for mw in rest_mw])


def test_a_life_lies_between_those_of_the_interval_and_of_what_is_assumed():
    row = {"mean_mw": 200.0, "mean_mw_half_width": 50.0}
    runs = pd.DataFrame({"awake_s": [5.0, 5.0], "elapsed_s": [20.0, 30.0], "beacons": [6, 0], "wakeups": [4, 4]})
    sure = study._lives(row, runs, Rule(battery_mwh=300.0), RADIO)
    assert sure == {"battery_h_low": 300 / 250, "battery_h_high": 300 / 150, "assumed_percent": None}
    wide = study._lives({"mean_mw": 120.0, "mean_mw_half_width": 50.0}, runs, Rule(battery_mwh=300.0), RADIO)
    assert wide["battery_h_high"] == 3.0  # no power below that of sleeping
    radio = netsim.RadioConfig.profile("esp32-c3")
    spent = 10e9, 40e9, 6, 8
    for name, sign, mw in (("battery_h_low", 1, 250.0), ("battery_h_high", -1, 150.0)):
        factor = float(study.with_assumed(radio, 1 + sign * study.ASSUMED).total_j(*spent) / radio.total_j(*spent))
        found = study._lives(row, runs, Rule(battery_mwh=300.0), radio)
        assert found[name] == near(300 / (mw * factor))
        assert found["assumed_percent"] == near(30.0)
        assert factor != 1.0


def test_a_sample_sums_up_any_choice_of_units():
    rows = pd.DataFrame({"replication": [*"aabb"], "value": [4.0, 1.0, 2.0, 3.0], "weight": 1.0})
    sample = study._Sample(rows, ["a", "b"])
    both, twice = np.array([1.0, 1.0]), np.array([1.0, 2.0])
    weighted = study._Sample(rows.assign(weight=[1.0, 1.0, 98.0, 1.0]), ["a", "b"])
    assert not unequal("""
at("mean", both) -> 2.5 ; at("mean", twice) -> 2.5 ; at("max", both) -> 4 ; at("max", [0.0, 1.0]) -> 3
at("p95", both) -> 3.85 ; of("p95", both) -> 2 ; of("max", both) -> 4 ; of("p99", both) -> 3
of("p99", [3.0, 1.0]) -> 4 ; of("mean", twice) -> (4 + 1 + 2 * (2 * 98 + 3)) / 200
""", {"both": both, "twice": twice, "at": lambda how, times: sample.at(how, np.array(times)),
      "of": lambda how, times: weighted.at(how, np.array(times))})  # fmt: skip
