"""`lpsm emulate`: a real program whose only network is the simulated one, in real time."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import ExitStack, redirect_stdout
from types import SimpleNamespace
from typing import TYPE_CHECKING

import click

from experiments.cli import options
from experiments.cli.model import WORLD, world_of
from experiments.cli.studies import ended, folder, settings_of

if TYPE_CHECKING:
    from experiments.figures.style import Drawing

_TIMES = [("added_delay", name) for name in ("mean", "median", "p95", "p99", "max")]
_TIMES += [("late", name) for name in ("median", "p99", "max")]


@options.command(
    click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED),
    options.option("--policy", "A policy, such as psm:200 or lpsm [none].", options.Policies(several=False)),
    options.policies(None, "Policies to run the command under, one after the other, in place of --policy."),
    options.option("--server", "A second command, behind the wire in place of the Internet.", metavar="COMMAND"),
    options.option(
        "--pcap", "Also write a capture, or as FILE.jsonl a workload of its packets (of one policy).", options.FILE,
        metavar="FILE.pcap",
    ),
    options.out(None, "Folder for tables, and a picture of the first ten seconds."),
    options.SEED,
    options.JSON,
    *WORLD,
)  # fmt: skip
def emulate(asked: options.Asked) -> None:
    """Run COMMAND, any program, behind the simulated air in real time, and say what it costs.

    Its network is its own: with --server what is behind the wire is called `server` (10.9.0.2), else the Internet is,
    and `host` (10.9.0.2) is this machine.  The exit status is that of the program.

    \b
    lpsm emulate --policy psm -- curl -s https://example.org
    lpsm emulate --policies none,psm,lpsm3:1.05 --server "iperf3 -s" -- iperf3 -c server
    """  # noqa: D301 - the escape is a character that click reads
    from functools import partial

    import pandas as pd

    from experiments.emulate import Capture, stopping
    from experiments.emulate import emulate as run
    from experiments.quantities import EMULATED
    from experiments.report.text import of_frame
    from experiments.study.files import refuse_overwriting
    from experiments.study.sweep import named
    from experiments.timeline import timeline
    from traces.files import replacing

    if asked.policy is not None and asked.policies is not None:
        raise ValueError("policy and policies exclude each other")
    world, several = world_of(asked), asked.policies is not None
    policies = asked.policies if several else [asked.policy or "none"]
    chosen = named(policies, world.config.beacon_interval_ns)
    if not policies or (asked.pcap is not None and len(policies) > 1):
        raise ValueError(f"policies must be at least one, and one for a capture (--pcap), got {len(policies)}")
    refuse_overwriting([], [asked.pcap, asked.out])
    header_bytes = world.config.tcp.header_bytes if asked.pcap and asked.pcap.suffix == ".jsonl" else None
    server = shlex.split(asked.server or "")
    settings = settings_of({}, chosen, world, command=asked.command, server=server, seed=asked.seed)
    found = []
    with ExitStack() as held, redirect_stdout(sys.stderr):
        store = None if asked.out is None else held.enter_context(folder("emulate", asked, settings))
        stop = held.enter_context(stopping())
        for policy in policies:
            capture = asked.pcap and Capture(held.enter_context(replacing(asked.pcap)), header_bytes)
            found.append(
                run(
                    asked.command, policy, world.config, server=server, seed=asked.seed, capture=capture, stop=stop,
                    recorded=store is not None, output=2 if asked.as_json else None,
                )
            )  # fmt: skip
            if stop.number:
                break
        rows = [one.row for one in found]
        table = pd.json_normalize(rows, sep="_").astype({f"{of}_ms_{name}": float for of, name in _TIMES})
        table["mean_mw"] = 1000 * table["energy_j_total"] / table["elapsed_s"].clip(lower=1e-9)
        warnings = "".join(f"\n{words}" for one in found for words in one.warnings)
        text, shown = (
            f"{of_frame(EMULATED, table, width)}{warnings}\n{world.words}" for width in (None, options.width())
        )
        delays = [
            {"policy": row["policy"], "added_delay_ms": value / 1e6, "packets": count}
            for row, one in zip(rows, found, strict=True) for value, count in sorted(one.emulated.added.counts.items())
        ]  # fmt: skip
        runs = [one.recorded for one in found if one.recorded is not None]
        drawings: dict[str, Drawing] = {}
        if runs:
            from experiments.figures.timeline import timelines

            seen = [timeline(one, 0.0, min(one.result.elapsed_s, 10.0)) for one in runs]
            drawings["timeline"] = partial(timelines, seen)
        tables = {"runs": table, "delays": pd.DataFrame(delays)}
        quiet = SimpleNamespace(as_json=False, out=asked.out)
        ended(store, quiet, "emulation", text, {}, tables, drawings, shown=shown)
    if asked.as_json:
        click.echo(json.dumps({"summary": rows} if several else rows[0]))
    status = next((one.status for one in found if one.status), 0)
    raise click.exceptions.Exit(status or (130 if stop.number and len(found) < len(policies) else 0))
