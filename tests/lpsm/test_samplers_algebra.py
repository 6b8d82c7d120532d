"""The samplers' products and solutions against numpy's, in every remainder of the loops that take four at a time."""

import numpy as np
import pytest

from lpsm.samplers.compiled.algebra import downdate, product, product_upper, solve_lower, solve_upper


def symmetric(d):
    rng = np.random.default_rng(d)
    root = rng.normal(size=(d, d))
    return root @ root.T + np.eye(d), rng.normal(size=d)


@pytest.mark.parametrize("d", range(1, 11))
def test_products_with_dense_and_sparse_vectors_are_numpys(d):
    matrix, x = symmetric(d)
    upper = np.where(np.tri(d, k=-1) > 0, np.nan, matrix)  # what is below the diagonal is not read
    some = np.array([i for i in range(d) if i % 3 != 1], dtype=np.int64)
    blank, full = np.zeros(0, dtype=np.int64), np.zeros(d)
    full[some] = x[some]
    for values, columns, sparse, expected in ((x, blank, False, matrix @ x), (x[some], some, True, matrix @ full)):
        g = np.full(d, 7.0)
        product(matrix, values.copy(), columns, len(values), sparse, g)
        assert g == pytest.approx(expected, rel=1e-12)
        g[:] = 0.0
        product_upper(upper, values.copy(), columns, len(values), sparse, g)
        assert g == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("d", [1, 3, 6])
def test_waiting_rows_are_subtracted_and_triangles_solved(d):
    matrix, x = symmetric(d)
    waiting = np.random.default_rng(1).normal(size=(8, d))
    expected = matrix - waiting.T @ waiting + 0.25 * np.eye(d)
    given = matrix.copy()
    downdate(given, waiting, 0.25)
    assert given == pytest.approx(expected, rel=1e-12)
    upper, v, out = np.triu(matrix), x.copy(), np.zeros(d)
    solve_lower(upper, d, v)
    assert v == pytest.approx(np.linalg.solve(upper.T, x), rel=1e-9)
    solve_upper(upper, d, x, out)
    assert out == pytest.approx(np.linalg.solve(upper, x), rel=1e-9)
