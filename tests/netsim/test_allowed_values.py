"""Every figure that describes a world is allowed up to its limits, and refused just beyond them by name and value."""

import re
from math import inf, nan

import numpy as np

import netsim
from netsim import SimulationConfig, TcpConfig
from netsim.policies import lpsm2, lpsm3
from netsim.traffic import check
from tests.tables import each, split, value_error
from traces.columns import Workload
from traces.records import Message, Page

FINITE = (-1e-9, inf, nan)
TWO = {"awake_mw": 2.0, "asleep_mw": 1.0}
FIVE = dict.fromkeys(("doze_mw", "waking_mw", "listening_mw", "receiving_mw", "transmitting_mw"), 1.0)
# what is made, its figures: values that are allowed | that are not | what else is given
LIMITS = """
LinkConfig wireless_mbps wired_mbps: 1e-6, 1e12 | 9e-7, inf, nan
LinkConfig wireless_delay_ms wired_delay_ms: 0.0, 1e9 | *FINITE ; LinkConfig loss_rate: 0.0, 0.999 | -1e-9, 1.0, nan
TcpConfig mss_bytes header_bytes: 1 | 0 ; TcpConfig initial_window: 1, 20 | 0, 21
TcpConfig window: 1 | 0 | initial_window=1 ; TcpConfig min_rto_s initial_rto_s: 1e-9, 1e9 | 0.0, -1.0, inf, nan
ServerDelay mean_s: 0.0, 1e6 | -1e-9, 1000001.0, nan ; ServerDelay mean_s: 0.0 | 1.0 | kind="recorded"
ServerDelay sigma: 0.0, 10.0 | -1e-9, 10.1, nan | kind="lognormal" ; ServerDelay sigma: 0.0 | 1.0 | kind="exponential"
ServerDelay kind: "recorded", "constant" | "slow" ; RadioConfig awake_mw: 1.0, 1e300 | 0.9, inf, nan | **TWO
RadioConfig asleep_mw beacon_mj wakeup_mj: 0.0, 1.0 | *FINITE | **TWO
StateRadioConfig waking_mw listening_mw receiving_mw transmitting_mw: 1.0, 2.0 | *FINITE | **FIVE
StateRadioConfig wakeup_ms drift_ppm base_mw: 0.0, 2.0 | *FINITE | **FIVE
SimulationConfig beacon_interval_ns: 1_000_000 | 999_999 ; SimulationConfig max_connections: 1 | 0
SimulationConfig connections: "persistent", "per-object" | "many" ; AirConfig retrieval: "auto", "twt" | "pull"
AirConfig rts_bytes: None, 0 | -1 ; AirConfig neighbours: 0, 1000 | -1, 1001
AirConfig neighbours: 0 | | phy=Phy(cw_min=0) ; AirConfig neighbours: 1 | | phy=Phy(cw_min=1)
AirConfig neighbour_mbps: 0.0, 9999.0 | -1e-9, 10000.0, nan ; BeaconConfig size_bytes: 40, 2304 | 39, 2305
AirConfig access: "dcf", "voice" | "none" ; BeaconConfig beacon_mbps: 0.0, 24.0 | -1.0, 25.0
BeaconConfig dtim_period broadcast_bytes: 1, 2304 | 0, 2305
BeaconConfig broadcast_per_s: 0.0, 1e4 | -1e-9, 10001.0, nan ; Phy cw_max: 15, 2047 | 14 ; Phy cw_min: 0, 1023 |
Lpsm2Config max_slowdown: 1.001 | 1.0, inf, nan ; Lpsm3Config max_slowdown: 1.001 | 1.0, inf, nan
Lpsm2Config rate_per_j longest_response_s push_step max_push_delay_s: 0.001 | 0.0, inf
Lpsm2Config shortest_s: 0.0 | -1.0, inf ; Lpsm2Config price_w: 2.0, 60.0 | 1.9, 60.1
Lpsm2Config push_price_w: 0.001, 60.0 | 0.0009, 60.1 ; Lpsm2Config fixed: (0, 48) | (0, 49), (-1,)
Lpsm2Config prior_ms: (0.1,) | (), (0.0, 1.0) ; Lpsm3Config max_push_delay_s: 0.001 | 0.0, inf
Lpsm3Config start same_message_s good_will: 0.0, 9.0 | -1.0, inf
Lpsm3Config price_w gain silence_s: 0.001 | 0.0, inf, nan
"""


@each("row", split(LIMITS))
def test_a_figure_is_allowed_up_to_its_limits_and_refused_beyond_with_its_name_and_value(row):
    known = globals() | vars(netsim) | vars(lpsm2) | vars(lpsm3)
    made, values = row.split(":")
    (kind, *names), (allowed, refused, *others) = made.split(), values.split("|")
    allowed, refused, others = (
        eval(text, known) for text in (f"[{allowed}]", f"[{refused}]", f"dict({''.join(others)})"))  # fmt: skip
    for name in names:
        for value in allowed:
            assert getattr(known[kind](**{**others, name: value}), name) == value
        for value in refused:
            with value_error(rf"{name.removesuffix('_s')}.*, got .*{re.escape(str(value))}"):
                known[kind](**{**others, name: value})


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
            max_connections=whole(2), beacon_interval_ns=whole(100_000_000))  # fmt: skip
        pages = [Page("p", whole(400), whole(9000), objects, real(0.25), real(0.5))]
        return netsim.simulate(pages, "dynamic:50", config=config, push=[Message(real(0.5), whole(3000))])

    plain, of_numpy = (run(int, float, ((300, 1500), (1, 4000))),
        run(np.int64, np.float32, np.array([[300, 1500], [1, 4000]])))  # fmt: skip
    assert plain.energy == of_numpy.energy
    assert plain.pages.equals(of_numpy.pages)
    assert plain.messages.equals(of_numpy.messages)
