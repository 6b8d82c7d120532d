"""What the radio costs: a radio of two states (the thesis') or one of five states, and where its energy went.

`RadioConfig` has two states and two events.  The states and the beacon are those of thesis section
2.5.4; a wake-up, counted at every passage from asleep to awake, is charged for its ramps, which the
thesis takes for nothing.  Transmitting, receiving and idling awake draw the same power, and
nothing waits for a ramp: its time is charged, not added to a latency.

`StateRadioConfig` has the states doze, waking, listening, receiving and transmitting, each with a power, and waking up
takes time.  On the shared air (`netsim.model.air`) its energy is the sum over its states, and the energy of a beacon
follows from them.  On a pair of wires it is charged like a radio of two states, with the figures that its states imply.

Profiles with their sources are data (`netsim/data/radios.toml`); a radio of one's own is a TOML file with the
same figures.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from importlib.resources import files
from os import fspath
from os.path import isfile
from pathlib import Path
from typing import Any, NamedTuple

from lpsm.checks import at_least, known, non_negative, positive, shown

_J_PER_MW_NS = 1e-12
_MOST = 1e9  # of a figure in a file, which may be an integer of any length
_LARGEST_FILE_BYTES = 1 << 16
_WORDS = ("name", "source", "assumed")
_MOST_J = 1e30


@dataclass(frozen=True, slots=True, kw_only=True)
class Energy:
    """Joules of a run, by what they went into; `per_page_j` is the total over the number of pages."""

    awake_j: float
    sleep_j: float
    listen_j: float
    wakeup_j: float
    total_j: float
    per_page_j: float

    @classmethod
    def of(cls, awake_j: float, sleep_j: float, listen_j: float, wakeup_j: float, pages: int) -> Energy:
        """Return these joules with their sums, which may be arrays; without a page, or beyond a float, a ValueError."""
        for name, value in (("awake_j", awake_j), ("sleep_j", sleep_j), ("listen_j", listen_j), ("wakeup_j", wakeup_j),
                            ("pages", pages)):  # fmt: skip
            if isinstance(value, int) and (abs(value) > _MOST_J or (name == "pages" and value < 1)):
                least = 1 if name == "pages" else -_MOST_J
                raise ValueError(f"{name} must lie in [{least:g}, {_MOST_J:g}], got {shown(value)}")
        total_j = awake_j + sleep_j + listen_j + wakeup_j
        parts = {"awake_j": awake_j, "sleep_j": sleep_j, "listen_j": listen_j, "wakeup_j": wakeup_j}
        return cls(**parts, total_j=total_j, per_page_j=total_j / pages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Radio:
    """A radio of either kind: what both can tell, and where the energy of a run is computed."""

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            at_least(0.0, **{name: value})
        if self.awake_mw < self.asleep_mw:
            raise ValueError(f"awake_mw must be at least asleep_mw ({self.asleep_mw}), got {self.awake_mw}")

    @property
    def awake_mw(self) -> float:
        """Power of being awake and idling, milliwatts."""
        raise NotImplementedError

    @property
    def asleep_mw(self) -> float:
        """Power of being asleep, milliwatts."""
        raise NotImplementedError

    @property
    def beacon_mj(self) -> float:
        """Energy of listening to one beacon from sleep, its ramps included, above that of being asleep, millijoules."""
        raise NotImplementedError

    @property
    def wakeup_ms(self) -> float:
        """Time from being asleep to being awake, milliseconds."""
        raise NotImplementedError

    @property
    def wakeup_j(self) -> float:
        """Energy of one wake-up beyond what being awake and being asleep draw, joules."""
        raise NotImplementedError

    @staticmethod
    def profile(name: str) -> RadioConfig | StateRadioConfig:
        """Return a radio of the package by name; `profiles()` lists them with their sources.

        If there is none of this name the ValueError suggests the nearest.
        """
        known("a radio that is no TOML file", name, profiles())
        return _checked(profiles()[name], name)

    @staticmethod
    def load(path: str | Path) -> RadioConfig | StateRadioConfig:
        """Read a radio from a TOML file: the figures of `RadioConfig`, or those of `StateRadioConfig`, perhaps source.

        Raises
        ------
        ValueError
            If it is no TOML, a figure is missing, unknown, no number, or breaks its rule.
        OSError
            If it cannot be read.
        """
        path = fspath(path)
        if not isfile(path) and Path(path).exists():
            raise ValueError(f"{shown(path)}: a radio must be a regular file of TOML")
        with Path(path).open("rb") as file:
            content = file.read(_LARGEST_FILE_BYTES + 1)
        if len(content) > _LARGEST_FILE_BYTES:
            raise ValueError(f"{path}: a radio must be at most {_LARGEST_FILE_BYTES} bytes of TOML, got more")
        try:
            figures = tomllib.loads(content.decode("utf-8").replace("\r\n", "\n"))
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: a radio must be TOML in UTF-8: byte {error.start}: {error.reason}") from None
        except (ValueError, RecursionError) as error:  # integers of thousands of digits, arrays without end
            raise ValueError(f"{path}: a radio must be TOML: {str(error)[:200]}") from None
        return _checked(figures, str(path))

    @staticmethod
    def named(name_or_file: str) -> RadioConfig | StateRadioConfig:
        """Return the profile of this name, or else read the file (what ends in .toml, or exists), as `load` does."""
        name_or_file = fspath(name_or_file)
        if name_or_file not in profiles() and (name_or_file.endswith(".toml") or isfile(name_or_file)):
            return Radio.load(name_or_file)
        return Radio.profile(name_or_file)

    def energy(self, awake_ns: int, asleep_ns: int, beacons: int, pages: int = 1, *, wakeups: int = 0) -> Energy:
        """Return the energy of so much time awake and asleep, beacons listened to from sleep, and wake-ups."""
        non_negative(awake_ns=awake_ns, asleep_ns=asleep_ns, beacons=beacons, wakeups=wakeups)
        positive(pages=pages)
        awake_j, sleep_j = self.awake_mw * awake_ns * _J_PER_MW_NS, self.asleep_mw * asleep_ns * _J_PER_MW_NS
        return Energy.of(awake_j, sleep_j, self.beacon_mj * beacons * 1e-3, self.wakeup_j * wakeups, pages)

    def total_j(self, awake_ns: Any, asleep_ns: Any, beacons: Any, wakeups: Any) -> Any:
        """Return the total of `energy` for each entry of arrays that are as long as each other, joules."""
        return (
            (self.awake_mw * awake_ns + self.asleep_mw * asleep_ns) * _J_PER_MW_NS
            + self.beacon_mj * beacons * 1e-3
            + self.wakeup_j * wakeups
        )

    def least_j(self, elapsed_s: float, awake_s: float) -> float:
        """Return the joules of being awake for so long out of `elapsed_s`, and asleep for the rest, at no other cost.

        With the larger of the two air times of the run without power saving this is `limit`, with the
        latencies of its pages `page-awake`.
        """
        non_negative(elapsed_s=elapsed_s, awake_s=awake_s)
        return (self.asleep_mw * elapsed_s + (self.awake_mw - self.asleep_mw) * awake_s) * 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class RadioConfig(Radio):
    """A radio of two states; the defaults are those of thesis section 2.5.4."""

    #: power in the two states, milliwatts; awake must be no less than asleep
    awake_mw: float = 750.0
    asleep_mw: float = 50.0
    beacon_mj: float = 1.5  #: energy for waking up to listen to one beacon, its ramps included, millijoules
    #: energy of the ramps of a wake-up, up and down, beyond what the two states draw, millijoules
    wakeup_mj: float = 0.0
    #: time a wake-up spends at the power of being awake beyond the time it is needed, milliseconds
    wakeup_ms: float = 0.0

    @property
    def wakeup_j(self) -> float:
        """Joules of one wake-up beyond what the two states draw."""
        return self.wakeup_mj * 1e-3 + (self.awake_mw - self.asleep_mw) * self.wakeup_ms * 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRadioConfig(Radio):
    """A radio whose energy is the sum over its states, and which needs time to wake up."""

    #: power in the five states, milliwatts.  Waking is the passage from doze to being able to receive, and the passage
    #: back; listening is being able to receive while nothing comes, or a frame for somebody else.
    doze_mw: float
    waking_mw: float
    listening_mw: float
    receiving_mw: float
    transmitting_mw: float
    #: power drawn beside that of the state in every state but doze: the share of a processor, milliwatts
    base_mw: float = 0.0
    #: time from doze to being able to receive or send, and from there back to doze, milliseconds
    wakeup_ms: float = 0.0
    settle_ms: float = 0.0
    #: how long before the target time of a beacon the radio is able to receive, milliseconds
    listen_advance_ms: float = 0.0
    #: largest difference between the clocks of client and access point, parts per million; a client is ready that much
    #: of its sleep earlier
    drift_ppm: float = 0.0
    #: how long beacons last on wires, milliseconds: 196 bytes at 6 Mb/s with ERP-OFDM, or those that it was fitted to
    beacon_ms: float = 0.294

    @property
    def awake_mw(self) -> float:
        """Power of listening, milliwatts."""
        return self.listening_mw + self.base_mw

    @property
    def asleep_mw(self) -> float:
        """Power of doze, milliwatts."""
        return self.doze_mw

    @property
    def beacon_mj(self) -> float:
        """What a beacon of `beacon_ms` that is never late takes above doze: waking, guard, its air time, settling."""
        heard = (self.listening_mw - self.doze_mw + self.base_mw) * self.listen_advance_ms
        heard += (self.receiving_mw - self.doze_mw + self.base_mw) * self.beacon_ms
        return 1e3 * self.wakeup_j + heard * 1e-3

    @property
    def wakeup_j(self) -> float:
        """What the passage from doze and the passage back take above doze, joules."""
        return (self.waking_mw - self.doze_mw + self.base_mw) * (self.wakeup_ms + self.settle_ms) * 1e-6


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
        """Return these times, in the order of `STATES`: numbers, or arrays of them."""
        return cls(**dict(zip(cls.__slots__, values, strict=True)))

    @classmethod
    def read(cls, states: object) -> StateTimes:
        """Return the times of a `netsim.model.entities.States`."""
        return cls.of(getattr(states, name) for name in STATES)

    def energy(self, radio: StateRadioConfig, pages: int) -> Energy:
        """Return what the states cost: `listen_j` is that of beacons, `wakeup_j` that of waking, in joules."""
        base = radio.base_mw
        listening_mw, receiving_mw = radio.listening_mw + base, radio.receiving_mw + base
        beacons = listening_mw * self.beacon_listening_ns + receiving_mw * self.beacon_receiving_ns
        awake = listening_mw * (self.listening_ns - self.beacon_listening_ns)
        awake += receiving_mw * (self.receiving_ns - self.beacon_receiving_ns)
        awake += (radio.transmitting_mw + base) * self.transmitting_ns
        dozing, waking = radio.doze_mw * self.doze_ns, (radio.waking_mw + base) * self.waking_ns
        awake_j, sleep_j, listen_j, wakeup_j = (one * _J_PER_MW_NS for one in (awake, dozing, beacons, waking))
        return Energy.of(awake_j, sleep_j, listen_j, wakeup_j, pages)


STATES = tuple(name.removesuffix("_ns") for name in StateTimes.__slots__)
"""The fields of `netsim.model.entities.States` that `StateTimes` has."""


class RadioEntry(NamedTuple):
    """A radio of the package as lists of radios show it: how it is written, its meaning, its source and an example."""

    written: str
    meaning: str
    source: str
    example: str


def registry() -> Mapping[str, RadioEntry]:
    """Return every radio of the package by name.

    >>> registry()["thesis"].meaning
    'two states: 750 mW awake, 50 mW asleep, 1.5 mJ a beacon'
    """
    return {
        name: RadioEntry(name, _meaning(Radio.profile(name)), str(figures["source"]), f"--radio {name}")
        for name, figures in profiles().items()
    }


@cache
def profiles() -> Mapping[str, Mapping[str, Any]]:
    """Return the radios of the package: name to figures and source.

    >>> Radio.profile("thesis") == RadioConfig()
    True
    """
    return tomllib.loads((files("netsim") / "data" / "radios.toml").read_text(encoding="utf-8"))


def with_assumed(radio: Radio, factor: float) -> Radio:
    """Return a radio of the package whose figures that its table calls assumed are so many times as large.

    Others are returned as they are.
    """
    return replace(radio, **{name: factor * getattr(radio, name) for name in assumed_of(radio)})


def assumed_of(radio: Radio) -> tuple[str, ...]:
    """Return the figures that the table of a radio of the package calls assumed; none of others."""
    found = (figures.get("assumed", "") for figures in profiles().values() if _checked(figures, "") == radio)
    return tuple(name for name in next(found, "").split(", ") if name)


def _meaning(radio: RadioConfig | StateRadioConfig) -> str:
    if isinstance(radio, RadioConfig):
        more = f", {1000 * radio.wakeup_j:.3g} mJ a wake-up" if radio.wakeup_j else ""
        return (
            f"two states: {radio.awake_mw:.4g} mW awake, {radio.asleep_mw:.3g} mW asleep, "
            f"{radio.beacon_mj:.3g} mJ a beacon{more}"
        )
    awake = radio.base_mw + radio.listening_mw
    return (
        f"five states: {radio.doze_mw:.3g} mW dozing, {awake:.4g} mW listening, "
        f"{radio.base_mw + radio.transmitting_mw:.4g} mW transmitting, {radio.wakeup_ms:.3g} ms to wake up"
    )


def _checked(figures: Mapping[str, Any], where: str) -> RadioConfig | StateRadioConfig:
    """Make the radio whose figures are given: one of five states if it has a power of doze, else one of two."""
    kind = StateRadioConfig if "doze_mw" in figures else RadioConfig
    names = [field.name for field in fields(kind)]
    for name, value in figures.items():
        known(f"radio {where}: a figure", name, [*names, *_WORDS])
        if name in _WORDS:
            if not isinstance(value, str):
                raise ValueError(f"radio {where}: {name} must be text, got {value!r}")
        elif isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"radio {where}: {name} must be a number, got {value!r}")
        elif abs(value) > _MOST:
            raise ValueError(f"radio {where}: {name} must lie between 0 and {_MOST:g}, got {str(value)[:20]}")
    needed = [field.name for field in fields(kind) if field.default is MISSING] or names[:3]
    for name in needed:
        if name not in figures:
            raise ValueError(f"radio {where}: {name} must be given, it is missing")
    try:
        return kind(**{name: float(figures[name]) for name in names if name in figures})
    except ValueError as error:
        raise ValueError(f"radio {where}: {error}") from None
