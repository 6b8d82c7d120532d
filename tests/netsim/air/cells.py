"""A cell wired by hand: clients that browse or get packets from the server, on an air whose parts can be looked at."""

import numpy as np

import netsim
from netsim import policies
from netsim.air.cell import AirConfig, Cell
from netsim.browser import Browser
from netsim.clock import Clock
from netsim.server import Server
from netsim.tcp import DATA, Packet, TcpConfig

US, MS, S = 1_000, 1_000_000, 1_000_000_000


class Sink:
    """An endpoint that only notes when packets come."""

    def __init__(self, clock):
        self._clock, self.times_ns, self.peer = clock, [], self

    def receive(self, packet):
        self.times_ns.append(self._clock.now)

    def foresee(self, packet):
        return True, False


class Air:
    """A clock, a cell and its clients."""

    def __init__(self, config=None, *, loss=0.0, interval_ns=100 * MS, seed=0, wired_ms=0.0, recorder=None):
        self.clock = Clock()
        link = netsim.LinkConfig(loss_rate=loss, wired_delay_ms=wired_ms, wired_mbps=1e10)
        station = [] if recorder is None else [recorder.air_parts()[0]]
        self.cell = Cell(self.clock, config or AirConfig(), link, interval_ns, seed, *station)
        if recorder is not None:
            recorder.attach(self.cell)
        self._interval_ns = interval_ns
        self.stations, self.browsers = [], []

    def client(self, policy, radio="thesis"):
        if isinstance(policy, str):
            policy = policies.make(policy, beacon_interval_ns=self._interval_ns)
        radio = netsim.Radio.named(radio) if isinstance(radio, str) else radio
        station = self.cell.client(policy, radio)
        self.stations.append(station)
        return station

    def down(self, station, at_ns, sink, size_bytes=1500):
        """Have a packet for a client leave the server at an instant."""
        self.until(at_ns)
        station.send_down(Packet(sink, DATA, 0, size_bytes - 40, 0, size_bytes))

    def up(self, station, at_ns, sink, size_bytes=1500):
        """Have a client send a packet at an instant."""
        self.until(at_ns)
        station.send(Packet(sink, DATA, 0, size_bytes - 40, 0, size_bytes))

    def until(self, at_ns):
        """Run to an instant, perhaps this one."""
        if at_ns > self.clock.now:
            self.clock.run(until=at_ns)

    def browse(self, station, pages):
        """Return a process in which a client loads pages."""
        browser = Browser(self.clock, station, Server(self.clock), TcpConfig())
        self.browsers.append(browser)
        delays = np.zeros(sum(1 + len(page.objects) for page in pages), dtype=np.int64)
        return self.clock.process(browser.browse(pages, delays))

    def finish(self, until_ns=None):
        """Run to an instant, and end the run of every client."""
        if until_ns is not None:
            self.clock.run(until=until_ns)
        for station in self.stations:
            station.finish(self.clock.now)
