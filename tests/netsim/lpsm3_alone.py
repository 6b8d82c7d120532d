"""LPSM3's rule by itself: its two functions, called with plain numbers."""

import numpy as np

from netsim.policies import lpsm3_rule as rule
from netsim.policies.compiled import NOT_YET_NS, FlatFrame, FlatView
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config
from netsim.policies.protocol import FOREVER_NS

MS = 1_000_000


class Rule:
    """LPSM3's two functions, called with plain numbers; `s` is what it knows, with the price of messages settled."""

    def __init__(self, *, host_aware=True, priced=True, **settings):
        self.policy = Lpsm3(Lpsm3Config(**settings), host_aware=host_aware)
        self.ints = self.policy.compiled.ints
        self.s = self.policy.memory[0]
        if priced:
            self.s["push_stale"] = 0

    def sent(self, at_ms, size=340, connection=1, opening=0, server=-1):
        at = round(at_ms * MS)
        payload = 0 if opening else size - 40
        frame = FlatFrame(1, at, at, size, connection, opening, payload, 0, 1, server)
        rule.observe_frame(frame, self.ints, np.empty(0))

    def received(self, at_ms, reached_ms, size=1500, connection=1, opening=0, completes=0, wanted=1):
        frame = FlatFrame(0, round(at_ms * MS), round(reached_ms * MS), size, connection, opening,
                          0 if opening else size - 40, completes, wanted)  # fmt: skip
        rule.observe_frame(frame, self.ints, np.empty(0))

    def asked(self, now_ms, *, beacon=0, buffered=0, deadline_ns=FOREVER_NS):
        view = FlatView(round(now_ms * MS), beacon, NOT_YET_NS, NOT_YET_NS, 0, buffered, deadline_ns)
        return rule.follow_plan(view, self.ints, np.empty(0))

    def outstanding(self):
        n = int(self.s["n"])
        return [tuple(one) for one in np.array([self.s[name][:n] for name in ("key", "kind", "origin_ns")]).T.tolist()]

    def learned(self):
        """Of each kind: waits that ended, seconds watched."""
        return self.s["events"].sum(axis=1).tolist(), self.s["at_risk_s"].sum(axis=1)
