"""`lpsm doctor`: what the program runs on, and what it finds there."""

from __future__ import annotations

import json
import os
from importlib import metadata
from pathlib import Path
from typing import Any

import click

from experiments.cli.options import json_option
from experiments.inert import echo

__all__ = ["doctor"]

LIBRARIES = (
    "numpy",
    "numba",
    "scipy",
    "pandas",
    "pyarrow",
    "simpy",
    "matplotlib",
    "scikit-learn",
    "click",
    "dpkt",
    "h11",
)
EXTRAS = {"distributed": "cluster", "river": "river", "dash": "explore"}  # library -> extra that brings it
DATA = ("bu-www-client", "ucb-home-ip", "har", "pcap")


@click.command()
@click.option("--compile", "compile_now", is_flag=True, help="Compile what runs need, once, so that none waits for it.")
@json_option("what is found")
def doctor(compile_now: bool, as_json: bool) -> None:
    """Say what the program runs on: versions, processors, caches, data found.

    Exit status 0 if all it needs is there, 1 if a library is missing or the compiled code does not run.
    """
    if compile_now:
        _compile()
    found = _found()
    wrong = [f"{name} is missing" for name, version in found["libraries"].items() if version is None]
    if found["compiled_code"] != "runs":
        wrong.append(f"compiled code: {found['compiled_code']}")
    if as_json:
        click.echo(json.dumps({**found, "wrong": wrong}))
    else:
        for title, value in found.items():
            echo(f"{title.replace('_', ' ')}: {_line(value)}")
        echo("everything needed is there" if not wrong else "wrong: " + "; ".join(wrong))
    if wrong:
        click.get_current_context().exit(1)


def _found() -> dict[str, Any]:
    import platform

    from experiments.study.executor import checked_jobs

    data = _data_folder()
    return {
        "lpsm": _version("lpsm"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": checked_jobs(None),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "extras": {name: _version(name) or f"not installed, lpsm[{extra}]" for name, extra in EXTRAS.items()},
        "compiled_code": _compiled(),
        "compile_cache": os.environ.get("NUMBA_CACHE_DIR") or "beside the code (__pycache__)",
        "policies": _policies(),
        "radios": _radios(),
        "data_folder": str(data) if data else "none found; LPSM_DATA names one",
        "data": {name: "found" if (data / name).exists() else "not found" for name in DATA} if data else {},
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _compile() -> None:
    """Run a page under every kind of policy."""
    import netsim
    from experiments.study.run import progress
    from netsim import policies
    from traces import Page

    names = sorted({entry.example for entry in policies.registry().values()})
    names = [name for name in names if getattr(policies.make(name), "compiled", None) is not None]
    echo("Compiling the simulator and the policies' rules: once, about a minute.", err=True)
    with progress("policies", len(names)) as advance:
        for name in names:
            netsim.simulate([Page("page", 300, 1000)], name, engine="express")
            advance()


def _compiled() -> str:
    import netsim
    from traces import Page

    try:
        netsim.simulate([Page("page", 300, 1000)], "psm", engine="express")
    except Exception as error:  # whatever is wrong is what a doctor is asked for
        return f"does not run: {error}"
    return "runs"


def _policies() -> list[str]:
    from netsim.policies import registry

    return list(registry())


def _radios() -> list[str]:
    import netsim

    return list(netsim.profiles())


def _data_folder() -> Path | None:
    from experiments.datasets.finding import data_folder

    try:
        return data_folder()
    except (ValueError, OSError):
        return None


def _line(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {version or 'MISSING'}" for name, version in value.items()) or "-"
    return ", ".join(value) if isinstance(value, list) else str(value)
