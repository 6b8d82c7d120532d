"""Whatever is read, of any format, ends in a result or in one error that names the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzzing.running import GRAMMARS, fuzz, outcome, peak_mb, write
from tests.fuzzing.values import Chance


def test_some_hundred_inputs_of_all_formats_are_read_or_refused() -> None:
    found, faults = fuzz(800)
    assert faults == []
    assert sum(one.past_header for one in found.values()) >= 300
    assert sum(one.whole for one in found.values()) >= 100


@pytest.mark.parametrize("name", GRAMMARS)
def test_what_a_grammar_draws_without_anything_nasty_is_valid(name: str, tmp_path: Path) -> None:
    chance, whole = Chance(1), 0
    chance.nasty_share = 0.0
    for _ in range(10):
        path = write(tmp_path, GRAMMARS[name].name, GRAMMARS[name].render(GRAMMARS[name].make(chance)))
        whole += outcome(GRAMMARS[name], path, chance)[0] == "whole"
    assert whole >= 3, f"{whole} of 10"


@pytest.mark.long
def test_a_hundred_thousand_inputs_are_read_or_refused_quickly_and_in_little_memory() -> None:
    found, faults = fuzz(100_000, seed=1)
    assert faults == []
    assert max(one.slowest_s for one in found.values()) < 2.0
    assert peak_mb() < 500
    assert sum(one.past_header for one in found.values()) > 50_000
