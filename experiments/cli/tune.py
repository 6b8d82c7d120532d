"""`lpsm tune`: the power-save setting to take for somebody's traffic."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.model import configuration, described, model_options
from experiments.cli.reporting import check_report, command_line, deliver, report_option

if TYPE_CHECKING:
    from experiments.study.store import Store
    from experiments.study.sweep import Frames, Generated, Recorded
    from experiments.study.tune import Tuning

__all__ = ["tune"]


@click.command()
@click.argument("traffic", nargs=-1, type=click.Path(path_type=Path))
@click.option("--max-slowdown", type=float, default=1.1, show_default=True, help="Largest mean slowdown of pages.")
@click.option("--battery-mwh", type=float, default=10_000.0, show_default=True, help="Capacity of the battery, mWh.")
@click.option("--policies", metavar="NAME,NAME", help="Candidates [26 of all kinds].")
@click.option("--member", metavar="GLOB", help="Only these members of the traffic (an archive or a folder).")
@click.option("--skip-damaged", is_flag=True, help="Count damaged parts and go on, instead of giving up.")
@click.option("--visits", type=int, default=10, show_default=True, help="Visits to a page, where pages are split.")
@click.option("--think", type=float, metavar="SECONDS", help="Pause after a visit, instead of the recorded one.")
@click.option("--pages", type=int, default=100, show_default=True, help="Without TRAFFIC: pages of each seed.")
@click.option("--seeds", type=int, default=10, show_default=True, help="Without TRAFFIC: number of seeds.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the split, and of what was not recorded.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/tune"), show_default=True, help="Folder.")
@report_option
@click.option("--jobs", type=int, help="Processes [one a processor].")
@click.option("--json", "as_json", is_flag=True, help="Print the recommendation as one JSON object.")
@model_options
def tune(
    traffic: tuple[Path, ...],
    max_slowdown: float,
    battery_mwh: float,
    policies: str | None,
    member: str | None,
    skip_damaged: bool,
    visits: int,
    think: float | None,
    pages: int,
    seeds: int,
    seed: int,
    out: Path,
    report: Path | None,
    jobs: int | None,
    as_json: bool,
    **model: Any,
) -> None:
    """Recommend a power-save setting for TRAFFIC.

    TRAFFIC is any trace that lpsm pages reads (HAR, pcap, a table, Boston University or Home IP
    sessions) or a workload, one or several; without it, the Web model. The setting is chosen on
    half of the sessions (of the pages, if there are fewer than four sessions) and measured on the
    other half.

    \b
    lpsm tune mine.har --think 30 --radio esp32-c3 --battery-mwh 5000
    lpsm tune condensed.tar.xz --member '*/con2.*' --max-slowdown 1.05
    """  # noqa: D301 - the escape is a character that click reads
    from experiments.report.comparison import plain
    from experiments.report.tune import recommendation_text, tuning_text
    from experiments.study import sweep
    from experiments.study.executor import checked_jobs
    from experiments.study.progress import progress
    from experiments.study.run import run
    from experiments.study.store import Store
    from experiments.study.tune import CANDIDATES, Rule, units
    from experiments.study.tune import tune as choose

    rule = Rule(max_slowdown=max_slowdown, battery_mwh=battery_mwh)
    config = configuration(model)
    check_report(report, out)
    jobs = checked_jobs(jobs)
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    names = CANDIDATES if policies is None else [name for name in policies.split(",") if name.strip()]
    if not traffic and member is not None:
        raise ValueError("member chooses from traffic, but none is given")
    workloads, source = _recorded(traffic, member, seed, skip_damaged) if traffic else _generated(pages, seed, seeds)
    interval_ns = config.beacon_interval_ns
    cut, called = units(workloads, visits=visits, seed=seed, beacon_interval_ns=interval_ns, think_s=think)
    if think is not None and called != "pages":
        raise ValueError(f"think is the pause between visits to pages, but the traffic is split by {called}")
    tasks = sweep.tasks(cut, names, config)
    wanted = list(dict.fromkeys(task.policy for task in tasks.values()))
    by_page = {"visits": visits, "think_s": think} if called == "pages" else {}
    settings = {
        "traffic": {**source, "units": called, **by_page, "seed": seed},
        "policies": wanted,
        "model": described(config),
        "rule": asdict(rule),
    }
    store = Store(out, "tune", settings)
    with store.giving_up():
        if jobs > 1:
            with progress("compiling", None):
                sweep.warm_up(tasks.values())
        results = run(sweep.simulate, tasks, jobs=jobs, finished=store.finished, keep=store.keep, title="runs")
        frames = sweep.frames(results)
        found = choose(frames, [workload.name for workload in cut], rule, config.radio, seed=seed)
        recommendation = plain_row(found, called)
        text = tuning_text(found.held_out, found.recommendation, called)
        _write(store, frames, found, recommendation, text, seed)
        deliver(store, report, lambda: _page(store, found, called))
    if as_json:
        sentence = recommendation_text(found.recommendation, called)
        data = {**settings, "sentence": sentence, "recommendation": recommendation, "held_out": plain(found.held_out)}
        click.echo(json.dumps(data))
    else:
        click.echo(text)
        click.echo(f"\nTables and the picture are in {out}.")


def _page(store: Store, found: Tuning, units: str) -> str:
    from experiments.report.html import render
    from experiments.report.html_tune import tuning_page

    return render(tuning_page(found, units, command=command_line(), manifest=store.manifest))


def plain_row(found: Tuning, units: str) -> dict[str, Any]:
    """Return the recommendation as JSON data."""
    import pandas as pd

    from experiments.report.comparison import plain

    [row] = plain(pd.DataFrame([found.recommendation]))
    return {name: value.item() if hasattr(value, "item") else value for name, value in row.items()} | {"unit": units}


def _generated(pages: int, seed: int, seeds: int) -> tuple[list[Generated | Recorded], dict[str, Any]]:
    from experiments.study.sweep import Generated

    if seeds < 2:
        raise ValueError(f"seeds must be at least 2, one to choose on and one held out, got {seeds}")
    workloads: list[Generated | Recorded] = [Generated(n_pages=pages, seed=n) for n in range(seed, seed + seeds)]
    return workloads, {"kind": "generated", "pages": pages, "seeds": seeds}


def _recorded(
    traffic: tuple[Path, ...], member: str | None, seed: int, skip_damaged: bool
) -> tuple[list[Generated | Recorded], dict[str, Any]]:
    import traces
    from experiments.study.files import content_digest
    from experiments.study.progress import progress
    from experiments.study.sweep import Recorded

    workloads: list[Generated | Recorded] = []
    names: set[str] = set()

    def add(name: str, pages: tuple[traces.Page, ...]) -> None:
        number = seed + len(workloads)
        name = f"{name} ({number})" if name in names else name
        names.add(name)
        workloads.append(Recorded(name=name, seed=number, recorded=pages))

    with progress("sessions read", None) as advance:
        for path in traffic:
            if traces.detect(path) == "workload":
                add(path.stem, tuple(traces.read_workload(path)))
                continue
            report = traces.Report()
            for session in traces.sessions(path, member=member, skip_damaged=skip_damaged, report=report):
                if pages := tuple(traces.pages(session.requests, report=report)):
                    add(session.name, pages)
                advance()
            click.echo(str(report), err=True)
    if not workloads:
        where = ", ".join(str(path) for path in traffic)
        raise ValueError(f"{where}: there is no page in it" + (f" under {member}" if member else ""))
    digests = [content_digest(path) for path in traffic]
    return workloads, {"kind": "trace", "sha256": digests, "member": member, "sessions": len(workloads)}


def _write(store: Store, frames: Frames, found: Tuning, recommendation: dict[str, Any], text: str, seed: int) -> None:
    from experiments.figures.style import pictures
    from experiments.figures.tune import tradeoff
    from experiments.quantities import BASELINE
    from experiments.study.tune import split

    store.write("tune.txt", text + "\n")
    store.write("recommendation.json", json.dumps(recommendation, indent=2) + "\n")
    store.write_frame("chosen-on.csv", found.chosen_on)
    store.write_frame("held-out.csv", found.held_out)
    base = frames.runs.loc[frames.runs["policy"] == BASELINE, ["replication", "pages"]].reset_index(drop=True)
    ours, _ = split(base["replication"].tolist(), seed)
    role = base["replication"].isin(ours).map({True: "chosen on", False: "held out"})
    store.write_frame("units.csv", base.rename(columns={"replication": "unit"}).assign(role=role))
    store.write_frame("runs.csv", frames.runs)
    figure = tradeoff(found.held_out, found.policy, found.recommendation["max_slowdown"])
    for file, content in pictures("tradeoff", figure).items():
        store.write(file, content)
