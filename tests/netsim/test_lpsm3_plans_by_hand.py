"""The plans of LPSM3 and its prices of messages, worked out by hand."""

import math

import numpy as np
import pytest

from netsim.policies import lpsm3_rule as rule
from netsim.policies.protocol import Plan
from netsim.sleep_planning import message_prices
from netsim.sleep_planning import plans as planning
from tests.netsim.lpsm3_alone import MS, Rule

NEVER_NS = 2**62
OPENING, REPLY, REST, MESSAGE, HELD = range(5)


def test_at_a_beacon_that_announces_something_it_stays_awake_until_the_next():
    own = Rule()
    own.s["planned"] = 1
    assert own.asked(1300, beacon=1, buffered=1) == Plan(1300 * MS, 1400 * MS, True, 0, False)
    assert (own.s["opened_ns"], own.s["planned"]) == (1300 * MS, 0)


def test_without_messages_and_waits_it_naps_for_fifty_beacons():
    own = Rule()
    assert own.asked(3_600_000) == Plan(3_600_000 * MS, 3_605_000 * MS, True, 5000 * MS, False)
    own.s["messages"] = 1
    assert own.asked(7_200_000).repeat_ns == 0


def alone(own, now_ms, awake, price_w, waits):
    """The plan that sleep planning makes by itself for waits of (kind or rates, age in ms, class)."""
    work = np.zeros(1, dtype=planning.WORKSPACE)[0]
    work["followers_s"] = own.ints[-planning.WORKSPACE.itemsize // 8 :].view(planning.WORKSPACE)[0]["followers_s"]
    s = own.s
    planning.lay_out(work, 100 * MS - round(now_ms * MS) % (100 * MS), 100 * MS)
    for rates, age_ms, which in waits:
        rates = s["mean_rates"][rates] if isinstance(rates, int) else rates
        planning.add_wait(work, rates, round(age_ms * MS), which)
    last = planning.survive(work)
    planning.choose(
        work, last, awake, 100 * MS, s["awake_w"], s["beacon_j"], s["wakeup_j"], price_w, s["push_price_w"],
        sum(which == planning.PAGE for *_, which in waits),
    )  # fmt: skip
    asleep, stop = planning.follow(work, last, 0, int(awake))
    until = round(now_ms * MS) + asleep
    return until, round(now_ms * MS) + work["stop_ns"][stop] if stop >= 0 else (until // (100 * MS) + 1) * 100 * MS


def test_it_plans_for_what_is_outstanding_and_the_next_message_and_follows_that_at_beacons():
    own = Rule()
    own.s["balance"], own.s["message_ns"], own.s["messages"] = 6.0, 500 * MS, 1
    own.sent(300)
    plan = own.asked(1037)
    price_w = 3.0 * math.exp(0.135 * 6)
    expected = alone(own, 1037, True, price_w, [(REPLY, 737, 0), (MESSAGE, 537, 1)])
    assert (plan.awake_until_ns, plan.wake_ns) == expected
    assert (own.s["awake_until_ns"], own.s["planned"], own.s["planned_ns"]) == (plan.awake_until_ns, 1, 1037 * MS)
    own.s["mean_rates"][REPLY] *= 50.0  # which a plan that is followed does not see
    work = own.ints[-planning.WORKSPACE.itemsize // 8 :].view(planning.WORKSPACE)[0]
    asleep, stop = planning.follow(work, int(own.s["last_stop"]), int(own.s["next_stop"]), 0)
    again = own.asked(plan.wake_ns / MS, beacon=1)
    assert (again.awake_until_ns, again.wake_ns) == (1037 * MS + asleep, 1037 * MS + work["stop_ns"][stop])
    assert own.s["planned_ns"] == 1037 * MS
    moved = own.asked(again.wake_ns / MS + 100, beacon=1)  # not where it meant to listen
    now_ms = again.wake_ns / MS + 100
    expected = alone(own, now_ms, False, price_w, [(REPLY, now_ms - 300, 0), (MESSAGE, now_ms - 500, 1)])
    assert own.s["planned_ns"] == now_ms * MS
    assert (moved.awake_until_ns, moved.wake_ns) == expected


def test_where_nothing_is_outstanding_the_link_follows_its_plan_too():
    own = Rule(host_aware=False)
    own.s["messages"], own.s["message_ns"], own.s["push_price_w"] = 1, 49_950 * MS, 3.0
    plan = own.asked(50_000)
    own.asked(plan.wake_ns / MS, beacon=1)
    assert own.s["planned_ns"] == 50_000 * MS < plan.wake_ns


@pytest.mark.parametrize(("stop", "beacon", "planned", "late_ms", "followed"), [
    (8, 1, 1, 0, True), (9, 1, 1, 0, False), (8, 0, 1, 0, False), (8, 1, 0, 0, False), (8, 1, 1, 100, False),
    (8, 1, 1, -100, False),
])  # fmt: skip
def test_a_plan_is_followed_for_eight_stops_at_the_beacons_that_it_meant(stop, beacon, planned, late_ms, followed):
    own = Rule()
    own.s["messages"] = 1
    own.sent(1000)
    own.asked(1010)
    own.s["next_stop"], own.s["planned"] = stop, planned
    own.asked(1000 + stop * 100 + late_ms, beacon=beacon)
    assert (own.s["planned_ns"] == 1010 * MS) == followed


def browsed(servers, *, rounds=20):
    """A rule that has asked each of these in turn, by number and what it takes, in ms."""
    own = Rule()
    for number in range(rounds):
        for place, (server, takes_ms) in enumerate(servers.items()):
            at_ms = 100_000 * number + 10_000 * place
            own.sent(at_ms, server=server)
            own.received(at_ms + takes_ms, at_ms + takes_ms, completes=1)
            own.asked(at_ms + takes_ms)
    return own


def test_each_of_two_servers_is_waited_for_as_long_as_it_takes():
    own, plans = browsed({3: 60, 9: 2000}, rounds=60), {}
    for at_ms, server in ((9_000_001, 3), (9_010_001, 9), (9_020_001, 4), (9_030_001, -1)):
        own.s["balance"] = 4.0
        own.sent(at_ms, server=server)
        plans[server] = own.asked(at_ms)
        row = own.s["servers"].tolist().index(server) if server >= 0 else None
        rates = REPLY if row is None else own.s["own_mean_rates"][row]
        price_w = 3.0 * math.exp(0.135 * 4.0)
        expected = alone(own, at_ms, True, price_w, [(rates, 0, 0), (MESSAGE, at_ms, 1)])
        assert (plans[server].awake_until_ns, plans[server].wake_ns) == expected
        own.received(at_ms + 500, at_ms + 500, completes=1)
        own.s["loading"] = 0  # without settling for it
    assert plans[3].awake_until_ns >= (9_000_001 + 60) * MS  # for the fast one until it has answered
    assert plans[9].awake_until_ns == 9_010_001 * MS  # for the slow one not at all
    new, unknown = (plans[which].awake_until_ns - at * MS for which, at in ((4, 9_020_001), (-1, 9_030_001)))
    assert new == unknown  # of one that was never asked nothing but the common hazard is known


def test_more_servers_than_there_is_room_for_take_the_rows_of_those_asked_longest_ago():
    room = rule.SERVERS
    own = browsed({number: 100 + number for number in range(room)}, rounds=3)
    assert own.s["own_events"].sum(axis=1).tolist() == [3.0] * room
    own.sent(1_000_000, server=0)
    own.sent(1_000_001, server=77, connection=2)
    assert own.s["servers"].tolist() == [0, 77, *range(2, room)]
    assert own.s["own_events"].sum(axis=1).tolist() == [3.0, 0.0, *[3.0] * (room - 2)]
    assert own.s["own_mean_rates"][1] == pytest.approx(own.s["mean_rates"][REPLY], rel=1e-12)
    own.sent(1_000_002, server=1, connection=3)  # the row of 2, whose answer is then one of all
    own.sent(1_000_003, server=1 << 31, connection=4)
    for number in range(200, 200 + room):
        own.sent(1_000_004 + number, server=number, connection=number)
    before = own.s["own_events"].sum()
    own.received(1_001_000, 1_001_000, completes=1)
    assert (own.s["own_events"].sum(), own.s["events"][REPLY].sum()) == (before, 3 * room + 1)
    own.asked(1_001_001)


def test_what_is_dear_is_waited_for_awake_up_to_the_last_stop_and_a_frame_ends_the_plan():
    own = Rule(price_w=1e7)
    own.sent(1037)
    plan = own.asked(1037)
    work = own.ints[-planning.WORKSPACE.itemsize // 8 :].view(planning.WORKSPACE)[0]
    last_ns = 1037 * MS + work["stop_ns"][own.s["last_stop"]]
    assert last_ns % (100 * MS) == 0
    assert plan == Plan(last_ns, last_ns + 100 * MS, True, 0, False)
    assert (own.s["planned"], own.s["awake_until_ns"]) == (0, last_ns)
    own.s["planned"] = 1
    own.received(1200, 1190)
    assert (own.s["planned"], own.s["awake_until_ns"]) == (0, NEVER_NS)


def test_before_a_deadline_the_price_is_that_of_the_moment_and_the_plan_is_always_new():
    own = Rule()
    own.s["push_price_w"] = 1e-4
    own.sent(1000)
    deadline_ns = 1500 * MS
    least_w, largest_w = 3.0 * 0.003, 3.0 * 20.0
    for now_ms, beacon in ((1050, 0), (1200, 1), (1400, 1)):
        plan = own.asked(now_ms, beacon=beacon, deadline_ns=deadline_ns)
        price_w = least_w * (largest_w / least_w) ** ((now_ms - 1000) / 500)
        expected = alone(own, now_ms, not beacon, price_w, [(REPLY, now_ms - 1000, 0), (MESSAGE, now_ms, 1)])
        assert own.s["planned_ns"] == now_ms * MS
        assert plan.awake_until_ns == expected[0]


def test_what_a_window_may_be_holding_back_is_planned_for_as_long_as_it_may():
    for age_ms, waits in ((249, [(MESSAGE, 349, 1), (HELD, 249, 1)]), (250, [(MESSAGE, 350, 1)])):
        own = Rule()
        own.s["message_ns"], own.s["messages"], own.s["held_from_ns"] = 900 * MS, 1, 1000 * MS
        own.s["push_price_w"] = 3.0
        plan = own.asked(1000 + age_ms)
        assert (plan.awake_until_ns, plan.wake_ns) == alone(own, 1000 + age_ms, True, 3.0, waits)


@pytest.mark.parametrize(("messages", "priced", "before_w", "least_w", "most_w", "halvings"), [
    (3, 0, 1.0, 0.01, 100.0, 14), (49, 48, 1.0, 0.25, 4.0, 8), (50, 46, 60.0, 15.0, 100.0, 8),
    (51, 47, 0.02, 0.01, 0.08, 8), (50, 47, 1.0, 1.0, 1.0, 0), (1000, 997, 1.0, 1.0, 1.0, 0),
])  # fmt: skip
def test_a_price_of_messages_that_never_wait_falls_as_far_as_it_is_sought(
    messages, priced, before_w, least_w, most_w, halvings
):
    own = Rule(priced=False, least_push_price_w=0.01)
    own.s["messages"], own.s["priced_messages"], own.s["push_price_w"] = messages, priced, before_w
    own.s["ages"][:] = 0.0
    own.asked(1000)
    assert own.s["push_price_w"] == pytest.approx(least_w * (most_w / least_w) ** (0.5 / 2**halvings))
    assert (own.s["push_stale"], own.s["priced_messages"]) == ((0, messages) if halvings else (1, priced))


def test_messages_may_be_later_or_earlier_than_asked_for_by_what_they_were_before():
    found = [rule.wanted_delay_s(0.3, balance, 30.0) for balance in (0.0, 6.0, -15.0, -60.0, 29.0, 15.3)]
    assert found == pytest.approx([0.3, 0.24, 0.45, 0.6, 0.06, 0.147])


@pytest.mark.parametrize(("messages", "memory"), [(0, 6.0), (24, 6.0), (60, 15.0), (120, 30.0), (1000, 30.0)])
def test_the_fewer_messages_came_the_sooner_an_error_is_made_good(messages, memory):
    own, other = Rule(priced=False, max_push_delay_s=0.3), Rule(priced=False, max_push_delay_s=0.3)
    for one, balance in ((own, 0.4 * memory), (other, 0.0)):
        one.s["messages"], one.s["push_balance"] = messages, balance
        one.s["mean_rates"][MESSAGE] = 0.2
    other.s["push_delay_s"] *= 0.6
    own.asked(1000)
    other.asked(1000)
    assert own.s["push_price_w"] == pytest.approx(float(other.s["push_price_w"]))


def test_the_price_of_messages_is_sought_far_at_first_and_then_near_by():
    own = Rule(priced=False, max_push_delay_s=0.3, push_margin=0.0, least_push_price_w=0.01)
    own.s["push_balance"], own.s["messages"] = 6.0, 120
    own.s["ages"][:] = [0, 0, 1.0, 0, 0, 0, 0, 0]
    own.s["mean_rates"][MESSAGE] = 0.2
    s = own.s

    def sought(least_w, most_w, halvings):
        work = np.zeros(1, dtype=planning.WORKSPACE)[0]
        message_prices.renewal_followers(work, s["mean_rates"][MESSAGE], 100 * MS)
        return message_prices.price_of_delay(
            work, s["mean_rates"][MESSAGE], rule.AGES_NS, s["ages"], 100 * MS, s["awake_w"], s["beacon_j"],
            s["wakeup_j"], 0.3 * 0.8, least_w, most_w, halvings,
        )  # fmt: skip

    own.asked(1000)
    assert s["push_price_w"] == pytest.approx(sought(0.01, 100.0, 14))
    assert (s["push_stale"], s["priced_messages"]) == (0, 120)
    near_w = 2.5 * float(s["push_price_w"])
    s["messages"], s["priced_messages"], s["push_stale"], s["push_price_w"] = 153, 150, 1, near_w
    own.asked(2000)
    assert (s["push_stale"], s["push_price_w"]) == (1, near_w)  # fewer than four more: not yet
    s["messages"] = 154
    expected = sought(max(0.01, near_w / 4), min(100.0, 4 * near_w), 8)
    own.asked(3000)
    assert s["push_price_w"] == pytest.approx(expected)
    assert (s["push_stale"], s["priced_messages"]) == (0, 154)
