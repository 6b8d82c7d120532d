"""The access point: `netsim.air.access_point` in integers, and what a client's frames do there."""

from __future__ import annotations

from lpsm._compile import compiled
from netsim.air.express import layout as slot
from netsim.air.express.channel import data_exchange, null_exchange, send
from netsim.air.express.events import append, free_frame, new_frame
from netsim.express.layout import Place

__all__ = ["forward", "hold", "serve", "take_held", "withdraw"]


@compiled
def hold(w: Place, client: int, frame: int) -> None:
    """Hold a packet back for a client."""
    append(w, client + slot.CLIENT_BUFFER_HEAD, frame)
    w[client + slot.CLIENT_BUFFER_BYTES] += w[frame + slot.FRAME_BYTES]


@compiled
def take_held(w: Place, client: int) -> int:
    """Take out the oldest packet that is held back."""
    frame = w[client + slot.CLIENT_BUFFER_HEAD]
    w[client + slot.CLIENT_BUFFER_HEAD] = w[frame + slot.FRAME_LINK]
    w[client + slot.CLIENT_BUFFER_BYTES] -= w[frame + slot.FRAME_BYTES]
    return frame


@compiled
def _append_turn(w: Place, client: int) -> None:
    w[client + slot.CLIENT_NEXT_TURN] = 0
    if w[slot.TURN_HEAD]:
        w[w[slot.TURN_TAIL] + slot.CLIENT_NEXT_TURN] = client
    else:
        w[slot.TURN_HEAD] = client
    w[slot.TURN_TAIL] = client


@compiled
def _remove_turn(w: Place, client: int) -> None:
    before, at = 0, w[slot.TURN_HEAD]
    while at != client:
        before, at = at, w[at + slot.CLIENT_NEXT_TURN]
    if before:
        w[before + slot.CLIENT_NEXT_TURN] = w[at + slot.CLIENT_NEXT_TURN]
    else:
        w[slot.TURN_HEAD] = w[at + slot.CLIENT_NEXT_TURN]
    if w[slot.TURN_TAIL] == client:
        w[slot.TURN_TAIL] = before


@compiled
def serve(w: Place) -> None:
    """Hand the next frame to the access point's contender if it has none."""
    contender = w[slot.CONTENDERS]
    if w[contender + slot.CONTENDER_COUNT]:
        return
    if w[slot.GROUP_HEAD]:
        frame = w[slot.GROUP_HEAD]
        w[slot.GROUP_HEAD] = w[frame + slot.FRAME_LINK]
        send(w, contender, frame)
    elif w[slot.TURN_HEAD]:
        client = w[slot.TURN_HEAD]
        w[slot.TURN_HEAD] = w[client + slot.CLIENT_NEXT_TURN]
        frame = w[client + slot.CLIENT_LINE_HEAD]
        w[client + slot.CLIENT_LINE_HEAD] = w[frame + slot.FRAME_LINK]
        if w[client + slot.CLIENT_LINE_HEAD]:
            _append_turn(w, client)
        w[slot.SERVING], w[slot.SERVING_FRAME] = client, frame
        if w[frame + slot.FRAME_TO]:
            data_exchange(w, frame, w[frame + slot.FRAME_BYTES] + w[client + slot.CLIENT_OVERHEAD])
            w[frame + slot.FRAME_CODE] = slot.DOWN
        send(w, contender, frame)


@compiled
def forward(w: Place, client: int, frame: int) -> None:
    """Send a frame to a client that is awake; 0: the null frame that ends a service period."""
    if frame == 0:
        frame = new_frame(w)
        null_exchange(w, frame, slot.DOWN, client)
    w[client + slot.CLIENT_PLANNED] = 0
    w[client + slot.CLIENT_CLOSE] = slot.NEVER
    w[client + slot.CLIENT_DUE_DOWN] += 1
    if not w[client + slot.CLIENT_LINE_HEAD]:
        _append_turn(w, client)
    append(w, client + slot.CLIENT_LINE_HEAD, frame)
    serve(w)


@compiled
def withdraw(w: Place, client: int) -> None:
    """Take back what waits in the line of a client that goes to sleep, and hold its packets back, in order."""
    taken = 0
    if w[slot.SERVING] == client:
        taken = w[slot.SERVING_FRAME]
        w[w[slot.CONTENDERS] + slot.CONTENDER_HEAD] = 0
        w[w[slot.CONTENDERS] + slot.CONTENDER_COUNT] = 0
        w[slot.SERVING] = 0
    waiting = w[client + slot.CLIENT_LINE_HEAD]
    if waiting:
        _remove_turn(w, client)
        w[client + slot.CLIENT_LINE_HEAD] = 0
    serve(w)
    if taken:
        w[taken + slot.FRAME_LINK] = waiting
        waiting = taken
    while waiting:
        following = w[waiting + slot.FRAME_LINK]
        w[client + slot.CLIENT_DUE_DOWN] -= 1
        if w[waiting + slot.FRAME_TO]:
            hold(w, client, waiting)
        else:
            free_frame(w, waiting)
        waiting = following
