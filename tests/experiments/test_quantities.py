"""Quantities: one declaration, and every table, picture and file shows what it says."""

import re

import pandas as pd
import pytest

from experiments.quantities import COMPARISON, ENERGIES, ENERGY_PARTS, RUN


def test_every_total_and_every_part_a_page_has_its_column_and_the_parts_add_up(results):
    folder = results("compare").folder  # with a radio whose wake-ups cost something, and a battery
    assert set(RUN) <= set(pd.read_csv(folder / "runs.csv"))
    summary = pd.read_csv(folder / "summary.csv")
    assert {f"{name}_per_page" for name in ENERGIES} <= set(summary)
    always = {quantity.name for quantity in COMPARISON if not re.search("_delay_|clairvoyant", quantity.name)}
    assert always <= set(summary)
    parts = summary[[f"{name}_per_page" for name in ENERGY_PARTS]].sum(axis=1)
    assert parts.to_numpy() == pytest.approx(summary["total_j_per_page"].to_numpy(), rel=1e-12)
    header, *lines = (folder / "comparison.txt").read_text().splitlines()
    assert header.split()[1:6] == ["J/page", "awake", "sleep", "listen", "wake-up"]
    static = re.sub(r" ± \S+", "", next(line for line in lines if line.startswith("psm:102.4"))).split()
    assert sum(map(float, static[2:6])) == pytest.approx(float(static[1]), abs=0.021)
    assert float(static[5]) > 0.0
