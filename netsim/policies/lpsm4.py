"""LPSM4: LPSM3 that may ask the access point at any instant.

While anything is outstanding, its plan (`netsim.sleep_planning.plans`) has polls as well as beacons ahead: instants at
which the client wakes up, sends a frame, has what waits or hears that nothing does, and is asked again.  What a poll
costs is its passage from asleep to awake and the time that polls took which found nothing, a mean over the last ten or
so: the radio's ramp, the contention, both frames.  While nothing is outstanding it is LPSM3.

On the air its polls are null frames that open the gate, which stays open as long as the plan is to be awake.

The rule is that of LPSM3 (`netsim.policies.lpsm3_rule`), and so are the promises.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from netsim.policies.entry import Entry, with_targets
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Lpsm4Config(Lpsm3Config):
    """Every constant of LPSM4."""

    polls: bool = True  #: whether it may poll
    #: the price of a second of a page's delay at first, in polls: the best distance of polls that wait for what comes
    #: without memory after T seconds, 0.1 T, delays it by 5 % at the price of 200 / T polls
    price_polls: float = 900.0
    gain: float = 0.27  #: a delay falls with the root of its price
    largest_price_ratio: float = 200.0


class Lpsm4(Lpsm3):
    """The policies `lpsm4` (host-aware) and `lpsm4-link`; takes what `Lpsm3` takes, with a configuration of its own."""

    kind, made, opens_gate = "lpsm4", Lpsm4Config, True


_HOST, _LINK = (f"lpsm4{link}[:SLOWDOWN[:PUSH_MS[@MEASURE][:SIZES]]]" for link in ("", "-link"))
ENTRIES = (
    Entry(_HOST, "host-aware: as lpsm3, with polls at any instant", "ours",
        "lpsm4:1.05:400", partial(with_targets, Lpsm4, Lpsm4Config, _HOST), host_aware=True),
    Entry(_LINK, "link-only: the same, inferring from frame sizes what is outstanding", "ours", "lpsm4-link:1.05:400",
        partial(with_targets, Lpsm4, Lpsm4Config, _LINK)),
)  # fmt: skip
