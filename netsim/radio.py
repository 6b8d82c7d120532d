"""What the radio costs: power awake and asleep, energy a beacon, energy and time a wake-up.

Two states and two events.  The states and the beacon are those of thesis section 2.5.4; a
wake-up, counted at every passage from asleep to awake, is charged for its ramps, which the
thesis takes for nothing.  Transmitting, receiving and idling awake draw the same power, and
nothing waits for a ramp: its time is charged, not added to a latency.  Profiles with their
sources are data (`netsim/data/radios.toml`); one's own is a TOML file with the same figures.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

__all__ = ["Energy", "RadioConfig", "profiles"]

_J_PER_MW_NS = 1e-12
_NEEDED = ("awake_mw", "asleep_mw", "beacon_mj")
_WORDS = ("name", "source")


@dataclass(frozen=True, slots=True, kw_only=True)
class RadioConfig:
    """Power and energy figures; the defaults are those of thesis section 2.5.4.

    Attributes
    ----------
    awake_mw, asleep_mw : float
        Power in the two states, milliwatts; awake must be no less than asleep.
    beacon_mj : float
        Energy for waking up to listen to one beacon, its ramps included, millijoules.
    wakeup_mj : float
        Energy of the ramps of a wake-up, up and down, beyond what the two states draw, millijoules.
    wakeup_ms : float
        Time a wake-up spends at the power of being awake beyond the time it is needed, milliseconds.
    """

    awake_mw: float = 750.0
    asleep_mw: float = 50.0
    beacon_mj: float = 1.5
    wakeup_mj: float = 0.0
    wakeup_ms: float = 0.0

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            if not 0.0 <= value < float("inf"):
                raise ValueError(f"{name} must be at least 0 and finite, got {value}")
        if self.awake_mw < self.asleep_mw:
            raise ValueError(f"awake_mw must be at least asleep_mw ({self.asleep_mw}), got {self.awake_mw}")

    @classmethod
    def profile(cls, name: str) -> RadioConfig:
        """Return a radio of the package by name; `profiles()` lists them with their sources.

        Raises
        ------
        ValueError
            If there is none of this name; the nearest is suggested.
        """
        known = profiles()
        if name not in known:
            near = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
            hint = f", did you mean {near[0]}?" if near else ""
            raise ValueError(f"a radio must be one of {', '.join(known)} or a TOML file, got {name!r}{hint}")
        return _checked(known[name], name)

    @classmethod
    def load(cls, path: str | Path) -> RadioConfig:
        """Read a radio from a TOML file: awake_mw, asleep_mw, beacon_mj, and perhaps wakeup_mj, wakeup_ms, source.

        Raises
        ------
        ValueError
            If it is no TOML, a figure is missing, unknown, no number, or breaks its rule.
        OSError
            If it cannot be read.
        """
        try:
            figures = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path}: a radio must be TOML: {error}") from None
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: a radio must be TOML in UTF-8: byte {error.start}: {error.reason}") from None
        return _checked(figures, str(path))

    @classmethod
    def named(cls, name_or_file: str) -> RadioConfig:
        """Return the profile of this name, or else read the file (what ends in .toml, or exists).

        Raises
        ------
        ValueError, OSError
            As `profile` and `load` do.
        """
        if name_or_file in profiles():
            return cls.profile(name_or_file)
        if name_or_file.endswith(".toml") or Path(name_or_file).is_file():
            return cls.load(name_or_file)
        return cls.profile(name_or_file)

    def energy(self, awake_ns: int, asleep_ns: int, beacons: int, pages: int = 1, *, wakeups: int = 0) -> Energy:
        """Return the energy of so much time awake and asleep, beacons listened to from sleep, and wake-ups."""
        awake_j = self.awake_mw * awake_ns * _J_PER_MW_NS
        sleep_j = self.asleep_mw * asleep_ns * _J_PER_MW_NS
        listen_j = self.beacon_mj * beacons * 1e-3
        wakeup_j = self.wakeup_j * wakeups
        total_j = awake_j + sleep_j + listen_j + wakeup_j
        return Energy(
            awake_j=awake_j,
            sleep_j=sleep_j,
            listen_j=listen_j,
            wakeup_j=wakeup_j,
            total_j=total_j,
            per_page_j=total_j / pages,
        )

    def least_j(self, elapsed_s: float, awake_s: float) -> float:
        """Return the joules of being awake for so long out of `elapsed_s`, and asleep for the rest, at no other cost.

        With the larger of the two air times of the run without power saving this is `limit`, with the
        latencies of its pages `page-awake`.
        """
        return (self.asleep_mw * elapsed_s + (self.awake_mw - self.asleep_mw) * awake_s) * 1e-3

    @property
    def wakeup_j(self) -> float:
        """Joules of one wake-up beyond what the two states draw."""
        return self.wakeup_mj * 1e-3 + (self.awake_mw - self.asleep_mw) * self.wakeup_ms * 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Energy:
    """Joules of a run, by what they went into; `per_page_j` is the total over the number of pages."""

    awake_j: float
    sleep_j: float
    listen_j: float
    wakeup_j: float
    total_j: float
    per_page_j: float


@cache
def profiles() -> Mapping[str, Mapping[str, Any]]:
    """Return the radios of the package: name to figures and source.

    >>> RadioConfig.profile("thesis") == RadioConfig()
    True
    """
    return tomllib.loads((files("netsim") / "data" / "radios.toml").read_text(encoding="utf-8"))


def _checked(figures: Mapping[str, Any], where: str) -> RadioConfig:
    known = [field.name for field in fields(RadioConfig)]
    for name, value in figures.items():
        if name not in (*known, *_WORDS):
            near = get_close_matches(name, known, n=1)
            hint = f", did you mean {near[0]}?" if near else ""
            raise ValueError(f"radio {where}: figures must be among {', '.join(known)}, got {name!r}{hint}")
        if name in known and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ValueError(f"radio {where}: {name} must be a number, got {value!r}")
        if name in _WORDS and not isinstance(value, str):
            raise ValueError(f"radio {where}: {name} must be text, got {value!r}")
    for name in _NEEDED:
        if name not in figures:
            raise ValueError(f"radio {where}: {name} must be given, it is missing")
    try:
        return RadioConfig(**{name: float(figures[name]) for name in known if name in figures})
    except ValueError as error:
        raise ValueError(f"radio {where}: {error}") from None
