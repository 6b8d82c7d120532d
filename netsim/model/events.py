"""What happens when: how a run begins, and who handles which event.  This is the one table."""

from __future__ import annotations

from collections.abc import Callable

from netsim.model import codes
from netsim.model.air.channel import take_turn
from netsim.model.air.exchanges import deliver, miss_answer, offer, saturate
from netsim.model.air.groups import add_group, expect_group, tell
from netsim.model.air.retrieval import send_pending
from netsim.model.air.station import associate, wake_close_timer
from netsim.model.browser import finish_page, issue, leave, next_page, part_done
from netsim.model.entities import Client, Run
from netsim.model.graphs import ask_for, begin_turns
from netsim.model.medium import at_access_point, listen
from netsim.model.primitives import draw, schedule
from netsim.model.push import messages_done, subscribe, write_messages
from netsim.model.receiver import answer, receive, receive_down
from netsim.model.recorded import make_ready, send_datagrams, start_due, write_piece
from netsim.model.tcp import wake_timer
from netsim.model.wires import begin_on_wires, hear_poll


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
            schedule(run, int(draw(run, neighbour.gaps)), codes.OFFER, neighbour)
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
            client.missing = client.n_steps
            start_due(run, client)
        else:
            next_page(run, client)
        if client.n_messages:
            write_messages(run, client)
        if client.n_datagrams:
            send_datagrams(run, client)
        if client.until:
            schedule(run, client.until, codes.PART_DONE, client)


def leave_last(run: Run, client: Client) -> None:
    """A client has left; the run ends with the last."""
    run.n_done += 1
    if run.n_done == run.n_clients:
        schedule(run, run.now, codes.END_OF_RUN, client)


def end_run(run: Run) -> None:
    """End the run."""
    run.status |= codes.OVER


HANDLERS: dict[int, Callable[..., None]] = {
    codes.AT_CLIENT: receive_down,
    codes.AT_SERVER: receive,
    codes.AT_ACCESS_POINT: at_access_point,
    codes.TAKE_TURN: take_turn,
    codes.DELIVER: deliver,
    codes.MISS_ANSWER: miss_answer,
    codes.TCP_TIMER: wake_timer,
    codes.LISTEN: listen,
    codes.TELL: tell,
    codes.ANSWER: answer,
    codes.OFFER: offer,
    codes.BROADCAST: add_group,
    codes.CLOSE_TIMER: wake_close_timer,
    codes.RADIO_READY: send_pending,
    codes.PAGE_DONE: finish_page,
    codes.NEXT_PAGE: next_page,
    codes.ISSUE: issue,
    codes.WRITE: write_messages,
    codes.ALL_DELIVERED: messages_done,
    codes.PART_DONE: part_done,
    codes.DUE: start_due,
    codes.READY: make_ready,
    codes.PIECE: write_piece,
    codes.SEND: send_datagrams,
    codes.WANTED: ask_for,
    codes.SERVE: begin_turns,
    codes.HEARD: hear_poll,
    codes.LEAVE: leave,
    codes.LEFT: leave_last,
    codes.END_OF_RUN: end_run,
}
"""Who handles an event, the most frequent first: called with the run and, if it takes that, what the event is about."""
