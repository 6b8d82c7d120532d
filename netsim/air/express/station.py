"""The power-saving client: `netsim.air.station`, `transmitter` and `retrieval` in integers."""

from __future__ import annotations

from lpsm._compile import compiled
from netsim.air.express import layout as slot
from netsim.air.express import wires
from netsim.air.express.access_point import forward, take_held
from netsim.air.express.channel import (
    advance_beacons,
    beacon_start,
    data_air,
    data_exchange,
    heard_up_to,
    late_in_all,
    listen_to_beacon,
    null_exchange,
    send,
)
from netsim.air.express.events import append, free_frame, happen, new_frame, note
from netsim.air.express.radio import ask, begin_doze, hear, listen_ahead, observe, take_asked, wake
from netsim.express.layout import Place

__all__ = [
    "advance", "await_beacon", "close_timer", "doze", "follow", "is_quiet", "listen", "open_gate", "poll", "release",
    "rest", "send_up", "stay_until",
]  # fmt: skip


# -- sending


@compiled
def _transmit(w: Place, client: int, frame: int) -> None:
    """Queue a frame, waking up for it if need be."""
    now = w[slot.NOW]
    if w[client + slot.CLIENT_DOZING]:
        w[client + slot.CLIENT_WOKE_TO_SEND] = w[client + slot.CLIENT_OPENS] == 0
        _wake_up(w, client, now)
    if w[client + slot.CLIENT_READY] <= now:
        send(w, w[client + slot.CLIENT_CONTENDER], frame)
        return
    if not w[client + slot.CLIENT_PENDING_HEAD]:
        happen(w, w[client + slot.CLIENT_READY], slot.RADIO_READY, client)
    append(w, client + slot.CLIENT_PENDING_HEAD, frame)


@compiled
def _withdraw_closing(w: Place, client: int) -> None:
    """Take the null frame back that would close the gate, unless it, or another, is on the air."""
    contender, closing = w[client + slot.CLIENT_CONTENDER], w[client + slot.CLIENT_CLOSING]
    if w[contender + slot.CONTENDER_ON_AIR]:
        return
    before, at = 0, w[contender + slot.CONTENDER_HEAD]
    while at != closing:
        before, at = at, w[at + slot.FRAME_LINK]
    if before:
        w[before + slot.FRAME_LINK] = w[at + slot.FRAME_LINK]
    else:
        w[contender + slot.CONTENDER_HEAD] = w[at + slot.FRAME_LINK]
    if w[contender + slot.CONTENDER_TAIL] == at:
        w[contender + slot.CONTENDER_TAIL] = before
    w[contender + slot.CONTENDER_COUNT] -= 1
    w[client + slot.CLIENT_CLOSING] = 0
    free_frame(w, closing)


@compiled
def send_up(w: Place, client: int, frame: int) -> None:
    """Hand a packet to the transmitter."""
    if not w[client + slot.CLIENT_NEVER_SLEEPS]:
        advance(w, client, w[slot.NOW])
    w[client + slot.CLIENT_LAST_SENT] = w[slot.NOW]
    observe(w, client, frame, 1, w[slot.NOW], 0, 1)
    if w[slot.ON_WIRES]:
        wires.send_up(w, client, frame)
        return
    w[client + slot.CLIENT_PLANNED] = 0
    w[client + slot.CLIENT_CLOSE] = slot.NEVER
    if w[client + slot.CLIENT_CLOSING]:
        _withdraw_closing(w, client)
    size = w[frame + slot.FRAME_BYTES] + w[client + slot.CLIENT_OVERHEAD]
    data_exchange(w, frame, size)
    w[frame + slot.FRAME_CODE] = slot.UP
    w[client + slot.CLIENT_AIR_UP] += data_air(w, size)
    _transmit(w, client, frame)


# -- fetching


@compiled
def poll(w: Place, client: int) -> None:
    """Send a PS-Poll for the oldest packet that is held back."""
    size = w[w[client + slot.CLIENT_BUFFER_HEAD] + slot.FRAME_BYTES] + w[client + slot.CLIENT_OVERHEAD]
    row, frame = w[slot.EXCHANGES] + slot.EXCHANGE_SIZE * size, new_frame(w)
    w[frame + slot.FRAME_CODE], w[frame + slot.FRAME_OWNER], w[frame + slot.FRAME_ANSWERED] = slot.POLL, client, 1
    w[frame + slot.FRAME_FIRST], w[frame + slot.FRAME_SENDER] = w[slot.POLL_AIR], w[slot.POLL_SENDER]
    w[frame + slot.FRAME_DELIVERED] = w[row + slot.POLLED_DELIVERED]
    w[frame + slot.FRAME_TOTAL] = w[row + slot.POLLED_TOTAL]
    w[frame + slot.FRAME_RECEIVER] = w[row + slot.DATA_ALONE]
    _transmit(w, client, frame)


@compiled
def _fetch(w: Place, client: int) -> None:
    """Have what waits sent, or the gate opened if nothing waits but the policy wants to be awake."""
    if w[client + slot.CLIENT_FETCHES]:
        return
    w[client + slot.CLIENT_FETCHES] = 1
    if w[client + slot.CLIENT_RETRIEVAL] == slot.PS_POLL and w[client + slot.CLIENT_BUFFER_HEAD]:
        poll(w, client)
        return
    frame = new_frame(w)
    code = slot.TRIGGER if w[client + slot.CLIENT_RETRIEVAL] == slot.UAPSD else slot.OPENING
    null_exchange(w, frame, code, client)
    _transmit(w, client, frame)


@compiled
def release(w: Place, client: int) -> int:
    """Let the access point send what waits now; return whether that is anything."""
    w[client + slot.CLIENT_WOKE_TO_SEND] = 0
    found = 0
    while w[client + slot.CLIENT_BUFFER_HEAD]:
        found = 1
        forward(w, client, take_held(w, client))
    return found


@compiled
def open_gate(w: Place, client: int) -> int:
    """Let the access point send what waits, and all that comes from now on; return whether anything waits."""
    w[client + slot.CLIENT_IS_OPEN] = 1
    return release(w, client)


# -- sleeping


@compiled
def is_quiet(w: Place, client: int) -> bool:
    """Return whether nothing is on its way either way."""
    busy = w[client + slot.CLIENT_DUE_DOWN] or w[client + slot.CLIENT_FETCHES] or w[client + slot.CLIENT_CLOSING]
    sends = w[client + slot.CLIENT_PENDING_HEAD] or w[w[client + slot.CLIENT_CONTENDER] + slot.CONTENDER_COUNT]
    return busy == 0 and sends == 0


@compiled
def rest(w: Place, client: int, at: int) -> None:
    """Ask the policy what to do once nothing is left to send or to receive."""
    if w[client + slot.CLIENT_DOZING] or w[client + slot.CLIENT_NEVER_SLEEPS] or not is_quiet(w, client):
        return
    woke = w[client + slot.CLIENT_WOKE_TO_SEND]
    w[client + slot.CLIENT_WOKE_TO_SEND] = 0
    if woke and not w[client + slot.CLIENT_IS_OPEN]:
        doze(w, client, at)
        return
    if not w[client + slot.CLIENT_PLANNED]:
        ask(w, client, 0, at, 0, 0)
        take_asked(w, client)
    stay_until(w, client, max(w[client + slot.CLIENT_UNTIL], at), at)


@compiled
def stay_until(w: Place, client: int, until: int, now: int) -> None:
    """Be awake until an instant, with the gate open if that is in the future, and sleep then."""
    agreed = w[client + slot.CLIENT_PLAN_AGREED]
    if until <= now and (agreed or not w[client + slot.CLIENT_IS_OPEN]):
        w[client + slot.CLIENT_IS_OPEN] = 0
        follow(w, client, slot.CLIENT_PLAN_WAKE)
        doze(w, client, now)
    elif not w[client + slot.CLIENT_IS_OPEN] and not agreed:
        _fetch(w, client)
    elif until < slot.NEVER:
        w[client + slot.CLIENT_CLOSE] = until
        if until < w[client + slot.CLIENT_TIMER]:
            w[client + slot.CLIENT_TIMER] = max(until, w[slot.NOW])
            happen(w, w[client + slot.CLIENT_TIMER], slot.CLOSE_TIMER, client)


@compiled
def close_timer(w: Place, client: int) -> None:
    """Close the gate, if it is time and nothing is on its way."""
    now = w[slot.NOW]
    if now < w[client + slot.CLIENT_TIMER]:
        return
    w[client + slot.CLIENT_TIMER] = slot.NEVER
    close = w[client + slot.CLIENT_CLOSE]
    if now < close < slot.NEVER:
        w[client + slot.CLIENT_TIMER] = close
        happen(w, close, slot.CLOSE_TIMER, client)
    elif close <= now and w[client + slot.CLIENT_PLANNED] and is_quiet(w, client):
        w[client + slot.CLIENT_CLOSE] = slot.NEVER
        if w[client + slot.CLIENT_AGREED]:
            stay_until(w, client, now, now)
        else:
            closing = new_frame(w)
            w[client + slot.CLIENT_CLOSING] = closing
            null_exchange(w, closing, slot.CLOSING, client)
            send(w, w[client + slot.CLIENT_CONTENDER], closing)


@compiled
def follow(w: Place, client: int, plan: int) -> None:
    """Take over from a plan what holds in doze; `plan` is its wake-up among the fields of the client."""
    w[client + slot.CLIENT_WAKE] = w[client + plan]
    w[client + slot.CLIENT_OPENS] = w[client + plan + 1]
    w[client + slot.CLIENT_REPEAT] = w[client + plan + 2]
    w[client + slot.CLIENT_AGREED] = w[client + plan + 3]


@compiled
def doze(w: Place, client: int, at: int) -> None:
    """Doze from `at` on, or stay awake with the gate closed if the next beacon is too near."""
    interval = w[slot.INTERVAL]
    if w[client + slot.CLIENT_WAKE] <= at and not w[client + slot.CLIENT_AGREED]:
        w[client + slot.CLIENT_WAKE] = (at // interval + 1) * interval
    w[client + slot.CLIENT_PLANNED] = 0
    w[client + slot.CLIENT_CLOSE] = slot.NEVER
    planned = w[client + slot.CLIENT_WAKE]
    if planned - listen_ahead(w, planned - at) - w[slot.WAKEUP] - w[slot.SETTLE] >= at:
        begin_doze(w, client, at)
    await_beacon(w, client)


@compiled
def _wake_up(w: Place, client: int, begin: int) -> None:
    """Wake up from `begin` on, for more than a beacon."""
    planned, slept_from = w[client + slot.CLIENT_WAKE], w[client + slot.CLIENT_SLEPT_FROM]
    if w[slot.WAKEUP] and not w[client + slot.CLIENT_AGREED]:
        for_beacon = planned - listen_ahead(w, planned - slept_from) - w[slot.WAKEUP]
        begin = min(begin, max(for_beacon, slept_from))
    w[client + slot.CLIENT_READY] = max(w[slot.NOW], wake(w, client, begin))


# -- beacons, and what is agreed in place of them


@compiled
def advance(w: Place, client: int, now: int) -> None:
    """Bring the state up to `now`: the beacons that have ended by then, and what was agreed for it."""
    if w[slot.ON_WIRES]:
        wires.advance(w, client, now)
        return
    advance_beacons(w, now)
    while not w[slot.STATUS] & slot.REFUSED:
        if w[client + slot.CLIENT_IS_OPEN]:
            close = w[client + slot.CLIENT_CLOSE]
            stays = not w[client + slot.CLIENT_AGREED] or not w[client + slot.CLIENT_PLANNED] or close > now
            if stays or not is_quiet(w, client):
                return
            stay_until(w, client, close, close)
        elif w[client + slot.CLIENT_AGREED]:
            if w[client + slot.CLIENT_WAKE] > now:
                return
            _begin_service(w, client)
        else:
            heard = heard_up_to(w, now)
            if heard < w[client + slot.CLIENT_WAKE] // w[slot.INTERVAL]:
                return
            skips = w[client + slot.CLIENT_REPEAT] and w[client + slot.CLIENT_DOZING]
            if skips and not w[client + slot.CLIENT_BUFFER_HEAD]:
                _skip_beacons(w, client, heard)
            else:
                listen(w, client)


@compiled
def _skip_beacons(w: Place, client: int, heard: int) -> None:
    """Listen to all the beacons up to number `heard` that bring nothing and that the policy need not hear of."""
    first, period, interval = w[client + slot.CLIENT_WAKE], w[client + slot.CLIENT_REPEAT], w[slot.INTERVAL]
    number, step = first // interval, period // interval
    more = (heard - number) // step
    slept = first - w[client + slot.CLIENT_SLEPT_FROM]
    note(w, client, 1, first, slept, 0, period, more, period)
    hear(w, client, more + 1, period if more else slept, late_in_all(w, number, heard, step))
    w[client + slot.CLIENT_SLEPT_FROM] = beacon_start(w, number + more * step) + w[slot.BEACON_AIR]
    w[client + slot.CLIENT_WAKE] = first + (more + 1) * period


@compiled
def await_beacon(w: Place, client: int) -> None:
    """Have the next instant of listening happen if it matters: frames wait, or the policy may wish to be awake."""
    at, agreed = w[client + slot.CLIENT_WAKE], w[client + slot.CLIENT_AGREED]
    if (w[client + slot.CLIENT_REPEAT] or agreed) and not w[client + slot.CLIENT_BUFFER_HEAD]:
        return
    if at == w[client + slot.CLIENT_EXPECTED] or at >= slot.NEVER:
        return
    w[client + slot.CLIENT_EXPECTED] = at
    if agreed:
        happen(w, max(at, w[slot.NOW]), slot.SERVICE, client)
    elif at // w[slot.INTERVAL] >= w[slot.NEXT_BEACON]:
        listen_to_beacon(w, at // w[slot.INTERVAL], client)


@compiled
def _ask_at_beacon(w: Place, client: int, target: int) -> None:
    slept, waiting = target - w[client + slot.CLIENT_SLEPT_FROM], w[client + slot.CLIENT_BUFFER_BYTES]
    ask(w, client, 1, target, slept, waiting)
    note(w, client, 1, target, slept, waiting, max(0, w[client + slot.CLIENT_ASKED_WAKE] - target), 0, 0)


@compiled
def listen(w: Place, client: int) -> None:
    """Hear the beacon wanted, and do what its TIM and the policy say."""
    target = w[client + slot.CLIENT_WAKE]
    start = beacon_start(w, target // w[slot.INTERVAL])
    end = start + w[slot.BEACON_AIR]
    slept = target - w[client + slot.CLIENT_SLEPT_FROM]
    _ask_at_beacon(w, client, target)
    waits = w[client + slot.CLIENT_BUFFER_HEAD] != 0
    stays = waits or w[client + slot.CLIENT_ASKED_UNTIL] > end
    if w[client + slot.CLIENT_DOZING]:
        if stays:
            w[client + slot.CLIENT_BEACONS] += 1
            _wake_up(w, client, target - listen_ahead(w, slept) - w[slot.WAKEUP])
        else:
            hear(w, client, 1, slept, start - target)
            w[client + slot.CLIENT_SLEPT_FROM] = end
    follow(w, client, slot.CLIENT_ASKED_WAKE)
    if not stays:
        if not w[client + slot.CLIENT_DOZING] and is_quiet(w, client):
            doze(w, client, end)
        await_beacon(w, client)
        return
    w[client + slot.CLIENT_WOKE_TO_SEND] = 0
    w[client + slot.CLIENT_PLANNED] = 0
    if waits:
        _fetch(w, client)
    else:
        take_asked(w, client)
        rest(w, client, end)


@compiled
def _begin_service(w: Place, client: int) -> None:
    """Open the gate at an instant agreed on."""
    at = w[client + slot.CLIENT_WAKE]
    _ask_at_beacon(w, client, at)
    if w[client + slot.CLIENT_DOZING]:
        _wake_up(w, client, at - w[slot.WAKEUP])
    follow(w, client, slot.CLIENT_ASKED_WAKE)
    if not open_gate(w, client):
        take_asked(w, client)
        w[client + slot.CLIENT_CLOSE] = max(w[client + slot.CLIENT_ASKED_UNTIL], at)
