"""Transport held against Linux's own, packet by packet: `python -m tests.reference_linux DIRECTORY [NAME ...]`.

DIRECTORY has ``summary.csv``, a row a scenario with its parameters, and ``NAME.csv.gz``, a line a packet of it: what
Linux's TCP with nghttp2's client and server did over links of known rate, delay, loss and queue.  A scenario is one
reply, or a page whose HTML names its objects at its beginning; those whose names have part of a NAME are run, by
default all.  The packets that were lost are lost again.  A row a scenario is printed, latencies and packets that came
up to the last byte, ours and Linux's, then a summary as the last line; the exit status is 0 only if all limits are met.

What is the machine's is told apart: it takes .15 ms from a packet to its answer, which lengthens the wire; where it
reads several packets at once, one acknowledgement of more than two segments counts as the several that a receiver that
is never busy sends; the lateness of a recording is added to its limit.
"""

import json
import sys
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pandas as pd

import netsim
from netsim import LinkConfig, Recorder, SimulationConfig, TcpConfig
from netsim.model import wires
from traces.records import Cause, Page

PREFACE, HEADERS, LATER_HEADERS, HTML, RECORD = 45, 94, 28, 18_000, 22  # bytes
TLS = "517:99:523:1371:74"
"""OpenSSL's handshake in these recordings: the server asks for another key first."""
MSS, AIR_S, MACHINE_S, ACK_S = 1448, 0.0001, 0.00015, 0.042
"""A segment; delay of the air; what the machine takes; how long an acknowledgement waits there, with ticks of 4 ms."""
NEAR, LEAST_S, PACKETS = 0.02, 0.002, 3
NEAR_ASLEEP, NEAR_LOSSY = 0.03, 0.1


class Losses:
    """Loses the packets that were lost: data by its bytes and how often they were sent, others by what they tell."""

    def __init__(self, packets):
        starts = {up: int(packets[packets.up == up].seq.iloc[0]) for up in (0, 1)}
        self.lists = {"syn": [], "up": [], "down": []}  # where, how often still, and the ACK that it has become
        self.frame, sent = None, []
        for one in packets.itertuples():
            seq, ack = (one.seq - starts[one.up] - 1) % 2**32, (one.ack - starts[1 - one.up] - 1) % 2**32
            kind = "syn" if one.flags & 2 else "up" if one.up else "down"
            place = one.up if kind == "syn" else (ack, one.payload > 0) if one.up else seq + one.payload // 2
            sent.append((kind, place))
            if one.due_ns == -1 and (one.up or one.payload):
                self.lists[kind].append([place, sent.count((kind, place)), None])

    def lose(self, run, client):
        """Return whether the packet that is put on the air is to be lost."""
        frame, up = self.frame, not self.frame.to.is_client
        kind, found = "syn" if frame.flag else "up" if up else "down", False
        for one in self.lists[kind]:
            if kind == "syn":
                meant = one[0] == up
            elif up:
                if one[2] is None and frame.ack >= one[0][0] and one[0][1] == (frame.length > 0):
                    one[2] = frame.ack
                meant = one[2] == frame.ack and one[0][1] == (frame.length > 0)
            else:
                meant = frame.seq <= one[0] < frame.seq + frame.length
            one[1] -= meant
            found = found or (meant and one[1] == 0)
        client.lost += found
        return found

    def told(self, function):
        """Return a function that puts a packet on the air, and tells of it first."""

        def put(run, client, frame, *at):
            self.frame = frame
            return function(run, client, frame, *at)

        return put


def page_of(row, packets, folder):
    """Return what is browsed."""
    written = packets[(packets.up == 1) & (packets.payload > 0)]["payload"].tolist()
    asked = (written[3] - RECORD if row.tls else written[0]) - PREFACE
    sizes = json.loads((folder / f"page{int(row.page)}.json").read_text()) if row.page else []
    return Page("a", asked, (HTML if row.page else int(row.size)) + HEADERS,
        tuple((29, size + LATER_HEADERS) for size in sizes), issue_s=packets.read_ns[0] / 1e9,
        causes=(Cause(0), *(Cause(place + 1) for place in range(len(sizes)))))  # fmt: skip


def world_of(row):
    """Return the world of a scenario."""
    wire_ms = 1e3 * (row.rtt_s / 2 - AIR_S + MACHINE_S)
    link = LinkConfig(wireless_mbps=row.air_mbps, wired_mbps=row.wire_mbps, wireless_delay_ms=1e3 * AIR_S,
        wired_delay_ms=wire_ms, loss_rate=row.loss, queue_packets=int(row.queue))  # fmt: skip
    window = 2**24 if row.name.startswith("wide") else 65_535
    tcp = TcpConfig.today(control=row.cc, stream_window_bytes=window, tls=TLS if row.tls else "", ack_delay_s=ACK_S,
        named_after_bytes=2048)  # fmt: skip
    return SimulationConfig(link=link, tcp=tcp, beacon_interval_ns=int(row.psm_ms or 100) * 1_000_000)


def run(row, packets, folder):
    """Run the model; return its latency, and its packets."""
    recorder, losses = Recorder(), Losses(packets)
    down, policy = losses.told(wires.put_on_air), f"psm:{int(row.psm_ms)}" if row.psm_ms else "none"
    with (
        mock.patch("netsim.model.wires.put_on_air", down), mock.patch("netsim.model.medium.put_on_air", down),
        mock.patch("netsim.model.wires.carry_up", losses.told(wires.carry_up)),
        mock.patch("netsim.model.wires.draw_loss", losses.lose),
    ):  # fmt: skip
        result = netsim.simulate([page_of(row, packets, folder)], policy, config=world_of(row), recorder=recorder)
    return float(result.latency_s[0]), recorder.transmissions


def up_of(sent):
    """Return how many packets the client has sent; an acknowledgement of more than two segments counts as several."""
    acks = [ack for ack in sent if ack > 0]
    return len(sent) + sum(max(-(-(ack - before) // (2 * MSS)) - 1, 0) for before, ack in pairwise(acks))


def compare(row, folder):
    """Return latency and packets each way, ours and Linux's."""
    packets = pd.read_csv(folder / f"{row.name}.csv.gz")
    latency_s, sent = run(row, packets, folder)
    began = int(packets.read_ns[0])
    theirs = packets[(packets.read_ns < began + 1e9 * row.latency_s) & (packets.due_ns != -2)]
    own = [one.ack for one in sent if not one.down and one.reached_ns < began + 1e9 * latency_s]
    acks = [(ack - int(packets[packets.up == 0].seq.iloc[0]) - 1) % 2**32 for ack in theirs[theirs.up == 1].ack]
    acks[0] = 0  # of the SYN
    of_up = (len(own), len(acks)) if row.loss or row.queue else (up_of(own), up_of(acks))
    counts = (sum(one.down for one in sent), int((theirs.up == 0).sum()), *of_up)
    return latency_s, row.latency_s, *counts


def judge(rows):
    """Say of each scenario whether its limits are met: of latency, and of packets where nothing is lost."""
    rows["family"] = rows.name.str.rsplit("-", n=1).str[0].where(rows.loss > 0, rows.name)
    asleep_s, late_s = rows.psm_ms / 1e3, rows.late_us_max / 1e6
    limit_s = (NEAR * rows.theirs_s).clip(lower=LEAST_S) + late_s
    limit_s = limit_s.where(rows.psm_ms == 0, NEAR_ASLEEP * rows.theirs_s + asleep_s)
    lossy = rows[rows.loss > 0]
    spread_s = lossy.groupby("loss").theirs_s.std()  # of seeds, over all that have so much loss
    limit_s = limit_s.where(rows.loss == 0, 2 * rows.loss.map(spread_s).fillna(0.0) + NEAR_LOSSY * rows.theirs_s)
    rows["near"] = (rows.ours_s - rows.theirs_s).abs() <= limit_s
    rows["same"] = rows.loss > 0
    for way in ("down", "up"):
        apart = (rows[way] - rows[f"{way}_theirs"]).abs()
        met = apart <= (NEAR * rows[f"{way}_theirs"]).clip(lower=PACKETS)
        rows["same"] = (rows["same"] | met) if way == "down" else (rows["same"] & (met | (rows.loss > 0)))
    means = lossy.groupby("family")[["ours_s", "theirs_s"]].mean()
    return rows, means.ours_s / means.theirs_s


def main(folder, names):
    """Compare the scenarios of a folder, print them, and return the exit status."""
    rows = pd.read_csv(folder / "summary.csv").fillna(dict.fromkeys(("psm_ms", "loss", "queue", "page", "tls"), 0))
    rows = rows[[not names or any(one in name for one in names) for name in rows.name]].reset_index(drop=True)
    columns = ["ours_s", "theirs_s", "down", "down_theirs", "up", "up_theirs"]
    rows[columns] = [compare(row, folder) for row in rows.itertuples()]
    rows, means = judge(rows)
    for row in rows.itertuples():
        said = "met" if row.near and row.same else "NOT MET: " + " ".join(
            word for word, met in (("latency", row.near), ("packets", row.same)) if not met)  # fmt: skip
        print(f"{row.name:30} {row.ours_s:8.4f} {row.theirs_s:8.4f} s {row.ours_s / row.theirs_s:6.3f}  down "
            f"{row.down:5.0f} {row.down_theirs:5.0f}  up {row.up:5.0f} {row.up_theirs:5.0f}  {said}")  # fmt: skip
    for family, ratio in means.items():
        print(f"{family:30} mean over the seeds {ratio:6.3f}  {'met' if abs(ratio - 1) <= NEAR_LOSSY else 'NOT MET'}")
    unmet = int((~(rows.near & rows.same)).sum() + ((means - 1).abs() > NEAR_LOSSY).sum())
    print(f"{unmet} of {len(rows) + len(means)} not met" if unmet else f"all {len(rows) + len(means)} are met")
    return int(unmet > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
