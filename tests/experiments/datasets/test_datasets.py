"""What is read is what was written; what cannot be read is said with its place."""

import gzip
import io
import json
from math import log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from experiments import datasets
from experiments.datasets import named
from experiments.datasets.files import HASHED, hashed
from experiments.datasets.words import past_tfidf
from experiments.papers import news
from experiments.papers.kit import Setup
from experiments.papers.registry import all_experiments
from tests.real_data import DATA
from tests.tables import cases_of, each, rows, value_error

NUMBERS = st.floats(allow_subnormal=True, allow_nan=False, allow_infinity=False)
ALL = all_experiments()
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="no real data here: set LPSM_DATA")


# -- files -------------------------------------------------------------------------------------------------
@settings(max_examples=30)
@given(rows=st.lists(st.tuples(NUMBERS, NUMBERS, st.sampled_from(["ham", "spam"])), min_size=1, max_size=8),
    delimiter=st.sampled_from(",;\t"), names=st.booleans(), end=st.sampled_from(["\n", "\r\n"]))  # fmt: skip
def test_a_table_reads_back_exactly_whatever_its_delimiter_and_names(tmp_path_factory, rows, delimiter, names, end):
    lines = [delimiter.join(("first", "second", "class"))] if names else []
    lines += [delimiter.join((repr(a), repr(b), name)) for a, b, name in rows]
    path = tmp_path_factory.mktemp("table") / "t.csv"
    path.write_bytes(end.join([*lines, ""]).encode())
    stream = datasets.read(path)
    assert_array_equal(stream.X, [[a, b] for a, b, _ in rows])
    assert [stream.classes[code] for code in stream.y] == [name for *_, name in rows]
    assert list(stream.lines) == list(range(1 + names, len(rows) + 1 + names))


def test_the_same_examples_are_the_same_stream_in_every_format(tmp_path):
    X, y = np.array([[0.5, 0.0, 2.0], [0.0, -1.25, 0.0], [1e-9, 3.0, 7.0]]), np.array([1, -1, 1])
    table, rows = pd.DataFrame(X, columns=[*"abc"]).assign(label=y), sparse.csr_matrix(X)
    table.to_csv(tmp_path / "t.csv", index=False)
    with gzip.open(tmp_path / "t.svm.gz", "wt") as file:
        file.write("+1 1:0.5 3:2 # said\n\n-1 qid:1 2:-1.25\n# nothing\n1 1:1e-9 2:3 3:7\n")
    np.savez(tmp_path / "dense.npz", X=X, y=y)
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": rows.shape}
    np.savez_compressed(tmp_path / "csr.npz", y=y, **parts)
    for path in tmp_path.iterdir():
        stream = datasets.read(path)
        dense = stream.X.toarray() if sparse.issparse(stream.X) else stream.X
        assert_array_equal(dense, X, err_msg=path.name)
        assert (stream.classes, list(stream.y)) == (("-1", "1"), [1, 0, 1]), path.name
        if path.name.startswith("t.svm"):
            assert stream.lines.tolist() == [1, 3, 5]


TEXTS = ["cheap pills, buy", 'dear "friend",\nsee you', "cheap friend", ""]
MAILS = pd.DataFrame({"size": np.arange(4) / 2, "body": TEXTS, "kind": ["spam", "ham", "spam", "ham"]})


def test_numbers_texts_and_labels_are_read_from_a_table(tmp_path):
    path = tmp_path / "mails.csv"
    MAILS.to_csv(path, index=False)
    stream = datasets.read(path, texts=("body",))
    assert (stream.classes, stream.y.tolist(), stream.X.shape) == (("ham", "spam"), [1, 0, 1, 0], (4, 1 + HASHED))
    assert_array_equal(stream.X[:, [0]].toarray().ravel(), MAILS["size"])
    assert (stream.X[:, 1:] != hashed(TEXTS)).nnz == 0
    assert stream.lines.tolist() == [2, 4, 5, 6]
    assert datasets.read(path, drop=("body",)).X.tolist() == [[0.0], [0.5], [1.0], [1.5]]


@each("text, X, names, lines",
    [
        ('# made by hand\n\na;b;"of a ""kind"""\n1;-2.5;x\n\n+3;1e2;"y\n;"\n 4;.5;x\n;;\n5;6;" z "\n',
         [[1.0, -2.5], [3.0, 100.0], [4.0, 0.5], [5.0, 6.0]], ["x", "y\n;", "x", "z"], [4, 7, 8, 10]),
        ("1,+1\n2,10\n3,1.0\n4,2\n5,1\n", [[1.0], [2.0], [3.0], [4.0], [5.0]], ["1", "10", "1", "2", "1"],
         [1, 2, 3, 4, 5]),
    ],
)  # fmt: skip
def test_a_text_is_read_as_it_stands(tmp_path, text, X, names, lines):
    (tmp_path / "t").write_text(text)
    stream = datasets.read(tmp_path / "t")
    assert_array_equal(stream.X, X)
    assert [stream.classes[k] for k in stream.y] == names
    assert stream.lines.tolist() == lines
    assert stream.classes in (("x", "y\n;", "z"), ("1", "2", "10"))  # numbers by their value


@cases_of("whole", "False ; True")
@cases_of("label", "None ; 'y' ; '3'")
@cases_of("indexed", "False ; True")
def test_a_table_whose_columns_nobody_named_is_read_as_pandas_writes_it(tmp_path, whole, label, indexed):
    X = np.array([[3, 5, 8], [1, 0, 4], [2, 2, 2]]) * (1 if whole else 0.25)
    frame = pd.DataFrame(X).assign(**{label or "3": [7, 9, 7]})
    frame.to_csv(tmp_path / "t.csv", index=indexed)
    if whole and label != "y" and not indexed:
        with value_error(r"t.csv: line 1: columns must have names, for 0,1,2,3 may be their numb"):
            datasets.read(tmp_path / "t.csv", label=label)
        return
    stream = datasets.read(tmp_path / "t.csv", label=label)
    assert_array_equal(stream.X, X)
    assert (stream.classes, stream.y.tolist()) == (("7", "9"), [0, 1, 0])


@each("text", ["0,1,x\n2,3.5,y\n1,2,x\n", "0,1,x\n.5,1.5,y\n.5,2.5,x\n", "0,1,1\n1,1,0\n", "0,1\n"])
def test_a_first_example_of_0_1_is_none_of_names(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    if text == "0,1\n":
        assert datasets.read(tmp_path / "t.csv").X.tolist() == [[0.0]]
    else:
        assert datasets.read(tmp_path / "t.csv").X[0].tolist() == [0.0, 1.0]


def test_columns_are_chosen_and_left_out_by_name_or_number(tmp_path):
    (tmp_path / "t.csv").write_text("day,class,price\n1,up,3\n2,down,4\n")
    for label, drop in (("class", ("day",)), ("1", ("0",)), ("-2", ("-3",))):
        stream = datasets.read(tmp_path / "t.csv", label=label, drop=drop)
        assert_array_equal(stream.X, [[3.0], [4.0]])
        assert stream.classes == ("down", "up")


def test_an_intercept_is_as_large_as_a_feature_of_the_rows_so_far():
    X = np.array([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
    for form in (X, sparse.csr_matrix(X)):
        stream = datasets.Stream(name="x", X=form, y=np.zeros(3), classes=())
        for constant, expected in ((None, [3.0, 12.5**0.5, 12.5**0.5]), (1.0, [1.0, 1.0, 1.0])):
            wider = sparse.csr_matrix(stream.with_intercept(constant).X).toarray()
            np.testing.assert_allclose(wider, np.column_stack([X, expected]))


# -- texts ---------------------------------------------------------------------------------------------------
@settings(max_examples=50)
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
    made = [("1987-03-02", 1, ["earn"], "YES", "net profit"), ("1987-03-01", 3, ["earn", "corn"], "YES", "corn profit"),
        ("1987-03-01", 2, [], "YES", "first words"), ("1987-02-01", 4, ["corn"], "NO", "never indexed")]  # fmt: skip
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
def npz(**arrays):
    written = io.BytesIO()
    np.savez(written, **arrays)
    return written.getvalue()


def digits(width=256, label=9, kind=np.int16):
    pixels, labels = np.zeros((2, width), kind), np.full(2, label, np.int16)
    return npz(X_train=pixels, X_test=pixels, y_train=labels, y_test=labels)


def document(**changed):
    row = {"iso": "1987", "newid": 1, "topics_attr": "YES", "topics": [], "title": "oil", "body": None, **changed}
    return json.dumps(row).encode() + b"\n"


# a data set, what stands in its file, and what is said of it
MALFORMED = rows(r"""
"elec2", gzip.compress(b"a,b,c\n1,2,3\n", mtime=0) -> drop must name one of the columns a, b, c, got 'date'
"elec2", gzip.compress(b"date,day,class\n0.0,2,2\n0.1,1,1\n", mtime=0)
 -> classes must be 0 \(down\) and 1 \(up\), got 1, 2
"elec2", gzip.compress(b"date,day,class\n0.0,2,1\n", mtime=0)[:20] -> a gzip member must be complete, got its end
"spam-drift", npz(y=np.zeros(2)) -> an npz must hold y, and X or data, .* got y
"usps", npz(a=np.zeros(2)) -> it must hold X_train, X_test, y_train, y_test, got none of them
"usps", digits(width=255) -> digits must be 256 whole numbers each, .* got int16 of shape \(4, 255\)
"usps", digits(label=10) -> labels must be digits, got 10 to 10
"usps", digits(kind="U1") -> digits must be 256 whole numbers each
"mnist", b"" -> an idx file must begin with 0 0 8 3, got \[\]
"mnist", gzip.compress(bytes((0, 0, 8, 3)) + b"\xff" * 12, mtime=0) -> allowed dimension|reshape
"reuters", b"" -> there must be a document with TOPICS, got none
"reuters", gzip.compress(document() + b"[1]\n", mtime=0) -> line 2 must be .*, got b'\[1\]
"reuters", gzip.compress(document(topics=3), mtime=0) -> line 1 must be ; "sms-spam", b"" -> a tab and a text, got none
"sms-spam", b"ham\thello\nspam\t\xff\n" -> codec can't decode byte 0xff
"sms-spam", b"ham\thello\nspam\n" -> must be ham or spam, a tab and a text, got \[\['spam', ''\]\]
""", globals())  # fmt: skip
SETS = dict(part.split(" = ") for part in """\
elec2 = elec2/electricity-normalized.csv.gz
spam-drift = spam_katakis_stream/spam_stream.npz
usps = usps/usps.npz
mnist = mnist/train-images-idx3-ubyte.gz
reuters = reuters21578/reuters21578.jsonl.gz
sms-spam = sms_spam/SMSSpamCollection
""".splitlines())  # fmt: skip


@each("name, content, said", MALFORMED)
def test_a_malformed_data_set_is_an_error_with_file_rule_and_what_was_found(tmp_path, name, content, said):
    path = tmp_path / SETS[name]
    path.parent.mkdir()
    path.write_bytes(content)
    with value_error(said) as error:
        datasets.load(name, tmp_path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_name_without_a_folder_or_files_is_an_error_that_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("LPSM_DATA", raising=False)
    with value_error("give --data or set LPSM_DATA"):
        datasets.load("usps")
    with value_error("a data set must be one of elec2, mnist"):
        datasets.load("iris", tmp_path)
    with pytest.raises(FileNotFoundError, match="no such folder of data sets"):
        datasets.load("usps", tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match="is not there"):
        datasets.load("usps", tmp_path)


MARKS = {"mnist": pytest.mark.long}
SIZES = """
"usps", (9298, 256), [1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821] ; "spam-drift", (9324, 39916), [6937, 2387]
"elec2", (45312, 7), [26075, 19237]
"sms-spam", (5569, 7760), [4822, 747]  # of 5,574, five hold no word
"mnist", (70_000, 784), [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]
"""


@needs_data
@each("name, shape, count", [pytest.param(*row, marks=MARKS.get(row[0], ())) for row in rows(SIZES)])
def test_a_named_data_set_has_its_published_size_and_classes(name, shape, count):
    stream = datasets.load(name, DATA)
    assert stream.X.shape == shape
    assert np.bincount(stream.y).tolist() == count
    if name in ("usps", "mnist"):
        assert (stream.X.min(), stream.X.max()) == (0.0, 1.0)


@needs_data
@pytest.mark.long
def test_reuters_has_its_published_topics():
    assert datasets.load("reuters", DATA).classes[:4] == ("earn", "acq", "money-fx", "crude")
    assert int(named.reuters(DATA, all_documents=True).y[:, 0].sum()) == 3987


# -- RCV1, in the layouts that it has ------------------------------------------------------------------------------
STORIES = {2286: "recov recov oil", 2287: "oil", 2290: "gas gas", 2292: "oil gas"}
TOPICS = "C15 2286 1\nCCAT 2286 1\nCCAT 2287 1\nC15 2292 1\nCCAT 2292 1\nE11 9999 1\n"


def test_rcv1_is_read_from_its_token_files_in_order_of_time_and_its_weights_know_the_past_alone(tmp_path):
    folder = tmp_path / "rcv1"
    folder.mkdir()
    for name, numbers in {"train.dat": (2286, 2287), "test_pt0.dat.gz": (2290, 2292)}.items():
        lines = "".join(f".I {one}\n.W\n" + STORIES[one].replace(" ", "\n", 1) + "\n\n" for one in numbers)
        (gzip.open if name.endswith("gz") else open)(folder / f"lyrl2004_tokens_{name}", "wt").write(lines)
    (folder / "rcv1-v2.topics.qrels").write_text(TOPICS)
    stream = named.rcv1(tmp_path)
    assert (stream.classes, stream.name) == (("CCAT", "C15"), "rcv1")
    assert stream.y.astype(int).tolist() == [[1, 1], [1, 0], [0, 0], [1, 1]]
    assert (past_tfidf(STORIES.values()) != stream.X).nnz == 0
    first = named.rcv1(tmp_path, 1, documents=3)
    assert (first.X.shape[0], first.classes) == (3, ("CCAT",))
    task = {"stand_in": False, "folder": str(tmp_path), "seed": 0, "documents": 2, "rank": 1}
    assert news.question(task)[1].tolist() == [1, -1]
    setup = Setup(data=tmp_path)
    assert news.NEWS.told("rcv1") == "RCV1"
    assert (made := ALL["rls/fig-2"].setup(setup)).material == "rcv1"
    assert {one["documents"] for one in ALL["rls/fig-2"].sweep(made).values()} == {40_000}
    assert len(ALL["adaptive/fig-9"].sweep(made)) == 32
    for text, said in {".W\nx\n": "line 1 must begin a story", ".I 7\n.I 7\n": "go up in number, got 7 after 7",
                       ".I x\n": "line 1 must have 2 words"}.items():  # fmt: skip
        (folder / "lyrl2004_tokens_train.dat").write_text(text)
        with value_error(said):
            named.rcv1(tmp_path)


def test_rcv1_is_read_as_scikit_learn_keeps_it_and_not_looked_for_where_it_is_not(tmp_path):
    import joblib

    folder = tmp_path / "rcv1" / "RCV1"
    folder.mkdir(parents=True)
    with pytest.raises(FileNotFoundError, match="token files"):
        named.rcv1(tmp_path)
    X, y = sparse.csr_matrix(np.diag([1.0, 2.0, 3.0])), sparse.csr_matrix(np.array([[0, 1], [1, 1], [0, 0]], np.uint8))
    kept = {"samples": X, "sample_id": np.array([9, 5, 7], np.uint32), "sample_topics": y,
            "topics_names": np.array(["C15", "CCAT"], object)}  # fmt: skip
    for name, array in kept.items():
        joblib.dump(array, folder / f"{name}_py3.pkl", compress=9)
    stream = named.rcv1(tmp_path, documents=2)
    assert stream.X.toarray().tolist() == [[0.0, 2.0, 0.0], [0.0, 0.0, 3.0]]
    assert (stream.classes, stream.y.astype(int).tolist()) == (("C15", "CCAT"), [[1, 1], [0, 0]])
