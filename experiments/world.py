"""The wireless world of a study: a preset, and the settings that change it, by the names of their fields.

What is set is a field of the configurations of `netsim`, by its name.  A preset gives some of them, a file (a line
``field = value`` each) or a mapping any of them and wins, and what none gives is the model's own default.  A new field
of a configuration can be set, and is listed, without a line here.
"""

from __future__ import annotations

import difflib
import inspect
import tomllib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints

from experiments.presets import DRAWN, IOT, THESIS, TODAY, WIRES, at_round_trip

if TYPE_CHECKING:
    import netsim
    from experiments.study.traffic import Replication

Setting: TypeAlias = str | float
Settings: TypeAlias = dict[str, Setting]
Kind: TypeAlias = type | UnionType

PRESETS: Mapping[str, Mapping[str, Setting]] = {"today": TODAY, "iot": IOT, "wires": WIRES, "thesis": THESIS}
_NO_AIR = "wires"  # in place of an air
_MOST = 1e9  # of a number in a file
WRITTEN: Mapping[str, tuple[str, Setting]] = {  # settings that are no fields: what they mean, and an example
    "radio": ("One of lpsm list radios, or a TOML file [by the preset].", "esp32-c6"),
    "server_delay": (
        "Time of a server: SECONDS, exponential:MEAN, lognormal:MEAN[:SIGMA] or recorded "
        "[recorded where a file tells it, else by the preset].", "lognormal:0.2",
    ),
    "rtt": (
        "Round-trip time between client and server, seconds, or recorded [where a trace tells it, else by the preset].",
        "recorded",
    ),
    "beacon_ms": ("Time between beacons, ms; that of real access points is 102.4 [by the preset].", 102.4),
    "air": (
        "Share the air: 11b, 11g, 11a, 11n, 11ac or 11ax (-40, -80), with :MBPS, or wires [by the preset].", "11g:54"
    ),
}  # fmt: skip
_NOT_SET = "wired_delay_ms", "beacon_interval_ns", "medium"  # but by rtt, beacon_ms and air


class World(NamedTuple):
    """The world of a command: its configuration, and what the preset, the file and the options say."""

    config: netsim.SimulationConfig
    preset: str
    said: Settings
    untold: bool = False  #: whether the traffic was to tell how long servers take, and does not

    @property
    def recorded_round_trip(self) -> bool:
        """Whether a recorded round trip is used: where it is asked for, and by default beside recorded servers."""
        return bool(self.said.get("rtt", self.config.server_delay.kind) == "recorded")

    @property
    def words(self) -> str:
        """The world in a line."""
        said = {"radio": "thesis", **self.said}
        return f"World ({self.preset}): {', '.join(f'{name} {value}' for name, value in said.items())}."

    def beside(self, sessions: Sequence[Replication]) -> World:
        """Return the world of this traffic: where it tells nothing of servers and nobody else does, the preset's."""
        from experiments.study.traffic import tells_waits

        if "server_delay" in self.said or tells_waits(sessions):
            return self
        said = {**self.said, "server_delay": PRESETS[self.preset]["server_delay"]}
        return World(_configuration(said, self.preset), self.preset, said, untold=True)


def made(preset: str = "today", *settings: Mapping[str, Setting], drawn: bool = False) -> World:
    """Return the world of a preset and of settings, of which the later win.

    With `drawn` neither a recording nor the model that traffic is drawn from tells how long servers take.  A value that
    breaks a rule of the model is a `ValueError`, and so is an unknown name.
    """
    if preset not in PRESETS:
        raise ValueError(f"the world must be one of {', '.join(PRESETS)}, got {preset!r}")
    given = Settings()
    for one in settings:
        given |= one
    parts = settings_of_a_world()
    on_air = given.get("air") != _NO_AIR
    said = {name: value for name, value in PRESETS[preset].items()
        if name != "rtt" and (on_air or parts[name].part not in ("air", "beacons"))}  # fmt: skip
    if preset in ("today", "wires") and not drawn:
        del said["server_delay"]
    return World(_configuration(said | given, preset), preset, said | given)


class Field(NamedTuple):
    """A setting of a world: of which part, the type and the default of its value, and how a list shows it."""

    part: str
    kind: Kind
    default: object
    written: str
    meaning: str
    source: str
    example: str


@cache
def settings_of_a_world() -> dict[str, Field]:
    """Return what a file of ``--world`` may hold, by name."""
    import netsim

    parts = {
        "simulation": netsim.SimulationConfig, "link": netsim.LinkConfig, "tcp": netsim.TcpConfig,
        "air": netsim.AirConfig, "beacons": netsim.BeaconConfig,
    }  # fmt: skip
    rows: list[tuple[str, str, Kind, object, str]] = [
        (name, "", int | float if isinstance(example, float) else int | float | str, example, words)
        for name, (words, example) in WRITTEN.items()
    ]
    for part, owner in parts.items():
        kinds, meanings = get_type_hints(owner), _meanings(owner)
        for one in fields(owner):
            kind = _written_as(kinds[one.name])
            if kind is not None and one.name not in (*WRITTEN, *_NOT_SET):
                rows.append((one.name, part, kind, one.default, meanings.get(one.name, "")))  # none under python -OO
    found = {}
    for name, part, kind, default, meaning in rows:
        value = 500 if default is None else default
        text = f'"{value}"' if isinstance(value, str) else str(value).lower()
        found[name] = Field(part, kind, default, name, meaning, f"netsim {part}", f"{name} = {text}")
    return found


def _written_as(hint: Any) -> Kind | None:
    """Return of which type the value of a field is in a file, by its annotation; None for a part of the world."""
    inner = [kind for kind in get_args(hint) if kind is not NoneType]
    if get_origin(hint) is Literal:
        return str
    if len(inner) == 1:  # or None, which is said by leaving the line out
        return _written_as(inner[0])
    return int | float if hint is float else hint if hint in (bool, int, str) else None


def _meanings(owner: type) -> dict[str, str]:
    """Return what the docstring of a configuration says of each field, in its section of attributes."""
    _, _, section = (inspect.getdoc(owner) or "").partition("Attributes\n----------\n")
    found, about = dict[str, str](), list[str]()
    for line in section.partition("\n\n")[0].splitlines():
        if not line.startswith(" "):
            about = line.partition(" : ")[0].split(", ")
        else:
            found |= {name: f"{found.get(name, '')} {line.strip()}".strip() for name in about}
    return found


def setting(text: str) -> Setting:
    """Return a value as it is typed: a whole number, a number, true or false, or a word."""
    words = {"true": True, "false": False}
    kinds: tuple[Callable[[str], Setting], ...] = int, float, lambda word: words[word.lower()]
    for kind in kinds:
        with suppress(ValueError, KeyError):
            return kind(text)
    return text


def read(path: Path) -> Settings:
    """Read the file of a world; every name must be known and every value of the type of its field."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: a world must be a TOML file: {error}") from None
    try:
        return checked(data)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def checked(settings: Mapping[str, Setting]) -> Settings:
    """Return settings of a world, after a look at their names, and at each value's type."""
    for name, value in settings.items():
        if name not in (known := settings_of_a_world()):
            near = difflib.get_close_matches(name, known, n=1)
            hint = f", did you mean {near[0]}?" if near else "; see lpsm list world"
            raise ValueError(f"{name} is no setting of a world{hint}")
        kinds = known[name].kind
        if not isinstance(value, kinds) or isinstance(value, bool) != (kinds is bool):
            raise ValueError(f"{name} must be of the type {getattr(kinds, '__name__', kinds)}, got {value!r}")
        if isinstance(value, (int, float)) and not abs(value) <= _MOST:
            raise ValueError(f"{name} must be a number of at most {_MOST:g}, got {value}")
    return dict(settings)


def traffic_of(preset: str, web: str | None) -> tuple[str, bool]:
    """Return what is drawn where no traffic is given, and whether it is left to the preset how long servers take."""
    drawn = web or DRAWN.get(preset, "2025")
    return drawn, drawn != "2025"


def _configuration(said: Mapping[str, Setting], preset: str) -> netsim.SimulationConfig:
    import netsim

    parts: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, value in said.items():
        parts[settings_of_a_world()[name].part][name] = value
    written, world = parts[""], parts["simulation"]
    if (air := written.get("air", _NO_AIR)) != _NO_AIR:
        if "wireless_mbps" in said:
            raise ValueError("wireless_mbps is the rate of wires, and --air has rates of its own: --air 11g:24")
        world["medium"] = netsim.AirConfig.shipped(str(air), parts["beacons"], **parts["air"])
    elif of_air := [*parts["air"], *parts["beacons"]]:
        raise ValueError(f"{of_air[0]} belongs to the shared air, and no --air is given")
    if "server_delay" in written:
        world["server_delay"] = netsim.ServerDelay.parse(str(written["server_delay"]))
    if "beacon_ms" in written:
        world["beacon_interval_ns"] = round(written["beacon_ms"] * 1e6)
    radio = netsim.Radio.named(str(written.get("radio", "thesis")))
    config = netsim.SimulationConfig(
        link=netsim.LinkConfig(**parts["link"]), tcp=netsim.TcpConfig(**parts["tcp"]), radio=radio, **world
    )
    if (rtt := str(written.get("rtt", "recorded"))) == "recorded":
        rtt = str(PRESETS[preset].get("rtt", rtt))
    if rtt == "recorded":
        return config
    try:
        rtt_s = float(rtt)
    except ValueError:
        rtt_s = -1.0
    if not 0.0 <= rtt_s <= 3600.0:
        raise ValueError(f"rtt must be recorded, or seconds from 0 to 3600, got {rtt}")
    return at_round_trip(config, rtt_s)
