"""Streams are read in pieces of whole lines: where these end does not change what is read."""

import numpy as np
import pytest

from experiments.datasets import files, read, text

PIECES = [1, 5, 40, 1 << 18]
TABLE = '# made by hand\n\na;b;"of a ""kind"""\n1;-2.5;x\n\n+3;1e2;"y\n;"\n 4;.5;x\n   \n5;6;" z "\n'
OBJECTS = '{"a": 1, "b": "2.5", "k": "x"}\n\n{"k": 7, "b": true, "a": 1e2}\r\n {"a": -3, "b": 0.1, "k": null} \n'
PAIRS = "+1 1:2 3:4.5\n# nothing\n\n-1 2:1e3 # said\r1 qid:1 3:1\n"


@pytest.fixture(params=PIECES, autouse=True)
def piece_bytes(request, monkeypatch):
    size = int(request.param)
    monkeypatch.setattr(text, "_PIECE_BYTES", size)
    monkeypatch.setattr(files, "_CELLS_AT_ONCE", size)
    return size


def written(folder, content):
    path = folder / "stream"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_field_in_quotes_goes_on_in_the_next_line_and_its_row_stands_where_it_ends(tmp_path):
    stream = read(written(tmp_path, TABLE))
    np.testing.assert_array_equal(stream.X, [[1.0, -2.5], [3.0, 100.0], [4.0, 0.5], [5.0, 6.0]])
    assert [stream.classes[k] for k in stream.y] == ["x", "y\n;", "x", "z"]
    assert stream.lines.tolist() == [4, 7, 8, 10]


def test_texts_and_numbers_beside_them_are_those_of_the_rows_that_hold_something(tmp_path):
    stream = read(written(tmp_path, "a,b,k\n1,xx,p\n,,\n2.5,\"yy\n\",q\n\n3,'',p\n"), texts=("b",))
    assert stream.X[:, [0]].toarray().ravel().tolist() == [1.0, 2.5, 3.0]
    assert (stream.X[:, 1:] != files.hashed(["xx", "yy\n", "''"])).nnz == 0
    assert (stream.lines.tolist(), stream.y.tolist()) == ([2, 5, 7], [0, 1, 0])


def test_objects_are_those_of_their_lines(tmp_path):
    stream = read(written(tmp_path, OBJECTS.replace("null", '"x"')))
    np.testing.assert_array_equal(stream.X, [[1.0, 2.5], [100.0, 1.0], [-3.0, 0.1]])
    assert [stream.classes[k] for k in stream.y] == ["x", "7", "x"]
    assert stream.lines.tolist() == [1, 3, 4]
    with pytest.raises(ValueError, match="line 4: a label must name a class, got ''"):
        read(written(tmp_path, OBJECTS))


def test_svmlight_is_read_as_it_stands(tmp_path):
    stream = read(written(tmp_path, PAIRS))
    np.testing.assert_array_equal(stream.X.toarray(), [[2.0, 0.0, 4.5], [0.0, 1e3, 0.0], [0.0, 0.0, 1.0]])
    assert (stream.y.tolist(), stream.classes, stream.lines.tolist()) == ([1, 0, 1], ("-1", "1"), [1, 4, 5])


def test_a_number_of_a_table_is_what_it_spells_to_the_last_bit(tmp_path):
    spelt = ["0.1", "1e-320", "9007199254740993", "9" * 25, "1.7976931348623157e308", "2.2250738585072011e-308", " 7 "]
    for repeats in (1, 50):  # many are read by another reader
        stream = read(written(tmp_path, "".join(f"{one},x\n" for one in spelt * repeats)))
        np.testing.assert_array_equal(stream.X[:, 0], [float(one) for one in spelt * repeats])


def test_lines_may_end_as_on_any_system(tmp_path):
    for end in ("\n", "\r\n", "\r"):
        stream = read(written(tmp_path, "a,b,label\n1,2,x\n2,1,y\n0,1,x\n".replace("\n", end)))
        assert (stream.X.tolist(), stream.y.tolist()) == ([[1.0, 2.0], [2.0, 1.0], [0.0, 1.0]], [0, 1, 0])
        assert stream.lines.tolist() == [2, 3, 4]
