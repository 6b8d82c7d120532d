"""Files of our own that are read again may be damaged, cut off or swapped: one line, or computed again with a line."""

import json
import os
import random
import re
from functools import partial
from shutil import copytree, rmtree

import numpy as np
import pytest

import traces
from experiments.report.html import folder_page
from experiments.study.store import Store
from lpsm import FixedShare, LearnAlpha, samplers
from lpsm.states import from_state
from tests.experiments.makers import WORK, contents
from tests.fuzzing.changing import damaged
from tests.tables import cases_of, each

SETTINGS = {"pages": 3, "policies": ["none", "psm"], "nested": {"a": [1, 2.5, None, True]}}
RESULTS = {f"task {at}": {"joules": [at / 7, 1e-9], "name": f"é{at}"} for at in range(6)}
FILES = {"a.txt": "words\n", "summary.csv": b"policy,x\nnone,1.5\n", "front.svg": b"<svg/>",
    "users.parquet": b"PAR1" * 40}  # fmt: skip
DAMAGES = 40  # of each kind of file; in the long test those of `MANY`
MANY = 1250


def run(folder, force=False):
    """Run a study of six tasks, as a command does; return the keys of those that were computed."""
    store, computed = Store(folder, "compare", SETTINGS, force=force, shape={"joules": [float], "name": str}), []
    with store.giving_up():
        for key, result in RESULTS.items():
            if key not in store.finished:
                store.keep(key, result)
                computed.append(key)
            assert store.finished[key] == result
        for name, content in FILES.items():
            store.write(name, content)
        store.publish()
    return computed


def refusal(read):
    """Return the one line in which something is refused, or nothing."""
    try:
        read()
    except ValueError as error:
        line = str(error)
    else:
        return ""
    assert line
    assert "\n" not in line
    assert len(line) < 600
    return line


@pytest.fixture(autouse=True)
def unflushed(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def whole(tmp_path):
    run(tmp_path / "whole")
    return tmp_path / "whole"


@each("count", [DAMAGES, pytest.param(MANY, marks=pytest.mark.long)])
def test_a_finished_folder_that_is_damaged_is_refused_or_asked_for_and_then_made_again(tmp_path, whole, capsys, count):
    draw, wanted, out, refused = random.Random(5), contents(whole), tmp_path / "out", 0
    page = folder_page(whole)
    for _ in range(count):
        copytree(whole, out)
        name, other = draw.sample(sorted(wanted), 2)
        path = out / name
        path.write_bytes(wanted[other] if draw.random() < 0.1 else damaged(wanted[name], draw))
        before = contents(out)
        changed = before != wanted
        if said := refusal(lambda: run(out)):
            assert "out" in said
            assert changed
            assert contents(out) == before
            refused += 1
        else:
            assert not changed, (name, before[name])
        if not refusal(lambda: folder_page(out)):  # what is not in it may be damaged
            assert folder_page(out) == page
        if changed and name != "manifest.json":  # a manifest says whose the folder is
            assert run(out, force=True) == [*RESULTS]
            assert "is not as it was written, and is replaced" in capsys.readouterr().err
            assert contents(out) == wanted
        rmtree(out)
    assert refused > count / 2


@each("count", [DAMAGES, pytest.param(MANY, marks=pytest.mark.long)])
def test_of_a_damaged_journal_what_is_left_is_gone_on_with_and_the_rest_computed_again(tmp_path, whole, capsys, count):
    draw, begun, out = random.Random(6), tmp_path / "begun", tmp_path / "out"
    begun.mkdir()
    store = Store(begun / "out", "compare", SETTINGS)
    for key, result in [*RESULTS.items()][:4]:
        store.keep(key, result)
    store.abandon()
    kept = contents(begun / "out.partial")
    again, computed = 0, set()
    for _ in range(count):
        copytree(begun, out)
        name, other = draw.sample(sorted(kept), 2)
        new = kept[other] if draw.random() < 0.1 else damaged(kept[name], draw)
        (out / "out.partial" / name).write_bytes(new)
        before = contents(out)
        computed.clear()
        if refusal(lambda: computed.update(run(out / "out"))):
            assert name == "manifest.json"
            assert contents(out) == before
        else:
            assert contents(out / "out") == contents(whole)
            said = capsys.readouterr().err
            assert said.count("\n") == said.startswith("lpsm: ") <= 1
            assert computed >= {*RESULTS} - {*[*RESULTS][:4]}
            if len(computed) > 2 and new.count(b"\n") > 1:
                assert "computed again" in said or "another configuration or program" in said
                again += 1
        rmtree(out)
    assert again > count / 8


@cases_of(
    "value",
    """
None ; 5 ; [] ; {} ; 'x' ; [[1], 2] ; {'joules': ['a'], 'name': 'x'} ; {'joules': [True]}""",
)
def test_a_result_of_another_shape_is_computed_again_even_if_its_digest_fits(tmp_path, whole, capsys, value):
    store = Store(tmp_path / "out", "compare", SETTINGS)
    store.keep("task 0", value)
    store.keep("task 1", RESULTS["task 1"])
    store.abandon()
    assert run(tmp_path / "out") == [key for key in RESULTS if key != "task 1"]
    assert "has 1 finished runs that are not as they were written, and are computed again\n" in capsys.readouterr().err
    assert contents(tmp_path / "out") == contents(whole)


def test_figures_that_were_changed_in_a_journal_are_not_taken_over(tmp_path, whole):
    store = Store(tmp_path / "out", "compare", SETTINGS)
    for key, result in RESULTS.items():
        store.keep(key, result)
    store.abandon()
    journal = store.partial / "finished.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    digest, text = lines[2].split(" ", 1)
    lines[2] = f"{digest} {text.replace('[', '[1', 2)}"
    other, _ = lines[3].split(" ", 1)
    lines[4] = f"{other} {lines[4].split(' ', 1)[1]}"  # of another line
    journal.write_text("".join(lines))
    assert run(tmp_path / "out") == ["task 1", "task 3"]
    assert contents(tmp_path / "out") == contents(whole)


MANIFESTS = {"deep": "[" * 10**5, "deep settings": '{"configuration": ' + '{"a":' * 10**5, "none": "", "number": "5",
    "names": '{"command": "compare"}',
    **{f"files {files}": files for files in ("null", "5", '[["a"]]', '{"../x": "0"}', '{"a": 3}')}}  # fmt: skip


@each("kind", MANIFESTS)
@each("of", "out out.partial")
def test_a_manifest_of_any_shape_is_one_line(tmp_path, kind, of):
    for made in ("out", "out.partial"):
        run(tmp_path / made)
    path, text = tmp_path / of / "manifest.json", MANIFESTS[kind]
    manifest = json.loads(path.read_text())
    if kind.startswith("files"):
        text = json.dumps({**manifest, "files": json.loads(text)})
    path.write_text(text)
    before = contents(tmp_path)
    assert re.search("manifest.json|must be new or hold", refusal(lambda: run(tmp_path / "out")))
    assert contents(tmp_path) == before


@each("count", [DAMAGES, pytest.param(MANY, marks=pytest.mark.long)])
def test_damaged_workloads_and_states_are_read_or_refused_in_one_line(tmp_path, count):
    draw, path = random.Random(7), tmp_path / "work.jsonl"
    learner, fixed = LearnAlpha(3, np.array([0.1, 0.4])), FixedShare(3, 0.1)
    learner.update([0.1, 0.2, 0.3])
    sampler = samplers.make("sop-ss", n_features=3, b=0.5, rng=np.random.default_rng(0))
    refused = 0
    for _ in range(count):
        path.write_bytes(damaged(WORK.encode(), draw))
        refused += bool(refusal(lambda: list(traces.read_workload(path))))
        made = draw.choice((learner, fixed, sampler))
        state = made.state()
        name = draw.choice(sorted(state))
        array = np.array(state[name])
        content = damaged(array.tobytes(), draw)
        content = content[: len(content) // array.itemsize * array.itemsize]
        array = np.frombuffer(content, array.dtype)
        state[name] = array.reshape(np.shape(state[name])) if array.size == np.size(state[name]) else array
        refused += bool(refusal(partial(from_state, state)))
    assert refused > count / 2
