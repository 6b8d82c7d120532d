"""The regrets of section 2.4: Fixed-share at wrong rates, and Learn-alpha, against the best rate in hindsight."""

import numpy as np
import pytest

from experiments.papers.thesis import tracking
from lpsm import FixedShare, alpha_grid, hindsight
from lpsm.randomness import WORKLOAD, generator
from lpsm.synthetic import fast_switching


def test_regrets_are_losses_beyond_the_best_rate_and_learn_alpha_keeps_its_bound():
    rows = {row["learner"]: row["regret"] for row in tracking.regrets(500, run=1, seed=3)}
    losses = fast_switching(generator(3, WORKLOAD, 1), 500, tracking.N_EXPERTS, rate=tracking.RATE, scale=3.0).losses
    best = hindsight.alpha_losses(losses, np.geomspace(1e-4, 1.0, 400)).min()
    for rate in tracking.WRONG:
        own = FixedShare(tracking.N_EXPERTS, rate).run(losses).loss.sum()
        assert rows[f"Fixed-share at {rate:g}"] == pytest.approx(own - best)
    size = len(alpha_grid(horizon=500))
    assert rows[tracking.OWN] <= np.log(size) + 0.5 + 1e-9
    assert min(rows["Fixed-share at 0.005"], rows["Fixed-share at 0.5"]) > rows[tracking.OWN]
