"""TCP by hand: what one end sends, and when, of 100 bytes a segment; and what a lost frame costs a page."""

import re

import pytest

from netsim import TcpConfig
from netsim.model import receiver
from netsim.model.codes import DATA, NEVER, SYN, SYN_ACK
from netsim.model.receiver import foresee, receive
from netsim.model.tcp import close, open_connection, write
from tests.netsim.worlds import MS, Alone, load
from tests.tables import cases_of, each, near
from traces.records import Page

S = 1_000_000_000


@pytest.fixture
def done(monkeypatch):
    """Instants at which a reply was complete, or an upload acknowledged; the browser is not told."""
    instants = []
    monkeypatch.setattr(receiver, "arrived", lambda run, connection: instants.append(run.now))
    return instants


class End(Alone):
    """An end whose packets are noted, and whose other end hears nothing."""

    def __init__(self, *, opened_ms=200, is_client=True, **settings):
        super().__init__(tcp=TcpConfig(**{"mss_bytes": 100, "window": 20, "min_rto_s": 0.05, **settings}))
        ends = self.connection.client, self.connection.server
        self.tcp, self.peer = ends if is_client else ends[::-1]
        self.peer.closed, self.connection.reply = 1, 1
        self.told = 0
        if opened_ms:
            open_connection(self.run, self.tcp)
            self.ms(opened_ms)
            self.take(SYN_ACK)
            self.news()

    def ms(self, at_ms):
        self.at(at_ms * MS)

    def news(self):
        """What was sent since last asked: SYN, ^ the byte that is acknowledged, or segments; and when, ms."""
        found = []
        for packet in self.recorder.transmissions[self.told :]:
            flag, seq, length, ack = packet[5:9]
            what = {SYN: "syn", SYN_ACK: "syn-ack"}.get(flag, f"{seq}+{length}" if length else f"^{ack}")
            found.append((what, packet.reached_ns / MS))
        self.told = len(self.recorder.transmissions)
        return found

    def take(self, flag=DATA, **what):
        receive(self.run, self.packet(self.tcp, flag, **what))

    def do(self, verb, word="", more=""):
        """Do what a line of a scenario says; of a foreseen packet, say whether it changes or completes anything."""
        what = {"ack": int(word[1:])} if word.startswith("^") else {}
        if "+" in word:
            what = dict(zip(("seq", "length"), map(int, word.split("+")), strict=True))
        if verb in ("write", "tell"):
            write(self.run, self.tcp, int(word), int(verb == "tell"))
        elif verb == "take":
            for _ in range(int(more[1:] or 1)):
                self.take(**what)
        elif verb in ("syn", "syn-ack"):
            self.take(SYN if verb == "syn" else SYN_ACK)
        elif verb == "expect":  # a reply, whose last segment is acknowledged if it is asked for
            self.tcp.expected += int(word)
            self.tcp.acknowledges = int(more == "asked")
            self.peer.peer_has_all, self.peer.deadline = 0, 1
        elif verb == "full":  # as a peer says that has all
            self.tcp.peer_has_all, self.tcp.deadline = 1, NEVER
        elif verb == "open":
            open_connection(self.run, self.tcp)
        elif verb == "close":
            close(self.run, self.connection)
        else:
            assert verb == "foresee"
            found = foresee(self.tcp, self.packet(self.tcp, **what))
            return ("changes" * bool(found & 1) + " completes" * bool(found & 2)) or "no"
        return None

    def value(self, name):
        """A number that a scenario checks: of the end (the time-out in ms), of its peer, or of its client."""
        own = {"rto": self.tcp.rto / MS, "holes": bool(self.tcp.out_of_order), "outstanding": self.client.outstanding,
            "has": self.peer.peer_has_all, "stopped": self.peer.deadline == NEVER}  # fmt: skip
        return own[name] if name in own else getattr(self.tcp, name)


# after # a title, and settings; then lines, or parts of them between ` ; `: @ms, what is done -> what is sent by then,
# of 100-byte segments from-to
SCENARIOS = """
# a SYN is sent again after 3 s that double up to a minute, and its answer is not timed: opened_ms=0
open -> syn@0 ; @300000 -> syn@3000 syn@9000 syn@21000 syn@45000 syn@93000 syn@153000 syn@213000 syn@273000
syn-ack -> ^0@300000 rto=60000 outstanding=1 ; syn-ack -> ^0 outstanding=1 ; @500000 -> nothing
# the other end measures its answer to a single SYN: opened_ms=0 is_client=0
syn -> syn-ack ; @100 take -> nothing rto=300 ; syn -> nothing ; @70000 -> nothing
# the window grows by a segment an acknowledgement up to its limit: window=5
write 3000 -> 0-200 ; take ^100 -> 200-400 ; take ^200 -> 400-600 ; take ^400 -> 600-900 ; take ^500 -> 900-1000
take ^1000 -> 1000-1500 ; take ^1000 -> nothing
# three duplicates send one segment again and halve the threshold; later ones inflate the window: initial_window=8
write 5000 -> 0-800 ; take ^0 x2 -> nothing ; take ^0 -> 0-100 cwnd=7 ssthresh=4 ; take ^0 -> nothing
take ^0 -> 800-900 ; take ^0 x2 -> 900-1100 ; take ^800 -> 1100-1200 cwnd=4 ssthresh=4
take ^900 -> 1200-1300 cwnd=4.25 ; take ^1000 -> 1300-1400 cwnd=4.485294118 ; take ^1200 -> 1400-1600
take ^1300 -> 1600-1700 ; take ^1400 -> 1700-1900 ; take ^1400 x3 -> 1400-1500 ssthresh=2.5
# the threshold is never below two segments, and nothing is timed that was sent twice: initial_window=3
write 400 -> 0-300 ; take ^0 x3 -> 0-100 ssthresh=2 rto=600 ; @400 take ^400 rto=600
# after a time-out it goes back, starts from one segment, and takes no old duplicate for a loss: initial_window=6
write 5000 -> 0-600 ; @799.9 -> nothing ; @800.1 -> 0-100@800 ssthresh=3 cwnd=1 rto=1200 ; take ^0 x5 -> nothing
@2000.1 -> 0-100@2000 rto=2400 ssthresh=2 ; take ^100 -> 100-300 cwnd=2 ; take ^600 -> 600-800 cwnd=2.5
# what was sent before a time-out is not timed when it is sent again, and the first new segment is: initial_window=6
write 5000 -> 0-600 ; @2000.1 -> 0-100@800 0-100@2000 ; @2100 take ^100 -> 100-300 ; @2150 take ^300 -> 300-500
@2180 take ^500 -> 500-700 ; @2200 take ^600 rto=2400 ; @2230 take ^700 rto=631.25
# the timer runs from the last progress and stops when all is acknowledged: initial_window=4 min_rto_s=1
tell 300 -> 0-300 ; @900 take ^100 ; @1962 -> nothing ; @1963 -> 100-200 ; take ^300 done=1 ; @100000 -> nothing
write 100 -> 300-400 ; close ; @200000 take ^400 -> nothing done=1
# what the peer has in full is neither timed nor taken for lost: initial_window=4
write 350 -> 0-300 300+50 ; full ; @5000 take ^0 x4 -> nothing ; write 100 -> nothing ; take ^350 -> 350-450
# segments in order are acknowledged when full, and a last partial one is not
expect 250 ; take 0+100 -> ^100 ; take 100+100 -> ^200 ; take 200+50 -> nothing done=1 has=1 stopped=1
take 200+50 -> ^250 done=1
# a last partial segment is acknowledged if that is asked for
expect 250 asked ; take 0+100 -> ^100 ; take 100+100 -> ^200 ; take 200+50 -> ^250 done=1 has=0 stopped=0
# a hole is told by duplicates until it is filled
expect 600 ; take 0+100 -> ^100 ; take 200+100 -> ^100 ; take 300+100 -> ^100 ; take 500+100 -> ^100
foresee 100+100 -> changes ; foresee 0+100 -> no ; foresee 400+100 -> changes ; take 100+100 -> ^400
foresee 400+100 -> changes completes ; foresee 350+150 -> changes completes ; foresee 400+150 -> changes completes
foresee 500+100 -> changes ; take 400+100 -> ^600 done=1 ; foresee 600+0 -> changes ; close ; foresee 600+100 -> no
# where nothing is expected nothing is completed
foresee 0+100 -> changes
# of copies of unequal lengths the longest counts, and nothing that came is forgotten
expect 900 ; take 100+100 ; take 100+50 ; take 300+50 ; take 0+100 -> ^200 ; take 200+200 received=400 holes=0
# the last acknowledgement wanted is foreseen
tell 150 -> 0-100 100+50 ; foresee ^100 -> changes ; foresee ^150 -> changes completes ; close ; foresee ^150 -> no
"""


def scenarios():
    for block in SCENARIOS.strip().removeprefix("# ").split("\n# "):
        title, *lines = re.split(r"\n| ; ", block)
        name, _, settings = title.partition(": ")
        own = {key: float(value) if "." in value or key == "min_rto_s" else int(value)
               for key, _, value in (one.partition("=") for one in settings.split())}  # fmt: skip
        yield pytest.param(own, lines, id=name)


@each("settings, lines", list(scenarios()))
def test_an_end_sends_what_was_worked_out_by_hand(settings, lines, done):
    end = End(**settings)
    for line in lines:
        step, arrow, expected = line.partition(" -> ")
        words = [word for word in step.split() if "=" not in word]
        checks = [word for word in (*step.split(), *expected.split()) if "=" in word]
        if words[0].startswith("@"):
            end.ms(float(words.pop(0)[1:]))
        foreseen = end.do(*words) if words else None
        wanted = [word for word in expected.split() if "=" not in word and word != "nothing"]
        if foreseen:
            assert foreseen.split() == wanted, line
            continue
        segments = []
        for word in wanted:
            span, _, at = word.partition("@")
            first, dash, last = span.partition("-")
            each = [f"{seq}+100" for seq in range(int(first), int(last), 100)] if dash and first.isdigit() else [span]
            segments += [(one, float(at) if at else None) for one in each]
        found = end.news()
        if arrow:
            assert [what for what, _ in found] == [what for what, _ in segments], line
            assert all(at in (None, ms) for (_, ms), (_, at) in zip(found, segments, strict=True)), line
        for check in checks:
            name, _, value = check.partition("=")
            assert (len(done) if name == "done" else end.value(name)) == near(float(value)), line


def test_the_time_out_follows_round_trips_by_rfc_6298():
    end, now, smooth, spread = End(), 200, 200.0, 100.0
    for i, rtt in enumerate((300, 500, 40, 60, 60)):
        assert end.tcp.rto / MS == near(smooth + 4 * spread, rel=1e-6)
        end.do("write", "100")
        now += rtt
        end.ms(now)
        end.take(ack=100 * (i + 1))
        spread += (abs(smooth - rtt) - spread) / 4
        smooth += (rtt - smooth) / 8
    limits = [(1, 0.4, 400), (2999, 0.05, 3 * 2999), (30_000, 1.0, 60_000)]  # at least min_rto_s, at most a minute
    for opened_ms, least_s, rto_ms in limits:
        assert End(opened_ms=opened_ms, min_rto_s=least_s, initial_rto_s=200.0).tcp.rto == rto_ms * MS


def test_an_acknowledgement_at_the_instant_of_the_time_out_is_in_time_whatever_was_scheduled_first():
    end = End()
    end.do("write", "100")
    end.ms(799)
    end.later(800 * MS, lambda: end.take(ack=100))
    end.ms(900)
    assert [what for what, _ in end.news()] == ["0+100"]


@cases_of("lost costs_s", """
[0], 3.0  # the SYN: the initial time-out
[0, 1], 3.0 + 6.0  # which doubles
[1], 3.0  # the SYN-ACK; the late duplicate does no harm
[2], 0.0  # the handshake's ACK is made good by the request
[3], 1.0 - 40 * 1600e-9  # the request: the least time-out, less the air time of the ACK before it
[4], 1.0  # the reply
""")  # fmt: skip
def test_a_lost_frame_of_a_short_page_costs_its_time_out_or_nothing(lost, costs_s):
    base_s = 0.082768  # request 300 B, reply 500 B: measured by ns-2
    assert load(Page("short", 300, 500), lost=lost) == [near(base_s + costs_s, abs=1e-12)]


def test_nagle_holds_the_last_partial_segment_until_all_before_it_is_acknowledged():
    page = Page("nagle", 300, 1460 + 500)
    [plain], [held] = load(page), load(page, tcp=TcpConfig(nagle=True))
    # ms: the first segment down, its ACK up, the second down; without Nagle the second follows the first
    first, ack, second = 1.2 + 20 + 2.4 + 0.1, 0.064 + 0.1 + 0.032 + 20, 0.432 + 20 + 0.864 + 0.1
    behind = 1.2 + 20 + 2.4 + 0.864 + 0.1
    assert held - plain == near((first + ack + second - behind) * 1e-3, abs=1e-12)
