"""LPSM2 to LPSM4: whether they keep what was asked, by runs and on adversarial pages."""

import numpy as np
import pytest

import netsim
import traces
from lpsm.randomness import WORKLOAD, generator
from netsim.policies import lpsm3_rule as rule
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config
from netsim.policies.lpsm4 import Lpsm4, Lpsm4Config
from tests.netsim.clients import MS, Client, saturation
from tests.tables import cases_of
from traces.traffic import push_messages


@cases_of("server target", """
"0", 1.05 ; "0.5", 1.02 ; "0.5", 1.2 ; "lognormal:0.5:0.8", 1.05
""")  # fmt: skip
def test_the_slowdown_asked_for_is_kept_with_less_energy_by_each_learner(server, target):
    config, pages = netsim.SimulationConfig(server_delay=server), traces.generate(200, generator(31, WORKLOAD), "1996")
    specs = "none", "bsd:0.05", f"lpsm2:{target}", f"lpsm3:{target}"
    base, bounded, lpsm2, lpsm3 = (netsim.simulate(pages, one, config=config, seed=31) for one in specs)
    assert lpsm3.slowdown(base) - 1.0 <= 1.12 * (target - 1.0)
    assert lpsm2.slowdown(base) - 1.0 <= 1.2 * (target - 1.0)
    assert lpsm3.energy.total_j < 1.005 * lpsm2.energy.total_j < 0.92 * bounded.energy.total_j


@pytest.mark.parametrize("delay_ms", [100, 400])
def test_the_delay_of_memoryless_messages_that_was_asked_for_is_kept(delay_ms):
    messages = push_messages(5400.0, generator(33, WORKLOAD))
    base, own = (netsim.simulate([], policy, push=messages) for policy in ("none", f"lpsm3:1.05:{delay_ms}"))
    added_s = (own.messages["delay_s"] - base.messages["delay_s"]).mean()
    assert added_s == pytest.approx(0.93 * delay_ms / 1000, rel=0.1)


@pytest.mark.parametrize("config", [Lpsm3Config(), Lpsm4Config()])
def test_the_constants_keep_the_theorem(config):
    assert saturation(config.gain, config.largest_price_ratio) + rule.LARGEST_EXCESS - config.start <= 38.0


@pytest.mark.parametrize("made", [Lpsm3, Lpsm4])
@pytest.mark.parametrize("late_ms", [0, 40, 400, 4000])
def test_on_adversarial_pages_the_account_stays_within_the_theorem_or_says_that_its_hypothesis_failed(late_ms, made):
    policy, rng = made(), np.random.default_rng(late_ms)
    client, at, total = Client(policy), 1000.0, 0.0
    client.idle(0)
    for page in range(1, 120):  # every answer comes just after the client has fallen asleep, or later
        client.sent(at, page, opening=True)
        plan = client.idle(at)
        asleep = max(plan.awake_until_ns, round(at * MS)) / MS
        reached = min(asleep + 1.0 + late_ms * float(rng.random()), at + 20_000)
        while plan.wake_ns / MS < reached:
            plan = client.idle(plan.wake_ns / MS + 0.5) if plan.poll else client.beacon(plan.wake_ns / MS)
            reached = max(reached, plan.awake_until_ns / MS + 1.0)
        if not plan.poll:
            client.beacon(plan.wake_ns / MS, waiting=40)
        client.received(plan.wake_ns / MS + 1, page, opening=True, reached_ms=reached)
        at = plan.wake_ns / MS + 1
        client.idle(at)
        total = float(policy.memory[0]["balance"]) - 4.0
        assert policy.exceptions or total <= 38.0
        at += 1000.0 * float(rng.random())
    assert policy.memory[0]["pages"] == 119
