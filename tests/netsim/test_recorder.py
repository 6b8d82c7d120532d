"""What a recorder keeps, and for whom; `test_conservation` holds records to the laws of every run."""

import pytest

import netsim
from traces.records import Page

PAGES = [Page(f"p{i}", 300, 9_000 * i + 500, ((300, 2_000),) * i, 2.0) for i in range(4)]


def test_a_recorder_is_for_one_run_of_the_interpreted_model():
    recorder = netsim.Recorder()
    netsim.simulate(PAGES, "psm", recorder=recorder)
    with pytest.raises(ValueError, match="for one run"):
        netsim.simulate(PAGES, "psm", recorder=recorder)
    with pytest.raises(netsim.NotCoveredError, match="recorded"):
        netsim.simulate(PAGES, "psm", engine="express", recorder=netsim.Recorder())
