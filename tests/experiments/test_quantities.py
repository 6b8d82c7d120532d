"""Quantities: one declaration, and every table, picture and file shows what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import netsim
import traces
from experiments.cli import main
from experiments.quantities import COMPARISON, ENERGIES, ENERGY_PARTS, POPULATION, RUN, TUNING, energy_parts, run_row
from tests.experiments.browsing import make


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compare three policies with a radio whose wake-ups cost something, and a battery."""
    folder = tmp_path_factory.mktemp("compared")
    words = "compare --pages 4 --seeds 2 --policies psm,lpsm:log --radio cc3235sf --battery-mwh 5000 --jobs 1"
    result = CliRunner().invoke(main, [*words.split(), "--out", str(folder / "out")])
    assert result.exit_code == 0, result.output
    (folder / "printed.txt").write_text(result.stdout)
    return folder


def test_the_parts_of_the_energy_of_a_run_add_up_to_its_total() -> None:
    world = netsim.SimulationConfig(radio=netsim.RadioConfig.profile("cc3235sf"))
    row = run_row(netsim.simulate([traces.Page("", 300, 20_000, think_s=3.0)] * 3, "lpsm", config=world))
    assert tuple(row) == RUN
    assert sum(row[part.name] for part in ENERGY_PARTS) == pytest.approx(row["total_j"], rel=1e-12)
    assert row["wakeup_j"] > 0.01 * row["total_j"]


def test_every_total_and_every_part_a_page_has_its_column_in_the_files(compared: Path) -> None:
    assert set(RUN) <= set(pd.read_csv(compared / "out" / "runs.csv"))
    summary = pd.read_csv(compared / "out" / "summary.csv")
    assert {f"{name}_per_page" for name in ENERGIES} <= set(summary)
    assert {quantity.name for quantity in COMPARISON if "_delay_" not in quantity.name} <= set(summary)
    parts = summary[[part.name for part in energy_parts()]].sum(axis=1)
    assert parts.to_numpy() == pytest.approx(summary["total_j_per_page"].to_numpy(), rel=1e-12)


def test_the_printed_parts_of_a_page_add_up_to_its_energy(compared: Path) -> None:
    header, *lines = (compared / "printed.txt").read_text().splitlines()
    assert header.split()[1:6] == ["J/page", "awake", "sleep", "listen", "wake-up"]
    static = re.sub(r" ± \S+", "", next(line for line in lines if line.startswith("psm:100"))).split()
    assert sum(map(float, static[2:6])) == pytest.approx(float(static[1]), abs=0.021)
    assert float(static[5]) > 0.0


def test_no_quantity_of_a_table_is_declared_twice() -> None:
    for table in (COMPARISON, POPULATION, TUNING):
        names = [quantity.name for quantity in table]
        assert len(names) == len(set(names))


def test_a_population_under_real_beacons_is_measured_against_their_static_psm(tmp_path: Path) -> None:
    trace = make(tmp_path / "sessions", 3)
    words = ["population", str(trace), "--beacon-ms", "102.4", "--jobs", "1", "--out", str(tmp_path / "out"), "--json"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    found = {row["policy"]: row for row in json.loads(result.stdout)["summary"]}
    assert list(found) == ["none", "psm:102.4", "bsd:1", "lpsm:log"]
    assert found["psm:102.4"]["energy_of_all_vs_psm_percent"] == 0.0
    assert found["bsd:1"]["energy_vs_psm_percent_mean"] is not None
    assert found["none"]["energy_of_all_vs_psm_percent"] > 0.0
    assert "than psm:102.4" in (tmp_path / "out" / "population.txt").read_text()
