"""What can be set in the explorer, and its other forms: a link, a command line."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import parse_qs, urlencode

import netsim
from experiments.presets import LEARNED, TODAY

__all__ = ["DEFAULT_POLICIES", "Settings"]

DEFAULT_POLICIES = ("psm", "listen:3", "dynamic:100", "bsd:1", "bsd:0.5", "lpsm:log", LEARNED, "hold:50")
_LONGEST = 200  # characters of a text, or of the name of a policy
_MOST_POLICIES = 12
_SERVERS = ("constant", "exponential", "lognormal", "recorded")
_LIMITS = {
    "pages": (1, 200), "seeds": (1, 20), "server_s": (0.0, 5.0), "rtt_ms": (1.0, 1000.0), "beacon_ms": (20.0, 1000.0),
    "page": (1, 200),
}  # fmt: skip
_EVERY_BEACON = {"psm:100": "psm"}  # static PSM at the default interval is meant at any


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One position of all the controls.

    Attributes
    ----------
    pages, seeds : int
        Pages of the Web model for each seed, 1 to 200, and seeds, 1 to 20 (of a trace: what it has).
    server : {"constant", "exponential", "lognormal", "recorded"}
        How the server's delay is distributed; "recorded", the default for a trace, takes its round trips, too.
    server_s : float
        Its mean, seconds, 0 to 5, unless it is recorded.
    rtt_ms : float
        Round-trip time, milliseconds, 1 to 1000, unless it is recorded.
    radio : str
        A radio of the package, or the two figures ``AWAKE_MW/ASLEEP_MW``.
    beacon_ms : float
        Time between beacons, milliseconds, 20 to 1000.
    policies : tuple of str
        At most 12, beside no power saving, which is always there.
    page : int
        Which page the timeline shows, from 1.
    """

    pages: int = 100
    seeds: int = 10
    server: str = "lognormal"
    server_s: float = 0.2
    rtt_ms: float = 40.2
    radio: str = TODAY["radio"]
    beacon_ms: float = 100.0
    policies: tuple[str, ...] = DEFAULT_POLICIES
    page: int = 2

    def __post_init__(self) -> None:
        for name, (low, high) in _LIMITS.items():
            if not low <= (value := getattr(self, name)) <= high:
                raise ValueError(f"{name} must lie in [{low}, {high}], got {value}")
        if self.server not in _SERVERS:
            raise ValueError(f"server must be one of {', '.join(_SERVERS)}, got {self.server!r}")
        if not 1 <= len(self.policies) <= _MOST_POLICIES:
            raise ValueError(f"policies must name 1 to {_MOST_POLICIES} policies, got {len(self.policies)}")
        for policy in self.policies:
            netsim.canonical(policy, beacon_interval_ns=self.beacon_interval_ns)
        netsim.RadioConfig.profile(self.radio)

    @classmethod
    def of_link(cls, query: str, server: str = "lognormal") -> Settings:
        """Return the settings that the query of a link carries; what it does not name is the default.

        `server` is that of a link which names none.  A value that is no number where one is needed, too long or out of
        its range is a `ValueError`; unknown names are passed over.
        """
        values = {name: ",".join(given) for name, given in parse_qs(query.lstrip("?"), keep_blank_values=True).items()}
        given: dict[str, Any] = {"server": server}
        for field in fields(cls):
            value = values.get(field.name, "").strip()
            if field.name == "policies" and field.name in values:
                given["policies"] = tuple(
                    dict.fromkeys(_short("a policy", name) for name in netsim.policies.split(value) if name)
                )
            elif field.type == "str" and value:
                given[field.name] = _short(field.name, value)
            elif value:
                try:
                    given[field.name] = (int if field.type == "int" else float)(value)
                except (ValueError, OverflowError):
                    raise ValueError(f"{field.name} must be a number, got {value[:_LONGEST]!r}") from None
        if given.get("beacon_ms", 100.0) != 100.0 and "policies" in given:
            given["policies"] = tuple(dict.fromkeys(_EVERY_BEACON.get(name, name) for name in given["policies"]))
        return cls(**given)

    @property
    def link(self) -> str:
        """The query that carries what is not the default, with its question mark."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        changed = {name: value for name, value in values.items() if value != getattr(Settings(), name)}
        written = {
            name: ",".join(value) if name == "policies" else f"{value:g}" if isinstance(value, float) else value
            for name, value in changed.items()
        }
        return "?" + urlencode(written, safe=":,") if written else ""

    @property
    def beacon_interval_ns(self) -> int:
        """Time between beacons, nanoseconds."""
        return round(self.beacon_ms * 1e6)

    @property
    def server_delay(self) -> str:
        """The server's delay as options write it."""
        if self.server == "recorded":
            return self.server
        return f"{self.server_s:g}" if self.server == "constant" else f"{self.server}:{self.server_s:g}"

    @property
    def config(self) -> netsim.SimulationConfig:
        """The world."""
        link = netsim.LinkConfig()
        wired_ms = round(max(self.rtt_ms / 2 - link.wireless_delay_ms, 0.0), 6)
        return netsim.SimulationConfig(
            link=link if self.server == "recorded" else netsim.LinkConfig(wired_delay_ms=wired_ms),
            radio=netsim.RadioConfig.profile(self.radio),
            server_delay=netsim.ServerDelay.parse(self.server_delay),
            beacon_interval_ns=self.beacon_interval_ns,
        )

    def command(self, trace: str | None = None) -> str:
        """Return the command line of the same comparison."""
        options = {"trace": trace} if trace else {"pages": str(self.pages), "seeds": str(self.seeds)}
        options |= {"policies": ",".join(("none", *self.policies)), "server-delay": self.server_delay}
        options |= {} if self.server == "recorded" else {"rtt": f"{self.rtt_ms / 1000:g}"}
        options |= {"radio": self.radio, "beacon-ms": f"{self.beacon_ms:g}", "out": "explored"}
        return shlex.join(
            ["lpsm", "compare", *(word for name, value in options.items() for word in (f"--{name}", value))]
        )


def _short(name: str, value: str) -> str:
    if len(value) > _LONGEST:
        raise ValueError(f"{name} must have at most {_LONGEST} characters, got {len(value)}")
    return value
