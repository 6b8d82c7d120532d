"""What is said of many users, from a table of five that was written by hand."""

import math

import numpy as np
import pandas as pd

import netsim
import traces
from experiments.study import population
from experiments.study.compare import estimate
from experiments.study.parts import quantiles
from tests.tables import each, named, near

POLICIES = ["none", "psm:100", "own"]


def table(messages=0):
    """Five users; `own` costs 10 to 130 % of none, and is slower than static PSM for two of them."""
    own_j, psm_j = (1.0, 2.0, 6.0, 4.0, 13.0), (2.0, 2.0, 2.0, 5.0, 5.0)
    rows = []
    for user in range(5):
        for policy, joules, slowdown in zip(POLICIES, (10.0, psm_j[user], own_j[user]),
            (1.0, 1.5, (1.0, 1.8, 2.5, 1.2, 2.0)[user]), strict=True):  # fmt: skip
            rows.append({
                "user": f"u{user}", "policy": policy, "pages": (5, 1, 4, 2, 3)[user], "elapsed_s": 1800.0,
                "total_j": joules, "energy_vs_none_percent": 10 * joules - 100,
                "energy_vs_psm_percent": 100 * (joules / psm_j[user] - 1), "slowdown_mean": slowdown,
                "slowdown_vs_psm": slowdown / 1.5, "messages": messages * user,
                "added_delay_mean_s": 0.1 * user if messages * user else math.nan,
            })  # fmt: skip
    return pd.DataFrame(rows)


def read_in(rows, users):
    """Return what reads a table in parts of so many users."""
    n = users * rows["policy"].nunique()
    parts = [rows[at : at + n] for at in range(0, len(rows), n)]
    return lambda names: ({name: part[name].to_numpy() for name in names} for part in parts)


def summary(rows, policies, psm="psm:100", users=2):
    return population.summary(read_in(rows[rows["policy"].isin(policies)], users), policies, psm)


@each("users", (1, 7, 400))
def test_quantiles_are_those_of_all_values_sorted_however_they_are_cut_into_parts(users):
    rng = np.random.default_rng(users)
    values = np.column_stack([rng.standard_normal(300), rng.integers(-3, 3, 300) * 1e-300, np.full(300, np.nan)])
    values[::9, 0] = np.nan
    levels = np.linspace(0.0, 1.0, 77)
    rows = pd.DataFrame({"policy": ["a", "b", "c"] * 300, "x": values.ravel()})
    found = quantiles(read_in(rows, users), "x", 3, levels)
    assert (found[:2] == [np.nanquantile(own, levels) for own in values.T[:2]]).all()
    assert np.isnan(found[2]).all()


def test_a_row_of_the_summary_is_what_a_pocket_calculator_gives():
    none, _, own = summary(table(), POLICIES, "psm:100").to_dict("records")
    assert none["energy_of_all_vs_none_percent"] == none["costlier_than_none_percent"] == 0.0
    expected = named("""
users = 5 ; pages = 15 ; total_j = 26.0 ; energy_of_all_vs_none_percent = -48.0
energy_of_all_vs_psm_percent = 100 * (26 / 16 - 1) ; energy_vs_none_percent_mean = -48.0
energy_vs_none_percent_p00 = -90.0 ; energy_vs_none_percent_p05 = -90 + 0.2 * 10 ; energy_vs_none_percent_p25 = -80.0
energy_vs_none_percent_p50 = -60.0 ; energy_vs_none_percent_p75 = -40.0 ; energy_vs_none_percent_p95 = 30 - 0.2 * 70
energy_vs_none_percent_p100 = 30.0 ; energy_vs_psm_percent_mean = (-50 - 0 + 200 - 20 + 160) / 5 ; slowdown_mean = 1.7
slowdown_p50 = 1.8 ; costlier_than_none_percent = 20.0 ; costlier_than_psm_percent = 40.0
slower_than_psm_percent = 60.0 ; losing_both_percent = 40.0 ; slowed_over_2_percent = 20.0
""")
    assert {name: own[name] for name in expected} == near(expected)
    assert "messages" not in own


def test_means_over_drawn_sessions_have_the_intervals_of_a_comparison():
    found = population.summary(read_in(table(messages=2), 2), POLICIES, drawn=True).to_dict("records")[2]
    own = table(messages=2)[lambda rows: rows["policy"] == "own"]
    for name, column in {"energy_vs_psm_percent": "energy_vs_psm_percent", "slowdown": "slowdown_mean",
            "added_delay_s": "added_delay_mean_s"}.items():  # fmt: skip
        assert (found[f"{name}_mean"], found[f"{name}_half_width"]) == near(estimate(own[column]))


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
    assert [own["added_delay_s_mean"], own["added_delay_s_p00"]] == near([0.25, 0.1])


def test_without_static_psm_nothing_is_said_against_it():
    alone = table()[lambda rows: rows["policy"] != "psm:100"].assign(energy_vs_psm_percent=math.nan)
    own = summary(alone, ["none", "own"], "psm:100").to_dict("records")[1]
    assert own["energy_vs_none_percent_mean"] == near(-48.0)
    assert all(math.isnan(own[name]) for name in own if "psm" in name or name == "losing_both_percent")


def test_tasks_reach_so_many_pages_and_never_cut_a_user():
    pages = [traces.Page("a", 300, 9000, think_s=1.0)]
    users = [population.Recorded(name=str(n), seed=n, recorded=pages * n) for n in (1, 2, 3, 1, 1)]
    cut = list(population.tasks(users, ("none",), netsim.SimulationConfig(), pages_per_task=3))
    assert [[one.name for one in task.members] for task in cut] == [["1", "2"], ["3"], ["1", "1"]]
    assert list(population.tasks([], ("none",), netsim.SimulationConfig(), pages_per_task=3)) == []
