"""`lpsm list`: what there is, what it means, where it comes from, an example.

Each list is the registry of the package that has the things, so that what is new appears here by itself.
"""

from importlib import import_module
from typing import Any

import click

from experiments.cli import options
from experiments.quantities import Row
from experiments.world import Field, settings_of_a_world

_REGISTRIES = {
    "policies": "netsim.policies", "radios": "netsim.radio", "samplers": "lpsm.samplers", "formats": "traces",
}  # fmt: skip


@options.command(
    click.argument("what", type=click.Choice([*_REGISTRIES, "world", "experiments"])), options.JSON, name="list"
)
def list_command(asked: options.Asked) -> None:
    """List what there is: how it is written, what it means, where it comes from, and an example.

    policies: a class of your own is written FILE.py:CLASS, or FILE.py:CLASS:PARAMETER.  radios: one of your own is a
    TOML file.  samplers: the keys of lpsm label.  formats: traces that are read, each recognised by its content.
    world: what the file of --world may set.  experiments: those of lpsm reproduce.
    """
    if asked.what == "experiments":
        experiments_listed(asked)
        return
    known = settings_of_a_world() if asked.what == "world" else import_module(_REGISTRIES[asked.what]).registry()
    entries = [{"name": name, **_entry(one)} for name, one in known.items()]
    lines = []
    for entry in entries:
        aware = " (host-aware: it knows which requests are unanswered)" if entry.get("host_aware") else ""
        lines += [entry["written"], f"    {entry['meaning']}{aware}"]
        lines += [f"    Source: {entry['source']}", f"    Example: {entry['example']}"]
        for written, meaning, source in entry.get("members", ()):
            lines += [f"    {written}", f"        {meaning}", f"        Source: {source}"]
    options.answer(asked, {asked.what: entries}, "\n".join(lines))


def _entry(one: Any) -> Row:
    """Return what a list has of an entry of a registry, or of a setting of a world."""
    if isinstance(one, Field):
        return {**one._asdict(), "kind": getattr(one.kind, "__name__", str(one.kind))}
    found = {field: str(getattr(one, field)) for field in ("written", "meaning", "source", "example")}
    return found | {name: getattr(one, name) for name in ("host_aware", "members") if hasattr(one, name)}


def experiments_listed(asked: options.Asked) -> None:
    """Print the experiments, one a line with its name first, then all figures, tables and theorems of the papers."""
    from experiments.papers.registry import PAPERS, all_experiments
    from experiments.papers.statements import STATEMENTS

    listed: dict[str, list[dict[str, str]]] = {
        "experiments": [
            {"name": one.name, "paper": PAPERS[one.paper], "claim": one.subject,
             "data": one.data.folder if one.data else "generated", "time": one.time}
            for one in all_experiments().values()
        ],
        "statements": [
            {"name": one.name, "paper": PAPERS[one.name.partition("/")[0]], "says": one.says, "where": one.where}
            for one in STATEMENTS
        ],
    }  # fmt: skip
    lines = []
    for rows in listed.values():
        widths = [max(map(len, column)) for column in zip(*(row.values() for row in rows), strict=True)]
        lines += ["  ".join(map(str.ljust, row.values(), widths)).rstrip() for row in rows]
    options.answer(asked, listed, "\n".join(lines))
