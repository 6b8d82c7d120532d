"""How fine learning and planning are: sizes of arrays, which a small device may need smaller.

They are fixed where modules are imported.  A policy of other sizes has a copy of the modules that depend on them, with
the sizes behind an @ in their names, so that a rule is written once and compiled like any other.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from threading import Lock
from typing import Any

SIZES: Mapping[str, tuple[int, int, str]] = {
    "bins": (226, 16, "bins of age of a hazard"),
    "servers": (16, 1, "servers with hazards of their own"),
    "room": (256, 4, "connections and requests kept in mind at once"),
    "stops": (27, 8, "beacons ahead at which a plan may end a sleep"),
    "parts": (8, 1, "parts of the time between two of them"),
    "polls": (160, 1, "polls ahead, of policies that poll"),
    "followers": (101, 8, "half beacons for which messages behind a first one are expected"),
}
"""The default and the least of each, and what it counts."""
SMALL = "bins26/servers1/room16/stops9/parts1/polls1/followers31"
_chosen: dict[str, int] = {}  # while modules are copied, which one thread does at a time
_copying = Lock()


def read(text: str) -> dict[str, int]:
    """Return sizes that are written NAMEn/NAMEn/..., or `small`; what breaks a rule is a ValueError."""
    found: dict[str, int] = {}
    for part in filter(None, (SMALL if text == "small" else text).split("/")):
        name = part.rstrip("0123456789")
        value = part[len(name) :]
        if name not in SIZES or not 0 < len(value) < 9 or not SIZES[name][1] <= int(value) <= SIZES[name][0]:
            known = ", ".join(f"{one}{least} to {one}{most}" for one, (most, least, _) in SIZES.items())
            raise ValueError(f"sizes must be small, or NAMEn/NAMEn/... of {known}, got {part[:40]!r}")
        found[name] = int(value)
    return found


def size(name: str) -> int:
    """Return the size in force."""
    return _chosen.get(name, SIZES[name][0])


def copied(names: Sequence[str], sizes: str) -> Any:
    """Return the last of the modules with other sizes, each of which may import those before it."""
    whole = {name: import_module(name) for name in names}
    if not sizes:
        return whole[names[-1]]
    with _copying:
        if f"{names[-1]}@{sizes}" not in sys.modules:
            _chosen.update(read(sizes))
            try:
                for name, module in whole.items():
                    specification = spec_from_file_location(f"{name}@{sizes}", module.__file__)
                    assert specification is not None
                    assert specification.loader is not None
                    made = module_from_spec(specification)
                    _put(name, made)
                    sys.modules[made.__name__] = made
                    specification.loader.exec_module(made)
            finally:
                _chosen.clear()
                for name, module in whole.items():
                    _put(name, module)
        return sys.modules[f"{names[-1]}@{sizes}"]


def _put(name: str, module: Any) -> None:
    """Let imports of a name find a module."""
    package, _, leaf = name.rpartition(".")
    sys.modules[name] = module
    setattr(sys.modules[package], leaf, module)
