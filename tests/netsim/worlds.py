"""Worlds for tests: the parts of a run wired by hand, and random ones for both engines, ordinary or full of ties."""

from math import nan
from random import Random

import numpy as np
from hypothesis import strategies as st

import netsim
from netsim import policies
from netsim.access_point import AccessPoint, LinkConfig
from netsim.browser import Browser
from netsim.clock import Clock
from netsim.server import Server
from netsim.station import Station
from netsim.tcp import TcpConfig
from traces.columns import Workload
from traces.records import Message, Page

MS = 1_000_000


class ScriptedLoss:
    """Loses the frames whose places (0, 1, 2, ... in the order of transmission) are given."""

    def __init__(self, lost):
        self._lost, self._n = set(lost), -1

    def random(self):
        self._n += 1
        return 0.0 if self._n in self._lost else 1.0


class World:
    """A client, its access point and a server; `load` browses pages and returns their latencies in seconds."""

    def __init__(self, policy="none", *, tcp=None, link=None, lost=(), persistent=True, max_connections=4):
        link = link or LinkConfig(loss_rate=0.5 if lost else 0.0)
        self.clock = Clock()
        self.access_point = AccessPoint(self.clock, link, ScriptedLoss(lost))
        policy = policies.make(policy) if isinstance(policy, str) else policy
        self.station = Station(self.clock, self.access_point, policy)
        self.browser = Browser(
            self.clock,
            self.station,
            Server(self.clock),
            tcp or TcpConfig(),
            persistent=persistent,
            max_connections=max_connections,
        )

    def load(self, *pages):
        delays = np.zeros(sum(1 + len(page.objects) for page in pages), dtype=np.int64)
        self.clock.run(until=self.clock.process(self.browser.browse(pages, delays)))
        self.station.finish(self.clock.now)
        loads = self.browser.loads
        return [(done - issue) / 1e9 for issue, done in zip(loads[::4], loads[1::4], strict=True)]


class Dice:
    """Draws what hypothesis draws in the property below, from a seed."""

    def __init__(self, seed):
        self._random = Random(seed)

    def one_of(self, options):
        return options[int(self._random.random() * len(options))]

    def integer(self, low, high):
        return low + int(self._random.random() * (high + 1 - low))

    def fraction(self):
        return self._random.random()


class Drawn:
    """The same draws by hypothesis, which shrinks them."""

    def __init__(self, data):
        self._draw = data.draw

    def one_of(self, options):
        return self._draw(st.sampled_from(options))

    def integer(self, low, high):
        return self._draw(st.integers(low, high))

    def fraction(self):
        return self._draw(st.integers(0, 999)) / 1000


DELAYS = [
    netsim.ServerDelay(kind="recorded"),
    netsim.ServerDelay(),
    netsim.ServerDelay(mean_s=0.05),
    netsim.ServerDelay(mean_s=0.3, kind="exponential"),
]


def ordinary_case(dice, policy):
    """Draw a world and a workload: topology, TCP, pages, uploads, recorded waits, overlapping pauses, messages."""
    mss = dice.one_of([1460, 536, 1000])

    def size():
        kind = dice.integer(0, 3)
        if kind == 0:
            return dice.integer(1, 3000)
        if kind == 1:
            return mss * dice.integer(1, 30)
        return int(300 * 1000 ** dice.fraction()) + 1

    def exchange():
        request = size() if dice.integer(0, 9) == 0 else dice.integer(1, 900)
        return request, 0 if dice.integer(0, 14) == 0 else size()

    def page(i):
        objects = tuple(exchange() for _ in range(dice.one_of([0, 0, 1, 2, 5, 12])))
        think = dice.one_of([0.0, 0.013, 0.4, 3.0, 20.0]) * dice.fraction()
        issue = 30 * dice.fraction() if dice.integer(0, 4) == 0 else None
        waits = ()
        if dice.integer(0, 3) == 0:
            waits = tuple(
                dice.one_of([nan, 0.0, dice.fraction(), 3 * dice.fraction()]) for _ in range(1 + len(objects))
            )
        deadline = dice.one_of([None, None, 40 * dice.fraction()])
        return Page(f"p{i}", *exchange(), objects, think, issue, waits, deadline)

    window = dice.one_of([1, 2, 8, 20, 40])
    config = netsim.SimulationConfig(
        link=netsim.LinkConfig(
            wireless_mbps=dice.one_of([5.0, 1.0, 11.0, 54.0]),
            wired_mbps=dice.one_of([10.0, 1.0, 100.0]),
            wireless_delay_ms=dice.one_of([0.1, 0.0, 2.0]),
            wired_delay_ms=dice.one_of([20.0, 0.0, 5.0, 100.0]),
        ),
        tcp=netsim.TcpConfig(
            mss_bytes=mss,
            initial_window=dice.integer(1, window),
            window=window,
            nagle=dice.integer(0, 2) == 0,
            min_rto_s=dice.one_of([1.0, 1.0, 3.0]),
        ),
        server_delay=dice.one_of(DELAYS),
        connections=dice.one_of(["persistent", "per-object"]),
        max_connections=dice.integer(1, 5),
    )
    pages = [page(i) for i in range(dice.integer(1, 5))]
    messages = []
    if dice.integer(0, 1):
        span_s = dice.one_of([0.05, 2.0, 30.0])
        messages = [Message(span_s * dice.fraction(), size()) for _ in range(dice.one_of([1, 2, 4, 10]))]
        pages = pages if dice.integer(0, 5) else []
    return Workload.of(pages, sorted(messages)), policy, config


def tied_case(dice, policy):
    """Draw a small world in which instants coincide: round rates, delays and server times, equal sizes, many beacons.

    Headers alone and whole packets often take whole fractions of a beacon interval.
    """
    mss, header = dice.one_of(FRAMES)
    grid_s = dice.one_of([0.001, 0.01, 0.05, 0.1, 0.5])

    def instant(most):
        return dice.integer(0, most) * grid_s

    sizes = [1, 100, mss, mss, 2 * mss, 3 * mss + 1, 10 * mss, 0]
    size = min(dice.one_of(sizes), 40 * mss)
    requests = [1, min(100, 10 * mss), mss, mss, 2 * mss]

    def exchange():
        return dice.one_of(requests), size if dice.integer(0, 2) else min(dice.one_of(sizes), 40 * mss)

    def page(i):
        objects = tuple(exchange() for _ in range(dice.one_of([0, 0, 1, 2, 3])))
        waits = ()
        if dice.integer(0, 1):
            waits = tuple(dice.one_of([nan, 0.0, instant(5), instant(20)]) for _ in range(1 + len(objects)))
        issue = instant(30) if dice.integer(0, 2) == 0 else None
        return Page(f"p{i}", *exchange(), objects, instant(dice.one_of([5, 10, 30])), issue, waits)

    window = dice.one_of([1, 2, 10, 20, 1000])
    intervals_ms = [1, 2, 10, 50, 100, 100, 100, 500, 1000, 10_000]
    interval_ns = MS * dice.one_of(intervals_ms[:8] if policy.startswith("bsd") else intervals_ms)
    config = netsim.SimulationConfig(
        link=netsim.LinkConfig(
            wireless_mbps=dice.one_of([8.0, 8.0, 8.0, 1.0, 5.0, 80.0, 800.0]),
            wired_mbps=dice.one_of([8.0, 8.0, 8.0, 1.0, 10.0, 80.0, 800.0]),
            wireless_delay_ms=dice.one_of([0.0, 0.0, 0.1, 1.0, 10.0]),
            wired_delay_ms=dice.one_of([0.0, 0.0, 1.0, 20.0, 50.0, 100.0]),
        ),
        tcp=netsim.TcpConfig(
            mss_bytes=mss,
            header_bytes=header,
            initial_window=min(window, dice.one_of([1, 2, 10])),
            window=window,
            nagle=dice.integer(0, 2) == 0,
            min_rto_s=dice.one_of([1.0, 200.0]),
            initial_rto_s=dice.one_of([3.0, 200.0]),
        ),
        server_delay=dice.one_of(ROUND_DELAYS),
        connections=dice.one_of(["persistent", "per-object"]),
        max_connections=dice.one_of([1, 2, 4, 4]),
        beacon_interval_ns=interval_ns,
    )
    pages = [page(i) for i in range(dice.one_of([1, 1, 2, 3]))]
    messages = []
    if dice.integer(0, 2) == 0:
        messages = [Message(instant(30), max(1, dice.one_of(sizes))) for _ in range(dice.one_of([1, 2, 5]))]
        pages = pages if dice.integer(0, 5) else []
    return Workload.of(pages, sorted(messages)), _in_beacons(policy, interval_ns), config


FRAMES = [
    (1000, 1000),
    (1000, 1000),
    (900, 100),
    (900, 100),
    (400, 100),
    (1460, 40),
    (60, 40),
    (1, 1),
    (1, 40),
    (65_000, 40),
]
"""Largest segments and headers, bytes: at 8 Mb/s a thousand of them take the shortest beacon interval, 1 ms."""
ROUND_DELAYS = [netsim.ServerDelay(kind="recorded"), *(netsim.ServerDelay(mean_s=at) for at in (0.0, 0.01, 0.1, 0.5))]


def _in_beacons(policy, interval_ns):
    """Return a policy whose period is so many beacons, whatever their interval is."""
    kind, _, period = policy.partition(":")
    return f"listen:{int(period) // 100}" if kind == "psm" else kind if kind == "uapsd" else policy
