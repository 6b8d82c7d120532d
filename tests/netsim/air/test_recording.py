"""What a recorder says was on the air: nothing overlaps but collisions, and answers follow after SIFS."""

from itertools import pairwise

import pytest

import netsim
from netsim.air.recording import AirRecorder
from traces.records import Page

PAGES = [Page(f"p{i}", 300, 9_000, ((300, 4_000),), 0.3) for i in range(3)]


@pytest.mark.parametrize("policy", ["none", "psm", "dynamic:50", "uapsd", "twt:200:20"])
@pytest.mark.parametrize("options", [{}, {"neighbours": 2}, {"rts_bytes": 500, "neighbours": 1}])
def test_frames_overlap_only_in_collisions_and_answers_follow_after_sifs(policy, options):
    recorder = AirRecorder()
    config = netsim.SimulationConfig(medium=netsim.AirConfig(**options))
    result = netsim.simulate(PAGES, policy, config=config, recorder=recorder)
    assert result.pages.equals(netsim.simulate(PAGES, policy, config=config).pages)  # notes change nothing
    frames = recorder.frames
    assert {frame.kind for frame in frames} >= {"data", "ack", "beacon"}
    assert ("poll" in {frame.kind for frame in frames}) == (policy == "psm")
    assert ("rts" in {frame.kind for frame in frames}) == ("rts_bytes" in options)
    for earlier, later in pairwise(frames):
        if earlier.received or later.received:
            assert later.start_ns >= earlier.end_ns + 10_000
        if later.kind in ("ack", "cts"):
            assert later.start_ns == earlier.end_ns + 10_000
            assert later.sender != earlier.sender


def test_a_recorder_is_for_one_run():
    recorder = AirRecorder()
    config = netsim.SimulationConfig(medium=netsim.AirConfig())
    netsim.simulate(PAGES, "psm", config=config, recorder=recorder)
    with pytest.raises(ValueError, match="a recorder is for one run"):
        netsim.simulate(PAGES, "psm", config=config, recorder=recorder)


@pytest.mark.parametrize("policy", ["none", "psm", "dynamic:50", "uapsd", "twt:200:20", "lpsm2"])
@pytest.mark.parametrize("rts_bytes", [None, 500])
def test_packets_gates_decisions_and_requests_are_noted_as_on_wires(policy, rts_bytes):
    recorder = AirRecorder()
    config = netsim.SimulationConfig(medium=netsim.AirConfig(neighbours=1, rts_bytes=rts_bytes))
    result = netsim.simulate(PAGES, policy, config=config, recorder=recorder)
    carried = [frame for frame in recorder.transmissions if not frame.lost]
    assert sum(frame.length for frame in carried if frame.down) == sum(p.reply_bytes + 4_000 for p in PAGES)
    assert sum(frame.length for frame in carried if not frame.down) == sum(p.request_bytes + 300 for p in PAGES)
    on_air = {(frame.start_ns, frame.end_ns) for frame in recorder.frames if frame.kind == "data" and frame.received}
    assert {(frame.start_ns, frame.end_ns) for frame in carried} <= on_air
    assert all(frame.reached_ns <= frame.start_ns for frame in carried)
    assert [(one.page, one.object_index) for one in recorder.exchanges] == [(p, i) for p in range(3) for i in (-1, 0)]
    decisions = [decision.at_ns for decision in recorder.decisions]
    assert len(decisions) >= len(result.polls) / 4
    assert [at for at, _ in recorder.gates] == sorted(at for at, _ in recorder.gates)
    assert all(before != after for (_, before), (_, after) in pairwise(recorder.gates))
    if policy == "none":
        assert recorder.gates == [(0, False), (0, True)]
