"""Bounded Slowdown: never make a response more than (1 + p) times as slow.

With t the time since the client last sent something: stay awake until
t = T_bp / p, sleep to the next beacon, and at each wake-up that finds nothing
sleep for max(1, floor(p t / T_bp)) beacons, up to a cap.  Whatever the response
time R, waiting then adds at most p R.  Source: Krashinsky and Balakrishnan 2002,
as described in thesis section 2.5.2; the cap keeps a sleep below the classical
minimum TCP time-out of one second.
"""

from __future__ import annotations

from fractions import Fraction

from netsim.policies.protocol import Plan, View

__all__ = ["BoundedSlowdown", "number_text", "positive_fraction", "whole_beacons"]

_NS_PER_MS = 1_000_000


class BoundedSlowdown:
    """The policy `bsd:P`.

    Parameters
    ----------
    p : str, float or Fraction
        The slowdown allowed, positive; exact: 0.1 and "0.1" are one tenth.
    max_sleep_ms : int
        Longest sleep, at least a beacon interval; rounded down to whole ones.
    beacon_interval_ns : int
        Time between beacons, T_bp.

    Notes
    -----
    Instants are compared in integers: p is a fraction, not a float.  Before anything was sent, t counts as
    infinite, and the longest sleep is taken.
    """

    host_aware = False

    def __init__(
        self, p: str | float | Fraction, *, max_sleep_ms: int = 900, beacon_interval_ns: int = 100_000_000
    ) -> None:
        slowdown = positive_fraction("bsd", p)
        self.spec = f"bsd:{number_text(float(slowdown))}"
        self._interval_ns = beacon_interval_ns
        self._max_beacons = whole_beacons(max_sleep_ms, beacon_interval_ns)
        self._numerator, self._denominator = slowdown.numerator, slowdown.denominator
        self._hold_ns = -(-beacon_interval_ns * self._denominator // self._numerator)  # T_bp / p, rounded up

    def plan(self, view: View) -> Plan:
        """Hold, then sleep in proportion to the silence."""
        interval, now = self._interval_ns, view.now_ns
        if view.last_sent_ns is None:
            return self._sleep(now, self._max_beacons)
        since = now - view.last_sent_ns
        if since < self._hold_ns:
            hold = view.last_sent_ns + self._hold_ns
            return Plan(hold, (hold // interval + 1) * interval, True)
        return self._sleep(now, max(1, since * self._numerator // (self._denominator * interval)))

    @property
    def integers(self) -> tuple[int, int, int, int]:
        """Numerator and denominator of p, time awake after a send (ns), and longest sleep (beacons)."""
        return self._numerator, self._denominator, self._hold_ns, self._max_beacons

    def _sleep(self, now: int, beacons: int) -> Plan:
        interval = self._interval_ns
        if beacons >= self._max_beacons:  # t only grows until the next send: the cap stays
            longest = self._max_beacons * interval
            return Plan(now, now // interval * interval + longest, True, longest)
        return Plan(now, (now // interval + beacons) * interval, True)


def number_text(value: float) -> str:
    """Return a number as it stands in a policy's name: with all its digits, and none that are not needed.

    >>> number_text(1.0), number_text(0.05), number_text(1.0000001)
    ('1', '0.05', '1.0000001')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def positive_fraction(policy: str, p: str | float | Fraction) -> Fraction:
    """Return p as an exact fraction above 0.

    Raises
    ------
    ValueError
        If it is no number above 0.
    """
    text = str(p)
    try:
        if "e" in text.lower() and not 1e-99 < float(text) < 1e99:  # as a fraction it could fill the memory
            raise ValueError
        exact = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"p of {policy} must be a number above 0, got {p!r}") from None
    if exact <= 0:
        raise ValueError(f"p of {policy} must be above 0, got {p}")
    return exact


def whole_beacons(max_sleep_ms: int, beacon_interval_ns: int) -> int:
    """Return how many beacon intervals the longest sleep lasts.

    Raises
    ------
    ValueError
        If it lasts none.
    """
    beacons = max_sleep_ms * _NS_PER_MS // beacon_interval_ns
    if beacons < 1:
        raise ValueError(f"max_sleep_ms must be at least one beacon interval, got {max_sleep_ms}")
    return beacons
