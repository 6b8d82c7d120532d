from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import netsim
import traces
from netsim import Recorder, SimulationConfig
from netsim.access_point import LinkConfig
from netsim.express import NotCoveredError
from netsim.server import ServerDelay

PAGES = list(traces.generate(6, np.random.default_rng(7)))
POLICIES = ["none", "psm", "psm:300", "dynamic", "bsd:1", "bsd:0.2", "lpsm:log", "lpsm2:1.05", "hold", "uapsd"]
SLOW = SimulationConfig(server_delay=ServerDelay(mean_s=0.3))


def recorded(policy, config=SLOW, **more):
    recorder = Recorder()
    return recorder, netsim.simulate(PAGES, policy, config=config, recorder=recorder, **more)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_recorded_run_is_the_run(policy):
    recorder, result = recorded(policy)
    plain = netsim.simulate(PAGES, policy, config=SLOW, engine="packet")
    assert result.energy == plain.energy
    assert result.pages.equals(plain.pages)
    assert result.polls.equals(plain.polls)
    assert recorder.decisions


@pytest.mark.parametrize("policy", POLICIES)
def test_frames_account_for_every_byte_and_all_the_air_time(policy):
    recorder, result = recorded(policy)
    asked = sum(page.request_bytes + sum(request for request, _ in page.objects) for page in PAGES)
    answered = sum(page.reply_bytes + sum(reply for _, reply in page.objects) for page in PAGES)
    up = [frame for frame in recorder.transmissions if not frame.down]
    down = [frame for frame in recorder.transmissions if frame.down]
    assert sum(frame.length for frame in up) == asked
    assert sum(frame.length for frame in down) == answered
    assert sum(frame.end_ns - frame.start_ns for frame in up) == round(result.uplink_air_s * 1e9)
    assert sum(frame.end_ns - frame.start_ns for frame in down) == round(result.downlink_air_s * 1e9)


@pytest.mark.parametrize("policy", POLICIES)
def test_frames_of_one_direction_neither_overlap_nor_begin_before_they_are_there(policy):
    recorder, _ = recorded(policy)
    for way in (False, True):
        frames = [frame for frame in recorder.transmissions if frame.down == way]
        assert all(frame.reached_ns <= frame.start_ns < frame.end_ns for frame in frames)
        assert all(first.end_ns <= second.start_ns for first, second in pairwise(frames))


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if policy != "none"])
def test_the_client_is_awake_while_the_gate_is_open_and_while_frames_are_on_the_air(policy):
    recorder, result = recorded(policy)
    awake = result.radio[result.radio["state"] == "awake"]
    starts, ends = (np.rint(awake[name].to_numpy() * 1e9).astype(int) for name in ("start_s", "end_s"))
    for frame in recorder.transmissions:
        place = int(np.searchsorted(starts, frame.start_ns, side="right")) - 1
        assert starts[place] <= frame.start_ns
        assert frame.end_ns <= ends[place]
    instants = [at for at, _ in recorder.gates]
    states = [is_open for _, is_open in recorder.gates]
    assert instants == sorted(instants)
    assert states == [place % 2 == 1 for place in range(len(states))]  # closed at once, then in turn
    opened = 0
    for (at, is_open), (until, _) in zip(recorder.gates, [*recorder.gates[1:], (round(result.elapsed_s * 1e9), False)], strict=True):  # noqa: E501  # fmt: skip
        opened += (until - at) * is_open
    assert opened <= round(result.awake_s * 1e9)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_request_of_the_pages_is_answered_inside_its_page(policy):
    recorder, result = recorded(policy)
    wanted = [(n, i, *sizes) for n, page in enumerate(PAGES)
              for i, sizes in enumerate([(page.request_bytes, page.reply_bytes), *page.objects], -1)]  # fmt: skip
    assert sorted((e.page, e.object_index, e.request_bytes, e.reply_bytes) for e in recorder.exchanges) == sorted(
        wanted
    )
    issue = np.rint(result.pages["issue_s"].to_numpy() * 1e9)
    done = issue + np.rint(result.pages["latency_s"].to_numpy() * 1e9)
    for exchange in recorder.exchanges:
        assert issue[exchange.page] <= exchange.asked_ns < exchange.answered_ns <= done[exchange.page] + 1


def test_decisions_are_the_polls_that_the_result_has():
    recorder, result = recorded("lpsm")
    found = [(one.at_ns, one.buffered_bytes) for one in recorder.decisions if one.event == "beacon"]
    polls = result.polls
    assert found == [(round(at * 1e9), size) for at, size in zip(polls["time_s"], polls["buffered_bytes"], strict=True)]


def test_frames_that_are_lost_are_marked_and_still_use_the_air():
    config = SimulationConfig(link=LinkConfig(loss_rate=0.05))
    recorder, result = recorded("psm", config)
    assert sum(frame.lost for frame in recorder.transmissions) == result.frames_lost > 0


def test_pushed_messages_are_recorded_too():
    recorder = Recorder()
    netsim.simulate([], "psm", push=[traces.Message(1.25, 3000)], recorder=recorder)
    assert sum(frame.length for frame in recorder.transmissions if frame.down) == 3000


def test_a_recorder_is_for_one_run_of_the_packet_model():
    recorder, _ = recorded("psm")
    with pytest.raises(ValueError, match="for one run"):
        netsim.simulate(PAGES, "psm", recorder=recorder)
    with pytest.raises(NotCoveredError, match="recorded"):
        netsim.simulate(PAGES, "psm", engine="express", recorder=Recorder())
