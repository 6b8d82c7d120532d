"""`lpsm compare`: what policies cost and delay, on generated traffic or on somebody's browsing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.model import battery_option, configuration, described, model_options
from experiments.cli.reporting import check_report, command_line, deliver, report_option

if TYPE_CHECKING:
    from experiments.study.compare import Comparison
    from experiments.study.store import Store
    from experiments.study.sweep import Frames, Generated, Recorded

__all__ = ["compare"]

POLICIES = "none,psm,bsd:1,bsd:0.5,bsd:0.2,bsd:0.1,lpsm,lpsm:log"
WINDOW_S = 150.0  # of the picture of sleep times


@click.command()
@click.option("--pages", type=int, default=100, show_default=True, help="Pages drawn for each seed.")
@click.option("--seed", type=int, default=0, show_default=True, help="First seed.")
@click.option("--seeds", type=int, default=10, show_default=True, help="Number of seeds: SEED, SEED+1, ...")
@click.option("--policies", default=POLICIES, show_default=True, help="What is compared, separated by commas.")
@click.option("--trace", type=click.Path(path_type=Path), help="Browsing instead: each session a replication.")
@click.option("--member", metavar="GLOB", help="Only these members of the trace (an archive or a folder).")
@click.option("--skip-damaged", is_flag=True, help="Count damaged parts of a trace and go on, instead of giving up.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/compare"), show_default=True, help="Folder.")
@report_option
@click.option("--preset", type=click.Choice(["thesis"]), help="Settings of a paper, with what it printed beside ours.")
@click.option("--jobs", type=int, help="Processes [one a processor].")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
@battery_option
@model_options
def compare(
    pages: int,
    seed: int,
    seeds: int,
    policies: str,
    trace: Path | None,
    member: str | None,
    skip_damaged: bool,
    out: Path,
    report: Path | None,
    preset: str | None,
    jobs: int | None,
    as_json: bool,
    battery_mwh: float | None,
    **model: Any,
) -> None:
    """Compare the energy and the slowdown of power-saving policies.

    All policies meet the same pages, think times and server delays.  Tables (CSV) and pictures (PNG
    and SVG) go to the folder OUT, which is replaced only if an earlier comparison made it.
    """
    import netsim
    from experiments.papers.thesis.energy import SETTINGS
    from experiments.report.comparison import plain
    from experiments.study import sweep
    from experiments.study.compare import compare as aggregate
    from experiments.study.executor import checked_jobs
    from experiments.study.progress import progress
    from experiments.study.run import run
    from experiments.study.store import Store

    config = configuration(model, SETTINGS if preset == "thesis" else None)
    jobs = checked_jobs(jobs)
    check_report(report, out)
    if trace is None:
        if member is not None:
            raise ValueError("member chooses from a trace, but no --trace is given")
        workloads, traffic = _generated(pages, seed, seeds)
    else:
        for name in ("pages", "seeds"):
            if click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
                raise ValueError(f"--{name} is for traffic that is drawn, and --trace is given")
        workloads, traffic = _recorded(trace, member, seed, skip_damaged)
    tasks = sweep.tasks(workloads, [name for name in policies.split(",") if name.strip()], config)
    wanted = list(dict.fromkeys(task.policy for task in tasks.values()))
    settings: dict[str, Any] = {"traffic": traffic, "policies": wanted, "model": described(config), "preset": preset}
    if battery_mwh is not None:
        settings["battery_mwh"] = battery_mwh
    store = Store(out, "compare", settings)
    with store.giving_up():
        if jobs > 1:
            with progress("compiling", None):
                sweep.warm_up(tasks.values())
        results = run(
            sweep.simulate, tasks, jobs=jobs, finished=store.finished, keep=store.keep, title="runs of a policy"
        )
        frames = sweep.frames(results)
        comparison = aggregate(
            frames,
            wanted,
            awake_mw=config.radio.awake_mw,
            asleep_mw=config.radio.asleep_mw,
            psm=netsim.canonical("psm", beacon_interval_ns=config.beacon_interval_ns),
            battery_mwh=battery_mwh,
        )
        text, beside = _words(comparison, preset, traffic)
        _write_tables(store, frames, comparison, text)
        if beside is not None:
            store.write_frame("published.csv", beside)
        polls = _write_pictures(store, frames, comparison)
        deliver(store, report, lambda: _page(store, comparison, polls, beside))
    if as_json:
        data = {**settings, "replications": len(workloads), "summary": plain(comparison.summary)}
        if beside is not None:
            data["published"] = plain(beside)
        click.echo(json.dumps(data))
    else:
        click.echo(text)
        click.echo(f"\nTables and pictures are in {out}.")


def _generated(pages: int, seed: int, seeds: int) -> tuple[list[Generated | Recorded], dict[str, Any]]:
    from experiments.study.sweep import Generated

    if seeds < 1:
        raise ValueError(f"seeds must be at least 1, got {seeds}")
    workloads: list[Generated | Recorded] = [
        Generated(n_pages=pages, seed=number) for number in range(seed, seed + seeds)
    ]
    return workloads, {"kind": "generated", "pages": pages, "seed": seed, "seeds": seeds}


def _recorded(
    trace: Path, member: str | None, seed: int, skip_damaged: bool
) -> tuple[list[Generated | Recorded], dict[str, Any]]:
    import traces
    from experiments.study.files import content_digest
    from experiments.study.progress import progress
    from experiments.study.sweep import Recorded

    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    report = traces.Report()
    workloads: list[Generated | Recorded] = []
    if traces.detect(trace) == "workload":  # pages already, one session
        if member is not None:
            raise ValueError(f"member chooses sessions of a trace, {trace} is a workload")
        workloads = [Recorded(name="workload", seed=seed, recorded=tuple(traces.read_workload(trace)))]
        digest = content_digest(trace)
        return workloads, {"kind": "trace", "sha256": digest, "member": None, "seed": seed, "sessions": 1}
    with progress("sessions read", None) as advance:
        for session in traces.sessions(trace, member=member, skip_damaged=skip_damaged, report=report):
            if pages := tuple(traces.pages(session.requests, report=report)):
                workloads.append(Recorded(name=session.name, seed=seed + len(workloads), recorded=pages))
            advance()
    click.echo(str(report), err=True)
    if not workloads:
        raise ValueError(f"{trace}: there is no page in it" + (f" under {member}" if member else ""))
    digest = content_digest(trace)
    return workloads, {"kind": "trace", "sha256": digest, "member": member, "seed": seed, "sessions": len(workloads)}


def _words(comparison: Comparison, preset: str | None, traffic: Mapping[str, Any]) -> tuple[str, Any]:
    from experiments.papers.thesis.energy import beside
    from experiments.report.comparison import comparison_text, published_text

    text = comparison_text(comparison.summary, _over(traffic))
    if preset is None:
        return text, None
    table = beside(comparison.summary)
    return text + "\n\n" + published_text(table), table


def _over(traffic: Mapping[str, Any]) -> str:
    if traffic["kind"] == "generated":
        return f"{traffic['seeds']} seeds of {traffic['pages']} pages"
    return f"{traffic['sessions']} sessions"


def _page(store: Store, comparison: Comparison, polls: Any, beside: Any) -> str:
    from experiments.report.html import render
    from experiments.report.html_compare import comparison_page

    what = _over(store.manifest["configuration"]["traffic"])
    return render(
        comparison_page(comparison, polls, what=what, command=command_line(), manifest=store.manifest, published=beside)
    )


def _write_tables(store: Store, frames: Frames, comparison: Comparison, text: str) -> None:
    store.write("comparison.txt", text + "\n")
    store.write_frame("summary.csv", comparison.summary)
    store.write_frame("replications.csv", comparison.replications)
    store.write_frame("runs.csv", frames.runs)
    store.write_frame("pages.csv", frames.pages)
    store.write_frame("slowdown-by-page.csv", comparison.slowdowns)


def _write_pictures(store: Store, frames: Frames, comparison: Comparison) -> Any:
    """Write the pictures, and return the polls of the window that is drawn, or None."""
    from experiments.figures.comparison import energy, energy_front, slowdown, slowdown_by_page
    from experiments.figures.evolution import evolution
    from experiments.figures.style import pictures
    from experiments.quantities import BASELINE
    from experiments.study.evolution import busy_page, window

    drawn = {
        "front": energy_front(comparison.summary),
        "energy": energy(comparison.summary),
        "slowdown": slowdown(comparison.summary),
        "slowdown-by-page": slowdown_by_page(comparison.slowdowns),
    }
    polls = None
    if len(frames.polls):
        first = frames.polls["replication"].iloc[0]
        pages = frames.pages[frames.pages["replication"] == first]
        start_page = busy_page(pages.loc[pages["policy"] == BASELINE, "issue_s"], WINDOW_S)
        polls, loads = window(pages, frames.polls, start_page=start_page, window_s=WINDOW_S)
        store.write_frame("sleep-times.csv", polls)
        store.write_frame("sleep-times-pages.csv", loads)
        drawn["sleep-times"] = evolution(polls, loads, window_s=WINDOW_S)
    for name, figure in drawn.items():
        for file, content in pictures(name, figure).items():
            store.write(file, content)
    return polls
