"""`lpsm doctor`: what the program runs on, and what is missing."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
from importlib import metadata
from typing import Any

import click

from experiments.cli import options
from experiments.inert import echo

DATA = {  # traces and data sets -> the folder of each
    **{name: name for name in ("bu-www-client", "ucb-home-ip", "har", "pcap", "captures", "elec2", "mnist", "usps")},
    "reuters": "reuters21578", "sms-spam": "sms_spam", "spam-drift": "spam_katakis_stream",
}  # fmt: skip
EXTRAS = {"distributed": "cluster", "gymnasium": "gymnasium", "jupyterlab": "notebooks", "river": "river"}


@options.command(
    options.flag("--compile compile_now", "Compile what runs need, once, so that none waits for it."),
    options.JSON,
)
def doctor(asked: Any) -> None:
    """Say what the program runs on: versions, processors, caches, data.

    Exit status 0, or 1 if the compiled code does not run.
    """
    from experiments.datasets import data_folder
    from experiments.study.run import processes
    from experiments.study.store import LIBRARIES

    if asked.compile_now:
        _compile()
    code = "runs"
    try:
        _run("psm")
    except Exception as error:  # whatever is wrong is what a doctor is asked for
        code = f"does not run: {error}"
    try:
        folder = data_folder()
        data = {name: "found" if (folder / place).exists() else "not found" for name, place in DATA.items()}
        where = str(folder)
    except (ValueError, OSError):
        where, data = "none (LPSM_DATA is not set)", {}
    found: dict[str, Any] = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": processes(None),
        "libraries": {name: metadata.version(name) for name in LIBRARIES},
        "extras": {
            name: "installed" if importlib.util.find_spec(name) else f"not installed, lpsm[{extra}]"
            for name, extra in EXTRAS.items()
        },
        "compiled_code": code,
        "compile_cache": os.environ.get("NUMBA_CACHE_DIR") or "beside the code (__pycache__)",
        "data_folder": where,
        "data": data,
    }
    if asked.as_json:
        click.echo(json.dumps(found))
    else:
        for title, value in found.items():
            words = "; ".join(map(" ".join, value.items())) or "-" if isinstance(value, dict) else value
            echo(f"{title.replace('_', ' ')}: {words}")
    if code != "runs":
        click.get_current_context().exit(1)


def _run(policy: str) -> None:
    from experiments.study.sweep import compile_express
    from netsim import SimulationConfig

    compile_express((policy,), SimulationConfig())


def _compile() -> None:
    """Run a page under every kind of policy."""
    from experiments.study.progress import progress
    from netsim.policies import registry

    names = sorted({entry.example for entry in registry().values()})
    echo("Compiling the simulator and the policies' rules: once, about 40 s of processor time.", err=True)
    with progress("policies", len(names)) as advance:
        for name in names:
            _run(name)
            advance()
