"""What a platform can be set to: its candidates as policies, and what one types to get them, with the source.

The table is data (`netsim/data/targets.toml`).  Left out: what a platform can be made to do by changing its driver.
"""

import tomllib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from experiments.quantities import Row

ANY = "any"


class Settings(NamedTuple):
    """What one types on a device, line by line, and who says so."""

    target: str
    device: str
    lines: tuple[str, ...]
    source: str


@cache
def _table() -> Row:
    package = find_spec("netsim")  # which is not imported for it: a command's help names the targets
    assert package is not None
    assert package.origin is not None
    return tomllib.loads(Path(package.origin).with_name("data").joinpath("targets.toml").read_text(encoding="utf-8"))


TARGETS = (*_table(), ANY)


def candidates(target: str) -> list[str]:
    """Return the policies that a target can be set to, those of `ANY` being all."""
    chosen = _table().values() if target == ANY else [_table()[target]]
    return list(dict.fromkeys(policy for one in chosen for entry in one["settings"] for policy in entry["policies"]))


def settings(policy: str, target: str, *, beacon_interval_ns: int) -> list[Settings]:
    """Return what to type for a policy (a canonical name) on a target, or on every one that can do it."""
    from netsim import canonical

    found = []
    for name, one in _table().items():
        for entry in one["settings"] if target in (name, ANY) else ():
            for written in entry["policies"]:
                if canonical(written, beacon_interval_ns=beacon_interval_ns) == policy:
                    last = written.rpartition(":")[2]
                    lines = tuple(line.replace("{n}", last if last.isdigit() else "1") for line in entry["type"])
                    found.append(Settings(name, one["device"], lines, entry["source"]))
    return found
