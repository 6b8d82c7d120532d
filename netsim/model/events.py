"""What happens when: how a run begins, and who handles which event.  This is the one table."""

from __future__ import annotations

from typing import Any

from netsim.model.air.channel import take_turn
from netsim.model.air.exchanges import deliver, miss_answer, offer, saturate
from netsim.model.air.groups import add_group, expect_group, tell
from netsim.model.air.retrieval import send_pending
from netsim.model.air.station import associate, wake_close_timer
from netsim.model.arriving import answer, receive, receive_down
from netsim.model.browser import finish_page, issue, leave, next_page, part_done
from netsim.model.codes import (
    ALL_DELIVERED,
    ANSWER,
    AT_ACCESS_POINT,
    AT_CLIENT,
    AT_SERVER,
    BROADCAST,
    CLOSE_TIMER,
    DELIVER,
    END_OF_RUN,
    ISSUE,
    LEAVE,
    LEFT,
    LISTEN,
    MISS_ANSWER,
    NEXT_PAGE,
    OFFER,
    OVER,
    PAGE_DONE,
    PART_DONE,
    RADIO_READY,
    TAKE_TURN,
    TCP_TIMER,
    TELL,
    WRITE,
)
from netsim.model.medium import advance, at_access_point
from netsim.model.push import subscribe, write_messages
from netsim.model.seam import client_at, connection_at, contender_at, draw, endpoint_at, frame_at, happen, number_at
from netsim.model.tcp import wake_timer
from netsim.model.things import Client, Run
from netsim.model.wires import begin_on_wires

__all__ = ["begin", "happens"]


def begin(run: Run) -> None:
    """Begin a run: stations ask their policies, then neighbours, messages and browsers have their turns."""
    if not run.offered:
        for i in range(run.n_neighbours):
            saturate(run, run.contenders[1 + i])
    for i in range(run.n_clients):
        if run.on_wires:
            begin_on_wires(run, run.clients[i])
        else:
            associate(run, run.clients[i])
    if run.offered:
        for i in range(run.n_neighbours):
            neighbour = run.contenders[1 + i]
            happen(run, int(draw(run, neighbour.gaps)), OFFER, neighbour)
    if run.group_gaps.stop:
        expect_group(run)
    for i in range(run.n_clients):
        client = run.clients[i]
        client.left = 1
        if client.n_messages:
            client.left = 2
            subscribe(run, client)
    for i in range(run.n_clients):
        client = run.clients[i]
        next_page(run, client)
        if client.n_messages:
            write_messages(run, client)


def happens(run: Run, code: int, what: Any) -> None:
    """Hand an event to who it concerns, the most frequent first."""
    if code == AT_CLIENT:
        frame = frame_at(what)
        receive_down(run, frame.client, frame)
    elif code == AT_SERVER:
        receive(run, frame_at(what))
    elif code == AT_ACCESS_POINT:
        frame = frame_at(what)
        at_access_point(run, frame.client, frame)
    elif code == TAKE_TURN:
        take_turn(run)
    elif code == DELIVER:
        deliver(run, contender_at(what))
    elif code == MISS_ANSWER:
        miss_answer(run, contender_at(what))
    elif code == TCP_TIMER:
        wake_timer(run, endpoint_at(what))
    elif code == TELL:
        tell(run, number_at(what))
    elif code == ANSWER:
        answer(run, connection_at(what))
    elif code == OFFER:
        offer(run, contender_at(what))
    elif code == BROADCAST:
        add_group(run)
    else:
        happens_to_client(run, code, client_at(what))


def happens_to_client(run: Run, code: int, client: Client) -> None:
    """Let a client go on."""
    if code == LISTEN:
        advance(run, client, run.now)
    elif code == CLOSE_TIMER:
        wake_close_timer(run, client)
    elif code == RADIO_READY:
        send_pending(run, client)
    elif code == PAGE_DONE:
        finish_page(run, client)
    elif code == NEXT_PAGE:
        next_page(run, client)
    elif code == ISSUE:
        issue(run, client)
    elif code == WRITE:
        write_messages(run, client)
    elif code == ALL_DELIVERED:
        happen(run, run.now, PART_DONE, client)
    elif code == PART_DONE:
        part_done(run, client)
    elif code == LEAVE:
        leave(run, client)
    elif code == LEFT:
        run.n_done += 1
        if run.n_done == run.n_clients:
            happen(run, run.now, END_OF_RUN, client)
    elif code == END_OF_RUN:
        run.status |= OVER
