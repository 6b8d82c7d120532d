"""A link: order, serialisation, and exact arithmetic."""

import simpy
from hypothesis import given
from hypothesis import strategies as st

import netsim
from netsim.model.wires import transmit
from netsim.running.fill import World

packets = st.lists(st.tuples(st.integers(0, 10_000_000), st.integers(1, 1500)), min_size=1, max_size=40)


@given(packets, st.sampled_from([5_000_000, 10_000_000, 54_000_000, 1_000]))
def test_arrivals_are_those_of_a_single_server_queue(packets, rate):
    packets.sort(key=lambda packet: packet[0])
    run = World([], [], [], netsim.SimulationConfig(link=netsim.LinkConfig(wired_mbps=rate / 1e6, wired_delay_ms=0.1)), 0).run  # noqa: E501  # fmt: skip
    ours = [transmit(run, run.wire_up, size, at) for at, size in packets]

    def oracle(env, wire, at, size, out):  # a SimPy resource, one packet at a time
        yield env.timeout(at)
        with wire.request() as turn:
            yield turn
            yield env.timeout(size * 8 * 10**9 // rate)
            out.append(env.now + 100_000)

    env, out = simpy.Environment(0), []
    wire = simpy.Resource(env)
    for at, size in packets:
        env.process(oracle(env, wire, at, size, out))
    env.run()
    assert ours == out
