"""A client that calls a policy as a station would, and the pages and servers that policies are tried on."""

import math

import traces
from lpsm import randomness
from netsim.policies.protocol import Frame, HostFrame, View

MS = 1_000_000


class Client:
    """Calls a policy as a station would, with frames of named connections."""

    def __init__(self, policy):
        self.policy = policy

    def sent(self, at_ms, connection, *, size=340, opening=False):
        host = HostFrame(_number(connection), opening, 0 if opening else size - 40, False, True)
        at = round(at_ms * MS)
        self.policy.observe(Frame(True, at, at, 40 if opening else size, self._host(host)))

    def received(self, at_ms, connection, *, size=1500, reached_ms=None, opening=False, completes=False, wanted=True):
        host = HostFrame(_number(connection), opening, 0 if opening else size - 40, completes, wanted)
        reached = round((at_ms if reached_ms is None else reached_ms) * MS)
        self.policy.observe(Frame(False, round(at_ms * MS), reached, 40 if opening else size, self._host(host)))

    def idle(self, at_ms, deadline_ms=None):
        deadline = None if deadline_ms is None else round(deadline_ms * MS)
        return self.policy.plan(View("idle", round(at_ms * MS), None, None, 0, 0, (), None, deadline))

    def beacon(self, at_ms, waiting=0):
        return self.policy.plan(View("beacon", round(at_ms * MS), None, None, 0, waiting, (), None))

    def _host(self, host):
        return host if self.policy.host_aware else None


def _number(connection):
    return int.from_bytes(connection.encode())


def web(seed, n=100):
    return traces.generate(n, randomness.generator(seed, randomness.WORKLOAD))


def saturation(gain, largest_ratio):
    """Return the balance from which on a price is at its largest, in allowances."""
    return math.log(largest_ratio) / gain
