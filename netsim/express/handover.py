"""Pages that the express engine leaves over go to the packet model, from the state between two pages and back."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import numpy as np
from simpy import Event

from netsim.browser import Browser
from netsim.clock import Clock
from netsim.express import layout as slot
from netsim.express import state
from netsim.express.engine import Run
from netsim.push import PushChannel
from netsim.server import Server
from traces.records import Page

__all__ = ["browse_packets"]


def browse_packets(run: Run, first: int) -> int:
    """Browse from page `first` on by the packet model until all is quiet between two pages.

    Where two things happen at one instant, the one that was scheduled first goes first; so the processes begin in the
    order in which a whole run would have come to what they wait for.

    Returns
    -------
    int
        The next page; one more than there can be if the run has ended.
    """
    w, config, pages = run.world, run.config, run.workload
    clock = Clock(int(w[slot.NOW]))
    station = state.station_of(w, run.access_point, clock, run.policy, config.beacon_interval_ns)
    browser = Browser(
        clock,
        station,
        Server(clock),
        config.tcp,
        persistent=config.connections == "persistent",
        max_connections=config.max_connections,
    )
    channel = None
    if run.messages:
        channel = PushChannel(clock, station, config.tcp, run.messages, state.push_of(w, run.flow))
    page, done = first, False

    def quiet() -> bool:
        return station.quiet(clock.now) and (channel is None or channel.quiet(clock.now, run.access_point.wire_up))

    def until_quiet() -> Iterator[Page]:
        nonlocal page, done
        while page < len(pages) and (page == first or not quiet()):
            page += 1
            yield pages[page - 1]
        done = True

    pushing = clock.process(channel.deliver()) if channel is not None and first else None
    browsing = clock.process(browser.browse(until_quiet(), run.delays_ns[run.pages[first, 2] :]))
    if channel is not None and pushing is None:
        pushing = clock.process(channel.deliver())
    visit = clock.process(_visit(clock, browsing, pushing))
    while not done:
        clock.step()
    ended = page == len(pages) and (page == first or not quiet())
    if ended:
        clock.run(until=clock.all_of([visit]))  # what else falls on the last instant is as in a whole run
        station.advance(clock.now)
    browsed = page - first
    run.left_over += browsed
    run.loads[first:page] = np.array(browser.loads, dtype=np.int64).reshape(-1, 4)
    w[slot.NOW] = clock.now
    if browsed:
        w[slot.PAGE_DEADLINE] = run.pages[page - 1, 4]
    state.enter_station(w, run.access_point, station)
    if channel is not None:
        before, delivered_ns = int(w[slot.DELIVERED]), channel.delivered_ns()
        run.pushed[before : before + len(delivered_ns), 2] = delivered_ns
        push = channel.state()
        state.enter_push(w, run.flow, int(run.pushed[push.delivered - 1, 1]) if push.delivered else 0, push)
    run.append(np.array(station.polls, dtype=np.int64), np.array(station.intervals, dtype=np.int64))
    return page + ended


def _visit(clock: Clock, browsing: Event, pushing: Event | None) -> Generator[Event, None, None]:
    yield browsing if pushing is None else clock.all_of([browsing, pushing])
