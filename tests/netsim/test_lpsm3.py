"""LPSM3: what it takes for a wait and for a page, what it learns, and what it keeps."""

import pytest

import netsim
from lpsm.randomness import WORKLOAD, generator
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config
from tests.netsim.clients import LOGNORMAL, MS, Client, saturation, web
from traces.traffic import draw, push_messages, stalls, stream


def waits(policy):
    """What is outstanding: (kind, since when in ms), the oldest first."""
    known = policy.memory[0]
    n = int(known["n"])
    return list(zip(known["kind"][:n].tolist(), (known["origin_ns"][:n] / MS).tolist(), strict=True))


# -- by hand


def test_far_from_its_deadline_a_page_is_slept_for_near_it_waited_for_awake_and_the_balance_leaves_it_out():
    awake_ms = {}
    for deadline_ms in (None, 61_000, 1012):
        policy = Lpsm3()
        client = Client(policy)
        client.idle(0)
        client.sent(1000, "a")
        awake_ms[deadline_ms] = client.idle(1010, deadline_ms).awake_until_ns / MS - 1010
        client.received(1500, "a", size=300, completes=True, reached_ms=1490)
        client.idle(1500, deadline_ms)
        assert policy.memory[0]["balance"] == (-1.0 if deadline_ms is None else 0.0)
        assert policy.memory[0]["pages"] == 1
    assert awake_ms[61_000] == 0.0 < awake_ms[None] < awake_ms[1012]


def test_a_stream_with_deadlines_needs_no_more_than_the_rule_that_is_never_awake_in_vain_and_never_stalls():
    found = stream(200.0, generator(36, WORKLOAD))
    hinted = [page._replace(deadline_s=at) for page, at in zip(found.pages, found.deadlines_s.tolist(), strict=True)]
    own, blind, rule = (
        netsim.simulate(pages, policy)
        for pages, policy in ((hinted, "lpsm3"), (found.pages, "lpsm3"), (hinted, "hold:0"))
    )
    assert own.energy.total_j <= rule.energy.total_j < 0.97 * blind.energy.total_j
    done_s = own.pages["issue_s"] + own.pages["latency_s"]
    assert not stalls(found.deadlines_s, found.viewings, done_s).any()


# -- what it keeps


def slowdowns(pages, policy, config, seed):
    base, own = (netsim.simulate(pages, which, config=config, seed=seed) for which in ("none", policy))
    return own, own.latency_s / base.latency_s


@pytest.mark.parametrize("server", ["0", "0.5", "lognormal:0.5:0.8"])
@pytest.mark.parametrize("target", [1.02, 1.05, 1.2])
def test_the_slowdown_asked_for_is_kept(server, target):
    config = netsim.SimulationConfig(server_delay=netsim.ServerDelay.parse(server))
    own, slowdown = slowdowns(web(31, 200), f"lpsm3:{target}", config, 31)
    assert slowdown.mean() - 1.0 <= 1.12 * (target - 1.0)
    rival = netsim.simulate(web(31, 200), f"lpsm2:{target}", config=config, seed=31)
    assert own.energy.total_j < 1.005 * rival.energy.total_j


def test_its_own_account_of_pages_is_near_what_pages_were_delayed():
    own, slowdown = slowdowns(web(32, 200), "lpsm3:1.05", LOGNORMAL, 32)
    known = own.final_policy.memory[0]
    assert known["pages"] == 200
    assert 0.05 * (1.0 + float(known["balance"]) / 200) == pytest.approx(slowdown.mean() - 1.0, abs=0.01)


@pytest.mark.parametrize("delay_ms", [100, 400])
def test_the_delay_of_memoryless_messages_that_was_asked_for_is_kept(delay_ms):
    messages = push_messages(5400.0, generator(33, WORKLOAD))
    base, own = (netsim.simulate([], policy, push=messages) for policy in ("none", f"lpsm3:1.05:{delay_ms}"))
    added_s = (own.messages["delay_s"] - base.messages["delay_s"]).mean()
    assert added_s == pytest.approx(0.93 * delay_ms / 1000, rel=0.1)


def test_a_radio_whose_wakeups_are_dear_is_woken_less_often():
    messages = draw("push-bursty", 3000.0, generator(34, WORKLOAD)).messages
    cheap, dear = (
        netsim.simulate([], "lpsm3:1.05:60", push=messages, config=netsim.SimulationConfig(radio=radio))
        for radio in (netsim.RadioConfig(), netsim.RadioConfig(wakeup_mj=20.0))
    )
    assert dear.wakeups <= cheap.wakeups


def test_the_constants_keep_the_theorem():
    config = Lpsm3Config()
    assert saturation(config.gain, -config.largest_drift, config.largest_price_ratio) + 20.0 <= 50.0
