"""What a client waits for: what the host knows of it, and what the link infers."""

import numpy as np
import pytest

import netsim
from netsim.policies.awareness import HostAccount, LinkAccount
from netsim.policies.lpsm2 import Lpsm2, Lpsm2Config
from netsim.policies.protocol import Frame
from tests.netsim.clients import LOGNORMAL, MS, Client, web


def test_the_link_forgets_when_a_connection_is_opened_from_sleep_but_not_from_awake():
    def count(at_ns, size, *, sent=True, asleep=False):
        account.observe(Frame(sent, at_ns, at_ns, size, None), asleep=asleep)
        return account.opening, account.arriving, account.waiting

    account = LinkAccount()
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
        super().__init__()
        self.link, self.compared = LinkAccount(), []

    def observe(self, frame):
        self.link.observe(frame, asleep=frame.at_ns > self._awake_until_ns)
        super().observe(frame)

    def plan(self, view):
        if view.event == "idle":
            self.link.forget_after(view.now_ns)
            pair = [(bool(a.opening), bool(a.arriving), a.waiting) for a in (self._account, self.link)]
            self.compared.append((*pair, self._account.waiting and self._account.oldest_ns,
                                  self.link.waiting and self.link.oldest_ns))  # fmt: skip
        return super().plan(view)


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
    account = policy._account
    assert isinstance(account, HostAccount)
    assert not account.outstanding
    assert account._asked_ns == {}
