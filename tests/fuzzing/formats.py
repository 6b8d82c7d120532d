"""Every format that the program reads: files that are valid, and what reads them."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from math import isfinite
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import dpkt
import numpy as np
from numpy.random import default_rng
from scipy import sparse

import lpsm
import netsim
import traces
from experiments import datasets
from experiments.audit import audit
from experiments.cli.model import world_of
from experiments.datasets.files import naming
from experiments.datasets.losses import read_losses
from experiments.report.capture import capture
from experiments.timeline import record as timeline
from lpsm.experts import AdaHedge, NormalHedge, Squint
from netsim import policies
from netsim.radio import profiles
from tests.fuzzing.changing import Content
from tests.tables import named
from tests.traces.captures import Tcp, authenticated, pcap, record, udp
from tests.traces.home_ip import pack, records
from traces import Report, TraceError
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

    make: Callable[[], tuple[Content, ...]]
    read: Callable[[Path, Random], None]
    render: Callable[[Any], Content] = lambda content: content
    name: str = "input"
    packed: bool = True

    @cached_property
    def files(self) -> tuple[Content, ...]:
        """The valid files, made once they are asked for."""
        return self.make()


# -- what is read, and must hold of it -----------------------------------------------------------------
def read_requests(path, chance, report=None):
    """Read a trace whole, group it, and hold pages to the rules of a workload, which they become."""
    report = Report() if report is None else report
    batches = traces.batches(path, skip_damaged=chance.random() < 0.4, report=report)
    pages = traces.pages((request for batch in batches for request in batch.requests()), report=report)
    lines = "".join(map(traces.workload_line, pages))
    if lines and chance.random() < 0.2:
        again = path.with_name("again.jsonl")
        again.write_text(lines)
        read_pages(again, chance)


def read_pages(path, _):
    """Read a workload."""
    found = traces.read_workload(path)
    assert all(page.request_bytes >= 1 and page.reply_bytes >= 0 and page.think_s >= 0.0 for page in found)


def read_capture(path, chance):
    """Read a capture's requests, of whose bytes none may be lost, and follow its frames of 802.11."""
    report = Report()
    try:
        read_requests(path, chance, report)
        for book in filter(None, (report.payload, report.packets)):
            entered = book.in_requests + book.in_replies + book.in_messages + book.in_datagrams
            assert book.captured == entered + sum(book.left_out.values())
    finally:
        with suppress(TraceError), open_trace(path) as stream:
            audit(frames(stream, path, Report(), links=WIRELESS))


def read_stream(path, chance):
    """Read a stream of finite numbers, each with a label that has a name."""
    _check(datasets.read(path, label=chance.choice((None, None, None, "0", "label", "-1"))))


def _check(stream):
    assert np.isfinite(stream.X.data if sparse.issparse(stream.X) else stream.X).all()
    assert len(stream.classes) > 0
    assert stream.y.dtype == bool or ((stream.y >= 0).all() and stream.y.max() < len(stream.classes))


def read_own_losses(path, _):
    """Read losses of experts: a matrix of numbers of at least 0."""
    losses = read_losses(path)
    assert losses.ndim == 2
    assert (losses >= 0.0).all()


def read_radio(path, _):
    """Read a radio and ask it for an energy."""
    assert isfinite(netsim.Radio.load(path).energy(10**12, 10**12, 1000, wakeups=1000).total_j)


def read_world(path, _):
    """Read a world, and browse a page in it."""
    with naming(path):
        config = world_of(SimpleNamespace(preset=None, world=path)).config
    assert 0.0 < config.beacon_interval_ns <= 10**15


def read_state(path, chance):
    """Read the state of a learner or sampler, which goes on: its weights are a distribution, its rounds are numbers."""
    with naming(path):
        thing = lpsm.from_state(path.read_bytes().decode("utf-8", "replace"))
    rows = default_rng(chance.getrandbits(32)).random((5, getattr(thing, "n_experts", 3)))
    if isinstance(thing, lpsm.Combiner):
        assert not np.isnan(thing.run(rows, rows[:, 0] > 0.5)[0]).any()
    elif hasattr(thing, "n_experts"):
        assert (thing.weights >= 0.0).all()
        assert not np.isnan(thing.run(rows).loss).any()
    else:
        for row in rows[:, :1].repeat(thing.n_features, axis=1) if thing.n_features < 1000 else ():
            assert 0.0 <= thing.decide(row).probability <= 1.0


def read_policy(path, chance):
    """Make the policy whose name stands in a file; its canonical name makes the same one, and a page gets through."""
    spec = netsim.canonical(path.read_bytes().decode("utf-8", "surrogateescape"))  # as a command line
    assert netsim.canonical(spec) == spec
    if chance.random() < 0.1 and not spec.startswith("lpsm"):  # whose kernels would be compiled first
        assert len(netsim.simulate(_PAGES, spec, engine="packet").pages) == len(_PAGES)


@cache
def compile_rules():
    """Compile what is compiled of a policy when it first runs; that takes longer than any input may."""
    for spec in KINDS:
        if not spec.startswith("lpsm"):
            netsim.simulate(_PAGES, spec, engine="packet")


# -- files of browsing ---------------------------------------------------------------------------------
def _json(*lines):
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


_ENTRY = """{"pageref": "p%d", "startedDateTime": "2020-01-01T00:00:0%d.250Z", "time": 120.5, "_fromCache": null,
"request": {"url": "%s", "method": "GET", "headersSize": 300, "bodySize": -1},
"response": {"status": 200, "headersSize": 200, "bodySize": 900, "_transferSize": 1100,
"content": {"size": 5000, "mimeType": "%s"}},
"timings": {"connect": 20.5, "ssl": 10, "send": 1, "wait": 60, "receive": 30}}""".replace("\n", " ")
_ASKED = (("http://a.edu/", "text/html"), ("https://b.org:8443/x.gif", "image/gif"),
    ("http://a.edu/i.html?q=1", "text/html"), ("data:,x", "image/gif"))  # fmt: skip


def _har():
    entries = [json.loads(_ENTRY % (at % 2, at, *asked)) for at, asked in enumerate(_ASKED)]
    pages = [{"id": f"p{at}", "startedDateTime": "2020-01-01T00:00:00Z"} for at in range(2)]
    bare = [{name: one[name] for name in ("startedDateTime", "request", "response")} for one in entries[:2]]
    logs = {"entries": entries, "pages": pages}, {"entries": bare}, {"entries": entries[1:], "pages": []}
    return tuple(_json({"log": {"version": "1.2", **log}}) for log in logs)


_PAGE = (
    b'{"page": "w0", "request_bytes": 433, "reply_bytes": 9319, "objects": [[200, 700], [300, 0]], "think_s": 40.1%s}\n'
)
_BESIDE = b"""{"message_bytes": 90, "at_s": 2.5}
{"message_bytes": 900, "at_s": 5}
{"datagram_bytes": 90, "at_s": 3, "up": true}
{"captured_s": 99}
{"round_trip_s": 0.05}
"""


def _workload():
    timed = b', "issue_s": %d, "waits_s": [0.1, null, 0.3], "deadline_s": 4.0, "servers": [1, 0, -1]'
    own = _PAGE % b', "timings": [[0, 0, 1.5, 0, 0.1, 0.2, 0.1, 9], [1, 1, 0.1, 0, 0.1, 0], [0, 2, 0.5, 0, 0, 0]]'
    return (_PAGE % b"") * 2, b"".join(_PAGE % (timed % at) for at in range(3)) + _BESIDE, own


def _ucb():
    whole = pack(records(5, clients=2))
    return whole, pack(records(3, step_us=10**8, url=b"GET 9.. HTTP/1.0")), whole.replace(whole[4:8], b"\xff" * 4, 1)


_SESSION = b"""cs18 791000000 0 "http://a.edu/" 2000 0.5
cs18 791000030 1000 "http://a.edu/x.gif" 0 0.0
cs18 791000060 2000 "http://b.org/i.html?q=1" 900 2.25
cs18 791000090 3000 "http://a.edu/" 2000 0.5
cs18 791000120 4000 "http://a.edu/x.gif" 0 0.0
cs18 791000150 5000 "http://b.org/i.html?q=1" 900 2.25
"""
_SESSIONS = {"con1.cs18.791000000": _SESSION, "README": b"said\n", "a/con2.cs18.791000000": _SESSION[200:]}


def _tar(parts):
    """Pack files."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as file:
        for name, data in parts.items():
            header = tarfile.TarInfo(name[:300])
            header.size = len(data)
            file.addfile(header, io.BytesIO(data))
    return stream.getvalue()


_REPLIES = b"""time,bytes,end,request_bytes,client,server,url
0.5,2000,0.9,300,c,s,http://a.edu/
9.5,300,9.75,200,d,s,data:;x
30,2000,31,300,c,s,http://a.edu/
"""
_TABLES = (*(_REPLIES.replace(b",", mark) for mark in (b",", b";", b"\t")), b"0.5,2000\n0.6,300\n9.5,3000\n",
    b"time,bytes\n2020-01-01T00:00:05,9\n")  # fmt: skip


# -- captures ------------------------------------------------------------------------------------------
def _captures():
    """An HTTP and a TLS connection and datagrams: over IPv4 in both kinds of files, and the former over IPv6."""
    ok = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    talk = (b"GET /i.gif HTTP/1.1\r\nHost: a.edu\r\n\r\n", ok + b"Content-Length: 900\r\n\r\n" + b"x" * 900,
        b"POST / HTTP/1.1\r\nHost: b.org:80\r\nContent-Length: 40\r\n\r\n" + b"y" * 40,
        ok + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")  # fmt: skip
    web, secret = Tcp(1000.0, 0.03, server_port=80), Tcp(1000.5, 0.03, port=40_001)
    for flow, sent in ((web, talk), (secret, map(record, (300, 1001, 30, 2000)))):
        for at, data in enumerate(sent):
            (flow.down if at % 2 else flow.up)(1001.0 + at, data, 700)
    frames = [*web.frames, *secret.frames, udp(1009.0, True, b"q" * 200), udp(1009.1, False, b"q" * 900)]
    six = [(at_s, authenticated(frame)) for at_s, frame in web.frames]
    stream = io.BytesIO()
    file = dpkt.pcapng.Writer(stream)
    for at_s, frame in sorted(frames):
        file.writepkt(frame, ts=at_s)
    return pcap(frames), stream.getvalue(), pcap(six, link=101)


def _air():
    """A run on the air as its sniffer writes it, and its frames behind the headers of other sniffers."""
    config = netsim.SimulationConfig(medium=netsim.AirConfig(neighbours=1, neighbour_mbps=2.0))
    made = capture(timeline(traces.Workload.of(_PAGES), "dynamic:50", config))
    packets = dpkt.pcapng.Reader(io.BytesIO(made))
    bare = [(float(at), frame[int.from_bytes(frame[2:4], "little") :]) for at, frame in packets]
    before = ((105, b""), (119, bytes(4) + b"\x90" + bytes(139)), (127, b"\0\0\x09\0\4\0\0\0\x16"),
        (192, b"\0\0\x08\0" + bytes(4)))  # fmt: skip
    return made, *(pcap([(at, head + frame) for at, frame in bare], link) for link, head in before)


# -- streams -------------------------------------------------------------------------------------------
_PAIRS = b"+1 1:2 3:4.5\n-1 2:1e3 # said\n1 qid:1 3:1\nspam 1:1\n"


def _tables():
    named = b"a,b,label\n1,2.5,x\n-3e2,4,y\n1,1,x\n"
    quoted = b'# made by hand\n\na;b;"of a ""kind"""\n1;-2.5;x\n\n+3;1e2;"y\n;"\n'
    return (named, b",0,1,y\n0,1.5,2,x\n1,3,4,y\n", b"0,1,2\n0.5,1,x\n", named.replace(b",", b"\t"),
        named.replace(b"\n", b"\r\n"), quoted, b"1,2,0\n3,4,1\n")  # fmt: skip


def _npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _arrays():
    X = np.round(default_rng(0).normal(size=(5, 3)), 2)
    rows = sparse.csr_matrix(X * (X > 0))
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": np.array(rows.shape)}
    y = np.array([0, 1, 0, 1, 1])
    found = {"X": X, "y": y}, {"X": X.astype("f4"), "y": y.astype("U2")}, {**parts, "y": y}, {"X": X, "y": X > 0}
    return tuple({f"{name}.npy": _npy(array) for name, array in arrays.items()} for arrays in found)


def _zip(parts):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED if len(parts) % 2 else zipfile.ZIP_STORED) as file:
        for name, data in parts.items():
            file.writestr(zipfile.ZipInfo(name), data)
    return stream.getvalue()


def _radios():
    return tuple("".join(f"{name} = {json.dumps(value)}\n" for name, value in profiles()[one].items()).encode()
        for one in profiles())  # fmt: skip


_LOSSES = (b"0.5 1 2\n0 0.25 3e-2\n", b",a,b c\n2024-01-01,1,2\n2024-01-02,0.5,0\n", b"# said\n1\t2\n\n3\t4\n",
    b"a,b\n1,2\n3,4\n", b",0,1\n0,0.5,1.0\n1,2.0,1.5\n", b"0,1\n0.5,1.0\n")  # fmt: skip
_MATRICES = _npy(np.ones((3, 2))), _npy(np.asfortranarray(np.eye(3))), _npy(np.arange(4).reshape(2, 2))
_WORLDS = (b'radio = "esp32-c6"\nserver_delay = "lognormal:0.2"\nloss_rate = 0.01\nnagle = true\n',
    b'air = "11n:65"\ndtim_period = 3\nbroadcast_per_s = 2.0\nretrieval = "null"\nbeacon_ms = 102.4\nmin_rto_s = 0.2\n',
    b'rtt = 0.03\nserver_delay = 0.5\nconnections = "per-object"\nmss_bytes = 536\n')  # fmt: skip


def _states():
    rng = default_rng(5)
    made = [lpsm.FixedShare(3, 0.1), lpsm.StaticExpert(2), lpsm.LearnAlpha(3, [0.0, 0.1]),
            lpsm.Combiner(2, alphas=[0.1]),
            lpsm.MarkovShare(np.full((2, 2), 0.5)), AdaHedge(3), Squint(3), NormalHedge(3)]  # fmt: skip
    for one in made[:3]:
        one.run(rng.random((5, one.n_experts)))
    sampler = lpsm.samplers.make("sop-ss", 3, b=0.5, rng=rng)
    sampler.run(rng.normal(size=(9, 3)), rng.choice([-1, 1], 9))
    return tuple(lpsm.to_json(one.state()).encode() for one in (*made, sampler))


FORMATS = named("""
har = Format(make=_har, read=read_requests) ; workload = Format(make=_workload, read=read_pages)
ucb = Format(make=_ucb, read=read_requests)
bu = Format(make=lambda: (_SESSION,), read=read_requests, name="con1.cs18.791000000")
bu-folder = Format(make=lambda: (_SESSIONS,), read=read_requests)
bu-tar = Format(make=lambda: (_SESSIONS,), read=read_requests, render=_tar)
table = Format(make=lambda: _TABLES, read=read_requests) ; capture = Format(make=_captures, read=read_capture)
air = Format(make=_air, read=read_capture) ; labels = Format(make=_tables, read=read_stream)
svmlight = Format(make=lambda: (_PAIRS,), read=read_stream)
npz = Format(make=_arrays, read=read_stream, render=_zip, packed=False)
losses = Format(make=lambda: _LOSSES, read=read_own_losses)
matrix = Format(make=lambda: _MATRICES, read=read_own_losses, name="input.npy", packed=False)
radio = Format(make=_radios, read=read_radio, name="radio.toml", packed=False)
world = Format(make=lambda: _WORLDS, read=read_world, name="world.toml", packed=False)
state = Format(make=_states, read=read_state, packed=False)
policy = Format(make=lambda: tuple(kind.encode() for kind in KINDS), read=read_policy, packed=False)
""", globals())  # fmt: skip
