"""Random worlds whose pages are graphs, by number: those of `tests.netsim.frozen` with other pages."""

from dataclasses import replace

import numpy as np

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
