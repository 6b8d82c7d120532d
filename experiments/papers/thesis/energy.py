"""Energy and slowdown as printed in Monteleoni 2006, section 2.5.4 (text, figures 2-6 to 2-8).

The thesis' traffic came from ns-2's Web generator: HTTP/1.0, a connection per object, a server that answers after some
delay, and the stock segment size and Nagle's algorithm of ns-2's FullTcp.  Its traffic and seeds are not published, so
signs and sizes can be compared, and single figures cannot.  It states the slowdown against static PSM.
"""

from __future__ import annotations

from math import nan
from typing import NamedTuple

import pandas as pd


class Published(NamedTuple):
    """A printed row; `beacon_j` is the part of `j_per_page` for beacons, slowdowns are against static PSM."""

    run: str
    policy: str
    j_per_page: float
    beacon_j: float
    slowdown: float
    slowdown_max: float = nan


PUBLISHED = (
    Published("100 pages", "psm:100", 3.62, 0.83, 1.0),
    Published("100 pages", "lpsm", 3.38, 0.59, 1.02, 1.2),
    Published("100 pages", "lpsm:log", 2.95, 0.16, 1.19, 2.0),
    Published("4 x 500 pages", "psm:100", 4.12, 0.94, 1.0),
    Published("4 x 500 pages", "lpsm:log", 3.36, 0.17, 1.2),
)


def beside(summary: pd.DataFrame) -> pd.DataFrame:
    """Put the printed figures beside ours (the summary of a comparison, one row a policy).

    Percentages are against static PSM of the same run; slowdowns are ratios of mean slowdowns, maxima those of single
    pages against the same page under static PSM.
    """
    printed = pd.DataFrame(PUBLISHED)
    base = printed.groupby("run")[["j_per_page", "beacon_j"]].transform("first")  # static PSM, the first of its run
    ours, table = summary.set_index("policy").reindex(printed["policy"]).reset_index(), printed[["run", "policy"]]
    for name, own, column in (
        ("j_per_page", printed["j_per_page"], "total_j_per_page"),
        ("energy_vs_psm_percent", 100 * (printed["j_per_page"] / base["j_per_page"] - 1), "energy_vs_psm_percent"),
        ("beacon_j_per_page", printed["beacon_j"], "listen_j_per_page"),
        ("beacon_vs_psm_percent", 100 * (printed["beacon_j"] / base["beacon_j"] - 1), "beacon_energy_vs_psm_percent"),
        ("slowdown_ratio_psm", printed["slowdown"], "slowdown_ratio_psm"),
        ("slowdown_vs_psm_max", printed["slowdown_max"], "slowdown_vs_psm_max"),
    ):
        table = table.assign(**{f"printed_{name}": own, f"ours_{name}": ours.get(column, nan)})
    return table
