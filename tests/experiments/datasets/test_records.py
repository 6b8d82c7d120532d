"""Parquet, JSON lines and tables with texts are the same stream, and what is wrong in them is said with its place."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from experiments import datasets
from experiments.datasets.files import HASHED, hashed

TEXTS = ["cheap pills, buy", 'dear "friend",\nsee you', "cheap friend", ""]
ROWS = [{"size": 0.5 * i, "body": text, "kind": "spam" if "cheap" in text else "ham"} for i, text in enumerate(TEXTS)]


def written(folder, kind):
    path = folder / f"mails.{kind}"
    if kind == "parquet":
        pd.DataFrame(ROWS).to_parquet(path)
    elif kind == "jsonl":
        path.write_text("\n".join(json.dumps(row) for row in ROWS) + "\n\n")
    else:
        with path.open("w", newline="") as file:
            table = csv.DictWriter(file, list(ROWS[0]))
            table.writeheader()
            table.writerows(ROWS)
    return path


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv"])
def test_numbers_texts_and_labels_are_read_from_every_format(tmp_path, kind):
    stream = datasets.read(written(tmp_path, kind), texts=("body",))
    assert stream.classes == ("ham", "spam")
    assert stream.y.tolist() == [1, 0, 1, 0]
    assert stream.X.shape == (4, 1 + HASHED)
    np.testing.assert_array_equal(stream.X[:, [0]].toarray().ravel(), [0.0, 0.5, 1.0, 1.5])
    assert (stream.X[:, 1:] != hashed(TEXTS)).nnz == 0
    plain = datasets.read(written(tmp_path, kind), drop=("body",))
    assert not sparse.issparse(plain.X)
    assert plain.X.tolist() == [[0.0], [0.5], [1.0], [1.5]]


def test_a_hashed_text_is_a_unit_vector_of_its_own_words_whatever_stands_beside_it():
    rows = hashed(["oil and gas", "gas and oil", "pills", ""])
    assert (rows[0] != rows[1]).nnz == 0
    np.testing.assert_allclose(np.sqrt(rows.multiply(rows).sum(axis=1)).ravel(), [[1.0, 1.0, 1.0, 0.0]])
    assert (hashed(["pills"]) != rows[2]).nnz == 0


def test_an_intercept_is_as_large_as_a_feature_of_the_rows_so_far():
    X = np.array([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
    for rows in (X, sparse.csr_matrix(X)):
        stream = datasets.Stream(name="x", X=rows, y=np.zeros(3), classes=(), lines=np.zeros(0, dtype=np.int64))
        for constant, expected in ((None, [3.0, 12.5**0.5, 12.5**0.5]), (1.0, [1.0, 1.0, 1.0])):
            wider = stream.with_intercept(constant).X
            wider = wider.toarray() if sparse.issparse(wider) else wider
            np.testing.assert_allclose(wider[:, 2], expected)
            np.testing.assert_array_equal(wider[:, :2], X)
