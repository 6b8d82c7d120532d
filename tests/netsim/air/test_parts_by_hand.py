"""Functions of the air one by one, on records that hold what is needed and no more."""

from types import SimpleNamespace

import pytest

from netsim import AirRecorder
from netsim.model import seam
from netsim.model.air import access_point, groups
from netsim.model.air.aggregation import settle_each
from netsim.model.air.beacons import late_in_all, next_lost
from netsim.model.air.channel import backoff
from netsim.model.codes import DOWN, OPEN, RECEIVED
from netsim.model.queues import append
from netsim.model.things import Client, Contender, Exchange, Frame, Run
from tests.netsim.air.cells import MS, Air


@pytest.mark.parametrize(
    ("number", "step", "last", "found"),
    [(1, 1, 2, 3), (1, 1, 9, 3), (4, 1, 9, 5), (1, 2, 9, 3), (2, 2, 4, 5), (2, 2, 6, 6), (4, 2, 7, 6), (1, 2, 1, 2)],
)
def test_of_beacons_heard_the_first_lost_is_found_or_what_follows_the_last(number, step, last, found):
    run, client = Run(), Client()
    run.beacons_lossy, run.loss_rate = 1, 0.5
    client.reception.next = iter([0.9, 0.9, 0.9, 0.1, 0.9, 0.1, 0.1, 0.9, 0.9, 0.9]).__next__  # 3, 5 and 6 are lost
    assert next_lost(run, client, number, step, last) == found
    assert client.decided <= last + 1


def test_a_beacon_that_was_drawn_already_is_not_drawn_again():
    run, client = Run(), Client()
    run.beacons_lossy, run.loss_rate = 1, 0.5
    client.reception.next = iter([0.9, 0.9, 0.9, 0.1]).__next__
    assert [next_lost(run, client, 1, 1, last) for last in (3, 1, 2, 3)] == [3, 2, 3, 3]


@pytest.mark.parametrize(
    ("n", "last", "step", "late"), [(3, 6, 1, 2100), (3, 6, 2, 1200), (3, 5, 1, 1200), (4, 6, 2, 900)]
)
def test_lateness_adds_up_over_the_beacons_that_are_heard(n, last, step, late):
    run = Run()
    run.late, run.n_late = [3, 500, 5, 700, 6, 900, 8, 50], 4
    assert late_in_all(run, n, last, step) == late


@pytest.mark.parametrize(("drawn", "slots"), [(0.0, 0), (0.49, 7), (0.5, 8), (0.999, 15)])
def test_a_backoff_is_any_number_of_slots_up_to_the_window(drawn, slots):
    contender = Contender()
    contender.cw, contender.backoffs.next = 15, lambda: drawn
    assert backoff(Run(), contender) == slots


def test_those_who_listen_to_other_beacons_go_on_waiting_in_their_order(monkeypatch):
    told, run = [], Run()
    monkeypatch.setattr(groups, "advance_on_air", lambda run, client, now: told.append(client))
    run.clients, run.told = ["a", "b", "c", "d"], [0] * 4
    run.listeners, run.n_listeners = [6, 1, 5, 0, 7, 3, 5, 2], 4
    groups.tell(run, 5)
    assert told == ["a", "c"]
    assert run.listeners[: 2 * run.n_listeners] == [6, 1, 7, 3]


def test_a_frame_is_used_again_unless_a_recorder_may_still_ask_for_it():
    run, frame = Run(), Frame()
    run.machine = SimpleNamespace(frames=[])
    seam.free_frame(run, frame)
    assert seam.new_frame(run) is frame
    run.recorder = object()
    seam.free_frame(run, frame)
    assert seam.new_frame(run) is not frame


def test_frames_that_go_together_share_their_air_time_by_their_sizes():
    run, sender = Run(), Contender()
    run.attempts, sender.spanned, sender.together, sender.delivered = 7, 3, 3, 3
    frames = [Frame() for _ in range(3)]
    for frame, size in zip(frames, (100, 61, 50), strict=True):
        frame.exchange, frame.goes, frame.outcome, frame.air = Exchange(), 1, OPEN, -1
        frame.exchange.size = size
        append(sender.queue, frame)
    sender.queue.count, frames[1].lost = 1, 1  # on the air they have one place
    sender.exchange = Exchange()
    sender.exchange.alone = 1000
    assert settle_each(run, sender) is frames[0]
    ends = [104 * 1000 // 226, 169 * 1000 // 226, 1000]  # with delimiters of 4 bytes, and 3 of padding
    assert [frame.air for frame in frames] == [ends[0], -1, ends[2] - ends[1]]
    assert [frame.outcome for frame in frames] == [RECEIVED, OPEN, RECEIVED]
    assert (frames[1].tries, sender.delivered, sender.lost, sender.queue.count) == (1, 2, 1, 3)


@pytest.mark.parametrize(
    ("most_bytes", "queued", "in_line", "joins"),
    [(8000, 0, 0, True), (8000, 63, 0, True), (8000, 64, 0, False), (8000, 63, 1, False), (0, 0, 0, False)],
)
def test_a_frame_joins_those_that_go_together_while_a_block_ack_has_room_for_it(
    monkeypatch, most_bytes, queued, in_line, joins
):
    monkeypatch.setattr(access_point, "serve", lambda run: None)
    run, client, packet = Run(), Client(), Frame()
    run.most_bytes, run.contenders, run.exchanges, run.serving = most_bytes, [Contender()], {140: Exchange()}, client
    run.contenders[0].queue.count, client.line.count = queued, in_line
    client.overhead, packet.bytes, packet.to = 40, 100, client
    access_point.forward(run, client, packet)
    assert (run.contenders[0].queue.count, client.line.count) == (queued + joins, in_line + (not joins))
    assert (client.due_down, packet.code, packet.outcome, packet.tries) == (1, DOWN, OPEN, 0)


def test_senders_are_named_by_their_place():
    recorder, client = AirRecorder(), Client()
    client.number = 4
    named = []
    for place, of in ((0, 0), (5, client), (2, 0)):
        sender = Contender()
        sender.place, sender.client = place, of
        named.append(recorder._name(Run(), sender))
    assert named == ["access point", "client 4", "neighbour 1"]


def test_a_station_whose_backoff_ends_in_this_slot_of_an_idle_channel_sends_at_once():
    world = Air("none")
    world.until(10 * MS)
    run, station = world.run, world.clients[0].contender
    station.due = run.slots + (run.now - run.count_from) // run.slot
    world.up(0, 10 * MS)
    assert station.on_air
