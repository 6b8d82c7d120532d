"""One end of a TCP connection by itself: what it sends, and when, is worked out by hand; 100 bytes a segment."""

import pytest

from netsim import TcpConfig
from netsim.model import arriving
from netsim.model.arriving import foresee, receive
from netsim.model.codes import DATA, SYN, SYN_ACK
from netsim.model.records import NEVER
from netsim.model.tcp import close, open_connection, time_round_trip, write
from tests.netsim.worlds import MS, Alone

S = 1_000_000_000


@pytest.fixture
def done(monkeypatch):
    """Instants at which a reply was complete, or an upload acknowledged; the browser is not told."""
    instants = []
    monkeypatch.setattr(arriving, "arrived", lambda run, connection: instants.append(run.now))
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

    @property
    def sent(self):
        """What was sent since the news: (flag, seq, length, ack, ms)."""
        return [(*one[5:9], one.reached_ns / MS) for one in self.recorder.transmissions[self.told :]]

    def ms(self, at_ms):
        self.at(at_ms * MS)

    def news(self):
        """What was sent since last asked: (seq, length)."""
        found = [packet[1:3] for packet in self.sent]
        self.told = len(self.recorder.transmissions)
        return found

    def write(self, n_bytes, *, tell=False):
        write(self.run, self.tcp, n_bytes, int(tell))

    def take(self, flag=DATA, **what):
        receive(self.run, self.packet(self.tcp, flag, **what))

    def ack(self, byte, times=1):
        for _ in range(times):
            self.take(ack=byte)
        return self.news()

    def expect(self, n_bytes, *, acknowledged=False):
        self.tcp.expected += n_bytes
        self.tcp.acknowledges = int(acknowledged)

    def foresee(self, **what):
        """Whether a packet would change anything, and whether it would complete what is expected."""
        found = foresee(self.tcp, self.packet(self.tcp, **what))
        return bool(found & 1), bool(found & 2)


def segments(first, last):
    return [(seq, 100) for seq in range(first, last, 100)]


def test_a_syn_is_sent_again_after_three_seconds_that_double_up_to_a_minute():
    end = End(opened_ms=0)
    open_connection(end.run, end.tcp)
    end.ms(300_000)
    assert [(flag, ms) for flag, _, _, _, ms in end.sent] == [
        (SYN, at * 1000.0) for at in (0, 3, 9, 21, 45, 93, 153, 213, 273)
    ]
    end.take(SYN_ACK)
    assert end.sent[-1] == (DATA, 0, 0, 0, 300_000.0)
    assert end.client.outstanding == 1
    assert end.tcp.rto == 60 * S  # no round trip is measured on a SYN that was sent again: which was answered?
    end.take(SYN_ACK)  # our acknowledgement was lost
    assert len(end.sent) == 11
    assert end.client.outstanding == 1
    end.ms(500_000)
    assert len(end.sent) == 11


def test_the_other_end_answers_every_syn_and_measures_its_answer_if_it_was_the_first():
    for syns in (1, 2):
        end = End(opened_ms=0, is_client=False)
        for _ in range(syns):
            end.take(SYN)
        assert [flag for flag, *_ in end.sent] == [SYN_ACK] * syns
        end.ms(100)
        end.take()
        end.take(SYN)
        assert len(end.sent) == syns
        assert end.tcp.rto == (300 * MS if syns == 1 else 3 * S)
        end.ms(70_000)
        assert len(end.sent) == syns


def test_the_time_out_follows_round_trips_by_rfc_6298():
    end = End(opened_ms=200)
    expected_ms, smooth, spread = [600.0], 200.0, 100.0
    found_ms = [end.tcp.rto / MS]
    now = 200
    for i, rtt in enumerate((300, 500, 40, 60, 60)):
        end.write(100)
        now += rtt
        end.ms(now)
        end.ack(100 * (i + 1))
        spread += (abs(smooth - rtt) - spread) / 4
        smooth += (rtt - smooth) / 8
        found_ms.append(end.tcp.rto / MS)
        expected_ms.append(smooth + 4 * spread)
    assert found_ms == pytest.approx(expected_ms, rel=1e-6)
    quick = End(opened_ms=1, min_rto_s=0.4)
    assert quick.tcp.rto == 400 * MS
    assert End(opened_ms=2999, min_rto_s=0.05, initial_rto_s=200.0).tcp.rto == 3 * 2999 * MS
    assert End(opened_ms=30_000, initial_rto_s=200.0).tcp.rto == 60 * S  # at most


def test_the_window_grows_by_a_segment_an_acknowledgement_up_to_its_limit():
    end = End(window=5)
    end.write(3000)
    assert end.news() == segments(0, 200)
    assert end.ack(100) == segments(200, 400)
    assert end.ack(200) == segments(400, 600)
    assert end.ack(400) == segments(600, 900)  # 5 in flight
    assert end.ack(500) == segments(900, 1000)
    assert end.ack(1000) == segments(1000, 1500)
    assert end.ack(1000) == []  # a first duplicate


def test_three_duplicates_send_one_segment_again_halve_the_threshold_and_let_later_ones_inflate_the_window():
    end = End(initial_window=8)
    end.write(5000)
    assert end.news() == segments(0, 800)
    assert end.ack(0, times=2) == []
    assert end.ack(0) == [(0, 100)]  # threshold 4, window 7
    assert end.ack(0) == []  # 8
    assert end.ack(0) == segments(800, 900)  # 9
    assert end.ack(0, times=2) == segments(900, 1100)
    assert end.ack(800) == segments(1100, 1200)  # all that was lost is there: back to 4 of them, 3 in flight
    assert end.tcp.cwnd == end.tcp.ssthresh == 4.0
    assert end.ack(900) == segments(1200, 1300)  # from here by a segment a round trip: 4.25
    assert end.ack(1000) == segments(1300, 1400)
    assert end.tcp.cwnd == pytest.approx(4.25 + 1 / 4.25)
    assert end.ack(1200) == segments(1400, 1600)
    assert end.ack(1300) == segments(1600, 1700)  # 4.92
    assert end.ack(1400) == segments(1700, 1900)  # 5.12
    assert end.ack(1400, times=3) == [(1400, 100)]
    assert end.tcp.ssthresh == 2.5


def test_the_threshold_is_never_below_two_segments_and_nothing_is_timed_that_was_sent_twice():
    end = End(initial_window=3)
    end.write(400)
    assert end.news() == segments(0, 300)
    assert end.ack(0, times=3) == [(0, 100)]
    assert end.tcp.ssthresh == 2.0
    before = end.tcp.rto
    end.ms(400)
    end.ack(400)
    assert end.tcp.rto == before


def test_after_a_time_out_it_goes_back_starts_from_one_segment_and_takes_no_old_duplicate_for_a_loss():
    end = End(initial_window=6)
    end.write(5000)
    end.news()
    end.ms(799.9)
    assert end.news() == []
    end.ms(800.1)  # 600 ms after it was sent
    assert [(seq, ms) for _, seq, _, _, ms in end.sent] == [(0, 800.0)]
    end.news()
    assert (end.tcp.ssthresh, end.tcp.cwnd, end.tcp.rto) == (3.0, 1.0, 1200 * MS)
    assert end.ack(0, times=5) == []  # sent before the time-out
    end.ms(2000.1)
    assert [ms for *_, ms in end.sent] == [2000.0]
    assert end.tcp.rto == 2400 * MS
    assert end.tcp.ssthresh == 2.0
    end.news()
    assert end.ack(100) == segments(100, 300)
    assert end.tcp.cwnd == 2.0
    assert end.ack(600) == segments(600, 800)  # those sent first had arrived
    assert end.tcp.cwnd == 2.5


def test_an_acknowledgement_at_the_instant_of_the_time_out_is_in_time_whatever_was_scheduled_first():
    end = End()
    end.write(100)
    end.ms(799)
    end.later(800 * MS, lambda: end.take(ack=100))
    end.ms(900)
    assert end.news() == [(0, 100)]


def test_what_was_sent_before_a_time_out_is_not_timed_again_and_the_first_new_segment_is():
    end = End(initial_window=6)
    end.write(5000)
    end.ms(2000.1)  # two time-outs: before the second it had gone back to byte 100, but all up to 600 was sent before
    assert end.news() == [*segments(0, 600), (0, 100), (0, 100)]
    end.ms(2100)
    assert end.ack(100) == segments(100, 300)
    end.ms(2150)
    assert end.ack(300) == segments(300, 500)
    end.ms(2180)
    assert end.ack(500) == segments(500, 700)  # the second of them is new
    end.ms(2200)
    end.ack(600)
    assert end.tcp.rto == 2400 * MS
    end.ms(2230)
    end.ack(700)  # 50 ms: spread 100 + (150 - 100) / 4, smooth 200 - 150 / 8
    assert end.tcp.rto == pytest.approx((181.25 + 4 * 112.5) * MS, rel=1e-6)


def test_the_timer_runs_from_the_last_progress_and_stops_when_all_is_acknowledged(done):
    end = End(initial_window=4, min_rto_s=1.0)
    end.write(300, tell=True)
    end.ms(900)
    end.ack(100)
    end.ms(1962)  # 262.5 ms, and four times a spread of 200 ms, after that
    assert end.news() == []
    end.ms(1963)
    assert end.news() == [(100, 100)]
    end.ack(300)
    assert len(done) == 1
    end.ms(100_000)
    assert end.news() == []
    end.write(100)
    close(end.run, end.connection)
    end.news()
    end.ms(200_000)
    end.ack(400)
    assert end.news() == []
    assert len(done) == 1


def test_what_the_peer_has_in_full_is_neither_timed_nor_taken_for_lost():
    end = End(initial_window=4)
    end.write(350)
    assert end.news() == [*segments(0, 300), (300, 50)]
    end.tcp.peer_has_all, end.tcp.deadline = 1, NEVER  # as the receiver below says
    end.ms(5000)
    assert end.ack(0, times=4) == []
    end.write(100)  # carries on behind it
    assert end.news() == []  # a window of four is full
    assert end.ack(350) == [(350, 100)]


def test_segments_in_order_are_acknowledged_when_full_and_a_last_partial_one_only_if_asked_for(done):
    for asked in (False, True):
        end = End()
        done.clear()
        end.peer.peer_has_all, end.peer.deadline = 0, 1
        end.expect(250, acknowledged=asked)
        end.take(seq=0, length=100)
        end.take(seq=100, length=100)
        assert [ack for _, _, _, ack, _ in end.sent] == [100, 200]
        end.take(seq=200, length=50)
        assert len(done) == 1
        assert [ack for _, _, _, ack, _ in end.sent] == [100, 200, *([250] if asked else [])]
        assert (end.peer.peer_has_all, end.peer.deadline == NEVER) == ((0, False) if asked else (1, True))
        end.take(seq=200, length=50)  # once more: our acknowledgement was lost
        assert end.sent[-1][3] == 250
        assert len(done) == 1


def test_a_hole_is_told_by_duplicates_until_it_is_filled(done):
    end = End()
    end.expect(600)
    for seq in (0, 200, 300, 500):
        end.take(seq=seq, length=100)
    assert [ack for _, _, _, ack, _ in end.sent] == [100, 100, 100, 100]
    assert end.foresee(seq=100, length=100) == (True, False)
    assert end.foresee(seq=0, length=100) == (False, False)
    assert end.foresee(seq=400, length=100) == (True, False)
    end.take(seq=100, length=100)
    assert end.sent[-1][3] == 400
    assert end.foresee(seq=400, length=100) == (True, True)
    assert len(done) == 0
    end.take(seq=400, length=100)
    assert (end.sent[-1][3], len(done)) == (600, 1)
    close(end.run, end.connection)
    assert end.foresee(seq=600, length=100) == (False, False)


def test_of_copies_of_unequal_lengths_the_longest_counts_and_nothing_that_came_is_forgotten(done):
    end = End()
    end.expect(900)
    for seq, length in ((100, 100), (100, 50), (300, 50)):
        end.take(seq=seq, length=length)
    end.take(seq=0, length=100)
    assert end.sent[-1][3] == 200
    end.take(seq=200, length=200)  # over all of one that came before
    assert end.tcp.received == 400
    assert not end.tcp.out_of_order


def test_the_last_acknowledgement_wanted_is_foreseen():
    end = End()
    end.write(150, tell=True)
    assert end.foresee(ack=100) == (True, False)
    assert end.foresee(ack=150) == (True, True)
    close(end.run, end.connection)
    assert end.foresee(ack=150) == (False, False)


def test_round_trips_are_taken_in_by_rfc_6298_in_whole_nanoseconds():
    alone, found = Alone(tcp=TcpConfig(min_rto_s=350e-9)), []
    run, end = alone.run, alone.connection.client
    for rtt in (200, 300, 1_000, 7):
        end.timed, run.now = 0, rtt
        time_round_trip(run, end)
        found.append((end.srtt, end.rttvar, end.rto))
    assert found == [(200, 100, 600), (212, 100, 612), (310, 272, 1_398), (272, 279, 1_388)]


def test_its_defaults_are_those_of_the_runs_it_is_held_against():
    config = TcpConfig()
    assert (config.mss_bytes, config.header_bytes, config.initial_window, config.window) == (1460, 40, 2, 20)
    assert (config.min_rto_s, config.initial_rto_s, config.nagle) == (1.0, 3.0, False)
    assert TcpConfig(mss_bytes=1, header_bytes=1, initial_window=1, window=1).window == 1
