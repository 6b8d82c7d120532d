"""HTTP Archives: the sizes by hand, the samples against a count of their JSON, and damage named."""

import json

import numpy as np

import netsim
import traces
from tests.tables import cases_of, near
from traces.times import instants

ENTRY = {"startedDateTime": "2020-01-01T00:00:00.250Z", "time": 12.5,
    "request": {"url": "http://a.edu/x", "headersSize": 400, "bodySize": 20},
    "response": {"status": 200, "headersSize": 100, "bodySize": 900, "content": {"size": 5000, "mimeType": "text/html"}
    }}  # fmt: skip


def entry(response=None, request=None, **fields):
    changed = ENTRY | fields
    changed["response"] = ENTRY["response"] | (response or {})
    changed["request"] = ENTRY["request"] | (request or {})
    return changed


def read(tmp_path, *entries, **options):
    (tmp_path / "h").write_text(json.dumps({"log": {"version": "1.2", "entries": list(entries)}}))
    requests = traces.read(tmp_path / "h", **options)
    return list(requests), requests.report


def test_an_entry_is_a_request_to_the_microsecond(tmp_path):
    (request,), _ = read(tmp_path, ENTRY)
    start = 1_577_836_800_250_000
    assert request[:7] == ("browser", "a.edu", start, start + 12_500, 420, 1000, "http://a.edu/x")


@cases_of("response expected", """
{"_transferSize": 777}, 777 ; {"_transferSize": -1, "headersSize": -1}, 900
{"headersSize": -1, "bodySize": -1}, 5000 ; {"headersSize": None, "bodySize": None, "content": None}, None
""")  # fmt: skip
def test_the_size_is_the_best_that_is_known(tmp_path, response, expected):
    requests, report = read(tmp_path, ENTRY, entry(response))
    assert [request.reply_bytes for request in requests[1:]] == ([] if expected is None else [expected])
    assert report["entries_without_size"] == (expected is None)


@cases_of("head body expected", "400, 20, 420 ; -1, 5000, 5300 ; None, -1, 300 ; 0, 0, 300")
def test_a_request_is_its_headers_and_its_body_and_300_bytes_stand_for_unknown_headers(tmp_path, head, body, expected):
    requests, _ = read(tmp_path, entry(request={"headersSize": head, "bodySize": body}))
    assert [request.request_bytes for request in requests] == [expected]


@cases_of("made count", """
entry({"_transferSize": 0}) -> cache_hits ; entry({"headersSize": 0, "bodySize": 0}) -> cache_hits
entry(_fromCache="memory") -> cache_hits ; entry() | {"response": None} -> entries_without_answer
entry(request={"url": "data:image/gif;base64,R0"}) -> entries_of_other_schemes
""", globals())  # fmt: skip
def test_what_did_not_use_the_network_is_left_out_and_counted(tmp_path, made, count):
    requests, report = read(tmp_path, ENTRY, made)
    assert (len(requests), report[count]) == (1, 1)


def test_pages_that_the_archive_names_are_believed(tmp_path):
    made = [entry(pageref=page, startedDateTime=f"2020-01-01T00:00:{second:02}Z", request={"url": f"http://b{second}/"})
        for second, page in enumerate(["p1", "p1", "p1", "p2", "p2"])]  # fmt: skip
    requests, _ = read(tmp_path, *made)
    assert [len(page.objects) for page in traces.pages(requests)] == [2, 1]


def test_every_sample_has_the_requests_and_bytes_that_its_json_says(data):
    for path in sorted((data / "har").glob("*.har")):
        answers = [item["response"] for item in json.loads(path.read_text("utf-8-sig"))["log"]["entries"]]
        known = [item["bodySize"] + max(item["headersSize"], 0) for item in answers]
        known = [item.get("_transferSize", size) for item, size in zip(answers, known, strict=True)]
        requests = traces.read(path)
        sizes = [request.reply_bytes for request in requests]
        assert (len(sizes), sum(sizes)) == (sum(size != 0 for size in known), sum(known)), path.name
        assert requests.report["cache_hits"] == known.count(0)


def test_an_archive_with_all_timings_keeps_its_times(tmp_path):
    def timed(at_ms, *timings, **fields):
        parts = dict(zip(("blocked", "connect", "send", "wait", "receive"), timings, strict=True))
        fields |= {"pageref": "p", "time": sum(timings), "timings": parts, "connection": "1"}
        return entry(startedDateTime=f"2020-01-01T00:00:{at_ms / 1000:06.3f}Z", **fields)

    made = [timed(0, 5, 20, 1, 30, 44), timed(60, 0, 0, 0, 10, 40, _initiator={"url": "http://a.edu/x"}),
        timed(150, 0, 0, 0, 0, 2)]  # fmt: skip
    requests, report = read(tmp_path, *made)
    work = traces.workload_of(requests, report=report)
    assert work.timings == near(np.array([
        [0, 0, 0.0, 0.026, 0.03, 0.004, 0, 0],  # complete when it named the second
        [0, 1, 0.0, 0.0, 0.01, 0.04, 0, 0], [0, 1, 0.04, 0.0, 0.000001, 0.001999, 0, 0],
    ]))  # fmt: skip
    assert work.captured_s == near(0.152)
    requests, report = read(tmp_path, *made, ENTRY)  # one that does not tell
    assert not len(traces.workload_of(requests, report=report).timings)


def test_archives_are_simulated_in_the_time_that_they_took(data):
    told = 0
    for path in sorted((data / "har").glob("*.har")):
        requests = traces.read(path)
        work = traces.workload_of(list(requests), report=requests.report)
        if not len(work.timings):
            continue
        told += 1
        ends_s = [max(page) for page in np.split(instants(work)[:, 1], np.cumsum(1 + work.objects)[:-1])]
        found = netsim.simulate(work, "none").pages
        assert found.latency_s.sum() == near((ends_s - work.issue_s).sum(), rel=0.02), path.name
    assert told == 8


def test_waits_are_less_the_round_trip_of_their_connection_or_host(tmp_path):
    def timed(connection, wait, connect=-1, ssl=-1):
        return entry(connection=connection, timings={"wait": wait, "connect": connect, "ssl": ssl})

    made = [timed("1", 250, 90, 60), timed("2", 250, 50), timed("2", 70), timed("9", 40), timed("9", -1)]
    made.append(timed("5", 100, 30, 70))  # as browsers tell it that do not count TLS in
    requests, report = read(tmp_path, *made)
    assert [request.wait_us for request in requests] == [220_000, 200_000, 20_000, 10_000, -1, 70_000]
    assert report.round_trip_s == 0.03
