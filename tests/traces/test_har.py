"""HTTP Archives: the sizes by hand, the samples against a count of their JSON, and damage named."""

import json

import pytest

import traces

ENTRY = {
    "startedDateTime": "2020-01-01T00:00:00.250Z",
    "time": 12.5,
    "request": {"url": "http://a.edu/x", "headersSize": 400, "bodySize": 20},
    "response": {
        "status": 200,
        "headersSize": 100,
        "bodySize": 900,
        "content": {"size": 5000, "mimeType": "text/html"},
    },
}


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


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ({"_transferSize": 777}, 777),
        ({"_transferSize": None}, 1000),
        ({"_transferSize": -1, "headersSize": -1}, 900),
        ({"headersSize": -1, "bodySize": -1}, 5000),
        ({"headersSize": 100, "bodySize": -1}, 5100),
        ({"headersSize": None, "bodySize": None}, 5000),
        ({"headersSize": None, "bodySize": None, "content": None}, None),
    ],
)
def test_the_size_is_the_best_that_is_known(tmp_path, response, expected):
    requests, report = read(tmp_path, ENTRY, entry(response))
    assert [request.reply_bytes for request in requests[1:]] == ([] if expected is None else [expected])
    assert report["entries_without_size"] == (expected is None)


@pytest.mark.parametrize(
    ("request_sizes", "expected"),
    [((400, 20), 420), ((-1, 5000), 5300), ((None, -1), 300), ((0, 0), 300), ((400, None), 400)],
)
def test_a_request_is_its_headers_and_its_body_and_300_bytes_stand_for_unknown_headers(
    tmp_path, request_sizes, expected
):
    sizes = dict(zip(("headersSize", "bodySize"), request_sizes, strict=True))
    requests, _ = read(tmp_path, entry(request={"url": "http://a.edu/x", **sizes}))
    assert [request.request_bytes for request in requests] == [expected]


@pytest.mark.parametrize(
    ("made", "count"),
    [
        (entry({"_transferSize": 0}), "cache_hits"),
        (entry({"headersSize": 0, "bodySize": 0}), "cache_hits"),
        (entry(_fromCache="memory"), "cache_hits"),
        (entry({"status": 0}), "entries_without_answer"),
        (entry() | {"response": None}, "entries_without_answer"),
        (entry(request={"url": "data:image/gif;base64,R0"}), "entries_of_other_schemes"),
    ],
)
def test_what_did_not_use_the_network_is_left_out_and_counted(tmp_path, made, count):
    requests, report = read(tmp_path, ENTRY, made)
    assert len(requests) == 1
    assert report[count] == 1


def test_pages_that_the_archive_names_are_believed(tmp_path):
    made = [
        entry(pageref=page, startedDateTime=f"2020-01-01T00:00:{second:02}Z", request={"url": f"http://b{second}/"})
        for second, page in enumerate(["p1", "p1", "p1", "p2", "p2"])
    ]
    requests, _ = read(tmp_path, *made)
    assert [len(page.objects) for page in traces.pages(requests)] == [2, 1]


def test_every_sample_has_the_requests_and_bytes_that_its_json_says(data):
    for path in sorted((data / "har").glob("*.har")):
        entries = json.loads(path.read_text("utf-8-sig"))["log"]["entries"]
        requests = traces.read(path)
        sizes = [request.reply_bytes for request in requests]
        answers = [item["response"] for item in entries]
        cached = [
            item for item in answers if (item.get("_transferSize", item["bodySize"] + max(item["headersSize"], 0)) == 0)
        ]
        assert len(sizes) == len(entries) - len(cached), path.name
        assert requests.report["cache_hits"] == len(cached)
        if any("_transferSize" in item for item in answers):
            assert sum(sizes) == sum(item["_transferSize"] for item in answers), path.name
        else:
            assert sum(sizes) == sum(item["bodySize"] + max(item["headersSize"], 0) for item in answers), path.name


def test_waits_are_less_the_round_trip_of_their_connection_or_host(tmp_path):
    def timed(second, connection, wait, connect=-1, ssl=-1):
        return {
            "startedDateTime": f"2024-01-01T00:00:{second:02}Z",
            "time": 900,
            "connection": connection,
            "request": {"url": "https://a.edu/x", "headersSize": 100, "bodySize": 0},
            "response": {"status": 200, "bodySize": 500, "headersSize": 100},
            "timings": {"wait": wait, "connect": connect, "ssl": ssl},
        }

    entries = [
        timed(1, "1", 250, 90, 60),
        timed(2, "2", 250, 50),
        timed(3, "2", 70),
        timed(4, "9", 40),
        timed(5, "9", -1),
        timed(6, "5", 100, 30, 70),  # as browsers tell it that do not count TLS in
    ]
    (tmp_path / "h").write_text(json.dumps({"log": {"entries": entries}}))
    requests = traces.read(tmp_path / "h")
    assert [request.wait_us for request in requests] == [220_000, 200_000, 20_000, 10_000, -1, 70_000]
    assert requests.report.round_trip_s == 0.03


def test_messages_over_a_websocket_become_exchanges_and_messages(tmp_path):
    moment = 1_704_067_200.0  # 2024-01-01
    socket = [("send", 1, "question"), ("receive", 1.2, "answer!"), ("receive", 30, "news"), ("receive", 30.05, "more")]
    binary = {"type": "receive", "time": moment + 60, "data": "AAECAw==", "opcode": 2}  # four bytes in base64
    entry = {
        "startedDateTime": "2024-01-01T00:00:00Z",
        "time": 50,
        "request": {"url": "wss://a.edu/live", "headersSize": 100, "bodySize": 0},
        "response": {"status": 101, "bodySize": 0, "headersSize": 120},
        "_webSocketMessages": [{"type": kind, "time": moment + at, "data": data} for kind, at, data in socket]
        + [binary, {**binary, "data": "=="}, {"type": "send", "data": "when?"}],
    }
    (tmp_path / "h").write_text(json.dumps({"log": {"entries": [entry]}}))
    requests = traces.read(tmp_path / "h")
    found = traces.workload_of(requests)
    assert [(page.request_bytes, page.reply_bytes, page.objects) for page in found] == [(100, 120, ((8, 7),))]
    assert found.messages == (traces.Message(30.0, 8), traces.Message(60.0, 4))
    assert requests.report["websocket_messages_without_time_or_data"] == 2
