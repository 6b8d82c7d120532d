"""What happens when: how a run begins, and who handles which event.  This is the one table."""

from __future__ import annotations

from collections.abc import Callable

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
    DUE,
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
    PIECE,
    RADIO_READY,
    READY,
    SEND,
    TAKE_TURN,
    TCP_TIMER,
    TELL,
    WRITE,
)
from netsim.model.medium import at_access_point, listen
from netsim.model.push import messages_done, subscribe, write_messages
from netsim.model.recorded import begin_steps, make_ready, send_datagrams, start_due, write_piece
from netsim.model.seam import draw, happen
from netsim.model.tcp import wake_timer
from netsim.model.things import Client, Run
from netsim.model.wires import begin_on_wires

__all__ = ["HANDLERS", "begin"]


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
        client.left = 1 + (client.n_messages > 0) + (client.n_datagrams > 0) + (client.until > 0)
        if client.n_messages:
            subscribe(run, client)
    for i in range(run.n_clients):
        client = run.clients[i]
        if client.n_steps:
            begin_steps(run, client)
        else:
            next_page(run, client)
        if client.n_messages:
            write_messages(run, client)
        if client.n_datagrams:
            send_datagrams(run, client)
        if client.until:
            happen(run, client.until, PART_DONE, client)


def leave_last(run: Run, client: Client) -> None:
    """A client has left; the run ends with the last."""
    run.n_done += 1
    if run.n_done == run.n_clients:
        happen(run, run.now, END_OF_RUN, client)


def end_run(run: Run) -> None:
    """End the run."""
    run.status |= OVER


HANDLERS: dict[int, Callable[..., None]] = {
    AT_CLIENT: receive_down,
    AT_SERVER: receive,
    AT_ACCESS_POINT: at_access_point,
    TAKE_TURN: take_turn,
    DELIVER: deliver,
    MISS_ANSWER: miss_answer,
    TCP_TIMER: wake_timer,
    LISTEN: listen,
    TELL: tell,
    ANSWER: answer,
    OFFER: offer,
    BROADCAST: add_group,
    CLOSE_TIMER: wake_close_timer,
    RADIO_READY: send_pending,
    PAGE_DONE: finish_page,
    NEXT_PAGE: next_page,
    ISSUE: issue,
    WRITE: write_messages,
    ALL_DELIVERED: messages_done,
    PART_DONE: part_done,
    DUE: start_due,
    READY: make_ready,
    PIECE: write_piece,
    SEND: send_datagrams,
    LEAVE: leave,
    LEFT: leave_last,
    END_OF_RUN: end_run,
}
"""Who handles an event, the most frequent first: called with the run and, if it takes that, what the event is about."""
