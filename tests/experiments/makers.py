"""What tests of commands are made of: small inputs, the program in a process of its own, folders as bytes."""

import random
import sys
from html.parser import HTMLParser
from io import BytesIO

import dpkt

from tests.experiments.test_audit import NULL, QOS_DATA, Air

PROGRAM = [sys.executable, "-c", "from experiments.cli import main; main()"]
TABLE = "time,bytes\n0.5,2000\n0.6,300\n9.5,3000\n30,500\n"
STREAM = "a,b,c,d,kind\n" + "1,2,0,1,ham\n2,1,1,0,spam\n0,1,2,2,ham\n1,0,1,1,spam\n" * 30
WORK = (
    '{"page": "a", "request_bytes": 300, "reply_bytes": 5000, "objects": [[200, 700]], "think_s": 2.0}\n'
    '{"page": "b", "request_bytes": 300, "reply_bytes": 500, "think_s": 1.5}\n'
    '{"page": "c", "request_bytes": 300, "reply_bytes": 40000, "think_s": 1.0, "issue_s": 9.0}\n'
)
OWN_POLICIES = """
from threading import Lock

import netsim

class Patient:
    host_aware = False

    def __init__(self, parameter="2", beacon_interval_ns=100_000_000):
        self._rule = netsim.policies.make(f"listen:{parameter}", beacon_interval_ns=beacon_interval_ns)
        self.spec = f"patient:{parameter}"

    def plan(self, view):
        return self._rule.plan(view)

class Failing(Patient):
    def __init__(self, error, beacon_interval_ns=100_000_000):
        super().__init__("2", beacon_interval_ns)
        self.error = error
        self.spec = "failing"

    def plan(self, view):
        if view.now_ns > 4_000_000_000:
            raise {"SystemExit": SystemExit(0), "KeyError": KeyError("no\\x1b[2J\\nluck\\u202e")}[self.error]
        return super().plan(view)

class Odd(Patient):
    def plan(self, view):
        return None if view.now_ns > 4_000_000_000 else super().plan(view)

class Held(Patient):
    def __init__(self):
        super().__init__()
        self.lock = Lock()
"""


def sessions(folder, n_sessions, *, n_users=5, pages=3, seed=1):
    """Write sessions of a few users, as Boston University did; each has `pages` pages, some with an image."""
    draw = random.Random(seed)
    folder.mkdir()
    for number in range(n_sessions):
        start = 790_000_000 + 5000 * number
        lines, at = [], float(start)
        for page in range(pages):
            lines.append(f'cs20 {int(at)} 0 "http://a.b/{page}.html" {draw.randint(200, 30_000)} 0.5\n')
            if draw.random() < 0.5:
                lines.append(f'cs20 {int(at) + 1} 0 "http://a.b/{page}.gif" {draw.randint(200, 9000)} 0.25\n')
            at += draw.choice((4, 20, 90))
        (folder / f"con{number % n_users}.cs20.{start}").write_text("".join(lines))
    return folder


def air_capture():
    """A capture of a client that goes to sleep 60 ms after each answer."""
    air = Air()
    for number in range(1, 100):
        air.beacon(number)
    for start_us in range(1_000, 9_000_000, 2_000_000):
        air.add(start_us, NULL, up=True)
        air.add(start_us + 20_000, QOS_DATA, up=True, body=b"q" * 400)
        air.add(start_us + 50_000, QOS_DATA, up=False, body=b"r" * 900)
        air.add(start_us + 110_000, NULL, up=True, sleeps=True)
    written = BytesIO()
    writer = dpkt.pcap.Writer(written, linktype=127)
    for at_us, _, frame, _ in sorted(air.frames):
        writer.writepkt(frame, ts=1000 + at_us / 1e6)
    return written.getvalue()


def contents(folder):
    """Every file of a folder, at any depth."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Page(HTMLParser):
    """Tags, attributes, addresses and words of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.addresses, self.words = [], set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.words.append(data)

    def runs_something(self):
        return "script" in self.tags or any(name.startswith("on") for name in self.attributes)
