"""A learner of hazard rates by itself, for tests of what LPSM3 keeps in a state of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netsim.sleep_planning.hazards import EDGES_NS, N_BINS, N_WIDTHS, first_rates, learn_wait

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class HazardLearner:
    """The arrays of one kind of wait, for whoever does not keep them in a state of their own.

    Attributes
    ----------
    prior_events, prior_shape : float
        See `learn_wait`.
    events, at_risk_s, mean_rates : array of float64, shape (N_BINS,)
    rates : array of float64, shape (N_WIDTHS, N_BINS)
    log_evidence : array of float64, shape (N_WIDTHS,)

    Examples
    --------
    >>> learner = HazardLearner.fresh()
    >>> for _ in range(1000):
    ...     learner.learn(40_200_000)
    >>> bool(learner.survival(38_000_000) > 0.99), bool(learner.survival(42_000_000) < 0.2)
    (True, True)
    """

    prior_events: float
    prior_shape: float
    events: Floats
    at_risk_s: Floats
    rates: Floats
    log_evidence: Floats
    mean_rates: Floats

    @classmethod
    def fresh(cls, prior_events: float = 0.1, prior_shape: float = 0.5) -> HazardLearner:
        """Return one that has learned nothing."""
        rates, mean_rates = np.empty((N_WIDTHS, N_BINS)), np.empty(N_BINS)
        first_rates(prior_events, prior_shape, rates, mean_rates)
        nothing = (np.zeros(N_BINS), np.zeros(N_BINS), rates, np.zeros(N_WIDTHS), mean_rates)
        return cls(prior_events, prior_shape, *nothing)

    def learn(self, to_ns: int, *, from_ns: int = 0, ended: bool = True) -> None:
        """Learn from a wait watched between two ages, nanoseconds; `ended` or cut short."""
        arrays = (self.events, self.at_risk_s, self.rates, self.log_evidence, self.mean_rates)
        learn_wait(*arrays, self.prior_events, self.prior_shape, from_ns, to_ns, ended)

    def survival(self, age_ns: int) -> float:
        """Return the probability that a wait lasts longer than `age_ns`."""
        spans_s = (np.minimum(EDGES_NS[1:], age_ns) - EDGES_NS[:-1]).clip(0) * 1e-9
        return float(np.exp(-(spans_s * self.mean_rates).sum()))
