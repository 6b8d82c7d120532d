"""A real Dask scheduler and real workers on this machine: the same bytes, also when a worker is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.study import executor
from tests.experiments.makers import PROGRAM, contents, sessions

pytest.importorskip("distributed")
DASK = [sys.executable, "-m", "dask"]
QUIET = {**os.environ, "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error"}


class Loopback:
    """A scheduler and two workers of one thread each, started with Dask's own commands."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        file = folder / "scheduler.json"
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        deadline = time.monotonic() + 60
        while not (file.exists() and file.read_text().strip().endswith("}")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.address = json.loads(file.read_text())["address"]
        self.workers = [self.add_worker(), self.add_worker()]

    def add_worker(self):
        return self._start(
            "worker", self.address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard",
            "--local-directory", str(self.folder),
        )  # fmt: skip

    def _start(self, *arguments):
        process = subprocess.Popen(
            [*DASK, *arguments], env=QUIET, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder
        )
        self.processes.append(process)
        return process

    def wait_for_workers(self, n_workers):
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(n_workers, timeout=60)

    def stop(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.kill()
            process.wait()


@pytest.fixture(scope="module")
def loopback(tmp_path_factory):
    started = Loopback(tmp_path_factory.mktemp("dask"))
    try:
        started.wait_for_workers(2)
        yield started
    finally:
        started.stop()


def command(trace, out, *more):
    return [*PROGRAM, "population", str(trace), "--pages-per-task", "5", "--by", "session", "--out", str(out), *more]


@pytest.mark.long
def test_a_worker_killed_in_mid_run_changes_no_byte(loopback, tmp_path):
    trace, local, out = sessions(tmp_path / "sessions", 200), tmp_path / "local", tmp_path / "out"
    subprocess.run(command(trace, local, "--jobs", "1"), check=True, capture_output=True)
    process = subprocess.Popen(
        command(trace, out, "--scheduler", loopback.address), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while len(list(Path(f"{out}.partial").glob("users/*.parquet"))) < 5:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    loopback.workers[0].send_signal(signal.SIGKILL)
    assert process.poll() is None, "the run was over before the worker was killed"
    _, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    assert "Traceback" not in stderr
    assert contents(out) == contents(local)


def test_nobody_at_an_address_is_one_clear_line(complaint, tmp_path, monkeypatch):
    monkeypatch.setattr(executor, "CONNECT_S", 0.5)
    trace = sessions(tmp_path / "sessions", 2)
    line = complaint(
        "population", trace, "--scheduler", "tcp://127.0.0.1:1", "--policies", "none", "--out", tmp_path / "out"
    )
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in line
