"""A sampler answers the same whatever ran before it in its process: kernels loaded first do not serve others."""

import subprocess
import sys

import pytest

CODE = """
import sys
import numpy as np
from lpsm import samplers

rng = np.random.default_rng(0)
X = np.where(rng.random((300, 400)) < 0.02, rng.random((300, 400)), 0.0) + 1e-3
y = np.where(X @ rng.normal(size=400) >= 0, 1, -1)
for key in sys.argv[1:]:
    Z = rng.normal(size=(500, 2))
    samplers.make(key, 2, rng=np.random.default_rng(1)).run(Z, np.where(Z[:, 0] > 0, 1, -1))
log = samplers.make("sop", 400, kernel="linear").run(X, y)
print(log.prediction.tolist(), np.round(log.margin, 9).tolist())
"""


def predictions(*before):
    done = subprocess.run([sys.executable, "-c", CODE, *before], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.long
def test_a_dual_sampler_answers_as_in_a_fresh_process_after_primal_ones():
    assert predictions("rls-all", "sop") == predictions()
