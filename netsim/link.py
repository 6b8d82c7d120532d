"""A simplex link: first in, first out, one packet on the wire at a time, constant propagation.

A link needs no process of its own.  Because nothing overtakes, the instant at
which a packet has arrived follows from two numbers: when the link is free, and
how long the packet takes.  Loss, queue limits and medium contention are not
part of a link (loss on the air is drawn by the access point and the station).
"""

from __future__ import annotations

from math import gcd

__all__ = ["Line", "Link"]

_NS_PER_BYTE_AT_1_BIT_PER_S = 8_000_000_000


class Line:
    """What links share that lie on one wire or one channel: since when it is free, nanoseconds."""

    __slots__ = ("free_ns",)

    def __init__(self) -> None:
        self.free_ns = 0


class Link:
    """One direction of a wire or of the air, as one client uses it.

    Parameters
    ----------
    rate_bps : int
        Bits a second, at least 1.
    delay_ns : int
        Propagation, nanoseconds, at least 0.
    line : Line, optional
        What is shared with other clients; by default this link is alone.

    Attributes
    ----------
    busy_ns : int
        Total time spent transmitting on this link so far ("air time").

    >>> wire = Link(rate_bps=10_000_000, delay_ns=20_000_000)
    >>> wire.transmit(0, 1500), wire.transmit(0, 40)
    (21200000, 21232000)
    """

    __slots__ = ("_denominator", "_line", "_numerator", "busy_ns", "delay_ns")

    def __init__(self, rate_bps: int, delay_ns: int, line: Line | None = None) -> None:
        common = gcd(_NS_PER_BYTE_AT_1_BIT_PER_S, rate_bps)
        self._numerator = _NS_PER_BYTE_AT_1_BIT_PER_S // common
        self._denominator = rate_bps // common
        self._line = Line() if line is None else line
        self.delay_ns = delay_ns
        self.busy_ns = 0

    @property
    def ns_per_byte(self) -> tuple[int, int]:
        """Numerator and denominator of the time that a byte takes."""
        return self._numerator, self._denominator

    @property
    def free_ns(self) -> int:
        """The instant from which the line is idle."""
        return self._line.free_ns

    @free_ns.setter
    def free_ns(self, at_ns: int) -> None:
        self._line.free_ns = at_ns

    def beside(self) -> Link:
        """Return a link on the same line, for another client."""
        rate_bps = _NS_PER_BYTE_AT_1_BIT_PER_S * self._denominator // self._numerator
        return Link(rate_bps, self.delay_ns, self._line)

    def transmit(self, now_ns: int, size_bytes: int) -> int:
        """Queue a packet at `now_ns`; return the instant at which its last bit has arrived."""
        duration = size_bytes * self._numerator // self._denominator
        self.busy_ns += duration
        line = self._line
        free = line.free_ns
        line.free_ns = free = (free if free > now_ns else now_ns) + duration
        return free + self.delay_ns
