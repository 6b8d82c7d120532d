"""The samplers' products and solutions against numpy's, in every remainder of the loops that take four at a time."""

import numpy as np
import pytest

from lpsm.samplers import rows
from lpsm.samplers.rows import (
    Row,
    add,
    along,
    dot,
    downdate,
    gather_dot,
    product,
    product_upper,
    solve_lower,
    solve_upper,
)


def symmetric(d):
    rng = np.random.default_rng(d)
    root = rng.normal(size=(d, d))
    return root @ root.T + np.eye(d), rng.normal(size=d)


@pytest.mark.parametrize("d", range(1, 11))
def test_products_with_dense_and_sparse_vectors_are_numpys(d):
    matrix, x = symmetric(d)
    upper = np.where(np.tri(d, k=-1) > 0, np.nan, matrix)  # what is below the diagonal is not read
    some = np.array([i for i in range(d) if i % 3 != 1], dtype=np.int32)
    blank, full = np.zeros(0, dtype=np.int32), np.zeros(d)
    full[some] = x[some]
    for values, columns, sparse, expected in ((x, blank, False, matrix @ x), (x[some], some, True, matrix @ full)):
        g, row = np.full(d, 7.0), Row(values.copy(), columns, len(values), sparse)
        product(matrix, row, g)
        assert g == pytest.approx(expected, rel=1e-12)
        g[:] = 0.0
        product_upper(upper, row, g)
        assert g == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", range(19))
def test_inner_products_and_sums_are_numpys_and_read_no_further(n):
    rng = np.random.default_rng(n)
    a, b = np.full((2, n + 3), np.nan)
    a[:n], b[:n], at = rng.normal(size=n), rng.normal(size=n), rng.permutation(n + 3)[:n].astype(np.int32)
    assert dot(a, b, n) == pytest.approx(a[:n] @ b[:n], abs=1e-12)
    dense = rng.normal(size=n + 3)
    assert gather_dot(a, at, n, dense) == pytest.approx(a[:n] @ dense[at], abs=1e-12)
    for columns, sparse in ((at, True), (np.arange(n, dtype=np.int32), False)):
        assert along(Row(a, columns, n, sparse), dense) == pytest.approx(a[:n] @ dense[columns], abs=1e-12)
        sums, expected = dense.copy(), dense.copy()
        expected[columns] += -1.5 * a[:n]
        add(sums, -1.5, Row(a, at, n, sparse))
        assert sums == pytest.approx(expected, abs=1e-12)


def test_of_wide_matrices_the_upper_triangle_is_kept(monkeypatch):
    matrix, x = symmetric(6)
    waiting = np.random.default_rng(1).normal(size=(8, 6))
    downdate(matrix.copy(), waiting, 0.25)  # compiled, and kept on disk, as it is
    product(matrix, Row(x, np.zeros(0, dtype=np.int32), 6, False), np.zeros(6))
    monkeypatch.setattr(rows, "WIDE", 5)  # seen by plain Python alone; compiled code goes on reading all of it
    given = matrix.copy()
    downdate(given, waiting, 0.25)
    expected = matrix - waiting.T @ waiting + 0.25 * np.eye(6)
    assert np.triu(given) == pytest.approx(np.triu(expected), rel=1e-12)
    if rows.downdate is getattr(rows.downdate, "py_func", rows.downdate):
        assert np.tril(given, -1) == pytest.approx(np.tril(matrix, -1))
    g = np.full(6, 7.0)
    product(matrix, Row(x, np.zeros(0, dtype=np.int32), 6, False), g)
    assert g == pytest.approx(matrix @ x, rel=1e-12)


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
