"""The front door: what its record holds, what a shared world means, and what messages and replies take."""

import subprocess
import sys

import numpy as np
import pytest

import netsim
from lpsm import randomness
from lpsm.native import folder_of
from netsim import ServerDelay, simulation
from netsim.policies.lpsm2 import Lpsm2, Lpsm2Config
from netsim.simulation import uncompiled
from tests.netsim.worlds import load
from tests.tables import cases_of, each, near, value_error
from traces.columns import Workload
from traces.records import Message, Page
from traces.server_times import network_us

PAGES = [Page(f"p{i}", 300, 5000 + 100 * i, ((300, 2000), (250, 9000)), 4.0) for i in range(8)]


def test_the_frames_have_the_columns_that_the_documentation_promises():
    result = netsim.simulate(PAGES, "psm", push=[Message(0.5, 90)])
    for name, columns in (("pages", "policy page issue_s latency_s awake_s asleep_s beacons energy_j"),
        ("polls", "time_s slept_ms buffered_bytes next_sleep_ms"), ("radio", "start_s end_s state"),
        ("messages", "policy message written_s size_bytes delivered_s delay_s")):  # fmt: skip
        assert list(getattr(result, name)) == columns.split()
    assert set(result.pages.policy) == {"psm:100"}
    assert list(result.pages.page) == [page.page for page in PAGES]


def test_a_page_is_issued_at_its_time_or_when_the_one_before_is_done_and_thought_about():
    early = [Page("a", 300, 500, (), 5.0, 1.0), Page("b", 300, 500, (), 0.0, 2.0), Page("c", 300, 500, (), 0.0, 60.0)]
    result = netsim.simulate(early).pages
    assert result.issue_s.tolist() == [1.0, near(1.0 + result.latency_s[0] + 5.0), 60.0]


def test_a_recorder_is_for_one_run_of_the_interpreted_model():
    recorder = netsim.Recorder()
    netsim.simulate(PAGES, "psm", recorder=recorder)
    with value_error("for one run"):
        netsim.simulate(PAGES, "psm", recorder=recorder)


def test_compared_policies_meet_the_same_server():
    config = netsim.SimulationConfig(server_delay=ServerDelay(mean_s=0.5, kind="lognormal", sigma=0.8))
    single = [page._replace(objects=(), issue_s=100.0 * i) for i, page in enumerate(PAGES)]
    base = netsim.simulate(single).pages.latency_s
    drawn = config.server_delay.draw(single, randomness.generator(7, randomness.SERVER)) / 1e9
    slow = netsim.simulate(single, config=config, seed=7).pages.latency_s
    assert np.allclose(slow - base, drawn, atol=1e-9)
    bounded = netsim.simulate(single, "bsd:0.1", config=config, seed=7).pages.latency_s
    assert (bounded >= slow - 1e-9).all()
    assert (bounded <= 1.1 * slow + 1e-9).all()


@cases_of("text mean", """
"0.5", 0.5 ; "exponential:0.5", 0.5 ; "lognormal:0.5:0.8", 0.5 ; "lognormal:0.5", 0.5
""")  # fmt: skip
def test_a_server_delay_has_the_mean_it_is_named_for(text, mean):
    pages = [Page("p", 1, 1, ((1, 1),) * 9)] * 4000
    drawn = ServerDelay.parse(text).draw(pages, np.random.default_rng(0)) / 1e9
    assert drawn.shape == (40_000,)
    assert drawn.mean() == near(mean, rel=0.03)


def test_servers_that_are_alike_are_the_server_of_the_world_and_others_differ_by_page():
    work, delay = PAGES[:4], ServerDelay.parse("lognormal:0.5:0.8")
    world = netsim.simulate(work, "psm", config=netsim.SimulationConfig(server_delay=delay), seed=2)
    assert world.pages.equals(netsim.simulate(work, "psm", server_delays=[delay] * 4, seed=2).pages)
    single = [page._replace(objects=page.objects[:1]) for page in work]
    mixed = netsim.simulate(single, server_delays=[ServerDelay(), ServerDelay(mean_s=1.0)] * 2).latency_s
    late = mixed - netsim.simulate(single).latency_s
    assert late.tolist() == near([0, 2, 0, 2])  # one second each for the HTML and its object


def test_at_most_so_many_connections_are_open_at_a_time_and_each_object_may_have_its_own():
    page = Page("p", 300, 3000, ((300, 3000),) * 10)
    [one], [four] = (load(page, max_connections=n) for n in (1, 4))
    [separate] = load(page, connections="per-object")
    assert four < separate < one


@each("policy", "psm none")
def test_a_cell_of_one_client_is_the_single_client(policy):
    alone, [shared] = netsim.simulate(PAGES, policy, seed=3), netsim.simulate_cell([(PAGES, policy)], seed=3)
    for name in ("pages", "polls", "radio"):
        assert getattr(shared, name).equals(getattr(alone, name))
    assert (shared.energy, shared.downlink_air_s) == (alone.energy, alone.downlink_air_s)


def test_a_message_takes_the_wire_the_air_and_the_rest_of_the_beacon_interval_behind_nobody_elses():
    push = [Message(1.03, 1000), Message(5.0, 1000)]
    air_s = 1040 * 8 / 5e6 + 0.0001
    quick_s = 1040 * 8 / 10e6 + 0.02 + air_s
    awake, asleep = netsim.simulate_cell([([], "none"), ([], "psm:500")], push=[push, [Message(1.04, 1000), push[1]]])
    assert awake.messages.delay_s.tolist() == near([quick_s] * 2, abs=1e-9)
    assert asleep.messages.delivered_s.tolist() == near([1.5 + air_s, 5.5 + air_s], abs=1e-9)


def test_full_segments_are_acknowledged_and_partial_ones_cost_no_packet():
    for size, acknowledgements in ((1000, 0), (2000, 1)):  # 2,000 bytes are 1460 + 540
        run = netsim.simulate([], "psm", push=[Message(float(t), size) for t in range(50)])
        assert run.uplink_air_s == near(50 * acknowledgements * 40 * 8 / 5e6)
        assert run.downlink_air_s == near(50 * (size + 40 * (1 + acknowledgements)) * 8 / 5e6)


@cases_of("size", "1 ; 500 ; 1460 ; 2920 ; 3000 ; 9000 ; 20_000 ; 60_000 ; 300_000 ; 1_000_000")
def test_the_time_that_traces_give_to_the_network_is_that_of_a_client_that_never_sleeps(size):
    result = netsim.simulate([Page("a", 300, size)], "none")
    assert network_us(size) / 1e6 == near(result.latency_s[0], rel=0.02)


def test_what_is_left_to_compile_is_asked_of_the_compiled_form_and_a_policy_without_a_rule_needs_nothing(monkeypatch):
    monkeypatch.setattr("lpsm.native.entries.Entry.is_ready", property(lambda entry: entry.name == "_never_sleep"))
    kernel, rule = "netsim.running.kernel.advance_run", "netsim.policies.static._listen_periodically"
    for medium in (None, netsim.AirConfig()):
        left = uncompiled(["psm", "none", "psm:200"], netsim.SimulationConfig(medium=medium))
        assert [*left] == [kernel, rule]
    assert not uncompiled([Lpsm2(Lpsm2Config(record=True))], netsim.SimulationConfig())


ALL = """
import sys
import netsim, traces
assert "scipy" not in sys.modules
for entry in netsim.policies.registry().values():
    for engine in ("express", "packet"):
        netsim.simulate([traces.Page("", 1, 1)] * 2, entry.example, engine=engine)
print("numba" in sys.modules)
"""


def test_once_compiled_every_policy_runs_either_way_without_the_compiler():
    if folder_of("netsim") is None:
        pytest.skip("nothing is kept here")
    for _ in range(2):  # what is compiled in the first is there in the second
        found = subprocess.run([sys.executable, "-c", ALL], capture_output=True, check=True, text=True).stdout
    assert found == "False\n"


@cases_of("kept times", "True, 1 ; False, 20")
def test_what_is_not_compiled_is_interpreted_for_a_second_of_work_in_all_and_compiled_then(monkeypatch, kept, times):
    ran = []
    monkeypatch.setattr(simulation, "_interpreted", [0.0])
    monkeypatch.setattr(simulation, "folder_of", lambda module: module if kept else None)
    monkeypatch.setattr(simulation, "result_of", lambda *_: None)
    monkeypatch.setattr("netsim.running.on_simpy.run_interpreted", lambda *_: ran.append("interpreted") or [()])
    monkeypatch.setattr("netsim.running.compiled.run_compiled", lambda *_: ran.append("compiled") or [()])
    monkeypatch.setattr("netsim.running.compiled.is_ready", lambda _: False)
    few = [Page("", 300, 5000)] * 250
    for _ in range(4 * times + 2):
        netsim.simulate(few, "psm")
    assert ran == ["interpreted"] * 4 * times + ["compiled"] * 2
    assert simulation._work([(Workload.of(few), None)], [[]], netsim.SimulationConfig()) == 0.25
    idle = [Page("", 300, 5000, (), 1e4)] * 5
    loaded = netsim.SimulationConfig(medium=netsim.AirConfig(neighbours=2))
    assert simulation._work([(Workload.of(idle), None)], [[]], netsim.SimulationConfig()) == 1.0
    assert simulation._work([(Workload.of(idle), None)], [[]], loaded) == 5000.0
