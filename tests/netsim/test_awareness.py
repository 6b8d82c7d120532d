"""What a client waits for: what the host knows of it, and what the link infers."""

import numpy as np

from netsim.policies import awareness
from netsim.policies.compiled import CompiledForm, FlatFrame
from netsim.policies.protocol import Frame, HostFrame, Plan
from tests.netsim.clients import MS, asked_ns


def link_account():
    account = np.zeros(1, dtype=awareness.ACCOUNT)
    awareness.open_account(account, host_aware=False)
    return account


def test_an_account_holds_a_thousand_and_twenty_four_things_and_no_more():
    account = link_account()
    constants = ("host_aware", "bare_bytes", "silence_ns", "n", "full_bytes", "last_ns", "owed_ns")
    assert [int(account[0][name]) for name in constants] == [0, 40, 10_000 * MS, 0, 576, 0, -1]
    for at_ns in range(1, 1031):
        awareness.observe(account[0], FlatFrame(1, at_ns, at_ns, 340, -1, 0, 0, 0, 0), False)
    assert asked_ns(account[0]) == [*range(1, 1025)]
    awareness.observe(account[0], FlatFrame(0, 2000, 2000, 300, -1, 0, 0, 0, 0), False)
    assert asked_ns(account[0]) == [*range(2, 1025)]


def never(view, ints, floats):
    return Plan(0, 0, True, 0, False)


def keep(frame, ints, floats):
    for place, value in enumerate(frame):
        ints[place] = value


def test_of_a_frame_the_link_knows_neither_its_connection_nor_what_it_is_for():
    form = CompiledForm(never, keep, ints=[9] * len(FlatFrame._fields))
    asked = HostFrame(7, False, 300, True, True, 3)
    for host, known in ((None, [-1, 0, 0, 0, 0, -1]), (asked, [7, 0, 300, 1, 1, 3])):
        form.observe(Frame(True, 5, 4, 340, host))
        assert form.ints.tolist() == [1, 5, 4, 340, *known]
