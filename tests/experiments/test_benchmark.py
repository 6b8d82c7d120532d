"""The benchmark: what is browsed, what is told, and that a second run tells the same."""

import json

import numpy as np
import pytest

import netsim
from experiments import benchmark
from experiments.study.hull import above

KEPT = benchmark.REGISTERED
FEW = ("none", "psm", "hold:50", "lpsm3:1.2:400", "poll:12.8")
HOLDS_LONG = """
from types import SimpleNamespace
from netsim.policies.host import HoldThenBeacons
class Long(HoldThenBeacons):
    def __init__(self):
        super().__init__(77)
        self.config = SimpleNamespace(max_slowdown=1.001)
"""


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(benchmark, "REGISTERED", FEW)
    monkeypatch.setattr(benchmark, "WORLDS", {"web-constant": (300, 600, 3), "push-bursty": (300, 600, 3)})


def test_the_whole_hull_is_of_the_registry_and_worlds_are_seeds_of_two_splits():
    listed, quick = (benchmark.tasks([], quick=is_quick, split="held-out") for is_quick in (False, True))
    assert len(listed) == 6 > len(quick) == 4
    assert {task.seed for task in listed.values()} == {770_000, 770_001, 770_002}
    assert {task.seconds for task in quick.values()} == {300.0}
    kinds = {name.partition(":")[0] for name in KEPT}
    assert kinds >= netsim.policies.registry().keys() - {"driver", "psm"}  # psm is listen:1


def test_a_mixture_is_where_its_parts_are_and_what_is_quickest_has_none():
    measures = np.array([[[1.1], [1.0], [1.2]]]).repeat(2, axis=0)
    joules = np.array([[6.0, 8.0, 2.0], [6.0, 8.0, 2.0]])
    assert above(measures, joules) == pytest.approx([20.0, 20.0])
    both = np.array([[[1.0, 0.1], [1.1, 0.1], [1.0, 0.3]]])
    assert np.isnan(above(both, joules[:1])).all()


def test_a_policy_of_ones_own_is_held_against_the_others_and_a_second_run_tells_the_same(lpsm, tmp_path):
    (tmp_path / "mine.py").write_text(HOLDS_LONG)
    for name in "ab":
        own = f"{tmp_path / 'mine.py'}:Long"
        done = lpsm("benchmark", "--quick", "--policies", own, "--jobs", "1", "--out", tmp_path / name)
        assert done.exit_code == 0, done.output
    texts = [(tmp_path / name / "benchmark.json").read_text() for name in "ab"]
    assert texts[0] == texts[1]
    found = json.loads(texts[0])
    assert found["schema"] == benchmark.SCHEMA
    rows = {(row["world"], row["policy"]): row for row in found["results"]}
    names = {*FEW, "psm:100", "hold:77"} - {"psm"}
    assert rows.keys() == {(world, name) for world in benchmark.WORLDS for name in names}
    web = rows["web-constant", "hold:77"]
    assert web["times_clairvoyant"] > 1.0
    assert (web["kept_percent"], rows["web-constant", "hold:50"]["kept_percent"]) == (0.0, None)
    assert rows["web-constant", "lpsm3:1.2:400"]["kept_percent"] in (0.0, 50.0, 100.0)
    assert rows["push-bursty", "hold:77"]["slowdown_mean"] is None
    assert (tmp_path / "a" / "benchmark.md").read_text().count("\n|`hold:77`|") == 1
    assert (tmp_path / "a" / "benchmark.png").read_bytes()[:4] == b"\x89PNG"
