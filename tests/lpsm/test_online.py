"""The shared core: rounds, the run loop and the ledger."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lpsm.online import Ledger, play

rounds = st.lists(st.tuples(st.floats(0, 100), st.booleans(), st.booleans()))


@given(rounds)
def test_many_rounds_at_once_leave_the_same_ledger_as_one_by_one(rows):
    one, many = Ledger(), Ledger()
    for row in rows:
        one.record(*row)
    columns = np.array(rows, dtype=float).reshape(-1, 3).T
    many.extend(columns[0], columns[1], columns[2])
    for name in ("losses", "mistaken", "queried"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))
    assert (many.rounds, many.mistakes, many.queries) == (len(rows), sum(r[1] for r in rows), sum(r[2] for r in rows))


def test_a_round_infinite_for_both_leaves_the_regret_unchanged():
    ledger = Ledger()
    ledger.extend([1.0, np.inf, 2.0])
    assert ledger.regret([0.5, np.inf, 0.5]).tolist() == [0.5, 0.5, 2.0]
    assert ledger.regret([0.5, 0.0, 0.5])[-1] == np.inf


class Asker:
    """Predicts +1, asks every other time, and remembers what it was told."""

    def __init__(self):
        self.seen, self.told = 0, []

    def decide(self, x):
        self.seen += 1
        return SimpleNamespace(prediction=1, query=self.seen % 2 == 1)

    def learn(self, x, y):
        self.told.append((x, y))
        return y < 0


def test_a_selective_learner_is_told_only_the_labels_it_asked_for_and_nobody_looks_at_the_others():
    asker, looked_at = Asker(), []

    def label(t):
        looked_at.append(t)
        return [1, -1, -1, 1][t]

    rounds = list(play(asker, iter("abcd"), label))
    assert asker.told == [("a", 1), ("c", -1)]
    assert looked_at == [0, 2]
    assert [decision.query for decision, _ in rounds] == [True, False, True, False]
    assert [stored for _, stored in rounds] == [False, False, True, False]
