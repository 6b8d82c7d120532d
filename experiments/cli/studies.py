"""What the studies share: the options of their traffic, the folder they make, and the words below their tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from experiments.cli import options
from experiments.escaping import echo
from experiments.presets import MOST_CLIENTS
from experiments.world import traffic_of

if TYPE_CHECKING:
    from pandas import DataFrame

    from experiments.figures.style import Drawing
    from experiments.quantities import Row
    from experiments.study.store import Store
    from experiments.study.traffic import Recorded, Units
    from experiments.world import World
    from netsim.policies import AnyPolicy

MOST_OFF = 0.01  # of the captured time that the simulated one may be
LEAST_CAPTURED_S, LEAST_THINGS = 600.0, 20  # for the life of a battery

TRAFFIC = (
    options.whole("--pages", "Without a trace: pages for each seed.", 100),
    options.whole("--seeds", "Without a trace: number of seeds, SEED, SEED+1, ...", 10, most=10_000),
    options.web("Without a trace"),
    options.MEMBER,
    options.SKIP_DAMAGED,
    options.seconds("--think", "Pause after every recorded page, in place of the recorded ones."),
)
"""The options of the traffic, which `gathered` reads."""

CLIENTS = options.whole(
    "--clients", "Clients of the access point, which all follow the same policy; figures are means over them.", 1,
    most=MOST_CLIENTS,
)  # fmt: skip


def gathered(
    asked: options.Asked, paths: Sequence[Path], world: World, *, few: int, option: str, parts: bool = False
) -> tuple[Units, Row, World]:
    """Return the traffic that is asked for, what the manifest says about it, and its world (`World.beside`).

    Without `paths` the Web model is drawn from; fewer than `few` sessions are cut into their pages, or into `parts`
    (`traffic.units`); `option` is how traces are given.  An option for the other kind of traffic, and a trace without
    any, is a `ValueError`.
    """
    from experiments.study import traffic
    from experiments.study.files import content_digest
    from experiments.study.progress import progress

    settings: Row
    if paths:
        for name in ("pages", "seeds", "web"):
            if click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                raise ValueError(f"--{name} is for traffic that is drawn, and {option} is given")
        with progress("sessions read", None) as advance:
            workloads = traffic.recorded(
                paths, member=asked.member, skip_damaged=asked.skip_damaged, seed=asked.seed, advance=advance,
                round_trip=world.recorded_round_trip, told=lambda text: echo(text, err=True),
            )  # fmt: skip
        world = world.beside(workloads)
        digests = [content_digest(path) for path in paths]
        settings = {"kind": "trace", "sha256": digests, "member": asked.member, "sessions": len(workloads)}
    else:
        if asked.member is not None:
            raise ValueError(f"member chooses from traffic, but no {option} is given")
        web, _ = traffic_of(world.preset, asked.web)
        workloads = traffic.generated(asked.pages, asked.seed, asked.seeds, web)
        settings = {"kind": "generated", "pages": asked.pages, "seeds": asked.seeds, "web": web}
    cut = traffic.units(
        workloads, few=few, seed=asked.seed, beacon_interval_ns=world.config.beacon_interval_ns, think_s=asked.think,
        parts=parts,
    )  # fmt: skip
    settings |= {"units": cut.called, "seed": asked.seed, "think_s": asked.think}
    return cut, settings | {"recorded": traffic.told(workloads, world.config)}, world


def workload_in(asked: options.Asked, world: World) -> tuple[Recorded, World]:
    """Return the workload that is asked for, and its world (`World.beside`)."""
    from experiments.study.traffic import Recorded
    from traces import read_workload

    pages = read_workload(asked.workload)
    trip_s = pages.round_trip_s if world.recorded_round_trip else None
    work = Recorded(name="workload", seed=asked.seed, recorded=pages, round_trip_s=trip_s)
    return work, world.beside([work])


def settings_of(traffic: Row, chosen: Mapping[str, AnyPolicy], world: World, **more: object) -> Row:
    """Return all that decides the results of a study of policies; of classes of one's own also their files' digests."""
    from experiments.study.files import content_digest
    from netsim.policies import OwnPolicy

    settings = {"traffic": traffic, "policies": list(chosen), "model": asdict(world.config), "preset": world.preset}
    own = {name: content_digest(Path(policy.place)) for name, policy in chosen.items() if isinstance(policy, OwnPolicy)}
    return {**settings, **more, **({"own_policies": own} if own else {})}


@contextmanager
def folder(command: str, asked: options.Asked, settings: Row, shape: object = object) -> Iterator[Store]:
    """Begin the folder of a command; ending the block early gives up all but finished runs, which have a `shape`."""
    from experiments.study.store import Store

    store = Store(asked.out, command, settings, force=asked.force, shape=shape)
    with store.giving_up():
        yield store


def ended(
    store: Store | None, asked: options.Asked, name: str, text: str, data: Row, tables: Mapping[str, DataFrame],
    drawings: Mapping[str, Drawing], files: Mapping[str, str] | None = None, shown: str | None = None,
) -> None:  # fmt: skip
    """Write what was found, give the folder its name, and print the words, or the JSON object; no `store`: print alone.

    `text` is written, and printed unless something else is `shown`, as ``NAME.txt``; each of the `tables` with a row in
    it becomes a CSV file of its name, each of the `drawings` a PNG and an SVG; the `files` are written as they are.
    """
    if store is not None:
        from experiments.figures.style import pictures

        written: Row = {f"{name}.txt": text + "\n", **(files or {})}
        written |= {f"{called}.csv": table for called, table in tables.items() if len(table)}
        for called, draw in drawings.items():
            written |= pictures(called, draw())
        for file, content in written.items():
            store.write(file, content)
        store.publish()
        data, shown = {**store.configuration, **data}, f"{shown or text}\n\nTables and pictures are in {asked.out}."
    options.answer(asked, data, shown or text)


def checked_outputs(read: Iterable[Path], written: Iterable[Path | None], picture: Path | None) -> None:
    """Refuse outputs that overwrite what is read or each other, and a picture that cannot be drawn."""
    from experiments.study.files import refuse_overwriting

    refuse_overwriting(read, [*written, picture])
    if picture is not None and picture.suffix.lower() not in (".svg", ".png"):
        raise ValueError(f"the name of the picture must end in .svg or .png, got {picture}")


def written_picture(path: Path, draw: Drawing) -> None:
    """Write a picture where it is wanted, in the form that the name says, making its folder."""
    from experiments.figures.style import pictures
    from experiments.study.files import write_file

    write_file(path, pictures(path.stem, draw())[f"{path.stem}{path.suffix.lower()}"])


def worlds_words(
    settings: Row, world: World, chosen: Mapping[str, AnyPolicy], clients: Sequence[object], *,
    battery: bool = False,
) -> str:  # fmt: skip
    """Return in lines below a table: the host-aware policies, the clients of a cell, the world, what was recorded."""
    from netsim.policies import make

    lines, made = [""], {name: make(policy, **world.config.setting) for name, policy in chosen.items()}
    if aware := [name for name, policy in made.items() if policy.host_aware]:
        lines.append(f"host-aware, told by the host what is outstanding: {', '.join(aware)}.")
    if clients:
        counts = ", ".join(map(str, clients))
        lines.append(f"{counts} clients behind one access point; figures are means over them.")
    return "\n".join([*lines, recorded_words(settings["recorded"], world, battery=battery)])


def recorded_words(recorded: Row, world: World, *, battery: bool = False) -> str:
    """Return the world, what of it was recorded (`study.traffic.told`), and whether a `battery` life can rest on it."""
    if not recorded:
        return world.words
    lines, words, captured_s = [world.words], [], recorded.get("captured_s")
    if (median_s := recorded["server_times_s"]) is not None:
        words.append(f"servers: as recorded, {median_s:.3g} s (median)")
    elif world.untold:
        words.append(
            f"servers: the traffic does not tell, they take {world.said['server_delay']} as for generated pages"
        )
    elif world.config.server_delay.kind == "recorded":
        words.append(
            "servers answer at once: the traffic does not tell" if captured_s is None else "servers: as recorded"
        )
    if (trip_s := recorded["round_trip_s"]) is not None:
        words.append(f"round trip: as recorded, {1000 * trip_s:.3g} ms")
    if count := recorded["messages"]:
        words.append(f"messages pushed: {count}")
    lines += [f"{'; '.join(words)}."] if words else []
    if captured_s is not None:
        simulated_s, things = recorded["simulated_s"], recorded["things"]
        lines.append(f"captured: {captured_s:.1f} s; simulated without power saving: {simulated_s:.1f} s.")
        if abs(simulated_s - captured_s) > MOST_OFF * captured_s:
            lines.append("WARNING: the simulated time differs by more than 1 % from the captured time.")
        if battery and (captured_s < LEAST_CAPTURED_S or things < LEAST_THINGS):
            lines.append(
                f"WARNING: the battery life rests on {captured_s:.0f} s of traffic with {things} exchanges, messages "
                f"and datagrams; it needs {LEAST_CAPTURED_S / 60:g} minutes of it or more, and {LEAST_THINGS} of these."
            )
    return "\n".join(lines)
