"""Damage of every kind for every parser: valid files, changed at random, and what became of reading them.

``python -m tests.traces.fuzzing 1000000`` reads a million inputs and says how many got past the header, how
long the slowest took and how much memory was needed.  Whatever happens must be a result or a `TraceError`.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import lzma
import random
import sys
import tarfile
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import dpkt
import numpy as np

import traces
from tests.traces.captures import Tcp, pcap, record, udp
from traces import TraceError, ucb
from traces.audit import audit
from traces.files import open_trace
from traces.frames import WIRELESS
from traces.pcap import frames as capture_frames

SECONDS = 1.0  # longest that reading a small input may take

Operation = tuple[str, float, bytes]
NASTY = (
    *(
        b"\x00",
        b"\xff",
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x00",
        b"\x7f\xff\xff\xff",
        b"\n",
        b"\r\n",
        b'"',
        b" ",
        b",",
    ),
    *(
        b"-1",
        b"0",
        b"99999999999999999999",
        b"1e999",
        b"NaN",
        b"null",
        b"[]",
        b"{}",
        b"[" * 50,
        b"\\ud800",
        b"\xc3\x28",
    ),
    *(b"HTTP/1.1 200 OK\r\n", b"Content-Length: -1\r\n", b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\n", b"../../"),
)


def seeds() -> dict[str, bytes]:
    """Return one valid file of each format."""
    made = _records(12)
    home = ucb.pack(made)
    text = "".join(line + "\n" for line in ucb.showtrace(made)).encode()
    session = b"".join(
        b'cs18 %d %d "http://a.edu/%s" %d 0.%d\n' % (1000 + n, n, (b"", b"i.gif")[n % 2], n % 5 * 100, n)
        for n in range(12)
    )
    pages = traces.generate(3, np.random.default_rng(0))
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name in ("a/con1.cs18.1000", "a/README", "b/con2.cs18.1000"):
            item = tarfile.TarInfo(name)
            item.size = len(session)
            tar.addfile(item, io.BytesIO(session))
    entry = {
        "pageref": "p",
        "startedDateTime": "2020-01-01T00:00:00.250Z",
        "time": 12.5,
        "request": {"url": "http://a.edu/x", "headersSize": 400, "bodySize": 0},
        "response": {"status": 200, "headersSize": 9, "bodySize": 90, "content": {"size": 50, "mimeType": "text/html"}},
    }
    return {
        "ucb": home,
        "ucb.gz": gzip.compress(home, mtime=0),
        "showtrace": text,
        "bu": session,
        "bu.tar": archive.getvalue(),
        "bu.tar.xz": lzma.compress(archive.getvalue()),
        "workload": "".join(map(traces.workload_line, pages)).encode(),
        "har": json.dumps({"log": {"pages": [], "entries": [entry] * 3}}).encode(),
        "pcap": _capture(dpkt.pcap.Writer),
        "pcapng": _capture(dpkt.pcapng.Writer),
        "pcap-tls": _encrypted(),
        "pcap-air": _on_air(),
        "csv": b"time,bytes,client\n" + b"".join(b"%d.5,%d,c\n" % (n, n * 100) for n in range(12)),
    }


def change(data: bytes, operations: list[Operation]) -> bytes:
    """Apply changes; each has a kind, a place in [0, 1] and some bytes."""
    for kind, place, value in operations:
        at = int(place * len(data))
        if kind == "cut":
            data = data[:at]
        elif kind == "flip":
            mask = (value[:1] or b"\x01")[0] or 1
            data = data[:at] + bytes(byte ^ mask for byte in data[at : at + 1]) + data[at + 1 :]
        elif kind == "write":
            data = data[:at] + value + data[at + len(value) :]
        elif kind == "insert":
            data = data[:at] + value + data[at:]
        elif kind == "drop":
            data = data[:at] + data[at + 1 + len(value) :]
        else:  # repeat what stands here
            data = data[:at] + data[at : at + 200] * 3 + data[at + 200 :]
    return data


KINDS = ("cut", "flip", "write", "insert", "drop", "repeat")


def outcome(path: Path, *, skip_damaged: bool = False) -> str:
    """Read a file whole; return how far it came: whole, past the header, or not."""
    try:
        if traces.detect(path) == "workload":
            traces.read_workload(path)
            return "whole"
    except TraceError as error:
        return "past the header" if error.where not in ("", "line 1", "packed byte 0") else "at the header"
    report = traces.Report()
    try:
        batches = traces.batches(path, skip_damaged=skip_damaged, report=report)
        traces.pages(request for batch in batches for request in batch.requests())
    except TraceError:
        return "past the header" if report.counts else "at the header"
    if report.format == "pcap":
        _check_conserved(report)
        _audited(path)
    return "whole"


def _check_conserved(report: traces.Report) -> None:
    payload = report.payload
    assert payload is not None
    entered = payload.in_requests + payload.in_replies + payload.in_messages
    assert payload.captured == entered + sum(payload.left_out.values())


def _audited(path: Path) -> None:
    """Follow a monitor-mode capture, too."""
    with suppress(TraceError), open_trace(path) as stream:
        audit(capture_frames(stream, path, traces.Report(), links=WIRELESS))


def _records(n: int) -> ucb.Records:
    url = b"GET 1234567..gif HTTP/1.0"
    columns = np.zeros(n, dtype=ucb.RECORD_DTYPE)
    for name, later in (("request", 0), ("first", 1), ("last", 2)):
        columns[f"{name}_s"] = 846_890_000 + np.arange(n) + later
    columns["client"], columns["server"], columns["server_port"] = 0x0A000001, 0xC0A80001, 80
    columns["body_bytes"], columns["url_bytes"] = 1000, len(url)
    return ucb.Records(columns, np.arange(n, dtype=np.int64) * len(url), url * n)


def _capture(writer_type: type) -> bytes:
    asked = b"GET /a HTTP/1.1\r\nHost: a.edu\r\n\r\n"
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n" + b"x" * 600
    stream = io.BytesIO()
    writer = writer_type(stream)
    steps = [(True, 99, b"", 2), (False, 499, b"", 18), (True, 100, asked, 16)]
    steps += [(False, 500 + at, answer[at : at + 300], 16) for at in range(0, len(answer), 300)]
    steps += [(True, 100 + len(asked), asked, 16), (False, 500 + len(answer), answer, 17)]
    for number, (up, seq, data, flags) in enumerate(steps):
        ports = {"sport": 4000, "dport": 80} if up else {"sport": 80, "dport": 4000}
        tcp = dpkt.tcp.TCP(**ports, seq=seq, ack=1, flags=flags, data=data)
        ends = (b"\x0a\x00\x00\x02", b"\x0a\x00\x00\x01")
        packet = dpkt.ip.IP(src=ends[not up], dst=ends[up], p=6, data=tcp)
        packet.len = len(packet)
        writer.writepkt(bytes(dpkt.ethernet.Ethernet(type=0x0800, data=packet)), ts=1000.0 + number)
    return stream.getvalue()


def _encrypted() -> bytes:
    """Return a capture of TLS records, QUIC datagrams and a push."""
    flow = Tcp(10.0, 0.02, 0.01)
    flow.up(10.1, record(300))
    flow.down(10.2, record(2000))
    flow.up(10.21, record(30))
    flow.down(12.0, record(100))
    datagrams = [
        udp(11.0, True, b"\xc0\0\0\0\1" + bytes(200)),
        udp(11.1, False, bytes(900)),
        udp(80.0, True, bytes(50)),
    ]
    return pcap([*flow.frames, *datagrams])


def _on_air() -> bytes:
    """Return a monitor-mode capture of beacons, a poll and encrypted frames."""
    radiotap = b"\0\0\x09\0\x04\0\0\0\x16"
    ap, station = b"\2\0\0\0\0\1", b"\2\0\0\0\0\2"
    beacon = b"\x80\0\0\0" + b"\xff" * 6 + ap + ap + bytes(10) + b"\x64\0\1\0" + b"\0\4home\5\4\0\2\0\4"
    poll = b"\xa4\x10\2\xc0" + ap + station
    up, down = (b"\x88\x41\0\0" + ap + station + ap, b"\x88\x42\0\0" + station + ap + ap)
    frames = [(1.0 + 0.1 * number, beacon) for number in range(5)]
    frames += [(1.11, poll), (1.12, down + bytes(4) + b"c" * 300), (1.31, up + bytes(4) + b"c" * 200)]
    return pcap([(at_s, radiotap + frame) for at_s, frame in frames], link=127)


def _random_operations(chance: random.Random) -> list[Operation]:
    return [
        (
            chance.choice(KINDS),
            chance.random(),
            chance.choice(NASTY) if chance.random() < 0.7 else chance.randbytes(chance.randrange(1, 9)),
        )
        for _ in range(chance.choice((1, 1, 2, 4)))
    ]


def fuzz(n_inputs: int, seed: int = 0, only: str = "") -> dict[str, object]:
    """Read inputs, nine in ten of them changed valid files, and return what happened."""
    chance = random.Random(seed)
    valid = {name: data for name, data in seeds().items() if name.startswith(only)}
    unpackers = {"ucb.gz": (gzip.decompress, gzip.compress), "bu.tar.xz": (lzma.decompress, lzma.compress)}
    happened: Counter[str] = Counter()
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "con1.cs18.1000")
        for _ in range(n_inputs):
            name = chance.choice(list(valid))
            data = valid[name]
            if chance.random() < 0.1:
                data = chance.randbytes(chance.randrange(300))
            elif name in unpackers and chance.random() < 0.5:
                unpack, pack = unpackers[name]
                data = pack(change(unpack(data), _random_operations(chance)))
            else:
                data = change(data, _random_operations(chance))
            path.write_bytes(data)
            start = time.perf_counter()
            try:
                happened[outcome(path, skip_damaged=chance.random() < 0.5)] += 1
            except Exception:
                crash = Path(tempfile.gettempdir(), "trace-that-crashed")
                crash.write_bytes(data)
                print(f"{name}: see {crash}", file=sys.stderr)
                raise
            slowest = max(slowest, time.perf_counter() - start)
    status = Path("/proc/self/status").read_text()
    peak_mb = int(status.split("VmHWM:")[1].split()[0]) / 1024
    return {"inputs": n_inputs, **happened, "slowest_s": round(slowest, 3), "peak_mb": round(peak_mb)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", type=int, nargs="?", default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="formats whose names begin so")
    arguments = parser.parse_args()
    print(fuzz(arguments.inputs, arguments.seed, arguments.only))
