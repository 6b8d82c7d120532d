import math

import numpy as np
import pandas as pd
import pytest

import netsim
from experiments.quantities import PER_PAGE
from experiments.study import sweep
from experiments.study.compare import compare, estimate, linearised, ratio, weighted_quantile
from experiments.study.run import run
from tests.tables import each, near, unequal

RADIO = netsim.RadioConfig(awake_mw=1000.0, asleep_mw=100.0)


def by_hand():
    """Two replications of two pages and two messages, under no power saving and static PSM."""
    runs, pages, messages = [], [], []
    for replication, policy, total_j, latencies, delays in (("s", "none", 8.0, (1.0, 3.0), (0.1, 0.2)),
        ("s", "psm:100", 4.0, (2.0, 3.0), (0.1, 0.6)), ("t", "none", 10.0, (2.0, 2.5), (0.3, 0.1)),
        ("t", "psm:100", 2.0, (3.0, 10.0), (0.4, 0.1))):  # fmt: skip
        named = {"replication": replication, "policy": policy}
        parts = {"awake_j": total_j / 4, "sleep_j": total_j / 2, "listen_j": total_j / 4, "total_j": total_j}
        times = {"elapsed_s": 20.0, "uplink_air_s": 1.0, "downlink_air_s": 2.0, "beacons": 6, "wakeups": 4,
            "awake_s": 5.0, "group_frames_lost": 3}  # fmt: skip
        runs.append({**dict.fromkeys(PER_PAGE, 0.0), **named, "pages": 2, **parts, **times})
        pages += [{**named, "page": "of one name", "latency_s": s} for i, s in enumerate(latencies)]
        messages += [{**named, "message": i, "delay_s": s} for i, s in enumerate(delays)]
    tables = {"runs": runs, "pages": pages, "messages": messages, "delays": ()}
    return sweep.Frames(**{name: pd.DataFrame(rows) for name, rows in tables.items()})


def test_an_interval_is_students():
    # n = 4, mean 5, s = sqrt(20/3); t_{0.975, 3} = 3.182446
    found = estimate([2.0, 4.0, 6.0, 8.0])
    assert found.mean == 5.0
    assert found.half_width == near(3.182446 * math.sqrt(20 / 3) / 2, rel=1e-6)


def test_one_replication_has_a_mean_and_no_interval_and_none_has_neither():
    assert estimate([1.5]).mean == 1.5
    assert math.isnan(estimate([1.5]).half_width)
    assert math.isnan(estimate([]).mean)


def test_without_static_psm_there_are_no_differences_from_it():
    kept = sweep.Frames(*(frame[frame["policy"] != "psm:100"] if len(frame) else frame for frame in by_hand()))
    row = compare(kept, ["none"], RADIO).summary.set_index("policy").loc["none"]
    assert math.isnan(row["energy_vs_psm_percent"])
    assert row["slowdown_mean"] == 1.0


@each("fewer", "none psm:100")
def test_against_a_policy_of_other_replications_there_are_no_differences(fewer):
    frames = by_hand()
    kept = frames._replace(runs=frames.runs[(frames.runs["policy"] != fewer) | (frames.runs["replication"] == "s")])
    row = compare(kept, ["none", "psm:100"], RADIO).summary.set_index("policy").loc["none"]
    assert math.isnan(row["energy_vs_psm_percent"])


def test_reference_energies_are_of_the_radio_that_was_simulated():
    config = netsim.SimulationConfig(radio="esp32-c6")
    tasks = sweep.tasks([sweep.Generated(n_pages=2, seed=1, web="1996")], ["psm"], config)
    frames = sweep.frames(run(sweep.simulate, tasks, jobs=1))
    found = compare(frames, ["psm:100"], config.radio).summary.set_index("policy")["energy_above_limit_percent"]
    assert found["psm:100"] > 0.0
    with pytest.raises(ValueError,
        match=r"must be what the runs were simulated with, got 50 mW asleep, and a run that"):  # fmt: skip
        compare(frames, ["psm:100"], netsim.RadioConfig(awake_mw=750.0, asleep_mw=50.0))


def test_a_linearised_ratio_has_the_mean_and_the_spread_that_the_ratio_reports():
    # x = (1, 3), y = (2, 2): r = 1, residuals (1 - 2)/2 and (3 - 2)/2 about it
    values = linearised([1.0, 3.0], [2.0, 2.0])
    assert values.tolist() == [0.5, 1.5]
    assert ratio([1.0, 3.0], [2.0, 2.0]) == near(tuple(estimate(values)))
    assert len(linearised([1.0], [0.0])) == 0
    assert math.isnan(ratio([1.0, 2.0], [0.0, 0.0]).mean)
    assert ratio([3.0, 6.0], [1.0, 2.0]) == (3.0, 0.0)  # proportional


# `half`: (4 - 3 x 2)/1.5 and (5 - 3 x 1)/1.5 about the ratio of 3
BY_HAND = """
own["s", "total_j_per_page"].to_dict() -> {"none": 4.0, "psm:100": 2.0, "limit": 1.9, "page-awake": 2.8}
own["t", "total_j_per_page"].to_dict() -> {"none": 5.0, "psm:100": 1.0, "limit": 1.9, "page-awake": 3.025}
own["s", "beacons_per_page"].to_dict() -> {"none": 3.0, "psm:100": 3.0, "limit": 0.0, "page-awake": 0.0}
own["t", "wakeups_per_page"].to_dict() -> {"none": 2.0, "psm:100": 2.0, "limit": 0.0, "page-awake": 0.0}
own[("s", "limit"), ["awake_j_per_page", "sleep_j_per_page", "listen_j_per_page"]].tolist() -> [1, 0.9, 0]
own[:, "elapsed_s_per_page"].tolist() -> 8 * [10.0]
own[("s", "none"), ["awake_percent", "group_frames_lost_per_h"]].tolist() -> [25.0, 540.0]
own[("t", "psm:100"), ["slowdown_mean", "slowdown_median", "slowdown_max"]].tolist() -> [2.75, 2.75, 4.0]
own[("t", "psm:100"), "slowdown_p95"] -> 1.5 + 0.95 * 2.5
own[("t", "none"), "energy_minus_psm_j_per_page"] -> 4.0
own[("s", "psm:100"), ["mean_mw", "added_delay_mean_s", "added_delay_p95_s"]].tolist() -> [200.0, 0.2, 0.38]
summary[:, "pages"].tolist() -> [4, 4, 4, 4]
summary[:, "replications"].tolist() -> [2, 2, 2, 2]
summary["psm:100", ["mean_mw", "slowdown_max", "slowdown_mean"]].tolist() -> [150.0, 4.0, (1.5 + 2.75) / 2]
summary["none", ["energy_vs_psm_percent", "energy_vs_psm_percent_half_width"]].tolist() -> [200.0, 100 * half]
summary["psm:100", "energy_above_limit_percent"] -> 100 * (1.5 / 1.9 - 1)
"""


def test_two_replications_by_hand():
    found = compare(by_hand(), ["none", "psm:100"], RADIO)
    own, summary = found.replications.set_index(["replication", "policy"]).loc, found.summary.set_index("policy").loc
    half = estimate([3.0 - 2.0 / 1.5, 3.0 + 2.0 / 1.5]).half_width
    assert not unequal(BY_HAND, {"own": own, "summary": summary, "half": half})


def test_a_run_without_a_page_is_counted_as_a_whole():
    frames = by_hand()
    runs = frames.runs.assign(pages=0)
    found = compare(frames._replace(runs=runs), ["none"], RADIO).replications
    assert found.loc[found["policy"] == "none", "total_j_per_page"].tolist() == [8.0, 10.0]


def test_a_quantile_of_weighted_values_is_the_first_up_to_which_that_share_lies():
    values, weights = np.array([1.0, 2.0, 5.0, 9.0]), np.array([2.0, 1.0, 0.0, 1.0])
    for level, value in ((0.01, 1.0), (0.5, 1.0), (0.51, 2.0), (0.75, 2.0), (0.76, 9.0), (1.0, 9.0)):
        assert weighted_quantile(values, weights, level) == value
    assert math.isnan(weighted_quantile(values, 0 * weights, 0.5))
    assert math.isnan(weighted_quantile(values[:0], weights[:0], 0.5))


def test_delays_of_datagrams_and_times_of_exchanges_are_told_apart_and_weighted():
    rows = [
        {"replication": "s", "policy": policy, "kind": kind, "delay_s": scale * delay_s, "weight": weight}
        for policy, scale in (("none", 1.0), ("psm:100", 2.0))
        for kind, delay_s, weight in (("datagram", 7.0, 1.0), ("datagram", 3.0, 3.0), ("exchange", 0.5, 2.0))
    ]
    frames = by_hand()._replace(delays=pd.DataFrame(rows))
    own = compare(frames, ["none", "psm:100"], RADIO).replications
    own = own.set_index(["replication", "policy"])
    late = own.loc[("s", "psm:100")]
    assert late[["datagram_delay_mean_s", "datagram_delay_p95_s", "datagram_delay_max_s"]].tolist() == [8.0, 14.0, 14.0]
    assert late[["exchange_mean_s", "exchange_p99_s"]].tolist() == [1.0, 1.0]
    assert math.isnan(own.loc[("t", "none"), "exchange_mean_s"])


def test_who_knows_when_frames_come_sleeps_otherwise_and_is_asked_at_the_slowdown_of_each_policy():
    known = {one: netsim.Clairvoyant(np.array([1.0, 2.0]), np.array([3.0, 1.0])) for one in "st"}
    polls = {one: netsim.Clairvoyant(np.array([1.0, 2.0]), np.array([0.5, 0.5])) for one in "st"}
    both = {"clairvoyant": known, "polling_clairvoyant": polls}
    found = compare(by_hand(), ["none", "psm:100"], RADIO, known=both)
    own = found.replications.set_index(["replication", "policy"])
    assert own.loc[("s", "none"), "clairvoyant_j_per_page"] == near(0.1 * 10.0 + known["s"].at(1.0))
    assert own.loc[("s", "psm:100"), "clairvoyant_j_per_page"] == near(0.1 * 10.0 + known["s"].at(1.5))
    none = found.summary.set_index("policy").loc["none"]
    share = 100 * (4.5 / (1.0 + known["s"].at(1.0)) - 1)
    assert none["energy_above_clairvoyant_percent"] == near(share)
    assert none["energy_above_polling_clairvoyant_percent"] == near(100 * (4.5 / 1.5 - 1))
