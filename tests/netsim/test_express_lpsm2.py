"""LPSM2 in the compiled twin: every switch, prices and accounts, from one engine to the other and on again."""

from collections import Counter
from dataclasses import replace

import pytest

import netsim
from netsim import NotCoveredError
from netsim.policies.lpsm2 import Lpsm2, Lpsm2Config
from netsim.server import ServerDelay
from tests.netsim.test_express import assert_equal
from tests.netsim.worlds import Dice, ordinary_case
from traces.records import Page


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    netsim.simulate([Page("p", 300, 500)], "lpsm2", engine="express")


PARTS = ("contexts", "clock", "share_delay", "prior", "dual", "learn_alpha")
SERVERS = [
    ServerDelay(),
    ServerDelay(mean_s=0.5, kind="lognormal", sigma=0.8),
    ServerDelay(mean_s=11, kind="exponential"),
]


def variant(seed):
    """Draw pages, messages, a world and an LPSM2 without some of its parts; requests of many packets now and then."""
    dice = Dice(seed)
    drawn, _, world = ordinary_case(dice, "lpsm2")
    times = 60 if dice.integer(0, 4) == 0 else 1
    pages = [page._replace(issue_s=None, request_bytes=page.request_bytes * times) for page in drawn]
    pages *= dice.integer(1, 6)
    world = replace(
        world,
        tcp=replace(world.tcp, header_bytes=dice.one_of([40, 40, 20, 60]), initial_rto_s=dice.one_of([3.0, 3.0, 0.5])),
        beacon_interval_ns=dice.one_of([100_000_000, 102_400_000, 37_000_000]),
        radio=netsim.RadioConfig(wakeup_mj=dice.one_of([0.0, 0.3]), awake_mw=dice.one_of([750.0, 1301.7])),
        server_delay=dice.one_of(SERVERS),
    )
    config = Lpsm2Config(
        max_slowdown=dice.one_of([1.02, 1.05, 1.2, 2.0]),
        max_push_delay_s=dice.one_of([None, 0.1, 0.02]),
        shortest_s=dice.one_of([1e-6, 1e-6, 0.0, 0.01]),
        silence_s=dice.one_of([10.0, 0.7]),
        **{name: dice.integer(0, 3) > 0 for name in PARTS},
    )
    if dice.integer(0, 4) == 0:
        config = replace(config, schedules=config.schedules[: dice.integer(1, 9)])
    host_aware, interval_ns = dice.integer(0, 1) == 1, world.beacon_interval_ns
    policy = Lpsm2(config, host_aware=host_aware, radio=world.radio, beacon_interval_ns=interval_ns)
    return pages, {"config": world, "seed": seed, "push": drawn.messages}, policy


def compare(seeds):
    """Compare the engines on one variant a seed; return what there was among the cases."""
    seen = Counter()
    for seed in seeds:
        pages, given, policy = variant(seed)
        packet = netsim.simulate(pages, policy, engine="packet", **given)
        ours = netsim.simulate(pages, policy, engine="express", **given)
        assert_equal(ours, packet)
        prices = packet.final_policy.prices_w
        seen["whole"] += ours.pages_handed_over == 0
        seen["handed over and back"] += 0 < ours.pages_handed_over < len(pages)
        seen["price moved"] += prices[0] != policy.prices_w[0]
        seen["price of pushes moved"] += prices[1] != policy.prices_w[1]
        seen["inferred something that stayed"] += bool(packet.final_policy.state()[2])
    return seen


def test_every_switch_and_price_is_the_same_in_both_engines_also_through_pages_handed_over():
    seen = compare(range(40))
    assert len(seen) == 5
    assert all(seen.values()), seen


@pytest.mark.long
def test_every_switch_and_price_is_the_same_in_thousands_of_worlds():
    seen = compare(range(1_000_000, 1_005_000))
    assert all(seen.values()), seen


def test_more_requests_than_there_was_room_for_are_kept_all_the_same():
    pages = [Page("many", 536 * 100, 900, ((536 * 40, 900),))] * 3
    config = netsim.SimulationConfig(tcp=netsim.TcpConfig(mss_bytes=536))
    packet = netsim.simulate(pages, "lpsm2-link", config=config, engine="packet")
    assert len(packet.final_policy.state()[2]) > 64
    assert_equal(netsim.simulate(pages, "lpsm2-link", config=config, engine="express"), packet)


def test_a_policy_made_for_other_beacons_is_refused_by_both_engines():
    for engine in ("packet", "express"):
        with pytest.raises(ValueError, match=r"policy lpsm2:1\.05"):
            netsim.simulate([Page("p", 300, 500)], Lpsm2(beacon_interval_ns=102_400_000), engine=engine)


@pytest.mark.parametrize("watched", [{"record": True}, {"sample_seed": 0}])
def test_an_lpsm2_whose_rule_is_watched_has_no_compiled_form(watched):
    pages, policy = [Page("p", 300, 500)], Lpsm2(Lpsm2Config(**watched))
    with pytest.raises(NotCoveredError, match=r"policy lpsm2:1\.05 has no compiled form"):
        netsim.simulate(pages, policy, engine="express")
    assert len(netsim.simulate(pages, policy).pages) == 1
