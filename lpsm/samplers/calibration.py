"""Probabilities from scores: one number, fitted to the labels that were bought.

What it models: softmax(beta scores), beta > 0 of least log loss over the scores that the bought instances had in their
rounds, before their labels were known.  Which labels are bought depends on the scores (and a coin), so that those
bought are, given the score, a fair sample of all.  Targets are softened, the label's being (n + 1)/(n + k), as in
Platt 1999, so that a few that are all right do not make sure of everything.  The largest probability stays where the
largest score is.
What it leaves out: a bias, which would move it.
Source: Guo, Pleiss, Sun and Weinberger 2017, section 4.2 (temperature scaling).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import scipy
from scipy.special import log_softmax, softmax

from lpsm.arrays import Floats, Ints

LEAST = 1e-6  # of beta, over the size of the scores: the largest probability stays where the largest score is


def fitted_scale(scores: Sequence[Floats] | Floats, labels: Sequence[int] | Ints) -> float:
    """Return beta for the scores (n, k) of instances of these classes (n,); 0 if there are none."""
    if not len(labels):
        return 0.0
    table = np.asarray(scores, float)
    n, k = table.shape
    if not (size := float(np.abs(table - table.mean(axis=1, keepdims=True)).mean())):
        return LEAST
    wanted = np.full((n, k), 1.0 / (n + k))
    wanted[np.arange(n), labels] = (n + 1.0) / (n + k)

    def loss(beta: float) -> float:
        return -float((wanted * log_softmax(beta * (table / size), axis=1)).sum())

    found = scipy.optimize.minimize_scalar(loss, bounds=(0.0, 50.0 * np.log(n + 2.0)), method="bounded")
    return (float(found.x) if found.fun < loss(0.0) else LEAST) / size


def probabilities(scores: Floats, beta: float) -> Floats:
    """Return softmax(beta scores), (n, k)."""
    return np.asarray(softmax(beta * scores, axis=1))


def leads(margins: Floats) -> Floats:
    """Return scores (n, 2) of two classes of which the second leads by twice the margin, (n,)."""
    return np.column_stack([-margins, margins])


class Bought:
    """Scores in their rounds of the instances that were asked about, and the classes of those whose labels came."""

    def __init__(self) -> None:
        self.scores: list[Floats] = []
        self.codes: list[int] = []
        self.open: dict[int, Floats] = {}  # (1, k) of questions whose labels have not come, by ticket
        self._scale: float | None = None

    def add(self, scores: Floats, codes: Iterable[int]) -> None:
        """Enter the scores (n, k) of instances, and their classes (n,)."""
        self.scores += list(scores)
        self.codes += list(codes)
        self._scale = None

    def answer(self, ticket: int, code: int) -> None:
        """Enter the class of an instance whose question was open."""
        self.add(self.open.pop(ticket), [code])

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probabilities of the classes at scores (n, k), by `fitted_scale` of all there is."""
        if self._scale is None:
            self._scale = fitted_scale(self.scores, self.codes)
        return probabilities(scores, self._scale)
