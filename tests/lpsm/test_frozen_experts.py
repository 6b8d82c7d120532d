"""Learners over experts, the combiner and hindsight give what they gave before they were rewritten.

To 1e-12: sums are added in another order, and weights that leave the range of floats are logarithms now.  Of losses of
a million nats a logarithm keeps ten digits, which Markov-share, in which nothing bounds them from below, has to bear.
"""

import numpy as np
import pytest

from tests.lpsm.frozen_experts.freeze import FILE, combiners, comparators, learners


@pytest.mark.parametrize("part", [learners, combiners, comparators])
def test_what_was_frozen_comes_out_again(part):
    with np.load(FILE) as frozen:
        for name, values in part():
            near = 1e-10 if name.startswith("markov") and "steep" in name else 1e-12
            np.testing.assert_allclose(values, frozen[name], rtol=near, atol=near, err_msg=name)
