from __future__ import annotations

import json
import pickle

import pytest

import netsim
import traces
from experiments.study import sweep

CONFIG = netsim.SimulationConfig()
PAGE = traces.Page("a", 300, 500, (), 1.0)


def test_the_baseline_is_always_run_and_specs_become_canonical() -> None:
    listed = sweep.tasks([sweep.Generated(n_pages=2, seed=7)], ["psm", "bsd:0.50"], CONFIG)
    assert [task.policy for task in listed.values()] == ["none", "psm:100", "bsd:0.5"]
    assert list(listed) == ["seed-7 none", "seed-7 psm:100", "seed-7 bsd:0.5"]


def test_all_policies_of_a_replication_meet_the_same_pages_and_delays() -> None:
    config = netsim.SimulationConfig(server_delay=netsim.ServerDelay(mean_s=0.3, kind="exponential"))
    listed = sweep.tasks([sweep.Generated(n_pages=4, seed=1)], ["bsd:0.1"], config)
    none, bsd = (sweep.simulate(task)["pages"] for task in listed.values())
    assert none["page"] == bsd["page"]
    assert none["latency_s"] == pytest.approx(bsd["latency_s"], rel=0.1)


def test_different_seeds_are_different_traffic_and_the_same_seed_the_same() -> None:
    one, again, other = (sweep.Generated(n_pages=5, seed=seed).pages() for seed in (1, 1, 2))
    assert one == again != other


def test_a_task_crosses_processes_and_its_result_is_json() -> None:
    (_, task), *_ = sweep.tasks([sweep.Recorded(name="s", seed=0, recorded=(PAGE,))], ["lpsm"], CONFIG).items()
    result = sweep.simulate(pickle.loads(pickle.dumps(task)))
    assert json.loads(json.dumps(result)) == result == sweep.simulate(task)


def test_polls_are_recorded_for_learners_in_the_first_replication_only() -> None:
    listed = sweep.tasks([sweep.Generated(n_pages=1, seed=seed) for seed in (0, 1)], ["psm", "lpsm:log"], CONFIG)
    assert [key for key, task in listed.items() if task.record_polls] == ["seed-0 lpsm:log"]


@pytest.mark.parametrize(
    ("policies", "rule"),
    [([], "at least one policy"), (["psm", "psm:100"], "policies must differ"), (["psmm"], "did you mean psm")],
)
def test_policies_that_make_no_comparison_are_errors(policies: list[str], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        sweep.tasks([sweep.Generated(n_pages=1, seed=0)], policies, CONFIG)


def test_empty_traffic_is_an_error() -> None:
    with pytest.raises(ValueError, match="no traffic"):
        sweep.tasks([], ["none"], CONFIG)
    with pytest.raises(ValueError, match="pages must be at least 1, got 0"):
        sweep.Generated(n_pages=0, seed=0)
    with pytest.raises(ValueError, match="needs at least one page, s has none"):
        sweep.Recorded(name="s", seed=0, recorded=())
    session = sweep.Recorded(name="s", seed=0, recorded=(PAGE,))
    with pytest.raises(ValueError, match="different names"):
        sweep.tasks([session, session], ["none"], CONFIG)


def test_warming_up_compiles_the_express_engine_once_a_policy_where_pages_are_many(monkeypatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(sweep, "compile_express", lambda policies, config: asked.append((*policies, config)))
    for n_pages, compiled in ((sweep.MANY_PAGES // 2 - 1, []), (sweep.MANY_PAGES // 2, ["none", "psm:100"])):
        listed = sweep.tasks([sweep.Generated(n_pages=n_pages, seed=seed) for seed in (0, 1)], ["psm"], CONFIG)
        sweep.warm_up(listed.values())
        assert asked == [(policy, CONFIG) for policy in compiled]


def test_warming_up_runs_every_policy_and_leaves_no_trace() -> None:
    listed = sweep.tasks([sweep.Generated(n_pages=2, seed=0)], ["psm", "lpsm"], CONFIG)
    before = {key: sweep.simulate(task) for key, task in listed.items()}
    sweep.warm_up(listed.values())
    assert {key: sweep.simulate(task) for key, task in listed.items()} == before
    with pytest.raises(ValueError, match="multiple"):
        sweep.warm_up([sweep.Task(workload=sweep.Generated(n_pages=1, seed=0), policy="psm:150", config=CONFIG)])
