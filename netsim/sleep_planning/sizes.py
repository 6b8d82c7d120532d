"""How fine learning and planning are: sizes of arrays, which a small device may need smaller.

They are fixed when the rules are imported, from the environment (``LPSM_SIZES=bins=64,room=16``), so that Python and
the C that is exported have the same ones; where they are given, Python is interpreted.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

NAME = "LPSM_SIZES"
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


def read(text: str) -> dict[str, int]:
    """Return sizes that are written NAME=N,...; what breaks a rule is a ValueError."""
    found: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name not in SIZES or not value.isdecimal() or not SIZES[name][1] <= int(value) <= SIZES[name][0]:
            known = ", ".join(f"{one}={least} to {most}" for one, (most, least, _) in SIZES.items())
            raise ValueError(f"sizes must be NAME=N,... of {known}, got {part[:40]!r}")
        found[name] = int(value)
    return found


def size(name: str) -> int:
    """Return the size in force."""
    return read(os.environ.get(NAME, "")).get(name, SIZES[name][0])
