"""What is said of many users, from a table of five that was written by hand."""

import math

import pandas as pd
import pytest

from experiments.study.population import summary

POLICIES = ["none", "psm:100", "own"]


def table(messages=0):
    """Five users; `own` costs 10 to 130 % of none, and is slower than static PSM for two of them."""
    own_j, psm_j = (1.0, 2.0, 6.0, 4.0, 13.0), (2.0, 2.0, 2.0, 5.0, 5.0)
    rows = []
    for user in range(5):
        for policy, joules, slowdown in zip(
            POLICIES, (10.0, psm_j[user], own_j[user]), (1.0, 1.5, (1.0, 1.8, 2.5, 1.2, 2.0)[user]), strict=True
        ):
            rows.append({
                "user": f"u{user}", "policy": policy, "pages": (5, 1, 4, 2, 3)[user], "elapsed_s": 1800.0,
                "total_j": joules, "energy_vs_none_percent": 10 * joules - 100,
                "energy_vs_psm_percent": 100 * (joules / psm_j[user] - 1), "slowdown_mean": slowdown,
                "slowdown_vs_psm": slowdown / 1.5, "messages": messages * user,
                "added_delay_mean_s": 0.1 * user if messages * user else math.nan,
            })  # fmt: skip
    return pd.DataFrame(rows)


def test_a_row_of_the_summary_is_what_a_pocket_calculator_gives():
    none, _, own = summary(table(), POLICIES, "psm:100").to_dict("records")
    assert none["energy_of_all_vs_none_percent"] == 0.0
    expected = {
        "users": 5, "pages": 15, "total_j": 26.0, "energy_of_all_vs_none_percent": -48.0,
        "energy_of_all_vs_psm_percent": 100 * (26 / 16 - 1), "energy_vs_none_percent_mean": -48.0,
        "energy_vs_none_percent_p00": -90.0, "energy_vs_none_percent_p05": -90 + 0.2 * 10,
        "energy_vs_none_percent_p25": -80.0, "energy_vs_none_percent_p50": -60.0, "energy_vs_none_percent_p75": -40.0,
        "energy_vs_none_percent_p95": 30 - 0.2 * 70, "energy_vs_none_percent_p100": 30.0,
        "energy_vs_psm_percent_mean": (-50 - 0 + 200 - 20 + 160) / 5, "slowdown_mean": 1.7, "slowdown_p50": 1.8,
        "costlier_than_none_percent": 20.0, "costlier_than_psm_percent": 40.0, "slower_than_psm_percent": 60.0,
        "losing_both_percent": 40.0, "slowed_over_2_percent": 20.0,
    }  # fmt: skip
    assert {name: own[name] for name in expected} == pytest.approx(expected)
    assert "messages" not in own


def test_of_users_without_a_page_nothing_is_divided_by_nought():
    blank = table().assign(slowdown_mean=math.nan, slowdown_vs_psm=math.nan, pages=0, elapsed_s=0.0)
    own = summary(blank, POLICIES, "psm:100").to_dict("records")[2]
    assert (own["slower_than_psm_percent"], own["losing_both_percent"], own["slowed_over_2_percent"]) == (0.0, 0.0, 0.0)
    assert own["costlier_than_psm_percent"] == 40.0
    assert all(math.isnan(own[name]) for name in ("slowdown_mean", "slowdown_p00", "slowdown_p100"))
    assert summary(table(), ["none", "own"], "psm:100").loc[1, "energy_of_all_vs_none_percent"] == -48.0


def test_messages_are_added_up_and_users_without_any_have_no_delay():
    own = summary(table(messages=2), POLICIES, "psm:100").to_dict("records")[2]
    assert own["messages"] == 20
    assert [own["added_delay_s_mean"], own["added_delay_s_p00"]] == pytest.approx([0.25, 0.1])


def test_without_static_psm_nothing_is_said_against_it():
    alone = table()[lambda rows: rows["policy"] != "psm:100"].assign(energy_vs_psm_percent=math.nan)
    own = summary(alone, ["none", "own"], "psm:100").to_dict("records")[1]
    assert own["energy_vs_none_percent_mean"] == pytest.approx(-48.0)
    assert all(math.isnan(own[name]) for name in own if "psm" in name or name == "losing_both_percent")
