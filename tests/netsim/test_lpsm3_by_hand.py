"""The rule of LPSM3, step by step: each of its accounts after few frames, computed by hand."""

import ast
import math
from dataclasses import asdict

import numpy as np
import pytest

from netsim.policies import lpsm3_rule as rule
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config
from netsim.radio import RadioConfig
from tests.netsim.lpsm3_alone import MS, Rule

NEVER_NS = 2**62
REPLY, MESSAGE, HELD = 1, 3, 4

# after # a title, and settings; then what is sent (at ms) and got (at, and when it reached the access point), asked and
# set, and after = what the rule knows: instants in ms, what is outstanding as connection, S(ent), W(aiting) or T(he
# rest), since when; how many waits of each kind have ended, and for how many seconds they were watched
SCENARIOS = """
# what is outstanding leaves in any order, and a first frame that is not the last leaves the rest
sent 10 c=8 opening; sent 20 c=7; sent 25 c=7; sent 30 c=9; sent 31 c=5 size=40
= out=8S10,7W20,9W30 loading=1 issued_ns=10
got 90 80 c=7
= out=8S10,7T90,9W30
got 95 91 c=8 opening; got 120 60 c=7; got 140 130 c=7 last
= out=9W30 ended=1,1,1,0,0 watched=0.081,0.060,0.010,0,0 heard_ns=140
got 150 145 c=9 last unwanted
= out=9W30
# a page pays for what lay at the access point while it slept: max_slowdown=1.1
sent 1000 c=1; sent 1000 c=2; set waiting=2 awake_until_ns=1050; sent 1200 c=3
= opened_ns=1200
got 1201 1160 c=1 last; got 1202 1200 c=2 last; got 1500 1450 c=3 last
= held_s=0.040/2
ask 1501
= balance=4+0.020/((0.5-0.020)*0.1)-1 pages=1 loading=0
ask 1600
= pages=1
# the balance of pages stays above the good will
set balance=-20; sent 1000; got 1500 1500 last; ask 1500
= balance=-20
# and falls otherwise by one for a page without delay
set balance=400; sent 1000; got 1500 1500 last; ask 1500
= balance=399
# a page with a deadline changes no balance
sent 1000; got 1500 1500 last; ask 1500 deadline=9000
= pages=1 balance=4
# nor does one that is over at once
sent 1000; got 1000 1000 last; ask 1000
= pages=1 balance=4
# messages pay for their delay, and frames of one message are not two: max_push_delay_s=0.5 push_margin=0.2
set opened_ns=3000; got 3001 2800 size=500
= messages=1 delivered=1 push_stale=1 message_ns=2800 push_balance=0.2/0.4-1
got 3002 2805 size=500; got 3003 2801 size=500
= messages=1 message_ns=2805
got 3004 2810.001 size=500; got 5000 5000 size=500
= messages=3 push_balance=0.5-1+0.189999/0.4-1-1 ended=0,0,0,3,0 watched=0,0,0,4.995,0
got 6000 5999 size=40
= messages=3
# what follows a full frame is the same message and adds to its delay: max_push_delay_s=0.4 push_margin=0.0
set opened_ns=3000; got 3001 2800; got 3002 2801
= push_balance=0.2/0.4-1
got 3042 3041; set opened_ns=3200; got 3201 3100 size=400
= push_balance=0.2/0.4-1+0.1/0.4 messages=1 more=0 held_from_ns=-1 ended=0,0,0,1,2 watched_held=0.039+0.058
# from sizes the link infers handshakes, requests and ends of replies: host_aware=False
sent 1000 size=40
= out=-1S1000
got 1050 1040 size=40
= out=none owed_ns=1050
sent 1050 size=40
= out=none owed_ns=-1
sent 1050 size=41; sent 1051 size=400
= out=-1W1050,-1W1051
sent 1052 size=500; got 1100 1090 size=40
= owed_ns=-1 n=2
set origin_ns=1050,1051; got 1200 1190 size=1000
= full_bytes=1000 owed_ns=1200 out=-1T1200,-1W1051
got 1210 1205 size=999
= out=-1W1051 owed_ns=1200
got 1300 1290 size=1000; got 1301 1291 size=300
= out=none ended=1,3,1,0,0 watched=0.040,0.040+0.140+0.239,0.005,0,0
got 1400 1390 size=300
= messages=1 n=0
# what comes sooner than handshakes and smaller uploads were answered is no answer: host_aware=False
sent 1000 size=40; got 1011 1010 size=40; sent 1011 size=40; sent 1020 size=400; got 1026 1025 size=300
= out=-1W1020 messages=1
got 1031 1030 size=300
= out=none messages=1
sent 1100 size=1000; got 1113 1112 size=40; sent 1200 size=1100; got 1212 1211 size=200
= out=-1W1200 messages=2
got 1214 1213 size=40; sent 1300 size=500; got 1312 1311 size=200
= out=none messages=2
# behind an open handshake the link still finds the rest of a reply: host_aware=False
sent 1000 size=40; sent 1001; got 1100 1090 size=700
= out=-1S1000,-1T1100
got 1101 1091 size=300
= out=-1S1000 messages=0
# it forgets the rest of a reply sooner, and the page is over then: host_aware=False silence_s=10.0 rest_silence_s=2.0
sent 1000; got 1100 1100 size=700; ask 3099.9 beacon
= out=-1T1100 loading=1
sent 3101; got 3201 3201 size=300; ask 3202
= pages=2 loading=0 balance=4-1-1
# the link forgets after a silence, and when an acknowledgement wakes it: host_aware=False silence_s=2.0
sent 1000; sent 2999.9
= n=2
sent 5800
= out=-1W5800
sent 7800
= n=1
got 9800 9799 size=40
= n=0
sent 9900; set awake_until_ns=10000; sent 10000 size=40
= out=-1W9900,-1S10000
set awake_until_ns=10000; sent 10100 size=40
= out=-1S10100
ask 12099 beacon
= n=1
ask 12100 beacon
= n=0
sent 13000; ask 13001; set last_ns=wake-3000; ask wake beacon
= n=0 planned_ns=wake
"""


def scenarios():
    for block in SCENARIOS.strip().removeprefix("# ").split("\n# "):
        title, *lines = block.splitlines()
        name, _, settings = title.partition(": ")
        yield pytest.param(dict(one.split("=") for one in settings.split()), lines, id=name)


def known(own, name):
    """What the rule knows under a name of the scenarios."""
    if name == "out":
        parts = (f"{key}{'SWT'[kind]}{origin / MS:g}" for key, kind, origin in own.outstanding())
        return ",".join(parts) or "none"
    if name in ("ended", "watched"):
        return list(own.learned()[name == "watched"])
    return own.learned()[1][HELD] if name == "watched_held" else own.s[name]


@pytest.mark.parametrize(("settings", "lines"), list(scenarios()))
def test_the_rule_knows_what_was_worked_out_by_hand(settings, lines):
    own, wake = Rule(**{name: ast.literal_eval(value) for name, value in settings.items()}), None

    def value(name, text):
        found = [eval(part, {"wake": wake}) for part in text.split(",")]
        found = [round(one * MS) if name.endswith("_ns") and one != -1 else one for one in found]
        return found if "," in text else found[0]

    for step in "; ".join(line.replace("= ", "check ", 1) for line in lines).split("; "):
        verb, *words = step.split()
        given = dict(word.split("=", 1) for word in words if "=" in word)
        if verb == "check":
            for name, text in given.items():
                expected = text if name == "out" else value(name, text)
                exactly = name in ("out", "ended") or name.endswith("_ns")
                assert known(own, name) == (expected if exactly else pytest.approx(expected)), (step, name)
        elif verb == "set":
            for name, text in given.items():
                new = value(name, text)
                if isinstance(new, list):
                    own.s[name][: len(new)] = new
                else:
                    own.s[name] = new
        elif verb == "ask":
            deadline = {"deadline_ns": int(given["deadline"]) * MS} if given else {}
            plan = own.asked(wake if words[0] == "wake" else float(words[0]), beacon=int("beacon" in words), **deadline)
            wake = wake if words[0] == "wake" else plan.wake_ns / MS
        else:
            names = {"c": "connection", "size": "size"}
            more = {names[name]: int(text) for name, text in given.items()} | {"opening": int("opening" in words)}
            at = [float(word) for word in words if word[0].isdigit()]
            if verb == "got":
                own.received(*at, completes=int("last" in words), wanted=int("unwanted" not in words), **more)
            else:
                own.sent(*at, **more)


def test_its_constants_are_those_that_are_documented():
    assert asdict(Lpsm3Config()) == {
        "max_slowdown": 1.05, "max_push_delay_s": 0.4, "price_w": 3.0, "gain": 0.135, "largest_price_ratio": 20.0,
        "good_will": 20.0, "start": 4.0, "early_ratio": 0.003, "prior_events": 0.1, "own_prior_events": 0.5,
        "common_nats": 3.0, "opening_shape": 0.5, "reply_shape": 0.5, "rest_shape": 0.5, "message_shape": 1.0,
        "held_shape": 0.5, "least_push_price_w": 1e-4, "most_push_price_w": 100.0, "push_memory": 30.0,
        "push_margin": 0.07,
        "same_message_s": 0.005, "silence_s": 10.0, "rest_silence_s": 2.0,
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


def test_only_so_many_are_kept_in_mind_and_the_last_of_them_can_leave():
    own = Rule()
    for key in range(rule.ROOM + 3):
        own.sent(1 + key, connection=key)
    assert own.s["n"] == rule.ROOM == 256
    own.received(5000, 4000, connection=rule.ROOM - 1, completes=1)
    own.received(5001, 4001, connection=3, completes=1)
    assert [key for key, *_ in own.outstanding()] == [*range(3), *range(4, rule.ROOM - 1)]


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


@pytest.mark.parametrize(("size", "part"), [(300, 0.5), (40, 1.0)])  # without data it can only be an answer
def test_a_page_pays_for_an_answer_after_what_was_taken_for_it_by_how_likely_it_is_one(size, part):
    link = Rule(host_aware=False, max_slowdown=1.1)
    link.s["messages"] = 1
    link.sent(1000)
    link.received(1100, 1100, size=300)
    link.asked(1101)
    assert link.s["pages"] == 1
    assert link.s["doubt"] > 0.0
    assert link.s["balance"] == 3.0
    link.s["mean_rates"][REPLY], link.s["mean_rates"][MESSAGE], link.s["doubt"] = 4.0, 1.0, 0.25
    link.s["opened_ns"] = 1600 * MS
    link.received(1601, 1400, size=size)
    assert link.s["balance"] == pytest.approx(3.0 + part * 0.2 / (0.4 * 0.1))
    assert link.s["doubt"] == 0.0
