"""How long a radio was in each of its states, and what that cost.

The states are those of `netsim.radio.StateRadioConfig`: doze, waking (the passage from doze and back), listening,
receiving and transmitting.  Time adds up by construction of the account: what is not dozed is spent waking, sending,
receiving, or else listening.  A radio of two states is charged as on wires: awake, asleep, beacons, wake-ups.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace

from netsim.radio import Energy, Radio, StateRadioConfig

__all__ = ["Passages", "RadioAccount", "StateTimes"]

_J_PER_MW_NS = 1e-12
_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """The times between doze and being able to receive, nanoseconds; all zero for a radio of two states."""

    wakeup_ns: int = 0
    settle_ns: int = 0
    guard_ns: int = 0
    drift_ppm: float = 0.0

    @classmethod
    def of(cls, radio: Radio) -> Passages:
        """Return the times of a radio."""
        if not isinstance(radio, StateRadioConfig):
            return cls()
        return cls(
            wakeup_ns=round(radio.wakeup_ms * _NS_PER_MS),
            settle_ns=round(radio.settle_ms * _NS_PER_MS),
            guard_ns=round(radio.listen_advance_ms * _NS_PER_MS),
            drift_ppm=radio.drift_ppm,
        )

    def advance_ns(self, slept_ns: int) -> int:
        """Return how long before a target time the radio is ready to receive, after a sleep of so long."""
        return self.guard_ns + (round(slept_ns * self.drift_ppm * 1e-6) if self.drift_ppm else 0)


@dataclass(slots=True, kw_only=True)
class StateTimes:
    """Nanoseconds in each state; beacons heard from doze and followed by doze apart from everything else.

    Attributes
    ----------
    doze_ns, waking_ns, listening_ns, receiving_ns, transmitting_ns : int
        The five states; their sum is the time of the run.
    beacon_listening_ns, beacon_receiving_ns : int
        The parts of listening and receiving that went into such beacons: guard and lateness, and their air time.
    """

    doze_ns: int = 0
    waking_ns: int = 0
    listening_ns: int = 0
    receiving_ns: int = 0
    transmitting_ns: int = 0
    beacon_listening_ns: int = 0
    beacon_receiving_ns: int = 0

    @property
    def total_ns(self) -> int:
        """The sum of the five states."""
        return self.doze_ns + self.waking_ns + self.listening_ns + self.receiving_ns + self.transmitting_ns

    def minus(self, earlier: StateTimes) -> StateTimes:
        """Return the times since `earlier`."""
        return StateTimes(**{name: getattr(self, name) - getattr(earlier, name) for name in self.__slots__})

    def energy(self, radio: StateRadioConfig, pages: int) -> Energy:
        """Return what the states cost: `listen_j` is that of beacons, `wakeup_j` that of waking, in joules."""
        base = radio.base_mw
        beacons_mw = (radio.listening_mw + base) * self.beacon_listening_ns
        beacons_mw += (radio.receiving_mw + base) * self.beacon_receiving_ns
        awake_mw = (radio.listening_mw + base) * (self.listening_ns - self.beacon_listening_ns)
        awake_mw += (radio.receiving_mw + base) * (self.receiving_ns - self.beacon_receiving_ns)
        awake_mw += (radio.transmitting_mw + base) * self.transmitting_ns
        found = Energy(
            awake_j=awake_mw * _J_PER_MW_NS,
            sleep_j=radio.doze_mw * self.doze_ns * _J_PER_MW_NS,
            listen_j=beacons_mw * _J_PER_MW_NS,
            wakeup_j=(radio.waking_mw + base) * self.waking_ns * _J_PER_MW_NS,
            total_j=0.0,
            per_page_j=0.0,
        )
        total_j = found.awake_j + found.sleep_j + found.listen_j + found.wakeup_j
        return replace(found, total_j=total_j, per_page_j=total_j / pages)


class RadioAccount:
    """When a client's radio dozed and when it was awake.

    Parameters
    ----------
    passages : Passages
        The times that the radio needs.

    Attributes
    ----------
    dozing : bool
        Whether it dozes; at time 0 it is awake.
    awake_since_ns, slept_from_ns : int
        When it last began to wake up, and when it last began to doze or had heard a beacon from doze.
    beacons : int
        Beacons heard from doze.
    wakeups : int
        Passages from doze to being awake for more than a beacon.
    intervals : array of int64
        Closed intervals awake, waking up included: start, end, start, end, ... nanoseconds.
    """

    __slots__ = (
        "_awake_before_ns", "_beacon_listening_ns", "_beacon_receiving_ns", "_beacons_alone", "awake_since_ns",
        "beacons", "dozing", "intervals", "passages", "slept_from_ns", "wakeups",
    )  # fmt: skip

    def __init__(self, passages: Passages) -> None:
        self.passages = passages
        self.dozing = False
        self.awake_since_ns = self.slept_from_ns = self._awake_before_ns = 0
        self.beacons = self.wakeups = self._beacons_alone = 0
        self._beacon_listening_ns = self._beacon_receiving_ns = 0
        self.intervals = array("q")

    def doze(self, at_ns: int) -> None:
        """Doze from `at_ns` on."""
        self.dozing = True
        self.slept_from_ns = at_ns
        if at_ns > self.awake_since_ns:
            self.intervals.extend((self.awake_since_ns, at_ns))
            self._awake_before_ns += at_ns - self.awake_since_ns
        self.awake_since_ns = at_ns

    def wake(self, begin_ns: int) -> int:
        """Begin to wake up for more than a beacon at `begin_ns`, not before having settled; return when it is awake."""
        begin = max(begin_ns, self.slept_from_ns + self.passages.settle_ns)
        self.dozing = False
        self.awake_since_ns = begin
        self.wakeups += 1
        return begin + self.passages.wakeup_ns

    def hear(self, n: int, slept_ns: int, late_ns: int, air_ns: int) -> None:
        """Hear `n` beacons, each after a sleep of so long and followed by doze; they were late by so much in all."""
        self.beacons += n
        self._beacons_alone += n
        self._beacon_listening_ns += n * self.passages.advance_ns(slept_ns) + late_ns
        self._beacon_receiving_ns += n * air_ns

    def hear_more(self, end_ns: int, now_ns: int, air_ns: int) -> None:
        """Hear group frames of so much air time from the end of a beacon to `now_ns`, if it would have dozed since."""
        if self.dozing and self.slept_from_ns < now_ns:
            stayed_ns = now_ns - max(end_ns, self.slept_from_ns)
            received_ns = min(air_ns, stayed_ns)
            self._beacon_receiving_ns += received_ns
            self._beacon_listening_ns += stayed_ns - received_ns
            self.slept_from_ns = now_ns

    def awake_ns(self, now_ns: int) -> int:
        """Return the time in [0, now] that was not dozed; beacons heard from doze count as doze here."""
        if self.dozing:
            return self._awake_before_ns - max(0, self.awake_since_ns - now_ns)
        return self._awake_before_ns + max(0, now_ns - self.awake_since_ns)

    def times(self, now_ns: int, sent_ns: int, received_ns: int) -> StateTimes:
        """Return the time in each state up to `now_ns`, of which so much went into sending and receiving frames."""
        passages, awake = self.passages, self.awake_ns(now_ns)
        up_ns = self.wakeups * passages.wakeup_ns
        waking_ns = up_ns + self.wakeups * passages.settle_ns
        waking_ns += self._beacons_alone * (passages.wakeup_ns + passages.settle_ns)
        beacons_ns = self._beacon_listening_ns + self._beacon_receiving_ns
        return StateTimes(
            doze_ns=now_ns - awake - beacons_ns - (waking_ns - up_ns),
            waking_ns=waking_ns,
            listening_ns=awake - up_ns - sent_ns - received_ns + self._beacon_listening_ns,
            receiving_ns=received_ns + self._beacon_receiving_ns,
            transmitting_ns=sent_ns,
            beacon_listening_ns=self._beacon_listening_ns,
            beacon_receiving_ns=self._beacon_receiving_ns,
        )
