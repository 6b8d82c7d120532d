"""Laws of every world (`tests.netsim.laws`), on random ones of `tests.netsim.frozen` of which no answer is kept."""

import os
from collections import Counter
from dataclasses import fields, is_dataclass
from functools import partial

import pytest

import netsim
from netsim.config import RETRIEVALS
from netsim.model.air.air_times import PHYS
from netsim.server_delay import _KINDS
from tests.netsim import laws
from tests.netsim.air.cells import add_up
from tests.netsim.frozen import cell, wide_cell, wide_world, world
from tests.netsim.frozen.worlds import KINDS
from tests.netsim.graph_worlds import today_world
from tests.tables import each
from traces.columns import Workload
from traces.records import Cause, Datagram, Message, Page, Timing

SMALL = [(made, number) for made, n in ((world, 5), (wide_world, 10), (cell, 5), (wide_cell, 15))
    for number in range(40_000, 40_000 + n)]  # fmt: skip
SEED = int(os.environ.get("LAWS_SEED", "1"))
"""Of the worlds of the long tests."""
LARGE = [
    (made, SEED * 1_000_000 + first) for made, n in ((world, 500), (wide_world, 1500), (cell, 400), (wide_cell, 1400))
    for first in range(0, n, 100)]  # fmt: skip


def name(part):
    return getattr(part, "__name__", part)


@pytest.mark.parametrize(("made", "number"), SMALL, ids=name)
def test_time_energy_bytes_and_frames_are_conserved_and_recorded(made, number):
    assert laws.held(made(number))


@pytest.mark.long
@pytest.mark.parametrize(("made", "first"), LARGE, ids=name)
def test_the_laws_hold_of_many_worlds_and_each_says_something_of_some(made, first):
    worlds = [made(number) for number in range(first, first + 100)]
    found = Counter(law for one in worlds for law in laws.held(one))
    on_air = worlds[0].config.medium is not None
    never = {
        "exchanges_of_a_graph_wait_for_what_names_them_and_a_page_for_those_that_it_waits_for",
        "acknowledgements_wait_no_longer_than_they_may_and_no_more_is_on_its_way_than_the_window",
    }
    never |= {"the_client_is_awake_for_its_frames_on_the_air", "nobody_begins_to_send_while_a_frame_is_on_the_air",
        "the_radio_transmits_and_receives_its_frames_and_is_in_its_states_all_the_time",
        "a_page_issued_while_the_radio_wakes_up_for_a_beacon_is_not_charged_from_before"} if not on_air else {
        "frames_on_wires_make_up_the_air_time_and_the_client_is_awake_for_them"}  # fmt: skip
    if made in (world, cell):
        never |= {"exchanges_wait_for_their_instants_for_others_and_for_their_connections",
                  "datagrams_are_cut_into_segments_that_arrive_once_or_are_lost"}  # fmt: skip
    assert set(found) == {law.__name__ for law in laws.LAWS} - never


@each("number", range(40_100, 40_105))
def test_the_time_of_the_channel_and_the_frames_of_every_station_add_up(number):
    _, recorder = laws.run(wide_cell(number))
    add_up(recorder.run)


def test_the_worlds_draw_every_field_of_the_configuration_and_of_the_traffic():
    drawn, of = Counter(), {}
    kinds = set()

    def see(value):
        names = [field.name for field in fields(value)] if is_dataclass(value) else value._fields
        for name in names:
            part = getattr(value, name)
            of.setdefault((type(value), name), set()).add(repr(part))
            if is_dataclass(part):
                see(part)
        kinds.add(type(value))

    for made in (wide_world, wide_cell, *(partial(today_world, one) for one in (wide_world, wide_cell))):
        for number in range(40_000, 40_150):
            one = made(number)
            see(one.config)
            for workload, policy in ((Workload.of(pages), policy) for pages, policy in one.clients):
                drawn[policy.partition(":")[0] if isinstance(policy, str) else policy.spec] += 1
                of.setdefault(("workload", "captured_s"), set()).add(workload.captured_s)
                for part in (*workload.pages(), *workload.datagrams):
                    see(part)
                for part in (part for page in workload for part in (*page.timings, *page.causes)):
                    see(part)
            for message in (message for push in one.push for message in push):
                see(message)
    heads = {(Datagram, "head")}  # of real packets, whose runs are interpreted: test_real_time
    assert {field for field, values in of.items() if len(values) < 2} == heads
    configurations = {netsim.SimulationConfig, netsim.LinkConfig, netsim.TcpConfig, netsim.AirConfig, netsim.Phy,
                      netsim.BeaconConfig, netsim.RadioConfig, netsim.StateRadioConfig, netsim.ServerDelay}  # fmt: skip
    assert kinds == configurations | {Page, Timing, Cause, Datagram, Message}
    chosen = {value.strip("'") for name in ("retrieval", "kind", "connections") for (_, field), values in of.items()
              if field == name for value in values}  # fmt: skip
    assert chosen == {*RETRIEVALS, *PHYS, *set(_KINDS), "persistent", "per-object"}
    assert drawn.keys() == set(KINDS)
