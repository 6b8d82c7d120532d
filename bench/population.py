"""`lpsm population` on the sessions of Boston University: seconds, processor time and memory against their number.

Run ``python -m bench.population`` with LPSM_DATA set (or the data beside the repository).  Each row is the real
command in processes of its own, on some of the users; memory is the sum of the resident sets of all its processes,
shared pages counted in each, sampled every 50 ms.  The last rows are the parts alone, in one process.
"""

from __future__ import annotations

import json
import resource
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
POLICIES = ("none", "psm:100", "bsd:1", "lpsm:log", "lpsm")


def data() -> Path | None:
    """The archive, if it is here."""
    path = DATA / "bu-www-client" / "condensed.tar.xz"
    return path if path.exists() else None


def tree_mb(pid: int) -> float:
    """Resident memory of a process and all its children, MB."""
    total, waiting = 0.0, [pid]
    while waiting:
        number = waiting.pop()
        try:
            status = Path(f"/proc/{number}/status").read_text()
            for task in Path(f"/proc/{number}/task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024
    return total


def command(trace: Path, out: Path, *more: str) -> dict[str, object]:
    """Run the command once."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    arguments = ["population", str(trace), "--by", "session", "--out", str(out), "--json", *more]
    peak = 0.0
    with tempfile.TemporaryFile() as shown:
        process = subprocess.Popen([*PROGRAM, *arguments], stdout=shown, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            peak = max(peak, tree_mb(process.pid))
            time.sleep(0.05)
        seconds = time.perf_counter() - start
        assert process.returncode == 0
        shown.seek(0)
        found = json.load(shown)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    users, pages = found["users"], found["summary"][0]["pages"]
    return {"sessions": users, "pages": pages, "s": round(seconds, 1), "cpu_s": round(processor, 1), "mb": round(peak)}


def parts(trace: Path, n_sessions: int = 1000) -> Iterator[dict[str, object]]:
    """Reading, and each policy, alone in this process."""
    start = time.process_time()
    n_pages = sum(len(traces.pages(session.requests)) for session in islice(traces.sessions(trace), n_sessions))
    taken = time.process_time() - start
    yield {"what": "reading and grouping", "pages_per_cpu_s": round(n_pages / taken)}
    users = list(islice(study.users(trace, by="session"), n_sessions))
    n_pages = sum(user.n_pages for user in users)
    config = netsim.SimulationConfig()
    spent = 0.0
    for policy in POLICIES:
        names = ("none", policy) if policy != "none" else ("none",)
        compile_express(names, config)
        cut = study.tasks(users, names, config)
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
            yield command(trace, Path(folder, str(number)), "--member", glob, "--jobs", "2")


def rows() -> list[dict[str, object]]:
    """All figures as data."""
    return list(measured())


if __name__ == "__main__":
    if data() is None:
        print("left out: sessions of Boston University, for LPSM_DATA names no folder with them")
    for row in measured():
        print(row, flush=True)
