"""Columns hold exactly what the pages hold."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netsim
from tests.wrong_calls import refused, table
from traces.columns import Workload
from traces.records import Message, Page

size = st.integers(1, 2**41)
seconds = st.floats(0, 1e6)


@st.composite
def some_pages(draw):
    objects = tuple(draw(st.lists(st.tuples(size, size), max_size=4)))
    waits = draw(st.lists(seconds | st.just(math.nan), min_size=1 + len(objects), max_size=1 + len(objects)))
    return Page(
        page=draw(st.text("aé", min_size=1)),
        request_bytes=draw(size),
        reply_bytes=draw(size | st.just(0)),
        objects=objects,
        think_s=draw(seconds),
        issue_s=draw(st.none() | seconds),
        waits_s=tuple(waits) if any(wait == wait for wait in waits) else (),
        deadline_s=draw(st.none() | seconds),
        servers=draw(st.just(()) | st.tuples(st.integers(0, 2**31), *(st.integers(-1, 9) for _ in objects))),
    )


workloads = st.lists(some_pages(), max_size=6)


@given(workloads)
def test_pages_made_from_columns_are_those_that_the_columns_were_made_from(pages):
    workload = Workload.of(pages)
    again = Workload(
        workload.names,
        workload.objects,
        workload.sizes,
        workload.think_s,
        workload.issue_s,
        workload.waits_s,
        workload.deadline_s,
        servers=workload.servers,
    )
    assert list(again) == pages
    assert again == pages == workload
    assert again[1:] == pages[1:]
    assert len(again.sizes) == len(pages) + sum(len(page.objects) for page in pages)
    assert Workload.of(again) is again


def test_waits_stand_in_the_order_of_the_exchanges_and_are_nan_where_nothing_is_known():
    workload = Workload.of(
        [Page("a", 300, 500), Page("b", 300, 500, ((1, 2),), waits_s=(0.5, np.nan)), Page("c", 1, 0)]
    )
    assert np.array_equal(workload.waits_s, [np.nan, 0.5, np.nan, np.nan], equal_nan=True)
    assert len(workload.waits_s) == len(workload.sizes)
    with pytest.raises(ValueError, match=r"page 'a': waits_s must have one wait an exchange \(2\), got 1"):
        Workload.of([Page("a", 300, 500, ((1, 2),), waits_s=(0.5,))])


def test_servers_stand_in_the_order_of_the_exchanges_and_are_negative_where_nothing_is_known():
    workload = Workload.of([Page("a", 300, 500), Page("b", 300, 500, ((1, 2),), servers=(7, 3)), Page("c", 1, 0)])
    assert workload.servers.tolist() == [-1, 7, 3, -1]
    with pytest.raises(ValueError, match=r"page 'a': servers must have one server an exchange \(2\), got 1"):
        Workload.of([Page("a", 300, 500, ((1, 2),), servers=(5,))])


def test_workloads_with_other_messages_or_another_round_trip_are_not_equal():
    pages = [Page("a", 300, 500)]
    plain = Workload.of(pages)
    assert plain == pages
    for other in (Workload.of(pages, [Message(1.0, 5)]), Workload.of(pages, round_trip_s=0.1)):
        assert other == pages
        assert other != plain
    assert plain.messages == ()
    assert plain.round_trip_s is None


def test_objects_that_are_no_pairs_and_times_that_are_none_are_refused():
    with pytest.raises(ValueError, match="an object must be a pair"):
        Workload.of([Page("a", 300, 500, ((1, 2, 3),))])
    for page in (Page("a", 300, 500, issue_s=np.nan), Page("a", 300, 500, think_s=np.nan)):
        with pytest.raises(ValueError, match=r"page 'a': (issue|think)_s must lie in \[0, 4e\+09\] s, got nan"):
            netsim.simulate([page])
    with pytest.raises(ValueError, match="sizes must be at least 1 byte, got 0"):
        netsim.simulate([Page("a", 300, 500), Page("b", 300, 500, ((0, 1),))])


FITTING = {
    "names": ["a", "b"],
    "objects": [1, 0],
    "sizes": [[300, 500], [1, 2], [300, 700]],
    "think_s": [0.0, 1.0],
    "issue_s": [math.nan, 5.0],
}


def columns(**changed):
    return Workload(**{**FITTING, **changed})


@table(r"""
columns(objects=[2, 0]) -> sizes must have shape \(4, 2\), got \(3, 2\)
columns(objects=[1 << 40, 0]) -> objects must lie in \[0, 4294967296\], got 0 to 1099511627776
columns(objects=[-1, 2]) -> objects must lie in \[0, 4294967296\], got -1 to 2
columns(objects=[1, 0, 0]) -> objects must have shape \(2,\), got \(3,\)
columns(sizes=[[300, 500]]) -> sizes must have shape \(3, 2\), got \(1, 2\)
columns(sizes=[300, 500, 1]) -> sizes must have shape \(3, 2\), got \(3,\)
columns(think_s=[0.0]) -> think_s must have shape \(2,\), got \(1,\)
columns(issue_s=[]) -> issue_s must have shape \(2,\), got \(0,\)
columns(waits_s=[0.5]) -> waits_s must have shape \(3,\), got \(1,\)
columns(servers=[1, 2]) -> servers must have shape \(3,\), got \(2,\)
columns(servers=[1, 2, 0.5]) -> servers must hold whole numbers below 2\^63, got list of float64
columns(deadline_s=np.zeros((2, 1))) -> deadline_s must have shape \(2,\), got \(2, 1\)
columns(names=["a"]) -> objects must have shape \(1,\), got \(2,\)
columns(names=["a", 5]) -> names must be text, got one of type int
columns(objects=[1.0, 0.0]) -> objects must hold whole numbers below 2\^63, got list of float64
columns(sizes=np.full((3, 2), 5, dtype=np.uint64)) -> sizes must hold whole numbers below 2\^63, got ndarray
columns(think_s=[0.0, 1j]) -> think_s must hold numbers, got list of complex128
columns(think_s=[0.0, 10**400]) -> think_s must hold numbers, got list of object
columns(think_s=np.ma.masked_array([0.0, 1.0], [0, 1])) -> think_s must hold numbers, got MaskedArray
""")
def test_columns_that_do_not_belong_together_are_refused_before_any_engine_sees_them(call, message):
    refused(call, message, globals())


def test_columns_cannot_be_changed_after_they_were_checked():
    objects = np.array([1, 0])
    workload = Workload(**{**FITTING, "objects": objects})
    objects[0] = 1000
    assert workload.objects.tolist() == [1, 0]
    for column in (workload.objects, workload.sizes, workload.think_s, workload.issue_s, workload.waits_s):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 7
    for engine in ("packet", "express"):
        assert len(netsim.simulate(workload, "psm", engine=engine).pages) == 2
