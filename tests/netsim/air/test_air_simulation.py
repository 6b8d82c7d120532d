"""Runs on the air through the front door: what they record, what they refuse, and what they leave as it was."""

import pytest

import netsim
from traces.records import Message, Page

PAGES = [Page(f"p{i}", 300, 9_000, ((300, 4_000), (300, 20_000)), 1.234) for i in range(5)]
AIR = netsim.SimulationConfig(medium=netsim.AirConfig(phy=netsim.Phy.parse("11g:54")))


@pytest.mark.parametrize(
    ("policy", "options"), [("psm", {"beacon_loss": True}), ("twt:200:20", {"twt_announced": True})]
)
def test_lost_beacons_and_announced_periods_delay_pages_add_up_and_are_the_same_with_the_same_seed(policy, options):
    lossy = netsim.LinkConfig(loss_rate=0.3)
    plain = netsim.SimulationConfig(medium=netsim.AirConfig(), radio=netsim.Radio.named("esp32-c6"), link=lossy)
    changed = netsim.SimulationConfig(medium=netsim.AirConfig(**options), radio=plain.radio, link=lossy)
    before = netsim.simulate(PAGES, policy, config=plain, engine="packet")
    after, again = (netsim.simulate(PAGES, policy, config=changed, seed=0) for _ in range(2))
    assert after.pages.equals(again.pages)
    assert after.energy == again.energy
    assert not after.pages.equals(before.pages)
    assert sum(after.states_s.values()) == pytest.approx(after.elapsed_s)
    if "beacon_loss" in options:  # the mean wait for a beacon that is heard is longer
        assert after.latency_s.mean() > before.latency_s.mean()
    else:  # a frame of the client in every period
        assert after.states_s["transmitting"] > before.states_s["transmitting"]


def test_a_run_that_a_message_ends_is_over_before_the_message_is_acknowledged():
    result = netsim.simulate([], "psm:300", config=AIR, push=[Message(at_s=0.35, size_bytes=400)])
    spent_s = (result.radio.end_s - result.radio.start_s).groupby(result.radio.state).sum()
    assert result.radio.end_s.iloc[-1] == result.elapsed_s == result.messages.delivered_s.iloc[-1]
    assert spent_s["awake"] == pytest.approx(result.awake_s, abs=1e-9)
    assert spent_s["asleep"] == pytest.approx(result.asleep_s, abs=1e-9)


def test_every_client_of_a_cell_may_have_messages_of_its_own():
    messages = [Message(at_s=0.35 + 0.7 * i, size_bytes=400) for i in range(10)]
    pushed, browsing = netsim.simulate_cell([([], "psm:300"), (PAGES, "psm")], config=AIR, push=[messages, []])
    assert len(pushed.messages) == 10
    assert len(browsing.messages) == 0
    on_wires, _ = netsim.simulate_cell([([], "psm:300"), (PAGES, "psm")], push=[messages, []])
    assert len(on_wires.messages) == 10
