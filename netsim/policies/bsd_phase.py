"""Bounded Slowdown that knows its phase: the same bound, kept with less time awake.

With t the time since the client last sent something, a response found at the beacon at
time b after the send cannot have come before the client fell asleep at t, so it is late
by a factor of at most b / t.  Hence the rule: sleep to a beacon at b as soon as
t >= b / (1 + p), and to the last one for which that holds.  It is asked again at every
wake-up that finds nothing: where even the next beacon is too far, the client stays awake
until it is not.  (To sleep one beacon at least, as Bounded Slowdown may after T/p, would break
the bound here.)  Follows from the guarantee of Krashinsky and Balakrishnan 2002; the cap is theirs.
"""

from __future__ import annotations

from fractions import Fraction

from netsim.policies.bsd import number_text, positive_fraction, whole_beacons
from netsim.policies.protocol import Plan, View

__all__ = ["PhaseBoundedSlowdown"]


class PhaseBoundedSlowdown:
    """The policy `bsd-phase:P`.

    Parameters
    ----------
    p : str, float or Fraction
        The slowdown allowed, positive; exact: 0.1 and "0.1" are one tenth.
    max_sleep_ms : int
        Longest sleep, at least a beacon interval.
    beacon_interval_ns : int
        Time between beacons.
    policy : str
        What it is called in its name.

    Notes
    -----
    Before anything was sent, t counts as infinite, and the longest sleep is taken.
    """

    host_aware = False

    def __init__(
        self,
        p: str | float | Fraction,
        *,
        max_sleep_ms: int = 900,
        beacon_interval_ns: int = 100_000_000,
        policy: str = "bsd-phase",
    ) -> None:
        slowdown = positive_fraction(policy, p)
        self.spec = f"{policy}:{number_text(float(slowdown))}"
        self._interval_ns = beacon_interval_ns
        self._max_beacons = whole_beacons(max_sleep_ms, beacon_interval_ns)
        self._one, self._more = slowdown.denominator, slowdown.denominator + slowdown.numerator  # their ratio is 1 + p
        self._least_ns = -(-self._more // slowdown.numerator)  # a beacon this long after the send is slept to

    def plan(self, view: View) -> Plan:
        """Sleep as far as the bound allows now, or hold until it allows the next beacon."""
        interval, now, sent = self._interval_ns, view.now_ns, view.last_sent_ns
        following = (now // interval + 1) * interval
        if sent is None:
            return self._sleep(now, following, self._max_beacons)
        latest = sent + self._more * (now - sent) // self._one
        if latest >= following:
            return self._sleep(now, following, (latest - following) // interval + 1)
        if following - sent < self._least_ns:  # a nanosecond's sleep is none
            following = -(-(sent + self._least_ns) // interval) * interval
        hold = sent - (-(following - sent) * self._one // self._more)
        return Plan(hold, following, True)

    def _sleep(self, now: int, following: int, beacons: int) -> Plan:
        interval = self._interval_ns
        if beacons >= self._max_beacons:  # t only grows until the next send: the cap stays
            longest = self._max_beacons * interval
            return Plan(now, following - interval + longest, True, longest)
        return Plan(now, following + (beacons - 1) * interval, True)
