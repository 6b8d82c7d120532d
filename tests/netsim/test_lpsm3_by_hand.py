"""LPSM3 by hand: each account of its rule after few frames, its plans, and its prices of messages."""

import ast
import math

import numpy as np
import pytest

from netsim.policies import lpsm3_messages as messages
from netsim.policies import lpsm3_rule as rule
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config
from netsim.policies.lpsm3_state import AGES_NS, ROOM
from netsim.policies.protocol import Plan
from netsim.sleep_planning import message_prices
from netsim.sleep_planning import plans as planning
from tests.netsim.clients import ask, tell
from tests.netsim.hazard_learner import blank
from tests.tables import cases_of, each, near

MS = 1_000_000
NEVER_NS = 2**62
OPENING, REPLY, REST, MESSAGE, HELD = range(5)


class Rule:
    """LPSM3 as it is told and asked; `s` is what it knows, with the price of messages settled."""

    def __init__(self, *, host_aware=True, priced=True, **settings):
        self.policy = Lpsm3(Lpsm3Config(**settings), host_aware=host_aware)
        self.ints = self.policy.compiled.ints
        self.s = self.policy.memory[0]
        if priced:
            self.s["push_stale"] = 0

    def sent(self, at_ms, size=340, connection=1, opening=0, server=-1):
        tell(self.policy, 1, at_ms, at_ms, size, connection, opening=opening, server=server)

    def received(self, at_ms, reached_ms, size=1500, connection=1, opening=0, completes=0, wanted=1):
        more = {"opening": opening, "completes": completes, "wanted": wanted}
        tell(self.policy, 0, at_ms, reached_ms, size, connection, **more)

    def asked(self, now_ms, **given):
        return ask(self.policy, now_ms, **given)

    def outstanding(self):
        n = int(self.s["n"])
        return [tuple(one) for one in np.array([self.s[name][:n] for name in ("key", "kind", "origin_ns")]).T.tolist()]

    def learned(self):
        """Of each kind: waits that ended, seconds watched."""
        return self.s["events"].sum(axis=1).tolist(), self.s["at_risk_s"].sum(axis=1)


# after # a title, and settings; then what is sent (at ms) and got (at, and when it reached the access point), asked and
# set, and after => or = what the rule knows: instants in ms, what is outstanding as connection, S(ent), W(aiting) or
# T(he rest), since when; how many waits of each kind have ended, and for how many seconds they were watched
SCENARIOS = """
# before anything was seen it knows its settings: host_aware=False max_slowdown=1.2 silence_s=2.5 most_push_price_w=25.0
= host_aware=0 bare_bytes=40 silence_ns=2500 same_message_ns=5 allowed=0.2 price_w=3/4 gain=0.135 push_delay_s=0.4
= awake_w=0.7 beacon_j=0.0015 wakeup_j=0 full_bytes=576 owed_ns=-1 opened_ns=-1 held_from_ns=-1 push_key=-1
= push_price_w=0.05 n=0 balance=4 prior_events=0.1 early_ratio=0.003 good_will=20 push_memory=20 most_push_price_w=25
= shapes=0.5,0.5,0.5,1,0.5 ages=0,1,0,0,0,0,0,0
# what is outstanding leaves in any order, and a first frame that is not the last leaves the rest
sent 10 c=8 opening; sent 20 c=7; sent 25 c=7; sent 30 c=9; sent 31 c=5 size=40
= out=8S10,7W20,9W30 loading=1 issued_ns=10
got 90 80 c=7 => out=8S10,7T90,9W30
got 95 91 c=8 opening; got 120 60 c=7; got 140 130 c=7 last
= out=9W30 ended=1,1,1,0,0 watched=0.081,0.060,0.010,0,0 heard_ns=140
got 150 145 c=9 last unwanted => out=9W30
# a page is late by its last frame, behind what that waited for, and by what was fetched before it: max_slowdown=1.1
sent 1000 c=1; sent 1000 c=2; set awake_until_ns=1050; sent 1200 c=3 => opened_ns=1200
got 1201 1160 c=1 last => cause_ns=40 due_ns=1161
got 1202 1200 c=2 last => cause_ns=2 due_ns=1200
sent 1202 c=1; ask 1203; set opened_ns=1300; got 1301 1250 c=3 last => cause_ns=50 due_ns=1251
got 1302 1290 c=1 last => cause_ns=2+10 due_ns=1290
ask 1400 => balance=4+0.012/(0.290*0.1)-1 pages=1 loading=0
ask 1600 => pages=1
# a reply that flows is late by what its sender waited for: max_slowdown=1.1
sent 1000 c=1 opening; got 1040 1040 c=1 opening => trip_ns=40
sent 1040 c=1; ask 1041; set opened_ns=1090; got 1091 1080 c=1 => cause_ns=10 due_ns=1081
ask 1092; got 1095 1095 c=1 => cause_ns=0 due_ns=1095
ask 1096; set opened_ns=1140; got 1141 1136 c=1 last => cause_ns=10+4 due_ns=1127
ask 1200 => balance=4+0.014/(0.127*0.1)-1
# a page lasts while the host says that it lacks something, and what nobody waits for is no page: max_slowdown=1.1
sent 1000 c=1; ask 1001 missing=2; set opened_ns=1090; got 1091 1081 c=1 last; ask 1092 missing=1 => pages=0 loading=1
sent 1191 c=2 opening; got 1211 1211 c=2 opening; sent 1211 c=2; sent 1212 c=3; got 1300 1300 c=2 last => pages=0
ask 1301 missing=0 => pages=1 balance=4+0.009/(0.291*0.1)-1 n=1
got 1900 1900 c=3; sent 1901 c=4; ask 1902 missing=0; got 2000 2000 c=3 last; got 2001 2001 c=4 last
ask 2002 missing=0 => pages=1
sent 3000 c=1; ask 3001 missing=1; got 3100 3100 c=1 last; ask 3101 missing=0 => pages=2
# becoming awake delays what is sent from sleep where polls take longer by it: max_slowdown=1.1
set wakeup_s=0.004 spent_s=0.005 awake_until_ns=900; sent 1000 => cause_ns=0
got 1100 1100 last => cause_ns=4 due_ns=1096
ask 1200; set spent_s=0.003 awake_until_ns=1900; sent 2000; got 2100 2100 last => cause_ns=0
# the balance of pages stays above the good will
set balance=-20; sent 1000; got 1500 1500 last; ask 1500 => balance=-20
# and falls otherwise by one for a page without delay
set balance=400; sent 1000; got 1500 1500 last; ask 1500 => balance=399
# a page with a deadline changes no balance
sent 1000; got 1500 1500 last; ask 1500 deadline=9000 => pages=1 balance=4
# nor does one that is over at once
sent 1000; got 1000 1000 last; ask 1000 => pages=1 balance=4
# messages pay for their delay, and frames of one message are not two
set opened_ns=3000; got 3001 2800 size=500
= messages=1 delivered=1 push_stale=1 message_ns=2800 push_balance=0.2/0.4-1
got 3002 2805 size=500; got 3003 2801 size=500 => messages=1 message_ns=2805
got 3004 2810.001 size=500; got 5000 5000 size=500
= messages=3 push_balance=0.5-1+0.189999/0.4-1-1 ended=0,0,0,3,0 watched=0,0,0,4.995,0
got 6000 5999 size=40 => messages=3
# what follows a full frame is the same message and adds to its delay
set opened_ns=3000; got 3001 2800; got 3002 2801 => push_balance=0.2/0.4-1
got 3042 3041; set opened_ns=3200; got 3201 3100 size=400
= push_balance=0.2/0.4-1+0.1/0.4 messages=1 more=0 held_from_ns=-1 ended=0,0,0,1,2 watched_held=0.039+0.058
# from sizes the link infers handshakes, requests and ends of replies: host_aware=False
sent 1000 size=40 => out=-1S1000
got 1050 1040 size=40 => out=none owed_ns=1050
sent 1050 size=40 => out=none owed_ns=-1
sent 1050 size=41; sent 1051 size=400 => out=-1W1050,-1W1051
sent 1052 size=500; got 1100 1090 size=40 => owed_ns=-1 n=2
set origin_ns=1050,1051; got 1200 1190 size=1000 => full_bytes=1000 owed_ns=1200 out=-1T1200,-1W1051
got 1210 1205 size=999 => out=-1W1051 owed_ns=1200
got 1300 1290 size=1000; got 1301 1291 size=300 => out=none ended=1,3,1,0,0 watched=0.040,0.040+0.140+0.239,0.005,0,0
got 1400 1390 size=300 => messages=1 n=0
# what comes sooner than handshakes and smaller uploads were answered is no answer: host_aware=False
sent 1000 size=40; got 1011 1010 size=40; sent 1011 size=40; sent 1020 size=400; got 1026 1025 size=300
= out=-1W1020 messages=1
set pages=5; got 1031 1030 size=500 => out=none messages=1
sent 1100 size=1000; got 1113 1112 size=40; sent 1200 size=1100; got 1212 1211 size=200 => out=-1W1200 messages=2
got 1214 1213 size=40; sent 1300 size=500; got 1312 1311 size=200 => out=none messages=2
# behind an open handshake the link still finds the rest of a reply: host_aware=False
sent 1000 size=40; sent 1001; got 1100 1090 size=700 => out=-1S1000,-1T1100
got 1101 1091 size=300 => out=-1S1000 messages=0
# it forgets the rest of a reply sooner, and the page is over then: host_aware=False silence_s=10.0 rest_silence_s=2.0
sent 1000; got 1100 1100 size=700; ask 3099.9 beacon => out=-1T1100 loading=1
sent 3101; got 3201 3201 size=300; ask 3202 => pages=2 loading=0 balance=4-1-1
# the link forgets after a silence, and when an acknowledgement wakes it: host_aware=False silence_s=2.0
sent 1000; sent 2999.9 => n=2
sent 5800 => out=-1W5800
sent 7800 => n=1
got 9800 9799 size=40 => n=0
sent 9900; set awake_until_ns=10000; sent 10000 size=40 => out=-1W9900,-1S10000
set awake_until_ns=10000; sent 10100 size=40 => out=-1S10100
ask 12099 beacon => n=1
ask 12100 beacon => n=0
sent 13000; ask 13001; set last_ns=wake-3000; ask wake beacon => n=0 planned_ns=wake
# what came at the instant of its request was no wait
sent 1040; set opened_ns=1060; got 1061 1040 => ended=0,0,0,0,0 cause_ns=20
# a nanosecond later it was, and held the page up
sent 1040; set opened_ns=1060; got 1061 1040.000001 => ended=0,1,0,0,0 cause_ns=19.999999
# what came as the gate opened held nothing up
sent 1040; set opened_ns=1060; got 1061 1060 => ended=0,1,0,0,0 cause_ns=0 due_ns=1061
# pages back to back are settled one by one
sent 1000 c=1 opening; got 1050 1049 c=1 opening; sent 1050 c=1; got 1100 1099 c=1 last
sent 1100 c=2 opening; got 1150 1149 c=2 opening; sent 1150 c=2; got 1200 1199 c=2 last => pages=1
ask 3000 => pages=2
# a page that is held up more than its excess may be is no page of the guarantee
set balance=0; sent 1000; set lag_ns=950; got 2950 2950 last; ask 4000 => exceptions=0
set balance=0; sent 5000; set lag_ns=1050; got 7050 7050 last; ask 8000 => exceptions=1
# nor one that is held up beyond what is allowed at the largest price
set balance=22.1; sent 1000; set lag_ns=300; got 2300 2300 last; ask 4000 => exceptions=0
set balance=22.3; sent 5000; set lag_ns=40; got 6040 6040 last; ask 7000 => exceptions=0
set balance=22.3; sent 8000; set lag_ns=60; got 9060 9060 last; ask 10000 => exceptions=1
# credit of messages that never waited is limited
set messages=14 push_balance=-3.5; got 1000 1000 size=300; got 2000 2000 size=300 => messages=16 push_balance=-5
got 3000 3000 size=300 => push_balance=-5
# what a small window held back counts from the middle of its silence: max_push_delay_s=0.1
got 1000 1000 size=500; got 1400 1400 size=500 c=2 unwanted => held_from_ns=-1
got 1600 1600 size=500 unwanted => held_middle_ns=1300 held_from_ns=1600
got 1700 1700 size=500 unwanted => held_middle_ns=1300 held_from_ns=1700
set opened_ns=2100 push_balance=0; got 2101 1950 size=500
= push_balance=8-1 held_from_ns=-1 held_middle_ns=-1 ended=0,0,0,1,1 watched_held=0.25
# as long as it writes full frames, each of them: max_push_delay_s=0.1
got 1000 1000 size=500; got 1600 1600 size=500 unwanted; set opened_ns=2100 push_balance=0; got 1701 1700
= push_balance=8-1 held_from_ns=1701 held_middle_ns=1300 messages=2
got 1711 1710; got 1721 1720 size=700 => push_balance=3*(8-1) held_from_ns=-1 held_middle_ns=-1 messages=4
# the longest frame yet need not be full
got 1000 1000 size=700 => more=0 full_bytes=700
got 2000 2000 size=1300 => more=1 full_bytes=1300
got 3000 3000 size=1280 => more=0
got 4000 4000 size=1300 => more=1
# and not after a longer one: max_push_delay_s=0.1
got 1000 1000 size=500; got 1600 1600 size=500 unwanted; got 1700 1700 size=500 unwanted
set opened_ns=2100 push_balance=0; got 2101 1951 size=500
= push_balance=1.49-1 held_from_ns=-1 held_middle_ns=-1 ended=0,0,0,2,0 watched_held=0.25
# a plan is followed for eight stops, at the beacons that it meant
set messages=1; sent 1000; ask 1010; set next_stop=8 planned=1; ask 1800 beacon => planned_ns=1010
set next_stop=9 planned=1; ask 1900 beacon => planned_ns=1900
set next_stop=8 planned=1; ask 2700 => planned_ns=2700
set next_stop=8 planned=0; ask 3500 beacon => planned_ns=3500
set next_stop=8 planned=1; ask 4400 beacon => planned_ns=4400
set next_stop=8 planned=1; ask 5100 beacon => planned_ns=5100
# a price of messages that never wait falls as far as it is sought, again after four more: least_push_price_w=0.01
set messages=3 priced_messages=0 push_price_w=1 ages=0,0,0,0,0,0,0,0 push_stale=1; ask 1000
= push_price_w=0.01*1e4**(0.5/2**14) push_stale=0 priced_messages=3
set messages=49 priced_messages=48 push_price_w=1 ages=0,0,0,0,0,0,0,0 push_stale=1; ask 2000
= push_price_w=0.25*16**(0.5/2**8) push_stale=0 priced_messages=49
set messages=50 priced_messages=46 push_price_w=60 ages=0,0,0,0,0,0,0,0 push_stale=1; ask 3000
= push_price_w=15*(100/15)**(0.5/2**8) push_stale=0 priced_messages=50
set messages=51 priced_messages=47 push_price_w=0.02 ages=0,0,0,0,0,0,0,0 push_stale=1; ask 4000
= push_price_w=0.01*8**(0.5/2**8) push_stale=0 priced_messages=51
set messages=50 priced_messages=47 push_price_w=1 push_stale=1; ask 5000
= push_price_w=1 push_stale=1 priced_messages=47
# a cycle begins at an age of the last message
got 1000 1000; set push_stale=0; ask 1034.6; ask 1035 => ages=1,0.98,0,0,0,0,0,0
# and a little later at another
got 1000 1000; set push_stale=0; ask 3715.4 => ages=0,0.98,0,0,0,0,0,1
"""


def scenarios():
    for block in SCENARIOS.strip().removeprefix("# ").split("\n# "):
        title, *lines = block.replace(" => ", "\n= ").splitlines()
        name, _, settings = title.partition(": ")
        own = {key: ast.literal_eval(value) for key, _, value in (one.partition("=") for one in settings.split())}
        yield pytest.param(own, lines, id=name)


def known(own, name):
    """What the rule knows under a name of the scenarios."""
    if name == "out":
        parts = (f"{key}{'SWT'[kind]}{origin / MS:g}" for key, kind, origin in own.outstanding())
        return ",".join(parts) or "none"
    if name in ("ended", "watched"):
        return list(own.learned()[name == "watched"])
    return own.learned()[1][HELD] if name == "watched_held" else own.s[name]


@each("settings, lines", list(scenarios()))
def test_the_rule_knows_what_was_worked_out_by_hand(settings, lines):
    own, wake = Rule(**settings), None

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
                assert known(own, name) == (expected if exactly else near(expected)), (step, name)
        elif verb == "set":
            for name, text in given.items():
                new = value(name, text)
                if isinstance(new, list):
                    own.s[name][: len(new)] = new
                else:
                    own.s[name] = new
        elif verb == "ask":
            more = {"deadline_ns": int(given["deadline"]) * MS} if "deadline" in given else {}
            more |= {"missing": int(given["missing"])} if "missing" in given else {}
            plan = own.asked(wake if words[0] == "wake" else float(words[0]), beacon=int("beacon" in words), **more)
            wake = wake if words[0] == "wake" else plan.wake_ns / MS
        else:
            names = {"c": "connection", "size": "size"}
            more = {names[name]: int(text) for name, text in given.items()} | {"opening": int("opening" in words)}
            at = [float(word) for word in words if word[0].isdigit()]
            if verb == "got":
                own.received(*at, completes=int("last" in words), wanted=int("unwanted" not in words), **more)
            else:
                own.sent(*at, **more)


def test_only_so_many_are_kept_in_mind_and_the_last_of_them_can_leave():
    own = Rule()
    for key in range(ROOM + 3):
        own.sent(1 + key, connection=key)
    assert own.s["n"] == ROOM == 256
    own.received(5000, 4000, connection=ROOM - 1, completes=1)
    own.received(5001, 4001, connection=3, completes=1)
    assert [key for key, *_ in own.outstanding()] == [*range(3), *range(4, ROOM - 1)]


def link_of(reply, message, **settings):
    """A link that knows of a message, by its rates of replies and of messages, which are the same at all ages."""
    link = Rule(host_aware=False, **settings)
    link.s["messages"] = 1
    link.s["mean_rates"][REPLY], link.s["mean_rates"][MESSAGE] = reply, message
    return link


def test_what_may_have_been_a_message_leaves_a_wait_as_likely_as_that_and_silence_makes_it_less_so():
    link = link_of(3.0, 1.0)
    link.sent(1000)
    link.received(1200, 1200, size=300)
    assert (link.outstanding(), link.s["messages"]) == ([(-1, REPLY, 1000 * MS)], 1)
    assert (link.learned()[0][REPLY], link.s["left"][0]) == (1.0, near(1 / 4))
    link.s["mean_rates"][REPLY], link.s["watched_ns"] = 2.0, 1200 * MS
    link.asked(1700)
    silent = math.exp(-2.0 * 0.5) / 4
    assert link.s["left"][0] == near(silent / (3 / 4 + silent))
    assert link.s["pages"] == 0
    link.asked(4000)  # 0.001
    assert (link.outstanding(), link.s["pages"], link.s["exceptions"]) == ([], 1, 1)


def test_a_frame_without_data_ends_a_wait_for_good_and_so_does_an_answer_where_messages_are_seldom():
    for size, pages in ((40, 0), (300, 3)):
        link = link_of(3.0, 1.0)
        link.s["pages"] = pages
        link.sent(1000)
        link.received(1200, 1200, size=size)
        assert link.outstanding() == []


def test_what_is_rather_a_message_leaves_the_wait_and_the_page_pays_by_how_likely_it_was_the_answer():
    link = link_of(1.0, 3.0)
    link.sent(1000)
    link.s["opened_ns"] = 1600 * MS
    link.received(1601, 1400, size=300)
    assert link.outstanding() == [(-1, REPLY, 1000 * MS)]
    assert (link.s["messages"], link.s["due_ns"], link.s["heard_ns"]) == (2, 1401 * MS, 1451 * MS)
    assert link.s["left"][0] == near(3 / 4)
    link.s["mean_rates"][REPLY], link.s["mean_rates"][MESSAGE], link.s["watched_ns"] = 3.0, 1.0, 1602 * MS
    link.received(1602, 1602, size=300)  # the odds of a message are 1/3 over 3/4, times those of its size
    odds = 4 / 9 * ((0.5 + 3 / 4) / (12 + 3 / 4)) / ((0.5 + 1 / 4) / (12 + 1 / 4))
    assert (link.s["messages"], link.s["left"][0]) == (2, near(3 / 4 * odds / (1 + odds)))


def test_a_frame_answers_the_request_that_is_likeliest_to_wait():
    link = link_of(4.0, 1.0)
    link.sent(1000)
    link.sent(1100)
    link.s["left"][0], link.s["watched_ns"] = 0.5, 1200 * MS
    link.received(1200, 1200, size=300)
    assert link.s["left"][:2].tolist() == [0.5, near(1 / 7)]  # a message, or one of six parts


def test_who_asks_in_the_instant_that_something_came_had_waited_for_it():
    link = link_of(1.0, 3.0)
    link.sent(1000)
    link.s["opened_ns"] = 1600 * MS
    link.received(1601, 1400, size=300)  # rather a message
    link.sent(1601, size=400)
    assert (link.outstanding(), link.s["pages"]) == ([(-1, REPLY, 1601 * MS)], 0)
    assert (link.s["heard_ns"], link.s["due_ns"], link.s["lag_ns"][0]) == (1601 * MS, 1401 * MS, 200 * MS)


@cases_of("size left", "300, 1 ; 500, 0")
def test_a_frame_of_a_size_that_messages_have_is_rather_a_message(size, left):
    link = link_of(1.0, 1.0)
    link.s["by_size"][0, 300 // 64], link.s["pages"] = 10.0, 3
    link.sent(1000)
    link.received(1200, 1200, size=size)
    assert (link.s["n"], link.s["messages"]) == (left, 1 + left)


@cases_of("handshake_ms high_ms messages", """
(1060, 1060), 1100, 0 ; (1060, 1060), 1070, 1 ; (1000, 1120), 1040, 0
""")  # fmt: skip
def test_an_answer_is_too_early_only_if_its_whole_interval_is(handshake_ms, high_ms, messages):
    link = Rule(host_aware=False)
    link.s["pages"] = 1
    link.sent(1000, size=40)
    link.received(handshake_ms[1] + 1, handshake_ms, size=40)
    link.sent(1020, size=340)
    link.received(high_ms + 1, (1020, high_ms), size=300)
    assert (link.s["messages"], len(link.outstanding())) == (messages, messages)


@cases_of("left pages", "0.19, 1 ; 0.21, 0")
def test_who_asks_again_after_a_pause_has_the_answer_if_it_rather_came(left, pages):
    link = link_of(1e-6, 1.0)
    link.sent(1000)
    link.s["left"][0] = left
    link.asked(1200)
    link.sent(1300)
    assert (link.s["pages"], link.s["issued_ns"]) == (pages, (1300 if pages else 1000) * MS)
    assert link.s["n"] == 2


@cases_of("gap_ms messages", "16.7, 1 ; 9.0, 0")
def test_full_frames_that_never_end_are_a_message_each_after_ten_seconds_unless_they_are_close(gap_ms, messages):
    own = Rule()
    for place in range(round(12_000 / gap_ms)):
        own.received(1000 + gap_ms * place, 1000 + gap_ms * place, size=1440)
    assert own.s["messages"] == 1 + messages * sum(gap_ms * place > 10_000 for place in range(round(12_000 / gap_ms)))


# -- plans
def test_it_stays_awake_where_a_beacon_announces_something_and_naps_for_fifty_where_nothing_is_known():
    own = Rule()
    assert own.asked(3_600_000) == Plan(3_600_000 * MS, 3_605_000 * MS, True, 5000 * MS, False)
    own.s["messages"] = 1
    assert own.asked(7_200_000).repeat_ns == 0
    own.s["planned"] = 1
    assert own.asked(7_300_000, beacon=1, buffered=1) == Plan(7_300_000 * MS, 7_300_100 * MS, True, 0, False)
    assert (own.s["opened_ns"], own.s["planned"]) == (7_300_000 * MS, 0)


def workspace(own):
    """Where the rule keeps its plan."""
    return own.ints[-planning.WORKSPACE.itemsize // 8 :].view(planning.WORKSPACE)[0]


def alone(own, now_ms, awake, price_w, waits, page_ms=None):
    """The plan that sleep planning makes by itself for waits of (kind or rates, age in ms, class), of a page so old."""
    work = blank()
    s, work["followers_s"] = own.s, workspace(own)["followers_s"]
    planning.lay_out(work, 100 * MS - round(now_ms * MS) % (100 * MS), 100 * MS)
    for rates, age_ms, which in waits:
        rates = s["mean_rates"][rates] if isinstance(rates, int) else rates
        planning.add_wait(work, rates, round(age_ms * MS), which, 1.0, 0)
    if page_ms is not None:
        planning.weigh(work, s["worth"], round(page_ms * MS))
    last = planning.survive(work)
    planning.choose(work, last, awake, 100 * MS, s["awake_w"], s["beacon_j"], s["wakeup_j"], price_w, s["push_price_w"],
        sum(which == planning.PAGE for *_, which in waits))  # fmt: skip
    asleep, stop = planning.follow(work, last, 0, int(awake))
    until = round(now_ms * MS) + asleep
    return until, round(now_ms * MS) + work["stop_ns"][stop] if stop >= 0 else (until // (100 * MS) + 1) * 100 * MS


def test_it_plans_for_what_is_outstanding_and_the_next_message_and_follows_that_at_beacons():
    own = Rule()
    own.s["balance"], own.s["message_ns"], own.s["messages"] = 6.0, 500 * MS, 1
    own.s["worth"], price_w = np.linspace(3.0, 0.2, 24), 3.0 * math.exp(0.135 * 6)
    own.sent(300)
    plan = own.asked(1037)
    assert plan[:2] == alone(own, 1037, True, price_w, [(REPLY, 737, 0), (MESSAGE, 537, 1)], 737)
    assert (own.s["awake_until_ns"], own.s["planned"], own.s["planned_ns"]) == (plan.awake_until_ns, 1, 1037 * MS)
    own.s["mean_rates"][REPLY] *= 50.0  # which a plan that is followed does not see
    work = workspace(own)
    asleep, stop = planning.follow(work, int(own.s["last_stop"]), int(own.s["next_stop"]), 0)
    again = own.asked(plan.wake_ns / MS, beacon=1)
    assert again[:2] == (1037 * MS + asleep, 1037 * MS + work["stop_ns"][stop])
    assert own.s["planned_ns"] == 1037 * MS
    now_ms = again.wake_ns / MS + 100  # not where it meant to listen
    moved = own.asked(now_ms, beacon=1)
    assert own.s["planned_ns"] == now_ms * MS
    waits = [(REPLY, now_ms - 300, 0), (MESSAGE, now_ms - 500, 1)]
    assert moved[:2] == alone(own, now_ms, False, price_w, waits, now_ms - 300)


def browsed(servers, *, rounds):
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
    own, holds_ms, at_ms = browsed({3: 60, 9: 2000}, rounds=60), {}, 9_000_001
    for server in (3, 9, 4, -1):
        own.s["balance"] = 4.0
        own.sent(at_ms, server=server)
        plan = own.asked(at_ms)
        rates = REPLY if server < 0 else own.s["own_mean_rates"][own.s["servers"].tolist().index(server)]
        waits = [(rates, 0, 0), (MESSAGE, at_ms, 1)]
        assert plan[:2] == alone(own, at_ms, True, 3.0 * math.exp(0.135 * 4.0), waits, 0)
        holds_ms[server] = plan.awake_until_ns / MS - at_ms
        own.received(at_ms + 500, at_ms + 500, completes=1)
        own.s["loading"] = 0  # without settling for it
        at_ms += 10_000
    assert holds_ms[3] >= 60  # for the fast one until it has answered
    assert holds_ms[9] < holds_ms[3] / 4  # for the slow one hardly, though what came so soon would be half a short page
    assert holds_ms[4] == holds_ms[-1]  # of one that was never asked nothing but the common hazard is known


def test_more_servers_than_there_is_room_for_take_the_rows_of_those_asked_longest_ago():
    own, room = browsed({number: 100 + number for number in range(rule.SERVERS)}, rounds=3), rule.SERVERS
    own.sent(1_000_000, server=0)
    own.sent(1_000_001, server=77, connection=2)
    assert own.s["servers"].tolist() == [0, 77, *range(2, room)]
    assert own.s["own_events"].sum(axis=1).tolist() == [3.0, 0.0, *[3.0] * (room - 2)]
    assert own.s["own_mean_rates"][1] == near(own.s["mean_rates"][REPLY], rel=1e-12)
    for number in (1 << 31, *range(200, 200 + room)):  # in the end all rows are of others: the answer is one of all
        own.sent(1_000_002, server=number, connection=number)
    before = own.s["own_events"].sum()
    own.received(1_001_000, 1_001_000, completes=1)
    assert (own.s["own_events"].sum(), own.s["events"][REPLY].sum()) == (before, 3 * room + 1)


def test_what_is_dear_is_waited_for_awake_up_to_the_last_stop_and_a_frame_ends_the_plan():
    own = Rule(price_w=1e7)
    own.sent(1037)
    plan = own.asked(1037)
    last_ns = 1037 * MS + workspace(own)["stop_ns"][own.s["last_stop"]]
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
    for now_ms, beacon in ((1050, 0), (1200, 1), (1400, 1)):
        plan = own.asked(now_ms, beacon=beacon, deadline_ns=1500 * MS)
        price_w = 3.0 * 0.003 * (20.0 / 0.003) ** ((now_ms - 1000) / 500)  # from the least to the largest
        expected = alone(own, now_ms, not beacon, price_w, [(REPLY, now_ms - 1000, 0), (MESSAGE, now_ms, 1)])
        assert own.s["planned_ns"] == now_ms * MS
        assert plan.awake_until_ns == expected[0]


def test_what_a_window_may_be_holding_back_is_planned_for_as_long_as_it_may():
    for age_ms, waits in ((249, [(MESSAGE, 349, 1), (HELD, 249, 1)]), (250, [(MESSAGE, 350, 1)])):
        own = Rule()
        own.s["message_ns"], own.s["messages"], own.s["held_from_ns"] = 900 * MS, 1, 1000 * MS
        own.s["push_price_w"] = 3.0
        plan = own.asked(1000 + age_ms)
        assert plan[:2] == alone(own, 1000 + age_ms, True, 3.0, waits)


def test_messages_may_be_later_or_earlier_than_asked_for_by_what_they_were_before():
    found = [messages.wanted_delay_s(0.3, balance, 30.0) for balance in (0.0, 6.0, -14.7, -60.0, 29.0, 14.7)]
    assert found == near([0.3, 0.24, 0.447, 0.45, 0.15, 0.153])


@cases_of("balance variance_s2 wanted", "8.0, 0.0, 0.6 ; -0.225, 4.0, 0.6 ; 99.0, 0.0, 0.5 ; -10.225, 4.0, 1.1")
def test_plans_aim_at_what_was_asked_for_but_for_what_is_owed_and_a_margin_for_what_is_not_known(
    balance, variance_s2, wanted
):
    prices_w = []
    for given, doubt_s2, part in ((balance, variance_s2, 1.0), (0.0, 0.0, wanted)):
        own = Rule(priced=False, max_push_delay_s=0.4)
        own.s["messages"], own.s["push_balance"], own.s["push_doubt_s2"] = 60, given, doubt_s2
        own.s["mean_rates"][MESSAGE] = 0.2
        own.s["push_delay_s"] *= part
        own.asked(1000)
        prices_w.append(float(own.s["push_price_w"]))
    assert prices_w[0] == near(prices_w[1])


def test_of_messages_that_waited_together_the_account_is_that_of_all_and_how_uncertain_it_is():
    own = Rule()
    s = own.s
    s["opened_ns"] = 3000 * MS
    for count, at_ms in ((1, 3001), (2, 3002)):  # the first ones: half the interval
        own.received(at_ms, (2000, 3000), size=500)
        assert (s["push_balance"], s["push_doubt_s2"]) == near((count * (0.5 / 0.4 - 1), (count * 0.5) ** 2 / 3))
    s["opened_ns"], s["push_balance"], s["push_doubt_s2"] = 9000 * MS, 0.0, 0.0
    s["mean_rates"][MESSAGE], waiting = 0.3, np.zeros_like(s["waiting"])
    rates = s["mean_rates"][MESSAGE].copy()
    own.received(9001, (8000, 9000), size=500)
    whole_s = message_prices.expected_waits(waiting, rates, 8000 * MS - 2750 * MS, 1000 * MS, 1)
    assert (s["push_balance"], s["push_doubt_s2"]) == near((whole_s / 0.4 - 1, whole_s**2 / 3))
    assert (s["waited"], s["waited_from_ns"], s["waited_until_ns"]) == (1, 8000 * MS, 9000 * MS)
    own.received(9003, (8000, 9000), size=500, wanted=0)  # which the server has sent again meanwhile
    assert (s["push_balance"], s["push_doubt_s2"]) == near((1 / 1.5 / 0.4 - 1, (1 / 1.5) ** 2 / 3))
    assert s["held_middle_ns"] == near(((8000 + 1000 / 3 + 9003) / 2) * MS)


@cases_of(
    "messages measure longest_ms", "0, 'mean', 0 ; 1, 'mean', 1400 ; 1, 'p95', 1400 ; 0, 'max', 400 ; 9, 'max', 400"
)
def test_once_a_message_has_come_no_sleep_is_longer_than_three_and_a_half_delays(messages, measure, longest_ms):
    own = Rule(push_measure=measure)
    own.s["messages"], own.s["push_price_w"] = messages, 1e-4
    plan = own.asked(1000)
    assert workspace(own)["longest_ns"] == longest_ms * MS
    assert plan.wake_ns - plan.awake_until_ns == near(MS * (longest_ms or 5000))


def test_the_price_of_messages_is_sought_far_at_first_and_then_near_by():
    own = Rule(priced=False, max_push_delay_s=0.3, least_push_price_w=0.01)
    s = own.s
    s["push_balance"], s["messages"] = 6.0, 120
    s["ages"][:] = [0, 0, 1.0, 0, 0, 0, 0, 0]
    s["mean_rates"][MESSAGE] = 0.2

    def sought(least_w, most_w, halvings):
        work = blank()
        message_prices.renewal_followers(work, s["mean_rates"][MESSAGE], 100 * MS)
        return message_prices.price_of_delay(work, s["mean_rates"][MESSAGE], AGES_NS, s["ages"], 100 * MS,
            s["awake_w"], s["beacon_j"], s["wakeup_j"], 0.3 * 0.7, least_w, most_w, halvings)  # fmt: skip

    own.asked(1000)
    assert s["push_price_w"] == near(sought(0.01, 100.0, 14))
    assert (s["push_stale"], s["priced_messages"]) == (0, 120)
    near_w = 2.5 * float(s["push_price_w"])
    s["messages"], s["priced_messages"], s["push_stale"], s["push_price_w"] = 153, 150, 1, near_w
    own.asked(2000)
    assert (s["push_stale"], s["push_price_w"]) == (1, near_w)  # fewer than four more: not yet
    s["messages"] = 154
    expected = sought(max(0.01, near_w / 4), min(100.0, 4 * near_w), 8)
    own.asked(3000)
    assert s["push_price_w"] == near(expected)
    assert (s["push_stale"], s["priced_messages"]) == (0, 154)
