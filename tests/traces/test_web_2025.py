"""Pages of today against the figures that they were made from, and against recorded pages."""

import numpy as np
import pytest
from numpy.random import default_rng

import traces
from tests.real_data import DATA
from tests.reference_web import calibrated, correlations, depths, loads, parents_of
from tests.tables import cases_of, value_error
from traces.web_2025 import TYPES, amounts, model, quantile

PERCENT = (10, 25, 50, 75, 90)


@pytest.fixture(scope="module")
def many():
    return traces.generate(3_000, default_rng(8), web="2025")


def sizes(page):
    return [page.reply_bytes, *(reply for _, reply in page.objects)]


def held_to_published(pages, near):
    requests, kib = zip(*((len(page.causes), sum(sizes(page)) / 1024) for page in pages), strict=True)
    for name, of in (("requests", requests), ("kib", kib)):
        assert np.percentile(of, PERCENT) == pytest.approx(model()["published"][name], rel=near), name


def test_requests_and_bytes_of_pages_are_as_published(many):
    held_to_published(many, 0.1)  # of so few


@pytest.mark.long
def test_percentiles_of_many_pages_are_within_five_per_cent_of_the_published_ones():
    held_to_published(traces.generate(20_000, default_rng(2026), web="2025"), 0.05)


def test_requests_and_bytes_of_each_type_are_as_published():
    packaged, rng = model(), default_rng(9)
    scores = rng.standard_normal((40_000, 2 * len(TYPES) - 1)) @ packaged["root"].T
    counts, _ = amounts(packaged, scores, rng.random(40_000) < 0.5)
    for kind, of in zip(TYPES[:-1], counts.T, strict=False):
        assert np.percentile(of, PERCENT) == pytest.approx(packaged["requests"][kind], abs=1), kind
    _, home = amounts(packaged, scores, np.ones(40_000, bool))
    for kind, table in (("css", "css"), ("js", "js"), ("image", "image_home")):
        of = home[:, TYPES.index(kind)] / 1024
        assert np.percentile(of, PERCENT) == pytest.approx(packaged["kib"][table], rel=0.05), kind


def test_the_first_pages_do_not_depend_on_how_many_are_asked_for(many):
    assert traces.generate(20, 8, web="2025") == many[:20]


def test_a_page_is_a_graph_whose_requests_come_after_what_names_them(many):
    for page in many[:500]:
        n = 1 + len(page.objects)
        assert n == len(page.causes) == len(page.servers) == len(page.waits_s)
        assert page.causes[0][:3] == (0, 0.0, True)
        assert all(1 <= one.after <= place for place, one in enumerate(page.causes) if place)
        assert set(page.servers) == set(range(len(set(page.servers))))
        assert page.servers[0] == 0
        named = {place - one.after for place, one in enumerate(page.causes) if place}
        assert all(page.causes[place].is_awaited for place in named)
        begun = np.zeros(n)
        for place, one in enumerate(page.causes[1:], 1):
            begun[place] = begun[place - one.after] + page.waits_s[place - one.after] + one.pause_s
        assert (np.diff(begun) > -1e-5).all()  # in the order in which they can first be known
        of_host = dict(zip(page.servers, (one.is_stream for one in page.causes), strict=True))
        assert all(of_host[host] == one.is_stream for host, one in zip(page.servers, page.causes, strict=True))


def test_hosts_and_depth_are_those_of_recorded_pages(many):
    for requests, hosts in ((42, 7), (87, 14), (120, 37), (174, 41)):
        like = [len(set(page.servers)) for page in many if abs(len(page.causes) - requests) <= 0.15 * requests]
        assert np.percentile(like, 1) <= hosts <= np.percentile(like, 99)
    depth = [one for page in many for one in depths(parents_of(page)) if one]
    assert np.mean(np.array(depth) == 1) == pytest.approx(0.7, abs=0.1)  # recorded: .61 of one page to all of others
    assert np.mean([one.is_stream for page in many for one in page.causes]) == pytest.approx(0.85, abs=0.02)


def test_a_quantile_is_log_normal_between_what_is_known_and_ends_at_the_rarest():
    assert quantile([1, 2, 4, 8, 16], np.array([9.0]))[0] == quantile([1, 2, 4, 8, 16], np.array([3.0]))[0]
    middle = quantile([0, 0, np.e - 1, np.e**2 - 1, np.e**3], np.array([0.6744897501960817 / 2]))
    assert middle[0] == pytest.approx(np.e**1.5 - 1)


@pytest.mark.skipif(not (DATA / "har").is_dir(), reason="no real data here: set LPSM_DATA")
def test_what_is_packaged_is_what_recorded_pages_tell():
    every = loads(DATA / "har")
    first = [page for page in every if page.is_first]
    assert (len(every), len(first)) == (18, 10)
    assert correlations(first).round(2).tolist() == pytest.approx(np.array(model()["correlations"]["matrix"]))
    for kind in TYPES:
        pauses = [1000 * pause for page in every for pause, of in zip(page.pauses_s, page.kinds, strict=True)
                  if of == kind and pause == pause]  # fmt: skip
        assert np.percentile(pauses, PERCENT).round().tolist() == model()["pause_ms"][kind]


@pytest.mark.long
def test_what_was_calibrated_is_found_again():
    found = calibrated(model())
    assert found["rest, kib"] == pytest.approx(model()["kib"]["rest"], rel=0.01)
    assert found["kib"] == pytest.approx(model()["kib"]["other"], rel=0.05)
    assert found["requests"] == pytest.approx(model()["requests"]["other"], abs=1.0)


def test_there_is_no_other_web():
    with value_error("web must be 2025 or 1996, got '2024'"):
        traces.generate(1, 0, web="2024")


def test_a_workload_keeps_the_graph(tmp_path, many):
    traces.write_workload(tmp_path / "w.jsonl", many[:30])
    read = traces.read_workload(tmp_path / "w.jsonl")
    assert list(read) == many[:30]
    assert list(read.changed([3, 5])) == [many[3], many[5]]
    assert traces.Workload.of(list(read)).changed().pages() == many[:30]


@cases_of("causes said", """
"[[0, 0, true, true]]" -> causes must be a list of one cause an exchange
"[[0, 0, true, true], [2, 0, true, true]]" -> the exchange that one waits for must be a whole number in
"[[0, 0, true, true], [0, 0, true, true]]" -> the exchange that one waits for must be a whole number in
"[[0, 0, true, true], [1, -1, true, true]]" -> the pause of a cause must be a number of seconds
"[[0, 0, true, true], [1, 0, 1, true]]" -> the last two of a cause must be true or false
"[[0, 0, true, true], [1, 0, true]]" -> causes must be a list of .after, pause, awaited, stream
""")  # fmt: skip
def test_a_graph_that_breaks_a_rule_is_named_with_its_line(tmp_path, causes, said):
    line = f'{{"page": "a", "request_bytes": 9, "reply_bytes": 9, "objects": [[9, 9]], "causes": {causes}}}\n'
    (tmp_path / "w.jsonl").write_text(line)
    with pytest.raises(traces.TraceError, match=f"line 1: {said}"):
        traces.read_workload(tmp_path / "w.jsonl")
