"""What studies and the command line share: the worlds that are taken where nothing else is said, limits and names.

Keys of a preset are settings of the model (`lpsm list world`); what it does not name is the model's own default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import netsim

# A radio fitted to its maker's figures, and servers that take time, where no recording tells how long theirs took.
TODAY: Mapping[str, str] = {"radio": "esp32-c6", "server_delay": "lognormal:0.2"}

# Monteleoni 2006, section 2.5: ns-2's Web generator and its FullTcp.  The length of the delay is our assumption.
THESIS: Mapping[str, Any] = {"connections": "per-object", "mss_bytes": 536, "nagle": True, "server_delay": 0.5}

MOST_CLIENTS = 1000  # of one cell
MOST_JOBS = 1024
LOCAL = "processes"  # where runs are computed, if not on a cluster: on this machine

# What `lpsm compare` and `experiments.compare` compare where nothing else is said.
COMPARED = (
    "none", "psm", "listen:3", "dynamic", "bsd:1", "bsd:0.5", "lpsm", "lpsm:log", "lpsm3:1.05", "lpsm3:1.2", "hold",
)  # fmt: skip

LEARNED = "lpsm3:1.05"  # of the learned policies, the one that spends least at a slowdown that few notice

LEVELS = ("mean", "p95", "p99", "max")  # what of slowdowns and delays is shown and limited

# What `lpsm bounds` holds against their bounds, and the losses that are drawn for it (`lpsm.synthetic.PROCESSES`).
LEARNERS = ("static-expert", "fixed-share", "markov-share", "learn-alpha")
PROCESSES = ("iid", "piecewise", "fast-switching", "drifting", "adversarial")


def at_round_trip(config: netsim.SimulationConfig, round_trip_s: float) -> netsim.SimulationConfig:
    """Return the world with this round trip to the servers, or that of the air alone if it is shorter."""
    of_the_air_ms = config.link.wireless_delay_ms if config.medium is None else 0.0
    wired_ms = round(max(0.0, round_trip_s * 500 - of_the_air_ms), 6)  # to the nanosecond
    return replace(config, link=replace(config.link, wired_delay_ms=wired_ms))
