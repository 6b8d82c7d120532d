"""Random worlds whose pages are graphs, by number: those of `tests.netsim.frozen` with other pages."""

from dataclasses import replace

import numpy as np

from netsim import Phy, StateRadioConfig
from netsim.config import AIFSN
from traces.columns import Workload
from traces.records import Cause, Page

MS = 1_000_000


def graph_world(made, number):
    """Return a world, or a cell, whose clients browse graphs."""
    world, rng = made(number), np.random.default_rng([number, 43])
    mss = world.config.tcp.mss_bytes
    clients = [([_page(page, rng, mss) for page in Workload.of(pages)], policy) for pages, policy in world.clients]
    if not all(pages for pages, _ in clients):
        clients = [([_page(Page("a", 1, 1), rng, mss)], policy) for _, policy in clients]
        world = replace(world, server_delays=None)
    return replace(world, clients=clients)


def today_world(made, number):
    """Return a world, or a cell, of today's transport and access points; clients browse graphs or whatever they did."""
    rng, is_graph = np.random.default_rng([number, 44]), number % 4 > 0
    world = graph_world(made, number) if is_graph else made(number)
    secure = rng.random() < 0.4
    tcp = replace(
        world.config.tcp, control=str(rng.choice(["reno", "cubic"])), ack_delay_s=float(rng.choice([0.001, 0.04, 0.2])),
        stream_window_bytes=int(rng.choice([0, 700, 65_535, 2**24])), named_after_bytes=int(rng.choice([0, 1, 900])),
        tls=str(rng.choice(["9:1:2", "517:3000:80", "517:99:523:1371:74"])) if secure else "",
        tls_resumed=str(rng.choice(["517:250:80", "1:2:3"])), resumption=float(rng.choice([0.0, 0.5, 1.0])),
        http3=bool(secure and rng.random() < 0.5), min_rto_s=float(rng.choice([0.01, 0.2])),
        window=max(world.config.tcp.window, int(rng.choice([1, 20, 4_000]))),
    )  # fmt: skip
    link = replace(world.config.link, queue_packets=int(rng.choice([0, 0, 1, 5, 20])))
    air, radio = world.config.medium, world.config.radio
    if air is not None:
        if rng.random() < 0.2:  # of which worlds that are kept know nothing
            air = replace(air, phy=Phy(kind="11ax-80x2"))
        beacons = replace(air.beacons, beacon_mbps=float(rng.choice([0.0, *air.phy.beacon_rates_mbps])))
        access = str(rng.choice(list(AIFSN)))
        air = replace(air, beacons=beacons, access=access if air.phy.cw_min > 6 else "dcf",
            block_ack_requests=bool(rng.random() < 0.5))  # fmt: skip
    if isinstance(radio, StateRadioConfig):
        radio = replace(radio, beacon_ms=float(rng.choice([0.294, 2.0])))
    return replace(world, config=replace(world.config, tcp=tcp, link=link, medium=air, radio=radio))


def _page(page, rng, mss):
    n = int(rng.integers(1, 10))
    hosts, speaks = rng.integers(0, rng.integers(1, 5), n), rng.random(5) < 0.7
    after = [0, *(int(rng.integers(1, place + 1)) for place in range(1, n))]
    named = {place - one for place, one in enumerate(after) if place}
    most = min(int(rng.choice([600, 3_000, 60_000])), 100 * mss)
    sizes = [(int(rng.integers(1, min(900, 100 * mss))), int(rng.integers(1, most))) for _ in range(n)]
    pauses_s = rng.choice([0.0, 0.001, 0.1, 0.25], n) if rng.random() < 0.4 else rng.exponential(0.05, n).round(9)
    causes = (
        Cause(one, float(pauses_s[place]) if place else 0.0, not place or place in named or rng.random() < 0.7,
              bool(speaks[hosts[place]]))
        for place, one in enumerate(after)
    )  # fmt: skip
    return Page(page.page, *sizes[0], tuple(sizes[1:]), page.think_s, page.issue_s,
        tuple(rng.choice([0.0, 0.02, 0.1], n)) if rng.random() < 0.5 else (), page.deadline_s,
        servers=tuple(hosts.tolist()), causes=tuple(causes))  # fmt: skip
