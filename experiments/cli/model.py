"""The options that describe the wireless world, shared by the commands that simulate it.

What is not given is the model's own default; a preset gives some of them at once, and
an option given beside it wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

if TYPE_CHECKING:
    import netsim

__all__ = ["configuration", "model_options"]

F = TypeVar("F", bound=Callable[..., Any])


class _Option(NamedTuple):
    """A command-line option: its type, the configuration and field it sets, and its help."""

    kind: Any
    part: str
    field: str
    help: str


_OPTIONS = {
    "rtt": _Option(float, "link", "", "Round-trip time between client and server, seconds [0.0402]."),
    "wireless-mbps": _Option(float, "link", "wireless_mbps", "Rate of the wireless link, Mb/s [5]."),
    "wired-mbps": _Option(float, "link", "wired_mbps", "Rate of the link to the server, Mb/s [10]."),
    "loss": _Option(float, "link", "loss_rate", "Probability that a frame is lost on the air, in [0, 1) [0]."),
    "mss": _Option(int, "tcp", "mss_bytes", "Largest TCP segment, bytes [1460]."),
    "initial-window": _Option(int, "tcp", "initial_window", "Initial TCP window, segments [2]."),
    "window": _Option(int, "tcp", "window", "Largest TCP window, segments [20]."),
    "min-rto": _Option(float, "tcp", "min_rto_s", "Least retransmission time-out, seconds [1]."),
    "initial-rto": _Option(float, "tcp", "initial_rto_s", "First retransmission time-out, seconds [3]."),
    "nagle": _Option(bool, "tcp", "nagle", "Nagle's algorithm [off]."),
    "connections": _Option(
        click.Choice(["persistent", "per-object"]), "", "connections", "How objects are fetched [persistent]."
    ),
    "max-connections": _Option(int, "", "max_connections", "Connections in parallel, at most [4]."),
    "server-delay": _Option(
        str, "", "", "Time a server takes to answer: SECONDS, exponential:MEAN or lognormal:MEAN:SIGMA [0]."
    ),
    "beacon-interval": _Option(float, "", "", "Time between beacons, ms [100]."),
    "awake-mw": _Option(float, "radio", "awake_mw", "Power of the radio awake, mW [750]."),
    "asleep-mw": _Option(float, "radio", "asleep_mw", "Power of the radio asleep, mW [50]."),
    "beacon-mj": _Option(float, "radio", "beacon_mj", "Energy of listening to one beacon, mJ [1.5]."),
}


def model_options(function: F) -> F:
    """Add the options of the model to a command, which receives them by name (None where not given)."""
    for name, option in reversed(_OPTIONS.items()):
        switch = f"--{name}/--no-{name}" if option.kind is bool else f"--{name}"
        kind = None if option.kind is bool else option.kind
        function = click.option(switch, name.replace("-", "_"), type=kind, default=None, help=option.help)(function)
    return function


def configuration(given: Mapping[str, Any], preset: Mapping[str, Any] | None = None) -> netsim.SimulationConfig:
    """Build the configuration from options as a command received them.

    Raises
    ------
    ValueError
        If a value breaks a rule of the model.
    """
    import netsim

    values = {**(preset or {}), **{name: value for name, value in given.items() if value is not None}}
    parts: dict[str, dict[str, Any]] = {"link": {}, "tcp": {}, "radio": {}, "": {}}
    for name, option in _OPTIONS.items():
        value = values.get(name.replace("-", "_"))
        if value is not None and option.field:
            parts[option.part][option.field] = value
    if values.get("rtt") is not None:
        parts["link"]["wired_delay_ms"] = _wired_delay_ms(values["rtt"], netsim.LinkConfig().wireless_delay_ms)
    if values.get("server_delay") is not None:
        parts[""]["server_delay"] = netsim.ServerDelay.parse(str(values["server_delay"]))
    if values.get("beacon_interval") is not None:
        parts[""]["beacon_interval_ns"] = _beacon_interval_ns(values["beacon_interval"])
    return netsim.SimulationConfig(
        link=netsim.LinkConfig(**parts["link"]),
        tcp=netsim.TcpConfig(**parts["tcp"]),
        radio=netsim.RadioConfig(**parts["radio"]),
        **parts[""],
    )


def _wired_delay_ms(rtt_s: float, wireless_delay_ms: float) -> float:
    least_s = 2 * wireless_delay_ms / 1000
    if not least_s <= rtt_s < float("inf"):
        raise ValueError(f"rtt must be at least {least_s} s (that of the air alone) and finite, got {rtt_s}")
    return round(rtt_s * 1000 / 2 - wireless_delay_ms, 6)  # to the nanosecond


def _beacon_interval_ns(beacon_interval_ms: float) -> int:
    if not 1.0 <= beacon_interval_ms <= 1e6:
        raise ValueError(f"beacon-interval must lie in [1, 1e6] ms, got {beacon_interval_ms}")
    return round(beacon_interval_ms * 1e6)
