"""A cell driven by hand: the interpreted model, whose clock a test steps and whose frames it puts in one by one."""

from itertools import count

import numpy as np

import netsim
from netsim import policies
from netsim.model.air.groups import add_group
from netsim.model.codes import AT_SERVER, DATA
from netsim.model.entities import Connection, Endpoint, States
from netsim.model.events import begin
from netsim.model.medium import advance, finish, send_down, send_up, write_states
from netsim.model.primitives import new_frame
from netsim.policies import Observer
from netsim.radio import StateTimes
from netsim.running.on_simpy import prepared
from netsim.running.policy_adapter import Adviser
from netsim.running.setup import World
from traces.columns import Workload
from traces.records import Page

US, MS, S = 1_000, 1_000_000, 1_000_000_000
IDLE = [Page("later than every test", 1, 1, issue_s=1e9)]


class Noting(Adviser):
    """Asks the policy, and notes what comes to its client."""

    def __init__(self, policy, notes):
        super().__init__(policy)
        self._notes = notes

    def tell(self, run, client, frame, sent, *more):
        if not sent:
            self._notes.append((run.now, client.number, True, frame.seq))
        if isinstance(self.policy, Observer):
            super().tell(run, client, frame, sent, *more)


class Air:
    """A cell of clients that browse nothing, and what comes to them or from them.

    Frames are lost whose places in the order of transmission are in `lost`, and beacons whose numbers are in
    `beacons_lost`; or frames at random, at the rate `loss`.
    """

    def __init__(
        self, *given, air=None, radio="thesis", loss=0.0, lost=None, beacons_lost=None, interval_ns=100 * MS, seed=0,
        recorder=None,
    ):  # fmt: skip
        scripted = lost is not None or beacons_lost is not None
        config = netsim.SimulationConfig(
            medium=air or netsim.AirConfig(),
            link=netsim.LinkConfig(loss_rate=0.5 if scripted else loss, wired_delay_ms=0.0, wired_mbps=1e10),
            tcp=netsim.TcpConfig(mss_bytes=4060),  # the largest packet that is put in
            radio=netsim.Radio.named(radio) if isinstance(radio, str) else radio,
            beacon_interval_ns=interval_ns,
        )
        members = [(Workload.of(IDLE), policies.make(one, beacon_interval_ns=interval_ns)) for one in given]
        world = World(members, [np.zeros(1, dtype=np.int64)] * len(given), [[]] * len(given), config, seed)
        self.run, self.clients, self.contenders = world.run, world.run.clients, world.run.contenders
        machine = prepared(world, recorder)
        if scripted:
            self.run.losses.next = _scripted(lost or ())
        self._ends, self._arrived, self._begun, self.clock = [], [], False, machine.clock
        for client, (_, policy) in zip(self.clients, members, strict=True):
            client.observes, client.policy = 1, Noting(policy, self._arrived)
            if beacons_lost is not None:
                self.run.beacons_lossy, client.reception.next = 1, _scripted(beacons_lost)
            end = Endpoint()  # neither end takes anything in
            end.client, end.peer, end.connection, end.closed = client, end, Connection(), 1
            self._ends.append(end)
        machine.handlers[AT_SERVER] = self._at_server

    def _at_server(self, event):
        self._arrived.append((self.clock.now, event._value.client.number, False, event._value.seq))

    def until(self, at_ns):
        """Run to an instant, perhaps this one; what is due then is still to happen."""
        if not self._begun:
            self._begun = True
            begin(self.run)
        if at_ns > self.clock.now:
            self.clock.run(until=at_ns)
        self.run.now = self.clock.now

    def up(self, who, at_ns, size_bytes=1500, number=0):
        """Have a client send a packet at an instant."""
        self._put(send_up, who, at_ns, size_bytes, number)

    def down(self, who, at_ns, size_bytes=1500, number=0):
        """Have a packet for a client reach the access point at an instant."""
        self._put(send_down, who, at_ns, size_bytes, number)

    def _put(self, send, who, at_ns, size_bytes, number):
        self.until(at_ns)
        frame = new_frame(self.run)
        frame.client, frame.to, frame.flag, frame.seq = self.clients[who], self._ends[who], DATA, number
        frame.length, frame.ack, frame.bytes = size_bytes - 40, 0, size_bytes
        send(self.run, self.clients[who], frame)

    def group(self, at_ns, exchange=None):
        """Have a group frame, of a size of its own if its exchange is given, reach the access point at an instant."""
        self.until(at_ns)
        self.run.group_gaps.next = lambda: 1e17  # until the next one of the background
        add_group(self.run)
        if exchange:
            self.run.groups.tail.exchange = exchange

    def finish(self, until_ns):
        """Run to an instant, and bring every client up to it."""
        self.until(until_ns)
        for client in self.clients:
            advance(self.run, client, self.run.now)
            finish(self.run, client, self.run.now)
        assert not self.run.status

    def received(self):
        """When each packet arrived, in nanoseconds, and its number."""
        return [(at, number) for at, _, _, number in self._arrived]

    def arrived_us(self):
        """When packets arrived, in microseconds."""
        return [at / US for at, *_ in self._arrived]

    def numbers(self, who, *, down):
        """The numbers of the packets that arrived, in their order."""
        return [seq for _, number, way, seq in self._arrived if (number, way) == (who, down)]

    def intervals_us(self, who=0):
        """When a client was awake, from and to in turn, in microseconds."""
        return [at / US for at in self.run.machine.intervals[who]]

    def states(self, who=0):
        """How long the radio of a client was in each state."""
        states = States()
        write_states(self.run, self.clients[who], self.run.now, 0, states)
        return StateTimes.read(states)


def _scripted(lost):
    """Return the numbers of a stream of losses of which these places are lost, and no others."""
    places = count()
    return lambda: 0.0 if next(places) in lost else 1.0


def add_up(run):
    """Check that the time of the channel and the frames of every station add up; return how many were dropped."""
    assert 0 <= run.busy + run.collided <= max(run.now, run.free)
    for one in run.contenders:
        on_air = one.attempts - one.delivered - one.lost - one.collided
        assert on_air in ((0, one.together) if one.on_air else (0,)), one.place  # as the end of the run found it
    return sum(one.dropped for one in run.contenders)
