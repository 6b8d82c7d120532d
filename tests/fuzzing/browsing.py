"""Grammars of traces of browsing that are text or records: HAR, workload, UC Berkeley, Boston University, tables."""

from __future__ import annotations

import csv
import io
import json
import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import traces
from tests.fuzzing.values import Chance, Grammar, Raw, binary, encoded, maybe, number, real, text, written
from traces import Report
from traces.ucb import RECORD_DTYPE

URLS = ("http://a.edu/", "https://b.org:8443/x.gif", "http://a.edu/i.html?q=1", "ws://c.net/s", "data:,x")


def read_requests(path: Path, chance: Chance, report: Report | None = None) -> None:
    """Read a trace whole, group it, and hold pages to the rules of a workload, which they become."""
    report = Report() if report is None else report
    batches = traces.batches(path, skip_damaged=chance.random() < 0.4, report=report)
    requests = (request for batch in batches for request in batch.requests())
    pages = traces.pages(requests, report=report)
    lines = "".join(map(traces.workload_line, pages))
    if lines and chance.random() < 0.2:
        again = path.with_name("again.jsonl")
        again.write_text(lines)
        read_pages(again)


def read_pages(path: Path, chance: Chance | None = None) -> None:
    """Read a workload; what is written of it again is the same to the byte from then on."""
    found = traces.read_workload(path)
    assert all(page.request_bytes >= 1 and page.reply_bytes >= 0 and page.think_s >= 0.0 for page in found)


def _har(chance: Chance) -> dict[str, Any]:
    def entry(at: int) -> dict[str, Any]:
        moment = f"00:{at % 60:02}"
        made: dict[str, Any] = {
            "pageref": maybe(chance, text(chance, "p0", "p1"), 0.5),
            "startedDateTime": text(chance, f"2020-01-01T00:{moment}.250Z", f"2020-01-01T01:{moment}+01:00"),
            "time": real(chance, 0, 2000),
            "connection": maybe(chance, text(chance, "443", "7"), 0.4),
            "_fromCache": maybe(chance, text(chance, "disk"), 0.05),
            "request": {
                "url": text(chance, *URLS), "method": text(chance, "GET", "POST"),
                "headersSize": number(chance, -1, 900), "bodySize": number(chance, -1, 900),
            },
            "response": {
                "status": number(chance, 200, 204), "headersSize": number(chance, -1, 900),
                "bodySize": number(chance, -1, 90_000), "_transferSize": maybe(chance, number(chance, 0, 90_000), 0.5),
                "content": {"size": number(chance, 0, 90_000), "mimeType": text(chance, "text/html", "image/gif")},
            },
            "timings": {name: real(chance, -1, 300) for name in ("connect", "ssl", "send", "wait", "receive")},
        }  # fmt: skip
        if chance.random() < 0.2:
            made["_webSocketMessages"] = [
                {"type": text(chance, "send", "receive"), "time": real(chance, 1.5778e9, 1.5779e9),
                 "opcode": number(chance, 1, 2), "data": text(chance, "x", "hello " * 9)}
                for _ in range(chance.randrange(4))
            ]  # fmt: skip
        return {name: value for name, value in made.items() if value is not None}

    pages = [
        {"id": f"p{n}", "startedDateTime": text(chance, "2020-01-01T00:00:00Z")} for n in range(chance.randrange(3))
    ]
    return {"log": {"version": "1.2", "pages": pages, "entries": [entry(n) for n in range(chance.randint(1, 5))]}}


def as_json(structure: Any) -> bytes:
    """Render as JSON, with numbers that Python would not write."""
    dumped = json.dumps(_plain(structure), default=repr, ensure_ascii=bool(len(str(structure)) % 2))
    return re.sub(r'"\\u0001(?:\\.|[^"\\])*?\\u0001"', _unquoted, dumped).encode("utf-8", "surrogatepass")


def _unquoted(match: re.Match[str]) -> str:
    return str(json.loads(match[0])).strip("\1")


def _plain(part: Any) -> Any:
    if isinstance(part, dict):
        return {written(name): _plain(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_plain(value) for value in part]
    if isinstance(part, Raw):
        return f"\1{part}\1"
    return part.decode("latin-1") if isinstance(part, bytes) else part


def _workload(chance: Chance) -> list[Any]:
    lines: list[Any] = []
    at = 0.0
    for page in range(chance.randint(1, 5)):
        objects = [[number(chance, 1, 900), number(chance, 0, 90_000)] for _ in range(chance.choice((0, 0, 1, 3)))]
        at += chance.random() * 20
        made = {
            "page": text(chance, f"w{page}"), "request_bytes": number(chance, 1, 900),
            "reply_bytes": number(chance, 0, 90_000), "objects": objects, "think_s": real(chance, 0, 90),
            "issue_s": maybe(chance, round(at, 3), 0.4), "deadline_s": maybe(chance, real(chance, 0, 9), 0.1),
        }  # fmt: skip
        if chance.random() < 0.3:
            made["waits_s"] = [maybe(chance, real(chance, 0, 1)) for _ in range(1 + len(objects))]
        lines.append({name: value for name, value in made.items() if value is not None or name == "issue_s"})
    lines += [{"message_bytes": number(chance, 1, 900), "at_s": n * 2.5} for n in range(chance.choice((0, 0, 2)))]
    return [*lines, {"round_trip_s": real(chance, 0, 1)}] if chance.random() < 0.3 else lines


def as_json_lines(structure: Any) -> bytes:
    """Render a list as JSON, a value a line; now and then as one JSON array."""
    if not isinstance(structure, list) or len(structure) % 4 == 3:
        return as_json(structure)
    return b"".join(as_json(line) + b"\n" for line in structure)


def _ucb(chance: Chance) -> list[Any]:
    records, at = [], 846_890_000
    for _ in range(chance.randint(1, 8)):
        at += chance.randrange(60)
        moments = [at, at + chance.randrange(2), at + chance.randrange(2, 9)]
        fields: dict[str, Any] = {}
        for name, moment in zip(("request", "first", "last"), moments, strict=True):
            unseen = chance.random() < 0.1
            fields[f"{name}_s"] = 0xFFFF_FFFF if unseen else moment
            fields[f"{name}_us"] = 0xFFFF_FFFF if unseen else number(chance, 0, 999_999)
        fields |= {name: number(chance, 0, 255) for name in RECORD_DTYPE.names[6:-1]}  # type: ignore[index]
        fields["body_bytes"] = number(chance, 0, 90_000)
        records.append({**fields, "url_bytes": None, "url": text(chance, "GET 123..gif HTTP/1.0", "GET 9.. HTTP/1.0")})
    return records


def _ucb_fields(record: Any) -> tuple[dict[str, Any], bytes]:
    """Return the fields of a record, all of them, and its request line, whose length stands in them."""
    found = record if isinstance(record, dict) else {"url": record}
    url = encoded(found.get("url", b"GET / HTTP/1.0"))[:70_000]
    fields = {name: found.get(name, 0) for name in RECORD_DTYPE.names or ()}
    return {**fields, "url_bytes": len(url) if fields["url_bytes"] is None else fields["url_bytes"]}, url


def _ucb_binary(structure: Any) -> bytes:
    codes = {8: ">B", 16: ">H", 32: ">I"}
    made = b""
    for record in listed(structure):
        fields, url = _ucb_fields(record)
        made += b"".join(binary(codes[8 * RECORD_DTYPE[name].itemsize], value) for name, value in fields.items()) + url
    return made


def _ucb_text(structure: Any) -> bytes:
    lines = []
    for record in listed(structure):
        fields, url = _ucb_fields(record)
        value = {name: encoded(field) for name, field in fields.items()}
        times = b" ".join(value[f"{name}_s"] + b":" + value[f"{name}_us"] for name in ("request", "first", "last"))
        ends = (b"10.0.0." + value["client"] + b":" + value["client_port"],
                b"10.0.1." + value["server"] + b":" + value["server_port"])  # fmt: skip
        rest = [value[name] for name in (RECORD_DTYPE.names or ())[10:]]
        lines.append(b" ".join((times, *ends, *rest, url)))
    return b"\n".join([*lines, b""])


def listed(structure: Any) -> list[Any]:
    """Return the parts of what should be a list."""
    if isinstance(structure, dict):
        return list(structure.values())
    return structure if isinstance(structure, list) else [structure]


def _session(chance: Chance) -> list[Any]:
    rows, at = [], 791_000_000
    for _ in range(chance.randint(1, 8)):
        at += chance.randrange(100)
        cached = chance.random() < 0.2
        size, delay = (0, "0.0") if cached else (number(chance, 0, 90_000), real(chance, 0, 9))
        rows.append(
            [text(chance, "cs18"), at, number(chance, 0, 999_999), text(chance, *URLS, "http://a\nb"), size, delay]
        )
    return rows


def _session_text(structure: Any) -> bytes:
    lines = []
    for row in listed(structure):
        fields = [encoded(field) for field in listed(row)]
        if len(fields) > 3:
            fields[3] = b'"' + fields[3] + b'"'
        lines.append(b" ".join(fields) + b"\n")
    return b"".join(lines)


_NAMES = ("con1.cs18.791000000", "a/con2.cs18.791000000", "README", "con3.huey.1", "../../con4.cs18.791000000")


def _sessions(chance: Chance) -> dict[str, Any]:
    names = [text(chance, *_NAMES) for _ in range(chance.randint(1, 3))]
    return {written(name): _session(chance) for name in names}


def _folder(structure: Any) -> dict[str, bytes]:
    found = structure if isinstance(structure, dict) else {"con1.cs18.791000000": structure}
    clean = {
        re.sub(r"[^\w.]", "_", written(name))[:100].lstrip(".") or "con9.x.1": rows for name, rows in found.items()
    }
    return {name: _session_text(rows) for name, rows in clean.items()}


def _archive(chance: Chance) -> list[Any]:
    return [
        {
            "name": text(chance, *_NAMES, "con5.cs18.791000000" + "x" * 150),
            "kind": text(chance, *"000000000", "5", "2", "L", "x"),
            "link": text(chance, "", "/etc/passwd"),
            "size": None if chance.random() < 0.95 else number(chance, 0, 2000),
            "rows": _session(chance),
        }
        for _ in range(chance.randint(1, 3))
    ]


def _tar(structure: Any) -> bytes:
    made = b""
    for item in listed(structure):
        fields = item if isinstance(item, dict) else {"rows": item}
        data = _session_text(fields.get("rows"))
        header = tarfile.TarInfo(written(fields.get("name", "con1.a.1")).replace("\0", "")[:4000])
        header.type = encoded(fields.get("kind", "0"))[:1] or b"0"
        header.linkname = written(fields.get("link"))[:90]
        size = fields.get("size")
        header.size = len(data) if size is None else int.from_bytes(binary(">I", size), "big")
        made += header.tobuf(tarfile.GNU_FORMAT, "utf-8", "replace") + data + bytes(-len(data) % 512)
    return made + bytes(1024)


def _table(chance: Chance) -> dict[str, Any]:
    named = chance.random() < 0.7
    more = [name for name in ("end", "request_bytes", "client", "server", "url") if named and chance.random() < 0.5]
    rows, at = [], 0.0
    for _ in range(chance.randint(1, 8)):
        at += chance.random() * 9
        moment: Any = f"2020-01-01T00:00:{int(at) % 60:02}" if chance.random() < 0.05 else round(at, 3)
        values = {"end": round(at + 1, 3), "request_bytes": number(chance, 0, 900), "client": text(chance, "c", "d"),
                  "server": text(chance, "s"), "url": text(chance, *URLS)}  # fmt: skip
        rows.append([moment, number(chance, 0, 90_000), *(values[name] for name in more)])
    head = [["time", "bytes", *more]] if named else []
    return {"delimiter": text(chance, ",", ",", ";", "\t"), "rows": [*head, *rows]}


def as_table(structure: Any) -> bytes:
    """Render rows with a delimiter between their cells."""
    found = structure if isinstance(structure, dict) else {"rows": structure}
    delimiter = written(found.get("delimiter", ","))[:1]
    stream = io.StringIO()
    plain = len(delimiter) != 1 or delimiter in '\n\r"\0'
    writer = csv.writer(stream, delimiter="," if plain else delimiter, escapechar="\\", lineterminator="\n")
    for row in listed(found.get("rows")):
        writer.writerow([written(cell) for cell in listed(row)])
    return stream.getvalue().encode("utf-8", "surrogatepass")


def _of(make: Callable[[Chance], Any], render: Callable[[Any], Any], **more: Any) -> Grammar:
    return Grammar(make=make, render=render, **{"read": read_requests, **more})


GRAMMARS = {
    "har": _of(_har, as_json),
    "workload": _of(_workload, as_json_lines, read=read_pages),
    "ucb": _of(_ucb, _ucb_binary),
    "showtrace": _of(_ucb, _ucb_text),
    "bu": _of(_session, _session_text, name="con1.cs18.791000000"),
    "bu-folder": _of(_sessions, _folder),
    "bu-tar": _of(_archive, _tar),
    "table": _of(_table, as_table),
}
