"""The rule of LPSM3, step by step: each of its accounts after few frames, computed by hand."""

import math
from dataclasses import asdict

import numpy as np
import pytest

from netsim.policies import lpsm3_rule as rule
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config
from netsim.policies.protocol import FOREVER_NS
from netsim.radio import RadioConfig
from tests.netsim.lpsm3_alone import MS, Rule

NEVER_NS = 2**62
OPENING, REPLY, REST, MESSAGE, HELD = range(5)


def test_its_constants_are_those_that_are_documented():
    assert asdict(Lpsm3Config()) == {
        "max_slowdown": 1.05, "max_push_delay_s": 0.4, "price_w": 3.0, "gain": 0.135, "largest_price_ratio": 20.0,
        "good_will": 20.0, "start": 4.0, "early_ratio": 0.003, "prior_events": 0.1,
        "opening_shape": 0.5, "reply_shape": 0.5, "rest_shape": 0.5, "message_shape": 1.0, "held_shape": 0.5,
        "least_push_price_w": 1e-4, "most_push_price_w": 100.0, "push_memory": 30.0, "push_margin": 0.07,
        "same_message_s": 0.005, "silence_s": 10.0,
    }  # fmt: skip
    for name in ("start", "same_message_s", "good_will", "push_margin"):
        assert asdict(Lpsm3Config(**{name: 0.0}))[name] == 0.0
    for name, bad in (("push_margin", 1.0), ("push_margin", -0.1), ("price_w", 0.0), ("good_will", -1.0),
                      ("max_slowdown", math.inf), ("max_slowdown", 1.0), ("silence_s", math.inf),
                      ("max_push_delay_s", 0.0), ("start", -1.0), ("gain", math.inf)):  # fmt: skip
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
        "awake_until_ns": NEVER_NS, "push_stale": 1, "push_price_w": 0.5, "n": 0, "messages": 0, "balance": 4.0,
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
    own.asked(1501)
    excess = 0.020 / ((0.5 - 0.020) * 0.1) - 1
    assert own.s["balance"] == pytest.approx(4.0 + excess)
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


@pytest.mark.parametrize(("balance", "expected"), [(-20.0, -20.0), (400.0, 399.0), (5.0, 4.0)])
def test_the_balance_of_pages_stays_above_the_good_will(balance, expected):
    own = Rule()
    own.s["balance"] = balance
    own.sent(1000)
    own.received(1500, 1500, completes=1)  # a page without any delay
    own.asked(1500)
    assert own.s["balance"] == expected


@pytest.mark.parametrize(("balance", "held_s", "exceptions"), [
    (0.0, 0.05, 0), (0.0, 0.95, 0), (0.0, 1.05, 1), (22.1, 0.3, 0), (22.3, 0.04, 0), (22.3, 0.06, 1),
])  # fmt: skip
def test_pages_that_the_guarantee_does_not_suppose_are_counted(balance, held_s, exceptions):
    own = Rule()
    own.s["balance"] = balance
    own.sent(1000)
    own.s["held_s"] = held_s
    own.received(2000 + 1000 * held_s, 2000 + 1000 * held_s, completes=1)  # a second without delay: 0.05 s are allowed
    own.asked(4000)
    assert own.s["exceptions"] == own.policy.exceptions == exceptions


def test_a_page_with_a_deadline_or_over_at_once_changes_no_balance():
    for at_ms, deadline_ns in ((1500, 9000 * MS), (1000, FOREVER_NS)):
        own = Rule()
        own.sent(1000)
        own.received(at_ms, at_ms, completes=1)
        own.asked(at_ms, deadline_ns=deadline_ns)
        assert (own.s["pages"], own.s["balance"]) == (1, 4.0)


def test_messages_pay_for_their_delay_and_frames_of_one_message_are_not_two():
    own = Rule(max_push_delay_s=0.5, push_margin=0.2)  # 0.4 s
    own.s["opened_ns"] = 3000 * MS
    own.received(3001, 2800, size=500)
    assert (own.s["messages"], own.s["delivered"], own.s["push_stale"], own.s["message_ns"]) == (1, 1, 1, 2800 * MS)
    assert own.s["push_balance"] == pytest.approx(0.2 / 0.4 - 1)
    own.received(3002, 2805, size=500)  # 5 ms later: the same
    own.received(3003, 2801, size=500)
    assert (own.s["messages"], own.s["message_ns"]) == (1, 2805 * MS)
    own.received(3004, 2810.001, size=500)
    own.received(5000, 5000, size=500)  # met awake
    assert own.s["messages"] == 3
    assert own.s["push_balance"] == pytest.approx(0.5 - 1 + 0.189999 / 0.4 - 1 - 1)
    ended, watched_s = own.learned()
    assert ended == [0, 0, 0, 3, 0]
    assert watched_s[MESSAGE] == pytest.approx(5.0 - 0.005)
    own.received(6000, 5999, size=40)  # nothing in it
    assert own.s["messages"] == 3


def test_what_follows_a_full_frame_is_the_same_message_and_adds_to_its_delay_if_it_was_slept_over():
    own = Rule(max_push_delay_s=0.4, push_margin=0.0)
    own.s["opened_ns"] = 3000 * MS
    own.received(3001, 2800)
    own.received(3002, 2801)  # waited as long, at the same time
    assert own.s["push_balance"] == pytest.approx(0.2 / 0.4 - 1)
    own.received(3042, 3041)
    own.s["opened_ns"] = 3200 * MS
    own.received(3201, 3100, size=400)
    assert own.s["push_balance"] == pytest.approx(0.2 / 0.4 - 1 + 0.1 / 0.4)
    assert (own.s["messages"], own.s["more"], own.s["held_from_ns"]) == (1, 0, -1)
    ended, watched_s = own.learned()
    assert ended == [0, 0, 0, 1, 2]
    assert watched_s[HELD] == pytest.approx(0.039 + 0.058)


def test_credit_of_messages_that_never_waited_is_limited():
    own = Rule()
    for at_ms in range(1000, 20_000, 1000):
        own.received(at_ms, at_ms, size=300)
    assert own.s["messages"] == 19
    assert own.s["push_balance"] == -5.0


@pytest.mark.parametrize("since_ms", [0, 120, 250, 251])
def test_what_a_small_window_held_back_counts_from_the_middle_of_its_silence(since_ms):
    own = Rule(max_push_delay_s=0.1, push_margin=0.0)
    own.received(1000, 1000, size=500)
    own.received(1400, 1400, size=500, wanted=0, connection=2)  # another connection's
    assert own.s["held_from_ns"] == -1
    own.received(1600, 1600, size=500, wanted=0)
    assert (own.s["held_middle_ns"], own.s["held_from_ns"]) == (1300 * MS, 1600 * MS)
    own.received(1700, 1700, size=500, wanted=0)
    assert (own.s["held_middle_ns"], own.s["held_from_ns"]) == (1300 * MS, 1700 * MS)
    own.s["opened_ns"], balance = 2100 * MS, float(own.s["push_balance"])
    own.received(2101, 1700 + since_ms, size=500)
    held = 0 < since_ms <= 250
    from_ms = 1300 if held else 1700 + since_ms
    assert own.s["push_balance"] - balance == pytest.approx((2100 - from_ms) / 100 - 1)
    assert own.s["held_from_ns"] == (2101 * MS if since_ms <= 250 else -1)
    assert own.s["held_middle_ns"] == (
        (1300 + 1700 + since_ms) * MS // 2 if held else 1300 * MS if not since_ms else -1
    )
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
    own.sent(1052, size=500)
    own.received(1100, 1090, size=40)  # answers no opening: what it acknowledges is over
    assert (own.s["owed_ns"], own.s["n"]) == (-1, 2)
    own.s["origin_ns"][:2] = (1050 * MS, 1051 * MS)
    own.received(1200, 1190, size=1000)
    assert (own.s["full_bytes"], own.s["owed_ns"]) == (1000, 1200 * MS)
    assert own.outstanding() == [(-1, REST, 1200 * MS), (-1, REPLY, 1051 * MS)]
    own.received(1210, 1205, size=999)  # short: the last of that reply
    assert (own.outstanding(), own.s["owed_ns"]) == ([(-1, REPLY, 1051 * MS)], 1200 * MS)
    own.received(1300, 1290, size=1000)
    own.received(1301, 1291, size=300)
    assert own.outstanding() == []
    ended, watched_s = own.learned()
    assert ended == [1, 3, 1, 0, 0]
    assert watched_s == pytest.approx([0.040, 0.040 + 0.140 + 0.239, 0.005, 0, 0])
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
