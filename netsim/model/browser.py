"""The browser: a page over its connections, one page after another.

A page is issued, its HTML fetched on a first connection, and its objects then on up to `max_connections` connections,
in order, one outstanding request each.  Persistent connections go on with the next object; otherwise every object has
a connection of its own (HTTP/1.0).  An upload, which has no reply, is complete when its last byte is acknowledged.  A
connection with no further object vanishes.  The loop is closed: the next page is issued when the previous one is
complete and has been thought about.  Pages that are graphs go their own way (`netsim.model.graphs`).  Left out: caches,
name look-ups, pipelining, aborts, and that a connection leads to one server: which server is asked is known to the
client, and decides nothing here.
"""

from __future__ import annotations

from netsim.model.codes import ISSUE, LEAVE, LEFT, NEXT_PAGE, PAGE_DONE, PART_DONE
from netsim.model.entities import Client, Connection, Run
from netsim.model.flow_control import open_securely
from netsim.model.graphs import carried, issue_graph
from netsim.model.medium import advance, finish, time_awake, write_states
from netsim.model.page_account import close_account, open_account
from netsim.model.primitives import note_answer, schedule
from netsim.model.recorded import finish_step
from netsim.model.tcp import close, connect, write


def next_page(run: Run, client: Client) -> None:
    """Issue the next page, wait for its instant, or be done."""
    if client.page == client.n_pages:
        schedule(run, run.now, PART_DONE, client)
        return
    at = client.pages[client.page].issue
    if at > run.now:
        schedule(run, at, ISSUE, client)
    else:
        issue(run, client)


def issue(run: Run, client: Client) -> None:
    """Issue a page: fetch its HTML on a connection of its own."""
    open_account(run, client, client.page)
    if client.n_hosts:
        issue_graph(run, client)
        return
    client.taken, client.missing = 0, client.pages[client.page].objects
    fetch_new(run, client, -1)


def finish_page(run: Run, client: Client) -> None:
    """Note what a page took, and think about it."""
    page, done = client.pages[client.page], run.now
    if client.n_hosts:  # whose account is closed with the last byte that it waits for
        done = client.loads[client.page].done
    else:
        close_account(run, client, client.page)
    client.page += 1
    client.first_object += 1 + page.objects
    if page.think >= 0:
        schedule(run, max(done + page.think, run.now), NEXT_PAGE, client)
    else:
        next_page(run, client)


# -- what is fetched


def fetch(run: Run, client: Client, connection: Connection, index: int) -> None:
    """Ask for object `index` (-1: the HTML), opening the connection first if it is new."""
    wanted = client.objects[client.first_object + index + 1]
    connection.index, connection.delay = index, wanted.delay
    connection.request, connection.reply, connection.asked_of = wanted.request, wanted.reply, wanted.asked_of
    connection.server.expected += wanted.request
    connection.server.acknowledges = wanted.reply == 0
    connection.client.expected += wanted.reply
    connection.client.acknowledges = 0
    if connection.is_open:
        client.outstanding += 1
        write(run, connection.client, wanted.request, wanted.reply == 0)
    else:
        open_securely(run, connection)


def fetch_new(run: Run, client: Client, index: int) -> None:
    """Ask for an object on a new connection."""
    number = client.next_number
    client.next_number = number + 1
    fetch(run, client, connect(run, client, number), index)


def arrived(run: Run, connection: Connection) -> None:
    """Go on when the last byte of what was fetched has come, or of an upload is acknowledged."""
    client = connection.client.client
    if client.n_steps:
        finish_step(run, connection)
        return
    if client.n_hosts:
        carried(run, connection)
        return
    objects = client.pages[client.page].objects
    client.outstanding -= 1
    note_answer(run, connection)
    if connection.index < 0:
        more = min(run.max_connections, objects)
    else:
        client.missing -= 1
        more = min(1, objects - client.taken)
    if run.persistent and more:
        more -= 1
        client.taken += 1
        fetch(run, client, connection, client.taken - 1)
    else:
        close(run, connection)
    for _ in range(more):
        client.taken += 1
        fetch_new(run, client, client.taken - 1)
    if client.missing == 0:
        schedule(run, run.now, PAGE_DONE, client)


# -- the end of a client's run


def part_done(run: Run, client: Client) -> None:
    """The pages, the messages, the datagrams or the recorded time are done with."""
    client.left -= 1
    if client.left == 0:
        if client.pushes:
            schedule(run, run.now, LEAVE, client)
        else:
            leave(run, client)


def leave(run: Run, client: Client) -> None:
    """End the run of a client, and note its totals."""
    now = run.now
    advance(run, client, now)
    finish(run, client, now)
    totals = client.totals
    totals.end, totals.awake, totals.beacons = now, time_awake(run, client, now), client.beacons
    totals.air_up, totals.air_down, totals.lost = client.air_up, client.air_down, client.lost
    totals.groups_lost, totals.beacons_lost = client.groups_lost, client.beacons_lost
    write_states(run, client, now, 0, totals.states)
    client.is_done = 1
    schedule(run, now, LEFT, client)
