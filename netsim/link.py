"""A simplex link: first in, first out, one packet on the wire at a time, constant propagation.

A link needs no process of its own.  Because nothing overtakes, the instant at
which a packet has arrived follows from two numbers: when the link is free, and
how long the packet takes.  Loss, queue limits and medium contention are not
part of a link (loss on the air is drawn by the access point and the station).
"""

from __future__ import annotations

from math import gcd

__all__ = ["Link"]

_NS_PER_BYTE_AT_1_BIT_PER_S = 8_000_000_000


class Link:
    """One direction of a wire or of the air.

    Parameters
    ----------
    rate_bps : int
        Bits a second, at least 1.
    delay_ns : int
        Propagation, nanoseconds, at least 0.

    Attributes
    ----------
    free_ns : int
        The instant from which the transmitter is idle.
    busy_ns : int
        Total time spent transmitting so far ("air time").

    >>> wire = Link(rate_bps=10_000_000, delay_ns=20_000_000)
    >>> wire.transmit(0, 1500), wire.transmit(0, 40)
    (21200000, 21232000)
    """

    __slots__ = ("_denominator", "_numerator", "busy_ns", "delay_ns", "free_ns")

    @property
    def ns_per_byte(self) -> tuple[int, int]:
        """Numerator and denominator of the time that a byte takes."""
        return self._numerator, self._denominator

    def __init__(self, rate_bps: int, delay_ns: int) -> None:
        common = gcd(_NS_PER_BYTE_AT_1_BIT_PER_S, rate_bps)
        self._numerator = _NS_PER_BYTE_AT_1_BIT_PER_S // common
        self._denominator = rate_bps // common
        self.delay_ns = delay_ns
        self.free_ns = 0
        self.busy_ns = 0

    def transmit(self, now_ns: int, size_bytes: int) -> int:
        """Queue a packet at `now_ns`; return the instant at which its last bit has arrived."""
        duration = size_bytes * self._numerator // self._denominator
        self.busy_ns += duration
        free = self.free_ns
        self.free_ns = free = (free if free > now_ns else now_ns) + duration
        return free + self.delay_ns
