"""Every constant of LPSM3; `netsim.policies.lpsm3` says what they are for."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

__all__ = ["Lpsm3Config"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lpsm3Config:
    """Every constant of LPSM3.

    Attributes
    ----------
    max_slowdown : float
        What the user asks for: mean latency of a page over that without power saving, above 1.
    max_push_delay_s : float
        And how long a message that comes unasked may wait at the access point, on average.
    price_w : float
        The price of a second of a page's delay at first, watts, for a slowdown of 1.05; for others in inverse
        proportion to the slowdown allowed.
    gain, largest_price_ratio, good_will : float
        How the price follows from the balance of pages, see `netsim.sleep_planning.prices`: logarithm a page's
        allowance, largest price over the first one, and the good will in pages.
    drift_step, largest_drift : float
        How fast the logarithm of the price moves with the balance, a page, and how far, either way.
    early_ratio : float
        The price of a second's delay of a page with a deadline when it is issued, over the first price; it grows
        to the largest price at the deadline.
    prior_events : float
        Events that the prior of a hazard counts for, in every bin.
    opening_shape, reply_shape, rest_shape, message_shape, held_shape : float
        The mean hazard before anything was seen, times the age: of the answer to a SYN, of the first frame of a reply,
        of its further frames, of a message, of a message that the server's window held back.
    least_push_price_w, most_push_price_w : float
        Range of the price of a second of a message's delay, watts.
    push_memory : float
        Messages over which an error in their mean delay is made good.
    push_margin : float
        By which part of it plans aim below the delay of messages that was asked for: the client sees when a message
        reached the access point, and not how long the server's window held it back before.
    same_message_s : float
        Frames that come unasked no later than this after another belong to the same message.
    silence_s : float
        After so long without a frame, `lpsm3-link` takes nothing to be outstanding.
    """

    max_slowdown: float = 1.05
    max_push_delay_s: float = 0.4
    price_w: float = 3.0
    gain: float = 0.135
    largest_price_ratio: float = 20.0
    good_will: float = 20.0
    drift_step: float = 0.002
    largest_drift: float = 1.0
    early_ratio: float = 0.003
    prior_events: float = 0.1
    opening_shape: float = 0.5
    reply_shape: float = 0.5
    rest_shape: float = 0.5
    message_shape: float = 1.0
    held_shape: float = 0.5
    least_push_price_w: float = 1e-4
    most_push_price_w: float = 100.0
    push_memory: float = 30.0
    push_margin: float = 0.07
    same_message_s: float = 0.005
    silence_s: float = 10.0

    def __post_init__(self) -> None:
        if not 1.0 < self.max_slowdown < math.inf:
            raise ValueError(f"max_slowdown must be a number above 1, got {self.max_slowdown}")
        if not 0.0 <= self.push_margin < 1.0:
            raise ValueError(f"push_margin must lie in [0, 1), got {self.push_margin}")
        for name in (field.name for field in fields(self) if field.name != "push_margin"):
            value = getattr(self, name)
            least = 0.0 if name in ("drift_step", "largest_drift", "same_message_s", "good_will") else math.ulp(0.0)
            if not least <= value < math.inf:
                raise ValueError(f"{name} must be {'at least' if least == 0.0 else 'above'} 0 and finite, got {value}")
