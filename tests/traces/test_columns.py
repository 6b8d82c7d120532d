"""Columns hold exactly what the pages hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netsim
from traces.columns import Workload
from traces.records import Page

size = st.integers(1, 2**41)
seconds = st.floats(0, 1e6)
workloads = st.lists(
    st.builds(
        Page,
        page=st.text(min_size=1),
        request_bytes=size,
        reply_bytes=size,
        objects=st.lists(st.tuples(size, size), max_size=4).map(tuple),
        think_s=seconds,
        issue_s=st.none() | seconds,
    ),
    max_size=6,
)


@given(workloads)
def test_pages_made_from_columns_are_those_that_the_columns_were_made_from(pages):
    workload = Workload.of(pages)
    again = Workload(workload.names, workload.objects, workload.sizes, workload.think_s, workload.issue_s)
    assert list(again) == pages
    assert again == pages == workload
    assert again[1:] == pages[1:]
    assert len(again.sizes) == len(pages) + sum(len(page.objects) for page in pages)
    assert Workload.of(again) is again


def test_columns_and_pages_are_simulated_alike():
    pages = [Page("a", 300, 9000, ((300, 2000),), 1.5), Page("b", 300, 500, issue_s=7.25)]
    ours, theirs = netsim.simulate(Workload.of(pages), "psm"), netsim.simulate(pages, "psm")
    assert ours.pages.equals(theirs.pages)


def test_objects_that_are_no_pairs_and_times_that_are_none_are_refused():
    with pytest.raises(ValueError, match="an object must be a pair"):
        Workload.of([Page("a", 300, 500, ((1, 2, 3),))])
    for page in (Page("a", 300, 500, issue_s=np.nan), Page("a", 300, 500, think_s=np.nan)):
        with pytest.raises(ValueError, match=r"page 'a': (issue|think)_s must lie in \[0, 4e\+09\] s, got nan"):
            netsim.simulate([page])
    with pytest.raises(ValueError, match="sizes must be at least 1 byte, got 0"):
        netsim.simulate([Page("a", 300, 500), Page("b", 300, 500, ((1, 0),))])
