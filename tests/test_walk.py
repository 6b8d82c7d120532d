"""Whatever public callables are given, they answer, or refuse it by a documented error, within two seconds."""

from __future__ import annotations

import pytest

from tests.walk import CLEAN, faults


def test_a_sample_of_hostile_values_meets_a_result_or_a_documented_error():
    wrong, made = faults(every=83, modules=["lpsm.experts", "lpsm.bounds.drift", "lpsm.online", "traces.traffic"])
    assert not wrong
    assert made["calls"] > 50


@pytest.mark.long
def test_every_hostile_value_meets_a_result_or_a_documented_error():
    wrong, made = faults(modules=CLEAN)
    assert not wrong
    assert made["callables"] > 300
