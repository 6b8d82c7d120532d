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
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_type_hints

import click

from experiments.cli.options import FILE, Names, number, option, registered, whole
from experiments.presets import THESIS, TODAY, at_round_trip

if TYPE_CHECKING:
    import netsim
    from experiments.study.traffic import Replication

_PRESETS: Mapping[str, Mapping[str, Any]] = {"today": TODAY, "thesis": THESIS}
_RETRIEVALS = "auto", "ps-poll", "null", "uapsd", "twt"
_MOST = 1e9  # of a number in a file
_PLAIN = {int, float, bool, str, NoneType}  # kinds of values that a file can hold
_WRITTEN: Mapping[str, tuple[str, Any]] = {  # settings that are no fields: what they mean, and an example
    "radio": ("One of lpsm list radios, or a TOML file [by the preset].", "esp32-c6"),
    "server_delay": (
        "Time of a server: SECONDS, exponential:MEAN, lognormal:MEAN[:SIGMA] or recorded "
        "[recorded where a file tells it, else by the preset].", "lognormal:0.2",
    ),
    "rtt": (
        "Round-trip time between client and server, seconds, or recorded [recorded where a trace tells it, or 0.0402].",
        "recorded",
    ),
    "beacon_ms": ("Time between beacons, ms; that of real access points is 102.4 [100].", 102.4),
    "air": (
        "Share the air: 11b, 11g, 11a, 11n, 11ac or 11ax (-40, -80), perhaps with :MBPS [a pair of wires].", "11g:54"
    ),
}  # fmt: skip
_NOT_SET = "wired_delay_ms", "beacon_interval_ns", "medium"  # but by rtt, beacon_ms and air


class _Pair(click.ParamType[Any]):
    """Two settings with a colon between them, of which the second one may be left out."""

    def __init__(self, name: str, **kinds: type) -> None:
        self.name, self._kinds = name, kinds

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the settings by name."""
        parts = str(value).split(":")
        try:
            pairs = zip(self._kinds.items(), parts, strict=len(parts) > 1)
            return {name: kind(part) for (name, kind), part in pairs}
        except ValueError:
            self.fail(f"it must be {self.name}, numbers of which the second may be left out, got {value!r}", param, ctx)


WORLD = (
    option(
        "--preset", "Radio and servers of today, or of the thesis that LPSM is from [today].", click.Choice([*_PRESETS])
    ),
    option("--world", "TOML file with more of the world; lpsm list world says what it may hold.", FILE),
    option("--radio", _WRITTEN["radio"][0], Names(registered("netsim.radio"))),
    *(option(f"--{name.replace('_', '-')}", _WRITTEN[name][0]) for name in ("server_delay", "rtt")),
    number("--loss loss_rate", "Probability that a frame is lost on the air, below 1 [0].", most=1.0),
    number("--min-rto min_rto_s", "Least retransmission time-out, seconds [1].", most=3600.0),
    number("--beacon-ms", _WRITTEN["beacon_ms"][0], least=1.0, most=1e6),
    option("--air", _WRITTEN["air"][0]),
    whole("--dtim dtim_period", "With --air: every so many beacons one announces group frames [1].", most=255),
    option(
        "--retrieval", "With --air: how clients fetch what waits [auto: by the policy].", click.Choice(_RETRIEVALS)
    ),
    option(
        "--neighbours", "With --air: stations that load the channel, each with MBPS or saturated [0].",
        _Pair("N:MBPS", neighbours=int, neighbour_mbps=float),
    ),
    option(
        "--broadcast", "With --air: group frames a second, and their size [0:200].",
        _Pair("RATE:BYTES", broadcast_per_s=float, broadcast_bytes=int),
    ),
)  # fmt: skip
"""The options of the world, which `world_of` reads."""


class World(NamedTuple):
    """The world of a command: its configuration, and what the preset, the file and the options say."""

    config: netsim.SimulationConfig
    preset: str
    said: dict[str, Any]
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
        said = {**self.said, "server_delay": _PRESETS[self.preset]["server_delay"]}
        return World(_configuration(said), self.preset, said, untold=True)


def world_of(asked: Any, *, drawn: bool = False) -> World:
    """Build the world from the options of a command.

    With `drawn` the traffic is drawn from the Web model, so that no recording tells how long servers take.  A value
    that breaks a rule of the model, an unknown name and a wrong file are a `ValueError`.
    """
    preset = asked.preset or "today"
    said = dict(_PRESETS[preset])
    if preset == "today" and not drawn:
        del said["server_delay"]
    said |= {} if asked.world is None else _read(asked.world)
    known = settings_of_a_world()
    for name, value in vars(asked).items():
        given = value if isinstance(value, dict) else {name: value}
        said |= {one: each for one, each in given.items() if one in known and each is not None}
    return World(_configuration(said), preset, said)


@cache
def settings_of_a_world() -> dict[str, dict[str, Any]]:
    """Return what a file of ``--world`` may hold, by name: `part`, the `type` of its values, how a list shows it."""
    import netsim

    parts = {
        "simulation": netsim.SimulationConfig, "link": netsim.LinkConfig, "tcp": netsim.TcpConfig,
        "air": netsim.AirConfig, "beacons": netsim.BeaconConfig,
    }  # fmt: skip
    rows: list[tuple[str, str, tuple[type, ...], Any, str]] = [
        (name, "", (float,) if isinstance(example, float) else (float, str), example, words)
        for name, (words, example) in _WRITTEN.items()
    ]
    for part, owner in parts.items():
        meaning, defaults = "", {one.name: one.default for one in fields(owner)}
        kinds = {name: _kinds(hint) for name, hint in get_type_hints(owner).items()}
        # a comment stands above some fields, or behind one; it is about the fields up to the next one
        for above, name, behind in re.findall(
            r"((?: +#: .*\n)*) +(\w+): [^#\n]*(?:#: (.*))?", inspect.getsource(owner)
        ):
            meaning = " ".join(above.replace("#:", "").split()) or meaning
            if name in defaults and name not in (*_WRITTEN, *_NOT_SET) and set(kinds[name]) <= _PLAIN:
                rows.append((name, part, kinds[name], defaults[name], behind or meaning))
    found = {}
    for name, part, own, default, meaning in rows:
        value = 500 if default is None else default
        text = f'"{value}"' if isinstance(value, str) else str(value).lower()
        shown = {"written": name, "meaning": meaning, "source": f"netsim {part}", "example": f"{name} = {text}"}
        kinds_named = " or ".join(kind.__name__ for kind in own if kind is not NoneType)
        found[name] = {"part": part, "type": kinds_named, **shown}
    return found


def _kinds(hint: Any) -> tuple[type, ...]:
    """Return the types of the values that an annotation admits: of a union each, of literals theirs."""
    parts = get_args(hint) or (hint,)
    return tuple(dict.fromkeys(part if isinstance(part, type) else type(part) for part in parts))


def _read(path: Path) -> dict[str, Any]:
    """Read the file of a world; every name must be known and every value of the type of its field."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: a world must be a TOML file: {error}") from None
    for name, value in data.items():
        if name not in (known := settings_of_a_world()):
            near = difflib.get_close_matches(name, known, n=1)
            hint = f", did you mean {near[0]}?" if near else "; see lpsm list world"
            raise ValueError(f"{path}: {name} is no setting of a world{hint}")
        kinds, own = (said := known[name]["type"]).split(" or "), type(value).__name__
        if own not in kinds and (own != "int" or "float" not in kinds):
            raise ValueError(f"{path}: {name} must be of the type {said}, got {value!r}")
        if isinstance(value, (int, float)) and not abs(value) <= _MOST:
            raise ValueError(f"{path}: {name} must be a number of at most {_MOST:g}, got {value}")
    return data


def _configuration(said: Mapping[str, Any]) -> netsim.SimulationConfig:
    import netsim

    parts: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, value in said.items():
        parts[settings_of_a_world()[name]["part"]][name] = value
    written, world = parts[""], parts["simulation"]
    if (air := written.get("air")) is not None:
        if "wireless_mbps" in said:
            raise ValueError("wireless_mbps is the rate of wires, and --air has rates of its own: --air 11g:24")
        beacons = netsim.BeaconConfig(**parts["beacons"])
        world["medium"] = netsim.AirConfig(phy=netsim.Phy.parse(str(air)), beacons=beacons, **parts["air"])
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
        return config
    try:
        rtt_s = float(rtt)
    except ValueError:
        rtt_s = -1.0
    if not 0.0 <= rtt_s <= 3600.0:
        raise ValueError(f"rtt must be recorded, or seconds from 0 to 3600, got {rtt}")
    return at_round_trip(config, rtt_s)
