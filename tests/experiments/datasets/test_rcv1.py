"""The published files of RCV1: stories in the order of their numbers, wherever they stand, and no pickles."""

import gzip
import io
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from experiments import datasets
from experiments.datasets.named import N_TERMS, rcv1

PARTS = ("train", "test_pt0", "test_pt1", "test_pt2", "test_pt3")
TOPICS = "rcv1-v2.topics.qrels.gz"


@pytest.fixture
def folder(tmp_path):
    """Write twenty stories over the five files, as they are published, and their topics."""
    draw = np.random.default_rng(0)
    (tmp_path / "RCV1").mkdir()
    numbers = draw.permutation(np.arange(2286, 2306))
    topics = []
    for part, of_part in zip(PARTS, np.split(numbers, 5), strict=True):
        text = ""
        for number in of_part:
            terms = np.sort(draw.choice(np.arange(1, 30), 5, replace=False))
            text += f"{number}  " + " ".join(
                f"{term}:{weight:.15f}" for term, weight in zip(terms, draw.random(5), strict=True)
            )
            text += "\n"
            topics += [(name, number) for name, share in (("CCAT", 0.8), ("E11", 0.5), ("M", 0.1))
                       if draw.random() < share]  # fmt: skip
        path = tmp_path / "RCV1" / f"lyrl2004_vectors_{part}.dat"
        path.write_text(text) if part == "test_pt1" else Path(f"{path}.gz").write_bytes(gzip.compress(text.encode()))
    qrels = "".join(f"{name} {number} 1\n" for name, number in topics)
    (tmp_path / "RCV1" / TOPICS).write_bytes(gzip.compress(qrels.encode()))
    return tmp_path


def rewrite(folder, name, text):
    (folder / "RCV1" / name).write_bytes(gzip.compress(text.encode()))


def text(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def test_the_first_stories_and_their_most_frequent_topics_are_those_another_parser_finds(folder):
    stream = rcv1(folder, n_topics=2, documents=12)
    lines = [line for path in (folder / "RCV1").glob("*.dat*") for line in text(path).splitlines()]
    lines.sort(key=lambda line: int(line.split()[0]))
    X, numbers = load_svmlight_file(io.BytesIO("\n".join(lines[:12]).encode()), n_features=N_TERMS, zero_based=False)
    assert numbers.tolist() == list(range(2286, 2298))
    np.testing.assert_array_equal(stream.X.toarray(), X.toarray())
    pairs = {tuple(line.split()[:2]) for line in text(folder / "RCV1" / TOPICS).splitlines()}
    counts = {name: sum((name, str(int(number))) in pairs for number in numbers) for name in ("CCAT", "E11", "M")}
    assert stream.classes == tuple(sorted(counts, key=lambda name: (-counts[name], name))[:2])
    assert stream.y.tolist() == [[(name, str(int(n))) in pairs for name in stream.classes] for n in numbers]
    assert datasets.load("rcv1", folder).X.shape == (20, N_TERMS)


def test_pickles_that_lie_beside_the_files_are_never_loaded(folder):
    class Bomb:
        def __reduce__(self):
            return pytest.fail, ("a pickle was loaded",)

    for name in ("samples_py3.pkl", "sample_id_py3.pkl", "sample_topics_py3.pkl", "topics_names_py3.pkl"):
        (folder / "RCV1" / name).write_bytes(pickle.dumps(Bomb()))
    assert len(rcv1(folder).y) == 20
    (folder / "RCV1" / TOPICS).unlink()
    with pytest.raises(FileNotFoundError):
        rcv1(folder)


@pytest.mark.parametrize(
    ("name", "line", "rule"),
    [
        ("lyrl2004_vectors_train.dat.gz", "x 1:0.5", "line 1: a story must have a number"),
        ("lyrl2004_vectors_train.dat.gz", "1  1:nan", "line 1: a feature must be a finite number"),
        ("lyrl2004_vectors_train.dat.gz", "1  7:0.5 3:0.5", "line 1: indices must grow"),
        ("lyrl2004_vectors_train.dat.gz", "1  47237:0.5", "must be numbers from 1 to 47236"),
        ("lyrl2004_vectors_train.dat.gz", "1  0:0.5", "must be numbers from 1 to 47236"),
        ("lyrl2004_vectors_train.dat.gz", "1 1:0.5\n1 1:0.5", "two of story 1"),
        (TOPICS, "CCAT 2286", "line 1: a line must be a topic"),
        (TOPICS, "CCAT ? 1", "line 1: a story must have a number"),
        (TOPICS, "CCAT 9 1", "must hold the topics of the stories"),
    ],
)
def test_files_that_are_not_as_published_are_refused_with_the_place(folder, name, line, rule):
    rewrite(folder, name, line + "\n")
    with pytest.raises(ValueError, match=rule):
        rcv1(folder)
    with pytest.raises(ValueError, match="documents must be at least 1"):
        rcv1(folder, documents=0)
