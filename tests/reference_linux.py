"""Transport held against Linux's own, packet by packet: `python -m tests.reference_linux DIRECTORY [NAME ...]`.

DIRECTORY has ``summary.csv``, a row a scenario with its parameters, and ``NAME.csv.gz``, a line a packet of it: what
Linux's TCP with nghttp2's client and server did over links of known rate, delay, loss and queue.  A scenario is one
reply, or a page whose HTML names all its objects at its beginning.  Losses are drawn as the recording drew them, one
number a packet in the order in which they use the air.  Counted are packets up to the last byte's arrival.  A row a
scenario is printed, then what families of lossy scenarios have in the mean; the exit status is 0 only if all is met.
"""

import json
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

import netsim
from netsim import LinkConfig, Recorder, SimulationConfig, TcpConfig
from netsim.model import wires as netsim_wires
from traces.records import Cause, Page

PREFACE, HEADERS, LATER_HEADERS, HTML = 45, 94, 28, 18_000
RECORD = 22
ACK_DELAY_S = 0.042
TLS = "517:99:523:1371:74"
"""Of OpenSSL's handshake in these recordings, which asks for another key first."""
AIR_DELAY_S = 0.0001
MACHINE_S = 0.00015
"""What the recording machine takes from a packet that is due to what answers it, in the median."""
SHARE, LEAST_S, PSM_SHARE, LOSS_SHARE = 0.02, 0.002, 0.03, 0.1


def page_of(row, packets, folder):
    """Return what is browsed."""
    written = packets[(packets.up == 1) & (packets.payload > 0)]["payload"].tolist()
    if row.tls == 1:
        asked = written[3] - PREFACE - RECORD
    else:
        asked = written[0] - PREFACE
    first = packets.read_ns[0] / 1e9
    if not row.page > 0:
        return Page("a", asked, int(row.size) + HEADERS, issue_s=first, causes=(Cause(0),))
    sizes = json.loads((folder / f"page{int(row.page)}.json").read_text())
    objects = tuple((29, size + LATER_HEADERS) for size in sizes)
    causes = Cause(0), *(Cause(place + 1) for place in range(len(sizes)))
    return Page("a", asked, HTML + HEADERS, objects, issue_s=first, causes=causes)


def world_of(row):
    """Return the world of a scenario."""
    link = LinkConfig(wireless_mbps=row.air_mbps, wired_mbps=row.wire_mbps, wireless_delay_ms=1e3 * AIR_DELAY_S,
        wired_delay_ms=1e3 * (row.rtt_s / 2 - AIR_DELAY_S + MACHINE_S), loss_rate=row.loss, queue_packets=int(row.queue))  # fmt: skip
    tcp = TcpConfig.today(control=row.cc, stream_window_bytes=2**24 if row.name.startswith("wide") else 65_535,
        tls=TLS if row.tls == 1 else "", ack_delay_s=ACK_DELAY_S, named_after_bytes=2048)  # fmt: skip
    interval_ns = int(row.psm_ms or 100) * 1_000_000
    return SimulationConfig(link=link, tcp=tcp, beacon_interval_ns=interval_ns, radio="thesis")


class Losses:
    """Loses the packets that were lost: data by its bytes and how often they were sent, others by what they tell."""

    def __init__(self, packets):
        starts = {up: int(packets[packets.up == up].seq.iloc[0]) for up in (0, 1)}
        self.down, self.up, self.flags = [], [], []
        sent = {0: [], 1: []}
        for one in packets.itertuples():
            seq, ack = (one.seq - starts[one.up] - 1) % 2**32, (one.ack - starts[1 - one.up] - 1) % 2**32
            here = (one.flags & 2, ack, one.payload > 0) if one.up else (one.flags & 2, seq, one.payload)
            sent[one.up].append(here)
            if one.due_ns == -1:
                times = sent[one.up].count(here)
                if one.flags & 2:
                    self.flags.append([one.up, times])
                elif one.up:
                    self.up.append([ack, times, None, one.payload > 0])
                else:
                    self.down.append([seq + one.payload // 2 if one.payload else -1 - ack, times])
        self.frame = None

    def lost(self, run, client):
        """Return whether the packet that is on the air now is to be lost."""
        frame = self.frame
        up = not frame.to.is_client
        if frame.flag:
            listed = [one for one in self.flags if one[0] == up]
        elif up:
            listed = []
            for one in self.up:
                if (frame.length > 0) != one[3]:
                    continue
                if one[2] is None and frame.ack >= one[0]:
                    one[2] = frame.ack
                if one[2] == frame.ack:
                    listed.append(one)
        elif frame.length:
            listed = [one for one in self.down if frame.seq <= one[0] < frame.seq + frame.length]
        else:
            listed = [one for one in self.down if one[0] == -1 - frame.ack]
        found = False
        for one in listed:
            one[1] -= 1
            found = found or one[1] == 0
        client.lost += found
        return found


def run(row, packets, folder):
    """Run the model; return its latency, and its packets."""
    recorder, losses = Recorder(), Losses(packets)

    def told(function, place):
        def call(*given):
            losses.frame = given[place]
            return function(*given)

        return call

    wires = "netsim.model.wires."
    policy = f"psm:{int(row.psm_ms)}" if row.psm_ms else "none"
    down = told(netsim_wires.put_on_air, 2)
    with mock.patch(wires + "put_on_air", down), mock.patch("netsim.model.medium.put_on_air", down), mock.patch(
        wires + "carry_up", told(netsim_wires.carry_up, 2)), mock.patch(wires + "draw_loss", losses.lost):  # fmt: skip
        result = netsim.simulate([page_of(row, packets, folder)], policy, config=world_of(row), recorder=recorder)
    return float(result.latency_s[0]), recorder.transmissions


def compare(row, folder):
    """Return the ratios of latency and packets each way, and whether they are met."""
    packets = pd.read_csv(folder / f"{row.name}.csv.gz")
    latency_s, sent = run(row, packets, folder)
    until = packets.read_ns[0] + int(1e9 * row.latency_s)
    theirs = packets[(packets.read_ns <= until) & (packets.due_ns != -2)]
    down, up = (theirs.up == 0).sum(), (theirs.up == 1).sum()
    told = theirs[theirs.up == 1].ack[1:].diff() / 1448
    if not row.loss and not row.queue:
        up += int(np.maximum(np.ceil(told[told > 2] / 2) - 1, 0).sum())
    last = packets.read_ns[0] + round(1e9 * latency_s)
    own_down = sum(one.down for one in sent)
    own_up = sum(not one.down and one.reached_ns < last for one in sent)
    limit = max(SHARE * row.latency_s, LEAST_S)
    if row.psm_ms:
        limit = max(PSM_SHARE * row.latency_s, row.psm_ms / 1e3)
    return {"name": row.name, "latency": latency_s, "theirs": row.latency_s, "ratio": latency_s / row.latency_s,
        "down": own_down, "theirs_down": down, "up": own_up, "theirs_up": up,
        "near": abs(latency_s - row.latency_s) <= limit,
        "same": abs(own_down - down) <= max(SHARE * down, 1) and abs(own_up - up) <= max(SHARE * up, 1)}


def main(folder, names):
    rows = pd.read_csv(folder / "summary.csv")
    found = []
    for row in rows.fillna({"psm_ms": 0, "loss": 0, "queue": 0, "seed": 0, "tls": 0}).itertuples():
        if names and not any(name in row.name for name in names):
            continue
        one = compare(row._replace(psm_ms=row.psm_ms) if False else row, folder)
        found.append(one)
        print(f"{one['name']:32} {one['latency']:8.4f} {one['theirs']:8.4f} {one['ratio']:6.3f} down {one['down']:5} {one['theirs_down']:5} up {one['up']:5} {one['theirs_up']:5} {'ok' if one['near'] else 'FAR'} {'same' if one['same'] else 'OTHER'}", flush=True)
    t = pd.DataFrame(found)
    t["family"] = t.name.str.split("-").str[0]
    print(t.groupby("family")[["near", "same"]].agg(["sum", "count"]))
    print(t.groupby("family")["ratio"].describe())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
