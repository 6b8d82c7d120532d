"""The figures, tables and theorems of the five papers that no experiment is named after, and where each one stands.

What it models: a statement is held by a function of `lpsm.bounds` or `theorems`, or by an algorithm, with its tests, or
by an experiment that has another name; those that have no number to compute say so.  Together with
the experiments these are all numbered figures, tables, theorems, lemmas, corollaries and claims of the papers.
What it leaves out: remarks and equations that neither a function nor an experiment computes.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from experiments.papers.claims import cases


class Statement(NamedTuple):
    """A figure, table or theorem that no experiment is named after: paper and place, and what it says, in a line.

    `code` are names below `lpsm` (``theorems.`` stands below `experiments.papers`, `netsim` for itself) and keys of
    samplers (those without a dot), with blanks between them; of what has none `why_not` says why.  `test` is which file
    ``tests/lpsm/test_*.py`` holds the code to it, or ``theorems``, or with ``netsim_`` before it one of the simulator;
    `experiment` the one that runs it, and `misprint` the place of its misprint in ``docs/sampler-bounds.md``, if any.
    """

    name: str
    says: str
    code: str = ""
    test: str = ""
    experiment: str = ""
    misprint: str = ""
    why_not: str = ""

    @property
    def test_file(self) -> str:
        """The file of its test."""
        if self.test == "theorems":
            return "tests/experiments/papers/test_theorems.py"
        room, _, rest = self.test.partition("netsim_")
        return f"tests/netsim/test_{rest}.py" if rest else f"tests/lpsm/test_{room}.py"

    @property
    def where(self) -> str:
        """Where it stands: its code and test, the experiment, and a misprint."""
        names = [place_of(one) if "." in one else f'lpsm.samplers.make("{one}")' for one in self.code.split()]
        parts = [f"part of {self.experiment}"] if self.experiment else []
        parts += [f"{', '.join(names)}, which {self.test_file} holds to the paper"] if names else []
        held = ", and ".join(parts) or f"not computed: {self.why_not}"
        return held + (f"; misprinted ({self.misprint}, see docs/sampler-bounds.md)" if self.misprint else "")


def place_of(name: str) -> str:
    """Return the full name of a function."""
    room = name.partition(".")[0]
    return {"theorems": f"experiments.papers.{name}", "netsim": name}.get(room, f"lpsm.{name}")


def _read() -> Iterator[Statement]:
    """Read the table: place, what it says | code | test | experiment | misprint | why not, each or - for none."""
    for stated, *more in cases(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")):
        name, _, says = stated.partition(": ")
        yield Statement(name, says, *("" if cell == "-" else cell for cell in more))


STATEMENTS = tuple(_read())
