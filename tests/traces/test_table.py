"""Plain tables of replies."""

import traces
from tests.tables import each
from traces import Request


def read(tmp_path, text, **options):
    (tmp_path / "t").write_text(text)
    requests = traces.read(tmp_path / "t", **options)
    return list(requests), requests.report


def test_two_columns_without_names_are_time_and_bytes(tmp_path):
    requests, report = read(tmp_path, "# seconds, bytes\n0.5,100\n\n1.25,200\n")
    assert requests == [Request("client", "", 500_000, 500_000, 300, 100),
        Request("client", "", 1_250_000, 1_250_000, 300, 200)]  # fmt: skip
    assert report["requests"] == 2


@each("mark", [",", ";", "\t"])
def test_named_columns_stand_in_any_order(tmp_path, mark):
    head = mark.join(("bytes", "what", "time_s", "end_s", "client", "request_bytes", "url"))
    row = mark.join(("100", "x", "0.5", "0.75", "me", "42", '"http://a/b.gif"'))
    requests, _ = read(tmp_path, f"{head}\n{row}\n")
    assert requests == [Request("me", "", 500_000, 750_000, 42, 100, "http://a/b.gif")]


def test_times_as_in_iso_8601_and_numbers_with_decimal_commas_are_read(tmp_path):
    (tmp_path / "iso").write_text("time,bytes\n2024-05-06T07:08:09.5Z,100\n2024-05-06 09:08:10+02:00,200\n")
    (tmp_path / "no-names").write_text("2024-05-06T07:08:09.5Z,100\n2024-05-06T07:08:10Z,200\n")
    (tmp_path / "comma").write_text("time;bytes\n0,5;100\n1,25;200\n", "utf-8-sig")
    moments = [1_714_979_289_500_000, 1_714_979_290_000_000]
    assert [request.start_us for request in traces.read(tmp_path / "iso")] == moments
    assert [request.start_us for request in traces.read(tmp_path / "no-names")] == moments
    assert [request.start_us for request in traces.read(tmp_path / "comma")] == [500_000, 1_250_000]


def test_a_row_without_a_request_is_a_message(tmp_path):
    (tmp_path / "t").write_text("time,bytes,request_bytes\n1,100,50\n2.5,200,0\n9,0,0\n")
    found = traces.workload_of(traces.read(tmp_path / "t"))
    assert [page.reply_bytes for page in found] == [100]
    assert found.messages == (traces.Message(1.5, 200),)
