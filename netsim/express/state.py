"""The array that the compiled engine works on (`netsim.express.layout`) before anything has happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lpsm import randomness
from netsim.access_point import AccessPoint
from netsim.clock import Clock
from netsim.express import layout as slot
from netsim.policies.compiled import CompiledForm
from netsim.policies.protocol import Policy
from netsim.station import Station

if TYPE_CHECKING:
    from netsim.simulation import SimulationConfig

__all__ = ["new_world"]

Ints = NDArray[np.int64]

_NS_PER_S = 1_000_000_000


def new_world(policy: Policy, form: CompiledForm, config: SimulationConfig, most_objects: int) -> Ints:
    """Return the array of a run whose policy has been asked for the first time; pages have so many objects at most."""
    tcp, clock = config.tcp, Clock()
    point = AccessPoint(clock, config.link, randomness.generator(0, randomness.LOSS))  # without loss
    station = Station(clock, point, policy, config.beacon_interval_ns)
    in_flight = (tcp.window + 4) * (config.max_connections + 2)
    p = slot.new_world(1 << (2 * in_flight).bit_length(), most_objects)
    (p[slot.AIR_NUM], p[slot.AIR_DEN]), p[slot.AIR_DELAY] = point.air_up.ns_per_byte, point.air_up.delay_ns
    (p[slot.WIRE_NUM], p[slot.WIRE_DEN]), p[slot.WIRE_DELAY] = point.wire_up.ns_per_byte, point.wire_up.delay_ns
    p[slot.MSS], p[slot.HEADER] = tcp.mss_bytes, tcp.header_bytes
    p[slot.FIRST_WINDOW], p[slot.WINDOW], p[slot.NAGLE] = tcp.initial_window, tcp.window, tcp.nagle
    p[slot.MIN_RTO], p[slot.FIRST_RTO] = round(tcp.min_rto_s * _NS_PER_S), round(tcp.initial_rto_s * _NS_PER_S)
    p[slot.PERSISTENT], p[slot.MAX_CONNECTIONS] = config.connections == "persistent", config.max_connections
    p[slot.INTERVAL], p[slot.PAGE_DEADLINE] = config.beacon_interval_ns, slot.NEVER
    full, bare = tcp.mss_bytes + tcp.header_bytes, tcp.header_bytes
    p[slot.AIR_FULL] = full * p[slot.AIR_NUM] // p[slot.AIR_DEN]
    p[slot.AIR_BARE] = bare * p[slot.AIR_NUM] // p[slot.AIR_DEN]
    p[slot.WIRE_FULL] = full * p[slot.WIRE_NUM] // p[slot.WIRE_DEN]
    p[slot.WIRE_BARE] = bare * p[slot.WIRE_NUM] // p[slot.WIRE_DEN]
    p[slot.RULE], p[slot.OBSERVER] = form.addresses
    p[slot.HOST_AWARE] = policy.host_aware
    p[slot.N_INTS], p[slot.N_FLOATS] = form.ints.size, form.floats.size
    fields = station.state()
    p[slot.FIRST_OF_STATION : slot.FIRST_OF_STATION + len(fields)] = fields
    if station.never_sleeps:
        p[slot.BUSY] = slot.NEVER
    sender = p[slot.PUSH :]
    sender[slot.S_DEADLINE], sender[slot.S_RTO], sender[slot.S_ALL] = slot.NEVER, p[slot.FIRST_RTO], 1
    sender[slot.S_SRTT] = sender[slot.S_TIMED] = -1
    return p
