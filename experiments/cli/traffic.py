"""The options that say which traffic a study is of, shared by the commands that compare policies on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from experiments.cli.model import uses_recorded_round_trip
from experiments.cli.options import (
    MOST_PAGES,
    MOST_SEEDS,
    clients_option,
    member_option,
    number_option,
    seconds_option,
    skip_damaged_option,
)
from experiments.inert import echo

if TYPE_CHECKING:
    import netsim
    from experiments.study.traffic import Units

__all__ = ["gathered", "recorded_words", "traffic_options", "worlds_words"]

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    number_option("--pages", kind=int, most=MOST_PAGES, default=100, help="Without a trace: pages for each seed."),
    number_option(
        "--seeds", kind=int, most=MOST_SEEDS, default=10, help="Without a trace: number of seeds, SEED, SEED+1, ..."
    ),
    member_option,
    skip_damaged_option,
    number_option(
        "--visits", kind=int, most=10_000, help="How often a recorded page or session is visited [a page 10 times]."
    ),
    seconds_option("--think", help="Pause after every recorded page, in place of the recorded ones."),
    clients_option,
)


def traffic_options(function: F) -> F:
    """Add the options of the traffic to a command, which hands them on to `gathered` by name."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def gathered(
    paths: Sequence[Path],
    config: netsim.SimulationConfig,
    *,
    few: int,
    option: str,
    seed: int,
    pages: int,
    seeds: int,
    member: str | None,
    skip_damaged: bool,
    visits: int | None,
    think: float | None,
    clients: int,
    rtt: float | str | None,
) -> tuple[Units, dict[str, Any]]:
    """Return the traffic that the options ask for, and what the manifest says about it.

    Parameters
    ----------
    paths : sequence of Path
        Traces and workloads; without one the Web model is drawn from.
    config : SimulationConfig
    few : int
        Fewer sessions than so many are cut into their pages.
    option : str
        How traces are given, for complaints.
    rtt : float, str or None
        What the option ``--rtt`` says.  The recorded round trip is used if it says so, and by default if servers take
        the times that were recorded.

    Raises
    ------
    ValueError
        If an option is for the other kind of traffic, or there is none.
    """
    from experiments.study import traffic
    from experiments.study.files import content_digest
    from experiments.study.progress import progress

    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    settings: dict[str, Any]
    if paths:
        for name in ("pages", "seeds"):
            if click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                raise ValueError(f"--{name} is for traffic that is drawn, and {option} is given")
        with progress("sessions read", None) as advance:
            workloads = traffic.recorded(
                paths, member=member, skip_damaged=skip_damaged, seed=seed, advance=advance,
                told=lambda text: echo(text, err=True),
            )  # fmt: skip
        if not uses_recorded_round_trip(rtt, config):
            workloads = [workload.without_round_trip() for workload in workloads]
        digests = [content_digest(path) for path in paths]
        settings = {"kind": "trace", "sha256": digests, "member": member, "sessions": len(workloads)}
    else:
        if member is not None:
            raise ValueError(f"member chooses from traffic, but no {option} is given")
        workloads = traffic.generated(pages, seed, seeds)
        settings = {"kind": "generated", "pages": pages, "seeds": seeds}
    interval_ns = config.beacon_interval_ns
    cut = traffic.units(workloads, few=few, seed=seed, beacon_interval_ns=interval_ns, visits=visits, think_s=think)
    settings |= {"units": cut.called, "seed": seed}
    recorded = traffic.told(workloads, config)
    if any(recorded.values()):
        settings["recorded"] = recorded
    if cut.called in ("pages", "parts") or cut.visits > 1 or think is not None:
        settings |= {"visits": cut.visits, "think_s": think}
    if clients != 1:
        settings["clients"] = clients
    return cut, settings


def worlds_words(settings: dict[str, Any], config: netsim.SimulationConfig, aware: Sequence[str]) -> str:
    """Return in lines below a table how many clients a cell has, which policies are host-aware, what was recorded.

    Parameters
    ----------
    settings : dict
        Of `gathered`.
    config : SimulationConfig
    aware : sequence of str
        The host-aware policies.
    """
    told = f"\nhost-aware, told by the host what is outstanding: {', '.join(aware)}." if aware else ""
    if "clients" in settings:
        told += f"\n{settings['clients']} clients behind one access point; figures are means over them."
    words = recorded_words(settings.get("recorded", {}), config) if settings["kind"] == "trace" else ""
    return told + (f"\n{words}" if words else "")


def recorded_words(recorded: Mapping[str, Any], config: netsim.SimulationConfig) -> str:
    """Return in a line what of the world was recorded; nothing where all of it is given by options.

    Parameters
    ----------
    recorded : mapping
        As `study.traffic.told` returns it.
    config : SimulationConfig
    """
    words = []
    if recorded.get("server_times_s") is not None:
        words.append(f"servers: as recorded, {recorded['server_times_s']:.3g} s (median)")
    elif config.server_delay.kind == "recorded":
        words.append("servers answer at once: the trace does not tell")
    if recorded.get("round_trip_s") is not None:
        words.append(f"round trip: as recorded, {1000 * recorded['round_trip_s']:.3g} ms")
    if count := recorded.get("messages"):
        words.append(f"{count} message{' is' if count == 1 else 's are'} pushed")
    return f"{'; '.join(words)}." if words else ""
