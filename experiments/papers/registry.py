"""Every figure, table and theorem that is run again, by name.

What it models: an experiment is a sweep as data (key to task), a function that runs one task,
claims, and pictures.  A record, the rows all tasks returned, is written before anything is
concluded from it; claims and pictures are functions of the record alone, so that they
can be made again without running anything.  A claim is what the paper says, what it
prints, a predicate on our record and the tolerance with its reason; where it fails, it says what
the record shows of why.  What it leaves out: where records lie (`papers.archive`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from experiments.papers.claims import Claim, Record, Verdict
from experiments.papers.statements import STATEMENTS

__all__ = ["PAPERS", "Better", "Experiment", "Rows", "Setup", "all_experiments", "choose"]

Rows = dict[str, list[dict[str, Any]]]  # what a task returns: table -> rows, plain JSON data

PAPERS: Mapping[str, str] = {
    "worst-case": "Cesa-Bianchi, Gentile and Zaniboni 2004",
    "thesis": "Monteleoni 2006",
    "rls": "Cesa-Bianchi 2007",
    "adaptive": "Cavallanti, Cesa-Bianchi and Gentile 2010",
    "drift": "Moroshko and Crammer 2014",
    "ours": "beyond the papers",
}
_MODULES = (
    "thesis.sleep_times",
    "thesis.browsing",
    "thesis.server_delay",
    "thesis.replayed",
    "thesis.constant_m",
    "thesis.active",
    "thesis.table_3_1",
    "thesis.counterexample",
    "thesis.digits",
    "thesis.label_curves",
    "thesis.svm",
    "worst_case.text",
    "worst_case.equal_rates",
    "rls.separable",
    "rls.risk",
    "rls.closed_form",
    "rls.text",
    "rls.sparse",
    "adaptive.exponents",
    "adaptive.noise",
    "adaptive.labels",
    "adaptive.sampling",
    "adaptive.spending",
    "adaptive.topics",
    "adaptive.filtering",
    "drift.shifting",
    "ours.traffic",
    "ours.streams",
    "ours.lpsm2",
    "ours.lpsm2_learning",
    "ours.lpsm2_parts",
    "ours.air",
    "ours.lpsm3",
    "ours.lpsm3_parts",
    "ours.lpsm3_air",
    "ours.browsing",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a sweep is made for.

    Attributes
    ----------
    size
        "smoke" or "full".
    seed
        The first one.
    data
        The folder of data sets, if there is one.
    stand_in
        Whether something stands in for the data set.
    better
        Whether the data set of the paper itself is there and taken (`Experiment.better`).
    """

    size: str = "full"
    seed: int = 0
    data: Path | None = None
    stand_in: bool = False
    better: bool = False

    def __post_init__(self) -> None:
        """Hold size and seed to their ranges."""
        if self.size not in ("smoke", "full"):
            raise ValueError(f"size must be smoke or full, got {self.size!r}")
        if self.seed < 0:
            raise ValueError(f"seed must be at least 0, got {self.seed}")

    def pick(self, smoke: Any, full: Any) -> Any:
        """Return the value for this size."""
        return smoke if self.size == "smoke" else full

    def source(self) -> dict[str, Any]:
        """Return the columns of a task that say where its data are, or that something else is taken."""
        better = {"better": True} if self.better else {}
        return {"stand_in": self.stand_in, "folder": "" if self.stand_in else str(self.data), **better}


class Better(NamedTuple):
    """The data set of the paper itself, taken where somebody has it: its name in records, and a file that shows it."""

    name: str
    shown_by: str  # pattern below the folder of data sets


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One figure, table or theorem.

    Attributes
    ----------
    name
        Paper and place, ``thesis/fig-2-6``.
    claim
        What it is about, in a line.
    time
        How long the full size takes, in words.
    sweep
        Returns key to task; a task is plain JSON data.
    run
        Turns a task into rows; at the top level of a module, so that other processes find it.
    claims
        Checked on the record.
    figures
        Returns name to picture, from the record.
    data
        Folder of the data set it wants; empty if none.
    better
        The data set of the paper itself, if `data` is not that: it is taken before it where it is there.
    published
        Where that data set is published.
    stand_in
        What it runs on instead; empty if on nothing.
    traffic
        Whether the stand-in is taken without being asked for.
    """

    name: str
    claim: str
    time: str
    sweep: Callable[[Setup], Mapping[str, dict[str, Any]]]
    run: Callable[[dict[str, Any]], Rows]
    claims: tuple[Claim, ...]
    figures: Callable[[Record], Mapping[str, Figure]]
    data: str = ""
    better: Better | None = None
    published: str = ""
    stand_in: str = ""
    traffic: bool = False

    @property
    def paper(self) -> str:
        """Key of its paper."""
        return self.name.partition("/")[0]

    def verdicts(self, record: Record) -> list[tuple[Claim, Verdict]]:
        """Hold every claim against a record."""
        return [(claim, claim.check(record)) for claim in self.claims]

    def setup(self, setup: Setup) -> Setup:
        """Return the setup with the data this experiment will run on, None for its stand-in or for none.

        Raises
        ------
        FileNotFoundError
            If its data set is not there and its stand-in was not asked for.
        """
        if not self.data:
            return Setup(size=setup.size, seed=setup.seed)
        if setup.data is not None and not setup.stand_in:
            if self.better is not None and any(setup.data.glob(self.better.shown_by)):
                return replace(setup, better=True)
            if (setup.data / self.data).is_dir():
                return setup
        if self.stand_in and (self.traffic or setup.stand_in):
            return Setup(size=setup.size, seed=setup.seed, stand_in=True)
        where = f"{setup.data}/{self.data}" if setup.data is not None else self.data
        instead = f"; --stand-in runs on {self.stand_in} instead" if self.stand_in else ""
        raise FileNotFoundError(
            2, f"{self.name} wants this data set ({self.published}; give --data or set LPSM_DATA){instead}", where
        )

    def material(self, setup: Setup) -> str:
        """Say what data the record was made from."""
        if not self.data:
            return "generated"
        if setup.better and self.better is not None:
            return self.better.name
        return self.stand_in if setup.stand_in else self.data


def all_experiments() -> dict[str, Experiment]:
    """Return every experiment by name, in the order of the papers."""
    found: dict[str, Experiment] = {}
    for module in _MODULES:
        for experiment in import_module(f"experiments.papers.{module}").EXPERIMENTS:
            if experiment.name in found:
                raise ValueError(f"experiments must have different names, got {experiment.name} twice")
            found[experiment.name] = experiment
    return {name: found[name] for paper in PAPERS for name in found if found[name].paper == paper}


def choose(what: str) -> list[Experiment]:
    """Return the experiments meant by a name, by a paper, or by ``all``.

    Raises
    ------
    ValueError
        If there is no such experiment or paper, or it is a statement without a record of its own.
    """
    known = all_experiments()
    chosen = [one for name, one in known.items() if what in ("all", one.paper, name)]
    if not chosen:
        from difflib import get_close_matches

        stated = {one.name: one for one in STATEMENTS}
        if what in stated:
            raise ValueError(f"{what} has no record of its own: it is {stated[what].where}")
        near = get_close_matches(what, [*known, *PAPERS, *stated, "all"], n=1)
        raise ValueError(
            f"an experiment must be one of `lpsm reproduce --list`, a paper ({', '.join(PAPERS)}) or all, got {what!r}"
            + (f"; did you mean {near[0]!r}?" if near else "")
        )
    return chosen
