"""Streams are read in pieces of whole lines: where these end changes neither what is read nor which fault is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.datasets import files, read, text

PIECES = [1, 5, 40, 1 << 18]
TABLE = '# made by hand\n\na;b;"of a ""kind"""\n1;-2.5;x\n\n+3;1e2;"y\n;"\n 4;.5;x\n   \n5;6;" z "\n'
OBJECTS = '{"a": 1, "b": "2.5", "k": "x"}\n\n{"k": 7, "b": true, "a": 1e2}\r\n {"a": -3, "b": 0.1, "k": null} \n'
PAIRS = "+1 1:2 3:4.5\n# nothing\n\n-1 2:1e3 # said\r1 qid:1 3:1\n"


@pytest.fixture(params=PIECES, autouse=True)
def piece_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    size = int(request.param)
    monkeypatch.setattr(text, "_PIECE_BYTES", size)
    monkeypatch.setattr(files, "_CELLS_AT_ONCE", size)
    return size


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "stream"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_field_in_quotes_goes_on_in_the_next_line_and_its_row_stands_where_it_ends(tmp_path: Path) -> None:
    stream = read(written(tmp_path, TABLE))
    np.testing.assert_array_equal(stream.X, [[1.0, -2.5], [3.0, 100.0], [4.0, 0.5], [5.0, 6.0]])
    assert [stream.classes[k] for k in stream.y] == ["x", "y\n;", "x", "z"]
    assert stream.lines.tolist() == [4, 7, 8, 10]


def test_texts_and_numbers_beside_them_are_those_of_the_rows_that_hold_something(tmp_path: Path) -> None:
    stream = read(written(tmp_path, "a,b,k\n1,xx,p\n,,\n2.5,\"yy\n\",q\n\n3,'',p\n"), texts=("b",))
    assert stream.X[:, [0]].toarray().ravel().tolist() == [1.0, 2.5, 3.0]
    assert (stream.X[:, 1:] != files.hashed(["xx", "yy\n", "''"])).nnz == 0
    assert (stream.lines.tolist(), stream.y.tolist()) == ([2, 5, 7], [0, 1, 0])


def test_objects_are_those_of_their_lines(tmp_path: Path) -> None:
    stream = read(written(tmp_path, OBJECTS.replace("null", '"x"')))
    np.testing.assert_array_equal(stream.X, [[1.0, 2.5], [100.0, 1.0], [-3.0, 0.1]])
    assert [stream.classes[k] for k in stream.y] == ["x", "7", "x"]
    assert stream.lines.tolist() == [1, 3, 4]
    with pytest.raises(ValueError, match="line 4: a label must name a class, got ''"):
        read(written(tmp_path, OBJECTS))


def test_svmlight_is_read_as_it_stands(tmp_path: Path) -> None:
    stream = read(written(tmp_path, PAIRS))
    np.testing.assert_array_equal(stream.X.toarray(), [[2.0, 0.0, 4.5], [0.0, 1e3, 0.0], [0.0, 0.0, 1.0]])
    assert (stream.y.tolist(), stream.classes, stream.lines.tolist()) == ([1, 0, 1], ("-1", "1"), [1, 4, 5])


def test_a_number_of_a_table_is_what_it_spells_to_the_last_bit(tmp_path: Path) -> None:
    spelt = ["0.1", "1e-320", "9007199254740993", "9" * 25, "1.7976931348623157e308", "2.2250738585072011e-308", " 7 "]
    for repeats in (1, 50):  # many are read by another reader
        stream = read(written(tmp_path, "".join(f"{one},x\n" for one in spelt * repeats)))
        np.testing.assert_array_equal(stream.X[:, 0], [float(one) for one in spelt * repeats])


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("1,2,x\n1,two,x\n1,2\n", {}, "line 2, column 1: a feature must be a finite number, got 'two'"),
        ("1,2,x\n1,2\n1,two,x\n", {}, "line 2: every line must have 3 columns, as the first has, got 2"),
        ("True,x\nTrue,y\n" * 200, {}, r"line 2, column 0 \(True\): a feature must be a finite number"),
        ("1,2,x\n,,\n", {}, "line 2, column 0: a feature must be a finite number, got ''"),
        ('1,2,x\n3,4,"y\n5,6,x\n', {}, "line 3: quotes must end where a cell does, got 'y\\\\n5,6,x\\\\n"),
        ('1,2,"x"\n3,"4"' + "0" * 140_000 + ",y\n", {}, "line 2: field larger than field limit"),
        ("a,b,k\n1,2,x\n1,y,x\n1,2\n", {"texts": ("0",)}, r"line 3, column 1 \(b\): .* got 'y'"),
        (",,\n,,\n", {"texts": ("0",)}, "a stream must hold an example, got none"),
        ('{"a": 1, "b": 2, "k": 1}\n{"a": 1, "b": null, "k": 1}\n{"a": "z", "b": 2, "k": 1}\n', {},
         r"line 2, column 1 \(b\): a feature must be a finite number, got 'None'"),
        ('{"a": null, "k": 1}\n{"a": 1}\n', {}, r"line 1, column 0 \(a\): a feature must be a finite number, got"),
        ('{"a": 1, "k": 1}\n{"a": 1}\n{"a": null, "k": 1}\n', {}, "line 2: every line must name a, k, got a"),
        ('{"a": 1, "k": 1}\n{"a": 1, "k": 1},{"a": 1, "k": 1}\n{"a": 1\n', {}, "line 2: every line must be a JSON obj"),
        ('{"a": [1, "k": 1}\n{"a": 2], "k": 1}\n', {}, "line 1: every line must be a JSON object"),
        ("{}\n{}\n", {}, "a stream must hold an example, got none"),
        (b"1,x\none,x\n\n1,\xff\n", {}, "line 4: it must be UTF-8 text, npz or npy, got 0xff"),
        (b'{"a": 1, "k": 1}\n[]\n\xe9\n', {}, "line 3: it must be UTF-8 text, npz or npy, got 0xe9"),
        (b"\xef\xbb\xbf1 1:2\n1 1:\n1 1:\xff\n", {}, "line 3: it must be UTF-8 text, npz or npy, got 0xff"),
        ("\ufeff1 1:2\n1 1:\n", {}, "line 2: a feature must be a finite number, got '1:'"),
    ],
)  # fmt: skip
def test_the_same_fault_is_named_first(
    tmp_path: Path, content: str | bytes, options: dict[str, object], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        read(written(tmp_path, content), **options)  # type: ignore[arg-type]
