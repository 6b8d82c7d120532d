"""What can be set in the explorer, and its other forms: a link, a command line."""

import shlex
from dataclasses import dataclass, fields
from typing import Self
from urllib.parse import parse_qs, urlencode

import netsim
from experiments.presets import LEARNED, TODAY
from experiments.quantities import Row
from experiments.world import made

DEFAULT_POLICIES = ("psm", "listen:3", "dynamic:100", "bsd:1", "bsd:0.5", "lpsm:log", LEARNED, "hold:50")
SERVERS = ("constant", "exponential", "lognormal", "recorded")
NUMBERS: dict[str, tuple[str, float, float, float]] = {
    "pages": ("Pages a seed", 1, 200, 1),
    "seeds": ("Seeds", 1, 20, 1),
    "server_s": ("Mean delay of the server [s]", 0, 2, 0.05),
    "rtt_ms": ("Round trip [ms]", 5, 400, 0.2),
    "beacon_ms": ("Time between beacons [ms]", 50, 400, 0.4),  # 100 and 102.4 are among them
}
"""Each number to its words, ends and step."""
_LONGEST, _MOST_POLICIES = 200, 12  # characters of a text, or of the name of a policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One position of all the controls; numbers lie between the ends in `NUMBERS`."""

    pages: int = 100  #: of the Web model, for each seed
    seeds: int = 10
    server: str = "recorded"  #: how its delay is distributed; "recorded" has the round trips of a trace
    server_s: float = 0.2  #: its mean
    rtt_ms: float = 1000 * TODAY["rtt"]
    radio: str = TODAY["radio"]  #: of the package, or two figures ``AWAKE_MW/ASLEEP_MW``
    beacon_ms: float = TODAY["beacon_ms"]
    policies: tuple[str, ...] = DEFAULT_POLICIES  #: beside no power saving, which is always there

    def __post_init__(self) -> None:
        for name, (_, low, high, _) in NUMBERS.items():
            if not low <= (value := getattr(self, name)) <= high:
                raise ValueError(f"{name} must lie in [{low}, {high}], got {value}")
        if self.server not in SERVERS:
            raise ValueError(f"server must be one of {', '.join(SERVERS)}, got {self.server!r}")
        if not 1 <= len(self.policies) <= _MOST_POLICIES:
            raise ValueError(f"policies must name 1 to {_MOST_POLICIES} policies, got {len(self.policies)}")
        for text in (self.radio, *self.policies):
            if len(text) > _LONGEST:
                raise ValueError(f"a radio or a policy must have at most {_LONGEST} characters, got {len(text)}")
        for policy in self.policies:
            netsim.canonical(policy, beacon_interval_ns=self.beacon_interval_ns)
        netsim.RadioConfig.profile(self.radio)

    @classmethod
    def of_link(cls, query: str, server: str = "recorded") -> Self:
        """Return the settings that the query of a link carries; what it does not name is the default.

        `server` is that of a link which names none.  A value that is no number where one is needed, too long or out of
        its range is a `ValueError`; unknown names are passed over.  ``psm:100`` is static PSM, at any interval.
        """
        values = {name: ",".join(given) for name, given in parse_qs(query.lstrip("?"), keep_blank_values=True).items()}
        given: Row = {"server": server}
        for field in fields(cls):
            value = values.get(field.name, "").strip()
            if field.name == "policies" and field.name in values:
                names = [name for name in netsim.policies.split(value) if name]
                given["policies"] = tuple(dict.fromkeys("psm" if name == "psm:100" else name for name in names))
            elif value:
                try:
                    kind: type = type(field.default)
                    given[field.name] = kind(value)
                except ValueError:
                    raise ValueError(f"{field.name} must be a number, got {value[:_LONGEST]!r}") from None
        return cls(**given)

    @property
    def link(self) -> str:
        """The query that carries what is not the default, with its question mark."""
        changed = {}
        for field in fields(self):
            if (value := getattr(self, field.name)) != field.default:
                changed[field.name] = ",".join(value) if isinstance(value, tuple) else f"{value}"
        return "?" + urlencode(changed, safe=":,") if changed else ""

    @property
    def beacon_interval_ns(self) -> int:
        """Time between beacons, nanoseconds."""
        return round(self.beacon_ms * 1e6)

    @property
    def server_delay(self) -> str:
        """The server's delay as options write it."""
        return self.server if self.server == "recorded" else f"{self.server}:{self.server_s:g}"

    @property
    def said(self) -> dict[str, str]:
        """The world, as options write it."""
        own = {"server_delay": self.server_delay}
        own |= {} if self.server == "recorded" else {"rtt": f"{self.rtt_ms / 1000:g}"}
        return {**own, "radio": self.radio, "beacon_ms": f"{self.beacon_ms:g}"}

    @property
    def config(self) -> netsim.SimulationConfig:
        """The world."""
        return made("today", {**self.said, "beacon_ms": self.beacon_ms}).config

    def command(self, trace: str | None = None) -> str:
        """Return the command line of the same comparison."""
        options: dict[str, object] = {"trace": trace} if trace else {"pages": self.pages, "seeds": self.seeds}
        options |= {"policies": ",".join(("none", *self.policies))}
        options |= {name.replace("_", "-"): value for name, value in self.said.items()} | {"out": "explored"}
        words = (word for name, value in options.items() for word in (f"--{name}", str(value)))
        return shlex.join(["lpsm", "compare", *words])
