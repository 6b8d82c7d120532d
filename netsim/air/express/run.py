"""The run: event after event, each handed to who it concerns, in the order in which the packet model meets them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from netsim.air.air_times import DATA_OVERHEAD_BYTES, QOS_BYTES
from netsim.air.express import layout as slot
from netsim.air.express import wires
from netsim.air.express.browser import issue, next_page, page_done, receive, subscribe, write_messages
from netsim.air.express.channel import send, take_turn
from netsim.air.express.events import draw, happen, next_event, note, refer
from netsim.air.express.exchanges import at_access_point, deliver, miss_answer, offer, receive_down, send_again
from netsim.air.express.groups import add_group, tell
from netsim.air.express.radio import ask, awake_ns, take_asked, write_states
from netsim.air.express.station import advance, close_timer, follow, stay_until
from netsim.air.express.transport import tcp_timer, write
from netsim.express.layout import Place
from netsim.running.pointers import start

__all__ = ["run_cell"]

Ints = NDArray[np.int64]


@compiled
def run_cell(w: Ints) -> int:
    """Go on with a run until something is to be seen to, which STATUS says; return STATUS."""
    _run(start(w))
    return w[slot.STATUS]


@compiled
def _run(w: Place) -> None:
    if w[slot.N_EVENTS_RUN] == 0:
        _begin(w)
    while not w[slot.STATUS]:
        next_event(w)
        w[slot.N_EVENTS_RUN] += 1
        _happens(w, w[slot.EVENT], w[slot.ARGUMENT])


@compiled
def _happens(w: Place, event: int, argument: int) -> None:
    """Hand an event to who it concerns."""
    now = w[slot.NOW]
    if event == slot.TAKE_TURN:
        take_turn(w)
    elif event == slot.DELIVER:
        deliver(w, argument)
    elif event == slot.MISS_ANSWER:
        miss_answer(w, argument)
    elif event == slot.AT_SERVER:
        receive(w, w[argument + slot.FRAME_TO], argument)
    elif event == slot.AT_ACCESS_POINT:
        at_access_point(w, w[argument + slot.FRAME_OWNER], argument)
    elif event == slot.AT_CLIENT:
        receive_down(w, w[argument + slot.FRAME_OWNER], argument)
    elif event == slot.TCP_TIMER:
        tcp_timer(w, argument)
    elif event == slot.TELL:
        tell(w)
    elif event == slot.CLOSE_TIMER:
        close_timer(w, argument)
    elif event == slot.SERVICE or event == slot.AT_BEACON:
        advance(w, argument, now)
    elif event == slot.RADIO_READY:
        frame = w[argument + slot.CLIENT_PENDING_HEAD]
        w[argument + slot.CLIENT_PENDING_HEAD] = 0
        while frame:
            following = w[frame + slot.FRAME_LINK]
            send(w, w[argument + slot.CLIENT_CONTENDER], frame)
            frame = following
    elif event == slot.ANSWER:
        write(w, argument + slot.CONNECTION_SERVER, w[argument + slot.CONNECTION_REPLY], 0)
        refer(w, argument, -1)
    elif event == slot.OFFER:
        offer(w, argument)
    elif event == slot.BROADCAST:
        add_group(w)
        happen(w, now + int(draw(w, slot.GAP_NEXT)), slot.BROADCAST, 0)
    else:
        _browses(w, event, argument)


@compiled
def _browses(w: Place, event: int, client: int) -> None:
    """Go on with what a client does."""
    if event == slot.NEXT_PAGE:
        next_page(w, client)
    elif event == slot.ISSUE:
        issue(w, client)
    elif event == slot.PAGE_DONE:
        page_done(w, client)
    elif event == slot.WRITE:
        write_messages(w, client)
    elif event == slot.ALL_DELIVERED:
        happen(w, w[slot.NOW], slot.WRITER_DONE, client)
    elif event == slot.BROWSED or event == slot.WRITER_DONE:
        w[client + slot.CLIENT_LEFT] -= 1
        if w[client + slot.CLIENT_LEFT] == 0:
            if w[client + slot.CLIENT_PUSHES]:
                happen(w, w[slot.NOW], slot.LEAVE, client)
            else:
                _leave(w, client)
    elif event == slot.LEAVE:
        _leave(w, client)
    elif event == slot.LEFT:
        w[slot.N_DONE] += 1
        if w[slot.N_DONE] == w[slot.N_CLIENTS]:
            happen(w, w[slot.NOW], slot.END_OF_RUN, 0)
    else:
        w[slot.STATUS] |= slot.OVER


@compiled
def _begin(w: Place) -> None:
    """Begin the run: what the packet model does before and in its first events."""
    if not w[slot.NEIGHBOUR_RATE]:
        for i in range(w[slot.N_NEIGHBOURS]):
            send_again(w, w[slot.CONTENDERS] + slot.CONTENDER_SIZE * (1 + i))
    for i in range(w[slot.N_CLIENTS]):
        client = w[slot.CLIENTS] + slot.CLIENT_SIZE * i
        if w[slot.ON_WIRES]:
            wires.begin(w, client)
        else:
            _associate(w, client)
    if w[slot.NEIGHBOUR_RATE]:
        for i in range(w[slot.N_NEIGHBOURS]):
            neighbour = w[slot.CONTENDERS] + slot.CONTENDER_SIZE * (1 + i)
            happen(w, int(draw(w, neighbour + slot.CONTENDER_GAP)), slot.OFFER, neighbour)
    if w[slot.GAP_STOP]:
        happen(w, int(draw(w, slot.GAP_NEXT)), slot.BROADCAST, 0)
    for i in range(w[slot.N_CLIENTS]):
        client = w[slot.CLIENTS] + slot.CLIENT_SIZE * i
        w[client + slot.CLIENT_LEFT] = 1
        if w[client + slot.CLIENT_N_MESSAGES]:
            w[client + slot.CLIENT_LEFT] = 2
            subscribe(w, client)
            if w[slot.ON_WIRES]:
                wires.enter_messages(w, client)
    for i in range(w[slot.N_CLIENTS]):
        client = w[slot.CLIENTS] + slot.CLIENT_SIZE * i
        pushed, begun = w[client + slot.CLIENT_N_MESSAGES] > 0, w[slot.BEGUN] > 0
        if pushed and begun:  # in the order in which a whole run would have come to what they wait for
            write_messages(w, client)
        next_page(w, client)
        if pushed and not begun:
            write_messages(w, client)


@compiled
def _associate(w: Place, client: int) -> None:
    """Ask the policy for the first time, and leave the gate as it wants it."""
    ask(w, client, 0, 0, 0, 0)
    take_asked(w, client)
    if w[client + slot.CLIENT_PLAN_AGREED]:  # service periods begin where those of the client before end
        service = w[client + slot.CLIENT_UNTIL]
        w[client + slot.CLIENT_OFFSET] = w[slot.AGREED_NS] % w[client + slot.CLIENT_PLAN_WAKE]
        w[slot.AGREED_NS] += service
        w[client + slot.CLIENT_UNTIL], w[client + slot.CLIENT_PLAN_WAKE] = 0, w[client + slot.CLIENT_OFFSET]
        w[client + slot.CLIENT_RETRIEVAL] = slot.TWT
    elif w[client + slot.CLIENT_RETRIEVAL] == slot.TWT:
        w[client + slot.CLIENT_RETRIEVAL] = slot.NULL
    elif w[client + slot.CLIENT_RETRIEVAL] == slot.AUTO:
        w[client + slot.CLIENT_RETRIEVAL] = slot.NULL if w[client + slot.CLIENT_PLAN_OPENS] else slot.PS_POLL
    qos = QOS_BYTES if w[client + slot.CLIENT_RETRIEVAL] == slot.UAPSD else 0
    w[client + slot.CLIENT_OVERHEAD] = DATA_OVERHEAD_BYTES + qos
    w[client + slot.CLIENT_IS_OPEN] = w[client + slot.CLIENT_UNTIL] > 0
    follow(w, client, slot.CLIENT_PLAN_WAKE)
    stay_until(w, client, w[client + slot.CLIENT_UNTIL], 0)


@compiled
def _leave(w: Place, client: int) -> None:
    """End the run of a client, and note its totals."""
    now, place = w[slot.NOW], w[client + slot.CLIENT_TOTALS]
    advance(w, client, now)
    if w[slot.ON_WIRES]:
        w[client + slot.CLIENT_IS_DONE] = 1
        wires.stop(w, client)
        return
    if not w[client + slot.CLIENT_DOZING] and now > w[client + slot.CLIENT_AWAKE_SINCE]:
        note(w, client, 0, w[client + slot.CLIENT_AWAKE_SINCE], now, 0, 0, 0, 0)
    w[place], w[place + 1], w[place + 2] = now, awake_ns(w, client, now), w[client + slot.CLIENT_BEACONS]
    w[place + 3], w[place + 4] = w[client + slot.CLIENT_AIR_UP], w[client + slot.CLIENT_AIR_DOWN]
    w[place + 5], w[place + 6] = w[client + slot.CLIENT_LOST], w[client + slot.CLIENT_GROUPS_LOST]
    write_states(w, client, now, place + 7)
    w[client + slot.CLIENT_IS_DONE] = 1
    happen(w, now, slot.LEFT, client)
