"""What a network needs for a reply, as traces take it off recorded times, is what the simulator needs."""

import pytest

import netsim
from traces import Page
from traces.waits import network_us


@pytest.mark.parametrize("size", [1, 500, 1460, 2920, 3000, 9000, 20_000, 60_000, 300_000, 1_000_000])
def test_the_time_that_traces_give_to_the_network_is_that_of_a_client_that_never_sleeps(size):
    result = netsim.simulate([Page("a", 300, size)], "none")
    assert network_us(size) / 1e6 == pytest.approx(result.latency_s[0], rel=0.02)
