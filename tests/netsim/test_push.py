"""Messages that the server pushes: delivered once and in order, delayed by sleep alone, paid for in full."""

import pytest

import netsim
from traces.records import Message, Page


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
