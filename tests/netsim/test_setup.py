"""A run before it begins: what its records are at their limits; frozen worlds and what is recorded hold the rest."""

import numpy as np
import pytest

import netsim
from netsim import AirConfig, LinkConfig, SimulationConfig
from netsim.model import codes
from netsim.model.air.air_times import Phy
from netsim.running import setup
from netsim.running.on_simpy import run_interpreted
from tests.tables import cases_of, each
from traces.columns import Workload
from traces.records import Page, Timing

PAGES = [Page("a", 300, 5_000, ((310, 0), (320, 900)), 1.5, servers=(4, -1, 2)),
    Page("b", 400, 700, (), 0.0, 7.25, deadline_s=9.0)]  # fmt: skip


def made(config, clients=(("psm", PAGES),), room=64):
    """Set up a run of clients, whose servers take 1, 2, 3, ... ns."""
    members = [(Workload.of(pages), netsim.simulation._made(spec, config)) for spec, pages in clients]
    delays = [np.arange(1, 1 + len(workload.sizes)) for workload, _ in members]
    return setup.World(members, delays, [[] for _ in members], config, 5, room)


def world(*given, **options):
    return made(*given, **options).run


@cases_of("size lasts_s mbps", """
20_000, 0.001, 5.0  # too small to tell a rate
20_001, 0.01, 2 * 8 * 20_001e-6 / 0.01 ; 100_000, 1e-6, 1000.0 ; 100_000, 10.0, 5.0 ; 100_000, 0.0, 5.0
""")  # fmt: skip
def test_links_are_twice_as_fast_as_the_fastest_transfer_that_was_recorded_if_that_can_tell(size, lasts_s, mbps):
    pages = [Page("a", 300, size, timings=(Timing(0, 0, 0.0, 0.0, 0.05, lasts_s),))]
    run = world(SimulationConfig(), [("psm", pages), ("psm", PAGES)])
    assert 8_000 / (run.air_down.numerator / run.air_down.denominator) == pytest.approx(mbps, rel=1e-6)
    trip_s = 2 * (0.02 + 0.0001)
    assert run.window == max(20, round(1e6 * (mbps if mbps > 5 else 0) * trip_s / 8 / 1460))


@each("access, edca", [("dcf", 0), ("voice", 1)])
def test_who_has_an_access_category_contends_as_edca_has_it(access, edca):
    assert world(SimulationConfig(medium=AirConfig(phy=Phy.parse("11n"), access=access))).edca == edca


@cases_of("size lasts_ns piece every_ns more", """
2_500, 0, 1000, 0, 2 ; 1_000, 0, 1000, 0, 0 ; 2_500, 150_000_000, 1000, 75_000_000, 2
100, 200_000_000, 34, 100_000_000, 2  # three of 34 bytes, no further apart than 80 ms would allow
100, 159_999_998, 50, 159_999_998, 1 ; 2, 10**9, 1, 10**9, 1 ; 0, 50, 1, 50, 0 ; 1_001, -7, 1000, 0, 1
""")  # fmt: skip
def test_what_took_so_long_is_written_in_pieces(size, lasts_ns, piece, every_ns, more):
    run = world(SimulationConfig(link=LinkConfig(wireless_mbps=4.0, wired_mbps=8.0, wired_delay_ms=3.0)))
    found = setup._written(np.array([size]), np.array([lasts_ns]), 1000, 40, run.wire_up, run.air_up)
    first_ns, slowest_ns = (piece + 40) * 3_000 + 3_100_000, (piece + 40) * 2_000
    assert [int(one[0]) for one in found] == [piece, every_ns, first_ns, max(more * slowest_ns - lasts_ns, 0)]


@cases_of("status error said", """
codes.NO_ROOM, MemoryError -> room for 64 beacons that clients wait for at once is too little
codes.OVERLOADED, ValueError -> broadcast_per_s must leave time for others on 11g
""", {"codes": codes})  # fmt: skip
def test_an_interpreted_run_that_cannot_go_on_stops_and_says_why(status, error, said):
    world = made(SimulationConfig(medium=AirConfig(phy=Phy.parse("11g"))))
    world.run.status = status
    with pytest.raises(error, match=said):
        run_interpreted(world)
    assert (world.run.now, world.run.status) == (0, status)


def test_a_beacon_too_many_is_told_interpreted():
    with pytest.raises(MemoryError, match="room for 0 beacons"):
        run_interpreted(made(SimulationConfig(medium=AirConfig()), room=0))
