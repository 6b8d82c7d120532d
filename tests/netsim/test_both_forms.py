"""The model compiled is the model interpreted, to the nanosecond and in all that is learned, in whatever world."""

import os
import pickle
import secrets
import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest

import netsim
import traces
from lpsm.randomness import WORKLOAD, generator
from netsim import NotCoveredError, policies
from netsim.policies.lpsm2 import Lpsm2, Lpsm2Config
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config
from netsim.running import compiled
from netsim.sleep_planning.schedules import standard_schedules
from tests.netsim.frozen import digests, worlds
from tests.tables import cases_of, each, value_error
from traces.records import Message, Page
from traces.traffic import draw

FORMS = ("packet", "express")
PAGES = [Page("p", 300, 500)]


@pytest.mark.long
@each("part", range(10))
@cases_of("kind n", "'wires', 2_000 ; 'air', 500")
def test_worlds_that_are_new_every_time_are_answered_alike(kind, n, part):
    first = secrets.randbelow(2**50)
    for number in range(first, first + n):
        ours = digests.found(kind, number, "express")
        assert ours is None or ours == digests.found(kind, number, "packet"), (kind, number)
        assert not isinstance(ours, str), (kind, number, ours)


def learned(results):
    """Return every number that learners keep."""
    policies = [result.final_policy for result in results]
    return [getattr(one, "memory", one.compiled.floats).tobytes() for one in policies]


@each("number", range(70_000, 70_030))
def test_learners_with_settings_of_their_own_learn_alike(number):
    draw, made = worlds._Draw(number, 2), worlds.world(number)
    bounds = {"max_slowdown": draw.one(1.02, 1.05, 1.2, 2.0), "silence_s": draw.one(10.0, 0.7)}
    kind, config = Lpsm3, Lpsm3Config(**bounds)
    if draw.chance(0.5):
        own = {"max_push_delay_s": draw.one(None, 0.1, 0.02), "shortest_s": draw.one(1e-6, 0.0, 0.01)}
        kind, config = Lpsm2, Lpsm2Config(**bounds, **own, schedules=standard_schedules()[: draw.one(9, 49)])
    given = {"radio": made.config.radio, "beacon_interval_ns": made.config.beacon_interval_ns}
    policy = kind(config, host_aware=draw.chance(0.5), **given)
    clients = [(pages * 3, policy) for pages, _ in made.clients]
    packet, ours = (replace(made, clients=clients, server_delays=None).run(engine) for engine in FORMS)
    assert digests.digest(packet) == digests.digest(ours)
    assert learned(packet) == learned(ours)


def test_arrays_of_other_sizes_are_those_of_one_policy_alone():
    made = [netsim.policies.make(f"lpsm3:1.05:400{sizes}") for sizes in ("", ":bins40/room16", "")]
    assert [one.memory["key"].shape for one in made] == [(1, 256), (1, 16), (1, 256)]
    assert [one.memory["events"].shape[-1] for one in made] == [226, 40, 226]


@pytest.mark.long
@each("policy", "lpsm3-link:1.05:400:small lpsm4:1.05:400:small lpsm3-driver:1.05:400:small")
def test_small_forms_are_answered_alike(policy):
    pages, config = traces.generate(60, generator(9, WORKLOAD), "1996"), netsim.SimulationConfig(server_delay=0.3)
    runs = [netsim.simulate(pages, policy, config=config, engine=form) for form in FORMS]
    assert digests.digest(runs[:1]) == digests.digest(runs[1:])
    assert learned(runs[:1]) == learned(runs[1:])


def test_servers_are_told_apart_alike_and_by_the_host_alone():
    config = netsim.SimulationConfig(server_delay="lognormal:0.5")

    def answer(policy, form, servers):
        pages = [page._replace(servers=tuple(servers(place, 1 + len(page.objects))))
                 for place, page in enumerate(traces.generate(60, generator(8, WORKLOAD), "1996"))]  # fmt: skip
        run = netsim.simulate(pages, policy, config=config, engine=form)
        return digests.digest([run]), learned([run])

    def known(place, n):
        return [place % 20, *(place % 3 for _ in range(n - 1))]

    def unknown(place, n):
        return ()

    host, blind = (answer("lpsm3", "packet", servers) for servers in (known, unknown))
    assert answer("lpsm3", "express", known) == host != blind
    assert answer("lpsm3", "express", unknown) == blind
    assert answer("lpsm3", "express", lambda place, n: [-1] * n) == blind
    link = answer("lpsm3-link", "packet", known)
    assert answer("lpsm3-link", "express", known) == link == answer("lpsm3-link", "packet", unknown)


def test_a_learner_that_was_stored_goes_on_as_if_it_had_not_been():
    made = draw("web-servers", 2000.0, generator(9, WORKLOAD))
    first = netsim.simulate(made.pages, "lpsm3").final_policy
    stored = pickle.loads(pickle.dumps(first))
    again, copied = (netsim.simulate(made.pages, policy) for policy in (first, stored))
    assert learned([again]) == learned([copied]) != learned([netsim.simulate(made.pages, "lpsm3")])


@cases_of("medium", "None ; '11n'")
@pytest.mark.parametrize("entry", policies.registry().values(), ids=lambda entry: entry.kind)
def test_every_policy_gives_the_same_and_so_does_every_column_of_a_result(entry, medium):
    pages, given = traces.generate(5, generator(8, WORKLOAD), "1996"), {"push": [Message(1.0, 2_000)]}
    given["config"] = netsim.SimulationConfig(medium=medium, link=netsim.LinkConfig(loss_rate=0.05))
    packet, ours = (netsim.simulate(pages, entry.example, engine=form, **given) for form in FORMS)
    assert learned([packet]) == learned([ours])
    for name in ("pages", "messages", "polls", "radio"):
        pd.testing.assert_frame_equal(getattr(packet, name), getattr(ours, name), check_exact=True)


def assert_alike(pages, policy, **given):
    packet, ours = (digests.digest([netsim.simulate(pages, policy, engine=e, **given)]) for e in FORMS)
    assert ours == packet


@pytest.mark.parametrize("medium", [None, netsim.AirConfig()], ids=["wires", "air"])
def test_a_run_in_the_memory_of_an_earlier_one_leaves_behind_what_it_does_in_its_own(medium, monkeypatch):
    config = netsim.SimulationConfig(medium=medium, link=netsim.LinkConfig(loss_rate=0.1))
    worlds = [
        (traces.generate(n, generator(n, WORKLOAD), web), n) for n, web in ((9, "1996"), (1, "2025"), (3, "1996"))
    ]

    def found():
        return [
            digests.digest([netsim.simulate(pages, policy, config=config, seed=seed, engine="express")])
            for pages, seed in worlds
            for policy in ("lpsm3", "none", "twt:137:5")
        ]

    together = found()
    monkeypatch.setattr(compiled, "_rested", lambda *_: None)
    assert found() == together


@cases_of("policy think_s", "'lpsm:log', 3.0 ; 'twt:137:5', 9.0 ; 'bsd:0.3', 60.0")
def test_notes_and_random_numbers_that_run_out_are_gone_on_with(policy, think_s, monkeypatch):
    monkeypatch.setattr(compiled, "_resting", [])  # memory of another size
    monkeypatch.setattr(compiled, "_NOTES", 4)
    monkeypatch.setattr(compiled, "_DRAWN", 128)
    pages = [Page("a", 300, 90_000, (), think_s), Page("b", 300, 500), Page("c", 300, 500, (), 2 * think_s)]
    assert_alike(pages, policy, config=netsim.SimulationConfig(link=netsim.LinkConfig(loss_rate=0.1)))


def test_a_run_that_needs_more_room_begins_again_with_more_and_learns_nothing_twice(monkeypatch):
    config = netsim.SimulationConfig(tcp=netsim.TcpConfig(min_rto_s=0.06, initial_rto_s=0.2))
    pages = [Page("late", 300, 90_000, ((300, 9_000),), 5.0, issue_s=9.15)] * 3
    monkeypatch.setattr(compiled, "_resting", [])
    monkeypatch.setattr(compiled, "_FRAMES", -160)
    monkeypatch.setattr(compiled, "_SPARE_FRAMES", 4)
    assert_alike(pages, "lpsm", config=config, push=[Message(0.2, 9_000), Message(3.0, 100)])


def test_more_requests_than_a_learner_had_room_for_are_kept_all_the_same():
    pages = [Page("many", 536 * 100, 900, ((536 * 40, 900),))] * 3
    assert_alike(pages, "lpsm2-link", config=netsim.SimulationConfig(tcp=netsim.TcpConfig(mss_bytes=536)))


def test_it_is_said_why_a_run_is_not_compiled():
    class Mine:
        spec, host_aware = "mine", False

        def plan(self, view):
            return netsim.Plan(view.now_ns, (view.now_ns // 100_000_000 + 1) * 100_000_000)

    for policy in (Mine(), Lpsm2(Lpsm2Config(record=True))):
        with pytest.raises(NotCoveredError, match=f"policy {policy.spec} has no compiled rule"):
            netsim.simulate(PAGES, policy, engine="express")
        assert len(netsim.simulate(PAGES, policy).pages) == 1
    with pytest.raises(NotCoveredError, match="it is recorded"):
        netsim.simulate(PAGES, recorder=netsim.Recorder(), engine="express")


@each("engine", FORMS)
def test_a_wake_up_that_is_no_beacon_is_refused_by_name_and_so_is_a_policy_made_for_other_beacons(engine):
    # LPSM first sleeps for seven beacons of its own, which is one of this world
    config = netsim.SimulationConfig(beacon_interval_ns=700_000_000)
    with value_error("policy lpsm: wake_ns must be a multiple of 700000000 ns"):
        netsim.simulate(PAGES, policies.make("lpsm"), config=config, engine=engine)
    with value_error(r"policy lpsm2:1\.05"):
        netsim.simulate(PAGES, Lpsm2(beacon_interval_ns=102_400_000), engine=engine)


@pytest.mark.long
def test_a_small_workload_does_not_wait_to_be_compiled(tmp_path):
    code = """
import sys
import netsim
from traces.records import Page
netsim.simulate([Page("p", 300, 500, (), 1.0)], "psm")
print("numba" in sys.modules)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
