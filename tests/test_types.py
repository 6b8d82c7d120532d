"""What a user writes is clean for type checkers: Python of README, tutorial and front page, and a file of a user."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/index.md", "docs/tutorial.md")
OWN = """
from pathlib import Path

import numpy as np
import pandas as pd

import experiments
import lpsm
import netsim
import traces
from lpsm import LearnAlpha, alpha_grid, hindsight, samplers


class Patient:
    spec, host_aware = "patient", False

    def __init__(self, beacons: int = 3) -> None:
        self.beacons = beacons

    def plan(self, view: netsim.View) -> netsim.Plan:
        return netsim.Plan(view.now_ns, view.now_ns // 10**8 * 10**8 + self.beacons * 10**8)


def energy(policy: netsim.Policy | str, radio: str = "esp32-c6") -> float:
    world = netsim.SimulationConfig(radio=radio, server_delay=0.1, medium="11g:54")
    result = netsim.simulate(traces.generate(3, 0, "1996"), policy, config=world, seed=1)
    frame: pd.DataFrame = result.pages
    return result.energy.per_page_j + float(frame["latency_s"].mean())


def learned(losses: np.ndarray) -> float:
    run = LearnAlpha(n_experts=losses.shape[1], alphas=alpha_grid(horizon=len(losses))).run(losses)
    return float(run.loss.sum()) - hindsight.best_expert(losses).loss


def asked(X: np.ndarray, y: np.ndarray) -> int:
    sampler = samplers.make("sop-ss", n_features=X.shape[1], b=0.5, rng=np.random.default_rng(0))
    decision = sampler.decide(X[0])
    if decision.query:
        sampler.learn(X[0], int(y[0]))
    return int(sampler.run(X, y).queried.sum())


print(energy(Patient()), energy("psm"))
found = experiments.compare(["psm", Patient(2)], traffic=2, world={"server_delay": 0.1}, seeds=2)
found.against("psm").to_csv(Path("against.csv"))
print(experiments.sweep("server_delay", [0, "lognormal:0.2"], ["psm"], 2, seeds=2).table)
lpsm.from_state(LearnAlpha(n_experts=2, alphas=[0.1]).state())
"""
PYRIGHT = shutil.which("pyright")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write the Python of each page, a file a page, and a user's file."""
    folder = tmp_path_factory.mktemp("user")
    for page in PAGES:
        blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
        assert blocks
        (folder / f"{Path(page).stem.lower()}_of_{len(blocks)}.py").write_text("\n".join(blocks))
    (folder / "own.py").write_text(OWN)
    return folder


def checked(*words, folder):
    ended = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.long
def test_mypy_finds_no_fault_in_what_users_write(written):
    (written / "mypy.ini").write_text(f"[mypy]\nmypy_path = {ROOT}\n")
    checked(sys.executable, "-m", "mypy", ".", folder=written)


@pytest.mark.long
@pytest.mark.skipif(PYRIGHT is None, reason="pyright is not installed")
def test_pyright_finds_no_fault_in_what_users_write(written):
    checked(PYRIGHT, "--pythonpath", sys.executable, ".", folder=written)


@pytest.mark.long
def test_what_users_write_runs(written):
    checked(sys.executable, "own.py", folder=written)
