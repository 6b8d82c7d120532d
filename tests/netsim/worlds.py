"""Small worlds for tests: the parts of a run wired by hand, and a tap on what passes the access point."""

import numpy as np

from netsim import policies
from netsim.access_point import AccessPoint, LinkConfig
from netsim.browser import Browser
from netsim.clock import Clock
from netsim.server import Server
from netsim.station import Station
from netsim.tcp import TcpConfig

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
