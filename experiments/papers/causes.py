"""Why claims fail: of each that is known to, a class and a cause in a sentence, kept beside the statement that failed.

What it models: the table `causes.txt`: an experiment (or several that one measurement decides), the beginning of the
statement, the class (`CLASSES`) and the cause.  The figure of a cause is the record's, which the verdict gives.
What it leaves out: noise, which a verdict finds by itself, and causes that nobody has looked for.
"""

from functools import cache
from pathlib import Path

from experiments.papers.claims import cases

CLASSES = {
    "mendable": "more runs, or a convention that the paper does not state, may decide",
    "data": "the paper's own data are not at hand",
    "false in print": "the statement does not hold of the algorithm that is printed",
    "unresolved": "what was tried does not explain it",
    "noise": "the interval is wider than the difference",
}
UNKNOWN = "unresolved: nothing was tried that would explain it"


@cache
def causes() -> tuple[tuple[str, str, str, str], ...]:
    """Return experiment, beginning of the statement, class and cause of each row."""
    rows = cases(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8"))
    return tuple((name, begins, sort, cause) for names, begins, sort, cause in rows for name in names.split())


def cause_of(experiment: str, statement: str) -> str:
    """Return class and cause of a claim, were it to fail; without one known, that it is unresolved."""
    for name, begins, sort, cause in causes():
        if name == experiment and statement.startswith(begins):
            return f"{sort}: {cause}"
    return UNKNOWN
