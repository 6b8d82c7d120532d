"""`lpsm population` against the number of sessions: seconds, processor time and memory.

Run ``python -m bench.population [SESSIONS ...]``.  Each row is the real command in processes of its own, on sessions
that are drawn (two pages of 1996 each, under none, psm and lpsm3), in one process and in two.  Memory is sampled, the
less often the longer it takes: of all processes together, with pages that they share counted once (`mb`) and in each
(`resident_mb`); `in_workers` is the share of processor time of worker processes, what starts them included.
With LPSM_DATA set (or the data beside the repository) rows on sessions of Boston University follow, and the parts
alone, in one process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import netsim
import traces
from experiments.study import population as study
from experiments.study.sweep import compile_express
from tests.real_data import DATA

PROGRAM = [sys.executable, "-c", "from experiments.cli import main; main()"]
SOME = ("con1[0-2]*", "con1*", "con[12]*", "con[1-4]*", "con[1-6]*", "con*")
DRAWN = ("--pages", "2", "--web", "1996", "--policies", "none,psm,lpsm3", "--pages-per-task", "1000")
POLICIES = ("none", "psm:100", "bsd:1", "lpsm:log", "lpsm")


def data() -> Path | None:
    """The archive, if it is here."""
    path = DATA / "bu-www-client" / "condensed.tar.xz"
    return path if path.exists() else None


def tree(pid: int) -> dict[int, tuple[float, float, float]]:
    """Of a process and all its children: memory with shared pages split and whole, MB, and processor seconds."""
    found, waiting = {}, [pid]
    while waiting:
        number = waiting.pop()
        try:
            memory = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
            times = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[11:13]
            for task in Path(f"/proc/{number}/task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
        split, whole = (
            sum(int(line.split()[1]) for line in memory if line.startswith(name)) / 1024 for name in ("Pss:", "Rss:")
        )
        found[number] = split, whole, sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    return found


def command(out: Path, *more: str) -> dict[str, object]:
    """Run the command once."""
    start, peaks, seconds_of = time.perf_counter(), [0.0, 0.0], dict[int, float]()
    with tempfile.TemporaryFile() as shown:
        words = [*PROGRAM, "population", *more, "--out", str(out), "--json"]
        process = subprocess.Popen(words, stdout=shown, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            now = tree(process.pid)
            for place in range(2):
                peaks[place] = max(peaks[place], sum(one[place] for one in now.values()))
            seconds_of |= {number: one[2] for number, one in now.items()}
            time.sleep(max(0.2, (time.perf_counter() - start) / 100))
        assert process.returncode == 0
        shown.seek(0)
        found = json.load(shown)
    taken, processor = time.perf_counter() - start, sum(seconds_of.values())
    return {
        "sessions": found["users"], "pages": found["summary"][0]["pages"], "s": round(taken, 1),
        "cpu_s": round(processor, 1), "mb": round(peaks[0]), "resident_mb": round(peaks[1]),
        "in_workers": round(1.0 - seconds_of[process.pid] / processor, 3),
    }  # fmt: skip


def drawn(sessions: list[int], jobs: tuple[str, ...] = ("1", "2")) -> Iterator[dict[str, object]]:
    """The command on so many sessions."""
    for n in sessions:
        for processes in jobs:
            with tempfile.TemporaryDirectory() as folder:
                words = ["--sessions", str(n), *DRAWN, "--jobs", processes]
                yield {"jobs": int(processes), **command(Path(folder, "out"), *words)}


def parts(trace: Path, n_sessions: int = 1000) -> Iterator[dict[str, object]]:
    """Reading, and each policy, alone in this process."""
    start = time.process_time()
    n_pages = sum(len(traces.pages(session.requests)) for session in islice(traces.sessions(trace), n_sessions))
    taken = time.process_time() - start
    yield {"what": "reading and grouping", "pages_per_cpu_s": round(n_pages / taken)}
    users = list(islice(study.Users(trace, by="session"), n_sessions))
    n_pages = sum(user.n_pages for user in users)
    config = netsim.SimulationConfig()
    spent = 0.0
    for policy in POLICIES:
        names = ("none", policy) if policy != "none" else ("none",)
        compile_express(names, config)
        cut = list(study.tasks(users, names, config, pages_per_task=1000))
        start = time.process_time()
        for task in cut:
            study.compute(task)
        taken = time.process_time() - start
        if policy == "none":
            spent = taken
        else:
            taken -= spent
        yield {"what": policy, "pages_per_cpu_s": round(n_pages / taken)}


def measured() -> Iterator[dict[str, object]]:
    """All figures, as they come; nothing where the archive is not."""
    trace = data()
    if trace is None:
        return
    yield from parts(trace)
    with tempfile.TemporaryDirectory() as folder:
        for number, glob in enumerate(SOME):
            chosen = ["--by", "session", "--member", glob, "--jobs", "2"]
            yield command(Path(folder, str(number)), str(trace), *chosen)


def rows() -> list[dict[str, object]]:
    """All figures as data."""
    return [*drawn([1000]), *measured()]


if __name__ == "__main__":
    for row in drawn([int(word) for word in sys.argv[1:]] or [1000, 10_000]):
        print(row, flush=True)
    if sys.argv[1:]:
        sys.exit()
    if data() is None:
        print("left out: sessions of Boston University, for LPSM_DATA names no folder with them")
    for row in measured():
        print(row, flush=True)
