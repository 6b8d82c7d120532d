"""Power-saving policies: the protocol, its implementations, and their names."""

from netsim.policies.protocol import FOREVER_NS, Frame, HostFrame, Observer, Plan, Policy, View
from netsim.policies.spec import KINDS, canonical, make

__all__ = [
    "FOREVER_NS",
    "KINDS",
    "Frame",
    "HostFrame",
    "Observer",
    "Plan",
    "Policy",
    "View",
    "canonical",
    "make",
]
