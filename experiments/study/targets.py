"""What a platform can be set to: its candidates as policies, and what one types to get them, with the source.

The table is data (`netsim/data/targets.toml`).  Left out: what a platform can be made to do by changing its driver.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from experiments.quantities import Row

if TYPE_CHECKING:
    from netsim import SimulationConfig

ANY = "any"
SUPPLY_V = 3.3


class Settings(NamedTuple):
    """What one types on a device, line by line, and who says so."""

    target: str
    device: str
    lines: tuple[str, ...]
    source: str
    state: str = ""  #: the sleep that they put it in, between beacons


@cache
def _table() -> Row:
    package = find_spec("netsim")  # which is not imported for it: a command's help names the targets
    assert package is not None
    assert package.origin is not None
    return tomllib.loads(Path(package.origin).with_name("data").joinpath("targets.toml").read_text(encoding="utf-8"))


TARGETS = (*_table(), ANY)


def _possible(target: str, dtim_period: int) -> Iterator[tuple[str, Row, str]]:
    """Yield the platform, the entry and the policy of what can be set where every so manyth beacon is a DTIM."""
    for name, one in _table().items():
        for entry in one["settings"] if target in (name, ANY) else ():
            for policy in entry["policies"]:
                if "multiples_of_dtim" not in entry or int(_number_in(policy)) % dtim_period == 0:
                    yield name, entry, policy


def _number_in(policy: str) -> str:
    """Return what stands for {n} in the lines of a policy."""
    last = policy.removesuffix(":dtim").rpartition(":")[2]
    return last if last.isdigit() else "10" if policy == "driver:pic32mzw" else "1"


def candidates(target: str, radio: str = "", dtim_period: int = 1) -> list[str]:
    """Return the policies that a target can be set to (`ANY`: all) where every so manyth beacon is a DTIM.

    Those that only other chips have are left out, and listen intervals that a driver would change.
    """
    found = _possible(target, dtim_period)
    return list(
        dict.fromkeys(policy for _, entry, policy in found if not radio or radio in entry.get("radios", [radio]))
    )


def radios(target: str) -> list[str]:
    """Return the radios of the package that are of a target, the usual one first; of `ANY` none."""
    return [] if target == ANY else list(_table()[target]["radios"])


def doubt(target: str, radio: str) -> str:
    """Return why the figures of a radio (as it is written) may not be those of a target; nothing where they are."""
    if target == ANY or radio in (known := radios(target)) or Path(radio).suffix == ".toml":
        return ""
    device = _table()[target]["device"]
    if not known:
        return f"WARNING: no radio of the package is one of {device}; mW and hours are those of {radio}."
    return f"WARNING: {radio} is no radio of {device} (those are {', '.join(known)}); mW and hours are not its own."


def settings(policy: str, target: str, *, beacon_interval_ns: int, dtim_period: int = 1) -> list[Settings]:
    """Return what to type for a policy (a canonical name) on a target, or on every one that can do it."""
    from netsim import canonical

    found = []
    wanted = (policy, f"{policy}:dtim") if dtim_period == 1 else (policy,)  # they are the same there
    for name, entry, written in _possible(target, dtim_period):
        if canonical(written, beacon_interval_ns=beacon_interval_ns) in wanted:
            one, n = _table()[name], _number_in(written)
            ms, beacon = (str(ceil(int(many) * beacon_interval_ns / 1e6)) for many in (n, 1))
            first, by = ((), "") if written == "none" else (one.get("first", ()), one.get("first_source", ""))
            typed = (line.replace("{n}", n).replace("{ms}", ms) for line in entry["type"])
            lines = (*first, *(line.replace("{beacon}", beacon) for line in typed))
            source = "; ".join(filter(None, (by, entry["source"])))
            found.append(Settings(name, one["device"], lines, source, one["state"]))
    return found


def idle_ma(policy: str, config: SimulationConfig) -> float:
    """Return the mean current at 3.3 V of a client to whom nothing comes, to be measured on a device."""
    import netsim
    from traces import Datagram, Workload

    lasts = [Workload.of([], datagrams=[Datagram(0.0, 0, True)], captured_s=minutes * 60.0) for minutes in (1, 2)]
    one, two = (netsim.simulate(work, policy, config=config) for work in lasts)
    return 1000 * (two.energy.total_j - one.energy.total_j) / (two.elapsed_s - one.elapsed_s) / SUPPLY_V
