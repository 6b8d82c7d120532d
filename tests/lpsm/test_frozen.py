"""Every sampler answers as it did when its answers were written down, from dense and from sparse rows."""

from __future__ import annotations

import pytest
from scipy import sparse

from lpsm import samplers
from tests.lpsm.frozen.streams import PARAMETERS, cases, close, read, run

ANSWERS = read()


def test_every_key_has_answers_and_every_answer_a_case():
    assert set(PARAMETERS) == set(samplers.keys())
    assert [name for name, *_ in cases()] == list(ANSWERS)


@pytest.mark.parametrize("key", samplers.keys())
def test_predictions_questions_stores_margins_and_weights_are_those_of_then(key):
    for name, make, X, y in cases():
        if name.split()[0] == key:
            for rows in (X, sparse.csr_matrix(X)):
                assert close(name, run(make, rows, y), ANSWERS[name]), name
