"""The benchmark in a picture: how far each policy is above the hull of the others, world by world."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure

from experiments.figures.style import sheet

_LEVELS = (-50.0, -20.0, -10.0, -2.0, 2.0, 10.0, 20.0, 50.0, 100.0, 200.0)


def heights(results: pd.DataFrame, order: list[str]) -> Figure:
    """Draw a field a policy and world, coloured by the percent above the time-sharing hull.

    `results` has a row a world and policy: `world`, `policy`, `above_hull_percent`; `order` lists policies from above.
    """
    worlds = results["world"].unique().tolist()
    wide = results.pivot(index="policy", columns="world", values="above_hull_percent").loc[order, worlds]
    with sheet(4.0 + 0.22 * len(worlds), 1.6 + 0.17 * len(order)) as (figure, [axes]):
        norm = BoundaryNorm(_LEVELS, 256, extend="both")
        edges = np.arange(len(worlds) + 1), np.arange(len(order) + 1)
        mesh = axes.pcolormesh(*edges, wide.to_numpy(), cmap="RdBu_r", norm=norm)
        axes.set_xticks(edges[0][:-1] + 0.5, worlds, rotation=90, fontsize=6)
        axes.set_yticks(edges[1][:-1] + 0.5, order, fontsize=6)
        axes.invert_yaxis()
        figure.colorbar(mesh, ax=axes, ticks=_LEVELS, label="energy above mixtures of all others [%]")
    return figure
