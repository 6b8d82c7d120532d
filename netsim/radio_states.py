"""What the states of a radio cost (`netsim.model.air.radio` has how long it was in each)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from netsim.radio import Energy, StateRadioConfig

__all__ = ["StateTimes"]

_J_PER_MW_NS = 1e-12


@dataclass(slots=True, kw_only=True)
class StateTimes:
    """Nanoseconds in each state; beacons heard from doze and followed by doze apart from everything else."""

    #: the five states; their sum is the time of the run
    doze_ns: int = 0
    waking_ns: int = 0
    listening_ns: int = 0
    receiving_ns: int = 0
    transmitting_ns: int = 0
    #: the parts of listening and receiving that went into such beacons: guard and lateness, and their air time
    beacon_listening_ns: int = 0
    beacon_receiving_ns: int = 0

    @classmethod
    def of(cls, values: Any) -> StateTimes:
        """Return the times that `netsim.model.things.States` holds, in its order: numbers, or arrays of them."""
        return cls(**dict(zip(cls.__slots__, values, strict=True)))

    @property
    def total_ns(self) -> int:
        """The sum of the five states."""
        return self.doze_ns + self.waking_ns + self.listening_ns + self.receiving_ns + self.transmitting_ns

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
