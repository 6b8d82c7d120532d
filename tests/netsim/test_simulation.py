"""The front door: what it refuses, what its record holds, and what a shared world means."""

import numpy as np
import pytest

import netsim
from lpsm import randomness
from netsim import ServerDelay
from netsim.policies.lpsm2 import Lpsm2, Lpsm2Config
from netsim.simulation import is_compiled
from tests.netsim.worlds import load
from traces.records import Message, Page

PAGES = [Page(f"p{i}", 300, 5000 + 100 * i, ((300, 2000), (250, 9000)), 4.0) for i in range(8)]


def test_the_frames_have_the_columns_that_the_documentation_promises():
    result = netsim.simulate(PAGES, "psm")
    assert list(result.pages) == "policy page issue_s latency_s awake_s asleep_s beacons energy_j".split()  # noqa: SIM905
    assert list(result.polls) == ["time_s", "slept_ms", "buffered_bytes", "next_sleep_ms"]
    assert list(result.radio) == ["start_s", "end_s", "state"]
    assert set(result.pages.policy) == {"psm:100"}
    assert list(result.pages.page) == [page.page for page in PAGES]


def test_a_page_is_issued_at_its_time_or_when_the_one_before_is_done_and_thought_about():
    early = [Page("a", 300, 500, (), 5.0, 1.0), Page("b", 300, 500, (), 0.0, 2.0), Page("c", 300, 500, (), 0.0, 60.0)]
    result = netsim.simulate(early).pages
    assert result.issue_s.tolist() == [1.0, pytest.approx(1.0 + result.latency_s[0] + 5.0), 60.0]


def test_a_recorder_is_for_one_run_of_the_interpreted_model():
    recorder = netsim.Recorder()
    netsim.simulate(PAGES, "psm", recorder=recorder)
    with pytest.raises(ValueError, match="for one run"):
        netsim.simulate(PAGES, "psm", recorder=recorder)


def test_compared_policies_meet_the_same_server():
    config = netsim.SimulationConfig(server_delay=ServerDelay(mean_s=0.5, kind="lognormal", sigma=0.8))
    single = [page._replace(objects=(), issue_s=100.0 * i) for i, page in enumerate(PAGES)]
    plain = netsim.simulate(single)
    base = plain.pages.latency_s
    drawn = config.server_delay.draw(single, randomness.generator(7, randomness.SERVER)) / 1e9
    slow = netsim.simulate(single, config=config, seed=7).pages.latency_s
    assert np.allclose(slow - base, drawn, atol=1e-9)
    bounded = netsim.simulate(single, "bsd:0.1", config=config, seed=7).pages.latency_s
    assert (bounded >= slow - 1e-9).all()
    assert (bounded <= 1.1 * slow + 1e-9).all()


@pytest.mark.parametrize(
    ("text", "mean"),
    [("0.5", 0.5), ("exponential:0.5", 0.5), ("lognormal:0.5:0.8", 0.5), ("lognormal:0.5", 0.5), ("0", 0.0)],
)
def test_a_server_delay_has_the_mean_it_is_named_for(text, mean):
    pages = [Page("p", 1, 1, ((1, 1),) * 9)] * 4000
    drawn = ServerDelay.parse(text).draw(pages, np.random.default_rng(0)) / 1e9
    assert drawn.shape == (40_000,)
    assert drawn.mean() == pytest.approx(mean, rel=0.03)


def test_at_most_so_many_connections_are_open_at_a_time_and_each_object_may_have_its_own():
    page = Page("p", 300, 3000, ((300, 3000),) * 10)
    [one], [four] = (load(page, max_connections=n) for n in (1, 4))
    [separate] = load(page, connections="per-object")
    assert four < separate < one


def test_a_cell_of_one_client_is_the_single_client():
    alone = netsim.simulate(PAGES, "psm", seed=3)
    [shared] = netsim.simulate_cell([(PAGES, "psm")], seed=3)
    assert shared.pages.equals(alone.pages)
    assert shared.polls.equals(alone.polls)
    assert shared.radio.equals(alone.radio)
    assert (shared.energy, shared.uplink_air_s, shared.downlink_air_s) == (
        alone.energy,
        alone.uplink_air_s,
        alone.downlink_air_s,
    )
    [awake] = netsim.simulate_cell([(PAGES, "none")], seed=3)
    assert awake.pages.equals(netsim.simulate(PAGES, seed=3).pages)


def test_a_frame_that_waited_for_its_beacon_goes_before_one_of_another_client_that_is_still_on_the_wire():
    # 1,040 bytes take 0.832 ms on the wire, 20 ms of delay, 1.664 ms on the air and its 0.1 ms
    early, late = Message(0.03, 1000), Message(0.09, 1000)
    asleep, awake = netsim.simulate_cell([([], "psm"), ([], "none")], push=[[early], [late]])
    assert asleep.messages.delivered_s.tolist() == [pytest.approx(0.1 + 1.764e-3, abs=1e-12)]
    assert awake.messages.delivered_s.tolist() == [pytest.approx(0.09 + 20.832e-3 + 1.764e-3, abs=1e-12)]


def test_what_is_left_to_compile_is_asked_of_the_compiled_form_and_a_policy_without_a_rule_needs_nothing(monkeypatch):
    asked = []
    monkeypatch.setattr("netsim.running.compiled.is_ready", lambda policies: asked.append(policies[0].spec))
    for medium in (None, netsim.AirConfig()):
        assert not is_compiled("psm", netsim.SimulationConfig(medium=medium))
    assert asked == ["psm:100"] * 2
    assert is_compiled(Lpsm2(Lpsm2Config(record=True)), netsim.SimulationConfig())
