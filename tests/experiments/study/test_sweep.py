import json
import pickle
from contextlib import suppress

import numpy as np

import netsim
import traces
from experiments.study import sweep
from experiments.study.compare import added_delays, compare
from experiments.study.store import Store
from lpsm.native.entries import entry_of
from lpsm.randomness import WORKLOAD, generator
from netsim.policies.compiled import PLAN
from netsim.policies.static import _never_sleep
from tests.tables import near, value_error
from traces import Message, Workload

CONFIG = netsim.SimulationConfig()
PAGE = traces.Page("a", 300, 500, (), 1.0)


def test_the_baseline_is_always_run_and_specs_become_canonical():
    listed = sweep.tasks([sweep.Generated(n_pages=2, seed=7)], ["psm", "bsd:0.50"], CONFIG)
    assert list(listed) == ["seed-7 none", "seed-7 psm:100", "seed-7 bsd:0.5"]


def test_a_task_crosses_processes_and_its_result_is_json():
    (_, task), *_ = sweep.tasks([sweep.Recorded(name="s", seed=0, recorded=(PAGE,))], ["lpsm"], CONFIG).items()
    result = sweep.simulate(pickle.loads(pickle.dumps(task)))
    assert json.loads(json.dumps(result)) == result == sweep.simulate(task)


def test_replications_have_different_names():
    session = sweep.Recorded(name="s", seed=0, recorded=(PAGE,))
    with value_error("different names"):
        sweep.tasks([session, session], ["none"], CONFIG)


def test_warming_up_runs_every_policy_and_leaves_no_trace():
    listed = sweep.tasks([sweep.Generated(n_pages=2, seed=0)], ["psm", "lpsm"], CONFIG)
    before = {key: sweep.simulate(task) for key, task in listed.items()}
    sweep.warm_up(listed.values())
    assert {key: sweep.simulate(task) for key, task in listed.items()} == before
    with value_error("multiple"):
        sweep.warm_up(
            [sweep.Task(workload=sweep.Generated(n_pages=1, seed=0), policy="psm:150", name="", config=CONFIG)]
        )


def test_what_is_left_to_compile_is_compiled_by_other_processes_and_what_they_cannot_know_here(monkeypatch):
    given = {"jobs": [], "here": []}
    left = {"netsim.policies.mine": 1, "mine.rule": 2}
    monkeypatch.setattr(sweep, "uncompiled", lambda policies, config: left)
    monkeypatch.setattr(sweep, "run", lambda function, tasks, jobs, title: given["jobs"].append(([*tasks], jobs)))
    monkeypatch.setattr(sweep, "address_of", given["here"].append)
    monkeypatch.setattr(sweep, "folder_of", lambda package: package)
    sweep.compile_express(["psm"], CONFIG, 2)
    assert given == {"jobs": [(["netsim.policies.mine"], 2)], "here": [1, 2]}
    monkeypatch.setattr(sweep, "folder_of", lambda package: None)
    sweep.compile_express(["psm"], CONFIG, 2)
    assert sorted(given["here"]) == [1, 1, 2, 2]
    entry = entry_of(_never_sleep, PLAN)
    assert pickle.loads(pickle.dumps(entry)).address > 0 < entry.address
    assert pickle.loads(pickle.dumps(entry)).is_ready


AIR = netsim.SimulationConfig(medium=netsim.AirConfig())


def test_with_clients_a_replication_is_the_cell_of_the_library_and_figures_are_means_over_its_clients():
    traffic = [sweep.Generated(n_pages=2, seed=seed, web="1996") for seed in (3, 4)]
    listed = sweep.tasks(traffic, ["none", "psm"], AIR, clients=2)
    frames = sweep.frames({key: sweep.simulate(task) for key, task in listed.items()})
    pages = [list(traces.generate(2, generator(4, WORKLOAD, client), "1996")) for client in range(2)]
    base, cell = (netsim.simulate_cell([(own, name) for own in pages], config=AIR, seed=4) for name in ("none", "psm"))
    run = frames.runs.set_index(["replication", "policy"]).loc[("seed-4", "psm:100")]
    assert (run["clients"], run["pages"]) == (2, 2)
    for name in ("elapsed_s", "beacons", "uplink_air_s"):
        assert run[name] == sum(getattr(result, name) for result in cell) / 2
    assert run["total_j"] == sum(result.energy.total_j for result in cell) / 2
    slowdown = np.concatenate([late.latency_s / early.latency_s for late, early in zip(cell, base, strict=True)])
    compared = compare(frames, ["psm:100"], netsim.RadioConfig(awake_mw=750.0, asleep_mw=50.0))
    found = compared.replications.set_index(["replication", "policy"])
    assert found.loc[("seed-4", "psm:100"), "slowdown_mean"] == near(slowdown.mean())
    awake_s = sum(result.latency_s.sum() for result in base) / 2
    assert found.loc[("seed-4", "page-awake"), "awake_j_per_page"] == near(0.75 * awake_s / 2)


def test_clients_browse_what_was_recorded_at_times_of_their_own():
    recorded = (PAGE._replace(think_s=30.0), PAGE._replace(issue_s=50.0, deadline_s=60.0, think_s=30.0))
    sent = (Message(at_s=2.0, size_bytes=10), Message(at_s=70.0, size_bytes=10))
    session = sweep.Recorded(name="s", seed=1, recorded=Workload.of(recorded, sent))
    assert list(session.pages(0)) == list(recorded)
    delays = set()
    for client in (1, 2):
        workload = session.pages(client)
        first, second = workload
        by_s = first.issue_s
        assert 0.0 < by_s < 80.0 / 2
        assert (second.issue_s, second.deadline_s) == near((50.0 + by_s, 60.0 + by_s))
        assert [message.at_s for message in workload.messages] == near([2.0 + by_s, 70.0 + by_s])
        delays.add(by_s)
    assert len(delays) == 2
    listed = sweep.tasks([session], ["none", "psm"], AIR, clients=2)
    frames = sweep.frames({key: sweep.simulate(task) for key, task in listed.items()})
    late = added_delays(frames.messages)
    assert late.groupby("policy").size().to_dict() == {"none": 4, "psm:100": 4}
    assert (late.loc[late["policy"] == "none", "added_s"] == 0).all()


def test_searches_of_a_clairvoyant_client_that_are_finished_are_not_made_again(tmp_path, monkeypatch):
    config = netsim.SimulationConfig(server_delay="exponential:0.3")
    seeds = [sweep.Generated(n_pages=2, seed=seed, web="1996") for seed in (4, 5)]
    listed = sweep.searches(sweep.tasks(seeds, ["psm"], config))
    store = Store(tmp_path / "out", "compare", {})
    with suppress(KeyboardInterrupt), store.giving_up():
        found = sweep.clairvoyant(sweep.measured(listed, store, jobs=1))
        raise KeyboardInterrupt
    for name, polls in (("clairvoyant", False), ("polling_clairvoyant", True)):
        own = netsim.clairvoyant(seeds[1].pages(), config=config, seed=5, polls=polls)
        np.testing.assert_array_equal(found[name]["seed-5"].above_sleep_j, own.above_sleep_j)
    monkeypatch.setattr(netsim, "clairvoyant", None)
    again = sweep.clairvoyant(sweep.measured(listed, Store(tmp_path / "out", "compare", {}), jobs=1))
    for name, curves in found.items():
        np.testing.assert_array_equal(again[name]["seed-4"].slowdown, curves["seed-4"].slowdown)
