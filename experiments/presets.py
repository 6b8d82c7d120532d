"""What studies and the command line share: the worlds that are taken where nothing else is said, limits and names.

Keys of a preset are settings of the model (`lpsm list world`); what it does not name is the model's own default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import netsim

# A phone on Wi-Fi 6.  80 MHz and two streams are what phones and their access points have, at MCS 7 of 11, some rooms
# away; hostapd ships DTIM 2 and beacons of 100 TU.  The transport is that of `netsim.TcpConfig.today`.  Servers take
# time where neither pages nor a recording tell how long theirs took.
TODAY: Mapping[str, Any] = {
    "radio": "pixel-7-pro", "server_delay": "lognormal:0.2", "air": "11ax-80x2:720.6", "dtim_period": 2,
    "beacon_ms": 102.4, "wired_mbps": 100.0, "rtt": 0.03, "max_connections": 6, "mss_bytes": 1448, "header_bytes": 52,
    "initial_window": 10, "window": 4345, "min_rto_s": 0.2, "initial_rto_s": 1.0, "control": "cubic",
    "stream_window_bytes": 6_291_456, "tls": "517:3000:80",
}  # fmt: skip

# A sensor at 2.4 GHz whose broker answers at once.  lwIP: two segments of 1440 bytes at first, a window of four.
IOT: Mapping[str, Any] = {
    "radio": "esp32-c6", "server_delay": "0", "air": "11n:65", "dtim_period": 3, "beacon_ms": 102.4,
    "wired_mbps": 100.0, "rtt": 0.03, "max_connections": 1, "mss_bytes": 1440, "initial_window": 2, "window": 4,
}  # fmt: skip

# Monteleoni 2006, section 2.5: ns-2's Web generator and its FullTcp.  The length of the delay is our assumption.
THESIS: Mapping[str, Any] = {"connections": "per-object", "mss_bytes": 536, "nagle": True, "server_delay": 0.5}

# A device on a pair of wires that browses the Web of 1996 without the thesis' TCP: easy to follow by hand.
WIRES: Mapping[str, Any] = {"radio": "esp32-c6", "server_delay": "lognormal:0.2"}

# What is drawn where no traffic is given: pages by year, or another kind of `traces.traffic`.
DRAWN = {"today": "2025", "iot": "iot", "wires": "1996", "thesis": "1996"}

MOST_CLIENTS = 1000  # of one cell
MOST_JOBS = 1024
LOCAL = "processes"  # where runs are computed, if not on a cluster: on this machine

# What `lpsm compare` and `experiments.compare` compare where nothing else is said.
COMPARED = (
    "none", "psm", "listen:3", "dynamic", "bsd:1", "bsd:0.5", "lpsm", "lpsm:log", "lpsm3:1.05", "lpsm3:1.2", "hold",
)  # fmt: skip

LEARNED = "lpsm3:1.05"  # of the learned policies, the one that spends least at a slowdown that few notice

BATTERY_MWH = 10_000.0  # whose life is told where nothing else is said: about two AA cells of lithium

LEVELS = ("mean", "p95", "p99", "max")  # what of slowdowns and delays is shown and limited

# What `lpsm bounds` holds against their bounds, and the losses that are drawn for it (`lpsm.synthetic.PROCESSES`).
LEARNERS = ("static-expert", "fixed-share", "markov-share", "learn-alpha")
PROCESSES = ("iid", "piecewise", "fast-switching", "drifting", "adversarial")


def at_round_trip(config: netsim.SimulationConfig, round_trip_s: float) -> netsim.SimulationConfig:
    """Return the world with this round trip to the servers, or that of the air alone if it is shorter."""
    of_the_air_ms = config.link.wireless_delay_ms if config.medium is None else 0.0
    wired_ms = round(max(0.0, round_trip_s * 500 - of_the_air_ms), 6)  # to the nanosecond
    return replace(config, link=replace(config.link, wired_delay_ms=wired_ms))
