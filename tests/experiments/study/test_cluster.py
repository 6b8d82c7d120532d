"""A Dask scheduler and workers on this machine: the same bytes, also when a worker is killed and one is added."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from experiments.study import run as study_run
from experiments.study.store import journal_of
from tests.experiments.makers import PROGRAM, contents, sessions


@pytest.mark.long
def test_a_worker_killed_and_one_added_in_mid_run_change_no_byte(tmp_path):
    distributed = pytest.importorskip("distributed")
    trace, local, out = sessions(tmp_path / "sessions", 200), tmp_path / "local", tmp_path / "out"
    words = [*PROGRAM, "population", str(trace), "--pages-per-task", "5", "--by", "session", "--out"]
    subprocess.run([*words, str(local), "--jobs", "1"], check=True, capture_output=True)
    alone = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50, "local_directory": str(tmp_path)}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **alone) as cluster:
        process = subprocess.Popen([*words, str(out), "--scheduler", cluster.scheduler_address], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)  # fmt: skip
        deadline = time.monotonic() + 300
        while len(journal_of(Path(f"{out}.partial"))) < 5:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.005)
        os.kill(cluster.workers[0].pid, signal.SIGKILL)
        cluster.scale(3)
        assert process.poll() is None, "the run was over before the worker was killed"
        _, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    assert "Traceback" not in stderr
    assert contents(out) == contents(local)


def test_nobody_at_an_address_is_one_clear_line(complaint, workload, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(study_run, "CONNECT_S", 0.5)
    words = ("population", workload, "--scheduler", "tcp://127.0.0.1:1", "--policies", "none")
    assert "no Dask scheduler with a worker answers at tcp://127.0.0.1:1" in complaint(*words, "--out",
        tmp_path / "out")  # fmt: skip
