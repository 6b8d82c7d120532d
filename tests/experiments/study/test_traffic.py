"""Recorded traffic: waits that are not known, sessions cut into pages or parts, and pauses that are asked for."""

import numpy as np
import pytest

import netsim
import traces
from experiments.study import traffic
from experiments.study.traffic import Recorded, recorded, units
from tests.tables import cases_of, near, value_error
from traces import Page

BEACONS = {"seed": 1, "beacon_interval_ns": 100_000_000}


@pytest.fixture(autouse=True)
def many_visits(monkeypatch):
    monkeypatch.setattr(traffic, "VISITS", 50)


def test_waits_that_are_not_known_are_drawn_from_those_of_the_same_trace(tmp_path):
    path = tmp_path / "many.jsonl"
    with path.open("w") as file:
        for number in range(2_000):
            waits = "0.25, null" if number % 2 else "0.5, 0.75"
            page = f'"page": "p{number}", "request_bytes": 300, "reply_bytes": 500, "objects": [[200, 700]]'
            file.write(f'{{{page}, "think_s": 1.0, "waits_s": [{waits}]}}\n')
        file.write('{"round_trip_s": 0.1}\n')
    [session] = recorded([path], seed=3)
    waits = [page.waits_s for page in session.pages()]
    assert waits[::2] == [(0.5, 0.75)] * 1_000
    assert {first for first, _ in waits[1::2]} == {0.25}
    assert {second for _, second in waits[1::2]} == {0.25, 0.5, 0.75}
    assert recorded([path], seed=3)[0].pages() == session.pages()
    assert session.round_trip_s == near(0.1)


def test_a_session_with_messages_is_cut_where_its_pages_begin_and_each_visit_keeps_its_messages_in_place():
    pages = tuple(Page(name, 300, 5000, (), 1.0, at) for name, at in (("a", 2.0), ("b", 10.0), ("c", 40.0)))
    messages = tuple(traces.Message(at, 100 + number) for number, at in enumerate((1.0, 9.5, 12.0, 41.0)))
    session = Recorded(name="phone", seed=5, recorded=traces.Workload.of(pages, messages))
    cut = units([session], few=4, **BEACONS)
    assert cut.called == "pages"
    assert [unit.name for unit in cut.workloads] == ["phone page 1", "phone page 2", "phone page 3"]
    wanted = [(2.0, [1.0, 9.5], 10.0), (0.0, [2.0], 30.0), (0.0, [1.0], 20.0)]
    for unit, (issued, sent, lasts) in zip(cut.workloads, wanted, strict=True):
        work = unit.pages()
        begun = work.issue_s - issued
        assert len(work) == 50
        steps = np.diff(begun)
        assert ((steps >= lasts - 1e-5) & (steps <= lasts + 0.1)).all()
        assert np.histogram(begun % 0.1, 4, (0, 0.1))[0].min() >= 5
        at = np.array([message.at_s for message in work.messages]).reshape(50, len(sent))
        assert at - begun[:, None] == near(np.tile(sent, (50, 1)), abs=1e-5)
    with value_error("think is for pages, but the traffic has times of its own"):
        units([session], few=4, think_s=30.0, **BEACONS)


@cases_of("count parts", "2, 2 ; 20, 20 ; 90, 18")
def test_messages_alone_are_cut_into_parts_of_as_many_messages(count, parts):
    messages = tuple(traces.Message(7.0 * number, 300) for number in range(count))
    session = Recorded(name="push", seed=0, recorded=traces.Workload.of([], messages))
    cut = units([session], few=4, **BEACONS)
    assert (cut.called, len(cut.workloads)) == ("parts", parts)
    assert {len(unit.recorded.messages) for unit in cut.workloads} == {50 * count // parts}


def test_few_recorded_sessions_are_cut_into_pages_visited_at_all_phases():
    pages = tuple(Page(f"p{i}", 300, 5000, (), 2.0, 1.0 if i else None) for i in range(3))
    session = Recorded(name="har", seed=0, recorded=pages)
    cut = units([session], few=4, **BEACONS)
    assert (cut.called, len({unit.name for unit in cut.workloads})) == ("pages", 3)
    for unit, page in zip(cut.workloads, pages, strict=True):
        browsed = unit.pages()
        assert [visit.page for visit in browsed] == 50 * [page.page]
        assert all(2.0 <= visit.think_s <= 2.1 for visit in browsed)
        issued = netsim.simulate(browsed).pages["issue_s"].to_numpy() % 0.1
        assert np.histogram(issued, 4, (0, 0.1))[0].min() >= 5
    cut = units([session], few=4, think_s=30.0, **BEACONS)
    assert all(30.0 <= visit.think_s <= 30.1 for unit in cut.workloads for visit in unit.pages())


def test_four_recordings_and_more_are_browsed_with_the_pause_that_is_asked_for():
    pages = (Page("a", 300, 5000, (), 2.0, 1.0), Page("b", 300, 5000, (), 7.0))
    sessions = [Recorded(name=f"har {number}", seed=number, recorded=pages) for number in range(4)]
    assert units(sessions, few=4, **BEACONS)[:2] == (sessions, "sessions")
    asked = units(sessions, few=4, think_s=30.0, **BEACONS)
    assert asked.called == "sessions"
    for unit in asked.workloads:
        first, second = unit.pages()
        assert (first.think_s, second.issue_s) == (30.0, None)
        assert 30.0 <= second.think_s <= 30.1
        assert 0.0 <= first.issue_s <= 0.1
