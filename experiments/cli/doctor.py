"""`lpsm doctor`: what the program runs on, and what is missing."""

from __future__ import annotations

import json
import os
import platform
import re
from importlib import metadata
from typing import Any

import click

from experiments.cli import options
from experiments.inert import echo

__all__ = ["DATA", "doctor"]

DATA = {  # traces and data sets -> the folder of each
    **{name: name for name in ("bu-www-client", "ucb-home-ip", "har", "pcap", "captures", "elec2", "mnist", "usps")},
    "reuters": "reuters21578", "rcv1": "RCV1", "sms-spam": "sms_spam", "spam-drift": "spam_katakis_stream",
}  # fmt: skip
_REQUIREMENT = re.compile(r"""([A-Za-z0-9._-]+)(?:.*extra == ['"]([a-z]+)['"])?""")


@options.command(
    options.flag("--compile compile_now", "Compile what runs need, once, so that none waits for it."),
    options.JSON,
)
def doctor(asked: Any) -> None:
    """Say what the program runs on: versions, processors, caches, data.

    Exit status 0 if all it needs is there, 1 if a library is missing or the compiled code does not run.
    """
    from experiments.study.run import checked_jobs

    if asked.compile_now:
        _compile()
    try:
        _run("psm")
        code = "runs"
    except Exception as error:  # whatever is wrong is what a doctor is asked for
        code = f"does not run: {error}"
    needed = [match.groups() for line in metadata.requires("lpsm") or () if (match := _REQUIREMENT.match(line))]
    extras = [(name, extra) for name, extra in needed if extra not in (None, "dev", "docs")]
    libraries = {name: _version(name) for name, extra in needed if extra is None}
    found = {
        "lpsm": _version("lpsm"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": checked_jobs(None),
        "libraries": libraries,
        "extras": {name: _version(name) or f"not installed, lpsm[{extra}]" for name, extra in extras},
        "compiled_code": code,
        "compile_cache": os.environ.get("NUMBA_CACHE_DIR") or "beside the code (__pycache__)",
        **_data(),
    }
    wrong = [f"{name} is missing" for name, version in libraries.items() if version is None]
    wrong += [] if code == "runs" else [f"compiled code: {code}"]
    if asked.as_json:
        click.echo(json.dumps({**found, "wrong": wrong}))
    else:
        for title, value in found.items():
            items = value.items() if isinstance(value, dict) else ()
            words = ", ".join(f"{name} {what or 'MISSING'}" for name, what in items) or (value or "-")
            echo(f"{title.replace('_', ' ')}: {words}")
        echo("everything needed is there" if not wrong else "wrong: " + "; ".join(wrong))
    if wrong:
        click.get_current_context().exit(1)


def _data() -> dict[str, Any]:
    from experiments.datasets import data_folder

    try:
        folder = data_folder()
    except (ValueError, OSError):
        return {"data_folder": "none; LPSM_DATA names one", "data": {}}
    there = {name: "found" if (folder / place).exists() else "not found" for name, place in DATA.items()}
    return {"data_folder": str(folder), "data": there}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _run(policy: str) -> None:
    import netsim
    from traces import Page

    netsim.simulate([Page("page", 300, 1000)], policy, engine="express")


def _compile() -> None:
    """Run a page under every kind of policy."""
    from experiments.study.progress import progress
    from netsim import policies

    names = sorted({entry.example for entry in policies.registry().values()})
    names = [name for name in names if getattr(policies.make(name), "compiled", None) is not None]
    echo("Compiling the simulator and the policies' rules: once, about 40 s of processor time.", err=True)
    with progress("policies", len(names)) as advance:
        for name in names:
            _run(name)
            advance()
