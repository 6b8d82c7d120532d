"""Grouping: the rule by hand, nothing lost, order of the trace irrelevant within the window."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import traces
from tests.tables import cases_of, each
from traces import GroupingRule, Page, Report, Request, TraceError, grouping
from traces.grouping import in_order, is_embedded
from traces.records import BY_SUFFIX, DOCUMENT, EMBEDDED, MESSAGE, OPENING, PART


def request(start_s, url="x.html", duration_s=1.0, size=1000, server="a", client="c", kind=0):
    start, end = round(start_s * 1e6), round((start_s + duration_s) * 1e6)
    return Request(client, server, start, end, 300, size, url, kind)


@cases_of("gap_s server pages", """
5.0, "a", 1 ; 5.001, "a", 2 ; 2.0, "b", 1 ; 2.001, "b", 2 ; -0.5, "b", 1
""")  # fmt: skip
def test_an_image_joins_after_a_short_pause_and_shorter_yet_from_another_server(gap_s, server, pages):
    assert len(traces.pages([request(0), request(1 + gap_s, "i.gif", server=server)])) == pages


def test_what_the_trace_says_goes_before_the_suffix():
    assert len(traces.pages([request(0), request(1, "i.gif", kind=OPENING)])) == 2
    assert len(traces.pages([request(0), request(1, "x.cgi", kind=EMBEDDED)])) == 1
    assert len(traces.pages([request(0), request(6, "x.html", server="z", kind=PART)])) == 1
    assert len(traces.pages([request(0), request(99, "x.html", kind=EMBEDDED)])) == 2


@cases_of("gap_s pages", "-0.5, 1 ; 0.999, 1 ; 1.0, 2")
@each("kind, url", [(DOCUMENT, "frame.html"), (BY_SUFFIX, "")])
def test_frames_and_traffic_without_urls_join_a_page_that_was_complete_less_than_a_second_ago(gap_s, pages, kind, url):
    report = Report()
    found = traces.pages([request(0, "", kind=kind), request(1 + gap_s, url, server="b", kind=kind)], report=report)
    assert len(found) == pages
    assert report["exchanges_grouped_by_gaps"] == (2 if kind == BY_SUFFIX else 0)
    rule = GroupingRule(page_gap_s=3.0)
    assert len(traces.pages([request(0, url, kind=kind), request(3.5, url, kind=kind)], rule=rule)) == 1


def test_messages_are_beside_the_pages_and_both_keep_their_places_in_time():
    pushed = Request("c", "a", 3_000_000, 3_000_000, 0, 70, "", MESSAGE)
    of_client = [request(1, size=10)._replace(wait_us=250_000), pushed, request(9, size=20)]
    found = traces.workload_of(of_client)
    assert found.messages == (traces.Message(2.0, 70),)
    first = Page("c/0", 300, 10, (), 7.0, 0.0, (0.25,), servers=(0,))
    assert list(found) == [first, Page("c/1", 300, 20, (), 0.0, 8.0, servers=(0,))]
    assert traces.workload_of(of_client[::2])[0].issue_s is None
    assert traces.pages(of_client) == traces.pages(of_client[::2])


def test_images_are_embedded_and_documents_and_saved_files_are_not():
    images = ["http://a/b.gif", "b.GIF", "GET 12..gif HTTP/1.0", "//a/b.xbm#x", "/c.jpeg?a=b.html"]
    others = ["http://a.gif/", "//a/", "b", "GET 12..html HTTP/1.0", "", "x.ps", "b.cgi?c.gif"]
    assert [url for url in images + others if is_embedded(url)] == images


def test_a_page_that_never_ends_is_ended(monkeypatch):
    monkeypatch.setattr(grouping, "MAX_OBJECTS", 10)
    browsed = [request(number, "i.gif", 0.5) for number in range(34)]
    assert [len(page.objects) for page in traces.pages(browsed)] == [10, 10, 10, 0]


def test_a_longer_pause_than_the_limit_is_an_absence_that_is_cut_out_and_counted():
    report = Report()
    browsed = [request(0), request(1001.5), request(2002.5)]  # pauses of 1000.5 s and 1000 s
    limited = traces.pages(browsed, rule=GroupingRule(max_think_s=1000), report=report)
    assert [page.think_s for page in limited] == [0.0, 1000.0, 0.0]
    assert report["absences"] == 1
    assert [page.think_s for page in traces.pages(browsed)] == [1000.5, 1000.0, 0.0]


kinds = st.sampled_from(["x.html", "i.gif", "/"])
steps = st.tuples(st.floats(0, 30), kinds, st.floats(0, 500), st.sampled_from("cd"), st.booleans())
browsing = st.lists(steps, max_size=40)


def build(steps):
    now, requests = 0.0, []
    for index, (pause, url, duration, client, other) in enumerate(steps):
        now += pause + 1e-3
        server = "b" if other else "a"
        requests.append(request(now, url, duration, size=index + 1, client=client, server=server))
    return requests


@given(browsing, st.sampled_from([(5.0, 2.0), (0.0, 0.0), (30.0, 1.0)]))
def test_pages_are_those_of_the_rule_read_aloud(steps, gaps):
    requests = build(steps)
    names = list(dict.fromkeys(item.server for item in requests))
    expected = []
    for client in "cd":
        groups = []
        for item in (item for item in requests if item.client == client):
            joins = False
            if groups and item.url == "i.gif":
                gap_s = gaps[0] if item.server == groups[-1][0].server else gaps[1]
                joins = item.start_us - max(earlier.end_us for earlier in groups[-1]) <= gap_s * 1e6
            if joins:
                groups[-1].append(item)
            else:
                groups.append([item])
        for number, (group, after) in enumerate(zip(groups, [*groups[1:], None], strict=False)):
            think = max(0, after[0].start_us - max(item.end_us for item in group)) if after else 0
            sizes = [(item.request_bytes, item.reply_bytes) for item in group]
            servers = tuple(names.index(item.server) for item in group)
            expected.append(Page(f"{client}/{number}", *sizes[0], tuple(sizes[1:]), think / 1e6, servers=servers))
    rule = GroupingRule(same_server_gap_s=gaps[0], other_server_gap_s=gaps[1])
    assert sorted(traces.pages(requests, rule=rule)) == sorted(expected)


@given(browsing)
def test_a_trace_sorted_by_completion_gives_the_pages_of_one_sorted_by_sending(steps):
    requests = build(steps)
    by_completion = sorted(requests, key=lambda item: item.end_us)
    assert sorted(traces.pages(by_completion)) == sorted(traces.pages(requests))


def test_a_request_longer_than_the_window_is_left_out_and_counted():
    report = Report()
    requests = [request(10 * n, duration_s=1) for n in range(1, 100)] + [request(5, duration_s=1200)]
    kept = list(in_order(requests, reorder_s=100, report=report))
    assert len(kept) == 99
    assert report.counts == {"requests_too_late_for_their_place": 1}


def test_times_that_run_backwards_are_an_error():
    message = r"client c, request 2: a request must not end more than 600 s .*got 601.000000 s"
    with pytest.raises(TraceError, match=message):
        traces.pages([request(1000), request(399)])
    assert len(traces.pages([request(1000), request(401)])) == 2


def test_a_long_reply_first_is_no_disorder_in_a_trace_sorted_by_sending():
    browsed = [request(0, duration_s=5000), *(request(10 * number, size=number) for number in range(1, 9))]
    assert [page.reply_bytes for page in traces.pages(browsed)] == [1000, *range(1, 9)]
