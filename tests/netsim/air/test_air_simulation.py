"""Runs on the air through the front door: what they record, what they refuse, and what they leave as it was."""

import pytest

import netsim
from traces.records import Page

PAGES = [Page(f"p{i}", 300, 9_000, ((300, 4_000), (300, 20_000)), 1.234) for i in range(5)]


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
