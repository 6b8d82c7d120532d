"""What is wrong with a file of examples is one line that names the file and the place."""

import gzip
import io
import zipfile

import numpy as np
import pytest

from experiments.datasets import files, read
from tests.tables import each, rows


def zipped(**members):
    """An npz whose members have these bytes."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as packed:
        for name, content in members.items():
            packed.writestr(f"{name}.npy", content)
    return written.getvalue()


def array_bytes(array):
    written = io.BytesIO()
    np.lib.format.write_array(written, array)
    return written.getvalue()


def headed(header):
    """An npz with one array that begins with this header."""
    return zipped(y=b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode())


NO_WIDTH = array_bytes(np.array(["", "", ""]))[:128].replace(b"<U1", b"<U0")  # numpy itself writes a width of 1
FINITE, LABEL = "a feature must be a finite number", "a label must name a class"
TEXTS = r"""
a,b,y\n1,2,x\n1,nan,z\n -> line 3, column 1 (b): a feature must be a finite number, got 'nan'
1,2,x\n1,inf,z\n -> line 2, column 1: a feature must be a finite number, got 'inf'
1,2,x\n\n1,,z\n -> line 3, column 1: a feature must be a finite number, got ''
a,b,k\n1,hello,x\n -> line 2, column 1 (b): a feature must be a finite number, got 'hello': --text takes a column of
a,b,y\n1,2,x\n1,z\n -> line 3: every line must have 3 columns, as the first has, got 2
1,"2",x\n1,2,"3,4",z\n -> line 2: every line must have 3 columns, as the first has, got 4
1,2,x\n3,4,"y\n5,6,x\n -> line 3: unexpected end of data
1,2,x\n1,2,\n -> line 2: a label must name a class, got ''
1,2,1\n1,2,inf\n -> line 2: a label must name a class, got 'inf'
\n\n -> a stream must hold an example, got none
,,\n,,\n -> a stream must hold an example, got none
a,b,y\n -> a stream must hold an example with a feature
1\n2\n -> a stream must hold an example with a feature
+1 1:2\n-1 1:2 3:nan\n -> line 2: a feature must be a finite number
\ufeff1 1:2\n1 1:\n -> line 2: a label, and index:value with growing indices, must stand there, got '1 1:'
+1 1:2\n-1 3:2 3:3\n -> line 2: a label, and index:value with growing indices, must stand there, got '-1 3:2 3:3'
+1 1:2\n1,2 3:1\n -> line 2: a label, and index:value with growing indices, must stand there, got '1,2 3:1'
+1 1:2\n-1 1099511627776:2\n -> line 2: a label, and index:value with growing indices, must stand there
"""
OPTIONS = rows(r"""
# what stands in a file, options of `read`, and what is said after its name
"1,2,x\n3," + "0" * 140_000 + ",y\n", {} -> line 2: field larger than field limit
"a,b,k\n1,2,x\n1,y,x\n1,2\n", {"texts": ("0",)}, f"line 3, column 1 (b): {FINITE}, got 'y'"
"1,2,x\n", {"label": "k"} -> label must name one of the columns 1, 2, x, got 'k'
"".join(f"1,{k}\n" for k in range(101)), {} -> labels must name at most 100 classes, got 101
"1 1:2\n", {"texts": ("0",)} -> texts must stand in a table, got svmlight
"a,k\n1,x\n", {"texts": ("k",), "label": "k"} -> label must name a column beside
b"1,x\n2,x\n\n1,\xff\n", {} -> line 4: it must be UTF-8 text, npz or npy, got 0xff
""", globals())  # fmt: skip
SPARSE = {"data": np.ones(3), "indices": np.array([0, 1, 0]), "indptr": np.array([0, 1, 2, 3]),
          "shape": np.array([3, 2])}  # fmt: skip
DENSE = {"X": np.ones((3, 2)), "y": np.array([0, 1, 0])}
# what differs in arrays that would be a stream, sparse if X is not among it, and what is said
ARRAYS = """
X=[[1.0, 1], [1, np.nan], [1, 1]] -> row 1: a feature must be a finite number
X=np.ones((0, 2)), y=[] -> a stream must hold an example
X=[["a"], ["b"], ["c"]] -> X must be a matrix of numbers: the type of X is <U1
X=1.0 -> X must have a row
y=None -> an npz must hold y, and X or data, indices, indptr and shape, got X
y=[0.0, np.nan, 1.0] -> row 1: a label must name a class, got 'nan'
y=[[0, 1], [1, 2], [0, 0]] -> must hold 0 and 1, got shape (3, 2)
y=np.array([2**31 - 1] * 3, np.uint32).view("U1") -> y must be text in Unicode
indices=[np.nan, 0.0, 1.0] -> the type of indices is float
shape=[3, 2**40] -> and at most 2147483648 of them, got shape (3, 1099511627776)
indices=[0, 5, 0] -> X must be a matrix
indptr=[0, 2, 3, -1], indices=[7, 10**6, -9] -> X must be a matrix
indptr=[0, 3, 1, 3] -> X must be a matrix
indptr=[0, 10**6, 10**7, 0] -> X must be a matrix of numbers: indptr must rise from 0
indptr=np.array([0, 1, 2**64 - 1, 2**64 - 1], np.uint64) -> X must be a matrix of numbers: indptr must rise from 0
indices=np.array([0, 1, 2**64 - 1], np.uint64) -> X must be a matrix
"""
WHOLE = "an npz must be a whole zip file of plain arrays"
PACKED = rows(r"""
# bytes of an npz
b"PK\x03\x04 cut off", WHOLE ; zipped(y=NO_WIDTH, X=array_bytes(np.ones((3, 2)))), f"row 0: {LABEL}, got ''"
zipped(y=b"no array", X=array_bytes(np.ones((3, 2)))) -> y must be a vector
headed("{'shape': (" + "9" * 5000 + ",)}"), WHOLE ; headed("[" * 9000), WHOLE
""", globals())  # fmt: skip


def refused(path, said, **options):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the beginning of the message is compared
        read(path, **options)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)
    assert said in str(error.value)


@each("row", TEXTS.strip().splitlines())
def test_the_first_fault_of_a_text_is_named(tmp_path, row):
    content, said = row.split(" -> ")
    (tmp_path / "t").write_text(content.encode().decode("unicode_escape"))
    refused(tmp_path / "t", f"{tmp_path / 't'}: {said}")


def test_the_first_fault_beside_options_or_a_limit_is_named(tmp_path):
    for content, options, said in OPTIONS:
        (tmp_path / "t").write_bytes(content if isinstance(content, bytes) else content.encode())
        refused(tmp_path / "t", f"{tmp_path / 't'}: {said}", **options)


@each("row", ARRAYS.strip().splitlines())
def test_arrays_that_are_no_stream_are_refused(tmp_path, row):
    given, said = row.split(" -> ")
    changed = eval(f"dict({given})")
    whole = DENSE if {"X", "y"} & set(changed) else {**SPARSE, "y": DENSE["y"]}
    arrays = {name: array for name, array in {**whole, **changed}.items() if array is not None}
    np.savez(tmp_path / "t.npz", **arrays)
    refused(tmp_path / "t.npz", said)


def test_a_broken_npz_and_one_with_pickles_are_refused(tmp_path):
    path = tmp_path / "t.npz"
    for content, said in PACKED:
        path.write_bytes(content)
        refused(path, said)
    np.savez(path, X=np.ones((2, 1)), y=np.array([None, {}]))
    refused(path, WHOLE)


@each("kind", "table npz line")
def test_a_stream_that_unpacks_to_more_than_is_read_is_refused_with_the_limit(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(files, "MOST_BYTES", 100_000 if kind == "line" else 10_000)
    monkeypatch.setattr(files, "_LONGEST_LINE_BYTES", 5_000)
    path = tmp_path / "stream"
    if kind == "npz":
        with path.open("wb") as file:
            np.savez_compressed(file, X=np.zeros((1000, 2)), y=np.zeros(1000))
    else:
        path.write_bytes(gzip.compress({"table": b"1,2,x\n", "line": b"1,2,"}[kind] * 10_000))
    refused(path, "must not be longer than 5000 bytes" if kind == "line" else "10000")


@each("line", ["1,2,x\n", "1 1:2 3:4\n"])
def test_a_stream_of_too_many_cells_is_refused(tmp_path, monkeypatch, line):
    path = tmp_path / "stream"
    path.write_text(line * 100)
    assert len(read(path).y) == 100
    monkeypatch.setattr(files, "MOST_CELLS", 199)
    refused(path, "must hold at most 199 cells")
