"""Plain tables of replies."""

import random

import pytest

import traces
from tests.tables import each
from traces import Request, table


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


ODD = ["", "# a comment", "0.5", "1e3,7", "nan,3", "9,0x10", "9,+3", '9,"7"', "9,7,me", "-1,3", "9,-3", "8.5;7",
    "inf,2", " 9 , 7 ", "9,1e3", "2024-05-06T07:08:09Z,5", "9,00007", "9,", "9,7\r"]  # fmt: skip


def found_in(path, **options):
    """Return what is read of a table, or the error."""
    requests = traces.read(path, **options)
    try:
        return list(requests), requests.report.counts
    except traces.TraceError as error:
        return str(error)


@each("seed", range(40))
def test_blocks_of_any_size_are_read_by_arrow_as_row_by_row(tmp_path, monkeypatch, seed):
    draw = random.Random(seed)
    names = [
        "time",
        "bytes",
        *draw.sample(["end", "request_bytes", "client", "server", "url", "what"], draw.randrange(5)),
    ]
    lines, at_s = [",".join(names)] * draw.randrange(2), 0.0
    for _ in range(draw.randrange(1, 60)):
        at_s += draw.random()
        cells = {"time": f"{at_s:.3f}", "bytes": draw.randrange(9000), "end": draw.choice(["", at_s + 1]), "what": "",
            "request_bytes": draw.choice(["", 0, 70]), "client": draw.choice(["", "a", "b"]),
            "server": draw.choice("xy"), "url": draw.choice(["", "/a.gif", "/b?c"])}  # fmt: skip
        lines.append(",".join(str(cells[name]) for name in names))
        if draw.random() < 0.02 * (seed % 3):
            lines.append(draw.choice([*ODD, f"{at_s / 2},3" + "," * (len(names) - 2)]))
    (tmp_path / "t").write_bytes("\n".join(lines).encode() + b"\n" * draw.randrange(2))
    for skip in (False, True):
        found = []
        for size in (1, 7, 60, 1 << 20):
            monkeypatch.setattr(table, "_BLOCK_BYTES", size)
            found.append(found_in(tmp_path / "t", skip_damaged=skip))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(table._Table, "block", lambda *_: None)
            assert [found_in(tmp_path / "t", skip_damaged=skip)] * 4 == found


def test_most_of_a_plain_table_is_not_read_row_by_row(tmp_path, monkeypatch):
    monkeypatch.setattr(table._Table, "request", None)
    requests, report = read(tmp_path, "time,bytes,client,url\n" + "1.5,200,me,/a\n" * 100_000)
    assert (len(requests), report["records"]) == (100_000, 100_000)
    assert requests[-1] == Request("me", "", 1_500_000, 1_500_000, 300, 200, "/a")
