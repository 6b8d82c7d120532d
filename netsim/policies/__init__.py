"""Power-saving policies: the protocol, its implementations, and their names."""

from netsim.policies.entry import Entry, Setting
from netsim.policies.protocol import FOREVER_NS, Frame, HostFrame, Observer, Plan, Policy, View
from netsim.policies.spec import canonical, make, registry

__all__ = [
    "FOREVER_NS",
    "Entry",
    "Frame",
    "HostFrame",
    "Observer",
    "Plan",
    "Policy",
    "Setting",
    "View",
    "canonical",
    "make",
    "registry",
]
