"""`lpsm cell`: tables of cells, going on where it was stopped, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result

import netsim
import traces
from lpsm.randomness import WORKLOAD, generator

Run = Callable[..., Result]
SMALL = ("cell", "--clients", "1,3", "--pages", "2", "--seeds", "2", "--policies", "psm,twt:200:10", "--jobs", "1")


def test_a_cell_is_that_of_the_library_and_a_client_is_compared_with_itself_without_power_saving(
    lpsm: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    found = json.loads(lpsm(*SMALL, "--out", out, "--json").stdout)
    assert found["policies"] == ["none", "psm:100", "twt:200:10"]
    assert len(found["summary"]) == 3 * 2
    rows = pd.read_csv(out / "clients.csv")
    assert len(rows) == 3 * 2 * (1 + 3)
    config = netsim.SimulationConfig(
        medium=netsim.AirConfig(),
        radio=netsim.Radio.profile("esp32-c6"),
        server_delay=netsim.ServerDelay.parse("lognormal:0.2"),
    )
    pages = [list(traces.generate(2, generator(1, WORKLOAD, client))) for client in range(3)]
    cells = {
        policy: netsim.simulate_cell([(own, policy) for own in pages], config=config, seed=1)
        for policy in ("none", "psm:100")
    }
    own = rows[(rows["clients"] == 3) & (rows["seed"] == 1) & (rows["policy"] == "psm:100")].set_index("client")
    for client, (base, result) in enumerate(zip(*cells.values(), strict=True)):
        assert own.loc[client, "total_j"] == result.energy.total_j
        assert own.loc[client, "slowdown_mean"] == pytest.approx(result.latency_s.mean() / base.latency_s.mean())
    assert (rows.loc[rows["policy"] == "none", "slowdown_mean"] == 1).all()
    assert {file.name for file in out.iterdir()} >= {"cell.txt", "cell.png", "cell.svg", "summary.csv"}


def test_the_same_cells_in_more_processes_are_the_same_bytes(lpsm: Run, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    lpsm(*SMALL, "--out", one)
    lpsm(*SMALL[:-1], "2", "--out", two)
    for file in one.iterdir():
        assert file.read_bytes() == (two / file.name).read_bytes(), file.name


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (["--clients", "0"], "clients must lie in [1, 1000], got 0"),
        (["--clients", "many"], "clients must be whole numbers separated by commas, got 'many'"),
        (["--clients", "2,2"], "clients must be different ones, at least one, got 2,2"),
        (["--policies", "psm,psm:100"], "policies must differ, got psm:100,psm:100"),
        (["--policies", ""], "policies must name at least one policy, got none"),
        (["--pages", "0"], "pages must be at least 1, got 0"),
        (["--seeds", "0"], "seeds at least 1, got 0 and 0"),
        (["--air", "11x"], "kind must be one of"),
    ],
)
def test_a_bad_value_is_one_line_with_rule_and_value(
    complaint: Callable[..., str], tmp_path: Path, arguments: list[str], rule: str
) -> None:
    assert rule in complaint("cell", "--out", tmp_path / "out", *arguments)
    assert not (tmp_path / "out").exists()
