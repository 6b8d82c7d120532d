"""Small worlds for tests: pages loaded while chosen frames are lost, and a client that stands by itself."""

import numpy as np

import netsim
from netsim import policies
from netsim.model.entities import Frame
from netsim.model.tcp import connect
from netsim.running import setup
from netsim.running.on_simpy import Machine, run_interpreted
from netsim.running.policy_adapter import Adviser
from traces.columns import Workload

MS = 1_000_000


def world(pages=(), policy="none", *, lost=(), **config):
    """Return a run on wires that loses the frames of these places (0, 1, 2, ... in the order of transmission)."""
    config = netsim.SimulationConfig(link=netsim.LinkConfig(loss_rate=0.5 if lost else 0.0), **config)
    workload = Workload.of(pages)
    delays = [np.zeros(len(workload.sizes), dtype=np.int64)]
    made = setup.World([(workload, policies.make(policy))], delays, [[]], config, 0)
    if lost:
        draws = np.ones((1, 10_000))
        draws[0, list(lost)] = 0.0
        made.streams = [(made.run.losses, lambda rows: draws)]
    return made


def load(*pages, **given):
    """Browse pages; return their latencies in seconds."""
    [(trip, _)] = run_interpreted(world(pages, **given))
    return ((trip.loads[:, 1] - trip.loads[:, 0]) / 1e9).tolist()


class Alone:
    """A client whose browser is still: packets are handed to it by the test, and those on the air are recorded."""

    def __init__(self, policy="none", **config):
        made = world((), policy, **config)
        self.run, self.recorder = made.run, netsim.Recorder()
        self.run.machine, self.run.recorder = Machine(made.run), self.recorder
        self.recorder.begin(made.run, made.config)
        self.client = made.run.clients[0]
        self.client.policy = Adviser(made.members[0][1])
        self.connection = connect(made.run, self.client, 1)

    def at(self, at_ns):
        """Go on up to an instant."""
        clock = self.run.machine.clock
        if at_ns > clock.now:
            clock.run(until=round(at_ns))
        self.run.now = clock.now

    def later(self, at_ns, call):
        """Call something at an instant."""

        def called(_):
            self.run.now = at_ns
            call()

        self.run.machine.clock.timeout(at_ns - self.run.now).callbacks.append(called)

    def packet(self, to, flag=0, *, seq=0, length=0, ack=0):
        """Make a packet for an end of the connection."""
        made = Frame()
        made.client, made.to, made.flag = self.client, to, flag
        made.seq, made.length, made.ack, made.bytes = seq, length, ack, length + 40
        return made
