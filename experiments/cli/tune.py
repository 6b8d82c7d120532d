"""`lpsm tune`: the power-save setting to take for somebody's traffic."""

import json
from functools import partial

import click

from experiments.cli import options
from experiments.cli.model import WORLD, world_of
from experiments.cli.studies import CLIENTS, TRAFFIC, ended, folder, gathered, settings_of, worlds_words
from experiments.presets import BATTERY_MWH, LEVELS
from experiments.study import targets
from experiments.world import traffic_of


@options.command(
    click.argument("traffic", nargs=-1, type=options.INPUT),
    options.number("--max-slowdown", "Largest slowdown of pages.", 1.1, least=1.0),
    options.seconds("--max-push-delay max_push_delay_s", "Largest delay added to pushed messages [any].", above=True),
    options.seconds("--max-delay max_delay_s", "Largest delay added to exchanges (or pages) [any].", above=True),
    options.choice("--at", LEVELS, "What of these is limited."),
    options.choice(
        "--target", targets.TARGETS,
        "Platform that must be able to do it: its settings are the candidates, and are printed.", targets.ANY,
    ),
    options.number(
        "--battery-mwh", "Capacity of a battery, mWh, to say how long it lasts.", BATTERY_MWH, most=1e12, above=True
    ),
    options.number("--base-ma", "What all but the radio draws, mA at 3.3 V.", 0.0, most=1e6),
    options.number("--self-discharge", "What a battery loses by itself a month, percent.", 0.0, most=99.0),
    options.policies(None, "Candidates, separated by commas [those of the target, or of docs/tune.md]."),
    options.SEED,
    *TRAFFIC,
    CLIENTS,
    options.out("tune"),
    options.JOBS,
    options.JSON,
    *WORLD,
)  # fmt: skip
def tune(asked: options.Asked) -> None:
    """Recommend a power-save setting for TRAFFIC.

    TRAFFIC is any trace that lpsm pages reads (HAR, pcap, a table, Boston University or Home IP
    sessions) or a workload, one or several; without it, the Web model. The cheapest candidate that
    keeps the limits on all of the traffic is taken; repeated splits in halves say how sure that is.

    \b
    lpsm tune mine.har --think 30 --radio esp32-c3 --battery-mwh 5000
    lpsm tune capture.pcap --target esp-idf --max-delay 0.3 --at p99
    lpsm tune condensed.tar.xz --member '*/con2.*' --max-slowdown 1.05
    """  # noqa: D301 - the escape is a character that click reads
    import pandas as pd

    from experiments.quantities import BASELINE
    from experiments.report.text import plain
    from experiments.report.tune import recommendation_text, settings_text, tuning_text
    from experiments.study import sweep
    from experiments.study import tune as study

    rule = options.configured(study.Rule, asked)
    drawn = not asked.traffic and traffic_of(asked.preset or "today", asked.web)[1]
    target, own = asked.target, targets.radios(asked.target)
    if asked.radio is None and own and str(world_of(asked).said.get("radio")) not in own:
        asked.radio = own[0]
    world = world_of(asked, drawn=drawn)
    interval_ns, radio = world.config.beacon_interval_ns, world.config.radio
    dtim_period = world.config.setting["dtim_period"]
    of_target = [*study.CANDIDATES]
    if target != targets.ANY:
        of_target = targets.candidates(target, str(world.said["radio"]), dtim_period)
    chosen = sweep.named(of_target if asked.policies is None else asked.policies, interval_ns)
    cut, source, world = gathered(asked, asked.traffic, world, few=study.FEW_SESSIONS, option="TRAFFIC", parts=True)
    if len(cut.workloads) < 2:
        hint = "add a recording, or see all policies on this one with lpsm compare"
        raise ValueError(f"tune needs at least two seeds, sessions or pages to be split, got one; {hint}")
    several = [asked.clients] if asked.clients != 1 else []
    if several:
        source["clients"] = asked.clients
    tasks, of_whole = (
        sweep.tasks(own, list(chosen.values()), world.config, asked.clients) for own in (cut.workloads, cut.whole)
    )
    settings = settings_of(source, chosen, world, rule=rule.given(), target=target)
    with folder("tune", asked, settings, sweep.RESULT) as store:
        results = sweep.measured(tasks | of_whole, store, jobs=asked.jobs)
        frames, whole = (sweep.frames({key: results[key] for key in own}) for own in (tasks, of_whole))
        found = study.tune(frames, rule, radio, seed=asked.seed, whole=whole if of_whole else None)
        [row] = plain(pd.DataFrame([found.recommendation]))
        recommendation = {name: getattr(value, "item", lambda value=value: value)() for name, value in row.items()}
        to_type = targets.settings(found.policy, target, beacon_interval_ns=interval_ns, dtim_period=dtim_period)
        recommendation |= {"unit": cut.called, "settings": [one._asdict() for one in to_type]}
        said_radio = str(world.said.get("radio", "thesis"))
        doubt = targets.doubt(target, said_radio)
        recommendation |= {"idle_ma": targets.idle_ma(found.policy, world.config)} if to_type and not doubt else {}
        text = f"{tuning_text(found.table, found.recommendation, cut.called)}\n\n"
        text += settings_text(to_type, found.policy, recommendation.get("idle_ma"), said_radio)
        text += f"\n{doubt}" if doubt else ""
        text += worlds_words(source, world, chosen, several, battery=True)
        if asked.max_push_delay_s is not None and not len(frames.messages):
            text += "\nNo message is pushed, so that max-push-delay rules nothing out."
        drawings = {}
        if found.table["slowdown_mean"].notna().any():  # otherwise there are messages alone
            from experiments.figures.front import tradeoff

            drawings["tradeoff"] = partial(tradeoff, found.table, found.policy, asked.max_slowdown)
        units = frames.runs.loc[frames.runs["policy"] == BASELINE, ["replication", "pages"]]
        tables = {
            "candidates": found.table, "splits": found.splits, "runs": frames.runs,
            "units": units.rename(columns={"replication": "unit"}),
        }  # fmt: skip
        sentence = recommendation_text(found.recommendation, cut.called)
        said = {"sentence": sentence, "recommendation": recommendation, "candidates": plain(found.table)}
        files = {"recommendation.json": json.dumps(recommendation, indent=2) + "\n"}
        ended(store, asked, "tune", text, said, tables, drawings, files)
