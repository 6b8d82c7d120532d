"""Power-saving policies: the protocol, its implementations, and their names."""

from netsim.policies.entry import Entry, Setting
from netsim.policies.own import OwnPolicy
from netsim.policies.protocol import FOREVER_NS, Frame, HostFrame, Observer, Plan, Policy, PolicyError, View
from netsim.policies.spec import AnyPolicy, canonical, make, registry, split

__all__ = [
    "FOREVER_NS", "AnyPolicy", "Entry", "Frame", "HostFrame", "Observer", "OwnPolicy", "Plan", "Policy", "PolicyError",
    "Setting", "View", "canonical", "make", "registry", "split",
]  # fmt: skip
