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

from numpy import void
from numpy.typing import NDArray

from netsim.policies.compiled import Observing
from netsim.policies.entry import NS_PER_MS, Entry, name_with_target, with_targets
from netsim.policies.lpsm3 import Lpsm3Config, fresh, rule_of
from netsim.radio import Radio, RadioConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Lpsm4Config(Lpsm3Config):
    """Every constant of LPSM4."""

    polls: bool = True  #: whether it may poll
    #: the price of a second of a page's delay at first, in polls: the best distance of polls that wait for what comes
    #: without memory after T seconds, 0.1 T, delays it by 5 % at the price of 200 / T polls
    price_polls: float = 900.0
    gain: float = 0.27  #: a delay falls with the root of its price
    largest_price_ratio: float = 200.0


class Lpsm4(Observing):
    """The policies `lpsm4` (host-aware) and `lpsm4-link`; takes what `Lpsm3` takes, with a configuration of its own."""

    opens_gate = True

    def __init__(
        self,
        config: Lpsm4Config | None = None,
        *,
        host_aware: bool = True,
        radio: Radio | None = None,
        beacon_interval_ns: int = 100 * NS_PER_MS,
        spec: str | None = None,
    ) -> None:
        self.config = config = Lpsm4Config() if config is None else config
        self.host_aware, self.polls = host_aware, config.polls
        self.spec = spec or name_with_target("lpsm4" if host_aware else "lpsm4-link", *config.asked)
        radio = RadioConfig() if radio is None else radio
        polls = config.price_polls if config.polls else 0.0
        self.compiled = fresh(config, host_aware, radio, beacon_interval_ns, price_polls=polls)

    @property
    def exceptions(self) -> int:
        """How many pages were not as the guarantee of the mean slowdown supposes, as of `Lpsm3`."""
        return int(self.memory["exceptions"][0])

    @property
    def memory(self) -> NDArray[void]:
        """All that it knows, live: an array of `netsim.policies.lpsm3_rule.STATE` of shape (1,)."""
        found: NDArray[void] = rule_of(self.config.sizes).state_of(self.compiled.ints)
        return found


_HOST, _LINK = (f"lpsm4{link}[:SLOWDOWN[:PUSH_MS[@MEASURE][:SIZES]]]" for link in ("", "-link"))
ENTRIES = (
    Entry(_HOST, "host-aware: as lpsm3, with polls at any instant", "ours",
        "lpsm4:1.05:400", partial(with_targets, Lpsm4, Lpsm4Config, _HOST), host_aware=True),
    Entry(_LINK, "link-only: the same, inferring from frame sizes what is outstanding", "ours", "lpsm4-link:1.05:400",
        partial(with_targets, Lpsm4, Lpsm4Config, _LINK)),
)  # fmt: skip
