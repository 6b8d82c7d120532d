"""The timeline of a monitor-mode capture: sleep and wake of each client, beacons, and data frames up and down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from experiments.figures.style import BLUE, DPI, GREY, ORANGE, PALE, SKY, clean, styled
from traces.captures.audit import Audit

__all__ = ["timeline"]

_MOST_CLIENTS = 8


def timeline(found: Audit, clients: Sequence[bytes]) -> Figure:
    """Draw the clients under one another, at most eight of them."""
    shown = list(clients)[:_MOST_CLIENTS]
    span = max((found.end_us - found.start_us) / 1e6, 1e-3)
    with styled():
        figure = Figure(figsize=(7.4, 1.2 + 1.1 * max(1, len(shown))), dpi=DPI, layout="constrained")
        axes = figure.subplots()
        beacons = np.array([at for at, _ in found.beacons_us], dtype=np.float64)
        axes.plot((beacons - found.start_us) / 1e6, np.full(len(beacons), -0.4), "|", color=GREY, label="beacon")
        for row, address in enumerate(shown):
            client = found.clients[address]
            until = [at for at, _ in client.states[1:]] + [found.end_us]
            for asleep, colour, name in ((False, SKY, "awake"), (True, PALE, "asleep")):
                bars = [
                    ((at - found.start_us) / 1e6, (end - at) / 1e6)
                    for (at, state), end in zip(client.states, until, strict=bool(client.states))
                    if state is asleep
                ]
                axes.broken_barh(bars, (row + 0.05, 0.4), facecolors=colour, label=name if not row else None)
            for up, colour, name, level in ((True, ORANGE, "frame up", 0.6), (False, BLUE, "frame down", 0.8)):
                at = np.array([at for at, who, sent in found.frames_us if who == address and sent is up], dtype=float)
                axes.plot(
                    (at - found.start_us) / 1e6, np.full(len(at), row + level), "|", color=colour,
                    markersize=6, label=name if not row else None,
                )  # fmt: skip
        axes.set_yticks([row + 0.4 for row in range(len(shown))], [address.hex(":") for address in shown])
        axes.set_ylim(-0.7, max(1, len(shown)))
        axes.set_xlim(0, span)
        axes.set_xlabel("time [s]")
        figure.legend(loc="outside upper right", ncols=5)
        clean(axes)
    return figure
