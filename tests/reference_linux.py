"""Transport held against Linux's own, packet by packet: `python -m tests.reference_linux DIRECTORY [NAME ...]`.

DIRECTORY has ``summary.csv``, a row a scenario with its parameters, and ``NAME.csv.gz``, a line a packet of it: what
Linux's TCP with nghttp2's client and server did over links of known rate, delay, loss and queue.  A scenario is one
reply, or a page whose HTML names its objects at its beginning; those whose names have part of a NAME are run, by
default all.  The packets that were lost are lost again.  A row a scenario is printed, latencies and packets that came
up to the last byte, ours and Linux's, then a summary as the last line; the exit status is 0 only if all limits are met.

What is the machine's is told apart: it takes .15 ms from a packet to its answer, which lengthens the wire; what it read
at once is read at once again; the lateness of a recording is added to its limit.  Of packets there is no
limit where some were lost, on the air or at the queue.
"""

import json
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pandas as pd

import netsim
from netsim import LinkConfig, Recorder, SimulationConfig, TcpConfig
from netsim.model import delayed_acks, sender, tcp, wires
from netsim.model.flow_control import TICKETS_BYTES
from netsim.model.packets import watch_end
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


class Reads:
    """Reads at once what was read at once: a busy client answers nothing and offers no more before all of it is there.

    It was busy where nothing was lost and one acknowledgement covers more than two segments (places may differ by
    HEADERS).  Linux takes the first of them for read, less what waits behind it; and the server heeds what is offered.
    """

    def __init__(self, packets):
        first = int(packets[packets.up == 0].seq.iloc[0]) + 1
        acks = (packets[packets.up == 1].ack[1:] - first) % 2**32
        self.busy = [(begin + HEADERS, stop - HEADERS) for begin, stop in pairwise(acks)
            if stop - begin > 2 * MSS and (packets.due_ns >= 0).all()]  # fmt: skip

    def unread(self, end, received):
        """Return where what waits for a busy client begins when it has received so much, or 0."""
        waiting = [begin for begin, stop in self.busy if begin < received < stop]
        return waiting[0] if waiting and end.is_client and not end.out_of_order else 0

    def answer(self, function, run, end):
        """Acknowledge what has come."""
        if self.unread(end, end.received):
            end.ack_by = min(end.ack_by, run.now + run.max_ack_delay)
            watch_end(run, end)
        else:
            function(run, end)

    def grow_window(self, end, length, mss):
        """Offer more."""
        if not self.unread(end, end.received):
            delayed_acks.grow_window(end, length, mss)

    def note_read(self, run, end, frame):
        """Raise the limit to what is offered, by what was read."""
        if not self.unread(end, end.received):
            begin, since = self.unread(end, end.received - frame.length), end.space_since
            behind = begin and end.received - begin - MSS
            end.space_from += 2 * behind
            delayed_acks.note_read(run, end, frame)
            end.space_from -= behind if end.space_since > since else 2 * behind

    def send_data(self, run, end):
        """Send what the client offers."""
        written = end.written
        if not end.is_client:
            end.written = max(min(written, end.unacked + end.peer.offered), end.next)
        sender.send_data(run, end)
        end.written = written


def write_apart(run, end, n_bytes, all_acked):
    """Write; OpenSSL writes its two tickets one by one."""
    for part in [n_bytes // 2] * 2 if n_bytes == TICKETS_BYTES else [n_bytes]:
        tcp.write(run, end, part, all_acked)


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
    recorder, losses, reads = Recorder(), Losses(packets), Reads(packets)
    down, policy = losses.told(wires.put_on_air), f"psm:{int(row.psm_ms)}" if row.psm_ms else "none"
    with (
        mock.patch.multiple("netsim.model.receiver", grow_window=reads.grow_window, note_read=reads.note_read,
            answer_data=partial(reads.answer, delayed_acks.answer_data), send_data=reads.send_data,
            answer_read=partial(reads.answer, delayed_acks.answer_read)),
        mock.patch("netsim.model.tcp.send_data", reads.send_data),
        mock.patch("netsim.model.flow_control.write", write_apart),
        mock.patch("netsim.model.wires.put_on_air", down), mock.patch("netsim.model.medium.put_on_air", down),
        mock.patch("netsim.model.wires.carry_up", losses.told(wires.carry_up)),
        mock.patch("netsim.model.wires.draw_loss", losses.lose),
    ):  # fmt: skip
        result = netsim.simulate([page_of(row, packets, folder)], policy, config=world_of(row), recorder=recorder)
    return float(result.latency_s[0]), recorder.transmissions


def compare(row, folder):
    """Return latency and packets each way, ours and Linux's."""
    packets = pd.read_csv(folder / f"{row.name}.csv.gz")
    latency_s, sent = run(row, packets, folder)
    began = int(packets.read_ns[0])
    theirs = packets[(packets.read_ns < began + 1e9 * row.latency_s) & (packets.due_ns != -2)]
    own = [one.ack for one in sent if not one.down and one.reached_ns < began + 1e9 * latency_s]
    counts = (sum(one.down for one in sent), int((theirs.up == 0).sum()), len(own), int((theirs.up == 1).sum()))
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
    rows["same"] = True
    for way in ("down", "up"):
        apart = (rows[way] - rows[f"{way}_theirs"]).abs()
        rows["same"] &= apart <= (NEAR * rows[f"{way}_theirs"]).clip(lower=PACKETS)
    rows["same"] |= (rows.loss > 0) | (rows.dropped > 0)
    means = lossy.groupby("family")[["ours_s", "theirs_s"]].mean()
    return rows, means.ours_s / means.theirs_s


def main(folder, names):
    """Compare the scenarios of a folder, print them, and return the exit status."""
    rows = pd.read_csv(folder / "summary.csv").fillna(dict.fromkeys(("psm_ms", "loss", "queue", "page", "tls"), 0))
    if "name" not in rows:
        sys.exit(f"summary.csv must have a column name, it has {', '.join(rows)}")
    rows = rows[[not names or any(one in name for one in names) for name in rows.name]].reset_index(drop=True)
    if rows.empty:
        sys.exit(f"NAME must be part of a scenario's name, got {' '.join(names)}")
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
    place = Path(*sys.argv[1:2])
    if not (place / "summary.csv").is_file():
        sys.exit(f"DIRECTORY must hold summary.csv, {place} does not")
    sys.exit(main(place, sys.argv[2:]))
