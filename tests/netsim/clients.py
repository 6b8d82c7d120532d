"""A client that calls a policy of the host as a station would."""

import math

import numpy as np

from netsim.policies.protocol import Frame, HostFrame, View

MS = 1_000_000


class Client:
    """Calls a policy as a station would, with frames of connections by their numbers."""

    def __init__(self, policy):
        self.policy = policy

    def sent(self, at_ms, connection, *, opening=False):
        tell(self.policy, True, at_ms, at_ms, 40 if opening else 340, connection, opening=opening)

    def received(self, at_ms, connection, *, size=1500, reached_ms=None, opening=False, completes=False):
        reached_ms = at_ms if reached_ms is None else reached_ms
        size = 40 if opening else size
        tell(self.policy, False, at_ms, reached_ms, size, connection, opening=opening, completes=completes)

    def idle(self, at_ms):
        return ask(self.policy, at_ms)

    def beacon(self, at_ms, waiting=0):
        return ask(self.policy, at_ms, True, waiting)


def saturation(gain, largest_ratio):
    """Return the balance from which on a price is at its largest, in allowances."""
    return math.log(largest_ratio) / gain


def tell(policy, sent, at_ms, between_ms, size, connection, *, opening=0, completes=0, wanted=1, server=-1):
    """Tell a policy of a frame, and when, or between which two instants, it came, by the machine code of its rule."""
    host = HostFrame(connection, opening, 0 if opening else size - 40, completes, wanted, server)
    known = [round(one * MS) for one in np.broadcast_to(between_ms, 2)]
    policy.observe(Frame(sent, round(at_ms * MS), None, size, host, *known))


def ask(policy, now_ms, beacon=0, buffered=0, slept_ns=0, deadline_ns=None, missing=None):
    """Ask a policy for its plan."""
    event = "beacon" if beacon else "idle"
    at = event, round(now_ms * MS), None, None, slept_ns
    return policy.plan(View(*at, buffered, (), None, deadline_ns, missing))
