"""Streams for tests of samplers, and rounds played one by one."""

import numpy as np

from tests.lpsm.frozen.streams import plain


def a_stream(seed, rounds=400, d=7):
    return plain(d, rounds, seed)


def by_rounds(sampler, X, y):
    """Margins, predictions, questions and what was stored, each (T,)."""
    rows = []
    for x, label in zip(X, y, strict=True):
        decision = sampler.decide(x)
        stored = bool(decision.query) and sampler.learn(x, int(label))
        rows.append((decision.margin, decision.prediction, decision.query, stored))
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def of(log):
    return log.margin, log.prediction, log.queried, log.stored


def assert_same(got, expected, margin_tolerance=1e-8):
    for name, a, b in zip(("prediction", "queried", "stored"), got[1:], expected[1:], strict=True):
        assert np.array_equal(a, b), f"{name} differs first in round {int(np.argmin(np.equal(a, b)))}"
    np.testing.assert_allclose(got[0], expected[0], atol=margin_tolerance, rtol=0)
