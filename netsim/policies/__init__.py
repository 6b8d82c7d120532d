"""Power-saving policies: the protocol, its implementations, and their names."""

from netsim.policies.protocol import FOREVER_NS, Plan, Policy, View
from netsim.policies.spec import KINDS, canonical, make

__all__ = ["FOREVER_NS", "KINDS", "Plan", "Policy", "View", "canonical", "make"]
