"""Random numbers by purpose, so that compared runs meet the same world.

Every draw belongs to a stream of random numbers (its purpose) and an index (the replication or part).  Two policies run
with one seed see the same pages and the same server delays, however differently they order their events.
"""

from __future__ import annotations

import numpy as np

from lpsm.checks import whole

__all__ = ["AIR", "LOSS", "POLICY", "RESUMPTION", "SERVER", "SPLIT", "WORKLOAD", "generator"]
__dir__ = __all__.copy

WORKLOAD, SERVER, LOSS, POLICY, SPLIT, AIR, RESUMPTION = range(7)


def generator(seed: int, stream: int, index: int = 0) -> np.random.Generator:
    """Return the generator of `stream` (one of this module's constants) and `index` under `seed`."""
    whole(0, None, seed=seed, stream=stream, index=index)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(stream, index)))
