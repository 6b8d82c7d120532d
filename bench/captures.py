"""Reading captures: packets a second from file to exchanges, beside dpkt's decoding alone; and peak memory.

Run ``python -m bench.captures [packets]``.  The capture is of TLS-like flows, eleven packets an
exchange, many at a time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import dpkt

import traces
from tests.traces.captures import Tcp, pcap, record

FLOWS, EXCHANGES, PACKETS = 50, 20, 11


def make(path: Path, n_packets: int) -> int:
    """Write a capture of about so many packets, and return how many it has."""
    rounds = max(1, n_packets // (FLOWS * (3 + EXCHANGES * PACKETS)))
    count = 0
    with path.open("wb") as file:
        for number in range(rounds):
            frames = []
            for port in range(FLOWS):
                flow = Tcp(1000.0 + 100 * number + 0.01 * port, 0.03, port=20_000 + (number * FLOWS + port) % 40_000)
                for exchange in range(EXCHANGES):
                    at_s = 1001.0 + 100 * number + 4 * exchange + 0.01 * port
                    flow.up(at_s, record(500))
                    flow.down(at_s + 0.2, record(13_000))
                frames += flow.frames
            count += len(frames)
            file.write(pcap(frames)[0 if not number else 24 :])
    return count


def decoded(path: Path) -> int:
    """Decode every packet with dpkt to the bytes of its TCP payload, and do nothing with it."""
    size = 0
    with path.open("rb") as file:
        for _, frame in dpkt.pcap.Reader(file):
            size += len(dpkt.ethernet.Ethernet(frame).data.data.data)
    return size


def read(path: Path) -> int:
    """Read the exchanges of a capture."""
    return sum(int(batch["reply_bytes"].sum()) for batch in traces.batches(path))


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the least processor time of some repetitions."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def peak_mb(path: Path) -> float:
    """Read a capture in a process of its own and return its peak resident memory."""
    code = (
        "import sys\nfrom bench.captures import read\nfrom pathlib import Path\nread(Path(sys.argv[1]))\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
    return float(done.stdout) / 1024


def rows(n_packets: int = 200_000) -> list[dict[str, object]]:
    """Return one row a measurement."""
    with tempfile.TemporaryDirectory() as folder:
        path, large = Path(folder, "capture"), Path(folder, "large")
        count, many = make(path, n_packets), make(large, 4 * n_packets)
        found: list[dict[str, object]] = []
        for name, work in (("decoding with dpkt alone", decoded), ("from file to exchanges", read)):
            taken = seconds(lambda work=work: work(path))  # type: ignore[misc]
            found.append({"what": f"captures: {name}", "packets": count, "packets_per_s": round(count / taken)})
        found.append(
            {
                "what": "captures: peak memory",
                "mb": round(peak_mb(path), 1),
                "mb_of_four_times": round(peak_mb(large), 1),
                "packets": many,
            }
        )
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packets", type=int, nargs="?", default=200_000)
    for row in rows(parser.parse_args().packets):
        print(row)
