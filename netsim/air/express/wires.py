"""A pair of wires in place of the air: `netsim.station` and `netsim.access_point`, one event after another.

The station and its links are those of the express engine (`netsim.express`), in the array that it works on, `wires`
here; only the frames that wait at the access point stand in the array of the events.  A run begins where that engine
stopped, with nothing but messages to come, and ends with its last page and message, or at the first page before which
all is quiet again.
"""

from __future__ import annotations

from typing import Any

from lpsm._compile import compiled
from netsim.air.express import layout as slot
from netsim.air.express.access_point import hold, take_held
from netsim.air.express.events import happen
from netsim.express import layout as fast
from netsim.express.layout import Place
from netsim.express.links import air, carry, wire
from netsim.express.station import awake_ns, open_gate, reach, stay_awake
from netsim.running.pointers import bits, integers_at, real, reals_at

__all__ = ["advance", "at_access_point", "begin", "enter_messages", "is_quiet", "send_down", "send_up", "stop"]


@compiled
def _wires(w: Place, client: int) -> Any:
    return integers_at(w[client + slot.CLIENT_WIRES])


# -- from and to the express engine


@compiled
def begin(w: Place, client: int) -> None:
    """Go on with a station as it is, at its instant."""
    wires = _wires(w, client)
    w[slot.NOW] = wires[fast.NOW]
    w[client + slot.CLIENT_DEADLINE] = wires[fast.PAGE_DEADLINE]
    w[client + slot.CLIENT_LAST_RECEIVED] = wires[fast.RECEIVED]
    wires[fast.BAIL], wires[fast.FIXED_POLLS] = 0, wires[fast.N_POLLS]


@compiled
def enter_messages(w: Place, client: int) -> None:
    """Go on with the connection of the messages: all that was written is delivered and acknowledged."""
    wires, flow, made = _wires(w, client), reals_at(w[client + slot.CLIENT_FLOW]), w[client + slot.CLIENT_PUSHES]
    server, sent = made + slot.CONNECTION_SERVER, wires[fast.HAS]
    w[client + slot.CLIENT_WRITTEN] = w[client + slot.CLIENT_ARRIVED] = wires[fast.DELIVERED]
    w[made + slot.END_RECEIVED] = w[made + slot.END_EXPECTED] = w[made + slot.END_ACK_SENT] = sent
    w[server + slot.END_UNACKED] = w[server + slot.END_NEXT] = w[server + slot.END_WRITTEN] = sent
    w[server + slot.END_CWND], w[server + slot.END_SSTHRESH] = bits(flow[0]), bits(flow[1])
    w[server + slot.END_DUPLICATES], w[server + slot.END_RECOVERING] = wires[fast.DUPLICATES], wires[fast.RECOVERING]
    w[server + slot.END_RECOVER], w[server + slot.END_RTO] = wires[fast.RECOVER], wires[fast.PUSH + fast.S_RTO]
    w[server + slot.END_SRTT] = wires[fast.PUSH + fast.S_SRTT]
    w[server + slot.END_RTTVAR] = wires[fast.PUSH + fast.RTTVAR]


@compiled
def stop(w: Place, client: int) -> None:
    """Leave the run to the express engine, or at its end."""
    wires, flow, made = _wires(w, client), reals_at(w[client + slot.CLIENT_FLOW]), w[client + slot.CLIENT_PUSHES]
    w[slot.STATUS] |= slot.OVER
    wires[fast.NOW], wires[fast.RECEIVED] = w[slot.NOW], w[client + slot.CLIENT_LAST_RECEIVED]
    if made == 0:
        return
    server, sent = made + slot.CONNECTION_SERVER, w[made + slot.END_RECEIVED]
    wires[fast.WRITTEN] = wires[fast.ANNOUNCED] = wires[fast.DELIVERED] = w[client + slot.CLIENT_ARRIVED]
    wires[fast.EXPECTED] = wires[fast.HAS] = wires[fast.ACK_SENT] = sent
    for field in (fast.S_UNACKED, fast.S_NEXT, fast.S_END):
        wires[fast.PUSH + field] = sent
    flow[0], flow[1] = real(w[server + slot.END_CWND]), real(w[server + slot.END_SSTHRESH])
    wires[fast.DUPLICATES], wires[fast.RECOVERING] = w[server + slot.END_DUPLICATES], w[server + slot.END_RECOVERING]
    wires[fast.RECOVER], wires[fast.PUSH + fast.S_RTO] = w[server + slot.END_RECOVER], w[server + slot.END_RTO]
    wires[fast.PUSH + fast.S_SRTT] = w[server + slot.END_SRTT]
    wires[fast.PUSH + fast.RTTVAR] = w[server + slot.END_RTTVAR]


@compiled
def is_quiet(w: Place, client: int) -> bool:
    """Return whether nothing but messages to be written is on its way or waits anywhere."""
    wires, now, made = _wires(w, client), w[slot.NOW], w[client + slot.CLIENT_PUSHES]
    last = max(wires[fast.WIRE_DOWN] + wires[fast.WIRE_DELAY], wires[fast.AIR_DOWN] + wires[fast.AIR_DELAY])
    if w[client + slot.CLIENT_BUFFER_HEAD] or last >= now:
        return False
    if made == 0:
        return True
    server = made + slot.CONNECTION_SERVER
    end = w[server + slot.END_WRITTEN]
    delivered = w[server + slot.END_UNACKED] == end and w[made + slot.END_RECEIVED] == end
    is_off = w[server + slot.END_DEADLINE] == slot.NEVER
    return delivered and is_off and wires[fast.WIRE_UP] + wires[fast.WIRE_DELAY] < now


# -- the station


@compiled
def advance(w: Place, client: int, now: int) -> None:
    """Bring the station up to `now`; what a beacon lets out goes onto the air."""
    wires, intervals = _wires(w, client), integers_at(w[client + slot.CLIENT_INTERVALS])
    polls = integers_at(w[client + slot.CLIENT_POLLS])
    rule = (integers_at(w[client + slot.CLIENT_INTS]), reals_at(w[client + slot.CLIENT_FLOATS]))
    wires[fast.RECEIVED] = w[client + slot.CLIENT_LAST_RECEIVED]
    if w[client + slot.CLIENT_HOST_AWARE]:
        wires[fast.PAGE_DEADLINE] = w[client + slot.CLIENT_DEADLINE]
    while reach(wires, polls, intervals, now, rule):
        _release(w, client)
    if wires[fast.BAIL]:
        w[slot.STATUS] |= slot.REFUSED
    w[client + slot.CLIENT_BEACONS] = wires[fast.BEACONS]
    w[client + slot.CLIENT_AWAKE_BEFORE], w[client + slot.CLIENT_AWAKE_SINCE] = awake_ns(wires, now), now


@compiled
def send_up(w: Place, client: int, frame: int) -> None:
    """Hand a packet of a station that is up to date to the transmitter, waking up for it if need be."""
    wires, now, length = _wires(w, client), w[slot.NOW], w[frame + slot.FRAME_LENGTH]
    stay_awake(wires, integers_at(w[client + slot.CLIENT_INTERVALS]), now)
    happen(w, carry(wires, air(wires, length), wire(wires, length), now), slot.AT_SERVER, frame)
    if wires[fast.GATE]:
        wires[fast.PLANNED] = 0
    elif wires[fast.OPENS]:
        open_gate(wires, now)
        _release(w, client)
    else:
        wires[fast.UNTIL] = wires[fast.AIR_UP]


@compiled
def _release(w: Place, client: int) -> None:
    """Put all that waits onto the air, the gate having been opened."""
    wires = _wires(w, client)
    wires[fast.OUT] = wires[fast.OUT_TAIL] = 0  # what waits stands here, not there
    while w[client + slot.CLIENT_BUFFER_HEAD]:
        _onto_air(w, client, take_held(w, client), wires[fast.OUT_AT])


# -- the way down


@compiled
def send_down(w: Place, client: int, frame: int) -> None:
    """Carry a packet from the server towards the client; one that never sleeps need not be asked on the way."""
    wires = _wires(w, client)
    wires[fast.WIRE_DOWN] = max(wires[fast.WIRE_DOWN], w[slot.NOW]) + wire(wires, w[frame + slot.FRAME_LENGTH])
    at = wires[fast.WIRE_DOWN] + wires[fast.WIRE_DELAY]
    if w[client + slot.CLIENT_NEVER_SLEEPS]:
        _onto_air(w, client, frame, at)
    else:
        happen(w, at, slot.AT_ACCESS_POINT, frame)


@compiled
def at_access_point(w: Place, client: int, frame: int) -> None:
    """Send a packet on to its client, or hold it back for the next beacon that is listened to."""
    now, wires = w[slot.NOW], _wires(w, client)
    w[frame + slot.FRAME_REACHED] = now
    advance(w, client, now)
    if wires[fast.GATE]:
        wires[fast.PLANNED] = 0
        _onto_air(w, client, frame, now)
        return
    if not w[client + slot.CLIENT_BUFFER_HEAD]:
        happen(w, wires[fast.WAKE], slot.AT_BEACON, client)
    hold(w, client, frame)
    wires[fast.WAITING] += 1
    wires[fast.WAITING_BYTES] += w[frame + slot.FRAME_BYTES]


@compiled
def _onto_air(w: Place, client: int, frame: int, at: int) -> None:
    wires = _wires(w, client)
    duration = air(wires, w[frame + slot.FRAME_LENGTH])
    wires[fast.AIR_DOWN_BUSY] += duration
    wires[fast.AIR_DOWN] = max(wires[fast.AIR_DOWN], at) + duration
    arrival = wires[fast.AIR_DOWN] + wires[fast.AIR_DELAY]
    wires[fast.BUSY] = max(wires[fast.BUSY], arrival)
    happen(w, arrival, slot.AT_CLIENT, frame)
