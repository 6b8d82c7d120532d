"""Group frames, and who is told of beacons: `netsim.air.beacons` in integers."""

from __future__ import annotations

from lpsm._compile import compiled
from netsim.air.express import layout as slot
from netsim.air.express.access_point import serve
from netsim.air.express.channel import advance_beacons, listen_to_beacon
from netsim.air.express.events import append, free_frame, new_frame
from netsim.air.express.radio import hear_more
from netsim.air.express.station import advance
from netsim.express.layout import Place

__all__ = ["add_group", "group_ended", "tell"]


@compiled
def tell(w: Place) -> None:
    """Tell those who listen to a beacon that it has ended."""
    n, end = w[slot.N_TOLD], w[slot.NOW]
    w[slot.N_TOLD] = 0
    for i in range(n):
        client = w[w[slot.TOLD] + i]
        if client:
            advance(w, client, end)
        else:
            _send_groups(w, w[slot.TOLD_FROM], end, True)


@compiled
def add_group(w: Place) -> None:
    """Take a group frame from the network: sent at once if no client ever sleeps, else after the next DTIM."""
    w[slot.GROUPS] += 1
    for i in range(w[slot.N_CLIENTS]):
        if not w[w[slot.CLIENTS] + slot.CLIENT_SIZE * i + slot.CLIENT_NEVER_SLEEPS]:
            if w[slot.GROUPS] == 1:
                advance_beacons(w, w[slot.NOW])
                period = w[slot.DTIM]
                listen_to_beacon(w, -(-w[slot.NEXT_BEACON] // period) * period, 0)
            return
    _send_groups(w, 0, w[slot.NOW], False)


@compiled
def _send_groups(w: Place, begin: int, end: int, after_beacon: bool) -> None:
    """Send the group frames that wait, from `end` on; clients that did not hear the beacon lose them."""
    groups = w[slot.GROUPS]
    batch = w[slot.BATCHES] + w[slot.BATCH_SIZE] * (w[slot.N_BATCHES] % slot.MOST_BATCHES)
    w[slot.N_BATCHES] += 1
    if w[batch]:
        w[slot.STATUS] |= slot.REFUSED  # too many are on their way
    w[batch], w[batch + 1], w[batch + 2] = 1, end, groups * w[slot.GROUP_AIR]
    w[slot.GROUPS] = 0
    for i in range(w[slot.N_CLIENTS]):
        client = w[slot.CLIENTS] + slot.CLIENT_SIZE * i
        hears = True
        if after_beacon:
            advance(w, client, end)
            if w[client + slot.CLIENT_DOZING]:
                hears = w[client + slot.CLIENT_SLEPT_FROM] > begin
            else:
                hears = w[client + slot.CLIENT_AWAKE_SINCE] <= begin
        w[batch + 3 + i] = hears
        if not hears:
            w[client + slot.CLIENT_GROUPS_LOST] += groups
    w[slot.GROUPS_SENT] += groups
    for i in range(groups):
        frame = new_frame(w)
        w[frame + slot.FRAME_CODE], w[frame + slot.FRAME_OWNER], w[frame + slot.FRAME_ANSWERED] = slot.GROUP, 0, 0
        w[frame + slot.FRAME_FIRST] = w[frame + slot.FRAME_DELIVERED] = w[slot.GROUP_AIR]
        w[frame + slot.FRAME_TOTAL] = w[frame + slot.FRAME_SENDER] = w[slot.GROUP_AIR]
        w[frame + slot.FRAME_RECEIVER] = 0
        w[frame + slot.FRAME_TO] = batch if i == groups - 1 else 0
        append(w, slot.GROUP_HEAD, frame)
    serve(w)


@compiled
def group_ended(w: Place, frame: int) -> None:
    """After the last group frame of a DTIM those who have heard it may doze."""
    batch = w[frame + slot.FRAME_TO]
    free_frame(w, frame)
    if batch:
        w[batch] = 0
        for i in range(w[slot.N_CLIENTS]):
            if w[batch + 3 + i]:
                client = w[slot.CLIENTS] + slot.CLIENT_SIZE * i
                advance(w, client, w[slot.NOW])
                hear_more(w, client, w[batch + 1], w[slot.NOW], w[batch + 2])
    serve(w)
