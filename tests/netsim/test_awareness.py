"""What a client waits for: what the host knows of it, and what the link infers."""

import numpy as np
import pytest

import netsim
from netsim.policies import awareness
from netsim.policies.compiled import FlatFrame
from netsim.policies.lpsm2 import Lpsm2, Lpsm2Config
from tests.netsim.clients import LOGNORMAL, MS, Client, asked_ns, counted, web


def link_account():
    account = np.zeros(1, dtype=awareness.ACCOUNT)
    awareness.open_account(account, host_aware=False)
    return account


def test_the_link_forgets_when_a_connection_is_opened_from_sleep_but_not_from_awake():
    def count(at_ns, size, *, sent=True, asleep=False):
        awareness.observe(account[0], FlatFrame(int(sent), at_ns, at_ns, size, -1, 0, 0, 0, 0), asleep)
        return counted(account[0])

    account = link_account()
    assert count(1, 340) == (0, 0, 1)
    assert count(2, 340) == (0, 0, 2)
    assert count(3, 40) == (1, 0, 2)  # another connection
    assert count(4, 40, sent=False) == (0, 0, 2)  # its answer
    assert count(4, 40) == (0, 0, 2)  # the end of the handshake
    assert count(5, 1500, sent=False) == (0, 1, 1)
    assert count(5, 40) == (0, 1, 1)  # an acknowledgement
    assert count(6, 700, sent=False) == (0, 0, 1)
    assert count(7, 40, asleep=True) == (1, 0, 0)
    assert count(8, 340) == (1, 0, 1)
    assert count(8 + 10_000 * MS, 340, sent=False) == (0, 0, 0)  # too late for any answer


def test_an_account_holds_a_thousand_and_twenty_four_things_and_no_more():
    account = link_account()
    constants = ("host_aware", "bare_bytes", "silence_ns", "n", "full_bytes", "last_ns", "owed_ns")
    assert [int(account[0][name]) for name in constants] == [0, 40, 10_000 * MS, 0, 576, 0, -1]
    for at_ns in range(1, 1031):
        awareness.observe(account[0], FlatFrame(1, at_ns, at_ns, 340, -1, 0, 0, 0, 0), False)
    assert asked_ns(account[0]) == [*range(1, 1025)]
    awareness.observe(account[0], FlatFrame(0, 2000, 2000, 300, -1, 0, 0, 0, 0), False)
    assert asked_ns(account[0]) == [*range(2, 1025)]


def test_the_link_forgets_after_ten_seconds_of_silence():
    policy = Lpsm2(Lpsm2Config(record=True), host_aware=False)
    client = Client(policy)
    client.sent(1000, "a")
    plan = client.idle(1001)
    while plan.wake_ns < 11_000 * MS:
        assert plan.repeat_ns == 0
        plan = client.beacon(plan.wake_ns / MS)
    client.beacon(plan.wake_ns / MS)
    client.sent(90_000, "b", opening=True)
    client.idle(90_001)
    assert [(r.context, r.arrived) for r in policy.record] == [("W1", False), ("I", False)]


class BothAccounts(Lpsm2):
    """Follows the host's account, and compares what the link infers at every episode."""

    def __init__(self):
        super().__init__(Lpsm2Config(record=True))
        self.link, self.compared, self.awake_until_ns = link_account(), [], 0

    def observe(self, frame):
        asleep = frame.at_ns > self.awake_until_ns
        sizes = (int(frame.sent), frame.at_ns, frame.reached_ns, frame.size_bytes, -1, 0, 0, 0, 0)
        awareness.observe(self.link[0], FlatFrame(*sizes), asleep)
        super().observe(frame)
        self.awake_until_ns = 2**62

    def plan(self, view):
        if view.event == "idle":
            awareness.forget_after(self.link[0], view.now_ns)
            accounts = self.memory[0], self.link[0]
            pair = [(opening > 0, arriving > 0, asked) for opening, arriving, asked in map(counted, accounts)]
            oldest = [asked_ns(account)[0] if asked_ns(account) else False for account in accounts]
            self.compared.append((*pair, *oldest))
        plan = super().plan(view)
        if not view.buffered_bytes:
            self.awake_until_ns = plan.awake_until_ns
        return plan


@pytest.mark.parametrize(("world", "in_order"), [(LOGNORMAL, 0.6), (netsim.SimulationConfig(), 0.99)])
def test_the_link_infers_nearly_always_what_the_host_knows(world, in_order):
    compared = []
    for seed in (2005, 2006):
        policy = netsim.simulate(web(seed), BothAccounts(), config=world, seed=seed).final_policy
        compared += policy.compared[1:]
    same = [host == link for host, link, *_ in compared]
    assert len(compared) > 1000
    assert np.mean(same) > 0.9
    oldest = [(known, inferred) for host, link, known, inferred in compared if host == link and host[2]]
    assert all(inferred >= known for known, inferred in oldest)  # replies need not come in the order of requests
    assert np.mean([inferred == known for known, inferred in oldest]) > in_order


def test_the_host_keeps_no_account_of_what_is_over():
    policy = netsim.simulate(web(2008, 30), "lpsm2", config=LOGNORMAL).final_policy
    assert policy.memory[0]["n"] == 0
