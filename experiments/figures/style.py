"""How pictures look, and how they become bytes: readable in black and white, and always the same.

No picture depends on the screen, the clock or the machine: the SVG has a fixed hash salt and
no date, and text stays text.  Policies are told apart by marker, hatch and grey, never by colour alone.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["DARK", "LABELS", "LIGHT", "MIDDLE", "clean", "label", "pictures", "styled"]

DARK, MIDDLE, LIGHT = "0.15", "0.55", "0.86"
DPI = 160
LABELS = {
    "none": "no power\nsaving",
    "psm:100": "static PSM",
    "lpsm": "LPSM 1/T",
    "lpsm:log": "LPSM 1/log T",
    "page-awake": "awake while a page loads",
    "limit": "lower limit",
}
_SETTINGS = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.linewidth": 0.8,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "hatch.linewidth": 0.6,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "svg.hashsalt": "lpsm",
    "svg.fonttype": "none",
    "path.simplify": True,
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the house style, whatever the reader's own settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)  # type: ignore[arg-type]
        yield


def label(policy: str) -> str:
    """Return how a policy is called in a picture: ``bsd:0.5`` is BSD 0.5."""
    if policy in LABELS:
        return LABELS[policy]
    kind, _, parameter = policy.partition(":")
    return f"{kind.upper()} {parameter}".strip()


def clean(axes: Axes, grid: Literal["both", "x", "y"] = "y") -> None:
    """Leave only what carries information."""
    axes.grid(axis=grid)
    axes.tick_params(length=2.5, width=0.6)


def pictures(name: str, figure: Figure) -> dict[str, bytes]:
    """Return the figure as files, name to content: a PNG and an SVG whose bytes depend on the drawing alone."""
    png, svg = io.BytesIO(), io.BytesIO()
    with styled():  # some settings are read only now
        figure.savefig(png, format="png", metadata={"Software": None})
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    return {f"{name}.png": png.getvalue(), f"{name}.svg": svg.getvalue()}
