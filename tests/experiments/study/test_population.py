import pandas as pd
import pytest

import netsim
import traces
from experiments.study import population as study
from experiments.world import made
from tests.tables import cases_of, words

pytestmark = pytest.mark.usefixtures("undrawn")

CONFIG = netsim.SimulationConfig()


def rows_of(folder):
    return pd.read_parquet(folder / "users.parquet")


def tables(tasks):
    """What tasks compute, as rows."""
    return pd.concat(map(pd.DataFrame, map(study.compute, tasks)), ignore_index=True)


@pytest.fixture
def population(lpsm, tmp_path):
    """Run the command and return its folder and what it said."""

    def run(*words):
        result = lpsm("population", *words, "--jobs", "1", "--pages-per-task", "6", "--out", tmp_path / "out")
        assert result.exit_code == 0, result.output
        return tmp_path / "out", result

    return run


def test_every_row_is_what_the_simulator_says_of_that_session(results, trace):
    rows = rows_of(results("population").folder).set_index(["user", "policy"])
    assert len(rows) == 12 * 4
    parts = rows[words("awake_j sleep_j listen_j wakeup_j")].sum(axis=1)
    assert parts.to_numpy() == pytest.approx(rows["total_j"].to_numpy(), rel=1e-12)
    config = made("today").config
    for number, session in enumerate(traces.sessions(trace)):
        pages = traces.pages(session.requests)
        base = netsim.simulate(pages, "none", config=config, seed=number)
        for policy in ("none", "psm:102.4", "bsd:1", "lpsm:log"):
            result = netsim.simulate(pages, policy, config=config, seed=number)
            row = rows.loc[(session.name, policy)]
            slowdown = (result.pages["latency_s"] / base.pages["latency_s"]).to_numpy()
            assert row["total_j"] == result.energy.total_j
            assert row["beacons"] == result.beacons
            assert row["pages"] == len(pages)
            assert row["slowdown_mean"] == slowdown.mean()
            assert row["energy_vs_none_percent"] == 100 * (result.energy.total_j / base.energy.total_j - 1)


def test_a_user_browses_all_of_their_sessions_as_one_workload(trace):
    found = {user.name: user for user in study.users(trace, by="user")}
    browsed = {}
    for session in traces.sessions(trace):
        browsed.setdefault(session.user, []).extend(traces.pages(session.requests))
    assert {name: list(user.recorded) for name, user in found.items()} == browsed
    assert sum(user.sessions for user in found.values()) == 12
    assert len({user.seed for user in found.values()}) == len(found) == 5


@cases_of("pages_per_task", "1 ; 4 ; 1000")
def test_cutting_into_tasks_loses_nobody_and_changes_no_result(trace, pages_per_task):
    policies, users = ("none", "psm:100"), list(study.users(trace, by="session"))
    cut = study.tasks(users, policies, CONFIG, pages_per_task=pages_per_task)
    assert [user for task in cut for user in task.members] == users
    assert all(sum(user.n_pages for user in task.members) >= pages_per_task for task in cut[:-1])
    whole = [study.Task(members=tuple(users), policies=policies, config=CONFIG)]
    pd.testing.assert_frame_equal(tables(cut), tables(whole))


@pytest.mark.long
def test_compiling_first_changes_nothing_and_is_asked_for_when_there_are_many_pages(trace, monkeypatch):
    users = list(study.users(trace, by="session"))
    few = study.tasks(users, ("none", "psm:100"), CONFIG)
    monkeypatch.setattr(study, "MANY_PAGES", sum(user.n_pages for user in users))
    many = study.tasks(users, ("none", "psm:100"), CONFIG)
    assert (few[0].compile_first, many[0].compile_first) == (False, True)
    pd.testing.assert_frame_equal(tables(many), tables(few))


def test_a_task_for_another_program_is_refused(trace):
    task, *_ = study.tasks(study.users(trace), ("none",), CONFIG, program="0" * 64)
    with pytest.raises(study.OtherProgramError, match="another version"):
        study.compute(task)


def test_without_static_psm_the_words_are_of_energy_against_none_alone(population, results, trace):
    folder, _ = population(trace, "--policies", "bsd:1")
    words = (folder / "population.txt").read_text()
    assert "bsd:1" in words
    assert not {"psm", "dearer"} & set(words.replace(":", " ").split())
    assert "dearer" in (results("population").folder / "population.txt").read_text()


def test_under_real_beacons_users_are_measured_against_their_static_psm(population, trace):
    folder, _ = population(trace, "--beacon-ms", "102.4", "--member", "con[12].*")
    found = pd.read_csv(folder / "summary.csv").set_index("policy")
    assert list(found.index) == words("none psm:102.4 bsd:1 lpsm:log")
    assert found.loc["psm:102.4", "energy_of_all_vs_psm_percent"] == 0.0
    assert found.loc["none", "energy_of_all_vs_psm_percent"] > 0.0
    assert "than psm:102.4" in (folder / "population.txt").read_text()
    assert rows_of(folder)["user"].nunique() == 2


def test_long_absences_are_left_out_and_a_workload_is_one_user(population, trace, workload):
    folder, short = population(trace, "--by", "session", "--policies", "none", "--max-think", "30")
    assert "absences" in short.stderr
    assert rows_of(folder)["elapsed_s"].max() < 3 * 31
    folder, _ = population(workload, "--policies", "none,psm", "--force")
    assert rows_of(folder)["pages"].tolist() == [3, 3]
