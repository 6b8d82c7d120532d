"""Whatever public callables are given, they answer, or refuse it by a documented error, within seconds."""

import pytest

from tests.walk import faults


def test_a_sample_of_hostile_values_meets_a_result_or_a_documented_error():
    wrong, calls, _ = faults(every=79, modules=["lpsm.experts,lpsm.bounds.drift,lpsm.online,traces.traffic"])
    assert not wrong
    assert calls > 50


@pytest.mark.long
def test_every_hostile_value_meets_a_result_or_a_documented_error():
    wrong, _, callables = faults()
    assert not wrong
    assert callables > 300
