"""One end of a TCP connection by itself: what it sends, and when, is worked out by hand; 100 bytes a segment."""

import pytest

from netsim.clock import Clock, Occurrence
from netsim.tcp import DATA, SYN, SYN_ACK, Endpoint, Packet, TcpConfig

S, MS = 1_000_000_000, 1_000_000


class Peer:
    """The other end: it only notes that it is told that all has arrived."""

    def __init__(self):
        self.completed = 0

    def _complete(self):
        self.completed += 1


class End:
    """An endpoint whose packets are noted: (seq, length, ack, ms)."""

    def __init__(self, *, opened_ms=200, **settings):
        self.clock, self.sent, self.messages, self.opened, self.acked = Clock(), [], 0, 0, 0
        given = {"mss_bytes": 100, "window": 20, "min_rto_s": 0.05, **settings}
        self.tcp = Endpoint(self.clock, TcpConfig(**given), self._note, self._on_message, self._on_open)
        self.tcp.peer = self.peer = Peer()
        if opened_ms:
            self.tcp.open()
            self.at(opened_ms)
            self.tcp.receive(Packet(self.tcp, SYN_ACK, 0, 0, 0, 40))
            self.news()

    def _note(self, packet):
        assert packet.size_bytes == packet.length + 40
        self.sent.append((packet.flag, packet.seq, packet.length, packet.ack, self.clock.now / MS))

    def _on_message(self):
        self.messages += 1

    def _on_open(self):
        self.opened += 1

    def _on_acked(self):
        self.acked += 1

    def at(self, ms):
        if ms * MS > self.clock.now:
            self.clock.run(until=ms * MS)

    def news(self):
        """What was sent since last asked: (seq, length)."""
        found, self.sent = [packet[1:3] for packet in self.sent], []
        return found

    def ack(self, byte, times=1):
        for _ in range(times):
            self.tcp.receive(Packet(self.tcp, DATA, 0, 0, byte, 40))
        return self.news()

    def data(self, seq, length=100, ack=0):
        self.tcp.receive(Packet(self.tcp, DATA, seq, length, ack, length + 40))


def segments(first, last):
    return [(seq, 100) for seq in range(first, last, 100)]


def test_a_syn_is_sent_again_after_three_seconds_that_double_up_to_a_minute():
    end = End(opened_ms=0)
    end.tcp.open()
    end.at(300_000)
    assert [(flag, ms) for flag, _, _, _, ms in end.sent] == [
        (SYN, at * 1000.0) for at in (0, 3, 9, 21, 45, 93, 153, 213, 273)
    ]
    end.tcp.receive(Packet(end.tcp, SYN_ACK, 0, 0, 0, 40))
    assert end.sent[-1] == (DATA, 0, 0, 0, 300_000.0)
    assert end.opened == 1
    assert end.tcp._rto_ns == 60 * S  # no round trip is measured on a SYN that was sent again: which was answered?
    end.tcp.receive(Packet(end.tcp, SYN_ACK, 0, 0, 0, 40))  # our acknowledgement was lost
    assert len(end.sent) == 11
    assert end.opened == 1
    end.at(500_000)
    assert len(end.sent) == 11


def test_the_other_end_answers_every_syn_and_measures_its_answer_if_it_was_the_first():
    for syns in (1, 2):
        end = End(opened_ms=0)
        end.tcp._on_open = None
        for _ in range(syns):
            end.tcp.receive(Packet(end.tcp, SYN, 0, 0, 0, 40))
        assert [flag for flag, *_ in end.sent] == [SYN_ACK] * syns
        end.at(100)
        end.tcp.receive(Packet(end.tcp, DATA, 0, 0, 0, 40))
        end.tcp.receive(Packet(end.tcp, SYN, 0, 0, 0, 40))
        assert len(end.sent) == syns
        assert end.tcp._rto_ns == (300 * MS if syns == 1 else 3 * S)
        end.at(70_000)
        assert len(end.sent) == syns


def test_the_time_out_follows_round_trips_by_rfc_6298():
    end = End(opened_ms=200)
    expected_ms, smooth, spread = [600.0], 200.0, 100.0
    found_ms = [end.tcp._rto_ns / MS]
    now = 200
    for i, rtt in enumerate((300, 500, 40, 60, 60)):
        end.tcp.write(100)
        now += rtt
        end.at(now)
        end.ack(100 * (i + 1))
        spread += (abs(smooth - rtt) - spread) / 4
        smooth += (rtt - smooth) / 8
        found_ms.append(end.tcp._rto_ns / MS)
        expected_ms.append(smooth + 4 * spread)
    assert found_ms == pytest.approx(expected_ms, rel=1e-6)
    quick = End(opened_ms=1, min_rto_s=0.4)
    assert quick.tcp._rto_ns == 400 * MS
    assert End(opened_ms=2999, min_rto_s=0.05, initial_rto_s=200.0).tcp._rto_ns == 3 * 2999 * MS
    assert End(opened_ms=30_000, initial_rto_s=200.0).tcp._rto_ns == 60 * S  # at most


def test_the_window_grows_by_a_segment_an_acknowledgement_up_to_its_limit():
    end = End(window=5)
    end.tcp.write(3000)
    assert end.news() == segments(0, 200)
    assert end.ack(100) == segments(200, 400)
    assert end.ack(200) == segments(400, 600)
    assert end.ack(400) == segments(600, 900)  # 5 in flight
    assert end.ack(500) == segments(900, 1000)
    assert end.ack(1000) == segments(1000, 1500)
    assert end.ack(1000) == []  # a first duplicate


def test_three_duplicates_send_one_segment_again_halve_the_threshold_and_let_later_ones_inflate_the_window():
    end = End(initial_window=8)
    end.tcp.write(5000)
    assert end.news() == segments(0, 800)
    assert end.ack(0, times=2) == []
    assert end.ack(0) == [(0, 100)]  # threshold 4, window 7
    assert end.ack(0) == []  # 8
    assert end.ack(0) == segments(800, 900)  # 9
    assert end.ack(0, times=2) == segments(900, 1100)
    assert end.ack(800) == segments(1100, 1200)  # all that was lost is there: back to 4 of them, 3 in flight
    assert end.tcp._cwnd == end.tcp._ssthresh == 4.0
    assert end.ack(900) == segments(1200, 1300)  # from here by a segment a round trip: 4.25
    assert end.ack(1000) == segments(1300, 1400)
    assert end.tcp._cwnd == pytest.approx(4.25 + 1 / 4.25)
    assert end.ack(1200) == segments(1400, 1600)
    assert end.ack(1300) == segments(1600, 1700)  # 4.92
    assert end.ack(1400) == segments(1700, 1900)  # 5.12
    assert end.ack(1400, times=3) == [(1400, 100)]
    assert end.tcp._ssthresh == 2.5


def test_the_threshold_is_never_below_two_segments_and_nothing_is_timed_that_was_sent_twice():
    end = End(initial_window=3)
    end.tcp.write(400)
    assert end.news() == segments(0, 300)
    assert end.ack(0, times=3) == [(0, 100)]
    assert end.tcp._ssthresh == 2.0
    before = end.tcp._rto_ns
    end.at(400)
    end.ack(400)
    assert end.tcp._rto_ns == before


def test_after_a_time_out_it_goes_back_starts_from_one_segment_and_takes_no_old_duplicate_for_a_loss():
    end = End(initial_window=6)
    end.tcp.write(5000)
    end.news()
    end.at(799.9)
    assert end.news() == []
    end.at(800.1)  # 600 ms after it was sent
    assert [(seq, ms) for _, seq, _, _, ms in end.sent] == [(0, 800.0)]
    end.news()
    assert (end.tcp._ssthresh, end.tcp._cwnd, end.tcp._rto_ns) == (3.0, 1.0, 1200 * MS)
    assert end.ack(0, times=5) == []  # sent before the time-out
    end.at(2000.1)
    assert [ms for *_, ms in end.sent] == [2000.0]
    assert end.tcp._rto_ns == 2400 * MS
    assert end.tcp._ssthresh == 2.0
    end.news()
    assert end.ack(100) == segments(100, 300)
    assert end.tcp._cwnd == 2.0
    assert end.ack(600) == segments(600, 800)  # those sent first had arrived
    assert end.tcp._cwnd == 2.5


def test_nothing_that_was_sent_before_a_time_out_is_timed_when_it_is_sent_again():
    end = End(initial_window=6)
    end.tcp.write(5000)
    end.at(801)
    assert end.news() == [*segments(0, 600), (0, 100)]
    assert end.ack(100) == segments(100, 300)  # were sent before
    end.at(900)
    assert end.ack(500) == segments(500, 800)  # the last two are new
    assert end.tcp._rto_ns == 1200 * MS
    end.at(1000)
    assert end.ack(600) == segments(800, 900)
    assert end.tcp._rto_ns == 1200 * MS
    end.ack(700)  # 100 ms after it was sent; the round trip was 200 ms
    assert end.tcp._rto_ns == 187.5 * MS + 4 * 100 * MS


def test_an_acknowledgement_at_the_instant_of_the_time_out_is_in_time_whatever_was_scheduled_first():
    end = End()
    end.tcp.write(100)
    end.at(799)
    Occurrence(end.clock, 800 * MS, lambda _: end.tcp.receive(Packet(end.tcp, DATA, 0, 0, 100, 40)))
    end.at(900)
    assert end.news() == [(0, 100)]


def test_what_was_sent_before_a_time_out_is_not_timed_again_and_the_first_new_segment_is():
    end = End(initial_window=6)
    end.tcp.write(5000)
    end.at(2000.1)  # two time-outs: before the second it had gone back to byte 100, but all up to 600 was sent before
    assert end.news() == [*segments(0, 600), (0, 100), (0, 100)]
    end.at(2100)
    assert end.ack(100) == segments(100, 300)
    end.at(2150)
    assert end.ack(300) == segments(300, 500)
    end.at(2180)
    assert end.ack(500) == segments(500, 700)  # the second of them is new
    end.at(2200)
    end.ack(600)
    assert end.tcp._rto_ns == 2400 * MS
    end.at(2230)
    end.ack(700)  # 50 ms: spread 100 + (150 - 100) / 4, smooth 200 - 150 / 8
    assert end.tcp._rto_ns == pytest.approx((181.25 + 4 * 112.5) * MS, rel=1e-6)


def test_the_timer_runs_from_the_last_progress_and_stops_when_all_is_acknowledged():
    end = End(initial_window=4, min_rto_s=1.0)
    end.tcp.write(300, end._on_acked)
    end.at(900)
    end.ack(100)
    end.at(1962)  # 262.5 ms, and four times a spread of 200 ms, after that
    assert end.news() == []
    end.at(1963)
    assert end.news() == [(100, 100)]
    end.ack(300)
    assert end.acked == 1
    end.at(100_000)
    assert end.news() == []
    end.tcp.write(100)
    end.tcp.close()
    end.news()
    end.at(200_000)
    end.ack(400)
    assert end.news() == []
    assert end.acked == 1


def test_what_the_peer_has_in_full_is_neither_timed_nor_taken_for_lost():
    end = End(initial_window=4)
    end.tcp.write(350)
    assert end.news() == [*segments(0, 300), (300, 50)]
    end.tcp._complete()
    end.at(5000)
    assert end.ack(0, times=4) == []
    end.tcp.write(100)  # carries on behind it
    assert end.news() == []  # a window of four is full
    assert end.ack(350) == [(350, 100)]


def test_segments_in_order_are_acknowledged_when_full_and_a_last_partial_one_only_if_asked_for():
    for asked in (False, True):
        end = End()
        end.tcp.expect(250, acknowledged=asked)
        end.data(0)
        end.data(100)
        assert [ack for _, _, _, ack, _ in end.sent] == [100, 200]
        end.data(200, 50)
        assert end.messages == 1
        assert [ack for _, _, _, ack, _ in end.sent] == [100, 200, *([250] if asked else [])]
        assert end.peer.completed == (not asked)
        end.data(200, 50)  # once more: our acknowledgement was lost
        assert end.sent[-1][3] == 250
        assert end.messages == 1


def test_a_hole_is_told_by_duplicates_until_it_is_filled():
    end = End()
    end.tcp.expect(600)
    for seq in (0, 200, 300, 500):
        end.data(seq)
    assert [ack for _, _, _, ack, _ in end.sent] == [100, 100, 100, 100]
    assert end.tcp.foresee(Packet(end.tcp, DATA, 100, 100, 0, 140)) == (True, False)
    assert end.tcp.foresee(Packet(end.tcp, DATA, 0, 100, 0, 140)) == (False, False)
    assert end.tcp.foresee(Packet(end.tcp, DATA, 400, 100, 0, 140)) == (True, False)
    end.data(100)
    assert end.sent[-1][3] == 400
    assert end.tcp.foresee(Packet(end.tcp, DATA, 400, 100, 0, 140)) == (True, True)
    assert end.messages == 0
    end.data(400)
    assert (end.sent[-1][3], end.messages) == (600, 1)
    end.tcp.close()
    assert end.tcp.foresee(Packet(end.tcp, DATA, 600, 100, 0, 140)) == (False, False)


def test_the_last_acknowledgement_wanted_is_foreseen():
    end = End()
    end.tcp.write(150, end._on_acked)
    assert end.tcp.foresee(Packet(end.tcp, DATA, 0, 0, 100, 40)) == (True, False)
    assert end.tcp.foresee(Packet(end.tcp, DATA, 0, 0, 150, 40)) == (True, True)
    end.tcp.close()
    assert end.tcp.foresee(Packet(end.tcp, DATA, 0, 0, 150, 40)) == (False, False)


def test_its_defaults_are_those_of_the_runs_it_is_held_against():
    config = TcpConfig()
    assert (config.mss_bytes, config.header_bytes, config.initial_window, config.window) == (1460, 40, 2, 20)
    assert (config.min_rto_s, config.initial_rto_s, config.nagle) == (1.0, 3.0, False)
    assert TcpConfig(mss_bytes=1, header_bytes=1, initial_window=1, window=1).window == 1
