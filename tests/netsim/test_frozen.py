"""The simulator answers as it did when its answers were kept (`tests.netsim.frozen`), whichever engine is asked."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.netsim.frozen import digests

ENGINES = ("packet", "express")
PART = 2_500
NEW_NUMBERS = {"wires": {4908}, "air": set()}
"""Worlds in which the express engine answers otherwise: it numbers connections anew for every page handed over, so that
lpsm3 takes one for an older one on which a message came."""
PARTS = [(kind, first) for kind, rows in digests.ROWS.items() for first in range(0, len(rows), PART)]


def differences(kind, numbers, engine):
    """Return how many of the worlds an engine covers, and name the parts of its answers that are not as they were."""
    answers = {number: digests.found(kind, number, engine) for number in numbers if digests.is_kept(kind, number)}
    covered = {number: answer for number, answer in answers.items() if answer is not None}
    differ = {number: digests.differing(kind, number, answer) for number, answer in covered.items()}
    return len(covered) / len(answers), {number: parts for number, parts in differ.items() if parts}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("kind", "step"), [("wires", 133), ("air", 133)])
def test_a_sample_of_worlds_is_answered_as_ever(kind, step, engine):
    covered, found = differences(kind, range(7, len(digests.ROWS[kind]), step), engine)
    assert not found
    assert covered == 1.0 if engine == "packet" else covered > 0.2


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("kind", "first"), PARTS)
def test_all_worlds_are_answered_as_ever(kind, first, engine):
    known = NEW_NUMBERS[kind] if engine == "express" else set()
    covered, found = differences(kind, set(range(first, first + PART)) - known, engine)
    assert not found
    assert covered == 1.0 if engine == "packet" else covered > 0.2


def test_of_every_world_but_a_few_an_answer_is_kept():
    assert digests.kept().shape == (digests.WORLDS + digests.CELLS, len(digests.PARTS))
    assert (
        sum(not digests.is_kept(kind, number) for kind, rows in digests.ROWS.items() for number in range(len(rows)))
        < 10
    )


def test_a_world_is_the_same_in_every_process():
    code = """
from tests.netsim.frozen import digests
for number in range(60, 80):
    print(digests.found("wires", number, "packet"), digests.found("air", number, "packet"))
"""

    def told(hash_seed):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    wanted = zip(*(digests.kept()[digests.ROWS[kind][60:80]].tolist() for kind in ("wires", "air")), strict=True)
    expected = "".join(f"{tuple(wires)} {tuple(air)}\n" for wires, air in wanted)
    assert told("1") == told("2") == expected


def test_what_changes_in_one_part_of_an_answer_is_named():
    wanted = digests.kept()[7].tolist()
    changed = np.array(wanted) ^ [0, 1, 0, 0]
    assert digests.differing("wires", 7, tuple(wanted)) == []
    assert digests.differing("wires", 7, tuple(changed.tolist())) == ["radio"]
