"""Pages that the express engine leaves over go to the packet model, from the state between two pages and back."""

from __future__ import annotations

import numpy as np

from netsim.browser import Browser
from netsim.clock import Clock
from netsim.express import layout as slot
from netsim.express.engine import Run
from netsim.push import PushChannel
from netsim.server import Server
from netsim.station import Station
from netsim.station_state import StationState

__all__ = ["browse_packets"]


def browse_packets(run: Run, first: int) -> int:
    """Browse from page `first` on by the packet model until all is quiet between two pages.

    Returns
    -------
    int
        The next page; one more than there can be if the run has ended.
    """
    state, config, pages = run.world, run.config, run.workload
    clock = Clock(int(state[slot.NOW]))
    station = _station(run, clock)
    browser = Browser(
        clock,
        station,
        Server(clock),
        config.tcp,
        persistent=config.connections == "persistent",
        max_connections=config.max_connections,
    )
    channel = PushChannel(clock, station, config.tcp, run.messages, run.push_state()) if run.messages else None
    pushing = None if channel is None else clock.process(channel.deliver())
    page, ended = first, False
    while not ended:
        if page == len(pages):
            if pushing is not None:
                clock.run(until=pushing)
            station.advance(clock.now)
            ended = True
        else:
            first_object, n_objects = run.pages[page, 2], run.pages[page, 3] + 1
            delays = run.delays_ns[first_object : first_object + n_objects]
            clock.run(until=clock.process(browser.browse(pages[page : page + 1], delays)))
        page += 1
        if station.quiet(clock.now) and (channel is None or channel.quiet(clock.now, run.access_point.wire_up)):
            break
    browsed = min(page, len(pages)) - first
    run.left_over += browsed
    run.loads[first : first + browsed] = np.array(browser.loads, dtype=np.int64).reshape(-1, 4)
    state[slot.NOW] = clock.now
    if browsed:
        state[slot.PAGE_DEADLINE] = run.pages[first + browsed - 1, 4]
    run.save_station(station)
    if channel is not None:
        before, delivered_ns = int(state[slot.DELIVERED]), channel.delivered_ns()
        run.pushed[before : before + len(delivered_ns), 2] = delivered_ns
        run.save_push(channel.state())
    run.append(np.array(station.polls, dtype=np.int64), np.array(station.intervals, dtype=np.int64))
    return page


def _station(run: Run, clock: Clock) -> Station:
    """Return the station and its links as the state has them."""
    state, point = run.world, run.access_point
    links = (point.air_up, point.wire_up, point.wire_down, point.air_down)
    free = state[slot.FIRST_LINK : slot.FIRST_LINK + len(links)].tolist()
    for link, free_ns in zip(links, free, strict=True):
        link.free_ns = free_ns
    point.air_up.busy_ns, point.air_down.busy_ns = int(state[slot.AIR_UP_BUSY]), int(state[slot.AIR_DOWN_BUSY])
    station = Station(clock, point.again(clock), run.policy, run.config.beacon_interval_ns, asked=True)
    due = int(state[slot.PAGE_DEADLINE])
    station.deadline_ns = None if due == slot.NEVER else due
    fields = len(StationState._fields)
    station.resume(StationState(*state[slot.FIRST_OF_STATION : slot.FIRST_OF_STATION + fields].tolist()))
    return station
