"""The simulator answers as it did when its answers were kept (`tests.netsim.frozen`), interpreted and compiled."""

import numpy as np
import pytest

from tests.netsim.frozen import digests

PART = 2_500
DRIVERS = {"driver wires": (49, 30, 44, 32), "driver air": (13, 17, 28)}
"""None has arrays of other sizes: to compile the rule for them takes twenty seconds."""
SAMPLE = [(kind, number) for kind, rows in digests.ROWS.items()
    for number in DRIVERS.get(kind, range(7, len(rows), 199))]  # fmt: skip
INTERPRETED = SAMPLE[::2]
PARTS = [(kind, first) for kind, rows in digests.ROWS.items() for first in range(0, len(rows), PART)]


def changed(kind, number, engine):
    """Name the parts of an answer that are not as kept; only a policy of one's own has no compiled rule."""
    answer = digests.found(kind, number, engine)
    own = any(not isinstance(policy, str) for _, policy in digests.MADE[kind](number).clients)
    assert (answer is None) == (engine == "express" and own), number
    return [] if answer is None else digests.differing(kind, number, answer)


@pytest.mark.parametrize(("kind", "number"), INTERPRETED)
def test_a_world_of_the_sample_is_answered_as_ever_interpreted(kind, number):
    assert changed(kind, number, "packet") == []


def test_the_worlds_of_the_sample_are_answered_as_ever_compiled():
    assert not {world: parts for world in SAMPLE if (parts := changed(*world, "express"))}


@pytest.mark.long
@pytest.mark.parametrize("engine", ["packet", "express"])
@pytest.mark.parametrize(("kind", "first"), PARTS)
def test_all_worlds_are_answered_as_ever(kind, first, engine):
    numbers = range(first, min(first + PART, len(digests.ROWS[kind])))
    found = {number: changed(kind, number, engine) for number in numbers}
    assert not {number: parts for number, parts in found.items() if parts}


def test_of_every_world_an_answer_is_kept_and_what_changes_in_it_is_named():
    assert digests.kept().shape == (sum(map(len, digests.ROWS.values())), len(digests.PARTS))
    assert digests.kept().any(axis=1).all()
    wanted = digests.kept()[7]
    assert digests.differing("wires", 7, tuple(wanted.tolist())) == []
    assert digests.differing("wires", 7, tuple((wanted ^ np.array([0, 1, 0, 0])).tolist())) == ["radio"]
