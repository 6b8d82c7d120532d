"""The options of a command that say its wireless world (`experiments.world`): preset, file, and what changes most."""

from collections.abc import Callable

import click

from experiments.cli.options import FILE, Asked, Names, number, option, registered, whole
from experiments.world import PRESETS, WRITTEN, Settings, World, made, read, settings_of_a_world

_RETRIEVALS = "auto", "ps-poll", "null", "uapsd", "twt"


class _Pair(click.ParamType[dict[str, float]]):
    """Two settings with a colon between them, of which the second one may be left out."""

    def __init__(self, name: str, **kinds: Callable[[str], float]) -> None:
        self.name, self._kinds = name, kinds

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, float]:
        """Return the settings by name."""
        parts = value.split(":")
        try:
            pairs = zip(self._kinds.items(), parts, strict=len(parts) > 1)
            return {name: kind(part) for (name, kind), part in pairs}
        except ValueError:
            self.fail(f"it must be {self.name}, numbers of which the second may be left out, got {value!r}", param, ctx)


RADIO = option("--radio", WRITTEN["radio"][0], Names(registered("netsim.radio")))
WORLD = (
    option(
        "--preset", "A phone today, a sensor (iot), a chip on wires, or the thesis that LPSM is from [today].",
        click.Choice([*PRESETS]),
    ),
    option("--world", "TOML file with more of the world; lpsm list world says what it may hold.", FILE),
    RADIO,
    *(option(f"--{name.replace('_', '-')}", WRITTEN[name][0]) for name in ("server_delay", "rtt")),
    number("--loss loss_rate", "Probability that a frame is lost on the air, below 1 [0].", most=1.0),
    number("--min-rto min_rto_s", "Least retransmission time-out, seconds [1].", most=3600.0),
    number("--beacon-ms", WRITTEN["beacon_ms"][0], least=1.0, most=1e6),
    option("--air", WRITTEN["air"][0]),
    whole("--dtim dtim_period", "With --air: every so many beacons one announces group frames [1].", most=255),
    number(
        "--beacon-mbps", "With --air: rate of beacons and group frames [1 at 2.4 GHz, else 6].", most=24.0, above=True
    ),
    whole("--beacon-bytes size_bytes", "With --air: size of beacons [by the layer, 196 to 266].", least=40, most=2304),
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
    option(
        "--oracle-stamps", "Tell policies when each frame reached the access point, which no device knows.",
        is_flag=True,
    ),
)  # fmt: skip
"""The options of the world, which `world_of` reads."""


def settings(asked: Asked) -> tuple[str, list[Settings]]:
    """Return what the options of a command say of its world: the preset, and settings, of which the later win.

    An unknown name in the file, a value of the wrong type and a wrong file are a `ValueError`.
    """
    known, said = settings_of_a_world(), Settings()
    for name, value in vars(asked).items():
        given = value if isinstance(value, dict) else {name: value}
        said |= {one: each for one, each in given.items() if one in known and each is not None}
    return asked.preset or "today", [{} if asked.world is None else read(asked.world), said]


def world_of(asked: Asked, *, drawn: bool = False) -> World:
    """Build the world from the options of a command; with `drawn` the traffic is that of the Web model."""
    preset, said = settings(asked)
    return made(preset, *said, drawn=drawn)
