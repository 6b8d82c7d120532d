"""Power-saving policies: the protocol, its implementations, and their names."""

from netsim.policies.entry import Entry, Setting
from netsim.policies.protocol import FOREVER_NS, Frame, HostFrame, Observer, Plan, Policy, PolicyError, View
from netsim.policies.registry import AnyPolicy, canonical, make, registry, split
from netsim.policies.user_policy import OwnPolicy

__all__ = [
    "FOREVER_NS", "AnyPolicy", "Entry", "Frame", "HostFrame", "Observer", "OwnPolicy", "Plan", "Policy", "PolicyError",
    "Setting", "View", "canonical", "make", "registry", "split",
]  # fmt: skip
