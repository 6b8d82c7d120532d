"""Streams in files: tables (CSV), svmlight and npz, told apart by what is in them.

What it models: of columns one is the label, some are texts, all others are finite numbers.  Texts become unit vectors
of hashed words (scikit-learn's `HashingVectorizer`), which needs no vocabulary and so knows nothing of later rows;
numbers beside them are taken as they are.  In a table fields in quotes may hold anything and empty rows are passed
over; its first line may name the columns, and must where a column holds texts; the numbers 0, 1, .. that pandas names
columns by are names, and a first column without a name is an index, left out.  svmlight is ``label index:value ...``.
An npz holds X (or the data, indices, indptr and shape of a CSR matrix) and y, a vector, or a matrix of 0 and 1 with a
column a class; pickles are never loaded.  All but npz may be packed with gzip or xz.
What it leaves out: values that are missing, and lists and records in columns; they are errors.
"""

import csv
import re
import zipfile
from array import array
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from math import isfinite
from pathlib import Path
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.datasets.stream import Stream, as_classes, as_number
from experiments.escaping import is_number
from traces.files import lines, open_trace

HASHED = 2**18  # columns that words are hashed to
MOST_BYTES = 1 << 29
"""Largest file of a stream, unpacked, and all wanted arrays of an npz together: 512 MiB."""
MOST_CELLS = 1 << 25
"""How many cells of a table, features of svmlight or losses are read."""

_LONGEST_LINE_BYTES = 1 << 24
_SVMLIGHT = re.compile(r"^\S+(\s+qid:\S+)?(\s+\d+:\S+)+\s*(#.*)?$")
_WHOLE = re.compile(r"\s*[+-]?\d+\s*")
_SEEN = 100  # rows below the first that tell whether it holds names
_PARTS = ("data", "indices", "indptr", "shape")

Rows = Iterator[tuple[int, list[str]]]
"""The line of each row and its cells."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the name of the file before whatever is wrong with its content."""
    try:
        yield
    except ValueError as error:
        if str(error).startswith(str(path)):  # it names it
            raise
        raise ValueError(f"{path}: {error}") from None


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line of a file, packed or not; one too long, or not in UTF-8, is a `ValueError`."""
    with open_trace(path, max_unpacked_bytes=MOST_BYTES) as file:
        for number, line in lines(file, _LONGEST_LINE_BYTES, path):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                got = f"{line[error.start]:#x}"
                raise ValueError(f"line {number}: it must be UTF-8 text, npz or npy, got {got}") from None
            yield number, text


def read(path: Path, *, label: str | None = None, drop: tuple[str, ...] = (), texts: tuple[str, ...] = ()) -> Stream:
    """Return the stream in a file.

    Columns are those of tables, by name or number (from 0, negative from the end): `label`,
    None for the last; `drop`, left out; `texts`.

    Raises
    ------
    ValueError
        If it is no such file, or something in it is no finite number, has no label or another
        number of features than the line before; the message says where.
    """
    with naming(path):
        with path.open("rb") as file:
            start = file.read(4)
        npz = start == b"PK\x03\x04"
        if not npz:
            number, first = first_line(path)
            if not _SVMLIGHT.match(first) and path.suffix not in (".svm", ".svmlight", ".libsvm"):
                rows = csv_rows(path, number, first, ",;\t")
                head = next(rows, (0, list[str]()))
                names = [name.strip() for name in head[1]]
                return _of_table(path.name, names, chain([head], rows), label, drop, texts)
        if texts:
            raise ValueError(f"texts must stand in a table, got {'npz' if npz else 'svmlight'}")
        return of_npz(path) if npz else _svmlight(path)


def hashed(texts: Sequence[str]) -> sparse.csr_matrix:
    """Return the unit vectors of the texts' words, (T, 2^18)."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return sparse.csr_matrix(HashingVectorizer(n_features=HASHED).transform(texts), dtype=np.float64)


# -- columns -----------------------------------------------------------------------------------------------


def _of_table(
    name: str, names: list[str], rows: Rows, label: str | None, drop: tuple[str, ...], texts: tuple[str, ...]
) -> Stream:
    """Return the stream in columns; the first row names them if `are_names` says so, or texts or labels need names."""
    if not names:
        raise ValueError("a stream must hold an example, got none")
    at, numbers, said = _chosen(names, label, drop, texts)
    first = next(rows)
    below = list(islice(rows, _SEEN)) if _spelt(names, numbers) is None else []
    asked = {*drop, label or ""} - {"", *_numbers(names)}  # by a name
    named = bool(texts or asked) or are_names(first, numbers, below, _told(names, at, [row[at] for _, row in below]))
    rows = chain([] if named else [first], below, rows)
    X, places, written = array("d"), array("i"), list[str]()

    def labels() -> Iterator[str]:
        for number, (line, row) in enumerate(rows):
            for column in numbers:
                if not isfinite(value := as_number(row[column])):
                    called, cell = f" ({names[column]})" if named else "", row[column][:40]
                    hint = ": --text takes a column of texts, --drop leaves one out" if called and len(cell) > 3 else ""
                    rule = f"a feature must be a finite number, got {cell!r}{hint}"
                    raise ValueError(f"line {line}, column {column}{called}: {rule}")
                X.append(value)
            if (number + 1) * len(names) > MOST_CELLS:
                raise ValueError(f"a stream must hold at most {MOST_CELLS} cells, got more")
            if said:
                written.append("\n".join(row[column] for column in said))
            places.append(line)
            yield row[at].strip()

    y, classes = as_classes(labels(), lambda row: f"line {places[row]}")
    instances: Any = np.asarray(X).reshape(len(y), len(numbers))
    if said:
        instances = sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(instances), hashed(written)]))
    return Stream(name=name, X=instances, y=y, classes=classes, lines=np.asarray(places))


def _chosen(
    names: list[str], label: str | None, drop: tuple[str, ...], texts: tuple[str, ...]
) -> tuple[int, list[int], list[int]]:
    """Return the numbers of the column of labels, of those that are numbers, and of those that are texts."""
    places = {name: at for at, name in reversed([*enumerate(names)])}
    places = places | _numbers(names) | (places if not names[0] else {})

    def column(what: str, name: str) -> int:
        if name not in places:
            raise ValueError(f"{what} must name one of the columns {', '.join(names[:12])}, got {name!r}")
        return places[name]

    dropped, said = ({column(what, name) for name in given} for what, given in (("drop", drop), ("text", texts)))
    if not names[0] and _spelt(names, range(len(names))) is not False:
        dropped.add(0)  # an index
    others = [i for i in range(len(names)) if i not in dropped | said]
    at = column("label", label) if label is not None else max(others, default=-1)
    if at not in others:
        raise ValueError(f"label must name a column beside texts and those dropped, got {', '.join(names)}")
    return at, [i for i in others if i != at], sorted(said)


def _numbers(names: list[str]) -> dict[str, int]:
    return {str(number): number % len(names) for number in range(-len(names), len(names))}


def _spelt(names: list[str], columns: Sequence[int] | range) -> bool | None:
    """Whether no name is a number; None if those that are ones are the places of their columns, behind an index."""
    behind = int(not is_number(names[0]))
    spelt = {column: names[column] for column in columns if is_number(names[column])}
    return None if spelt and all(name == str(at - behind) for at, name in spelt.items()) else not spelt


def _told(names: list[str], at: int, labels: list[str]) -> bool | None:
    """Whether an index, or the column of labels, says that names stand in the first line; None if they do not say."""
    if is_number(names[at]):
        other = names[at] != str(at - int(not is_number(names[0])))
        return False if other else True if not names[0] else None
    return False if names[at] in labels else True if not names[0] or all(map(is_number, labels)) else None


def are_names(
    first: tuple[int, list[str]], columns: Sequence[int], below: list[tuple[int, list[str]]], told: bool | None
) -> bool:
    """Whether the first line of a table names its `columns` of numbers: no number stands in them, or 0, 1, ..

    pandas names columns by their places if nobody else does.  It writes all numbers of a column with a point or none,
    so that a line 0, 1, .. above a column of both is taken for numbers; `told` is what other columns tell of it.

    Raises
    ------
    ValueError
        If the line is 0, 1, .., and only whole numbers stand below, as far as the rows go.
    """
    line, names = first
    found = _spelt(names, columns)
    if found is not None or not below:
        return bool(found)
    if told is not None:
        return told
    kinds = [{_WHOLE.fullmatch(row[i]) is not None for _, row in below if row[i].strip()} for i in columns]
    if any(len(kind) == 2 for kind in kinds) or {False} in kinds:
        return all(len(kind) < 2 for kind in kinds)
    shown = ",".join(names[:6]) + ",.." * (len(names) > 6)
    raise ValueError(f"line {line}: columns must have names, for {shown} may be their numbers or the first row")


def first_line(path: Path) -> tuple[int, str]:
    """Return number and text of the first line that is neither blank nor a comment."""
    for number, line in lines_of(path):
        if line.strip() and not line.startswith("#"):
            return number, line
    raise ValueError("a stream must hold an example, got none")


def csv_rows(path: Path, number: int, first: str, delimiters: str) -> Rows:
    """Yield the rows of a table from line `number` on, whose `first` line tells the delimiter, but for empty ones."""
    delimiter, width = max(delimiters, key=first.count), 0
    text = (line for _, line in islice(lines_of(path), number - 1, None))
    reader = csv.reader(text, delimiter=delimiter, skipinitialspace=delimiter == " ", strict=True)
    try:
        for row in reader:
            if any(map(str.strip, row)):
                width = width or len(row)
                if len(row) != width:
                    raise csv.Error(f"every line must have {width} columns, as the first has, got {len(row)}")
                yield number - 1 + reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"line {number - 1 + reader.line_num}: {error}") from None


# -- matrices ----------------------------------------------------------------------------------------------


def _svmlight(path: Path) -> Stream:
    """Indices are those of the file if one is 0, else one less; a line's must grow."""
    places, columns, values, starts = array("i"), array("i"), array("d"), array("i", [0])

    def labels() -> Iterator[str]:
        for number, line in lines_of(path):
            label, *pairs = line.partition("#")[0].split() or [""]
            before = len(columns)
            try:
                for index, _, value in (pair.partition(":") for pair in pairs if not pair.startswith("qid:")):
                    columns.append(int(index))
                    values.append(float(value))
            except (ValueError, OverflowError):
                columns.append(-1)
            own = columns[before:]
            if set(",:") & set(label) or any(index <= last for last, index in zip([-1, *own], own, strict=False)):
                rule = "a label, and index:value with growing indices, must stand there"
                raise ValueError(f"line {number}: {rule}, got {line.strip()[:80]!r}")
            if len(values) + len(places) > MOST_CELLS:
                raise ValueError(f"a stream must hold at most {MOST_CELLS} cells, got more")
            if label:
                places.append(number)
                starts.append(len(columns))
                yield label

    y, classes = as_classes(labels(), lambda row: f"line {places[row]}")
    indices = np.asarray(columns)
    indices -= int(len(indices) > 0 and indices.min() > 0)
    shape = len(y), int(indices.max(initial=-1)) + 1
    X = sparse.csr_matrix((np.asarray(values), indices, np.asarray(starts)), shape=shape)
    X.eliminate_zeros()
    return Stream(name=path.name, X=X, y=y, classes=classes, lines=np.asarray(places))


def arrays_of(path: Path, wanted: Collection[str]) -> dict[str, NDArray[Any]]:
    """Return those of the wanted arrays that an npz holds; pickles are never loaded."""
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(item.file_size for item in packed.infolist() if item.filename.removesuffix(".npy") in wanted)
        if size <= MOST_BYTES:
            with catch_warnings(action="ignore"), np.load(path, allow_pickle=False) as held:  # of headers that lie
                return {name: np.asarray(held[name]) for name in held.files if name in wanted}
    except Exception:  # zipfile, numpy and the parsers that they use raise a dozen kinds
        raise ValueError("an npz must be a whole zip file of plain arrays, got something else") from None
    raise ValueError(f"an npz must hold arrays of at most {MOST_BYTES} bytes, got {size}")


def of_npz(path: Path) -> Stream:
    """Return the stream in an npz."""
    arrays = arrays_of(path, ("X", "y", *_PARTS))
    if "y" not in arrays or not ("X" in arrays or arrays.keys() >= set(_PARTS)):
        found = ", ".join(arrays) or "nothing of it"
        raise ValueError(f"an npz must hold y, and X or data, indices, indptr and shape, got {found}")
    try:
        with np.errstate(all="ignore"):  # of numbers that float64 does not hold, which are refused below
            X = _matrix(arrays)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"X must be a matrix of numbers: {error}") from None
    y = arrays["y"]
    if y.ndim == 2 and y.shape[1] and np.isin(y, (0, 1)).all():
        return Stream(name=path.name, X=X, y=y.astype(np.bool_), classes=tuple(map(str, range(y.shape[1]))))
    if y.ndim != 1:
        rule = "y must be a vector, or a matrix with a column a class, which must hold 0 and 1"
        raise ValueError(f"{rule}, got shape {y.shape}")
    try:
        codes, classes = as_classes(map(str, y.tolist()), "row {}".format)
    except SystemError:
        raise ValueError("y must be text in Unicode, got other characters") from None
    return Stream(name=path.name, X=X, y=codes, classes=classes)


def _matrix(arrays: dict[str, NDArray[Any]]) -> Any:
    """Return X, or the matrix that data, indices, indptr and shape describe; a `TypeError` or so if they do not."""
    for name, held in arrays.items():
        if name != "y" and held.dtype.kind not in ("fiub" if name in ("X", "data") else "iu"):
            raise ValueError(f"the type of {name} is {held.dtype}")
    if "X" in arrays:
        return np.ascontiguousarray(arrays["X"], dtype=np.float64)
    data, indices, indptr, shape = (arrays[name] for name in _PARTS)
    indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    # scipy looks at neither this nor the indices if the last number is 0, and then writes over memory
    if indptr.ndim != 1 or not len(indptr) or indptr[0] or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("indptr must rise from 0")
    X = sparse.csr_matrix((data.astype(np.float64), indices, indptr), shape=tuple(shape.tolist()))
    X.check_format()  # that the indices are in range
    X.sum_duplicates()
    return X
