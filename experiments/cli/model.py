"""The wireless world of a command: a preset, a file, and the options that are changed most often.

What is set is a field of the configurations of `netsim`, by its name.  A preset gives some of them, a file (``--world
FILE.toml``: a line ``field = value`` each) any of them and wins, an option wins over both, and what none gives is the
model's own default.  A new field of a configuration can be set in a file, and is listed, without a line here.
"""

from __future__ import annotations

import difflib
import inspect
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

import click

from experiments.cli.options import FILE, Names, Number, option, registered
from experiments.presets import THESIS, TODAY

if TYPE_CHECKING:
    import netsim

__all__ = ["WORLD", "World", "described", "settings_of_a_world", "world_of"]

_PRESETS: Mapping[str, Mapping[str, Any]] = {"today": TODAY, "thesis": THESIS}
_OPTIONS: Mapping[str, tuple[Any, str]] = {
    "preset": (click.Choice([*_PRESETS]), "Radio and servers of today, or of the thesis that LPSM is from [today]."),
    "world": (FILE, "TOML file with more of the world; lpsm list world says what it may hold."),
    "radio": (Names(registered("netsim.radio")), "One of lpsm list radios, or a TOML file [by the preset]."),
    "server_delay": (
        str,
        "Time of a server: SECONDS, exponential:MEAN, lognormal:MEAN[:SIGMA] or recorded "
        "[recorded where a trace tells it; else by the preset].",
    ),
    "rtt": (
        Number(float, 3600.0, word="recorded"),
        "Round-trip time between client and server, seconds, or recorded [recorded where a trace tells it, or 0.0402].",
    ),
    "loss": (Number(float, 1.0), "Probability that a frame is lost on the air, in [0, 1) [0]."),
    "min_rto": (Number(float, 3600.0), "Least retransmission time-out, seconds [1]."),
    "beacon_ms": (Number(float, 1e6), "Time between beacons, ms; that of real access points is 102.4 [100]."),
    "air": (str, "Share the air: 11b, 11g, 11a, 11n, 11ac or 11ax (-40, -80), perhaps with :MBPS [a pair of wires]."),
    "dtim": (Number(int, 255), "With --air: every so many beacons one announces group frames [1]."),
    "retrieval": (
        click.Choice(["auto", "ps-poll", "null", "uapsd", "twt"]),
        "With --air: how clients fetch what waits [auto: by the policy].",
    ),
    "neighbours": (str, "With --air: N[:MBPS] stations that load the channel, each with MBPS or saturated [0]."),
    "broadcast": (str, "With --air: RATE[:BYTES], group frames a second, and their size [0:200]."),
}
_ALIASES = {
    "loss": "loss_rate", "min_rto": "min_rto_s", "mss": "mss_bytes", "dtim": "dtim_period", "rts": "rts_bytes",
}  # fmt: skip
_EXAMPLES: Mapping[str, Any] = {  # of what is written otherwise than the fields are
    "rtt": 0.05, "beacon_ms": 102.4, "radio": "esp32-c6", "server_delay": "lognormal:0.2", "air": "11g:54",
    "neighbours": "2:1", "broadcast": "1:200",
}  # fmt: skip
_MOST = 1e9  # of a number in a file
_OF_TWO_STATES = {"awake_mw", "asleep_mw", "beacon_mj", "wakeup_mj", "wakeup_ms"}  # fields that are no radio's

WORLD = tuple(option(f"--{name.replace('_', '-')}", words, kind) for name, (kind, words) in _OPTIONS.items())
"""The options of the world, which `world_of` reads."""


class World(NamedTuple):
    """The world of a command: its configuration, and what the preset, the file and the options say."""

    config: netsim.SimulationConfig
    preset: str
    said: dict[str, Any]

    @property
    def recorded_round_trip(self) -> bool:
        """Whether a recorded round trip is used: where it is asked for, and by default beside recorded servers."""
        return bool(self.said.get("rtt", self.config.server_delay.kind) == "recorded")

    @property
    def words(self) -> str:
        """The world in a line."""
        said = {"radio": "thesis", **self.said}
        return f"World ({self.preset}): {', '.join(f'{name} {value}' for name, value in said.items())}."


def world_of(asked: Any, *, drawn: bool = False) -> World:
    """Build the world from the options of a command.

    With `drawn` the traffic is drawn from the Web model, so that no recording tells how long servers take.  A value
    that breaks a rule of the model, an unknown name and a wrong file are a `ValueError`.
    """
    values = {name: value for name, value in vars(asked).items() if name in _OPTIONS and value is not None}
    preset, path = values.pop("preset", "today"), values.pop("world", None)
    values = ({} if path is None else _read(path)) | values
    said = dict(_PRESETS[preset])
    if preset == "today" and not drawn:
        del said["server_delay"]
    if _OF_TWO_STATES & values.keys():
        said.pop("radio", None)
    said |= values
    return World(_configuration(said), preset, said)


def described(config: netsim.SimulationConfig) -> dict[str, Any]:
    """Return a configuration as plain data, for manifests and results; wires are not mentioned."""
    data = asdict(config)
    if config.medium is None:
        del data["medium"]
    return data


class _Field(NamedTuple):
    """A field of a configuration: where it belongs, which type a file must give, what it means and its default."""

    part: str
    kind: Any
    meaning: str
    default: Any


@cache
def _fields() -> dict[str, _Field]:
    """Return the fields that may be set by their own names."""
    import netsim

    parts = {
        "": netsim.SimulationConfig, "link": netsim.LinkConfig, "tcp": netsim.TcpConfig, "radio": netsim.RadioConfig,
        "air": netsim.AirConfig, "beacons": netsim.BeaconConfig,
    }  # fmt: skip
    kinds = {int: int, float: int | float, bool: bool, str: str, int | None: int}
    found = {}
    for part, owner in parts.items():
        hints, meanings = get_type_hints(owner), dict(_meanings(owner))
        for field in fields(owner):
            kind = str if field.name == "retrieval" else kinds.get(hints[field.name])
            if kind is not None and field.name not in (*_EXAMPLES, "beacon_interval_ns", "wired_delay_ms"):
                found[field.name] = _Field(part, kind, meanings.get(field.name, ""), field.default)
    return found


def _meanings(kind: type) -> Iterator[tuple[str, str]]:
    """Yield fields and meanings: the comment ``#:`` behind a field, or else the one above it and its neighbours."""
    above, goes_on = "", False
    for line in inspect.getsource(kind).splitlines():
        code, _, words = line.partition("#:")
        field = re.match(r"    (\w+): ", code)
        if field:
            yield field[1], words.strip() or above
        elif words:
            above = f"{above} {words.strip()}" if goes_on else words.strip()
        goes_on = bool(words) and not field


def settings_of_a_world() -> dict[str, dict[str, str]]:
    """Return what a file of ``--world`` may hold: name to how it is written, its meaning and source, and an example."""
    rows = {name: (_OPTIONS[name][1], "lpsm", example) for name, example in _EXAMPLES.items()}
    for name, (part, _, words, default) in _fields().items():
        rows[name] = words, f"netsim, {part or 'simulation'}", 500 if default is None else default
    return {
        name: {"written": name, "meaning": meaning, "source": source, "example": f"{name} = {_toml(example)}"}
        for name, (meaning, source, example) in rows.items()
    }


def _toml(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def _read(path: Path) -> dict[str, Any]:
    """Read the file of a world; every name must be known and every value of the type of its field."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: a world must be a TOML file: {error}") from None
    known = {name: field.kind for name, field in _fields().items()} | dict.fromkeys(_EXAMPLES, int | float | str)
    known |= {name: known[field] for name, field in _ALIASES.items()}
    for name, value in data.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f", did you mean {near[0]}?" if near else "; see lpsm list world"
            raise ValueError(f"{path}: {name} is no setting of a world{hint}")
        kind = known[name]
        if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
            raise ValueError(f"{path}: {name} must be of the type {getattr(kind, '__name__', kind)}, got {value!r}")
        if isinstance(value, (int, float)) and not abs(value) <= _MOST:
            raise ValueError(f"{path}: {name} must be a number of at most {_MOST:g}, got {value}")
    return data


def _configuration(said: Mapping[str, Any]) -> netsim.SimulationConfig:
    import netsim

    values = {_ALIASES.get(name, name): value for name, value in said.items()}
    parts: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, field in _fields().items():
        if name in values:
            parts[field.part][name] = values[name]
    shared = {*parts["air"], *parts["beacons"], "neighbours", "broadcast"}
    air, link, whole = values.get("air"), parts["link"], parts[""]
    if air is None:
        for name in said:
            if _ALIASES.get(name, name) in shared:
                raise ValueError(f"{name} belongs to the shared air, and no --air is given")
    else:
        if "wireless_mbps" in values:
            raise ValueError("wireless_mbps is the rate of wires, and --air has rates of its own: --air 11g:24")
        if "neighbours" in values:
            mbps = parts["air"].get("neighbour_mbps", 0.0)
            count, mbps = _pair("neighbours", "N:MBPS", values["neighbours"], mbps)
            parts["air"] |= {"neighbours": _whole("neighbours", count), "neighbour_mbps": mbps}
        if "broadcast" in values:
            rate, size = _pair("broadcast", "RATE:BYTES", values["broadcast"], 200.0)
            parts["beacons"] |= {"broadcast_per_s": rate, "broadcast_bytes": _whole("broadcast", size)}
        beacons = netsim.BeaconConfig(**parts["beacons"])
        whole["medium"] = netsim.AirConfig(phy=netsim.Phy.parse(str(air)), beacons=beacons, **parts["air"])
    if (rtt_s := values.get("rtt", "recorded")) != "recorded":
        wireless_ms = link.get("wireless_delay_ms", netsim.LinkConfig().wireless_delay_ms) if air is None else 0.0
        least_s = 2 * wireless_ms / 1000
        if not isinstance(rtt_s, (int, float)) or not least_s <= rtt_s < float("inf"):
            raise ValueError(f"rtt must be at least {least_s} s (that of the air alone) and finite, got {rtt_s}")
        link["wired_delay_ms"] = round(rtt_s * 1000 / 2 - wireless_ms, 6)  # to the nanosecond
    if "server_delay" in values:
        whole["server_delay"] = netsim.ServerDelay.parse(str(values["server_delay"]))
    if (beacon_ms := values.get("beacon_ms")) is not None:
        if not isinstance(beacon_ms, (int, float)) or not 1.0 <= beacon_ms <= 1e6:
            raise ValueError(f"beacon-ms must lie in [1, 1e6] ms, got {beacon_ms}")
        whole["beacon_interval_ns"] = round(beacon_ms * 1e6)
    radio = netsim.Radio.named(str(values["radio"])) if "radio" in values else netsim.RadioConfig()
    if parts["radio"] and not isinstance(radio, netsim.RadioConfig):
        what = ", ".join(parts["radio"])
        raise ValueError(f"{what}: only a radio of two states takes this, {values['radio']} is not")
    return netsim.SimulationConfig(
        link=netsim.LinkConfig(**link), tcp=netsim.TcpConfig(**parts["tcp"]), radio=replace(radio, **parts["radio"]),
        **whole,
    )  # fmt: skip


def _pair(name: str, form: str, text: Any, default: float) -> tuple[float, float]:
    first, colon, second = str(text).partition(":")
    try:
        return float(first), float(second) if colon else default
    except ValueError:
        raise ValueError(f"{name} must be {form} or its first part alone, got {text!r}") from None


def _whole(name: str, value: float) -> int:
    if not value.is_integer():
        raise ValueError(f"{name}: {value:g} must be a whole number")
    return int(value)
