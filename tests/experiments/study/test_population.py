from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import netsim
import traces
from experiments.study import parts
from experiments.study import population as study
from experiments.study.store import part_name
from experiments.world import made
from lpsm.randomness import WORKLOAD, generator
from tests.tables import cases_of, words
from tests.traces.test_reading import peak_bytes

pytestmark = pytest.mark.usefixtures("undrawn")

CONFIG = netsim.SimulationConfig()


def rows_of(folder):
    return pd.concat(map(pd.read_parquet, sorted(folder.glob("part-*.parquet"))), ignore_index=True)


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


def test_policies_of_users_are_made_for_the_whole_world_its_dtim_period_and_radio_too():
    world = made("today", {"dtim_period": 3}).config
    names = ("none", "driver:esp-idf", "dynamic:20:dtim", "break-even", "lpsm4:1.05")
    users = study.Drawn(2, 2, seed=5, web="1996")
    table = tables([study.Task(members=tuple(users), policies=names, config=world)]).set_index(["user", "policy"])
    for user in users:
        for policy in names:
            result = netsim.simulate(user.pages(), policy, config=world, seed=user.seed)
            assert table.loc[(user.name, result.policy), "total_j"] == result.energy.total_j


def test_every_row_is_what_the_simulator_says_of_that_session(results, trace):
    table = rows_of(results("population").folder)
    assert list(table.columns) == [*study.COLUMNS]
    rows = table.set_index(["user", "policy"])
    assert len(rows) == 12 * 4
    parts = rows[words("awake_j sleep_j listen_j wakeup_j")].sum(axis=1)
    assert parts.to_numpy() == pytest.approx(rows["total_j"].to_numpy(), rel=1e-12)
    config = made("today").config
    for number, session in enumerate(traces.sessions(trace)):
        pages = traces.pages(session.requests)
        base, psm = (netsim.simulate(pages, policy, config=config, seed=number) for policy in ("none", "psm:102.4"))
        for policy in ("none", "psm:102.4", "bsd:1", "lpsm:log"):
            result = netsim.simulate(pages, policy, config=config, seed=number)
            row = rows.loc[(session.name, policy)]
            assert row["total_j"] == result.energy.total_j
            assert row["beacons"] == result.beacons
            assert (row["pages"], row["sessions"]) == (len(pages), 1)
            assert row["slowdown_mean"] == result.slowdown(base)
            assert row["slowdown_vs_psm"] == pytest.approx(result.slowdown(base) / psm.slowdown(base))
            assert row["energy_vs_none_percent"] == result.against(base).energy_percent
            assert row["energy_vs_psm_percent"] == result.against(psm).energy_percent
            assert np.isnan(row["added_delay_mean_s"])


def test_a_user_browses_all_of_their_sessions_as_one_workload(trace):
    found = {user.name: user for user in study.Users(trace, by="user")}
    browsed = {}
    for session in traces.sessions(trace):
        browsed.setdefault(session.user, []).extend(traces.pages(session.requests))
    assert {name: list(user.recorded) for name, user in found.items()} == browsed
    assert sum(user.sessions for user in found.values()) == 12
    assert len({user.seed for user in found.values()}) == len(found) == 5


@cases_of("pages_per_task", "1 ; 4 ; 1000")
def test_cutting_into_tasks_loses_nobody_and_changes_no_result(trace, pages_per_task):
    policies, users = ("none", "psm:100"), study.Users(trace, by="session")
    cut = list(study.tasks(users, policies, CONFIG, pages_per_task=pages_per_task))
    assert [sum(sizes) for sizes in study.cut(users.sizes(), pages_per_task, int)] == [
        sum(user.n_pages for user in task.members) for task in cut]  # fmt: skip
    assert (users.count, users.pages) == (12, sum(user.n_pages for user in users))
    users = list(users)
    assert [user for task in cut for user in task.members] == users
    assert all(sum(user.n_pages for user in task.members) >= pages_per_task for task in cut[:-1])
    whole = [study.Task(members=tuple(users), policies=policies, config=CONFIG)]
    pd.testing.assert_frame_equal(tables(cut), tables(whole))


@pytest.mark.long
def test_compiling_first_changes_nothing(trace):
    users = list(study.Users(trace, by="session"))
    few, many = (list(study.tasks(users, ("none", "psm:100"), CONFIG, pages_per_task=99, compile_first=first))
        for first in (False, True))  # fmt: skip
    pd.testing.assert_frame_equal(tables(many), tables(few))


def test_drawn_sessions_are_as_many_as_wanted_each_with_a_seed_of_its_own(lpsm, tmp_path):
    words = ["population", "--sessions", "5", "--pages", "2", "--web", "1996", "--policies", "none,psm", "--seed", "3"]
    drawn = lpsm(*words, "--pages-per-task", "4", "--jobs", "1", "--out", tmp_path / "out")
    assert drawn.exit_code == 0, drawn.output
    assert sorted(path.name for path in (tmp_path / "out").glob("part*")) == [part_name(n) for n in range(3)]
    rows = rows_of(tmp_path / "out")
    assert rows["user"].tolist() == [f"seed-{seed}" for seed in (3, 4, 5, 6, 7) for _ in range(2)]
    config = made("today", drawn=True).config
    for seed, own in zip(range(3, 8), rows.groupby("user", sort=False), strict=True):
        pages = traces.generate(2, generator(seed, WORKLOAD, 0), "1996")
        results = [netsim.simulate(pages, policy, config=config, seed=seed) for policy in ("none", "psm")]
        assert own[1]["total_j"].tolist() == [result.energy.total_j for result in results]


def test_nothing_is_kept_of_a_user_but_a_row_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "MOST_POINTS", 100)
    policies, users = ["none", "psm:100"], 400  # of a part
    paths = [tmp_path / str(part) for part in range(16)]
    for part, path in enumerate(paths):
        rng = np.random.default_rng(part)
        path.write_bytes(parts.packed({name: rng.random(2 * users) for name in study.COLUMNS[2:]}))
    usual = pa.default_memory_pool()
    for work in (
        partial(study.summary, policies=policies),
        lambda read: parts.quantiles(read, "slowdown_mean", 2, [0.5]),
    ):
        peaks = []
        for n in (1, 4, 16):  # the first also imports
            read, pool = partial(parts.read, paths[:n]), pa.proxy_memory_pool(usual)
            pa.set_memory_pool(pool)
            peaks.append((peak_bytes(partial(work, read)), pool.max_memory()))
            pa.set_memory_pool(usual)
            assert len(study.points(read, policies, n * users)) <= 2 * study.MOST_POINTS
        for few, many in zip(*peaks[1:], strict=True):
            assert 0 < many < 1.2 * few


def test_a_task_for_another_program_is_refused(trace):
    task, *_ = study.tasks(study.Users(trace), ("none",), CONFIG, pages_per_task=9, program="0" * 64)
    with pytest.raises(study.OtherProgramError, match="another version"):
        study.compute(task)


def test_without_static_psm_the_words_are_of_energy_against_none_alone(population, results, trace):
    folder, _ = population(trace, "--policies", "bsd:1")
    words = (folder / "population.txt").read_text()
    assert "bsd:1" in words
    assert not {"psm", "dearer", "captured"} & set(words.replace(":", " ").split())
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
