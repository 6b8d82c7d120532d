"""Tables of cases as text: a line a case, `expressions -> text`, or several between ` ; `; behind `  # ` is a remark.

Expressions know `np`, `log`, `inf`, `nan`, `Fraction`, and the names that are given with a table.
"""

import math
import re
from fractions import Fraction
from operator import attrgetter

import numpy as np
import pytest

KNOWN = {"np": np, "log": math.log, "inf": math.inf, "nan": math.nan, "Fraction": Fraction}


def rows(text, names=()):
    """Return a tuple for each case: the values of its expressions, then its text if it has one.

    A line that begins with spaces goes on the one before.
    """
    text = re.sub(r"(^|  )# .*", "", text, flags=re.MULTILINE).replace("\n ", " ").replace(" ; ", "\n")
    parts = (line.strip().partition(" -> ") for line in text.splitlines() if line.strip())
    return [(*eval(f"({values},)", KNOWN | dict(names)), *[said] * bool(arrow)) for values, arrow, said in parts]


def cases_of(arguments, text, names=()):
    """Run a test once for each case of a table."""
    return pytest.mark.parametrize(arguments.split(), rows(text, names))


def differing(thing, text, names=()):
    """Return what of a thing is not as a table says, `attribute = value; ...`: what it is, and what it should be."""
    parts = (part.strip().split(" = ") for part in text.replace("\n", " ").split("; "))
    both = {name: (attrgetter(name)(thing), eval(value, KNOWN | dict(names))) for name, value in parts}
    return {name: (found, wanted) for name, (found, wanted) in both.items() if found != wanted}
