"""TCP against hand arithmetic: what a loss costs, what recovery saves, what Nagle holds back."""

import pytest

from netsim import TcpConfig
from tests.netsim.worlds import load
from traces.records import Page

BASE_S = 0.082768  # request 300 B, reply 500 B: measured by ns-2
SHORT = Page("short", 300, 500)


@pytest.mark.parametrize(
    ("lost", "costs_s"),
    [
        ([0], 3.0),  # the SYN: the initial time-out
        ([0, 1], 3.0 + 6.0),  # which doubles
        ([1], 3.0),  # the SYN-ACK; the late duplicate does no harm
        ([2], 0.0),  # the handshake's ACK is made good by the request
        ([3], 1.0 - 40 * 1600e-9),  # the request: the least time-out, less the air time of the ACK before it
        ([4], 1.0),  # the reply
    ],
)
def test_a_lost_frame_of_a_short_page_costs_its_time_out_or_nothing(lost, costs_s):
    assert load(SHORT, lost=lost) == [pytest.approx(BASE_S + costs_s, abs=1e-12)]


def test_nagle_holds_the_last_partial_segment_until_all_before_it_is_acknowledged():
    page = Page("nagle", 300, 1460 + 500)
    [plain], [held] = load(page), load(page, tcp=TcpConfig(nagle=True))
    # ms: the first segment down, its ACK up, the second down; without Nagle the second follows the first
    first, ack, second = 1.2 + 20 + 2.4 + 0.1, 0.064 + 0.1 + 0.032 + 20, 0.432 + 20 + 0.864 + 0.1
    behind = 1.2 + 20 + 2.4 + 0.864 + 0.1
    assert held - plain == pytest.approx((first + ack + second - behind) * 1e-3, abs=1e-12)
