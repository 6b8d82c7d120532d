import json

import traces
from lpsm.randomness import WORKLOAD, generator
from tests.tables import each
from traces.traffic import APPS

KINDS = {"web": "pages", "mqtt": "both", "push": "messages", "stream": "pages", "mixed": "both"}


def test_the_pages_are_those_that_compare_draws_for_the_seed_and_add_up(lpsm, tmp_path):
    totals = json.loads(lpsm("generate", "--pages", "20", "--seed", "2", "--out", tmp_path / "w", "--json").stdout)
    pages = traces.read_workload(tmp_path / "w")
    assert pages == traces.generate(20, generator(2, WORKLOAD))
    assert totals["pages"] == 20
    assert totals["exchanges"] == sum(1 + len(page.objects) for page in pages)
    assert totals["think_s"] == sum(page.think_s for page in pages)
    assert lpsm("generate", "--pages", "20", "--seed", "2").stdout == (tmp_path / "w").read_text()
    assert lpsm("generate", "--pages", "20", "--seed", "3").stdout != (tmp_path / "w").read_text()


@each("kind", [*KINDS, *APPS, "web-servers"])
def test_every_kind_is_a_workload_that_the_seed_decides(lpsm, tmp_path, kind):
    years = ("--web", "1996") if kind == "web" else ()
    words = ("generate", *years, "--kind", kind, "--hours", "0.5" if kind in KINDS else "0.05", "--seed", "5")
    totals = json.loads(lpsm(*words, "--out", tmp_path / "w", "--json").stdout)
    found = traces.read_workload(tmp_path / "w")
    assert (totals["pages"], totals["messages"]) == (len(found), len(found.messages))
    assert lpsm(*words).stdout == (tmp_path / "w").read_text()
    assert found.messages or found or found.datagrams
    if kind in KINDS:
        assert bool(found.messages) == (KINDS[kind] != "pages")
        assert bool(found) == (KINDS[kind] != "messages")
