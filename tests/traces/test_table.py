"""Plain tables of replies."""

import pytest

import traces
from traces import Request, TraceError


def read(tmp_path, text, **options):
    (tmp_path / "t").write_text(text)
    requests = traces.read(tmp_path / "t", **options)
    return list(requests), requests.report


def test_two_columns_without_names_are_time_and_bytes(tmp_path):
    requests, report = read(tmp_path, "# seconds, bytes\n0.5,100\n\n1.25,200\n")
    assert requests == [
        Request("client", "", 500_000, 500_000, 300, 100),
        Request("client", "", 1_250_000, 1_250_000, 300, 200),
    ]
    assert report["requests"] == 2


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_named_columns_stand_in_any_order(tmp_path, mark):
    head = mark.join(("bytes", "what", "time_s", "end_s", "client", "request_bytes", "url"))
    row = mark.join(("100", "x", "0.5", "0.75", "me", "42", '"http://a/b.gif"'))
    requests, _ = read(tmp_path, f"{head}\n{row}\n")
    assert requests == [Request("me", "", 500_000, 750_000, 42, 100, "http://a/b.gif")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("0.9,5", "times must not run backwards, got -100000 us"),
        ("2,-5", "bytes must be a whole number .*got -5"),
        ("2,1.5", "bytes must be a whole number .*got 1.5"),
        ("2,99999999999999", "bytes must be .*got 99999999999999"),
        ("nan,5", "time must be a number of seconds .*got nan"),
        ("-1,5", "time must be .*got -1"),
        ("2", "a row must have 2 cells, as the first line has"),
        ('2,"5', "a row must be separated by ','"),
    ],
)
def test_a_bad_row_is_named_or_counted(tmp_path, row, message):
    with pytest.raises(TraceError, match=message) as caught:
        read(tmp_path, f"1,1\n{row}\n")
    assert ", line 2: " in str(caught.value)
    requests, report = read(tmp_path, f"1,1\n{row}\n3,1\n", skip_damaged=True)
    assert len(requests) == 2
    assert report["damaged"] == 1


def test_names_without_time_or_bytes_and_empty_tables_are_errors(tmp_path):
    with pytest.raises(TraceError, match="must include bytes, got time, size of it"):
        read(tmp_path, "time,size of it\n1,2\n")
    with pytest.raises(TraceError, match="at least one reply"):
        read(tmp_path, "time,bytes\n")


def test_a_row_cut_short_is_an_error_even_if_what_is_left_could_be_read(tmp_path):
    path = tmp_path / "cut.csv"
    path.write_text("time,bytes,url\n0.5,200,http://a/\n0.7,2\n")
    with pytest.raises(traces.TraceError, match="line 3: a row must have 3 cells"):
        list(traces.read(path))


def test_times_as_in_iso_8601_and_numbers_with_decimal_commas_are_read(tmp_path):
    (tmp_path / "iso").write_text("time,bytes\n2024-05-06T07:08:09.5Z,100\n2024-05-06 09:08:10+02:00,200\n")
    (tmp_path / "no-names").write_text("2024-05-06T07:08:09.5Z,100\n2024-05-06T07:08:10Z,200\n")
    (tmp_path / "comma").write_text("time;bytes\n0,5;100\n1,25;200\n")
    moments = [1_714_979_289_500_000, 1_714_979_290_000_000]
    assert [request.start_us for request in traces.read(tmp_path / "iso")] == moments
    assert [request.start_us for request in traces.read(tmp_path / "no-names")] == moments
    assert [request.start_us for request in traces.read(tmp_path / "comma")] == [500_000, 1_250_000]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_other_encodings_of_unicode_are_read(tmp_path, encoding):
    (tmp_path / "t").write_bytes("time,bytes,url\n1,100,/ä\n2,200,/b\n".encode(encoding))
    assert [request.reply_bytes for request in traces.read(tmp_path / "t")] == [100, 200]


def test_decimal_commas_between_commas_are_an_error_and_not_another_number(tmp_path):
    (tmp_path / "t").write_text("time,bytes\n0,5,100\n")
    with pytest.raises(TraceError, match=r"line 2: a row must have 2 cells.*decimal commas"):
        list(traces.read(tmp_path / "t"))


def test_the_packet_list_of_wireshark_is_explained(tmp_path):
    (tmp_path / "t").write_text(
        '"No.","Time","Source","Destination","Protocol","Length","Info"\n"1","0.0","a","b","T","9",""\n'
    )
    with pytest.raises(TraceError, match="save the capture itself in Wireshark"):
        list(traces.read(tmp_path / "t"))


def test_a_row_without_a_request_is_a_message(tmp_path):
    (tmp_path / "t").write_text("time,bytes,request_bytes\n1,100,50\n2.5,200,0\n9,0,0\n")
    found = traces.workload_of(traces.read(tmp_path / "t"))
    assert [page.reply_bytes for page in found] == [100]
    assert found.messages == (traces.Message(1.5, 200),)
