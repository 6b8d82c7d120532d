"""Every numbered figure, table and theorem of the papers has an experiment, or code and a test that names it."""

import json
import re
from pathlib import Path
from pydoc import locate

import pytest

from experiments.papers.causes import CLASSES, UNKNOWN, cause_of, causes
from experiments.papers.registry import PAPERS, all_experiments
from experiments.papers.statements import STATEMENTS, place_of
from lpsm import samplers

ROOT = Path(__file__).parents[3]
PRINTED = """
worst-case: fig-1 fig-2 fig-3 theorem-1 theorem-2 remark-1 remark-2
thesis: fig-2-1 fig-2-2 fig-2-3 fig-2-4 fig-2-5 fig-2-6 fig-2-7 fig-2-8 fig-2-9 fig-2-10 fig-2-11 fig-3-1 fig-3-2
    fig-3-3 fig-3-4 fig-4-1 fig-4-2 fig-4-3 fig-4-4 fig-4-5 fig-4-6 table-3-1 table-4-1 theorem-1 theorem-2 theorem-3
    theorem-4 theorem-5 theorem-6 theorem-7 lemma-1 lemma-2 lemma-3 lemma-4 lemma-5 lemma-6 lemma-7 lemma-8 lemma-9
    lemma-10 lemma-11 lemma-12 lemma-13 lemma-14 lemma-15 lemma-16 corollary-1 corollary-2 claim-1
rls: fig-1 fig-2 fig-3 theorem-1 theorem-2 theorem-3
adaptive: fig-1 fig-2 fig-3 fig-4 fig-5 fig-6 fig-7 fig-8 fig-9 fig-10 fig-11 fig-12 theorem-1 theorem-2 lemma-1
    lemma-2 lemma-3 lemma-4 lemma-5
drift: fig-1 fig-2 table-1 table-2 lemma-1 lemma-7 theorem-2 theorem-4 corollary-8 corollary-9 remark-3 remark-6
"""  # as the papers number them; remarks and equations are printed too, and only some say more than words


def test_every_numbered_place_of_a_paper_is_listed_once():
    names = [*all_experiments(), *(one.name for one in STATEMENTS)]
    assert len(set(names)) == len(names)
    for line in PRINTED.replace("\n    ", " ").strip().splitlines():
        paper, _, places = line.partition(": ")
        for place in (f"{paper}/{one}" for one in places.split()):
            parts = [name for name in names if name.startswith(f"{place}-") and not name[len(place) + 1].isdigit()]
            assert (place in names) != bool(parts), place


@pytest.mark.parametrize("one", STATEMENTS, ids=[one.name for one in STATEMENTS])
def test_the_code_of_a_statement_is_there_and_its_test_names_it(one):
    tested = (ROOT / one.test_file).read_text() if one.code else ""
    if "tests.oracles import" in tested:
        tested += "".join(path.read_text() for path in (ROOT / "tests/oracles").glob("*_trials.py"))
    if "frozen import streams" in tested:  # the keys that the test goes through
        tested += (ROOT / "tests/lpsm/frozen/streams.py").read_text()
    assert bool(one.code) == bool(one.test)
    assert bool(one.why_not) != bool(one.code or one.experiment)
    for name in one.code.split():
        if "." in name:
            assert locate(place_of(name)) is not None
            assert name.rpartition(".")[2] in tested, name
        else:
            assert name in samplers.registry()
            assert re.search(rf"(?<![\w-]){name}(?![\w-])", tested), name
    assert not one.experiment or one.experiment in all_experiments()
    assert one.misprint in (ROOT / "docs" / "sampler-bounds.md").read_text()
    assert one.name.partition("/")[0] in PAPERS


def test_a_cause_is_known_of_a_claim_that_there_is():
    for name, begins, sort, _ in causes():
        claims = [one for one in all_experiments()[name].claims if one.statement.startswith(begins)]
        assert claims, (name, begins)
        assert sort in CLASSES
        assert cause_of(name, claims[0].statement).startswith(f"{sort}: ")
    assert cause_of("thesis/fig-2-5", "what nobody looked at") == UNKNOWN


def test_a_statement_is_listed_and_answers_with_where_it_stands(lpsm, complaint):
    listed = lpsm("reproduce", "--list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == [*all_experiments(), *(one.name for one in STATEMENTS)]
    told = json.loads(lpsm("reproduce", "--list", "--json").stdout)
    assert [one["name"] for one in told["statements"]] == [one.name for one in STATEMENTS]
    for name, said in {
        "thesis/lemma-1": "regret_identity",
        "thesis/theorem-4": "part of thesis/theorems-4-5",
        "thesis/lemma-9": "not computed: it follows from",
    }.items():
        answer = complaint("reproduce", name)
        assert f"{name} has no record of its own: it is " in answer
        assert said in answer
