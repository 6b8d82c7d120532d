"""`lpsm compare`: what policies cost and delay, on generated traffic or on somebody's browsing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from experiments.cli import options
from experiments.cli.model import WORLD, settings
from experiments.cli.studies import TRAFFIC, ended, folder, gathered, settings_of, worlds_words
from experiments.presets import COMPARED
from experiments.world import Setting, setting, traffic_of

if TYPE_CHECKING:
    from experiments.figures.style import Drawing
    from experiments.quantities import Row
    from experiments.study.traffic import Units
    from experiments.world import World


@options.command(
    options.SEED,
    options.policies(",".join(COMPARED)),
    options.option(
        "--trace", "Recorded traffic in place of the Web model; each of its sessions is a replication.", options.INPUT
    ),
    *TRAFFIC,
    options.option(
        "--clients",
        "Clients of the access point, all under the same policy; several numbers, separated by commas, are compared.",
        default="1",
    ),
    options.out("compare"),
    options.number(
        "--max-slowdown", "Name the best policy with at most this mean slowdown [for several limits].", least=1.0
    ),
    options.JOBS,
    options.JSON,
    options.flag(
        "--clairvoyant",
        "Also give the energy of two clients that know beforehand when frames come, at the slowdown of each policy: "
        "one wakes up at beacons alone, one also polls.  Web pages only, not with --air; some 0.2 s a page, one core.",
    ),
    options.option(
        "--sweep",
        "A field of the world (lpsm list world) and its values, which are compared; may be repeated.",
        metavar="FIELD=VALUE,VALUE",
        multiple=True,
    ),
    options.policy("--baseline", "Also give the paired difference of every policy from this one."),
    *WORLD,
)
def compare(asked: options.Asked) -> None:
    """Compare the energy and the slowdown of power-saving policies.

    All policies meet the same pages, think times and server delays.  Tables (CSV) and pictures (PNG and SVG) go to the
    folder OUT, which is replaced only if an earlier comparison made it.

    \b
    lpsm compare --clients 1,2,5,10,20 --air 11g:54 --pages 20 --seeds 3
    lpsm compare --sweep server_delay=0,0.1,0.5 --policies psm,lpsm3:1.05 --baseline psm
    """  # noqa: D301 - the escape is a character that click reads
    import pandas as pd

    import netsim
    import traces
    from experiments import comparison as study
    from experiments.figures import comparison as figures
    from experiments.quantities import PAIRED, REFERENCES
    from experiments.report.text import plain
    from experiments.study import sweep

    trace, fields = asked.trace, _swept(asked)
    few = 1 if trace is not None and traces.detect(trace) == "workload" else study.FEW_SESSIONS
    gathered_at: dict[tuple[object, ...], tuple[Units, Row, World]] = {}
    placed = []
    preset, given = settings(asked)
    for one in study.points(preset, given, fields, drawn=trace is None and traffic_of(preset, asked.web)[1]):
        world = one.world
        key = world.config.beacon_interval_ns, world.recorded_round_trip, world.said.get("server_delay")
        if key not in gathered_at:  # a trace is read once for all worlds that read it alike
            gathered_at[key] = gathered(asked, [] if trace is None else [trace], world, few=few, option="--trace")
        cut, traffic, _ = gathered_at[key]
        placed.append((one._replace(world=world.beside(cut.workloads)), cut))
    (point, cut), clients = placed[0], fields["clients"]
    policies, baselines, interval_ns = [*asked.policies], [], point.world.config.beacon_interval_ns
    if asked.baseline is not None:
        intervals_ns = (one.world.config.beacon_interval_ns for one, _ in placed)
        baselines = [netsim.canonical(asked.baseline, beacon_interval_ns=own) for own in intervals_ns]
        policies += [] if baselines[0] in sweep.named(policies, interval_ns) else [asked.baseline]
    chosen, name = sweep.named(policies, interval_ns), "".join(baselines[:1])
    tasks = study.listed(placed, policies, clairvoyant=asked.clairvoyant)
    assumed = {} if placed[1:] else study.with_assumed(point, cut, policies)
    worlds = {field: values for field, values in fields.items() if field != "clients"}
    more = {what: said for what, said in (("sweep", worlds), ("baseline", name)) if said}
    own = settings_of(
        traffic, chosen, point.world, clients=clients, max_slowdown=asked.max_slowdown, clairvoyant=asked.clairvoyant,
        **more,
    )  # fmt: skip
    with folder("compare", asked, own, sweep.RESULT) as store:
        every = {key: task for of in (*tasks, assumed) for key, task in of.items()}
        results = sweep.measured(every, store, jobs=asked.jobs)
        cells, varied = [], [field for field, values in fields.items() if values[1:]]
        compared = study.aggregated(placed, tasks, policies, results)
        for place, ((one, _), found) in enumerate(zip(placed, compared, strict=True)):
            tables = {"summary": found.summary, "replications": found.replications}
            tables |= {"slowdown-by-page": found.slowdowns}
            tables |= {of: getattr(found.frames, of) for of in ("runs", "pages", "messages")}
            tables |= {"against": found.against(baselines[place])} if name else {}
            at = {field: one.values[field] for field in varied}
            cells.append({called: table.assign(**at) for called, table in tables.items()})
        tables = {called: pd.concat([own[called] for own in cells], ignore_index=True) for called in cells[0]}
        drawings: dict[str, Drawing]
        if placed[1:]:  # worlds stand below each other
            measured = tables["summary"][~tables["summary"]["policy"].isin(REFERENCES)]
            text = shown = study.swept_text(measured, varied, asked.max_slowdown)
            called = "cell" if varied == ["clients"] else "sweep"
            drawings = {called: partial(figures.growth, measured, varied[-1])}
        else:
            drawings = found.drawings()
            text, shown = (found.text(asked.max_slowdown, width) for width in (None, options.width()))
        if name:
            pairs = study.worlds_table(PAIRED, tables["against"], varied)
            against = f"\n\nPaired differences from {name}, ± 95 %:\n\n{pairs}\n"
            text, shown = text + against, shown + against
        said = {field: value for field, value in point.world.said.items() if field not in fields}
        words = worlds_words(traffic, point.world._replace(said=said), chosen, clients if clients != [1] else ())
        words += study.order_words(point.world.config.radio, assumed, results)
        data = {"replications": len(cut.workloads), "summary": plain(tables["summary"])}
        data |= {"against": plain(tables["against"])} if name else {}
        ended(store, asked, "comparison", text + words, data, tables, drawings, shown=shown + words)


def _swept(asked: options.Asked) -> dict[str, list[Setting]]:
    """Return the values of all that is swept, by field; `clients` is always there."""
    found: dict[str, list[Setting]] = {}
    for text in (f"clients={asked.clients}", *asked.sweep):
        name, equals, values = text.partition("=")
        if not equals or not values:
            raise ValueError(f"sweep must be FIELD=VALUE,VALUE,..., got {text!r}")
        if name in found and found[name] != [1]:
            raise ValueError(f"{name} must be swept once, got {text!r}")
        found[name] = list(map(setting, values.split(",")))
    return found
