"""What can be set in the explorer: one position of all the controls, and the limits of each."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Self

from experiments.presets import BATTERY_MWH, LEARNED, TODAY
from experiments.quantities import Row
from experiments.report.comparison import MOST_LATE_S
from netsim.policies import split

DEFAULT_POLICIES = ("psm", "listen:3", "dynamic:100", "bsd:1", "bsd:0.5", "lpsm:log", LEARNED, "hold:50")
SERVERS = ("recorded", "constant", "exponential", "lognormal")
NUMBERS: dict[str, tuple[str, float, float, float]] = {
    "pages": ("Pages a seed", 1, 200, 1),
    "seeds": ("Seeds", 1, 20, 1),
    "server_s": ("Mean time of a server [s]", 0, 2, 0.05),
    "rtt_ms": ("Round trip [ms]", 0, 400, 1),
    "beacon_ms": ("Time between beacons [ms]", 50, 400, 0.4),  # 100 and 102.4 are among them
    "dtim_period": ("DTIM period [beacons]", 1, 20, 1),
    "max_slowdown": ("Limit of the mean slowdown", 1, 3, 0.01),
    "max_late_s": ("Limit of late messages, p95 [s]", 0, 120, 0.1),
    "battery_mwh": ("Battery [mWh]", 100, 50_000, 100),
}
"""Each number to its words, ends, and the step of its slider."""
LIMITS = ("max_slowdown", "max_late_s", "battery_mwh")  # change what is said of runs, and no run
_LONGEST, _MOST_POLICIES = 200, 12  # characters of a text, or of the name of a policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One position of all the controls; numbers lie between the ends in `NUMBERS`."""

    pages: int = 20  #: of the Web model, for each seed; few enough to answer in a second
    seeds: int = 5
    server: str = "recorded"  #: how its time is distributed; "recorded" has those of the pages, or of a trace
    server_s: float = 0.2  #: its mean
    rtt_ms: float = 1000 * TODAY["rtt"]
    radio: str = TODAY["radio"]
    beacon_ms: float = TODAY["beacon_ms"]
    dtim_period: int = TODAY["dtim_period"]
    max_slowdown: float = 1.1
    max_late_s: float = MOST_LATE_S  #: what a policy may add to one of twenty messages
    battery_mwh: float = BATTERY_MWH
    policies: tuple[str, ...] = DEFAULT_POLICIES  #: beside no power saving, which is always there

    def __post_init__(self) -> None:
        for name, (_, low, high, _) in NUMBERS.items():
            if not low <= (value := getattr(self, name)) <= high:
                raise ValueError(f"{name} must lie in [{low:g}, {high:g}], got {value}")
        if self.server not in SERVERS:
            raise ValueError(f"server must be one of {', '.join(SERVERS)}, got {self.server!r}")
        if not 1 <= len(self.policies) <= _MOST_POLICIES:
            raise ValueError(f"policies must name 1 to {_MOST_POLICIES} policies, got {len(self.policies)}")
        for text in (self.radio, *self.policies):
            if len(text) > _LONGEST:
                raise ValueError(f"a radio or a policy must have at most {_LONGEST} characters, got {len(text)}")

    def changed(self, query: Mapping[str, str]) -> Self:
        """Return these settings with what the query of a link says; names that it does not know are passed over.

        A value that is no number where one is needed, too long or out of its range is a `ValueError`.  ``psm:100`` is
        static PSM, at any interval.
        """
        given: Row = {}
        for field in fields(self):
            value = query.get(field.name, "").strip()
            if field.name == "policies" and field.name in query:
                given["policies"] = named(split(value))
            elif value:
                try:
                    given[field.name] = type(getattr(self, field.name))(value)
                except ValueError:
                    raise ValueError(f"{field.name} must be a number, got {value[:_LONGEST]!r}") from None
        return replace(self, **given)

    @property
    def of_runs(self) -> Self:
        """These settings with the limits at their defaults: what runs depend on."""
        start: Row = {field.name: field.default for field in fields(self) if field.name in LIMITS}
        return replace(self, **start)

    @property
    def beacon_interval_ns(self) -> int:
        """Time between beacons, nanoseconds."""
        return round(self.beacon_ms * 1e6)


def named(policies: list[str]) -> tuple[str, ...]:
    """Return names of policies, each once; static PSM has no interval of its own, and no power saving no box."""
    names = ("psm" if name == "psm:100" else name for name in policies)
    return tuple(dict.fromkeys(name for name in names if name not in ("", "none")))
