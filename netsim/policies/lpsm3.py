"""LPSM3: learn how long waits last, and plan the sleep.

A client waits for several things at once, each at an age of its own: for the answer to a SYN, for the first frame of
a reply, for its further frames, and always for a message that nobody asked for.  LPSM3 learns the hazard rate of each
of these four kinds of wait by age (`hazards`), and of the first frame of a reply for each of the servers asked last,
as far as these are known and differ.  Whenever the client could sleep it plans, by dynamic programming over the
beacons ahead, until when to stay awake and which beacons to listen to (`plans`), at the least expected energy plus
price times delay.  There are two prices.

That of a page's delay follows from the balance of pages (`prices`): what pages were delayed, as this client
reckons it, less what was allowed, so that what the user states is a slowdown; and delay is weighed by the age of the
page at which something comes, as a second weighs less in a long page.  A page is everything from the first frame that
asks for something until nothing is outstanding, or until a connection is opened then; or, where the host knows what a
page lacks, until it lacks nothing.  Of a frame that
waited at the access point a device knows the last instant at which nothing did, and the first at which something did;
LPSM3 learns from this interval, and reckons delays from when the frame is expected to have come.  A page is late by its
last frame.

That of a message's delay is found by inversion: at which price do plans, given what was learned about messages,
lead to the mean delay that was asked for?  What is wanted is corrected slowly by the delays that messages had, as far
as is known, and a margin for what is not.  Once one has come, no sleep is longer than 3.5 times the delay asked for.

`lpsm3` knows from the host what is outstanding; `lpsm3-link` infers it from the sizes of frames, by the rules of
`netsim.policies.outstanding`.  Beyond these, a bare acknowledgement ends an upload, and what comes sooner than a
request of that size was ever answered is taken for unasked.  A frame may be an answer or a message: a wait has a
probability that it still lasts, moved by hazards and sizes of both; the page pays for a delay so far as it is its own.

The parts in brackets are modules of `netsim.sleep_planning`.  All of it is
compiled, and works on one record of numbers (`netsim.policies.lpsm3_state`), whichever way a run goes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpsm.checks import known
from lpsm.native.entries import INTS, Signature, entry_of
from netsim.policies import outstanding
from netsim.policies.compiled import CompiledForm, Observing
from netsim.policies.entry import NS_PER_MS, Entry, name_with_target, with_targets
from netsim.radio import Radio, RadioConfig
from netsim.sleep_planning.sizes import copied, read

_ALLOWED_AT_PRICE = 0.05
QUANTILES = {"mean": 0.0, "p95": 0.95, "max": 1.0}
"""What may be asked of the delay of messages: its mean, its quantile, or a limit."""
_AIMED = 0.4  # the mean delay aimed at first, over the quantile that is asked for
_TOOK_MS = 0.5  # what a poll takes beside waking up, before any was sent

_OTHERWISE = ("push_measure", "polls", "sizes", "service_ns")  # what is checked otherwise, or not

_MODULES = (*(f"netsim.sleep_planning.{name}" for name in ("hazards", "plans", "message_prices")),
    *(f"netsim.policies.lpsm3_{name}" for name in ("state", "messages", "rule")))  # fmt: skip


def rule_of(sizes: str) -> Any:
    """Return the module with the rule (`netsim.policies.lpsm3_rule`) for arrays of these sizes."""
    return copied(_MODULES, sizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lpsm3Config:
    """Every constant of LPSM3."""

    #: what the user asks for: mean latency of a page over that without power saving, above 1
    max_slowdown: float = 1.05
    max_push_delay_s: float = 0.4  #: and how long a message that comes unasked may wait at the access point:
    push_measure: str = "mean"  #: on average, or all but one in twenty ("p95"), or each ("max")
    #: the price of a second of a page's delay at first, watts, for a slowdown of 1.05; for others in inverse proportion
    #: to the slowdown allowed
    price_w: float = 3.0
    polls: bool = False  #: whether it may poll: then the price at first is that of so many polls
    price_polls: float = 0.0
    #: how the price follows from the balance of pages, see `netsim.sleep_planning.prices`: logarithm a page's
    #: allowance, largest price over the first one, and the good will in pages
    gain: float = 0.135
    largest_price_ratio: float = 20.0
    good_will: float = 20.0
    start: float = 4.0  #: the balance at first, so that sessions of few pages keep what was allowed
    #: the price of a second's delay of a page with a deadline when it is issued, over the first price; it grows to the
    #: largest price at the deadline
    early_ratio: float = 0.003
    #: how much a frame of a flowing reply that is held delays the page, over the time for which it is held
    flow_share: float = 0.1
    prior_events: float = 0.1  #: events that the prior of a hazard counts for, in every bin
    own_prior_events: float = 0.5  #: and that of a server's own factors on the common hazard
    common_nats: float = 3.0  #: the evidence that there is beforehand for a server's being like all others, nats
    #: the mean hazard before anything was seen, times the age: of the answer to a SYN, of the first frame of a reply,
    #: of its further frames, of a message, of a message that the server's window held back
    opening_shape: float = 0.5
    reply_shape: float = 0.5
    rest_shape: float = 0.5
    message_shape: float = 1.0
    held_shape: float = 0.5
    #: range of the price of a second of a message's delay, watts
    least_push_price_w: float = 1e-4
    most_push_price_w: float = 100.0
    #: messages over which an error in their mean delay is made good
    push_memory: float = 20.0
    #: frames that come unasked no later than this after another belong to the same message
    same_message_s: float = 0.005
    #: after so long without a frame `lpsm3-link` takes nothing to be outstanding, and further frames of replies
    silence_s: float = 10.0
    rest_silence_s: float = 2.0
    #: of arrays, where they are not those of `netsim.sleep_planning.sizes`: small, or bins40/room16/...
    sizes: str = ""

    def __post_init__(self) -> None:
        if not 1.0 < self.max_slowdown < math.inf:
            raise ValueError(f"max_slowdown must be a number above 1, got {self.max_slowdown}")
        known("push_measure", self.push_measure, QUANTILES)
        read(self.sizes)
        for name in (field.name for field in fields(self) if field.name not in _OTHERWISE):
            value = getattr(self, name)
            least = 0.0 if name in ("same_message_s", "good_will", "start", "price_polls") else math.ulp(0.0)
            if not least <= value < math.inf:
                raise ValueError(f"{name} must be {'at least' if least == 0.0 else 'above'} 0 and finite, got {value}")

    @property
    def asked(self) -> tuple[float, float, str, str]:
        """What the name of the policy says."""
        return self.max_slowdown, self.max_push_delay_s, self.push_measure, self.sizes


class Lpsm3(Observing):
    """The policies `lpsm3` (host-aware) and `lpsm3-link`; takes what `Lpsm2` takes, with a configuration of its own."""

    kind, made, drives = "lpsm3", Lpsm3Config, False

    def __init__(
        self,
        config: Lpsm3Config | None = None,
        *,
        host_aware: bool = True,
        radio: Radio | None = None,
        beacon_interval_ns: int = 100 * NS_PER_MS,
        spec: str | None = None,
    ) -> None:
        self.config = config = self.made() if config is None else config
        self.host_aware, self.polls = host_aware, config.polls
        kind = self.kind if host_aware or self.drives else f"{self.kind}-link"
        self.spec = spec or name_with_target(kind, *config.asked)
        radio = RadioConfig() if radio is None else radio
        self.compiled = fresh(config, host_aware, radio, beacon_interval_ns, drives=self.drives)

    @property
    def exceptions(self) -> int:
        """How many pages were not as the guarantee of the mean slowdown supposes (`netsim.sleep_planning.prices`).

        They were over their allowance at the largest price, or exceeded it 20 times at another; or, of a link, they had
        a wait that may have been over: what it cannot tell from a message.
        """
        return int(self.memory["exceptions"][0])

    @property
    def memory(self) -> NDArray[np.void]:
        """All that it knows, live: an array of `netsim.policies.lpsm3_state.STATE` of shape (1,)."""
        found: NDArray[np.void] = rule_of(self.config.sizes).state_of(self.compiled.ints)
        return found


def fresh(
    config: Lpsm3Config, host_aware: bool, radio: Radio, interval_ns: int, *, drives: bool = False
) -> CompiledForm:
    """Make the rule of a policy that has seen nothing.

    If it polls, the price of a second of a page's delay is that of so many polls at first, for a slowdown of 1.05, and
    for others in inverse proportion to the square of the slowdown allowed.  Raises ValueError for a hard limit of the
    delay of messages that is less than a beacon interval.
    """
    allowed, limit_s, quantile = config.max_slowdown - 1.0, config.max_push_delay_s, QUANTILES[config.push_measure]
    if quantile == 1.0 and limit_s * 1e9 < interval_ns:
        limit = f"a hard limit of the push delay must be at least a beacon interval ({interval_ns * 1e-6:g} ms)"
        raise ValueError(f"{limit}, got {limit_s * 1e3:g} ms")
    took_s, awake_w = 1e-3 * (radio.wakeup_ms + _TOOK_MS), 1e-3 * (radio.awake_mw - radio.asleep_mw)
    price_w = config.price_w * _ALLOWED_AT_PRICE / allowed
    if config.polls:
        price_w = config.price_polls * (awake_w * took_s + radio.wakeup_j) * (_ALLOWED_AT_PRICE / allowed) ** 2
    aimed_s = limit_s if not quantile else _AIMED * limit_s
    rule = rule_of(config.sizes)
    ints = np.zeros(rule.SIZE, dtype=np.int64)
    constants: dict[str, object] = {
        "interval_ns": interval_ns, "same_message_ns": round(config.same_message_s * 1e9),
        "awake_w": awake_w, "beacon_j": 1e-3 * radio.beacon_mj,
        "wakeup_j": radio.wakeup_j, "allowed": allowed, "price_w": price_w,
        "push_delay_s": aimed_s, "push_quantile": quantile, "push_limit_s": limit_s,
        "polls": config.polls, "took_s": took_s, "spent_s": took_s, "wakeup_s": 1e-3 * radio.wakeup_ms,
        "balance": config.start,
        "shapes": (config.opening_shape, config.reply_shape, config.rest_shape, config.message_shape,
                   config.held_shape),
    }  # fmt: skip
    silences = {name: getattr(config, name) for name in ("silence_s", "rest_silence_s")}
    outstanding.fill(rule.state_of(ints), config, constants, host_aware=host_aware, **silences)
    entry_of(rule.prepare, Signature(None, (INTS,)))(ints)
    plan = rule.set_driver if drives else rule.follow_plan
    return CompiledForm(plan, rule.observe_frame, ints=ints, prepare=rule.prepare)


_HOST, _LINK = (f"lpsm3{link}[:SLOWDOWN[:PUSH_MS[@MEASURE][:SIZES]]]" for link in ("", "-link"))
ENTRIES = (
    Entry(_HOST, "host-aware: sleep planned from learned hazards; slowdown (default 1.05), delay of messages (400 ms)",
        "ours", "lpsm3:1.05:400", partial(with_targets, Lpsm3, Lpsm3Config, _HOST), host_aware=True),
    Entry(_LINK, "link-only: the same, inferring from frame sizes what is outstanding", "ours", "lpsm3-link:1.05:400",
        partial(with_targets, Lpsm3, Lpsm3Config, _LINK)),
)  # fmt: skip
