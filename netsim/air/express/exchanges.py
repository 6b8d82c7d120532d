"""The ends of exchanges, and who is told of them: `netsim.air.access` and its callers in integers."""

from __future__ import annotations

from lpsm._compile import compiled
from netsim.air.express import layout as slot
from netsim.air.express import wires
from netsim.air.express.access_point import forward, hold, serve, take_held, withdraw
from netsim.air.express.browser import foresee, receive
from netsim.air.express.channel import advance_beacons, backoff, contend, data_air, wait
from netsim.air.express.events import draw, free_frame, happen, refer
from netsim.air.express.groups import group_ended
from netsim.air.express.radio import observe
from netsim.air.express.station import (
    advance,
    await_beacon,
    doze,
    follow,
    is_quiet,
    listen,
    open_gate,
    poll,
    release,
    rest,
)
from netsim.air.express.transport import wire
from netsim.express.layout import Place

__all__ = ["at_access_point", "deliver", "miss_answer", "offer", "receive_down", "send_again"]


@compiled
def send_again(w: Place, neighbour: int) -> None:
    """Give a neighbour a packet to send; its packets are all alike, and one frame stands for them."""
    w[neighbour + slot.CONTENDER_COUNT] += 1
    if not w[neighbour + slot.CONTENDER_CONTENDS]:
        contend(w, neighbour)


@compiled
def offer(w: Place, neighbour: int) -> None:
    """Give a neighbour the packet that is due, and schedule the one after it."""
    send_again(w, neighbour)
    happen(w, w[slot.NOW] + int(draw(w, neighbour + slot.CONTENDER_GAP)), slot.OFFER, neighbour)


@compiled
def _take_first(w: Place, sender: int) -> int:
    frame = w[sender + slot.CONTENDER_HEAD]
    w[sender + slot.CONTENDER_COUNT] -= 1
    if w[frame + slot.FRAME_CODE] > slot.OFFERED:
        w[sender + slot.CONTENDER_HEAD] = w[frame + slot.FRAME_LINK]
    return frame


@compiled
def deliver(w: Place, sender: int) -> None:
    """Hand over what was received; the sender draws a new backoff, which counts from the end of the exchange."""
    frame = _take_first(w, sender)
    w[sender + slot.CONTENDER_DELIVERED] += 1
    w[sender + slot.CONTENDER_TRIES] = 0
    w[sender + slot.CONTENDER_CW] = w[slot.CW_MIN]
    w[sender + slot.CONTENDER_CONTENDS] = w[sender + slot.CONTENDER_ON_AIR] = 0
    w[sender + slot.CONTENDER_DUE] = w[slot.SLOTS] + backoff(w, sender)
    code, client = w[frame + slot.FRAME_CODE], w[frame + slot.FRAME_OWNER]
    _delivered(w, code, client, frame)
    _ended(w, sender, frame, code, client, 1)
    _go_on(w, sender)


@compiled
def miss_answer(w: Place, sender: int) -> None:
    """Double the contention window and try again, or give the frame up."""
    now = w[slot.NOW]
    w[sender + slot.CONTENDER_CONTENDS] = w[sender + slot.CONTENDER_ON_AIR] = 0
    if not w[sender + slot.CONTENDER_COUNT]:  # its frame was withdrawn
        return
    w[sender + slot.CONTENDER_TRIES] += 1
    w[sender + slot.CONTENDER_CW] = min(2 * w[sender + slot.CONTENDER_CW] + 1, w[slot.CW_MAX])
    frame = w[sender + slot.CONTENDER_HEAD]
    given_up = not w[frame + slot.FRAME_ANSWERED] or w[sender + slot.CONTENDER_TRIES] >= w[slot.ATTEMPTS]
    if given_up:
        _take_first(w, sender)
        w[sender + slot.CONTENDER_DROPPED] += 1
        w[sender + slot.CONTENDER_TRIES] = 0
        w[sender + slot.CONTENDER_CW] = w[slot.CW_MIN]
    advance_beacons(w, now)
    idle = now + w[slot.DIFS] - w[slot.COUNT_FROM]
    ready = w[slot.SLOTS]
    if now >= w[slot.FREE]:
        ready += max(0, -(-idle // w[slot.SLOT]))
    w[sender + slot.CONTENDER_DUE] = ready + backoff(w, sender)
    if given_up:
        _ended(w, sender, frame, w[frame + slot.FRAME_CODE], w[frame + slot.FRAME_OWNER], 0)
    _go_on(w, sender)


@compiled
def _go_on(w: Place, sender: int) -> None:
    """Let a sender contend with its next frame, whose backoff is drawn already."""
    if w[sender + slot.CONTENDER_COUNT] and not w[sender + slot.CONTENDER_CONTENDS]:
        w[sender + slot.CONTENDER_CONTENDS] = 1
        wait(w, sender)


@compiled
def _delivered(w: Place, code: int, client: int, frame: int) -> None:
    """Do what a frame was sent for."""
    if code == slot.UP:
        happen(w, wire(w, slot.WIRE_UP, w[frame + slot.FRAME_BYTES]), slot.AT_SERVER, frame)
        if not w[client + slot.CLIENT_IS_OPEN]:
            if w[client + slot.CLIENT_RETRIEVAL] == slot.UAPSD:
                _serve_period(w, client)
            elif w[client + slot.CLIENT_OPENS] and w[client + slot.CLIENT_RETRIEVAL] == slot.NULL:
                open_gate(w, client)
    elif code == slot.DOWN:
        contender = w[client + slot.CLIENT_CONTENDER]
        w[contender + slot.CONTENDER_RECEIVED] += w[frame + slot.FRAME_SENDER]
        w[contender + slot.CONTENDER_SENT] += w[frame + slot.FRAME_RECEIVER]
        w[client + slot.CLIENT_PLANNED] = 0
        if w[frame + slot.FRAME_TO]:
            size = w[frame + slot.FRAME_BYTES] + w[client + slot.CLIENT_OVERHEAD]
            w[client + slot.CLIENT_AIR_DOWN] += data_air(w, size)
            receive_down(w, client, frame)
        else:
            free_frame(w, frame)
    elif code == slot.POLL:
        packet = take_held(w, client)
        size = w[packet + slot.FRAME_BYTES] + w[client + slot.CLIENT_OVERHEAD]
        w[client + slot.CLIENT_AIR_DOWN] += data_air(w, size)
        w[client + slot.CLIENT_PLANNED] = 0
        receive_down(w, client, packet)
    elif code == slot.OPENING:
        open_gate(w, client)
    elif code == slot.TRIGGER:
        _serve_period(w, client)
    elif code == slot.CLOSING:
        w[client + slot.CLIENT_IS_OPEN] = 0
        withdraw(w, client)


@compiled
def receive_down(w: Place, client: int, frame: int) -> None:
    """Take in a packet at the client."""
    end = w[frame + slot.FRAME_TO]
    if w[client + slot.CLIENT_HOST_AWARE] and w[client + slot.CLIENT_OBSERVER]:
        foreseen = foresee(w, end, frame)
        observe(w, client, frame, 0, w[frame + slot.FRAME_REACHED], foreseen >> 1, foreseen & 1)
    else:
        observe(w, client, frame, 0, w[frame + slot.FRAME_REACHED], 0, 0)
    w[client + slot.CLIENT_LAST_RECEIVED] = w[slot.NOW]
    receive(w, end, frame)


@compiled
def _serve_period(w: Place, client: int) -> None:
    """Send what waits now; a null frame ends the service period if nothing does."""
    if not release(w, client):
        forward(w, client, 0)


@compiled
def _ended(w: Place, sender: int, frame: int, code: int, client: int, delivered: int) -> None:
    """A frame has left its queue: it was delivered, or given up."""
    if code == slot.SATURATED:
        w[sender + slot.CONTENDER_COUNT] += 1
    elif code == slot.GROUP:
        group_ended(w, frame)
    elif code == slot.DOWN:
        if not delivered:
            _drop(w, frame)
        w[slot.SERVING] = 0
        serve(w)
        w[client + slot.CLIENT_DUE_DOWN] -= 1
        _sent(w, client, delivered)
    elif code == slot.UP:
        if not delivered:
            _drop(w, frame)
        _sent(w, client, delivered)
    elif code != slot.OFFERED:
        free_frame(w, frame)
        if code == slot.CLOSING:
            _closed(w, client, delivered)
        elif code == slot.POLL and delivered and w[client + slot.CLIENT_BUFFER_HEAD]:  # More Data
            poll(w, client)
        else:
            w[client + slot.CLIENT_FETCHES] = 0
            _sent(w, client, delivered)


@compiled
def _sent(w: Place, client: int, delivered: int) -> None:
    """Note that a frame of this client, or for it, has left its queue."""
    w[client + slot.CLIENT_LOST] += 1 - delivered
    rest(w, client, w[slot.FREE])


@compiled
def _closed(w: Place, client: int, delivered: int) -> None:
    """The frame that closes the gate has left its queue: doze, unless there is something to do."""
    w[client + slot.CLIENT_CLOSING] = 0
    if delivered and w[client + slot.CLIENT_PLANNED] and is_quiet(w, client):
        follow(w, client, slot.CLIENT_PLAN_WAKE)
        doze(w, client, w[slot.FREE])
    else:
        rest(w, client, w[slot.FREE])


@compiled
def _drop(w: Place, frame: int) -> None:
    """Forget a packet that was given up, or the null frame that ends a service period."""
    if not w[frame + slot.FRAME_TO]:
        free_frame(w, frame)
        return
    connection = w[w[frame + slot.FRAME_TO] + slot.END_CONNECTION]
    free_frame(w, frame)
    refer(w, connection, -1)


@compiled
def at_access_point(w: Place, client: int, frame: int) -> None:
    """Send a packet on to its client, or hold it back."""
    if w[slot.ON_WIRES]:
        wires.at_access_point(w, client, frame)
        return
    now = w[slot.NOW]
    w[frame + slot.FRAME_REACHED] = now
    if not w[client + slot.CLIENT_NEVER_SLEEPS]:
        advance(w, client, now)
    if w[client + slot.CLIENT_IS_OPEN]:
        forward(w, client, frame)
        return
    beacon = w[client + slot.CLIENT_WAKE] // w[slot.INTERVAL]
    if not w[client + slot.CLIENT_AGREED] and beacon < w[slot.NEXT_BEACON]:
        listen(w, client)  # the beacon is on the air, and its TIM does not tell of this frame
    hold(w, client, frame)
    await_beacon(w, client)
