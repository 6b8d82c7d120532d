"""What is read is what was written; what cannot be read is said with its place."""

import gzip
import io
import json
from math import log

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from experiments import datasets
from experiments.cli import main
from experiments.datasets import named
from experiments.datasets.words import past_tfidf
from tests.real_data import DATA

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)


@pytest.fixture
def folder(monkeypatch):
    if not DATA.is_dir():
        pytest.skip("no real data here: set LPSM_DATA")
    monkeypatch.setenv("LPSM_DATA", str(DATA))
    return DATA


# -- files -------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(st.tuples(NUMBERS, NUMBERS, st.sampled_from(["ham", "spam"])), min_size=1, max_size=8),
    delimiter=st.sampled_from(",;\t"),
    names=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_a_table_reads_back_exactly_whatever_its_delimiter_and_names(tmp_path_factory, rows, delimiter, names, end):
    lines = [delimiter.join(("first", "second", "class"))] if names else []
    lines += [delimiter.join((repr(a), repr(b), name)) for a, b, name in rows]
    path = tmp_path_factory.mktemp("table") / "t.csv"
    path.write_bytes(end.join([*lines, ""]).encode())
    stream = datasets.read(path)
    np.testing.assert_array_equal(stream.X, [[a, b] for a, b, _ in rows])
    assert [stream.classes[code] for code in stream.y] == [name for *_, name in rows]
    assert list(stream.lines) == list(range(1 + names, len(rows) + 1 + names))


def test_svmlight_npz_and_a_table_of_the_same_examples_are_the_same_stream(tmp_path):
    X, y = np.array([[0.5, 0.0, 2.0], [0.0, -1.25, 0.0], [1e-9, 3.0, 7.0]]), np.array([1, -1, 1])
    (tmp_path / "t.csv").write_text(
        "".join(f"{a!r},{b!r},{c!r},{k:+d}\n" for (a, b, c), k in zip(X.tolist(), y, strict=True))
    )
    svmlight = "".join(
        f"{k:+d} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v) + "  # said\n"
        for row, k in zip(X.tolist(), y, strict=True)
    )
    with gzip.open(tmp_path / "t.svm.gz", "wt") as file:
        file.write(svmlight)
    np.savez(tmp_path / "dense.npz", X=X, y=y)
    rows = sparse.csr_matrix(X)
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": rows.shape}
    np.savez_compressed(tmp_path / "csr.npz", y=y, **parts)
    for name in ("t.csv", "t.svm.gz", "dense.npz", "csr.npz"):
        stream = datasets.read(tmp_path / name)
        dense = stream.X.toarray() if sparse.issparse(stream.X) else stream.X
        np.testing.assert_array_equal(dense, X, err_msg=name)
        assert (stream.classes, list(stream.y)) == (("-1", "1"), [1, 0, 1]), name


def test_one_number_is_one_class_however_it_is_spelt_and_classes_are_in_order_of_value(tmp_path):
    (tmp_path / "t.csv").write_text("1,+1\n2,10\n3,1.0\n4,2\n5,1\n")
    stream = datasets.read(tmp_path / "t.csv")
    assert stream.classes == ("1", "2", "10")
    assert list(stream.y) == [0, 2, 0, 1, 0]


def test_columns_are_chosen_and_left_out_by_name_or_number(tmp_path):
    (tmp_path / "t.csv").write_text("day,class,price\n1,up,3\n2,down,4\n")
    for label, drop in (("class", ("day",)), ("1", ("0",)), ("-2", ("-3",))):
        stream = datasets.read(tmp_path / "t.csv", label=label, drop=drop)
        np.testing.assert_array_equal(stream.X, [[3.0], [4.0]])
        assert stream.classes == ("down", "up")


# -- texts ---------------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["oil", "gas", "corn", "Oil"]), max_size=6), min_size=1, max_size=6))
def test_weights_are_those_of_the_formula_computed_document_by_document(documents):
    rows = past_tfidf(" ".join(words) for words in documents)
    lowered = [[word.lower() for word in words] for words in documents]
    order = list(dict.fromkeys(word for words in lowered for word in sorted(set(words), key=words.index)))
    for n, words in enumerate(lowered):
        expected = np.zeros(max(1, len(order)))
        for word in set(words):
            before = sum(word in earlier for earlier in lowered[:n])
            expected[order.index(word)] = (1 + log(words.count(word))) * (1 + log((1 + n) / (1 + before)))
        norm = np.linalg.norm(expected)
        np.testing.assert_allclose(rows[n].toarray().ravel(), expected / norm if norm else expected, rtol=1e-12)


def test_reuters_is_in_order_of_time_with_the_topics_of_each_document(tmp_path):
    made = [
        ("1987-03-02", 1, ["earn"], "YES", "net profit"), ("1987-03-01", 3, ["earn", "corn"], "YES", "corn profit"),
        ("1987-03-01", 2, [], "YES", "first words"), ("1987-02-01", 4, ["corn"], "NO", "never indexed"),
    ]  # fmt: skip
    (tmp_path / "reuters21578").mkdir()
    with gzip.open(tmp_path / "reuters21578" / "reuters21578.jsonl.gz", "wt") as file:
        for iso, number, topics, indexed, title in made:
            row = {"iso": iso, "newid": number, "topics": topics, "topics_attr": indexed, "title": title, "body": ""}
            file.write(json.dumps(row) + "\n")
    stream = named.reuters(tmp_path, n_topics=2)
    assert stream.classes == ("earn", "corn")
    assert stream.y.tolist() == [[False, False], [True, True], [True, False]]
    assert named.reuters(tmp_path, n_topics=1, all_documents=True).y.shape == (4, 1)


# -- named data sets -----------------------------------------------------------------------------------------


HEAD = b"date,day,period,nswprice,nswdemand,vicprice,vicdemand,transfer,class\n"
ROW = b"0.0,2,0.0,0.056443,0.439155,0.003467,0.422915,0.414912,"
DOCUMENT = {"iso": "1987", "newid": 1, "topics_attr": "YES", "topics": [], "title": "oil", "body": None}


def npz(**arrays):
    written = io.BytesIO()
    np.savez(written, **arrays)
    return written.getvalue()


def csr_parts(**other):
    parts = {"data": [1, 1], "indices": [0, 2], "indptr": [0, 1, 2], "shape": [2, 3], "y": [0, 1], **other}
    return npz(**{name: np.array(part) for name, part in parts.items()})


def digits(width=256, label=9, n_labels=2):
    pixels, labels = np.zeros((2, width), dtype=np.int16), np.full(n_labels, label, dtype=np.int16)
    return npz(X_train=pixels, X_test=pixels, y_train=labels, y_test=labels)


MALFORMED = {
    ("elec2", "elec2/electricity-normalized.csv.gz"): [
        (gzip.compress(b"a,b,c\n1,2,3\n"), "the columns must be date,day,.*,class, got 'a,b,c'"),
        (gzip.compress(b""), "the columns must be .*, got ''"),
        (gzip.compress(HEAD + ROW + b"1\n0.0,2\n"), "line 3: every line must have 9 columns, .* got 2"),
        (gzip.compress(HEAD + ROW.replace(b"2,", b"x,") + b"1\n"), r"line 2, column 1 \(day\): .* got 'x'"),
        (gzip.compress(HEAD + ROW + b"2\n"), r"class must be 0 \(down\) or 1 \(up\), got 2"),
        (gzip.compress(HEAD + ROW + b"1\n")[:40], "a gzip member must be complete, got its end"),
        (gzip.compress(HEAD)[:-8] + b"\xff" * 8, "gzip data must be intact"),
    ],
    ("spam-drift", "spam_katakis_stream/spam_stream.npz"): [
        (b"", "an npz must be a zip file of arrays, got one that begins with b''"),
        (b"junk of no kind", "an npz must be a zip file of arrays, got one that begins with b'junk'"),
        (csr_parts()[:300], "an npz must hold plain arrays, and be whole, got a damaged one"),
        (csr_parts(y=[None, {}]), "an npz must hold plain arrays, and be whole, got y damaged or pickled"),
        (npz(y=np.zeros(2)), "an npz must hold y, and X or data, .* got y"),
        (csr_parts(indices=[0, 3]), r"an index must lie in \[0, 2\]"),
        (csr_parts(data=[1.0, np.inf]), "row 1, feature 2: a feature must be a finite number, got inf"),
        (csr_parts(y=[0, 2]), r"class must be 0 \(ham\) or 1 \(spam\), got 0, 2"),
        (csr_parts(y=[0]), "X must have a row for each of 1 labels"),
    ],
    ("usps", "usps/usps.npz"): [
        (npz(a=np.zeros(2)), "it must hold X_train, X_test, y_train, y_test, got a"),
        (digits(width=255), r"X_train must be whole numbers, 256 a digit, got int16 of shape \(2, 255\)"),
        (digits(label=10), "labels must be digits, got 10 to 10"),
        (digits(n_labels=3), "every digit must have a label, got 4 digits and 6 labels"),
    ],
    ("mnist", "mnist/train-images-idx3-ubyte.gz"): [
        (b"", r"an idx file must begin with 0 0 8 3, got \[\]"),
        (gzip.compress(bytes((0, 0, 8, 3, 0))), "must begin with 3 sizes, got 5 bytes in all"),
        (gzip.compress(bytes((0, 0, 8, 3)) + bytes(12)), "images must be 28 x 28"),
        (gzip.compress(bytes((0, 0, 8, 3)) + b"\xff" * 12), "must hold 79228162458924105385300197375 bytes, got 0"),
    ],
    ("reuters", "reuters21578/reuters21578.jsonl.gz"): [
        (b"", "there must be a document with TOPICS, got none"),
        (gzip.compress(b"junk\n"), "line 1 must be a JSON object with iso, .*, got b'junk"),
        (gzip.compress(json.dumps(DOCUMENT).encode() + b"\n[1]\n"), r"line 2 must be .*, got b'\[1\]"),
        (gzip.compress(json.dumps({**DOCUMENT, "topics": 3}).encode()), "line 1 must be"),
    ],
    ("sms-spam", "sms_spam/SMSSpamCollection"): [
        (b"", "there must be a message, got none"),
        (b"ham\thello\nspam\t\xff\n", "line 2 must be UTF-8, got 0xff"),
    ],
}


@pytest.mark.parametrize(
    ("name", "file", "content", "said"),
    [
        pytest.param(*where, *case, id=f"{where[0]}-{number}")
        for where, cases in MALFORMED.items()
        for number, case in enumerate(cases)
    ],
)
def test_a_malformed_data_set_is_an_error_with_file_rule_and_what_was_found(tmp_path, name, file, content, said):
    path = tmp_path / file
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(ValueError, match=said) as error:
        datasets.load(name, tmp_path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    "words", ["reproduce ours/labelling-elec2 --size smoke --jobs 1", "label elec2 --algorithm ssmd"]
)
def test_commands_end_with_that_error(tmp_path, words):
    path = tmp_path / "elec2" / "electricity-normalized.csv.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(b"a,b,c\n1,2,3\n"))
    folders = ["--data", str(tmp_path), "--out", str(tmp_path / "out")]
    ran = CliRunner().invoke(main, [*words.split(), *folders])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert [line for line in ran.stderr.splitlines() if line.startswith("lpsm: ")] == [
        f"lpsm: {path}: the columns must be date,day,period,nswprice,nswdemand,vicprice,vicdemand,transfer,class, "
        "got 'a,b,c'"
    ]


def test_a_name_without_a_folder_or_files_is_an_error_that_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("LPSM_DATA", raising=False)
    with pytest.raises(ValueError, match="give --data or set LPSM_DATA"):
        datasets.load("usps")
    with pytest.raises(ValueError, match="a data set must be one of elec2, mnist"):
        datasets.load("iris", tmp_path)
    with pytest.raises(FileNotFoundError, match="no such folder of data sets"):
        datasets.load("usps", tmp_path / "absent")
    for name in datasets.names():
        with pytest.raises(FileNotFoundError, match="is not there"):
            datasets.load(name, tmp_path)


@pytest.mark.parametrize(
    ("name", "shape", "positives"),
    [
        ("usps", (9298, 256), {"0": 1553, "9": 821}),
        ("spam-drift", (9324, 39916), {"spam": 2387}),
        ("elec2", (45312, 7), {"up": 19237, "down": 26075}),
        ("sms-spam", (5569, 7760), {"spam": 747}),  # of 5,574, five hold no word
    ],
)
def test_a_named_data_set_has_its_published_size_and_classes(folder, name, shape, positives):
    stream = datasets.load(name)
    assert stream.X.shape == shape
    for positive, count in positives.items():
        assert int((stream.y == stream.classes.index(positive)).sum()) == count
    held = stream.X.data if sparse.issparse(stream.X) else stream.X
    assert np.isfinite(held).all()
    if name == "usps":
        assert held.min() == 0.0
        assert held.max() == 1.0


@pytest.mark.long
def test_mnist_and_reuters_have_their_published_sizes(folder):
    digits = datasets.load("mnist")
    assert digits.X.shape == (70_000, 784)
    assert np.bincount(digits.y[:60_000]).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    news = datasets.load("reuters")
    assert news.classes[:4] == ("earn", "acq", "money-fx", "crude")
    assert int(named.reuters(folder, all_documents=True).y[:, 0].sum()) == 3987
