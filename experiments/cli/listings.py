"""`lpsm policies`, `radios`, `samplers`, `formats`: what there is, what it means, where it comes from, an example.

Each list is the registry of the package that has the things, so that what is new appears here by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import click

from experiments.cli.options import json_option
from experiments.inert import echo

__all__ = ["formats", "policies", "radios", "samplers"]


def _policies() -> Mapping[str, Any]:
    from netsim.policies import registry

    return registry()


def _radios() -> Mapping[str, Any]:
    from netsim.radio import registry

    return registry()


def _samplers() -> Mapping[str, Any]:
    from lpsm.samplers import registry

    return registry()


def _formats() -> Mapping[str, Any]:
    from traces import registry

    return registry()


def _listing(name: str, registry: Callable[[], Mapping[str, Any]], about: str) -> click.Command:
    @click.command(name, help=about)
    @json_option("the list")
    def listing(as_json: bool) -> None:
        entries = {
            key: {field: str(getattr(entry, field)) for field in ("written", "meaning", "source", "example")}
            | ({"host_aware": entry.host_aware} if hasattr(entry, "host_aware") else {})
            | ({"members": members} if (members := getattr(entry, "members", ())) else {})
            for key, entry in registry().items()
        }
        if as_json:
            click.echo(json.dumps({name: [{"name": key, **entry} for key, entry in entries.items()]}))
            return
        for entry in entries.values():
            aware = " (host-aware: the host says what is outstanding)" if entry.get("host_aware") else ""
            echo(f"{entry['written']}\n    {entry['meaning']}{aware}")
            echo(f"    Source: {entry['source']}\n    Example: {entry['example']}")
            for written, meaning, source in entry.get("members", ()):
                echo(f"    {written}\n        {meaning}\n        Source: {source}")

    return listing


policies = _listing(
    "policies", _policies,
    "List the power-saving policies: how each is written, what it does, where it comes from, and an example. "
    "A class of your own is written FILE.py:CLASS, or FILE.py:CLASS:PARAMETER.",
)  # fmt: skip
radios = _listing(
    "radios", _radios, "List the radios with figures and sources. One of your own is a TOML file; see docs/model.md."
)  # fmt: skip
samplers = _listing("samplers", _samplers, "List the selective samplers of lpsm label: key, what it is, and its paper.")
formats = _listing(
    "formats", _formats, "List the formats of traces that are read; each is recognised by its content, not by its name."
)  # fmt: skip
