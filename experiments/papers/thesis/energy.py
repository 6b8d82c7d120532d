"""Energy and slowdown as printed in Monteleoni 2006, section 2.5.4 (text, figures 2-6 to 2-8).

The thesis' traffic came from ns-2's Web generator: HTTP/1.0, a connection per object, a
server that answers after some delay, and the stock segment size and Nagle's algorithm
of ns-2's FullTcp.  Its traffic and seeds are not published, so signs and sizes can be
compared, and single figures cannot.  It states the slowdown against static PSM.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PUBLISHED", "Published"]


class Published(NamedTuple):
    """A printed row; `beacon_j` is the part of `j_per_page` for beacons, slowdowns are against static PSM."""

    run: str
    policy: str
    j_per_page: float
    beacon_j: float
    slowdown: float
    slowdown_max: float | None


PUBLISHED = (
    Published("100 pages", "psm:100", 3.62, 0.83, 1.0, None),
    Published("100 pages", "lpsm", 3.38, 0.59, 1.02, 1.2),
    Published("100 pages", "lpsm:log", 2.95, 0.16, 1.19, 2.0),
    Published("4 x 500 pages", "psm:100", 4.12, 0.94, 1.0, None),
    Published("4 x 500 pages", "lpsm:log", 3.36, 0.17, 1.2, None),
)
