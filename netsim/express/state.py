"""Between the parts of a run and the array that the compiled engine works on (`netsim.express.layout`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from netsim.access_point import AccessPoint
from netsim.clock import Clock
from netsim.express import layout as slot
from netsim.policies.compiled import CompiledForm
from netsim.policies.protocol import Policy
from netsim.push import PushState
from netsim.station import Station
from netsim.station_state import StationState

if TYPE_CHECKING:
    from netsim.simulation import SimulationConfig

__all__ = ["enter_push", "enter_station", "new_world", "push_of", "station_of"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_NS_PER_S = 1_000_000_000


def new_world(
    policy: Policy, form: CompiledForm, config: SimulationConfig, point: AccessPoint, most_objects: int
) -> Ints:
    """Return the array of a run before anything has happened; pages have so many objects at most."""
    tcp = config.tcp
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
    return p


def enter_station(w: Ints, point: AccessPoint, station: Station) -> None:
    """Enter a station that is quiet, and its links."""
    fields = station.state()
    w[slot.FIRST_OF_STATION : slot.FIRST_OF_STATION + len(fields)] = fields
    links = (point.air_up, point.wire_up, point.wire_down, point.air_down)
    w[slot.FIRST_LINK : slot.FIRST_LINK + len(links)] = [link.free_ns for link in links]
    w[slot.AIR_UP_BUSY], w[slot.AIR_DOWN_BUSY] = point.air_up.busy_ns, point.air_down.busy_ns
    if station.never_sleeps:
        w[slot.BUSY] = slot.NEVER


def station_of(w: Ints, point: AccessPoint, clock: Clock, policy: Policy, interval_ns: int) -> Station:
    """Return the station that was entered, on a clock of its own; its links are those of `point`."""
    links = (point.air_up, point.wire_up, point.wire_down, point.air_down)
    free = w[slot.FIRST_LINK : slot.FIRST_LINK + len(links)].tolist()
    for link, free_ns in zip(links, free, strict=True):
        link.free_ns = free_ns
    point.air_up.busy_ns, point.air_down.busy_ns = int(w[slot.AIR_UP_BUSY]), int(w[slot.AIR_DOWN_BUSY])
    station = Station(clock, point.again(clock), policy, interval_ns, asked=True)
    due = int(w[slot.PAGE_DEADLINE])
    station.deadline_ns = None if due == slot.NEVER else due
    fields = w[slot.FIRST_OF_STATION : slot.FIRST_OF_STATION + len(StationState._fields)]
    station.resume(StationState(*fields.tolist()))
    return station


def enter_push(w: Ints, flow: Floats, sent_bytes: int, push: PushState) -> None:
    """Enter the connection of the messages, on which so many bytes have been sent."""
    sender = w[slot.PUSH :]
    w[slot.WRITTEN] = w[slot.ANNOUNCED] = w[slot.DELIVERED] = push.delivered
    w[slot.EXPECTED] = w[slot.HAS] = w[slot.ACK_SENT] = sent_bytes
    sender[slot.S_UNACKED] = sender[slot.S_NEXT] = sender[slot.S_END] = sent_bytes
    sender[slot.S_DEADLINE], sender[slot.S_TIMED], sender[slot.S_ALL] = slot.NEVER, -1, 1
    w[slot.DUPLICATES], w[slot.RECOVERING], w[slot.RECOVER] = push.duplicates, push.recovering, push.recover
    sender[slot.S_RTO], sender[slot.S_SRTT], sender[slot.RTTVAR] = push.rto_ns, push.srtt_ns, push.rttvar_ns
    flow[:] = push.cwnd, push.ssthresh


def push_of(w: Ints, flow: Floats) -> PushState:
    """Return the connection of the messages while all is quiet."""
    sender = w[slot.PUSH :]
    cwnd, ssthresh = flow.tolist()
    return PushState(
        delivered=int(w[slot.DELIVERED]),
        cwnd=cwnd,
        ssthresh=ssthresh,
        duplicates=int(w[slot.DUPLICATES]),
        recovering=int(w[slot.RECOVERING]),
        recover=int(w[slot.RECOVER]),
        rto_ns=int(sender[slot.S_RTO]),
        srtt_ns=int(sender[slot.S_SRTT]),
        rttvar_ns=int(sender[slot.RTTVAR]),
    )
