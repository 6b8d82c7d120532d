"""The options that describe the wireless world, shared by the commands that simulate it.

A preset gives some of them at once: by default those of today, a paper's with ``--preset thesis``.  An option given
beside it wins, and what neither gives is the model's own default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from experiments.cli.options import Names, Number, NumberOr, number_option, radio_names
from experiments.presets import THESIS, TODAY

if TYPE_CHECKING:
    import netsim

__all__ = ["battery_option", "configuration", "described", "model_options", "split_options", "uses_recorded_round_trip"]

F = TypeVar("F", bound=Callable[..., Any])


class _Option(NamedTuple):
    """A command-line option: its type, the configuration and field it sets, and its help."""

    kind: Any
    part: str
    field: str
    help: str


def _number(most: float, part: str, field: str, words: str) -> _Option:
    return _Option(Number(type(most), most), part, field, words)


_OPTIONS = {
    "preset": _Option(
        click.Choice(["today", "thesis", "model"]), "", "",
        "Defaults of the options below: a radio and servers of today, the world of the thesis, or those of the model "
        "in Python [today; model in simulate and population].",
    ),
    "rtt": _Option(
        NumberOr("recorded", float, 3600.0), "link", "",
        "Round-trip time between client and server, seconds, or recorded [recorded where a trace tells it, or 0.0402].",
    ),
    "wireless-mbps": _number(1e5, "link", "wireless_mbps", "Rate of the wireless link, Mb/s [5]."),
    "wired-mbps": _number(1e5, "link", "wired_mbps", "Rate of the link to the server, Mb/s [10]."),
    "loss": _number(1.0, "link", "loss_rate", "Probability that a frame is lost on the air, in [0, 1) [0]."),
    "mss": _number(65_535, "tcp", "mss_bytes", "Largest TCP segment, bytes [1460]."),
    "initial-window": _number(1_000_000, "tcp", "initial_window", "Initial TCP window, segments [2]."),
    "window": _number(1_000_000, "tcp", "window", "Largest TCP window, segments [20]."),
    "min-rto": _number(3600.0, "tcp", "min_rto_s", "Least retransmission time-out, seconds [1]."),
    "initial-rto": _number(3600.0, "tcp", "initial_rto_s", "First retransmission time-out, seconds [3]."),
    "nagle": _Option(bool, "tcp", "nagle", "Nagle's algorithm [off]."),
    "connections": _Option(
        click.Choice(["persistent", "per-object"]), "", "connections", "How objects are fetched [persistent]."
    ),
    "max-connections": _number(10_000, "", "max_connections", "Connections in parallel, at most [4]."),
    "server-delay": _Option(
        str, "", "",
        "Time of a server: SECONDS, exponential:MEAN, lognormal:MEAN[:SIGMA] or recorded "
        "[recorded where a trace tells it; else by the preset].",
    ),
    "beacon-ms": _number(1e6, "", "", "Time between beacons, ms; that of real access points is 102.4 [100]."),
    "radio": _Option(Names(radio_names), "", "", "One of `lpsm radios`, or a TOML file [by the preset]."),
    "awake-mw": _number(1e9, "radio", "awake_mw", "Power awake of a radio of two states, mW [750]."),
    "asleep-mw": _number(1e9, "radio", "asleep_mw", "Its power asleep, mW [50]."),
    "beacon-mj": _number(1e9, "radio", "beacon_mj", "Its energy of listening to one beacon, mJ [1.5]."),
    "air": _Option(str, "", "", "Share the air: 11b, 11g, 11a or 11n, perhaps with :MBPS [a pair of wires]."),
    "dtim": _number(255, "", "", "With --air: every so many beacons one announces group frames [1]."),
    "retrieval": _Option(
        click.Choice(["auto", "ps-poll", "null", "uapsd", "twt"]), "", "",
        "With --air: how clients fetch what waits [auto: by the policy].",
    ),
    "neighbours": _Option(
        str, "", "", "With --air: N[:MBPS] stations that load the channel, each with MBPS or saturated [0]."
    ),
    "broadcast": _Option(str, "", "", "With --air: RATE[:BYTES], group frames a second, and their size [0:200]."),
    "beacon-loss": _Option(bool, "", "", "With --air and --loss: beacons are lost as often as other frames [off]."),
    "twt-announced": _Option(bool, "", "", "With --air: TWT clients announce with a frame that they are awake [off]."),
    "rts": _number(65_535, "", "", "With --air: announce frames of at least so many bytes with RTS and CTS [off]."),
    "max-ampdu-bytes": _number(65_535, "", "", "With --air 11n: data frames go together, so many bytes at most [off]."),
}  # fmt: skip
_OFF_BY_DEFAULT = ("beacon_loss", "twt_announced", "max_ampdu_bytes")
_ON_THE_AIR = ("dtim", "retrieval", "neighbours", "broadcast", "rts", *_OFF_BY_DEFAULT)
_OTHER_NAMES = {"beacon-ms": ("--beacon-interval",)}


def model_options(function: F) -> F:
    """Add the options of the model to a command, which receives them by name (None where not given)."""
    for name, option in reversed(_OPTIONS.items()):
        switch = f"--{name}/--no-{name}" if option.kind is bool else f"--{name}"
        kind = None if option.kind is bool else option.kind
        names = (switch, *_OTHER_NAMES.get(name, ()), name.replace("-", "_"))
        function = click.option(*names, type=kind, default=None, help=option.help)(function)
    return function


def split_options(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part the options of the model, as a command received them, from its others."""
    names = {name.replace("-", "_") for name in _OPTIONS}
    model = {name: value for name, value in given.items() if name in names}
    return model, {name: value for name, value in given.items() if name not in names}


def uses_recorded_round_trip(rtt: float | str | None, config: netsim.SimulationConfig) -> bool:
    """Tell whether the recorded round trip is used: where it is asked for, and by default beside recorded servers.

    Parameters
    ----------
    rtt : float, str or None
        What the option ``--rtt`` says.
    """
    return rtt == "recorded" or (rtt is None and config.server_delay.kind == "recorded")


def battery_option(function: F) -> F:
    """Add ``--battery-mwh`` to a command, which receives `battery_mwh`, positive, or None."""
    words = "Capacity of a battery, mWh, to say how long it lasts."
    declare = number_option("--battery-mwh", kind=float, most=1e12, callback=_positive, help=words)
    declared: F = declare(function)
    return declared


def _positive(_context: click.Context, _parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and not 0.0 < value < float("inf"):
        raise ValueError(f"battery-mwh must be above 0 and finite, got {value}")
    return value


def configuration(given: Mapping[str, Any], *, drawn: bool = False, preset: str = "today") -> netsim.SimulationConfig:
    """Build the configuration from options as a command received them.

    Parameters
    ----------
    given : mapping
        The options of the model by name, None where not given.
    drawn : bool
        Whether the traffic is drawn from the Web model, so that no recording tells how long servers take.
    preset : str
        The preset where none is given.

    Raises
    ------
    ValueError
        If a value breaks a rule of the model, or the radio is unknown or its file is wrong.
    OSError
        If the file of the radio cannot be read.
    """
    import netsim

    values = {name: value for name, value in given.items() if value is not None}
    values = _preset({"preset": preset} | values, drawn) | values
    parts: dict[str, dict[str, Any]] = {"link": {}, "tcp": {}, "radio": {}, "": {}}
    for name, option in _OPTIONS.items():
        value = values.get(name.replace("-", "_"))
        if value is not None and option.field:
            parts[option.part][option.field] = value
    parts[""]["medium"] = medium = _air(values)
    if values.get("rtt") not in (None, "recorded"):
        of_the_air = netsim.LinkConfig().wireless_delay_ms if medium is None else 0.0
        parts["link"]["wired_delay_ms"] = _wired_delay_ms(values["rtt"], of_the_air)
    if values.get("server_delay") is not None:
        parts[""]["server_delay"] = netsim.ServerDelay.parse(str(values["server_delay"]))
    if values.get("beacon_ms") is not None:
        parts[""]["beacon_interval_ns"] = _beacon_interval_ns(values["beacon_ms"])
    radio = netsim.Radio.named(values["radio"]) if values.get("radio") is not None else netsim.RadioConfig()
    if parts["radio"] and not isinstance(radio, netsim.RadioConfig):
        raise ValueError(
            f"{', '.join(parts['radio'])}: only a radio of two states takes this, {values['radio']} is not"
        )
    return netsim.SimulationConfig(
        link=netsim.LinkConfig(**parts["link"]),
        tcp=netsim.TcpConfig(**parts["tcp"]),
        radio=replace(radio, **parts["radio"]),
        **parts[""],
    )


def _preset(values: Mapping[str, Any], drawn: bool) -> dict[str, Any]:
    """Return what the preset says, without the radio if figures of one of two states are given."""
    if values["preset"] == "thesis":
        return dict(THESIS)
    if values["preset"] == "model":
        return {}
    replaced = {"radio"} if {"awake_mw", "asleep_mw", "beacon_mj"} & values.keys() else set()
    if not drawn:
        replaced.add("server_delay")
    return {name: value for name, value in TODAY.items() if name not in replaced}


def described(config: netsim.SimulationConfig) -> dict[str, Any]:
    """Return a configuration as plain data, for manifests and results; wires, and what is off, are not mentioned."""
    data = asdict(config)
    if config.medium is None:
        del data["medium"]
    else:
        for name in _OFF_BY_DEFAULT:
            if not data["medium"][name]:
                del data["medium"][name]
    return data


def _air(values: Mapping[str, Any]) -> netsim.AirConfig | None:
    """Build the shared air if it is asked for."""
    import netsim

    if values.get("air") is None:
        for name in _ON_THE_AIR:
            if values.get(name) is not None:
                raise ValueError(f"{name} belongs to the shared air, and no --air is given")
        return None
    if values.get("wireless_mbps") is not None:
        raise ValueError("wireless-mbps is the rate of wires, and --air has rates of its own: --air 11g:24")
    beacons: dict[str, Any] = {}
    given: dict[str, Any] = {}
    if values.get("dtim") is not None:
        beacons["dtim_period"] = values["dtim"]
    if values.get("broadcast") is not None:
        rate, size = _pair("broadcast", "RATE:BYTES", values["broadcast"], 200.0)
        beacons |= {"broadcast_per_s": rate, "broadcast_bytes": _whole("broadcast", size)}
    if values.get("neighbours") is not None:
        count, mbps = _pair("neighbours", "N:MBPS", values["neighbours"], 0.0)
        given |= {"neighbours": _whole("neighbours", count), "neighbour_mbps": mbps}
    if values.get("retrieval") is not None:
        given["retrieval"] = values["retrieval"]
    given |= {name: values[name] for name in _OFF_BY_DEFAULT if values.get(name)}
    if values.get("rts") is not None:
        given["rts_bytes"] = values["rts"]
    return netsim.AirConfig(phy=netsim.Phy.parse(values["air"]), beacons=netsim.BeaconConfig(**beacons), **given)


def _pair(name: str, form: str, text: str, default: float) -> tuple[float, float]:
    first, colon, second = str(text).partition(":")
    try:
        return float(first), float(second) if colon else default
    except ValueError:
        raise ValueError(f"{name} must be {form} or its first part alone, got {text!r}") from None


def _whole(name: str, value: float) -> int:
    if not value.is_integer():
        raise ValueError(f"{name}: {value:g} must be a whole number")
    return int(value)


def _wired_delay_ms(rtt_s: float, wireless_delay_ms: float) -> float:
    least_s = 2 * wireless_delay_ms / 1000
    if not least_s <= rtt_s < float("inf"):
        raise ValueError(f"rtt must be at least {least_s} s (that of the air alone) and finite, got {rtt_s}")
    return round(rtt_s * 1000 / 2 - wireless_delay_ms, 6)  # to the nanosecond


def _beacon_interval_ns(beacon_ms: float) -> int:
    if not 1.0 <= beacon_ms <= 1e6:
        raise ValueError(f"beacon-ms must lie in [1, 1e6] ms, got {beacon_ms}")
    return round(beacon_ms * 1e6)
