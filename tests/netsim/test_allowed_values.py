"""Every figure that describes a world is allowed up to its limits, and refused just beyond them by name and value."""

import re
from math import inf, nan

import numpy as np
import pytest

import netsim
from netsim import AirConfig, BeaconConfig, LinkConfig, Phy, ServerDelay, SimulationConfig, TcpConfig
from netsim.policies.lpsm2 import Lpsm2Config
from netsim.policies.lpsm3 import Lpsm3Config
from netsim.traffic import check
from traces.columns import Workload
from traces.records import Message, Page

TWO = {"awake_mw": 2.0, "asleep_mw": 1.0}
FIVE = dict.fromkeys(("doze_mw", "waking_mw", "listening_mw", "receiving_mw", "transmitting_mw"), 1.0)
FINITE = (-1e-9, inf, nan)
LIMITS = [  # what is made, the figure, values that are allowed and that are not, and what else is given
    *((LinkConfig, name, (1e-6, 1e12), (9e-7, inf, nan), {}) for name in ("wireless_mbps", "wired_mbps")),
    *((LinkConfig, name, (0.0, 1e9), FINITE, {}) for name in ("wireless_delay_ms", "wired_delay_ms")),
    (LinkConfig, "loss_rate", (0.0, 0.999), (-1e-9, 1.0, nan), {}),
    *((TcpConfig, name, (1,), (0,), {}) for name in ("mss_bytes", "header_bytes")),
    (TcpConfig, "initial_window", (1, 20), (0, 21), {}),
    (TcpConfig, "window", (1,), (0,), {"initial_window": 1}),
    *((TcpConfig, name, (1e-9, 1e9), (0.0, -1.0, inf, nan), {}) for name in ("min_rto_s", "initial_rto_s")),
    (ServerDelay, "mean_s", (0.0, 1e6), (-1e-9, 1000001.0, nan), {}),
    (ServerDelay, "mean_s", (0.0,), (1.0,), {"kind": "recorded"}),
    (ServerDelay, "sigma", (0.0, 10.0), (-1e-9, 10.1, nan), {"kind": "lognormal"}),
    (ServerDelay, "sigma", (0.0,), (1.0,), {"kind": "exponential"}),
    (ServerDelay, "kind", ("recorded", "constant"), ("slow",), {}),
    (netsim.RadioConfig, "awake_mw", (1.0, 1e300), (0.9, inf, nan), TWO),
    *((netsim.RadioConfig, name, (0.0, 1.0), FINITE, TWO) for name in ("asleep_mw", "beacon_mj", "wakeup_mj")),
    *((netsim.StateRadioConfig, name, (1.0, 2.0), FINITE, FIVE) for name in FIVE if name != "doze_mw"),
    *((netsim.StateRadioConfig, name, (0.0, 2.0), FINITE, FIVE) for name in ("wakeup_ms", "drift_ppm", "base_mw")),
    (SimulationConfig, "beacon_interval_ns", (1_000_000,), (999_999,), {}),
    (SimulationConfig, "max_connections", (1,), (0,), {}),
    (SimulationConfig, "connections", ("persistent", "per-object"), ("many",), {}),
    (AirConfig, "retrieval", ("auto", "twt"), ("pull",), {}),
    (AirConfig, "rts_bytes", (None, 0), (-1,), {}),
    (AirConfig, "neighbours", (0, 1000), (-1, 1001), {}),
    (AirConfig, "neighbours", (0,), (), {"phy": Phy(cw_min=0)}),
    (AirConfig, "neighbours", (1,), (), {"phy": Phy(cw_min=1)}),
    (AirConfig, "neighbour_mbps", (0.0, 9999.0), (-1e-9, 10000.0, nan), {}),
    (BeaconConfig, "size_bytes", (40, 2304), (39, 2305), {}),
    *((BeaconConfig, name, (1, 2304), (0, 2305), {}) for name in ("dtim_period", "broadcast_bytes")),
    (BeaconConfig, "broadcast_per_s", (0.0, 1e4), (-1e-9, 10001.0, nan), {}),
    (Phy, "cw_max", (15, 2047), (14,), {}),
    (Phy, "cw_min", (0, 1023), (), {}),
    *((config, "max_slowdown", (1.001,), (1.0, inf, nan), {}) for config in (Lpsm2Config, Lpsm3Config)),
    *((config, "max_push_delay_s", (0.001,), (0.0, inf), {}) for config in (Lpsm2Config, Lpsm3Config)),
    *((Lpsm2Config, name, (0.001,), (0.0, inf), {}) for name in ("rate_per_j", "longest_response_s", "push_step")),
    (Lpsm2Config, "shortest_s", (0.0,), (-1.0, inf), {}),
    (Lpsm2Config, "price_w", (2.0, 60.0), (1.9, 60.1), {}),
    (Lpsm2Config, "push_price_w", (0.001, 60.0), (0.0009, 60.1), {}),
    (Lpsm2Config, "fixed", ((0, 48),), ((0, 49), (-1,)), {}),
    (Lpsm2Config, "prior_ms", ((0.1,),), ((), (0.0, 1.0)), {}),
    (Lpsm3Config, "push_margin", (0.0,), (-0.1, 1.0, nan), {}),
    *((Lpsm3Config, name, (0.0, 9.0), (-1.0, inf), {}) for name in ("start", "same_message_s", "good_will")),
    *((Lpsm3Config, name, (0.001,), (0.0, inf, nan), {}) for name in ("price_w", "gain", "silence_s")),
]


@pytest.mark.parametrize(("make", "name", "allowed", "refused", "others"), LIMITS)
def test_a_figure_is_allowed_up_to_its_limits_and_refused_beyond_with_its_name_and_value(
    make, name, allowed, refused, others
):
    for value in allowed:
        assert getattr(make(**{**others, name: value}), name) == value
    for value in refused:
        with pytest.raises(ValueError, match=rf"{name.removesuffix('_s')}.*, got .*{re.escape(str(value))}"):
            make(**{**others, name: value})


def test_pages_and_messages_at_every_limit_are_taken_and_messages_need_no_page():
    objects, latest_s = ((5, 5), (1, 0)), 4e9
    check(Workload.of([Page("p", 1, 0, objects, 0.0, 0.0, (nan, 0.0, 1e6), 0.0)]), [])
    late = Page("p", 1, 0, objects, latest_s / 2, latest_s, (), latest_s)
    check(Workload.of([late, Page("q", 1, 1, (), latest_s / 2)]), [])
    check(Workload.of([]), [Message(0.0, 1), Message(0.0, 1), Message(latest_s, 1)])


def test_numbers_of_numpy_are_the_numbers_that_they_are():
    def run(whole, real, objects):
        config = SimulationConfig(
            tcp=TcpConfig(mss_bytes=whole(536), header_bytes=whole(40), initial_window=whole(2), window=whole(10)),
            max_connections=whole(2), beacon_interval_ns=whole(100_000_000),
        )  # fmt: skip
        pages = [Page("p", whole(400), whole(9000), objects, real(0.25), real(0.5))]
        return netsim.simulate(pages, "dynamic:50", config=config, push=[Message(real(0.5), whole(3000))])

    plain, of_numpy = (
        run(int, float, ((300, 1500), (1, 4000))),
        run(np.int64, np.float32, np.array([[300, 1500], [1, 4000]])),
    )
    assert plain.energy == of_numpy.energy
    assert plain.pages.equals(of_numpy.pages)
    assert plain.messages.equals(of_numpy.messages)
