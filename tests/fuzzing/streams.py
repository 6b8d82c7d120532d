"""Grammars of streams of labelled instances: tables, JSON lines, parquet, svmlight, npz, RCV1 as published; losses."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from experiments import datasets
from experiments.datasets.losses import read_losses
from experiments.datasets.named import rcv1
from experiments.datasets.stream import Stream
from tests.fuzzing.browsing import as_json_lines, as_table, listed
from tests.fuzzing.values import Chance, Grammar, binary, encoded, maybe, number, real, text, written


def read_stream(path: Path, chance: Chance) -> None:
    """Read a stream of finite numbers, each with a label that has a name."""
    label = chance.choice((None, None, None, "0", "label", "-1"))
    _check(datasets.read(path, label=label))


def read_rcv1(path: Path, chance: Chance) -> None:
    """Read RCV1 from a folder."""
    _check(rcv1(path, n_topics=3, documents=5))


def _check(stream: Stream) -> None:
    values = stream.X.data if sparse.issparse(stream.X) else stream.X
    assert np.isfinite(values).all()
    assert len(stream.classes) > 0
    assert stream.y.dtype == bool or ((stream.y >= 0).all() and stream.y.max() < len(stream.classes))


def _table(chance: Chance) -> dict[str, Any]:
    columns = chance.randint(1, 4)
    head = [[*(text(chance, "a", "b", "c d") for _ in range(columns)), "label"]] if chance.random() < 0.6 else []
    rows = [
        [*(real(chance, -9, 9) for _ in range(columns)), text(chance, "x", "y", "1", "0")]
        for _ in range(chance.randint(1, 8))
    ]
    return {"delimiter": text(chance, ",", ";", "\t"), "rows": [*head, *rows], "end": text(chance, "\n", "\r\n", "\r")}


def _ended(structure: Any) -> bytes:
    end = encoded(structure.get("end", "\n")) if isinstance(structure, dict) else b"\n"
    return as_table(structure).replace(b"\n", end)


def _svmlight(chance: Chance) -> list[Any]:
    lines = []
    for _ in range(chance.randint(1, 8)):
        indices = sorted(chance.sample(range(30), chance.randint(1, 5)))
        line: list[Any] = [text(chance, "1", "-1", "+1", "spam")]
        line += [["qid", number(chance, 0, 9)]] if chance.random() < 0.1 else []
        line += [[number(chance, index, index), real(chance, -2, 2)] for index in indices]
        lines.append([*line, text(chance, "# note")] if chance.random() < 0.1 else line)
    return lines


def _pairs(structure: Any) -> bytes:
    def field(part: Any) -> bytes:
        return b":".join(encoded(one) for one in part) if isinstance(part, list) else encoded(part)

    return b"".join(b" ".join(field(part) for part in listed(line)) + b"\n" for line in listed(structure))


def _npz(chance: Chance) -> dict[str, Any]:
    rows, columns = chance.randint(1, 5), chance.randint(1, 4)
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    X = np.round([[chance.gauss(0, 1) for _ in range(columns)] for _ in range(rows)], 2)
    if chance.random() < 0.5:
        arrays["X"] = X.astype(chance.choice(("f8", "f4", "i4", "u1", "?", "c16", "S3", "M8[s]")))
    else:
        made = sparse.csr_matrix(X)
        arrays = {"data": made.data, "indices": made.indices, "indptr": made.indptr, "shape": np.array(made.shape)}
    arrays["y"] = np.array([chance.randrange(2) for _ in range(rows)], dtype=chance.choice(("i8", "f8", "?", "U2")))
    if chance.random() < 0.2:
        arrays["y"] = np.eye(rows, 3, dtype=bool)
    found: dict[str, Any] = {}
    for name, array in arrays.items():
        values = array.ravel().view(np.uint8) if array.dtype.kind in "cSMU" else array.ravel()
        found[name] = {
            "descr": text(chance, array.dtype.str), "order": text(chance, "False"), "shape": list(array.shape),
            "dtype": array.dtype.str, "values": [maybe(chance, value, 0.99) for value in values.tolist()],
        }  # fmt: skip
    return {"packed": chance.random() < 0.3, "arrays": found}


def _zip(structure: Any) -> bytes:
    found = structure if isinstance(structure, dict) else {"arrays": structure}
    arrays = found.get("arrays")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED if found.get("packed") else zipfile.ZIP_STORED) as file:
        for name, one in arrays.items() if isinstance(arrays, dict) else enumerate(listed(arrays)):
            file.writestr(zipfile.ZipInfo(written(name)[:1000].replace("\0", "") + ".npy"), _npy(one))
    return stream.getvalue()


def _npy(one: Any) -> bytes:
    """Render an array as numpy writes it; what its header says need not be true."""
    fields = one if isinstance(one, dict) else {"values": one}
    shape = ", ".join(written(size) for size in listed(fields.get("shape", [1])))
    order, descr = written(fields.get("order", "False")), written(fields.get("descr", "<f8"))
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({shape},), }}"
    kind = written(fields.get("dtype", "<f8"))[1:2]
    code = {"f": "<d", "i": "<q", "u": ">B", "b": ">B"}.get(kind, ">B")
    data = b""
    for value in listed(fields.get("values")):
        if code == "<d":
            try:
                data += np.float64(value).tobytes()
            except (TypeError, ValueError, OverflowError):
                data += b"\0\0\0\0\0\0\xf8\x7f"
        else:
            data += binary(code, value)
    padded = header.encode("utf-8", "replace")
    padded += b" " * (-(len(padded) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + binary("<H", len(padded)) + padded + data


def _rcv1(chance: Chance) -> dict[str, Any]:
    numbers = chance.sample(range(2286, 2306), 10)
    made: dict[str, Any] = {}
    for at, part in enumerate(("train", "test_pt0", "test_pt1", "test_pt2", "test_pt3")):
        of_part = []
        for story in numbers[2 * at : 2 * at + 2]:
            terms = sorted(chance.sample(range(1, 47_237), 3))
            of_part.append([number(chance, story, story), "", *([term, real(chance, 0, 1)] for term in terms)])
        made[f"lyrl2004_vectors_{part}.dat"] = of_part
    made["rcv1-v2.topics.qrels"] = [
        [text(chance, "CCAT", "M11"), number(chance, story, story), 1] for story in numbers for _ in range(2)
    ]
    return made


def _published(structure: Any) -> dict[str, bytes]:
    found = structure if isinstance(structure, dict) else {"rcv1-v2.topics.qrels": structure}
    usual = [
        name for name in found if isinstance(name, str) and "\0" not in name and "/" not in name and 0 < len(name) < 99
    ]
    return {f"RCV1/{name}": _pairs(found[name]) for name in usual if name not in (".", "..")}


def read_own_losses(path: Path, chance: Chance) -> None:
    """Read losses of experts: a matrix of numbers of at least 0."""
    losses = read_losses(path)
    assert losses.ndim == 2
    assert (losses >= 0.0).all()


def _losses(chance: Chance) -> dict[str, Any]:
    experts = chance.randint(1, 4)
    named = chance.random() < 0.5
    rows = [
        [*(["2024-01-01"] if named else []), *(real(chance, 0, 9) for _ in range(experts))]
        for _ in range(chance.randint(1, 8))
    ]
    head = [[text(chance, "", "time"), *(text(chance, "a", "b c") for _ in range(experts))]] if named else []
    return {"delimiter": "," if named else text(chance, ",", " ", "\t"), "rows": [*head, *rows]}


def _matrix(chance: Chance) -> dict[str, Any]:
    rows, columns = chance.randint(1, 6), chance.randint(1, 4)
    return {
        "descr": text(chance, "<f8"), "order": text(chance, "False", "True"), "shape": [rows, columns],
        "dtype": "<f8", "values": [real(chance, 0, 9) for _ in range(rows * columns)],
    }  # fmt: skip


def _records(chance: Chance) -> list[Any]:
    names = chance.sample(("a", "b", "c d", "e"), chance.randint(1, 3))
    return [
        {**{name: real(chance, -9, 9) for name in names}, "label": text(chance, "x", "y")}
        for _ in range(chance.randint(1, 8))
    ]


def _parquet(structure: Any) -> bytes:
    """Render records as parquet; a column whose values are of several kinds becomes text."""
    rows = [row for row in listed(structure) if isinstance(row, dict)]
    names = {written(name).encode("utf-8", "replace").decode(): name for row in rows for name in row}
    columns: dict[str, Any] = {}
    for shown, name in names.items():
        values = [row.get(name) for row in rows]
        try:
            columns[shown] = pa.array(values)
        except (pa.ArrowException, UnicodeError, OverflowError, TypeError, ValueError):
            columns[shown] = pa.array([written(value).encode("utf-8", "replace").decode() for value in values])
    stream = io.BytesIO()
    try:
        pq.write_table(pa.table(columns), stream)
    except (pa.ArrowException, ValueError):
        return b"PAR1" + written(structure).encode("utf-8", "replace")
    return stream.getvalue()


GRAMMARS = {
    "records": Grammar(make=_records, render=as_json_lines, read=read_stream),
    "parquet": Grammar(make=_records, render=_parquet, read=read_stream, packed=False),
    "labels": Grammar(make=_table, render=_ended, read=read_stream),
    "svmlight": Grammar(make=_svmlight, render=_pairs, read=read_stream),
    "npz": Grammar(make=_npz, render=_zip, read=read_stream, packed=False),
    "rcv1": Grammar(make=_rcv1, render=_published, read=read_rcv1),
    "losses": Grammar(make=_losses, render=as_table, read=read_own_losses),
    "matrix": Grammar(make=_matrix, render=_npy, read=read_own_losses, name="input.npy", packed=False),
}
