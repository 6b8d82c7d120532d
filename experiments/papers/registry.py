"""Every figure, table and theorem that is run again, by name.

What it models: the experiments (`kit.Experiment`) of all papers, each declared in a module of its paper.
What it leaves out: statements of the papers that need no record (`statements`).
"""

from collections.abc import Mapping
from importlib import import_module

from experiments.papers.kit import Experiment
from experiments.papers.statements import STATEMENTS

PAPERS: Mapping[str, str] = {
    "worst-case": "Cesa-Bianchi, Gentile and Zaniboni 2004",
    "thesis": "Monteleoni 2006",
    "rls": "Cesa-Bianchi 2007",
    "adaptive": "Cavallanti, Cesa-Bianchi and Gentile 2010",
    "drift": "Moroshko and Crammer 2014",
    "ours": "beyond the papers",
}
_MODULES = """
worst_case.text thesis.tracking thesis.browsing thesis.unknowns thesis.replayed thesis.sphere thesis.digits thesis.svm
rls.bounds rls.news_figures adaptive.regret_growth adaptive.news_figures drift.shifting ours.labels ours.studies
"""


def all_experiments() -> dict[str, Experiment]:
    """Return every experiment by name, in the order of the papers."""
    by_name: dict[str, Experiment] = {}
    for module in _MODULES.split():
        names = vars(import_module(f"experiments.papers.{module}"))
        declared = names.get("EXPERIMENTS") or [one for one in names.values() if isinstance(one, Experiment)]
        by_name |= {one.name: one for one in declared}
    return by_name


def choose(what: str) -> list[Experiment]:
    """Return the experiments meant by a name, by a paper, or by ``all``.

    Raises
    ------
    ValueError
        If there is no such experiment or paper, or it is a statement without a record of its own.
    """
    known = all_experiments()
    chosen = [one for name, one in known.items() if what in ("all", one.paper, name)]
    if chosen:
        return chosen
    stated = {one.name: one for one in STATEMENTS}
    if what in stated:
        raise ValueError(f"{what} has no record of its own: it is {stated[what].where}")
    raise ValueError(
        f"an experiment must be one of `lpsm reproduce --list`, a paper ({', '.join(PAPERS)}) or all, got {what!r}"
    )
