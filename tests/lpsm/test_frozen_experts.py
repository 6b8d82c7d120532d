"""Learners over experts, the combiner and hindsight give what they gave before they were rewritten."""

import numpy as np
import pytest

from tests.lpsm.frozen_experts.freeze import FILE, combiners, comparators, learners


@pytest.mark.parametrize("part", [learners, combiners, comparators])
def test_what_was_frozen_comes_out_again(part):
    with np.load(FILE) as frozen:
        for name, values in part():
            np.testing.assert_allclose(values, frozen[name], rtol=1e-12, atol=1e-12, err_msg=name)
