"""Bounded Slowdown: never make a response more than (1 + p) times as slow.

With t the time since the client last sent something: stay awake until
t = T_bp / p, sleep to the next beacon, and at each wake-up that finds nothing
sleep for max(1, floor(p t / T_bp)) beacons, up to a cap.  Whatever the response
time R, waiting then adds at most p R.  Source: Krashinsky and Balakrishnan 2002,
as described in thesis section 2.5.2; the cap keeps a sleep below the classical
minimum TCP timeout of one second.
"""

from __future__ import annotations

from fractions import Fraction

from netsim.policies.compiled import CompiledForm, FlatView, Floats, Ints, flat_view
from netsim.policies.entry import NS_PER_MS, Entry, Setting
from netsim.policies.protocol import FOREVER_NS, Plan, View
from netsim.whole_numbers import whole

__all__ = ["ENTRIES", "BoundedSlowdown", "number_text", "positive_fraction", "whole_beacons"]

_LARGEST = Fraction(10**99)  # and its inverse the least: no float overflows
INTERVAL, MAX_BEACONS, SILENCE = 0, 1, 2  # at SILENCE + k - 1 begins the silence after which to sleep k beacons


def _sleep_in_proportion(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Hold, then sleep in proportion to the silence."""
    interval, longest, now, sent = ints[INTERVAL], ints[MAX_BEACONS], view.now_ns, view.last_sent_ns
    beacons = longest
    if sent >= 0:
        silence = now - sent
        if silence < ints[SILENCE]:
            hold = sent + ints[SILENCE]
            return Plan(hold, (hold // interval + 1) * interval, True, 0, False)
        beacons = 1
        while beacons < longest and silence >= ints[SILENCE + beacons]:
            beacons += 1
    # the silence only grows until the next send: the longest sleep stays the longest
    repeat = longest * interval if beacons == longest else 0 * interval
    return Plan(now, (now // interval + beacons) * interval, True, repeat, False)


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
    Instants are compared in integers: p is a fraction, not a float.  To sleep k beacons is right once p t >= k T_bp, so
    the least such t of every k says it all.  Before anything was sent, t counts as infinite, and the longest sleep is
    taken.
    """

    host_aware = False

    def __init__(
        self, p: str | float | Fraction, *, max_sleep_ms: int = 900, beacon_interval_ns: int = 100 * NS_PER_MS
    ) -> None:
        beacon_interval_ns = whole("beacon_interval_ns", beacon_interval_ns)
        slowdown = positive_fraction("bsd", p)
        self.spec = f"bsd:{number_text(float(slowdown))}"
        max_beacons = whole_beacons(max_sleep_ms, beacon_interval_ns)
        up, down = slowdown.numerator, slowdown.denominator
        silences = (min(-(-k * beacon_interval_ns * down // up), FOREVER_NS) for k in range(1, max_beacons + 1))
        self._ints = beacon_interval_ns, max_beacons, *silences
        self.compiled = CompiledForm(_sleep_in_proportion, ints=self._ints)

    def plan(self, view: View) -> Plan:
        """Hold, then sleep in proportion to the silence."""
        return _sleep_in_proportion(flat_view(view), self._ints, ())


def number_text(value: float) -> str:
    """Return a number as it stands in a policy's name: with all its digits, and none that are not needed.

    >>> number_text(1.0), number_text(0.05), number_text(1.0000001)
    ('1', '0.05', '1.0000001')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def positive_fraction(policy: str, p: str | float | Fraction) -> Fraction:
    """Return p as an exact fraction.

    Raises
    ------
    ValueError
        If it is no number, or not from 1e-99 to 1e99.
    """
    text = str(p)
    try:
        if "e" in text.lower() and not 1e-100 < float(text) < 1e100:  # as a fraction it could fill the memory
            raise ValueError
        exact = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"p of {policy} must be a number above 0, got {p!r}") from None
    if exact <= 0:
        raise ValueError(f"p of {policy} must be above 0, got {p}")
    if not 1 / _LARGEST <= exact <= _LARGEST:
        raise ValueError(f"p of {policy} must be from 1e-99 to 1e99, got {p}")
    return exact


def whole_beacons(max_sleep_ms: int, beacon_interval_ns: int) -> int:
    """Return how many beacon intervals the longest sleep lasts.

    Raises
    ------
    ValueError
        If it lasts none.
    """
    beacons = whole("max_sleep_ms", max_sleep_ms) * NS_PER_MS // beacon_interval_ns
    if beacons < 1:
        raise ValueError(f"max_sleep_ms must be at least one beacon interval, got {max_sleep_ms}")
    return beacons


def _bsd(parameter: str, setting: Setting) -> BoundedSlowdown:
    return BoundedSlowdown(parameter or "1", beacon_interval_ns=setting.beacon_interval_ns)


ENTRIES = (
    Entry(
        written="bsd[:P]",
        meaning="Bounded Slowdown: a response is at most 1 + P times as slow (default 1)",
        source="Krashinsky and Balakrishnan 2002; thesis section 2.5.2",
        example="bsd:0.5",
        make=_bsd,
    ),
)
