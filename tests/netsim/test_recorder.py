"""What a recorder keeps, and for whom; `test_conservation` holds records to the laws of every run."""

import pytest

import netsim
from traces.records import Message, Page

PAGES = [Page(f"p{i}", 300, 9_000 * i + 500, ((300, 2_000),) * i, 2.0) for i in range(4)]


def test_decisions_are_the_polls_that_the_result_has():
    recorder = netsim.Recorder()
    polls = netsim.simulate(PAGES, "lpsm", recorder=recorder).polls
    found = [(one.at_ns, one.buffered_bytes) for one in recorder.decisions if one.event == "beacon"]
    assert found == [(round(at * 1e9), size) for at, size in zip(polls.time_s, polls.buffered_bytes, strict=True)]


def test_frames_account_for_every_byte_of_pages_and_messages_where_nothing_is_sent_again():
    recorder = netsim.Recorder()
    netsim.simulate(PAGES, "psm", push=[Message(1.25, 3000)], recorder=recorder)
    asked, answered = (sum(page[1 + way] + sum(one[way] for one in page.objects) for page in PAGES) for way in (0, 1))
    frames = recorder.transmissions
    assert sum(frame.length for frame in frames if not frame.down) == asked
    assert sum(frame.length for frame in frames if frame.down) == answered + 3000


def test_a_recorder_is_for_one_run_of_the_interpreted_model():
    recorder = netsim.Recorder()
    netsim.simulate(PAGES, "psm", recorder=recorder)
    with pytest.raises(ValueError, match="for one run"):
        netsim.simulate(PAGES, "psm", recorder=recorder)
    with pytest.raises(netsim.NotCoveredError, match="recorded"):
        netsim.simulate(PAGES, "psm", engine="express", recorder=netsim.Recorder())
