"""What a recorder says was on the air: nothing overlaps but collisions, and answers follow after SIFS."""

from itertools import pairwise

import pytest

import netsim
from netsim import AirConfig, AirRecorder, Phy
from tests.netsim.air.cells import MS, Air
from traces.records import Page

PAGES = [Page(f"p{i}", 300, 5_000, ((300, 2_000),), 0.05) for i in range(3)]
NAMES = {"a": "access point", "c": "client 0"}
# what a client of each policy and its access point (c, a) send, from when to when in microseconds, with a window of
# zero slots: SIFS 10, DIFS 28, data of 1500 and 500 bytes 254 and 106, PS-Poll and ACK 34, null 38, RTS 58, CTS 50;
# under U-APSD data are two bytes longer: 258 and 110
ON_AIR = {
    "psm:100": """10028 10282 c data 0 sleeps, 10292 10326 a ack, 100000 100294 a beacon 1 announces,
        100322 100356 c poll sleeps, 100366 100620 a data 1 more, 100630 100664 c ack,
        100692 100726 c poll sleeps, 100736 100842 a data 2, 100852 100886 c ack""",
    # a send from doze hears the channel for DIFS first
    # without an answer after SIFS, a slot and 20 for a preamble the sender waits for DIFS and for the end of a slot
    "psm:100, lost": """10028 10282 c data 0 sleeps lost, 10355 10609 c data 1 sleeps retry, 10619 10653 a ack,
        100000 100294 a beacon 1 announces, 100322 100356 c poll sleeps lost, 100429 100463 c poll sleeps retry,
        100473 100727 a data 2 more, 100737 100771 c ack, 100799 100833 c poll sleeps, 100843 100949 a data 3,
        100959 100993 c ack""",
    "dynamic:5": """10028 10086 c rts, 10096 10146 a cts, 10156 10410 c data 0, 10420 10454 a ack,
        15000 15038 c null sleeps, 15048 15082 a ack, 100000 100294 a beacon 1 announces,
        100322 100360 c null, 100370 100404 a ack, 100432 100490 a rts more, 100500 100550 c cts,
        100560 100814 a data 1 more, 100824 100858 c ack, 100886 100992 a data 2, 101002 101036 c ack,
        105992 106030 c null sleeps, 106040 106074 a ack""",
    "uapsd:100": """10028 10286 c data 0 sleeps, 10296 10330 a ack, 10358 10396 a null, 10406 10440 c ack,
        100000 100294 a beacon 1 announces, 100322 100360 c null sleeps, 100370 100404 a ack,
        100432 100690 a data 1 more, 100700 100734 c ack, 100762 100872 a data 2, 100882 100916 c ack""",
    "twt:50:5": """10028 10282 c data 0 sleeps, 10292 10326 a ack, 50000 50254 a data 1, 50264 50298 c ack,
        50326 50432 a data 2, 50442 50476 c ack, 100000 100294 a beacon 1""",
    "none": """10000 10254 c data 0, 10264 10298 a ack, 30000 30254 a data 1, 30264 30298 c ack,
        30326 30432 a data 2, 30442 30476 c ack, 100000 100294 a beacon 1""",
}
GATES = {  # from when on, in milliseconds, the gate is closed, open, closed, ...
    "psm:100": [0], "dynamic:5": [0, 10.41, 15.038, 100.36, 106.03], "uapsd:100": [0], "none": [0, 0],
    "twt:50:5": [0, 0, 5, 50, 55, 100, 105, 150, 155],
}  # fmt: skip
DECISIONS = {  # asked at a beacon (b) or when idle (i), at which instant in milliseconds
    "psm:100": "i0 b100 i100.886", "dynamic:5": "i0 i10.454 b100 i101.036", "uapsd:100": "i0 i10.44 b100 i100.916",
    "twt:50:5": "i0 b0 b50 i50.476 b100 b150", "none": "i0",
}  # fmt: skip


@pytest.mark.parametrize("case", ON_AIR)
def test_frames_gates_and_decisions_are_noted_as_computed_by_hand(case):
    policy, _, lost = case.partition(", ")
    recorder = AirRecorder()
    rts_bytes = 1000 if policy == "dynamic:5" else None
    air = AirConfig(phy=Phy(kind="11g", cw_min=0, cw_max=0), rts_bytes=rts_bytes)
    world = Air(policy, air=air, lost=[0, 2] if lost else None, recorder=recorder)
    world.up(0, 10 * MS)
    for size in (1500, 500):
        world.down(0, 30 * MS, size)
    world.finish(199 * MS)
    said = []
    for frame in recorder.frames:
        sender = frame.sender[0]
        flags = ("sleeps", "more_data", "retry", "announces")
        words = [name.partition("_")[0] for name in flags if getattr(frame, name)]
        words += [] if frame.received else ["lost"]
        number = [] if frame.number < 0 else [frame.number]
        said.append(" ".join(map(str, (frame.start_ns // 1000, frame.end_ns // 1000, sender, frame.kind, *number, *words))))  # noqa: E501  # fmt: skip
        to = "everybody" if frame.kind == "beacon" else NAMES["ca"[sender == "c"]]
        assert (frame.sender, frame.receiver) == (NAMES[sender], to)
    assert said == " ".join(ON_AIR[case].split()).split(", ")
    assert [frame.size_bytes for frame in recorder.transmissions if not frame.lost] == [1500, 1500, 500]
    assert [frame.down for frame in recorder.transmissions if not frame.lost] == [False, True, True]
    if not lost:
        assert recorder.gates == [(round(at * MS), place % 2 == 1) for place, at in enumerate(GATES[case])]
        assert " ".join(f"{one.event[0]}{one.at_ns / MS:g}" for one in recorder.decisions) == DECISIONS[case]


@pytest.mark.parametrize("policy", ["none", "psm", "dynamic:50", "uapsd", "twt:200:20", "lpsm2"])
@pytest.mark.parametrize("rts_bytes", [None, 500])
def test_packets_gates_decisions_and_requests_are_noted_as_on_wires(policy, rts_bytes):
    recorder = AirRecorder()
    config = netsim.SimulationConfig(medium=netsim.AirConfig(neighbours=1, rts_bytes=rts_bytes))
    result = netsim.simulate(PAGES, policy, config=config, recorder=recorder)
    carried = [frame for frame in recorder.transmissions if not frame.lost]
    assert sum(frame.length for frame in carried if frame.down) == sum(p.reply_bytes + 2_000 for p in PAGES)
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


def test_neighbours_have_numbers_and_frames_that_go_alone_are_told_apart_by_nothing():
    recorder = AirRecorder()
    config = netsim.SimulationConfig(medium=AirConfig(neighbours=3))
    netsim.simulate(PAGES[:1], "psm", config=config, recorder=recorder)
    assert {frame.sender for frame in recorder.frames} >= {f"neighbour {number}" for number in range(3)}
    assert "neighbour 3" not in {frame.sender for frame in recorder.frames}
    assert {frame.identity for frame in recorder.frames} == {-1}
