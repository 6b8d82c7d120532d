"""The rule of LPSM3, step by step: each of its accounts after few frames, computed by hand."""

import math
from dataclasses import asdict

import numpy as np
import pytest

from lpsm.sleep_planning import message_prices
from lpsm.sleep_planning import plans as planning
from netsim.policies import lpsm3_rule as rule
from netsim.policies.compiled import NOT_YET_NS, FlatFrame, FlatView
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config
from netsim.policies.protocol import FOREVER_NS, Plan
from netsim.radio import RadioConfig

MS, NEVER_NS = 1_000_000, 2**62
OPENING, REPLY, REST, MESSAGE, HELD = range(5)


class Rule:
    """LPSM3's two functions, called with plain numbers; `s` is what it knows, with the price of messages settled."""

    def __init__(self, *, host_aware=True, priced=True, **settings):
        self.policy = Lpsm3(Lpsm3Config(**settings), host_aware=host_aware)
        self.ints = self.policy.compiled.ints
        self.s = self.policy.memory[0]
        if priced:
            self.s["push_stale"] = 0

    def sent(self, at_ms, size=340, connection=1, opening=0):
        at = round(at_ms * MS)
        payload = 0 if opening else size - 40
        rule.observe_frame(FlatFrame(1, at, at, size, connection, opening, payload, 0, 1), self.ints, np.empty(0))

    def received(self, at_ms, reached_ms, size=1500, connection=1, opening=0, completes=0, wanted=1):
        frame = FlatFrame(0, round(at_ms * MS), round(reached_ms * MS), size, connection, opening,
                          0 if opening else size - 40, completes, wanted)  # fmt: skip
        rule.observe_frame(frame, self.ints, np.empty(0))

    def asked(self, now_ms, *, beacon=0, buffered=0, deadline_ns=FOREVER_NS):
        view = FlatView(round(now_ms * MS), beacon, NOT_YET_NS, NOT_YET_NS, 0, buffered, deadline_ns)
        return rule.follow_plan(view, self.ints, np.empty(0))

    def outstanding(self):
        n = int(self.s["n"])
        return [tuple(one) for one in np.array([self.s[name][:n] for name in ("key", "kind", "origin_ns")]).T.tolist()]

    def learned(self):
        """Of each kind: waits that ended, seconds watched."""
        return self.s["events"].sum(axis=1).tolist(), self.s["at_risk_s"].sum(axis=1)


def test_its_constants_are_those_that_are_documented():
    assert asdict(Lpsm3Config()) == {
        "max_slowdown": 1.05, "max_push_delay_s": 0.4, "price_w": 3.0, "gain": 0.135, "largest_price_ratio": 20.0,
        "good_will": 20.0, "drift_step": 0.002, "largest_drift": 1.0, "early_ratio": 0.003, "prior_events": 0.1,
        "opening_shape": 0.5, "reply_shape": 0.5, "rest_shape": 0.5, "message_shape": 1.0, "held_shape": 0.5,
        "least_push_price_w": 1e-4, "most_push_price_w": 100.0, "push_memory": 30.0, "push_margin": 0.07,
        "same_message_s": 0.005, "silence_s": 10.0,
    }  # fmt: skip
    for name in ("drift_step", "largest_drift", "same_message_s", "good_will", "push_margin"):
        assert asdict(Lpsm3Config(**{name: 0.0}))[name] == 0.0
    for name, bad in (("push_margin", 1.0), ("push_margin", -0.1), ("price_w", 0.0), ("good_will", -1.0),
                      ("max_slowdown", math.inf), ("max_slowdown", 1.0), ("silence_s", math.inf),
                      ("max_push_delay_s", 0.0), ("drift_step", -1.0), ("gain", math.inf)):  # fmt: skip
        with pytest.raises(ValueError, match=rf"^{name} must .*, got {bad}$"):
            Lpsm3Config(**{name: bad})


def test_before_anything_was_seen_it_knows_its_settings():
    radio = RadioConfig(wakeup_mj=3.0)
    config = Lpsm3Config(max_slowdown=1.2, max_push_delay_s=0.3, push_margin=0.1, silence_s=2.5, same_message_s=0.004,
                         least_push_price_w=0.01, most_push_price_w=25.0, message_shape=0.8)  # fmt: skip
    policy = Lpsm3(config, host_aware=False, radio=radio, beacon_interval_ns=102_400_000)
    s = policy.memory[0]
    expected = {
        "host_aware": 0, "interval_ns": 102_400_000, "bare_bytes": 40, "silence_ns": 2500 * MS,
        "same_message_ns": 4 * MS, "awake_w": 1e-3 * (radio.awake_mw - radio.asleep_mw),
        "beacon_j": 1e-3 * radio.beacon_mj, "wakeup_j": 0.003, "allowed": 0.2, "price_w": 3.0 / 4, "gain": 0.135,
        "push_delay_s": 0.27, "full_bytes": 576, "owed_ns": -1, "opened_ns": -1, "held_from_ns": -1, "push_key": -1,
        "awake_until_ns": NEVER_NS, "push_stale": 1, "push_price_w": 0.5, "n": 0, "messages": 0, "balance": 0,
        "prior_events": 0.1, "early_ratio": 0.003, "good_will": 20, "push_memory": 30, "most_push_price_w": 25,
    }  # fmt: skip
    assert {name: float(s[name]) for name in expected} == pytest.approx(expected)
    assert s["shapes"].tolist() == [0.5, 0.5, 0.5, 0.8, 0.5]
    assert s["ages"].tolist() == [0, 1, 0, 0, 0, 0, 0, 0]
    middle_s = 0.5e-3  # of the first bin: the prior's hazard there is its shape over that age
    assert s["rates"][:, 0, 0] == pytest.approx(s["shapes"] / middle_s)
    assert policy.spec == "lpsm3-link:1.2:300"


def test_what_is_outstanding_leaves_in_any_order_and_a_first_frame_that_is_not_the_last_leaves_the_rest():
    own = Rule()
    own.sent(10, connection=8, opening=1)
    own.sent(20, connection=7)
    own.sent(25, connection=7)  # more of the same request
    own.sent(30, connection=9)
    own.sent(31, connection=5, size=40)  # a bare acknowledgement asks for nothing
    assert own.outstanding() == [(8, OPENING, 10 * MS), (7, REPLY, 20 * MS), (9, REPLY, 30 * MS)]
    assert (own.s["loading"], own.s["issued_ns"]) == (1, 10 * MS)
    own.received(90, 80, connection=7)
    assert own.outstanding() == [(8, OPENING, 10 * MS), (7, REST, 90 * MS), (9, REPLY, 30 * MS)]
    own.received(95, 91, connection=8, opening=1)
    own.received(120, 60, connection=7)  # reached the access point before the wait for it began: nothing is learned
    own.received(140, 130, connection=7, completes=1)
    assert own.outstanding() == [(9, REPLY, 30 * MS)]
    ended, watched_s = own.learned()
    assert ended == [1, 1, 1, 0, 0]
    assert watched_s == pytest.approx([0.081, 0.060, 0.010, 0, 0])
    assert own.s["heard_ns"] == 140 * MS
    own.received(150, 145, connection=9, completes=1, wanted=0)  # says nothing new
    assert len(own.outstanding()) == 1


def test_only_so_many_are_kept_in_mind_and_the_last_of_them_can_leave():
    own = Rule()
    for key in range(rule.ROOM + 3):
        own.sent(1 + key, connection=key)
    assert own.s["n"] == rule.ROOM == 256
    for name in ("kind", "origin_ns", "age_ns", "is_message"):  # with the next message, and what a window holds back
        assert own.s[name].shape == (258,)
    own.received(5000, 4000, connection=rule.ROOM - 1, completes=1)
    own.received(5001, 4001, connection=3, completes=1)
    assert [key for key, *_ in own.outstanding()] == [*range(3), *range(4, rule.ROOM - 1)]


def test_a_page_pays_for_what_lay_at_the_access_point_while_it_slept():
    own = Rule(max_slowdown=1.1)
    own.sent(1000, connection=1)
    own.sent(1000, connection=2)
    own.s["waiting"], own.s["awake_until_ns"] = 2, 1050 * MS
    own.sent(1200, connection=3)  # which wakes it
    assert own.s["opened_ns"] == 1200 * MS
    own.received(1201, 1160, connection=1, completes=1)
    own.received(1202, 1200, connection=2, completes=1)  # came as it woke
    own.received(1500, 1450, connection=3, completes=1)
    assert own.s["held_s"] == pytest.approx(0.040 / 2)
    own.s["drift"] = 0.3
    own.asked(1501)
    excess = 0.020 / ((0.5 - 0.020) * 0.1) - 1
    assert own.s["balance"] == pytest.approx(excess)
    assert own.s["drift"] == pytest.approx(0.3 + 0.002 * excess)
    assert (own.s["pages"], own.s["loading"]) == (1, 0)
    own.asked(1600)
    assert own.s["pages"] == 1


@pytest.mark.parametrize("waiting", [0, 1, 2, 5])
@pytest.mark.parametrize("reached_ms", [1039.999, 1040, 1040.000001, 1060])
def test_a_wait_holds_its_share_of_a_page_up_and_is_learned_from_a_nanosecond_on(reached_ms, waiting):
    own = Rule()
    own.sent(1040)
    own.s["opened_ns"], own.s["waiting"] = 1060 * MS, waiting
    own.received(1061, reached_ms)
    assert own.learned()[0][REPLY] == (reached_ms > 1040)
    held_s = (1060 - reached_ms) / 1000 / max(1, waiting) if reached_ms > 1040 else 0
    assert own.s["held_s"] == pytest.approx(held_s, abs=1e-15)


@pytest.mark.parametrize(("balance", "drift", "expected"), [
    (-20.0, -1.0, (-20.0, -1.0)), (400.0, 0.9, (399.0, 1.0)), (5.0, 0.0, (4.0, 0.008)),
])  # fmt: skip
def test_balance_and_drift_of_pages_stay_within_their_limits(balance, drift, expected):
    own = Rule()
    own.s["balance"], own.s["drift"] = balance, drift
    own.sent(1000)
    own.received(1500, 1500, completes=1)  # a page without any delay
    own.asked(1500)
    assert (float(own.s["balance"]), float(own.s["drift"])) == pytest.approx(expected)


def test_a_page_with_a_deadline_or_over_at_once_changes_no_balance():
    for at_ms, deadline_ns in ((1500, 9000 * MS), (1000, FOREVER_NS)):
        own = Rule()
        own.sent(1000)
        own.received(at_ms, at_ms, completes=1)
        own.asked(at_ms, deadline_ns=deadline_ns)
        assert (own.s["pages"], own.s["balance"], own.s["drift"]) == (1, 0.0, 0.0)


def test_messages_pay_for_their_delay_and_frames_of_one_message_are_not_two():
    own = Rule(max_push_delay_s=0.5, push_margin=0.2)  # 0.4 s
    own.s["opened_ns"] = 3000 * MS
    own.received(3001, 2800)
    assert (own.s["messages"], own.s["delivered"], own.s["push_stale"], own.s["message_ns"]) == (1, 1, 1, 2800 * MS)
    assert own.s["push_balance"] == pytest.approx(0.2 / 0.4 - 1)
    own.received(3002, 2805)  # 5 ms later: the same
    own.received(3003, 2801)
    assert (own.s["messages"], own.s["message_ns"]) == (1, 2805 * MS)
    own.received(3004, 2810.001)
    own.received(5000, 5000)  # met awake
    assert own.s["messages"] == 3
    assert own.s["push_balance"] == pytest.approx(0.5 - 1 + 0.189999 / 0.4 - 1 - 1)
    ended, watched_s = own.learned()
    assert ended == [0, 0, 0, 3, 0]
    assert watched_s[MESSAGE] == pytest.approx(5.0 - 0.005)
    own.received(6000, 5999, size=40)  # nothing in it
    assert own.s["messages"] == 3


@pytest.mark.parametrize("since_ms", [0, 120, 250, 251])
def test_what_a_small_window_held_back_counts_from_the_middle_of_its_silence(since_ms):
    own = Rule(max_push_delay_s=0.1, push_margin=0.0)
    own.received(1000, 1000)
    own.received(1400, 1400, wanted=0, connection=2)  # another connection's
    assert own.s["held_from_ns"] == -1
    own.received(1600, 1600, wanted=0)
    assert (own.s["held_middle_ns"], own.s["held_from_ns"]) == (1300 * MS, 1600 * MS)
    own.received(1700, 1700, wanted=0)
    assert (own.s["held_middle_ns"], own.s["held_from_ns"]) == (1300 * MS, 1700 * MS)
    own.s["opened_ns"], balance = 2100 * MS, float(own.s["push_balance"])
    own.received(2101, 1700 + since_ms)
    held = 0 < since_ms <= 250
    from_ms = 1300 if held else 1700 + since_ms
    assert own.s["push_balance"] - balance == pytest.approx((2100 - from_ms) / 100 - 1)
    assert own.s["held_from_ns"] == (2101 * MS if since_ms <= 250 else -1)
    ended, watched_s = own.learned()
    assert ended == [0, 0, 0, 1 if held else 2, 1 if held else 0]
    assert watched_s[HELD] == pytest.approx(min(since_ms, 250) / 1000)


@pytest.mark.parametrize(("age_ms", "place"), [(0, 0), (34.6, 0), (34.7, 1), (84.8, 1), (84.9, 2), (678, 4), (679, 5),
                                                (2715.2, 6), (2715.4, 7), (3000, 7), (10**6, 7)])  # fmt: skip
def test_a_cycle_begins_at_an_age_of_the_last_message(age_ms, place):
    own = Rule()
    own.received(1000, 1000)
    own.s["push_stale"] = 0
    own.asked(1000 + age_ms)
    expected = np.array([0.0, 0.98, 0, 0, 0, 0, 0, 0])
    expected[place] += 1.0
    assert own.s["ages"] == pytest.approx(expected)
    own.asked(1001 + age_ms)
    assert own.s["ages"] == pytest.approx(expected)


def test_from_sizes_the_link_infers_handshakes_requests_and_ends_of_replies():
    own = Rule(host_aware=False)
    own.sent(1000, size=40)
    assert own.outstanding() == [(-1, OPENING, 1000 * MS)]
    own.received(1050, 1040, size=40)
    assert (own.outstanding(), own.s["owed_ns"]) == ([], 1050 * MS)
    own.sent(1050, size=40)  # the acknowledgement that was owed
    assert (own.outstanding(), own.s["owed_ns"]) == ([], -1)
    own.sent(1050, size=41)
    own.sent(1051, size=400)
    assert own.outstanding() == [(-1, REPLY, 1050 * MS), (-1, REPLY, 1051 * MS)]
    own.received(1100, 1090, size=40)  # answers no opening
    assert (own.s["owed_ns"], own.s["n"]) == (-1, 2)
    own.received(1200, 1190, size=1000)
    assert (own.s["full_bytes"], own.s["owed_ns"]) == (1000, 1200 * MS)
    assert own.outstanding() == [(-1, REST, 1200 * MS), (-1, REPLY, 1051 * MS)]
    own.received(1210, 1205, size=999)  # short: the last of that reply
    assert (own.outstanding(), own.s["owed_ns"]) == ([(-1, REPLY, 1051 * MS)], 1200 * MS)
    own.received(1300, 1290, size=1000)
    own.received(1301, 1291, size=300)
    assert own.outstanding() == []
    ended, watched_s = own.learned()
    assert ended == [1, 2, 1, 0, 0]
    assert watched_s == pytest.approx([0.040, 0.140 + 0.239, 0.005, 0, 0])
    own.received(1400, 1390, size=300)
    assert (own.s["messages"], own.s["n"]) == (1, 0)


def test_behind_an_open_handshake_the_link_still_finds_the_rest_of_a_reply():
    own = Rule(host_aware=False)
    own.sent(1000, size=40)
    own.sent(1001)
    own.received(1100, 1090, size=700)
    assert [kind for _, kind, _ in own.outstanding()] == [OPENING, REST]
    own.received(1101, 1091, size=300)
    assert [kind for _, kind, _ in own.outstanding()] == [OPENING]
    assert own.s["messages"] == 0


def test_the_link_forgets_after_a_silence_and_when_an_acknowledgement_wakes_it():
    own = Rule(host_aware=False, silence_s=2.0)
    own.sent(1000)
    own.sent(2999.9)
    assert own.s["n"] == 2
    own.sent(5800)
    assert own.outstanding() == [(-1, REPLY, 5800 * MS)]
    own.sent(7800)
    assert own.s["n"] == 1
    own.received(9800, 9799, size=40)
    assert own.s["n"] == 0
    own.sent(9900)
    own.s["awake_until_ns"] = 10_000 * MS
    own.sent(10_000, size=40)  # still awake
    assert [kind for _, kind, _ in own.outstanding()] == [REPLY, OPENING]
    own.s["awake_until_ns"] = 10_000 * MS
    own.sent(10_100, size=40)
    assert own.outstanding() == [(-1, OPENING, 10_100 * MS)]
    own.asked(12_099, beacon=1)
    assert own.s["n"] == 1
    own.asked(12_100, beacon=1)
    assert own.s["n"] == 0
    own.sent(13_000)
    plan = own.asked(13_001)
    own.s["last_ns"] = plan.wake_ns - 3000 * MS
    own.asked(plan.wake_ns / MS, beacon=1)  # where it meant to listen
    assert (own.s["n"], own.s["planned_ns"]) == (0, plan.wake_ns)


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
    """The plan that sleep planning makes by itself for waits of (kind, age in ms, class)."""
    work = np.zeros(1, dtype=planning.WORKSPACE)[0]
    work["followers_s"] = own.ints[-planning.WORKSPACE.itemsize // 8 :].view(planning.WORKSPACE)[0]["followers_s"]
    kinds, ages, classes = (np.array(column, dtype=np.int64) for column in zip(*waits, strict=True))
    s, to_beacon = own.s, 100 * MS - round(now_ms * MS) % (100 * MS)
    last = planning.forecast(work, kinds, ages * MS, classes, len(waits), s["mean_rates"], to_beacon, 100 * MS)
    planning.choose(
        work, last, awake, 100 * MS, s["awake_w"], s["beacon_j"], s["wakeup_j"], price_w, s["push_price_w"],
        sum(which == 0 for which in classes),
    )  # fmt: skip
    asleep, stop = planning.follow(work, last, 0, int(awake))
    until = round(now_ms * MS) + asleep
    return until, round(now_ms * MS) + work["stop_ns"][stop] if stop >= 0 else (until // (100 * MS) + 1) * 100 * MS


def test_it_plans_for_what_is_outstanding_and_the_next_message_and_follows_that_at_beacons():
    own = Rule()
    own.s["balance"], own.s["drift"], own.s["message_ns"], own.s["messages"] = 4.0, -0.25, 500 * MS, 1
    own.sent(300)
    plan = own.asked(1037)
    price_w = 3.0 * math.exp(0.135 * 4 - 0.25)
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


def test_what_is_dear_is_waited_for_awake_up_to_the_last_stop_and_a_frame_ends_the_plan():
    own = Rule(price_w=1e7)
    own.sent(1037)
    plan = own.asked(1037)
    assert [own.s[name][:2].tolist() for name in ("kind", "age_ns", "is_message")] == [
        [REPLY, MESSAGE], [0, 1037 * MS], [0, 1]]  # fmt: skip
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
        assert own.s["is_message"][: len(waits)].tolist() == [1] * len(waits)


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
    assert found == pytest.approx([0.3, 0.24, 0.45, 0.6, 0.15, 0.15])


def test_the_price_of_messages_is_sought_far_at_first_and_then_near_by():
    own = Rule(priced=False, max_push_delay_s=0.3, push_margin=0.0, least_push_price_w=0.01)
    own.s["push_balance"] = 6.0
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
    assert (s["push_stale"], s["priced_messages"]) == (0, 0)
    near_w = 2.5 * float(s["push_price_w"])
    s["messages"], s["priced_messages"], s["push_stale"], s["push_price_w"] = 53, 50, 1, near_w
    own.asked(2000)
    assert (s["push_stale"], s["push_price_w"]) == (1, near_w)  # fewer than four more: not yet
    s["messages"] = 54
    expected = sought(max(0.01, near_w / 4), min(100.0, 4 * near_w), 8)
    own.asked(3000)
    assert s["push_price_w"] == pytest.approx(expected)
    assert (s["push_stale"], s["priced_messages"]) == (0, 54)
