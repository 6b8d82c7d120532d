from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import Result

import netsim
import traces
from experiments.report.comparison import population_text
from experiments.study import population as study
from experiments.study.population import by_activity, summary
from tests.experiments.browsing import contents, population

Run = Callable[..., Result]
POLICIES = "none,psm:100,bsd:1,lpsm:log"


def rows_of(folder: Path) -> pd.DataFrame:
    parts = sorted((folder / "users").iterdir())
    return pd.concat([pq.read_table(part).to_pandas() for part in parts], ignore_index=True)


def test_every_row_is_what_the_simulator_says_of_that_session(folder: Path, trace: Path) -> None:
    rows = rows_of(folder).set_index(["user", "policy"])
    assert len(rows) == 12 * 4
    parts = rows[["awake_j", "sleep_j", "listen_j", "wakeup_j"]].sum(axis=1)
    assert parts.to_numpy() == pytest.approx(rows["total_j"].to_numpy(), rel=1e-12)
    config = netsim.SimulationConfig(radio=netsim.Radio.named("esp32-c6"))
    for number, session in enumerate(traces.sessions(trace)):
        pages = traces.pages(session.requests)
        base = netsim.simulate(pages, "none", config=config, seed=number)
        for policy in POLICIES.split(","):
            result = netsim.simulate(pages, policy, config=config, seed=number)
            row = rows.loc[(session.name, policy)]
            slowdown = (result.pages["latency_s"] / base.pages["latency_s"]).to_numpy()
            assert row["total_j"] == result.energy.total_j
            assert row["beacons"] == result.beacons
            assert row["pages"] == len(pages)
            assert row["slowdown_mean"] == slowdown.mean()
            assert row["slowdown_max"] == slowdown.max()
            assert [row["slowdown_median"], row["slowdown_p95"]] == pytest.approx(np.quantile(slowdown, [0.5, 0.95]))
            assert row["energy_vs_none_percent"] == 100 * (result.energy.total_j / base.energy.total_j - 1)


def test_a_user_browses_all_of_their_sessions_as_one_workload(trace: Path) -> None:
    found = {user.name: user for user in study.users(trace, by="user")}
    browsed: dict[str, list[traces.Page]] = {}
    for session in traces.sessions(trace):
        browsed.setdefault(session.user, []).extend(traces.pages(session.requests))
    assert {name: list(user.pages) for name, user in found.items()} == browsed
    assert sum(user.sessions for user in found.values()) == 12
    assert len({user.seed for user in found.values()}) == len(found) == 5


@pytest.mark.parametrize("pages_per_task", [1, 4, 1000])
def test_cutting_into_tasks_loses_nobody_and_changes_no_result(trace: Path, pages_per_task: int) -> None:
    config = netsim.SimulationConfig()
    users = list(study.users(trace, by="session"))
    cut = list(study.tasks(iter(users), ("none", "psm:100"), config, pages_per_task=pages_per_task))
    assert [user for task in cut for user in task.members] == users
    assert all(sum(len(user.pages) for user in task.members) >= pages_per_task for task in cut[:-1])
    whole = pq.read_table(
        _file(study.compute(study.Task(members=tuple(users), policies=("none", "psm:100"), config=config)))
    )
    pieces = [pq.read_table(_file(study.compute(task))) for task in cut]
    assert whole.to_pylist() == [row for piece in pieces for row in piece.to_pylist()]


def _file(content: bytes):
    import pyarrow as pa

    return pa.BufferReader(content)


def test_compiling_the_express_engine_first_changes_no_byte_and_is_asked_for_when_there_are_many_pages(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = netsim.SimulationConfig()
    cut = list(study.tasks(study.users(trace, by="session"), ("none", "psm:100"), config, pages_per_task=6))
    assert not any(task.compile_first for task in cut)
    plain = [study.compute(task) for task in cut[:2]]
    monkeypatch.setattr(study, "MANY_PAGES", 12)
    again = list(study.tasks(study.users(trace, by="session"), ("none", "psm:100"), config, pages_per_task=6))
    assert [task.compile_first for task in again] == [False, False] + [True] * (len(cut) - 2)
    assert [study.compute(replace(task, compile_first=True)) for task in cut[:2]] == plain


def test_tasks_are_cut_from_a_stream_one_at_a_time(trace: Path) -> None:
    taken = 0

    def users():
        nonlocal taken
        for user in study.users(trace, by="session"):
            taken += 1
            yield user

    cut = study.tasks(users(), ("none",), netsim.SimulationConfig(), pages_per_task=6)
    next(cut)
    assert taken == 2


def test_a_task_for_another_program_is_refused(trace: Path) -> None:
    task = next(study.tasks(study.users(trace), ("none",), netsim.SimulationConfig(), program="0" * 64))
    with pytest.raises(study.OtherProgramError, match="another version"):
        study.compute(task)


def test_files_hold_no_paths_or_job_counts_and_the_manifest_lists_them_all(folder: Path) -> None:
    found = contents(folder)
    manifest = json.loads(found.pop("manifest.json"))
    assert set(manifest["files"]) == set(found) - {"SHA256SUMS"}
    assert "jobs" not in json.dumps(manifest)
    for name, data in found.items():
        assert str(folder.parent).encode() not in data, name


def test_the_summary_is_of_the_users_each_weighing_the_same(folder: Path, lpsm: Run) -> None:
    rows = rows_of(folder)
    table = pd.read_csv(folder / "summary.csv").set_index("policy")
    for policy, own in rows.groupby("policy", sort=False):
        row = table.loc[policy]
        assert row["users"] == 12
        assert row["energy_vs_none_percent_p50"] == pytest.approx(np.median(own["energy_vs_none_percent"]))
        assert row["slowdown_mean"] == pytest.approx(own["slowdown_mean"].mean())
        assert row["slower_than_psm_percent"] == pytest.approx(100 * (own["slowdown_vs_psm"] > 1).mean())
    total = rows.groupby("policy")["total_j"].sum()
    assert table.loc["bsd:1", "energy_of_all_vs_none_percent"] == pytest.approx(
        100 * (total["bsd:1"] / total["none"] - 1)
    )
    activity = pd.read_csv(folder / "by-activity.csv")
    assert set(activity.groupby("policy")["users"].sum()) == {12}


def users_with(percents: list[float], slower: list[float]) -> pd.DataFrame:
    rows = [
        {
            "policy": policy, "pages": user + 1, "elapsed_s": 3600.0, "latency_s": 1.0,
            "total_j": {"none": 10.0, "psm:100": 2.0, "x": 2.0 * (1 + percents[user] / 100)}[policy],
            "energy_vs_none_percent": -80.0, "energy_vs_psm_percent": percents[user] if policy == "x" else 0.0,
            "slowdown_mean": 3.0 * slower[user] if policy == "x" else 3.0,
            "slowdown_vs_psm": slower[user] if policy == "x" else 1.0, "messages": 0, "added_delay_mean_s": np.nan,
        }
        for policy in ("none", "psm:100", "x")
        for user in range(len(percents))
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_who_loses_is_counted_by_hand() -> None:
    table = users_with([-10.0, 10.0, 10.0, -30.0], [0.5, 0.5, 2.0, 2.0])
    row = summary(table, ["none", "psm:100", "x"]).set_index("policy").loc["x"]
    assert (row["costlier_than_psm_percent"], row["slower_than_psm_percent"], row["losing_both_percent"]) == (
        50,
        50,
        25,
    )
    assert row["slowed_over_2_percent"] == 50
    assert row["energy_of_all_vs_psm_percent"] == pytest.approx(-5.0)
    quarters = by_activity(table, ["none", "psm:100", "x"])
    own = quarters[quarters["policy"] == "x"]
    assert own["energy_vs_psm_percent_median"].tolist() == [-10.0, 10.0, 10.0, -30.0]
    assert own["pages_per_hour_from"].tolist() == [1.0, 2.0, 3.0, 4.0]


def test_users_without_pages_or_without_messages_count_where_they_have_some() -> None:
    table = users_with([10.0, 20.0, 30.0], [1.0, 1.0, 1.0])
    own = table["policy"] == "x"
    table.loc[own, "messages"] = [4, 0, 6]
    table.loc[own, "added_delay_mean_s"] = [0.25, np.nan, 0.75]
    table.loc[own, "slowdown_mean"] = [np.nan, 2.0, 4.0]
    row = summary(table, ["none", "psm:100", "x"]).set_index("policy").loc["x"]
    assert (row["messages"], row["added_delay_s_mean"], row["slowdown_mean"]) == (10, 0.5, 3.0)
    assert row["energy_vs_psm_percent_mean"] == pytest.approx(20.0)


def test_without_static_psm_the_words_are_of_energy_against_none_alone(lpsm: Run, trace: Path, tmp_path: Path) -> None:
    result = lpsm(*population(trace, tmp_path / "out", "--policies", "bsd:1"))
    assert result.exit_code == 0, result.output
    words = (tmp_path / "out" / "population.txt").read_text()
    assert "bsd:1" in words
    assert "psm" not in words
    assert "dearer" not in words
    table = users_with([1.0], [1.0])
    policies = ["none", "psm:100", "x"]
    assert "dearer" in population_text(summary(table, policies), by_activity(table, policies), "", "user")


def test_json_is_one_object_and_agrees_with_the_files(lpsm: Run, trace: Path, tmp_path: Path) -> None:
    data = json.loads(lpsm(*population(trace, tmp_path / "out", "--policies", "none,psm", "--json")).stdout)
    assert data["users"] == 5
    assert [row["policy"] for row in data["summary"]] == ["none", "psm:100"]
    printed = pd.read_csv(tmp_path / "out" / "summary.csv")
    assert [row["total_j"] for row in data["summary"]] == printed["total_j"].tolist()


def test_members_choose_sessions_and_a_workload_is_one_user(
    lpsm: Run, trace: Path, workload: Path, tmp_path: Path
) -> None:
    few = lpsm(*population(trace, tmp_path / "few", "--member", "con[12].*", "--policies", "none", "--json"))
    assert json.loads(few.stdout)["users"] == 2
    short = lpsm(*population(trace, tmp_path / "short", "--by", "session", "--policies", "none", "--max-think", "30"))
    assert "absences" in short.stderr
    assert rows_of(tmp_path / "short")["elapsed_s"].max() < 3 * 31
    one = lpsm(*population(workload, tmp_path / "one", "--policies", "none,psm", "--json"))
    assert json.loads(one.stdout)["users"] == 1
    assert rows_of(tmp_path / "one")["pages"].tolist() == [3, 3]
