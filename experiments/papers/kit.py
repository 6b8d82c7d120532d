"""One object for an experiment: the runs, the claims about their record, and the pictures of it.

A module of a paper makes an `Experiment` and declares everything about it with that object:

* `Experiment.runs` says which tasks are run (`over` takes the product of named axes) and which function runs one.  The
  function gets a task's values by name and returns rows.  All rows together are the record: a frame a table.
* `Experiment.claim` says what the paper states and which predicate (`predicates`) the decorated measure has to satisfy,
  once or at every point of some axes.
* `Experiment.picture` draws the frames that the decorated function returns; `Experiment.table` is a table of words.
* `Experiment.view` is another experiment on the same runs: a record that is there is not computed again.

Measures and drawings are functions of the record alone, so that claims can be checked and pictures drawn again without
running anything.  They get tables by the names of their parameters (`claims.from_record`).  Claims and pictures keep
the order of their declaration; ready ones are appended to the list `Experiment.claims`.
An example is in ``docs/reproduce.md``.
What it leaves out: where records lie (`archive`), and which experiments there are (`registry`).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import panels
from experiments.papers.claims import Claim, Record, from_record
from experiments.quantities import Row

Rows = dict[str, list[Row]]  # what a task returns: table -> rows, plain JSON data


class DataSet(NamedTuple):
    """The data that an experiment wants, a folder below that of all data sets, and what is generated in its place.

    Where these are not the `paper`'s own, files of that pattern (`own`) are taken in their place where they are there.
    """

    folder: str
    published: str
    stand_in: str = ""
    unasked: bool = False  # the stand-in is taken without being asked for
    paper: str = ""
    own: str = ""

    def told(self, material: str) -> str:
        """Return what data a record is of, and what they stand in for."""
        if material == self.own.partition("/")[0]:
            return self.paper
        wanted = self.paper or (self.folder if material != self.folder else "")
        return f"{material}, for {wanted}" if wanted else material


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a sweep is made for: size "smoke" or "full", first seed, and the folder of data sets, if there is one.

    `stand_in` says that something stands in for the data set, and `material` what data these are.
    """

    size: str = "full"
    seed: int = 0
    data: Path | None = None
    stand_in: bool = False
    material: str = "generated"

    def __post_init__(self) -> None:
        """Refuse another size."""
        if self.size not in ("smoke", "full"):
            raise ValueError(f"size must be smoke or full, got {self.size!r}")

    def pick(self, smoke: Any, full: Any) -> Any:
        """Return the value for this size."""
        return smoke if self.size == "smoke" else full

    def source(self) -> Row:
        """Return the columns of a task that say where its data are, or that something else is taken."""
        return {"stand_in": self.stand_in, "folder": "" if self.stand_in else str(self.data)}


_PROVED = re.compile("theorem|counterexample|regret-growth|remark|noise|risk|equation-5|table-3-1|lemma|corollar")
"""Places whose claims the paper proves: there a run checks this program as much as the paper."""
Sweep = Callable[[Setup], Mapping[str, Row]]  # key -> task, plain JSON data


class Sizes(NamedTuple):
    """A value for the smoke size and one for the full size."""

    smoke: Any
    full: Any


def _points(axes: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the points of a product of axes, name to value; several names with blanks between them share an axis."""
    for values in product(*axes.values()):
        point: Row = {}
        for names, value in zip(map(str.split, axes), values, strict=True):
            point |= zip(names, value if len(names) > 1 else (value,), strict=True)
        yield point


def over(axes: Row, key: str = "", **constants: Any) -> Sweep:
    """Return the sweep over the product of axes, the last of which varies fastest.

    Parameters
    ----------
    axes
        Name to values (or `Sizes` of them); several names with blanks between them take tuples of values.  A number
        stands for so many seeds, from the first one on.
    key
        Format of a task's key, with the names of its values in braces; names and values of the axes by default.
    constants
        Values (or `Sizes`) that are the same in every task.  The first seed is one of them unless there is an axis of
        that name.
    """

    def sweep(setup):
        def at_size(values):
            return {name: setup.pick(*one) if isinstance(one, Sizes) else one for name, one in values.items()}

        tasks, common = {}, {"seed": setup.seed, **at_size(constants)}
        seeds = {name: range(setup.seed, setup.seed + n) for name, n in at_size(axes).items() if isinstance(n, int)}
        for task in _points(at_size(axes) | seeds):
            default = " ".join(f"{name} {{{name}{':g' * isinstance(task[name], float)}}}" for name in task)
            tasks[(key or default).format(**common | task)] = common | task
        return tasks

    return sweep


@dataclass(frozen=True, slots=True)
class Run:
    """Runs a task with a function of a module's top level, so that other processes find it.

    The function gets the task's values by name and returns table to rows, or the rows of one table, which has the
    function's name; rows may be a frame.
    """

    function: Callable[..., Any]

    def __call__(self, task: Row) -> Rows:
        """Return the rows of one task."""
        tables = self.function(**task)
        if not isinstance(tables, Mapping):
            tables = {self.function.__name__: tables}
        return {name: own if isinstance(own, list) else own.to_dict("records") for name, own in tables.items()}


@dataclass(slots=True, eq=False)
class Experiment:
    """One figure, table or theorem of a paper: ``thesis/fig-2-6``, its subject in a line, how long it takes, its data.

    `runs`, `claim`, `picture` and `table` declare the rest; `sweep`, `run` and `claims` are for what is ready.
    """

    name: str
    subject: str
    time: str
    data: DataSet | None = None
    _: KW_ONLY
    sweep: Sweep = lambda setup: {}
    run: Callable[[Row], Rows] = Run(dict)
    claims: list[Claim] = field(default_factory=list)
    drawings: dict[str, Callable[[Record], Any]] = field(default_factory=dict)

    @property
    def paper(self) -> str:
        """Key of its paper."""
        return self.name.partition("/")[0]

    @property
    def minutes(self) -> float:
        """How long a full run takes on one processor, in minutes; 0 where it takes the runs of another."""
        number, _, unit = self.time.partition(" ")
        return float(number) * {"s": 1 / 60, "min": 1.0, "h": 60.0}[unit] if number.isdigit() else 0.0

    def runs(self, sweep):
        """Declare the tasks, and the function that runs one (`Run`)."""

        def declare(function):
            self.sweep, self.run = sweep, Run(function)
            return function

        return declare

    def claim(self, statement, test, printed="", reason="", *, of=({},), no_test="", kind="", whole=False, **limits):
        """Declare a claim on what the decorated function measures: `test` gets the measure and the limits.

        With axes `of` values there is a claim at every point of their product (`over`), or at each of the points given:
        its values stand for their names in braces in the words, the measure gets those that it has parameters for, and
        the test those that are its limits.  The other arguments are those of `claims.Claim`.
        """

        def declare(measure):
            for point in _points(of) if isinstance(of, Mapping) else of:
                stated, quoted, cause, idle = (
                    words.format_map(point) if point else words for words in (statement, printed, reason, no_test)
                )
                given = {name: point[name] for name in signature(measure).parameters if name in point}
                own = {name: point[name] for name in ("limit", "low", "high", "needed") if name in point}
                asked = test(partial(measure, **given), **limits | own)
                self.claims.append(Claim(stated, asked, quoted, cause, idle, kind, whole))
            return measure

        return declare

    def picture(self, name, **axes):
        """Declare a picture: the decorated function returns it, or a frame, or several with their titles.

        Frames are drawn by `figures.papers.panels`, which gets the arguments `axes`.
        """

        def declare(drawing):
            def draw(record):
                drawn = from_record(drawing, record)
                if isinstance(drawn, Figure):
                    return drawn
                return panels([("", drawn)] if isinstance(drawn, pd.DataFrame) else list(drawn), **axes)

            self.drawings[name] = draw
            return drawing

        return declare

    def table(self, name):
        """Declare a table of words: the decorated function returns it as a frame."""

        def declare(function):
            self.drawings[name] = partial(from_record, function)
            return function

        return declare

    def view(self, name, subject, time):
        """Return another experiment on the runs of this one, still without claims and pictures."""
        return Experiment(name, subject, time, self.data, sweep=self.sweep, run=self.run)

    def kind(self, claim: Claim) -> str:
        """Return what a claim is: own, a printed level, a theorem, or else a claim of the paper."""
        if self.paper == "ours" or not claim.printed or claim.reason.startswith("ours"):
            return "own"
        return claim.kind or ("theorem" if _PROVED.match(self.name.partition("/")[2]) else "claim")

    def verdicts(self, record):
        """Hold every claim against a record."""
        return [(claim, claim.check(record)) for claim in self.claims]

    def figures(self, record):
        """Return every picture, or table of words, of a record by its name."""
        return {name: draw(record) for name, draw in self.drawings.items()}

    def setup(self, setup: Setup) -> Setup:
        """Return the setup with the data this experiment will run on, None for its stand-in or for none.

        Raises FileNotFoundError if its data set is not there and its stand-in was not asked for.
        """
        data, generated = self.data, Setup(size=setup.size, seed=setup.seed)
        if data is None:
            return generated
        path = (setup.data or Path()) / data.folder
        if setup.data is not None and not setup.stand_in:
            if data.own and any(setup.data.glob(data.own)):
                return replace(setup, material=data.own.partition("/")[0])
            if path.is_dir():
                return replace(setup, material=data.folder)
        if data.stand_in and (data.unasked or setup.stand_in):
            return replace(generated, stand_in=True, material=data.stand_in)
        instead = f"; --stand-in runs on {data.stand_in} instead" if data.stand_in else ""
        wanted = f"{self.name} wants this data set ({data.published}; give --data or set LPSM_DATA){instead}"
        raise FileNotFoundError(2, wanted, str(path))
