"""Runs on the air through the front door: what they record, what they refuse, and what they leave as it was."""

import numpy as np
import pytest

import netsim
from traces.records import Message, Page

PAGES = [Page(f"p{i}", 300, 9_000, ((300, 4_000), (300, 20_000)), 1.234) for i in range(5)]
AIR = netsim.SimulationConfig(medium=netsim.AirConfig(phy=netsim.Phy.parse("11g:54")))


@pytest.mark.parametrize("policy", ["none", "psm", "dynamic:50", "uapsd", "twt:200:20", "bsd:0.5", "lpsm", "lpsm2"])
@pytest.mark.parametrize("radio", ["thesis", "esp32-c6"])
def test_states_add_up_to_the_run_and_the_energies_of_pages_to_less_than_it(policy, radio):
    config = netsim.SimulationConfig(medium=netsim.AirConfig(), radio=netsim.Radio.named(radio))
    result = netsim.simulate(PAGES, policy, config=config)
    assert sum(result.states_s.values()) == pytest.approx(result.elapsed_s)
    assert result.awake_s + result.asleep_s == pytest.approx(result.elapsed_s)
    parts = result.energy
    assert parts.awake_j + parts.sleep_j + parts.listen_j + parts.wakeup_j == pytest.approx(parts.total_j)
    assert 0 < result.pages.energy_j.sum() < parts.total_j
    assert (result.pages.latency_s > 0.04).all()
    assert result.pages.equals(netsim.simulate(PAGES, policy, config=config, engine="packet").pages)


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


def test_the_energy_of_a_radio_of_states_is_the_sum_over_its_states():
    radio = netsim.Radio.named("cc3235sf-states")
    config = netsim.SimulationConfig(medium=netsim.AirConfig(), radio=radio)
    result = netsim.simulate(PAGES, "psm", config=config)
    power = {"doze": radio.doze_mw, "waking": radio.waking_mw, "listening": radio.listening_mw,
             "receiving": radio.receiving_mw, "transmitting": radio.transmitting_mw}  # fmt: skip
    assert result.energy.total_j == pytest.approx(sum(result.states_s[name] * power[name] for name in power) * 1e-3)


def test_alone_and_awake_a_page_takes_as_long_as_on_wires_of_the_same_speed_give_or_take_its_frames():
    air = netsim.simulate(PAGES, "none", config=AIR).pages.latency_s
    fast = netsim.LinkConfig(wireless_mbps=54.0, wireless_delay_ms=0.0)
    wires = netsim.simulate(PAGES, "none", config=netsim.SimulationConfig(link=fast)).pages.latency_s
    packets = 45  # of each page, either way: preamble, interframe spaces, ACK and backoff take under 0.2 ms a packet
    assert ((air - wires) > 0).all()
    assert ((air - wires) < packets * 0.2e-3).all()


def test_messages_are_pushed_over_the_air():
    messages = [Message(at_s=0.35 + 0.7 * i, size_bytes=400) for i in range(10)]
    asleep = netsim.simulate([], "psm:300", config=AIR, push=messages).messages
    awake = netsim.simulate([], "none", config=AIR, push=messages).messages
    added = asleep.delay_s - awake.delay_s
    assert len(asleep) == 10
    assert (added >= 0).all()
    assert 0.05 < added.mean() < 0.3


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
    with pytest.raises(ValueError, match=r"push must be one entry a client \(1\), got 2 entries"):
        netsim.simulate_cell([(PAGES, "psm")], config=AIR, push=[[], []])
    on_wires, _ = netsim.simulate_cell([([], "psm:300"), (PAGES, "psm")], push=[messages, []])
    assert len(on_wires.messages) == 10


def test_losses_are_repeated_on_the_air_and_few_reach_tcp():
    config = netsim.SimulationConfig(medium=netsim.AirConfig(), link=netsim.LinkConfig(loss_rate=0.2))
    lossy = netsim.simulate(PAGES, "none", config=config)
    assert lossy.frames_lost == 0  # 0.2 to the seventh is one in 78,000
    assert lossy.pages.latency_s.mean() < 1.1 * netsim.simulate(PAGES, "none", config=AIR).pages.latency_s.mean()


def test_clients_of_a_cell_share_the_air_and_keep_accounts_of_their_own():
    heavy = [Page(f"h{i}", 300, 400_000, (), 0.0) for i in range(4)]
    slow = netsim.SimulationConfig(medium=netsim.AirConfig(phy=netsim.Phy.parse("11b:1")))
    alone = netsim.simulate(heavy, "none", config=slow)
    first, second = netsim.simulate_cell([(heavy, "none"), (heavy, "none")], config=slow)
    assert first.pages.latency_s.mean() > 1.7 * alone.pages.latency_s.mean()
    assert first.downlink_air_s == pytest.approx(alone.downlink_air_s)
    assert second.downlink_air_s == pytest.approx(alone.downlink_air_s)
    [one] = netsim.simulate_cell([(PAGES, "psm")], config=AIR, seed=3)
    assert one.pages.equals(netsim.simulate(PAGES, "psm", config=AIR, seed=3).pages)


def test_two_hundred_clients_that_begin_at_one_instant_all_get_their_pages():
    pages = [Page("p", 300, 3_000, (), 0.2)]
    results = netsim.simulate_cell([(pages, "psm")] * 200, config=AIR)
    latencies = np.concatenate([result.latency_s for result in results])
    assert len(latencies) == 200
    assert 0.6 < np.median(latencies) < 0.8
    assert latencies.max() < 10.0  # a SYN that collides seven times is sent again by TCP after 3 s


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: netsim.simulate_cell([(PAGES, "psm")], config=AIR, engine="x"), ValueError, "engine must be one of"),
        (
            lambda: netsim.simulate(PAGES, "psm", config=AIR, recorder=netsim.Recorder()),
            ValueError,
            "this run is the other",
        ),
        (lambda: netsim.simulate([], "psm", config=AIR), ValueError, "at least one page"),
        (lambda: netsim.simulate_cell([], config=AIR), ValueError, "at least one client"),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_rule_and_the_value(make, error, message):
    with pytest.raises(error, match=message):
        make()
