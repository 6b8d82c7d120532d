"""What the radio costs: power awake and asleep, and energy a beacon.

Two states and one event, as in thesis section 2.5.4.  Transmitting, receiving
and idling awake draw the same power; waking up takes no time and no energy.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Energy", "RadioConfig"]

_J_PER_MW_NS = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class RadioConfig:
    """Power and energy figures; the defaults are those of thesis section 2.5.4.

    Attributes
    ----------
    awake_mw, asleep_mw : float
        Power in the two states, milliwatts; awake must be no less than asleep.
    beacon_mj : float
        Energy for waking up to listen to one beacon, millijoules.
    """

    awake_mw: float = 750.0
    asleep_mw: float = 50.0
    beacon_mj: float = 1.5

    def __post_init__(self) -> None:
        for name in ("awake_mw", "asleep_mw", "beacon_mj"):
            value = getattr(self, name)
            if not 0.0 <= value < float("inf"):
                raise ValueError(f"{name} must be at least 0 and finite, got {value}")
        if self.awake_mw < self.asleep_mw:
            raise ValueError(f"awake_mw must be at least asleep_mw ({self.asleep_mw}), got {self.awake_mw}")

    def energy(self, awake_ns: int, asleep_ns: int, beacons: int, pages: int = 1) -> Energy:
        """Return the energy of so much time awake, so much asleep, and so many beacons listened to from sleep."""
        awake_j = self.awake_mw * awake_ns * _J_PER_MW_NS
        sleep_j = self.asleep_mw * asleep_ns * _J_PER_MW_NS
        listen_j = self.beacon_mj * beacons * 1e-3
        total_j = awake_j + sleep_j + listen_j
        return Energy(awake_j=awake_j, sleep_j=sleep_j, listen_j=listen_j, total_j=total_j, per_page_j=total_j / pages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Energy:
    """Joules of a run, by what they went into; `per_page_j` is the total over the number of pages."""

    awake_j: float
    sleep_j: float
    listen_j: float
    total_j: float
    per_page_j: float
