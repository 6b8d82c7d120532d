"""The simulator answers as it did when its answers were kept (`tests.netsim.frozen`), interpreted and compiled."""

import numpy as np
import pytest

from tests.netsim.frozen import digests

ENGINES = ("packet", "express")
PART = 2_500
PARTS = [(kind, first) for kind, rows in digests.ROWS.items() for first in range(0, len(rows), PART)]


def differences(kind, numbers, engine):
    """Return the worlds that an engine does not cover, and name the parts of its answers that are not as they were."""
    answers = {number: digests.found(kind, number, engine) for number in numbers}
    refused = {number for number, answer in answers.items() if answer is None}
    differ = {number: digests.differing(kind, number, answers[number]) for number in answers.keys() - refused}
    return refused, {number: parts for number, parts in differ.items() if parts}


def without_rule(kind, numbers):
    """Return the worlds in which a policy of one's own has no compiled rule."""
    clients = {number: digests.MADE[kind](number).clients for number in numbers}
    return {n for n, both in clients.items() if any(not isinstance(policy, str) for _, policy in both)}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", digests.ROWS)
def test_a_sample_of_worlds_is_answered_as_ever(kind, engine):
    numbers = range(7, len(digests.ROWS[kind]), 199)
    refused, found = differences(kind, numbers, engine)
    assert not found
    assert refused == (without_rule(kind, numbers) if engine == "express" else set())


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("kind", "first"), PARTS)
def test_all_worlds_are_answered_as_ever(kind, first, engine):
    numbers = range(first, first + PART)
    refused, found = differences(kind, numbers, engine)
    assert not found
    assert refused == (without_rule(kind, numbers) if engine == "express" else set())


def test_of_every_world_an_answer_is_kept():
    assert digests.kept().shape == (digests.WORLDS + digests.CELLS, len(digests.PARTS))
    assert digests.kept().any(axis=1).all()


def test_what_changes_in_one_part_of_an_answer_is_named():
    wanted = digests.kept()[7].tolist()
    changed = np.array(wanted) ^ [0, 1, 0, 0]
    assert digests.differing("wires", 7, tuple(wanted)) == []
    assert digests.differing("wires", 7, tuple(changed.tolist())) == ["radio"]
