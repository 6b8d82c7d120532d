"""A simplex link: order, serialisation, and exact arithmetic."""

import simpy
from hypothesis import given
from hypothesis import strategies as st

from netsim.clock import Clock, Occurrence
from netsim.link import Link

packets = st.lists(st.tuples(st.integers(0, 10_000_000), st.integers(1, 1500)), min_size=1, max_size=40)


@given(packets, st.sampled_from([5_000_000, 10_000_000, 54_000_000, 1_000]))
def test_arrivals_are_those_of_a_single_server_queue(packets, rate):
    packets.sort(key=lambda packet: packet[0])
    link = Link(rate, 100_000)
    ours = [link.transmit(at, size) for at, size in packets]

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
    assert link.busy_ns == sum(size * 8 * 10**9 // rate for _, size in packets)


def test_an_occurrence_comes_at_its_instant_with_its_value_and_in_the_order_of_scheduling():
    clock, seen = Clock(), []
    for name, at in (("b", 20), ("a", 10), ("c", 20)):
        Occurrence(clock, at, lambda event: seen.append((clock.now, event.value)), name)
    clock.run()
    assert seen == [(10, "a"), (20, "b"), (20, "c")]
