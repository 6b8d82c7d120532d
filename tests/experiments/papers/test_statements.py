"""Every numbered figure, table and theorem of the papers has an experiment, or code and a test that names it."""

import json
from pathlib import Path
from pydoc import locate

import pytest
from click.testing import CliRunner

from experiments.cli import main
from experiments.papers.registry import PAPERS, all_experiments
from experiments.papers.statements import STATEMENTS, place_of
from lpsm import samplers

ROOT = Path(__file__).parents[3]
PRINTED = {  # as the papers number them; remarks and equations are printed too, and only some say more than words
    "worst-case": {"fig": range(1, 4), "theorem": (1, 2), "remark": (1, 2)},
    "thesis": {
        "fig": [f"{chapter}-{n}" for chapter, last in ((2, 11), (3, 4), (4, 6)) for n in range(1, last + 1)],
        "table": ("3-1", "4-1"),
        "theorem": range(1, 8),
        "lemma": range(1, 17),
        "corollary": (1, 2),
        "claim": (1,),
    },
    "rls": {"fig": range(1, 4), "theorem": range(1, 4)},
    "adaptive": {"fig": range(1, 13), "theorem": (1, 2), "lemma": range(1, 6)},
    "drift": {
        "fig": (1, 2),
        "table": (1, 2),
        "lemma": (1, 7),
        "theorem": (2, 4),
        "corollary": (8, 9),
        "remark": (3, 6),
    },
}


@pytest.mark.parametrize("paper", PRINTED)
def test_every_numbered_place_of_a_paper_is_listed_once(paper):
    names = [*all_experiments(), *(one.name for one in STATEMENTS)]
    assert len(set(names)) == len(names)
    for kind, numbers in PRINTED[paper].items():
        for number in numbers:
            place = f"{paper}/{kind}-{number}"
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
    for name in one.code.split():
        if "." in name:
            assert locate(place_of(name)) is not None
            assert name.rpartition(".")[2] in tested, name
        else:
            assert name in samplers.registry()
            assert f'"{name}"' in tested, name
    assert not one.experiment or one.experiment in all_experiments()
    assert one.misprint in (ROOT / "docs" / "sampler-bounds.md").read_text()
    assert one.name.partition("/")[0] in PAPERS


def test_a_statement_is_listed_and_answers_with_where_it_stands():
    listed = CliRunner().invoke(main, ["reproduce", "--list"]).stdout.splitlines()
    assert [line.split()[0] for line in listed] == [*all_experiments(), *(one.name for one in STATEMENTS)]
    told = json.loads(CliRunner().invoke(main, ["reproduce", "--list", "--json"]).stdout)
    assert [one["name"] for one in told["statements"]] == [one.name for one in STATEMENTS]
    for name, said in {"thesis/lemma-1": "regret_identity", "thesis/theorem-4": "part of thesis/theorems-4-5"}.items():
        answer = CliRunner().invoke(main, ["reproduce", name], standalone_mode=False)
        assert str(answer.exception).startswith(f"{name} has no record of its own: it is ")
        assert said in str(answer.exception)
