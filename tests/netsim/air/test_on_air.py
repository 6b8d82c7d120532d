"""What is on the air, to the microsecond: frames, gates and decisions as computed by hand, and as they are recorded.

The window has zero slots, so that nothing is left to chance.  SIFS 10, DIFS 28 and PIFS 19 us; data of 1500 and 500
bytes 254 and 106, with QoS control under U-APSD 258 and 110; PS-Poll and ACK 34, null 38, RTS 58, CTS 50, a beacon 294
and a group frame 346.  A send from doze hears the channel for DIFS first.  Without an answer after SIFS, a slot and 20
for a preamble (36 on 11n) the sender waits for DIFS and for the end of a slot.  On 11n, data of 1500 and 62 bytes take
234 and 58 us alone; the first frame goes alone, and what came meanwhile goes together, with a block ACK of 38 us.
"""

from itertools import pairwise

import numpy as np
import pytest

import netsim
import traces
from netsim import AirConfig, AirRecorder, BeaconConfig, Phy
from tests.netsim.air.cells import MS, US, Air
from tests.tables import each

# policies | what a client sends or waits for it, at ms, of so many bytes | settings; then what is on the air, from and
# to in us, by the access point (a) or a client (c); when frames arrived, in us; when the gates of client 0 open and
# close in turn, from closed at 0 on; when it is asked at a beacon (b) or idle (i); when clients are awake, in us
CASES = """
# psm:100 | up 10, down 30, down 30 500
10028 10282 c0 data 0 sleeps, 10292 10326 a ack, 100000 100294 a beacon 1 announces,
100322 100356 c0 poll sleeps, 100366 100620 a data 1 more, 100630 100664 c0 ack,
100692 100726 c0 poll sleeps, 100736 100842 a data 2, 100852 100886 c0 ack
gates 0; asked i0 b100 i100.886; awake 10000 10326 100000 100886
# psm:100 | up 10, down 30, down 30 500 | lost=0,2
10028 10282 c0 data 0 sleeps lost, 10355 10609 c0 data 1 sleeps retry, 10619 10653 a ack,
100000 100294 a beacon 1 announces, 100322 100356 c0 poll sleeps lost, 100429 100463 c0 poll sleeps retry,
100473 100727 a data 2 more, 100737 100771 c0 ack, 100799 100833 c0 poll sleeps, 100843 100949 a data 3,
100959 100993 c0 ack
# psm:100 | up 10 | lost=0,1,2,3,4,5,6 until=99
10028 10282 c0 data 0 sleeps lost, 10355 10609 c0 data 1 sleeps retry lost, 10682 10936 c0 data 2 sleeps retry lost,
11009 11263 c0 data 3 sleeps retry lost, 11336 11590 c0 data 4 sleeps retry lost,
11663 11917 c0 data 5 sleeps retry lost, 11990 12244 c0 data 6 sleeps retry lost
asked i0; awake 10000 12283; given up 1
# psm:100 | up 10, down 30, down 30 500 | rts_bytes=0
10028 10086 c0 rts sleeps, 10096 10146 a cts, 10156 10410 c0 data 0 sleeps, 10420 10454 a ack,
100000 100294 a beacon 1 announces, 100322 100356 c0 poll sleeps, 100366 100620 a data 1 more, 100630 100664 c0 ack,
100692 100726 c0 poll sleeps, 100736 100842 a data 2, 100852 100886 c0 ack
# psm:100 | down 30, down 30 500 | retrieval=null
100000 100294 a beacon 1 announces, 100322 100360 c0 null, 100370 100404 a ack, 100432 100686 a data 0 more,
100696 100730 c0 ack, 100758 100864 a data 1, 100874 100908 c0 ack, 100936 100974 c0 null sleeps, 100984 101018 a ack
gates 0 100.36 100.974; awake 100000 101018
# dynamic:5 | up 10, down 30, down 30 500 | rts_bytes=1000
10028 10086 c0 rts, 10096 10146 a cts, 10156 10410 c0 data 0, 10420 10454 a ack,
15000 15038 c0 null sleeps, 15048 15082 a ack, 100000 100294 a beacon 1 announces,
100322 100360 c0 null, 100370 100404 a ack, 100432 100490 a rts more, 100500 100550 c0 cts,
100560 100814 a data 1 more, 100824 100858 c0 ack, 100886 100992 a data 2, 101002 101036 c0 ack,
105992 106030 c0 null sleeps, 106040 106074 a ack
gates 0 10.41 15.038 100.36 106.03; asked i0 i10.454 b100 i101.036
# uapsd:100 | up 10, down 30, down 30 500
10028 10286 c0 data 0 sleeps, 10296 10330 a ack, 10358 10396 a null, 10406 10440 c0 ack,
100000 100294 a beacon 1 announces, 100322 100360 c0 null sleeps, 100370 100404 a ack,
100432 100690 a data 1 more, 100700 100734 c0 ack, 100762 100872 a data 2, 100882 100916 c0 ack
gates 0; asked i0 i10.44 b100 i100.916
# twt:50:5 | up 10, down 30, down 30 500
10028 10282 c0 data 0 sleeps, 10292 10326 a ack, 50000 50254 a data 1, 50264 50298 c0 ack,
50326 50432 a data 2, 50442 50476 c0 ack, 100000 100294 a beacon 1
gates 0 0 5 50 55 100 105 150 155; asked i0 b0 b50 i50.476 b100 b150
# twt:50:5 | down 20, down 102 | twt_announced=1 until=140
28 66 c0 null sleeps, 76 110 a ack, 50028 50066 c0 null sleeps, 50076 50110 a ack, 50138 50392 a data 0,
50402 50436 c0 ack, 100000 100294 a beacon 1, 100322 100360 c0 null sleeps, 100370 100404 a ack,
102000 102254 a data 1, 102264 102298 c0 ack
awake 0 5000 50000 55000 100000 105000
# none | up 10, down 30, down 30 500
10000 10254 c0 data 0, 10264 10298 a ack, 30000 30254 a data 1, 30264 30298 c0 ack, 30326 30432 a data 2,
30442 30476 c0 ack, 100000 100294 a beacon 1
gates 0 0; asked i0
# psm:100 none | up 99.9 1500 1, down 100.05 | until=150
99900 100154 c1 data 0, 100164 100198 a ack, 100217 100511 a beacon 1 announces, 100539 100573 c0 poll sleeps,
100583 100837 a data 1, 100847 100881 c0 ack
awake 100000 100881 / 0 150000
# twt:50:5 twt:50:10 twt:50:5 | down 20 1500 1 | until=120
55000 55254 a data 0, 55264 55298 c1 ack, 100000 100294 a beacon 1
awake 0 5000 50000 55000 100000 105000 / 5000 15000 55000 65000 105000 115000 / 15000 20000 65000 70000 115000 120000
# psm:100 listen:3 | group 10, group 10, group 10 | dtim_period=2 until=299
100000 100294 a beacon 1, 200000 200294 a beacon 2, 200322 200668 a group more, 200696 201042 a group more,
201070 201416 a group
awake / ; groups lost 0 3
# listen:3 | group 10 | dtim_period=3 beacons_lost=3 until=390
100000 100294 a beacon 1, 200000 200294 a beacon 2, 300000 300294 a beacon 3, 300322 300668 a group
awake; groups lost 1
# listen:3 | group 10 | dtim_period=3 beacons_lost=6 until=390
100000 100294 a beacon 1, 200000 200294 a beacon 2, 300000 300294 a beacon 3, 300322 300668 a group
groups lost 0
# listen:3 | down 30 | beacons_lost=3,6,7 until=1250
100000 100294 a beacon 1 announces, 200000 200294 a beacon 2 announces, 300000 300294 a beacon 3 announces,
400000 400294 a beacon 4 announces, 400322 400356 c0 poll sleeps, 400366 400620 a data 0, 400630 400664 c0 ack,
500000 500294 a beacon 5, 600000 600294 a beacon 6, 700000 700294 a beacon 7, 800000 800294 a beacon 8,
900000 900294 a beacon 9, 1000000 1000294 a beacon 10, 1100000 1100294 a beacon 11, 1200000 1200294 a beacon 12
beacons 7; awake 400000 400664
# psm:100 | down 20, down 100.366 | until=150
100000 100294 a beacon 1 announces, 100322 100356 c0 poll sleeps, 100366 100620 a data 0 more, 100630 100664 c0 ack,
100692 100726 c0 poll sleeps, 100736 100990 a data 1, 101000 101034 c0 ack
# psm:100 | down 20, down 100.366001 | until=250
100000 100294 a beacon 1 announces, 100322 100356 c0 poll sleeps, 100366 100620 a data 0, 100630 100664 c0 ack,
200000 200294 a beacon 2 announces, 200322 200356 c0 poll sleeps, 200366 200620 a data 1, 200630 200664 c0 ack
# none | group 30 | dtim_period=10 until=40
30000 30346 a group
awake 0 40000
# none | up 0, up 0, up 0 62 | kind=11n max_ampdu=65535 until=99
0 234 c0 data 0, 244 278 a ack, 306 536 c0 data 1, 536 552 c0 data 2, 562 600 a block-ack
arrived 234 552 552
# none | up 0 62, up 0 62, up 0 62, up 0 62, up 0 62 | kind=11n max_ampdu=65535 until=99 lost=2
0 58 c0 data 0, 68 102 a ack, 130 153 c0 data 1, 153 177 c0 data 2 lost, 177 200 c0 data 3, 200 224 c0 data 4,
234 272 a block-ack, 300 358 c0 data 5 retry, 368 402 a ack
arrived 58 224 358 358 358
# none | up 0 62, up 0 62, up 0 62 | kind=11n max_ampdu=65535 until=99 lost=1,2
0 58 c0 data 0, 68 102 a ack, 130 165 c0 data 1 lost, 165 200 c0 data 2 lost, 291 326 c0 data 3 retry,
326 361 c0 data 4 retry, 371 409 a block-ack
arrived 58 361 361
# none | up 0 62, up 0 62, up 0 62 | kind=11n max_ampdu=65535 until=99 lost=1,3,4,5,6,7,8
0 58 c0 data 0, 68 102 a ack, 130 165 c0 data 1 lost, 165 200 c0 data 2, 210 248 a block-ack,
276 334 c0 data 3 retry lost, 425 483 c0 data 4 retry lost, 574 632 c0 data 5 retry lost, 723 781 c0 data 6 retry lost,
872 930 c0 data 7 retry lost, 1021 1079 c0 data 8 retry lost, 1170 1228 c0 data 9 retry, 1238 1272 a ack
arrived 58 1228 1228
# none | up 0 62, up 0 62, up 0 62 | kind=11n max_ampdu=65535 until=99 lost=1,2 asks access=best-effort
0 58 c0 data 0, 68 102 a ack, 139 174 c0 data 1 lost, 174 209 c0 data 2 lost, 309 347 c0 request, 357 395 a block-ack,
432 467 c0 data 3 retry, 467 502 c0 data 4 retry, 512 550 a block-ack
# psm:100 | group 30 | mbps=1 until=150
100000 101760 a beacon 1, 101788 103868 a group
# none | up 0 562, up 0 562, up 0 562 | kind=11n max_ampdu=65535 rts_bytes=1000 until=99
0 118 c0 data 0, 128 162 a ack, 190 248 c0 rts, 258 308 a cts, 318 415 c0 data 1, 415 512 c0 data 2,
522 560 a block-ack
arrived 118 512 512
"""


def cases():
    for block in CASES.strip().removeprefix("# ").split("\n# "):
        title, _, expected = block.partition("\n")
        policies, puts, settings, *_ = (*title.split(" | "), "")
        frames = [line for line in expected.splitlines() if line[0].isdigit()]
        others = [part.strip() for line in expected.splitlines() if not line[0].isdigit() for part in line.split(";")]
        yield pytest.param(policies.split(), puts.split(", "), settings, " ".join(frames), others, id=title)


def cell(policies, settings):
    """The cell of a case, its recorder, and until when it is played, ms."""
    given = dict(one.split("=") for one in settings.split() if "=" in one)
    lost, beacons_lost = ([int(n) for n in given[name].split(",")] if name in given else None
                          for name in ("lost", "beacons_lost"))  # fmt: skip
    air = AirConfig(phy=Phy(kind=given.get("kind", "11g"), cw_min=0, cw_max=0),
        retrieval=given.get("retrieval", "auto"), rts_bytes=int(given["rts_bytes"]) if "rts_bytes" in given else None,
        twt_announced="twt_announced" in given, max_ampdu_bytes=int(given.get("max_ampdu", 0)),
        beacons=BeaconConfig(dtim_period=int(given.get("dtim_period", 1)), beacon_mbps=float(given.get("mbps", 0))),
        access=given.get("access", "dcf"), block_ack_requests="asks" in settings)  # fmt: skip
    recorder = AirRecorder()
    world = Air(*policies, air=air, lost=lost, beacons_lost=beacons_lost, recorder=recorder)
    return world, recorder, int(given.get("until", 199))


@each("policies, puts, settings, expected, others", list(cases()))
def test_frames_gates_and_decisions_are_those_computed_by_hand(policies, puts, settings, expected, others):
    world, recorder, until_ms = cell(policies, settings)
    sizes = {"up": [], "down": []}
    for put in puts:
        way, at_ms, size, who = (*put.split(), *("1500", "0")[len(put.split()) - 2 :])
        if way == "group":
            world.group(round(float(at_ms) * MS))
        else:
            getattr(world, way)(int(who), round(float(at_ms) * MS), int(size))
            sizes[way].append(int(size))
    world.finish(until_ms * MS)
    said, air_us = [], {"a": 0, "c": 0}
    for frame in recorder.frames:
        sender = "a" if frame.sender == "access point" else f"c{frame.sender.removeprefix('client ')}"
        names = ("sleeps", "more_data", "retry", "announces")
        flags = [name.partition("_")[0] for name in names if getattr(frame, name)]
        number = [] if frame.number < 0 else [frame.number]
        words = (frame.start_ns // US, frame.end_ns // US, sender, frame.kind, *number, *flags)
        said.append(" ".join(map(str, words if frame.received else (*words, "lost"))))
        to_all = "everybody" if frame.kind in ("beacon", "group") else "client"
        assert frame.receiver.startswith("access point" if sender[0] == "c" else to_all)
        air_us[sender[0]] += (frame.end_ns - frame.start_ns) // US * (frame.kind == "data" and frame.received)
    assert said == expected.split(", ")
    came = [frame for frame in recorder.transmissions if not frame.lost]
    for way in ("up", "down"):
        given_up = sum(client.lost for client in world.clients)
        own = [frame.size_bytes for frame in came if frame.down == (way == "down")]
        assert own == sizes[way][: len(sizes[way]) - given_up]
        total = sum(getattr(client, f"air_{way}") for client in world.clients)
        if "max_ampdu" not in settings and not given_up:  # of data frames alone, however they are fetched
            assert total == air_us["ca"[way == "down"]] * US
    awake = [world.intervals_us(who) for who in range(len(policies))]
    found = {"gates": " ".join(f"{at / MS:g}" for at, _ in recorder.gates),
        "asked": " ".join(f"{one.event[0]}{one.at_ns / MS:g}" for one in recorder.decisions),
        "awake": " / ".join(" ".join(f"{at:g}" for at in intervals) for intervals in awake).strip(),
        "arrived": " ".join(f"{at:g}" for at in world.arrived_us()), "given up": str(world.clients[0].lost),
        "groups lost": " ".join(str(client.groups_lost) for client in world.clients),
        "beacons": str(world.clients[0].beacons)}  # fmt: skip
    if any(other.startswith("gates") for other in others):
        assert [is_open for _, is_open in recorder.gates] == [n % 2 == 1 for n in range(len(recorder.gates))]
    for other in others:
        name = next(name for name in found if other.startswith(name))
        assert found[name] == other.removeprefix(name).strip()


def test_what_goes_together_is_numbered_shares_its_time_and_is_answered_at_once():
    air = AirConfig(phy=Phy.parse("11n"), max_ampdu_bytes=8_000, neighbours=1)
    recorder, config = AirRecorder(), netsim.SimulationConfig(medium=air)
    netsim.simulate([traces.Page("a", 300, 40_000)], "none", config=config, recorder=recorder)
    data = [one for one in recorder.frames if one.kind == "data"]
    together = {n: [one for one in data if one.aggregate == n] for n in {one.aggregate for one in data} - {-1}}
    assert sorted(together) == list(range(len(together)))
    assert len(together) > 5
    assert all(len(of) > 1 for of in together.values())
    assert [one for one in data if one.aggregate == -1]
    answers = {one.aggregate: one for one in recorder.frames if one.kind == "block-ack"}
    assert {one.number for one in recorder.frames if one.kind not in ("data", "beacon")} == {-1}
    alone = {one.aggregate for one in recorder.frames if one.kind not in ("data", "block-ack")}
    assert set(answers) <= set(together)
    assert alone == {-1}
    for number, of in together.items():
        sizes = [recorder.transmissions[one.number].size_bytes for one in of if one.number >= 0]
        lasts = [one.end_ns - one.start_ns for one in of if one.number >= 0]
        assert all(first.end_ns == second.start_ns for first, second in pairwise(of))
        assert len({one.identity for one in of}) == len(of)
        if one_after := answers.get(number):
            assert one_after.start_ns == of[-1].end_ns + air.phy.sifs_ns
        if sizes:
            assert [one.more_data for one in of][:-1] == [of[0].sender == "access point"] * (len(of) - 1)
            assert np.argsort(lasts).tolist() == np.argsort(sizes).tolist() or len(set(sizes)) < len(sizes)
