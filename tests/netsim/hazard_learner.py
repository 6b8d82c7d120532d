"""A learner of hazard rates by itself, for tests of what LPSM3 keeps in a state of its own."""

import numpy as np

from netsim.sleep_planning.hazards import EDGES_NS, N_BINS, N_WIDTHS, enter_interval, find_bin, learn_wait, refresh
from netsim.sleep_planning.plans import WORKSPACE


class HazardLearner:
    """The arrays of one kind of wait: `events`, `at_risk_s`, `rates`, `log_evidence` and `mean_rates`."""

    def __init__(self, prior_events=0.1, prior_shape=0.5):
        self.prior = prior_events, prior_shape
        self.events, self.at_risk_s, self.mean_rates = np.zeros((3, N_BINS))
        self.rates, self.log_evidence = np.empty((N_WIDTHS, N_BINS)), np.zeros(N_WIDTHS)
        arrays = self.events, self.at_risk_s, self.rates, self.log_evidence, self.mean_rates
        refresh(*arrays, *self.prior, N_BINS - 1)

    def learn(self, to_ns, *, from_ns=0, ended=True):
        """Learn from a wait watched between two ages, nanoseconds; `ended` or cut short."""
        arrays = self.events, self.at_risk_s, self.rates, self.log_evidence, self.mean_rates
        learn_wait(*arrays, *self.prior, from_ns, to_ns, ended)

    def learn_between(self, low_ns, high_ns):
        """Learn from a wait that ended between two ages; return its expected age."""
        arrays = self.events, self.at_risk_s, self.rates, self.log_evidence, self.mean_rates
        age_ns = enter_interval(*arrays, low_ns, high_ns)
        refresh(*arrays, *self.prior, find_bin(high_ns))
        return age_ns


def spans_s(age_ns):
    """Seconds that a wait of this age has spent in each bin."""
    return (np.minimum(EDGES_NS[1:], age_ns) - EDGES_NS[:-1]).clip(0) * 1e-9


def blank():
    """Where a plan is made, with nothing in it."""
    return np.zeros(1, dtype=WORKSPACE)[0]
