"""A client that calls a policy of the host as a station would."""

import math

from netsim.policies.protocol import Frame, HostFrame, View

MS = 1_000_000


class Client:
    """Calls a policy as a station would, with frames of connections by their numbers."""

    def __init__(self, policy):
        self.policy = policy

    def sent(self, at_ms, connection, *, opening=False):
        self._saw(True, at_ms, at_ms, 40 if opening else 340, connection, opening, False)

    def received(self, at_ms, connection, *, size=1500, reached_ms=None, opening=False, completes=False):
        reached_ms = at_ms if reached_ms is None else reached_ms
        self._saw(False, at_ms, reached_ms, 40 if opening else size, connection, opening, completes)

    def idle(self, at_ms):
        return self.policy.plan(View("idle", round(at_ms * MS), None, None, 0, 0, (), None))

    def beacon(self, at_ms, waiting=0):
        return self.policy.plan(View("beacon", round(at_ms * MS), None, None, 0, waiting, (), None))

    def _saw(self, is_sent, at_ms, reached_ms, size, connection, opening, completes):
        host = HostFrame(connection, opening, size - 40, completes, True)
        self.policy.observe(Frame(is_sent, round(at_ms * MS), None, size, host, *2 * [round(reached_ms * MS)]))


def saturation(gain, largest_ratio):
    """Return the balance from which on a price is at its largest, in allowances."""
    return math.log(largest_ratio) / gain
