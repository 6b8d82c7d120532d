"""Every format that the program reads: files that are valid, and what reads them."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from random import Random
from typing import Any

import dpkt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

import netsim
import traces
from experiments import datasets
from experiments.datasets.losses import read_losses
from experiments.datasets.stream import Stream
from experiments.report.capture import capture
from experiments.timeline import record
from netsim import policies
from netsim.radio import profiles
from tests.fuzzing.changing import Content
from tests.traces.home_ip import pack, records
from traces import Report, TraceError
from traces.captures.audit import audit
from traces.captures.frames import WIRELESS
from traces.captures.packets import frames
from traces.files import open_trace

KINDS = [netsim.canonical(entry.example) for entry in policies.registry().values()]  # imports what they need
_PAGES = [traces.Page("a", 300, 5000), traces.Page("b", 300, 900, ((200, 1500),), 1.5)]


@dataclass(frozen=True, kw_only=True)
class Format:
    """Valid files of a format, and what reads one: it returns, or raises the reader's own error.

    `render` makes of what is changed what is read; it is called `name` and may be `packed` with gzip or xz.
    """

    files: tuple[Content, ...]
    read: Callable[[Path, Random], None]
    render: Callable[[Any], Content] = lambda content: content
    name: str = "input"
    packed: bool = True


# -- what is read, and must hold of it -----------------------------------------------------------------


def read_requests(path: Path, chance: Random, report: Report | None = None) -> None:
    """Read a trace whole, group it, and hold pages to the rules of a workload, which they become."""
    report = Report() if report is None else report
    batches = traces.batches(path, skip_damaged=chance.random() < 0.4, report=report)
    pages = traces.pages((request for batch in batches for request in batch.requests()), report=report)
    lines = "".join(map(traces.workload_line, pages))
    if lines and chance.random() < 0.2:
        again = path.with_name("again.jsonl")
        again.write_text(lines)
        read_pages(again, chance)


def read_pages(path: Path, _: Random) -> None:
    """Read a workload."""
    found = traces.read_workload(path)
    assert all(page.request_bytes >= 1 and page.reply_bytes >= 0 and page.think_s >= 0.0 for page in found)


def read_capture(path: Path, chance: Random) -> None:
    """Read a capture's requests, of whose bytes none may be lost, and follow its frames of 802.11."""
    report = Report()
    try:
        read_requests(path, chance, report)
        if (payload := report.payload) is not None:
            entered = payload.in_requests + payload.in_replies + payload.in_messages + payload.in_datagrams
            assert payload.captured == entered + sum(payload.left_out.values())
    finally:
        with suppress(TraceError), open_trace(path) as stream:
            audit(frames(stream, path, Report(), links=WIRELESS))


def read_stream(path: Path, chance: Random) -> None:
    """Read a stream of finite numbers, each with a label that has a name."""
    _check(datasets.read(path, label=chance.choice((None, None, None, "0", "label", "-1"))))


def _check(stream: Stream) -> None:
    assert np.isfinite(stream.X.data if sparse.issparse(stream.X) else stream.X).all()
    assert len(stream.classes) > 0
    assert stream.y.dtype == bool or ((stream.y >= 0).all() and stream.y.max() < len(stream.classes))


def read_own_losses(path: Path, _: Random) -> None:
    """Read losses of experts: a matrix of numbers of at least 0."""
    losses = read_losses(path)
    assert losses.ndim == 2
    assert (losses >= 0.0).all()


def read_radio(path: Path, _: Random) -> None:
    """Read a radio and ask it for an energy."""
    assert isfinite(netsim.Radio.load(path).energy(10**12, 10**12, 1000, wakeups=1000).total_j)


def read_policy(path: Path, chance: Random) -> None:
    """Make the policy whose name stands in a file; its canonical name makes the same one, and a page gets through."""
    spec = netsim.canonical(path.read_bytes().decode("utf-8", "surrogateescape"))  # as a command line
    assert netsim.canonical(spec) == spec
    if chance.random() < 0.1 and not spec.startswith("lpsm"):  # whose kernels would be compiled first
        assert len(netsim.simulate(_PAGES, spec, engine="packet").pages) == len(_PAGES)


@cache
def compile_rules() -> None:
    """Compile what is compiled of a policy when it first runs; that takes longer than any input may."""
    for spec in KINDS:
        if not spec.startswith("lpsm"):
            netsim.simulate(_PAGES, spec, engine="packet")


# -- files of browsing ---------------------------------------------------------------------------------


def _json(*lines: object) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _har() -> tuple[bytes, ...]:
    entries = [
        {
            "pageref": f"p{at % 2}", "startedDateTime": f"2020-01-01T00:00:{at:02}.250Z", "time": 120.5,
            "connection": "443", "request": {"url": url, "method": method, "headersSize": 300, "bodySize": -1},
            "response": {
                "status": 200, "headersSize": 200, "bodySize": 900, "_transferSize": 1100,
                "content": {"size": 5000, "mimeType": kind},
            },
            "timings": {"connect": 20.5, "ssl": 10, "send": 1, "wait": 60, "receive": 30},
            **({"_webSocketMessages": said} if url[0] == "w" else {"_fromCache": None}),
        }
        for at, (url, method, kind) in enumerate((("http://a.edu/", "GET", "text/html"),
            ("https://b.org:8443/x.gif", "GET", "image/gif"), ("http://a.edu/i.html?q=1", "POST", "text/html"),
            ("ws://c.net/s", "GET", "text/html"), ("data:,x", "GET", "image/gif")))
        for said in [[{"type": "send", "time": 1.57784e9, "opcode": 1, "data": "hello"},
                      {"type": "receive", "time": 1.57785e9, "opcode": 2, "data": "eA=="}]]
    ]  # fmt: skip
    pages = [{"id": f"p{at}", "startedDateTime": "2020-01-01T00:00:00Z"} for at in range(2)]
    bare = [{name: one[name] for name in ("startedDateTime", "request", "response")} for one in entries[:2]]
    return tuple(_json({"log": {"version": "1.2", "entries": own, **more}}) for own, more in
                 ((entries, {"pages": pages}), (bare, {}), (entries[1:4], {"pages": []})))  # fmt: skip


def _workload() -> tuple[bytes, ...]:
    page = {"page": "w0", "request_bytes": 433, "reply_bytes": 9319, "objects": [[200, 700], [300, 0]], "think_s": 40.1}
    timed = [{**page, "issue_s": 9.5 * at, "waits_s": [0.1, None, 0.3], "deadline_s": 4.0} for at in range(3)]
    beside = [{"message_bytes": 90, "at_s": 2.5}, {"message_bytes": 900, "at_s": 5}, {"round_trip_s": 0.05}]
    return _json(page, page), _json(*timed, *beside), _json([page, {**page, "objects": []}])


def _ucb() -> tuple[bytes, ...]:
    whole = pack(records(5, clients=2))
    return whole, pack(records(3, step_us=10**8, url=b"GET 9.. HTTP/1.0")), whole.replace(whole[4:8], b"\xff" * 4, 1)


_SESSION = b"".join(
    b'cs18 %d %d "%s" %d %s\n' % (791_000_000 + 30 * at, 1000 * at, url, size, delay)
    for at, (url, size, delay) in enumerate(
        (
            (b"http://a.edu/", 2000, b"0.5"),
            (b"http://a.edu/x.gif", 0, b"0.0"),
            (b"http://b.org/i.html?q=1", 900, b"2.25"),
        )
        * 2
    )
)
_SESSIONS = {"con1.cs18.791000000": _SESSION, "README": b"said\n", "a/con2.cs18.791000000": _SESSION[200:]}


def _tar(parts: dict[str, bytes]) -> bytes:
    """Pack files; what is called like a link or a folder becomes one."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as file:
        for name, data in parts.items():
            header = tarfile.TarInfo(name[:300])
            header.size = len(data)
            header.type = {"/etc": b"2", "..": b"5", "//": b"x"}.get(name[:4].rstrip("/"), b"0")
            file.addfile(header, io.BytesIO(data))
    return stream.getvalue()


def _table() -> tuple[bytes, ...]:
    rows = [
        ("0.5", "2000", "0.9", "300", "c", "s", "http://a.edu/"),
        ("9.5", "300", "9.75", "200", "d", "s", "data:,x"),
    ]
    head = ("time", "bytes", "end", "request_bytes", "client", "server", "url")
    wide = [
        "\n".join(mark.join(row) for row in (head, *rows, ("30", *rows[0][1:2], "31", *rows[1][3:]))) for mark in ",;\t"
    ]
    return (
        *(text.encode() + b"\n" for text in wide),
        b"0.5,2000\n0.6,300\n9.5,3000\n",
        b"time,bytes\n2020-01-01T00:00:05,9\n",
    )


# -- captures ------------------------------------------------------------------------------------------


def _packets() -> list[tuple[float, bytes]]:
    """Ethernet frames of an HTTP and a TLS connection, of datagrams, and of a connection over IPv6."""
    made: list[tuple[float, bytes]] = []

    def add(up: bool, port: int, segment: dpkt.Packet, six: bool = False) -> None:
        near, far = (b"\xc0\xa8\x01\x07", b"\x08\x08\x04\x04") if up else (b"\x08\x08\x04\x04", b"\xc0\xa8\x01\x07")
        segment.sport, segment.dport = (40_000 + port % 7, port) if up else (port, 40_000 + port % 7)
        protocol = 17 if isinstance(segment, dpkt.udp.UDP) else 6
        if six:
            packet = dpkt.ip6.IP6(src=near * 4, dst=far * 4, nxt=protocol, hlim=64, plen=len(segment), data=segment)
        else:
            packet = dpkt.ip.IP(src=near, dst=far, p=protocol, data=segment)
            packet.len = len(packet)
        kind = dpkt.ethernet.ETH_TYPE_IP6 if six else dpkt.ethernet.ETH_TYPE_IP
        made.append((1000.0 + 0.03 * len(made), bytes(dpkt.ethernet.Ethernet(type=kind, data=packet))))

    get, post = (
        b"GET /i.gif HTTP/1.1\r\nHost: a.edu\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: b.org:80\r\nContent-Length: 40\r\n\r\n",
    )
    ok = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    bodies = (
        ok + b"Content-Length: 900\r\n\r\n" + b"x" * 900,
        ok + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    )
    secret = [
        (size % 3 == 0, b"\x17\x03\x03" + size.to_bytes(2, "big") + b"z" * size) for size in (300, 1001, 30, 2000, 302)
    ]
    web = [(True, get), (False, bodies[0]), (True, post + b"y" * 40), (False, bodies[1])]
    for port, talk, six in ((80, web, False), (443, secret, False), (8080, web, True)):
        sent = [7, 2**32 - 500]
        add(True, port, dpkt.tcp.TCP(seq=sent[0], flags=2), six)
        add(False, port, dpkt.tcp.TCP(seq=sent[1], ack=8, flags=18), six)
        sent = [one + 1 for one in sent]
        for up, data in talk:
            for piece in (data[at : at + 700] for at in range(0, len(data), 700)):
                add(up, port, dpkt.tcp.TCP(seq=sent[not up], ack=sent[up], flags=24, data=piece), six)
                sent[not up] = (sent[not up] + len(piece)) % 2**32
        add(True, port, dpkt.tcp.TCP(seq=sent[0], ack=sent[1], flags=17), six)
    for up, size in ((True, 200), (False, 900)):
        add(up, 5222, dpkt.udp.UDP(ulen=8 + size, data=b"q" * size))
    return made


def _captures() -> tuple[bytes, ...]:
    found = []
    for writer in (dpkt.pcap.Writer, lambda file: dpkt.pcap.Writer(file, nano=True), dpkt.pcapng.Writer):
        stream = io.BytesIO()
        file = writer(stream)
        for at, frame in _packets():
            file.writepkt(frame, ts=at)
        found.append(stream.getvalue())
    return tuple(found)


def _air() -> tuple[bytes, ...]:
    """A run on the air as its sniffer writes it, and its frames behind the headers of other sniffers."""
    config = netsim.SimulationConfig(medium=netsim.AirConfig(neighbours=1, neighbour_mbps=2.0))
    made = capture(record(traces.Workload.of(_PAGES), "dynamic:50", config))
    found = [made]
    for link, before in (
        (105, b""),
        (119, bytes(4) + b"\x90" + bytes(139)),
        (127, b"\0\0\x09\0\4\0\0\0\x16"),
        (192, b"\0\0\x08\0" + bytes(4)),
    ):
        stream = io.BytesIO()
        file = dpkt.pcap.Writer(stream, linktype=link, nano=link == 105)
        for at, packet in dpkt.pcapng.Reader(io.BytesIO(made)):
            file.writepkt(before + packet[int.from_bytes(packet[2:4], "little") :], ts=float(at))
        found.append(stream.getvalue())
    return tuple(found)


# -- streams -------------------------------------------------------------------------------------------

_RECORDS = [{"a": 0.5 * at, "b": at % 3, "c d": -1e-3, "label": "xy"[at % 2]} for at in range(6)]
_PAIRS = b"+1 1:2 3:4.5\n-1 2:1e3 # said\n1 qid:1 3:1\nspam 1:1\n"


def _tables() -> tuple[bytes, ...]:
    named = b"a,b,label\n1,2.5,x\n-3e2,4,y\n1,1,x\n"
    quoted = b'# made by hand\n\na;b;"of a ""kind"""\n1;-2.5;x\n\n+3;1e2;"y\n;"\n'
    return named, named.replace(b",", b"\t"), named.replace(b"\n", b"\r\n"), quoted, b"1,2,0\n3,4,1\n"


def _parquet(lines: bytes) -> bytes:
    """Render JSON lines as parquet, where they can be."""
    stream = io.BytesIO()
    try:
        pq.write_table(pa.Table.from_pylist([json.loads(line) for line in lines.splitlines()]), stream)
    except Exception:  # there are no rows, or values of several kinds in a column
        return b"PAR1" + lines
    return stream.getvalue()


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _arrays() -> tuple[dict[str, bytes], ...]:
    X = np.round(np.random.default_rng(0).normal(size=(5, 3)), 2)
    rows = sparse.csr_matrix(X * (X > 0))
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": np.array(rows.shape)}
    y = np.array([0, 1, 0, 1, 1])
    found = (
        {"X": X, "y": y},
        {"X": X.astype("f4"), "y": y.astype("U2")},
        {**parts, "y": y},
        {"X": X, "y": np.eye(5, 3) > 0},
    )
    return tuple({f"{name}.npy": _npy(array) for name, array in arrays.items()} for arrays in found)


def _zip(parts: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED if len(parts) % 2 else zipfile.ZIP_STORED) as file:
        for name, data in parts.items():
            file.writestr(zipfile.ZipInfo(name), data)
    return stream.getvalue()


def _radios() -> tuple[bytes, ...]:
    return tuple(
        "".join(f"{name} = {json.dumps(value)}\n" for name, value in profiles()[one].items()).encode()
        for one in profiles()
    )


_LOSSES = (
    b"0.5 1 2\n0 0.25 3e-2\n",
    b",a,b c\n2024-01-01,1,2\n2024-01-02,0.5,0\n",
    b"# said\n1\t2\n\n3\t4\n",
    b"a,b\n1,2\n3,4\n",
)
_MATRICES = _npy(np.ones((3, 2))), _npy(np.asfortranarray(np.eye(3))), _npy(np.arange(4).reshape(2, 2))
FORMATS = {
    "har": Format(files=_har(), read=read_requests),
    "workload": Format(files=_workload(), read=read_pages),
    "ucb": Format(files=_ucb(), read=read_requests),
    "bu": Format(files=(_SESSION,), read=read_requests, name="con1.cs18.791000000"),
    "bu-folder": Format(files=(_SESSIONS,), read=read_requests),
    "bu-tar": Format(files=(_SESSIONS,), read=read_requests, render=_tar),
    "table": Format(files=_table(), read=read_requests),
    "capture": Format(files=_captures(), read=read_capture),
    "air": Format(files=_air(), read=read_capture),
    "parquet": Format(files=(_json(*_RECORDS),), read=read_stream, render=_parquet, packed=False),
    "labels": Format(files=_tables(), read=read_stream),
    "svmlight": Format(files=(_PAIRS,), read=read_stream),
    "npz": Format(files=_arrays(), read=read_stream, render=_zip, packed=False),
    "losses": Format(files=_LOSSES, read=read_own_losses),
    "matrix": Format(files=_MATRICES, read=read_own_losses, name="input.npy", packed=False),
    "radio": Format(files=_radios(), read=read_radio, name="radio.toml", packed=False),
    "policy": Format(files=tuple(kind.encode() for kind in KINDS), read=read_policy, packed=False),
}
