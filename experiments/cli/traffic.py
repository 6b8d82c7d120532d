"""What the studies share: the options of their traffic, the folder they begin, and the lines below their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.cli import options
from experiments.inert import echo
from experiments.presets import MOST_CLIENTS

if TYPE_CHECKING:
    from experiments.cli.model import World
    from experiments.study.store import Store
    from experiments.study.traffic import Units
    from netsim.policies import AnyPolicy

__all__ = ["CLIENTS", "TRAFFIC", "begun", "gathered", "recorded_words", "worlds_words"]

MOST_SEEDS = 10_000
MOST_OFF = 0.01  # of the captured time that the simulated one may be
LEAST_CAPTURED_S, LEAST_THINGS = 600.0, 20  # for the life of a battery

TRAFFIC = (
    options.number(
        "--pages", kind=int, most=options.MOST_PAGES, default=100, help="Without a trace: pages for each seed."
    ),
    options.number(
        "--seeds", kind=int, most=MOST_SEEDS, default=10, help="Without a trace: number of seeds, SEED, SEED+1, ..."
    ),
    options.MEMBER,
    options.SKIP_DAMAGED,
    options.number(
        "--visits", kind=int, most=10_000, help="How often a recorded page or session is visited [a page 10 times]."
    ),
    options.seconds("--think", help="Pause after every recorded page, in place of the recorded ones."),
)
"""The options of the traffic, which `gathered` reads."""

CLIENTS = options.number(
    "--clients", kind=int, most=MOST_CLIENTS, default=1,
    help="Clients of the access point, which all follow the same policy; figures are means over them.",
)  # fmt: skip


def gathered(
    asked: Any, paths: Sequence[Path], world: World, *, few: int, option: str, least: int = 1
) -> tuple[Units, dict[str, Any]]:
    """Return the traffic that is asked for, and what the manifest says about it.

    Without `paths` the Web model is drawn from; fewer than `few` sessions are cut into their pages, and of fewer than
    `least` parts of recordings each visit is a part; `option` is how traces are given.  An option for the other kind
    of traffic, and a trace without any, is a `ValueError`.
    """
    from experiments.study import traffic
    from experiments.study.files import content_digest
    from experiments.study.run import progress

    settings: dict[str, Any]
    if paths:
        for name in ("pages", "seeds"):
            if options.from_command_line(name):
                raise ValueError(f"--{name} is for traffic that is drawn, and {option} is given")
        with progress("sessions read", None) as advance:
            workloads = traffic.recorded(
                paths, member=asked.member, skip_damaged=asked.skip_damaged, seed=asked.seed, advance=advance,
                told=lambda text: echo(text, err=True),
            )  # fmt: skip
        if not world.recorded_round_trip:
            workloads = [workload.without_round_trip() for workload in workloads]
        digests = [content_digest(path) for path in paths]
        settings = {"kind": "trace", "sha256": digests, "member": asked.member, "sessions": len(workloads)}
    else:
        if asked.member is not None:
            raise ValueError(f"member chooses from traffic, but no {option} is given")
        workloads = traffic.generated(asked.pages, asked.seed, asked.seeds)
        settings = {"kind": "generated", "pages": asked.pages, "seeds": asked.seeds}
    cut = traffic.units(
        workloads, few=few, seed=asked.seed, beacon_interval_ns=world.config.beacon_interval_ns, visits=asked.visits,
        think_s=asked.think, least=least,
    )  # fmt: skip
    settings |= {"units": cut.called, "seed": asked.seed}
    recorded = traffic.told(workloads, world.config)
    if any(recorded.values()):
        settings["recorded"] = recorded
    if cut.called in ("pages", "parts") or cut.visits > 1 or asked.think is not None:
        settings |= {"visits": cut.visits, "think_s": asked.think}
    return cut, settings


def begun(
    command: str, asked: Any, traffic: Mapping[str, Any], chosen: Mapping[str, AnyPolicy], world: World, *, runs: int,
    **more: Any,
) -> Store:  # fmt: skip
    """Begin the folder of a study, whose manifest has all that decides its results."""
    from experiments.cli.model import described
    from experiments.study.store import Store
    from experiments.study.sweep import own_sources

    settings = {"traffic": traffic, "policies": list(chosen), "model": described(world.config), "preset": world.preset}
    return Store(asked.out, command, {**settings, **more, **own_sources(chosen)}, runs=runs, replace=asked.replace)


def worlds_words(
    settings: Mapping[str, Any], world: World, chosen: Mapping[str, AnyPolicy], clients: Sequence[int] = (), *,
    battery: bool = False,
) -> str:  # fmt: skip
    """Return in lines below a table: the host-aware policies, the clients of a cell, the world, what was recorded."""
    from experiments.study.sweep import host_aware

    aware = ", ".join(host_aware(chosen, world.config))
    lines = [
        f"host-aware, told by the host what is outstanding: {aware}." if aware else "",
        f"{', '.join(map(str, clients))} clients behind one access point; figures are means over them."
        if clients else "",
        world.words,
        recorded_words(settings.get("recorded", {}), world, battery=battery) if settings["kind"] == "trace" else "",
    ]  # fmt: skip
    return "".join(f"\n{line}" for line in lines if line)


def recorded_words(recorded: Mapping[str, Any], world: World, *, battery: bool = False) -> str:
    """Return what of the world was recorded (`study.traffic.told`), and for how long; nothing where nothing was.

    A `battery` whose life is told needs enough of it.
    """
    words = []
    if recorded.get("server_times_s") is not None:
        words.append(f"servers: as recorded, {recorded['server_times_s']:.3g} s (median)")
    elif world.config.server_delay.kind == "recorded" and recorded.get("captured_s") is not None:
        words.append("servers: as recorded")
    elif world.config.server_delay.kind == "recorded":
        hint = "generated pages: --server-delay lognormal:0.2, as compare"
        words.append(f"servers answer at once: the trace does not tell ({hint})")
    if recorded.get("round_trip_s") is not None:
        words.append(f"round trip: as recorded, {1000 * recorded['round_trip_s']:.3g} ms")
    if count := recorded.get("messages"):
        words.append(f"{count} message{' is' if count == 1 else 's are'} pushed")
    lines = [f"{'; '.join(words)}." if words else ""]
    if (captured_s := recorded.get("captured_s")) is not None:
        simulated_s = recorded["simulated_s"]
        lines.append(f"captured: {captured_s:.1f} s; simulated without power saving: {simulated_s:.1f} s.")
        if abs(simulated_s - captured_s) > MOST_OFF * captured_s:
            off = f"{100 * MOST_OFF:g} %"
            lines.append(f"WARNING: the simulated time differs by more than {off} from the captured time.")
        if battery and (captured_s < LEAST_CAPTURED_S or recorded["things"] < LEAST_THINGS):
            lines.append(
                f"WARNING: the battery life rests on {captured_s:.0f} s of traffic with {recorded['things']} "
                f"exchanges, messages and datagrams; take at least {LEAST_CAPTURED_S / 60:g} minutes and "
                f"{LEAST_THINGS} of them."
            )
    return "\n".join(filter(None, lines))
