"""Workloads on a clock: cut and joined again they are what they were."""

import numpy as np

import traces
from tests.tables import each, near
from traces import Datagram, Message, Page, Timing, Workload
from traces.times import instants, joined, moved, stretches

WORK = Workload.of(
    [
        Page("a", 300, 500, ((310, 900), (320, 0)), 2.0, 1.0, timings=(
            Timing(0, 0, 1.0, 0.1, 0.2, 0.3), Timing(1, 1, 0.05, 0.0, 0.1, 0.0), Timing(0, 2, 0.25, 0.0, 0.2, 0.0),
        )),
        Page("b", 300, 500, (), 0.0, 2.3, deadline_s=4.0, timings=(Timing(2, 1, 0.25, 0.0, 0.1, 0.0),)),
    ],
    [Message(0.5, 70), Message(2.3, 80)], 0.04, [Datagram(0.25, 0, True), Datagram(5.0, 1200, False)], 6.0,
)  # fmt: skip


def test_instants_are_those_of_what_was_waited_for_and_the_pauses():
    assert instants(WORK) == near(np.array([[1.0, 1.6], [1.65, 1.75], [1.85, 2.05], [2.3, 2.4]]))


def test_a_page_whose_exchange_waited_for_one_of_an_earlier_stretch_begins_at_its_instant():
    first, second = stretches(WORK, [0.0, 2.3])
    assert (first.captured_s, second.captured_s) == near((2.3, 3.7))
    assert second[0].timings == (Timing(2, 0, 0.0, 0.0, 0.1, 0.0),)
    assert (second[0].issue_s, second[0].deadline_s) == near((0.0, 1.7))
    assert [message.at_s for message in second.messages] == [0.0]
    assert [len(part.datagrams) for part in (first, second)] == [1, 1]


def test_paced_pages_keep_their_own_times_and_have_the_pause_between_them():
    pages = Workload.of([WORK[0], WORK[1]])
    assert instants(traces.times.paced(pages, 7.0)) == near(
        np.array([[0.0, 0.6], [0.65, 0.75], [0.85, 1.05], [8.05, 8.15]])
    )
    plain = traces.times.paced(Workload.of([Page("a", 300, 500, (), 2.0, 1.0)] * 2), 7.0)
    assert [(page.think_s, page.issue_s) for page in plain] == [(7.0, None)] * 2


@each("name", "telegram.pcap nest_log_sink.pcap wechat.pcap alexa-app.pcapng")
def test_what_is_cut_and_joined_again_has_its_times(data, tmp_path, name):
    report = traces.Report()
    [session] = traces.sessions(data / "captures" / name, report=report)
    work = traces.workload_of(session.requests, report=report)
    edges = [0.0, *work.issue_s[1::3].tolist()]
    parts = stretches(work, edges)
    again = joined([moved(part, edge) for part, edge in zip(parts, edges, strict=True)], work.captured_s)
    assert again.sizes.tolist() == work.sizes.tolist()
    for one, other in ((instants(again), instants(work)), (again.beside_s, work.beside_s)):
        assert one == near(other, abs=3e-6)
    assert sum(part.captured_s for part in parts) == near(work.captured_s)
    traces.write_workload(tmp_path / "w.jsonl", work)
    assert traces.read_workload(tmp_path / "w.jsonl") == work


def test_clients_of_one_recording_are_one_device_and_other_recordings_come_after_it(data, tmp_path):
    report = traces.Report()
    path = data / "captures" / "coap_mqtt.pcap"  # three pieces, recorded at other times
    records = list(traces.browsed(traces.sessions(path, report=report), report=report))
    traces.write_workload(tmp_path / "w.jsonl", records)
    work = traces.read_workload(tmp_path / "w.jsonl")
    spans = sorted(set(report.spans_us.values()))
    assert len(spans) == 3
    assert work.captured_s == near(sum(end - begin for begin, end in spans) / 1e6)
    assert (np.diff(instants(work)[:, 0]) >= -1e-6).all()
