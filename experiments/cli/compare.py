"""`lpsm compare`: what policies cost and delay, on generated traffic or on somebody's browsing."""

from __future__ import annotations

from typing import Any

from experiments.cli import options
from experiments.cli.model import WORLD, settings
from experiments.cli.studies import TRAFFIC, ended, folder, gathered, settings_of, worlds_words
from experiments.presets import COMPARED


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
        "Also give the energy of a client that knows beforehand when frames come, at the slowdown of each policy: "
        "Web pages only, not with --air; some 15 ms a page on one core.",
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
def compare(asked: Any) -> None:
    """Compare the energy and the slowdown of power-saving policies.

    All policies meet the same pages, think times and server delays.  Tables (CSV) and pictures (PNG and SVG) go to the
    folder OUT, which is replaced only if an earlier comparison made it.

    \b
    lpsm compare --clients 1,2,5,10,20 --air 11g:54 --pages 20 --seeds 3
    lpsm compare --sweep server_delay=0,0.1,0.5 --policies psm,lpsm3:1.05 --baseline psm
    """  # noqa: D301 - the escape is a character that click reads
    import pandas as pd

    import traces
    from experiments import comparison as study
    from experiments.figures import comparison as figures
    from experiments.quantities import PAIRED, REFERENCES
    from experiments.report.text import plain
    from experiments.study import sweep

    trace, fields = asked.trace, _swept(asked)
    few = 1 if trace is not None and traces.detect(trace) == "workload" else study.FEW_SESSIONS
    placed, gathered_at = [], dict[Any, Any]()
    for one in study.points(*settings(asked), fields, drawn=trace is None):
        world = one.world
        key = world.config.beacon_interval_ns, world.recorded_round_trip, world.said.get("server_delay")
        if key not in gathered_at:  # a trace is read once for all worlds that read it alike
            gathered_at[key] = gathered(asked, [] if trace is None else [trace], world, few=few, option="--trace")
        cut, traffic, _ = gathered_at[key]
        placed.append((one._replace(world=world.beside(cut.workloads)), cut))
    (point, cut), several = placed[0], [*fields.get("clients", [1])] != [1]
    policies, baseline = [*asked.policies], asked.baseline
    chosen, name = sweep.named(policies, point.world.config.beacon_interval_ns), ""
    if baseline is not None:
        [name] = sweep.named([baseline], point.world.config.beacon_interval_ns).keys() - {"none"} or {"none"}
        policies += [] if name in chosen else [baseline]
    chosen = sweep.named(policies, point.world.config.beacon_interval_ns)
    tasks = study.listed(placed, policies, clairvoyant=asked.clairvoyant)
    named = {name: getattr(asked, name) for name in ("max_slowdown", "clairvoyant")}
    more = {name: values for name, values in (("sweep", _worlds(fields)), ("baseline", name)) if values}
    own = settings_of(traffic, chosen, point.world, clients=fields["clients"], **named, **more)
    with folder("compare", asked, own, sweep.RESULT) as store:
        results = sweep.measured({key: task for of in tasks for key, task in of.items()}, store, jobs=asked.jobs)
        cells, varied = [], [name for name, values in fields.items() if values[1:]]
        for (one, units), of in zip(placed, tasks, strict=True):
            found = study.compared(one, units, policies, {key: results[key] for key in of})
            tables = {"summary": found.summary, "replications": found.replications}
            tables |= {"slowdown-by-page": found.slowdowns}
            tables |= {name: getattr(found.frames, name) for name in ("runs", "pages", "messages")}
            tables |= {} if baseline is None else {"against": found.against(baseline)}
            at = {name: one.values[name] for name in varied}
            cells.append({name: table.assign(**at) for name, table in tables.items()})
        tables = {name: pd.concat([own[name] for own in cells], ignore_index=True) for name in cells[0]}
        if placed[1:]:  # worlds stand below each other
            measured = tables["summary"][~tables["summary"]["policy"].isin(REFERENCES)]
            text = shown = study.swept_text(measured, varied, asked.max_slowdown)
            pictures = {"cell" if varied == ["clients"] else "sweep": figures.growth(measured, varied[-1])}
        else:
            pictures = found.pictures()
            text, shown = (found.text(asked.max_slowdown, width) for width in (None, options.width()))
        if baseline is not None:
            pairs = study.worlds_table(PAIRED, tables["against"], varied)
            against = f"\n\nPaired differences from {name}, ± 95 %:\n\n{pairs}\n"
            text, shown = text + against, shown + against
        said = {name: value for name, value in point.world.said.items() if name not in fields}
        words = worlds_words(traffic, point.world._replace(said=said), chosen, fields["clients"] if several else ())
        data = {"replications": len(cut.workloads), "summary": plain(tables["summary"])}
        data |= {} if baseline is None else {"against": plain(tables["against"])}
        ended(store, asked, "comparison", text + words, data, tables, pictures, shown=shown + words)


def _swept(asked: Any) -> dict[str, list[Any]]:
    """Return the values of all that is swept, by field; `clients` is always there."""
    found: dict[str, list[Any]] = {}
    for text in (f"clients={asked.clients}", *asked.sweep):
        name, equals, values = text.partition("=")
        if not equals or not values:
            raise ValueError(f"sweep must be FIELD=VALUE,VALUE,..., got {text!r}")
        if name in found and found[name] != [1]:
            raise ValueError(f"{name} must be swept once, got {text!r}")
        found[name] = [_value(one) for one in values.split(",")]
    return found


def _worlds(fields: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: values for name, values in fields.items() if name != "clients"}


def _value(text: str) -> Any:
    """Return a value as a file of a world would have it."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)
