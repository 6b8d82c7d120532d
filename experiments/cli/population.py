"""`lpsm population`: every user or session of a trace, or drawn ones, through every policy, here or on a cluster."""

from functools import partial

import click

from experiments.cli import options
from experiments.cli.model import WORLD, world_of
from experiments.cli.studies import ended, folder, recorded_words, settings_of
from experiments.escaping import echo
from experiments.presets import LOCAL


@options.command(
    click.argument("trace", type=options.INPUT, required=False),
    options.whole("--sessions", "Without a trace: how many sessions are drawn [1000].", most=10**9),
    options.whole("--pages", "Without a trace: pages of each [10].", most=10**4),
    options.web("Without a trace"),
    options.policies("none,psm,bsd:1,lpsm:log"),
    options.choice("--by", ["user", "session"], "Whether each run is of a user or of a session."),
    options.MEMBER,
    options.SKIP_DAMAGED,
    options.seconds("--max-think max_think_s", "Leave out longer pauses between pages: the user was away."),
    options.SEED,
    options.out("population"),
    options.option(
        "--scheduler", "processes of this machine, or the address tcp://HOST:PORT of a Dask scheduler.", default=LOCAL
    ),
    options.JOBS,
    options.whole("--pages-per-task", "About how many pages one task, and file, has.", 5000),
    options.JSON,
    *WORLD,
)
def population(asked: options.Asked) -> None:
    """Run every user (or session) of TRACE, or sessions that are drawn, under every policy.

    OUT receives tables of all users and policies (Parquet, a file a task), distributions of energy and slowdown (CSV)
    and pictures (PNG and SVG).  Memory does not grow with their number.  A run that was stopped, by whatever, goes on
    when the same command is given again.
    """
    import netsim
    import traces
    from experiments.figures.population import by_user, energy, slowdown
    from experiments.quantities import BASELINE
    from experiments.report.comparison import population_text
    from experiments.report.text import plain
    from experiments.study import population as study
    from experiments.study import sweep
    from experiments.study.files import content_digest, source_digest
    from experiments.study.parts import read
    from experiments.study.progress import progress
    from experiments.study.run import is_cluster, processes, stream
    from experiments.study.store import part_name
    from experiments.world import traffic_of
    from netsim.simulation import uncompiled

    drawn = asked.trace is None
    for name in ("member", "max_think_s") if drawn else ("sessions", "pages", "web"):
        if getattr(asked, name) is not None:
            where = "traffic that is read, and no TRACE" if drawn else "traffic that is drawn, and a TRACE"
            raise ValueError(f"--{name.removesuffix('_s').replace('_', '-')} is for {where} is given")
    preset = asked.preset or "today"
    web, untold = traffic_of(preset, asked.web)
    world = world_of(asked, drawn=drawn and untold)
    config, interval_ns = world.config, world.config.beacon_interval_ns
    chosen = sweep.named(asked.policies, interval_ns)
    chosen = {BASELINE: chosen.pop(BASELINE), **chosen}
    if (on_cluster := is_cluster(asked.scheduler)) and asked.jobs is not None:
        raise ValueError(f"jobs are for this machine, {asked.scheduler} has workers of its own")
    jobs, policies = processes(asked.jobs), tuple(chosen.values())
    for policy in policies:  # one that does not go with the world is known before anything is read
        netsim.simulate(sweep.ONE_PAGE, policy, config=config)
    report, by = traces.Report(), "session" if drawn else asked.by
    members: study.Drawn | study.Users
    if drawn:
        members = study.Drawn(asked.sessions or 1000, asked.pages or 10, seed=asked.seed, web=web)
        traffic = {"sessions": members.count, "pages": members.pages, "web": web, "seed": asked.seed}
    else:
        choice = {name: getattr(asked, name) for name in ("by", "member", "seed", "skip_damaged", "max_think_s")}
        choice["recorded_round_trip"] = world.recorded_round_trip
        traffic = {"sha256": content_digest(asked.trace), **choice}
        with progress("sessions read", None) as advance:  # what is wrong is known before anything is written
            members = study.Users(asked.trace, **choice, report=report, advance=advance)
    if members.first is None:
        raise ValueError(f"{asked.trace}: there is no page in it")
    world = world.beside([members.first])
    config, least = world.config, asked.pages_per_task
    many = sweep.are_many(members.pages, members.first)
    cut = study.tasks(
        members, policies, config, pages_per_task=least, compile_first=many,
        program=source_digest() if on_cluster else None,
    )  # fmt: skip
    names = [part_name(place) for place, _ in enumerate(study.cut(members.sizes(), least, int))]
    settings = settings_of(traffic, chosen, world, pages_per_task=least)
    with folder("population", asked, settings, str) as store:
        done = len(store.finished)
        if many and done < len(names) and not on_cluster:  # where every worker does
            if uncompiled(policies, config):
                echo("compiling the simulator, once on this machine", err=True)
            sweep.compile_express(policies, config, jobs)
        waiting = ((name, task) for name, task in zip(names, cut, strict=True) if name not in store.finished)
        stream(study.part, waiting, len(names), done=done, keep=store.keep_part, jobs=jobs, scheduler=asked.scheduler)
        if report.format:  # a workload is read without one
            echo(str(report), err=True)
        parts = partial(read, [store.partial / name for name in names])
        psm = netsim.canonical("psm", beacon_interval_ns=interval_ns)
        whole = study.summary(parts, [*chosen], psm, drawn=drawn)
        recorded = members.told(config, float(whole["elapsed_s"].iloc[0]))
        what = f"{traces.counted(members.count, f'{by}s')}, {traces.counted(int(whole['pages'].iloc[0]), 'pages')}"
        text, drawn_through = population_text(whole, what, by, psm), study.curves(parts, [*chosen])
        said = {"recorded": recorded, "users": members.count, "summary": plain(whole)}
        drawings = {
            "energy": partial(energy, drawn_through, [*chosen], by, psm),
            "slowdown": partial(slowdown, drawn_through, by),
            "users": partial(by_user, study.points(parts, [*chosen], members.count), whole, by),
        }  # fmt: skip
        text += f"\n\n{recorded_words(recorded, world)}"
        ended(store, asked, "population", text, said, {"summary": whole}, drawings)
