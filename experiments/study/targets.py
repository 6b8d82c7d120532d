"""What a platform can be set to: its candidates as policies, and what one types to get them, with the source.

The table is data (`netsim/data/targets.toml`).  Left out: what a platform can be made to do by changing its driver.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import netsim
from netsim.radio import profiles

__all__ = ["ANY", "TARGETS", "Settings", "candidates", "of_radio", "settings"]

ANY = "any"


class Settings(NamedTuple):
    """What one types on a device, line by line, and who says so."""

    target: str
    device: str
    lines: tuple[str, ...]
    source: str


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((files("netsim") / "data" / "targets.toml").read_text(encoding="utf-8"))


TARGETS = (*_table(), ANY)


def candidates(target: str) -> list[str]:
    """Return the policies that a target can be set to, those of `ANY` being all of them.

    Raises
    ------
    ValueError
        If there is no such target.
    """
    if target not in TARGETS:
        raise ValueError(f"target must be one of {', '.join(TARGETS)}, got {target!r}")
    chosen = _table().values() if target == ANY else [_table()[target]]
    return list(dict.fromkeys(policy for one in chosen for entry in one["settings"] for policy in entry["policies"]))


def settings(policy: str, target: str, *, beacon_interval_ns: int) -> list[Settings]:
    """Return what to type for a policy (a canonical name) on a target, or on every one that can do it."""
    found = []
    for name, one in _table().items():
        for entry in one["settings"] if target in (name, ANY) else ():
            for written in entry["policies"]:
                if netsim.canonical(written, beacon_interval_ns=beacon_interval_ns) == policy:
                    last = written.rpartition(":")[2]
                    lines = tuple(line.replace("{n}", last if last.isdigit() else "1") for line in entry["type"])
                    found.append(Settings(name, one["device"], lines, entry["source"]))
    return found


def of_radio(radio: netsim.Radio) -> str | None:
    """Return the target whose devices have this radio of the package; None if none is known."""
    names = [name for name in profiles() if netsim.RadioConfig.profile(name) == radio]
    of_targets = [
        target for target, one in _table().items() for name in names if one["radios"] and name.startswith(one["radios"])
    ]
    return of_targets[0] if of_targets else None
