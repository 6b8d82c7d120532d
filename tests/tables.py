"""Tables of cases as text: a line a case, `expressions -> text`, or several between ` ; `; behind `  # ` is a remark.

A line that begins with spaces goes on the one before.  Expressions know `np`, `log`, `exp`, `inf`, `nan`, `Fraction`,
and the names that are given with a table.
"""

import math
import re
from fractions import Fraction
from operator import attrgetter

import numpy as np
import pytest

near = pytest.approx
KNOWN = {"np": np, "log": math.log, "exp": math.exp, "inf": math.inf, "nan": math.nan, "Fraction": Fraction}


def words(text):
    """Return the words of a text."""
    return text.split()


def split(text):
    """Return the cases of a table, without remarks."""
    text = re.sub(r"\n +", " ", re.sub(r"(^|  )# .*", "", text, flags=re.MULTILINE))
    return [line.strip() for line in re.split(r"\n| ; ", text) if line.strip()]


def rows(text, names=()):
    """Return a tuple for each case: the values of its expressions, then its text if it has one."""
    parts = (line.partition(" -> ") for line in split(text))
    return [(*eval(f"({values},)", KNOWN | dict(names)), *[said] * bool(arrow)) for values, arrow, said in parts]


def cases_of(arguments, text, names=()):
    """Run a test once for each case of a table."""
    return pytest.mark.parametrize(arguments.split(), rows(text, names))


def each(arguments, values):
    """Run a test once for each of the values; a text is its words."""
    return pytest.mark.parametrize(arguments, words(values) if isinstance(values, str) else values)


def value_error(match):
    """Expect a ValueError whose text fits the pattern."""
    return pytest.raises(ValueError, match=match)


def named(text, names=()):
    """Return the values of a table of `name = expression` by name."""
    parts = (line.partition(" = ") for line in split(text))
    return {name: eval(value, KNOWN | dict(names)) for name, _, value in parts}


def differing(thing, text, names=()):
    """Return what of a thing is not as a table of `attribute = value` says: what it is, and what it should be."""
    both = {name: (attrgetter(name)(thing), value) for name, value in named(text, names).items()}
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}


def unequal(text, names=()):
    """Return the rows of a table of `expression -> value` in which the two differ by more than rounding."""
    known = KNOWN | dict(names)
    pairs = ((line, [eval(side, known) for side in line.split(" -> ")]) for line in split(text))
    return [(line, found) for line, (found, value) in pairs if found != near(value, abs=1e-9)]
