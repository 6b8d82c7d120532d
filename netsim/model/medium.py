"""What browser, TCP and messages need of the medium: dispatch to wires or the shared air."""

from __future__ import annotations

from netsim.model.air.radio import finish_on_air, lead_in_on_air, time_awake_on_air, write_states_on_air
from netsim.model.air.station import advance_on_air, at_access_point_on_air, send_on_air
from netsim.model.codes import AT_ACCESS_POINT
from netsim.model.entities import Client, Frame, Run, States
from netsim.model.primitives import arrive
from netsim.model.wires import (
    DOWN_WIRE,
    advance_on_wires,
    at_access_point_on_wires,
    finish_on_wires,
    look_on_wires,
    lose,
    put_on_air,
    send_on_wires,
    time_awake_on_wires,
    transmit,
)


def send_up(run: Run, client: Client, frame: Frame) -> None:
    """Hand a packet to the transmitter of a client, which wakes up for it if need be."""
    if run.on_wires:
        send_on_wires(run, client, frame)
    else:
        send_on_air(run, client, frame)


def send_down(run: Run, client: Client, frame: Frame) -> None:
    """Carry a packet from the server to the access point; for a client that never sleeps, wires need not stop there."""
    if run.queue:
        place = run.queued % run.queue
        if run.starts[place] > run.now:  # the one so many before this has not begun
            lose(run, frame)
            return
        run.starts[place] = max(run.wire_down.free, run.now)
        run.queued += 1
    at = transmit(run, run.wire_down, frame.bytes, run.now)
    if run.on_wires and client.never_sleeps:
        frame.reached = at
        put_on_air(run, client, frame, at)
    else:
        arrive(run, DOWN_WIRE, at, AT_ACCESS_POINT, frame)


def at_access_point(run: Run, frame: Frame) -> None:
    """Send a packet on to its client, or hold it back."""
    frame.reached = run.now
    if run.on_wires:
        at_access_point_on_wires(run, frame.client, frame)
    else:
        at_access_point_on_air(run, frame.client, frame)


def advance(run: Run, client: Client, now: int) -> None:
    """Bring the state of a client up to `now`, beacons of that very instant included."""
    if run.on_wires:
        advance_on_wires(run, client, now)
    else:
        advance_on_air(run, client, now)


def listen(run: Run, client: Client) -> None:
    """Let a client listen to what it waits for now."""
    if run.on_wires:
        look_on_wires(run, client)
    else:
        advance_on_air(run, client, run.now)


def finish(run: Run, client: Client, now: int) -> None:
    """Note the interval awake that the end of the run cuts short."""
    if run.on_wires:
        finish_on_wires(run, client, now)
    else:
        finish_on_air(run, client, now)


def time_awake(run: Run, client: Client, now: int) -> int:
    """Return the time awake in [0, now] of a client that was brought up to `now`."""
    return time_awake_on_wires(client, now) if run.on_wires else time_awake_on_air(client, now)


def lead_in(run: Run, client: Client, now: int) -> int:
    """Return how long a client has been waking up for a beacon that was awake all that time if it sends now."""
    return 0 if run.on_wires else lead_in_on_air(run, client, now)


def write_states(run: Run, client: Client, now: int, lead: int, states: States) -> None:
    """Write the time in each state of the radio up to `now`; on wires only awake and asleep are told apart."""
    if not run.on_wires:
        write_states_on_air(run, client, now, lead, states)
