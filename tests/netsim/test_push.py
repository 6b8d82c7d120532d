"""Messages that the server pushes: delivered once and in order, delayed by sleep alone, paid for in full."""

import numpy as np
import pytest

import netsim
from traces.records import Message, Page
from traces.traffic import draw


def test_a_message_takes_the_wire_the_air_and_the_rest_of_the_beacon_interval():
    push = [Message(1.03, 1000), Message(5.0, 1000)]
    quick = 1040 * 8 / 10e6 + 0.02 + 1040 * 8 / 5e6 + 0.0001
    awake = netsim.simulate([], "none", push=push).messages
    assert awake.delay_s.tolist() == pytest.approx([quick, quick], abs=1e-9)
    asleep = netsim.simulate([], "psm:500", push=push).messages
    air = 1040 * 8 / 5e6 + 0.0001
    assert asleep.delivered_s.tolist() == pytest.approx([1.5 + air, 5.5 + air], abs=1e-9)


def test_full_segments_are_acknowledged_and_partial_ones_cost_no_packet():
    partial = netsim.simulate([], "psm", push=[Message(float(t), 1000) for t in range(50)])
    assert partial.uplink_air_s == 0.0
    assert partial.downlink_air_s == pytest.approx(50 * 1040 * 8 / 5e6)
    full = netsim.simulate([], "psm", push=[Message(float(t), 2000) for t in range(50)])
    assert full.uplink_air_s == pytest.approx(50 * 40 * 8 / 5e6)  # 1460 + 540: one acknowledgement a message


def test_more_than_a_window_that_waits_at_the_access_point_gets_through_without_a_time_out():
    push = [Message(0.5, 200 * 1460)] + [Message(10 + 0.01 * k, 1500) for k in range(40)]
    result = netsim.simulate([], "psm:300", push=push)
    air = sum(message.size_bytes for message in push) + 40 * (200 + 80)
    assert air - 200 <= result.downlink_air_s * 5e6 / 8 <= air  # nothing was sent twice; some ends share a segment
    assert result.messages.delay_s.max() < 4.5


def test_a_long_sleep_makes_the_server_send_again_and_the_client_takes_it_once():
    push = [Message(4.0 * k + 0.5, 1500) for k in range(8)]
    result = netsim.simulate([], "psm:3700", push=push)
    least = sum(message.size_bytes + 80 for message in push) * 8 / 5e6
    assert result.downlink_air_s > least
    assert len(result.messages) == 8


def test_between_messages_the_client_idles_at_the_power_of_its_beacons():
    messages = [Message(1.0, 500), Message(1001.0, 500)]
    result = netsim.simulate([], "psm", push=messages)
    assert result.energy.total_j / result.elapsed_s == pytest.approx(0.065, rel=1e-4)


def test_without_messages_the_record_is_what_it_was():
    work = [Page(f"p{i}", 300, 5000, ((300, 2000),), 2.0) for i in range(5)]
    plain, empty = (netsim.simulate(work, "psm", **extra) for extra in ({}, {"push": []}))
    assert plain.pages.equals(empty.pages)
    assert plain.energy == empty.energy
    assert len(plain.messages) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"push": "abc"}, r"push must be messages, traces.traffic.Message\(.*\), got 'a' as message 0"),
        ({"push": [Message(0.5, 9), (1.0, 100)]}, r"push must be messages, .* got \(1.0, 100\) as message 1"),
        ({"push": 1.0}, "push must be messages, .* got 1.0"),
        ({"push": [Message("soon", 9)]}, "message 0: at_s must be a number and size_bytes a whole one, got .*'soon'"),
        ({"push": [Message(1.0, 9.5)]}, "message 0: at_s must be a number and size_bytes a whole one, got .*9.5"),
        ({"server_delays": 1.0}, "server_delays must be a sequence of ServerDelay, one a page, got 1.0"),
        ({"server_delays": [1.0]}, "server_delays must be a sequence of ServerDelay, .* got 1.0 for page 0"),
        ({"server_delays": "a"}, "server_delays must be a sequence of ServerDelay, .* got 'a' for page 0"),
    ],
)
def test_an_argument_of_another_type_is_named_with_what_it_must_be(arguments, message):
    with pytest.raises(TypeError, match=message):
        netsim.simulate([Page("p", 300, 5000)], **arguments)


def test_servers_that_are_alike_are_the_server_of_the_world_and_others_differ_by_page():
    work = [Page(f"p{i}", 300, 5000, ((300, 2000),), 2.0) for i in range(4)]
    delay = netsim.ServerDelay.parse("lognormal:0.5:0.8")
    config = netsim.SimulationConfig(server_delay=delay)
    world, each = (
        netsim.simulate(work, "psm", config=config, seed=2),
        netsim.simulate(work, "psm", server_delays=[delay] * 4, seed=2),
    )
    assert world.pages.equals(each.pages)
    fast, slow = netsim.ServerDelay(), netsim.ServerDelay(mean_s=1.0)
    mixed = netsim.simulate(work, server_delays=[fast, slow, fast, slow]).latency_s
    quick = netsim.simulate(work).latency_s
    assert (mixed - quick).tolist() == pytest.approx([0, 2, 0, 2])  # one second each for the HTML and its object
    with pytest.raises(ValueError, match=r"server_delays must be one a page \(4\), got 1"):
        netsim.simulate(work, server_delays=[fast])


def test_losses_delay_messages_and_lose_none():
    drawn = draw("push-memoryless", 900.0, np.random.default_rng(1))
    config = netsim.SimulationConfig(link=netsim.LinkConfig(loss_rate=0.2))
    lossy = netsim.simulate([], "psm", push=drawn.messages, config=config, seed=1)
    clean = netsim.simulate([], "psm", push=drawn.messages, seed=1)
    assert lossy.frames_lost > 0
    assert len(lossy.messages) == len(drawn.messages)
    assert lossy.messages.delay_s.mean() > clean.messages.delay_s.mean()
