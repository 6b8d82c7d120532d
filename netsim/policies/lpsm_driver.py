"""LPSM3 for drivers that plan no sleep: it sets how long they stay awake after traffic, and how often they listen.

Most drivers take two numbers: a time-out, behind which they sleep, and a listen interval.  `lpsm3-driver` learns as
`lpsm3-link` does, and when the client could sleep sets both to the pair of least expected cost, by the same hazards and
prices (`netsim.sleep_planning.plans.choose_settings`).  Until something is sent or received the driver keeps to them by
itself.  Time-outs are multiples of 10 ms behind the last frame, listen intervals as many beacons as the stops of a plan
lie ahead, and beacons are listened to at multiples of the interval, as `psm` does.

`lpsm4-driver` agrees on target wake times in place of both: an interval of 20 ms, or twice, four times, .. to 5.12 s,
and a service period of 10 ms (`netsim.policies.twt`); outside of these nothing is received.

What is left out: what setting costs, and that some drivers take a listen interval only before they associate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from netsim.policies.entry import NS_PER_MS, Entry, with_targets
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverConfig(Lpsm3Config):
    """Every constant of `lpsm3-driver`."""

    service_ns: int = 0  #: length of a service period that is agreed on; 0: beacons are listened to


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreedConfig(DriverConfig):
    """Every constant of `lpsm4-driver`."""

    service_ns: int = 10 * NS_PER_MS


class LpsmDriver(Lpsm3):
    """The policy `lpsm3-driver`, which knows what the link tells; takes what `Lpsm3` takes."""

    kind, made, drives = "lpsm3-driver", DriverConfig, True


class AgreedDriver(LpsmDriver):
    """The policy `lpsm4-driver`."""

    kind, made = "lpsm4-driver", AgreedConfig


_BEACONS, _AGREED = (f"lpsm{n}-driver[:SLOWDOWN[:PUSH_MS[@MEASURE][:SIZES]]]" for n in (3, 4))
ENTRIES = (
    Entry(_BEACONS, "link-only: lpsm3 that sets what drivers take: time awake after traffic, and listen interval",
        "ours", "lpsm3-driver:1.05:400", partial(with_targets, LpsmDriver, DriverConfig, _BEACONS)),
    Entry(_AGREED, "link-only: the same, with target wake times in place of beacons", "ours", "lpsm4-driver:1.05:400",
        partial(with_targets, AgreedDriver, AgreedConfig, _AGREED)),
)  # fmt: skip
