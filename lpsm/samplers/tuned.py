"""A sampler that finds its own parameter: a grid of one parameter as experts under Learn-alpha.

What it models: m copies of one sampler that differ in one parameter (b, C, K, ...), each with a
state of its own.  In every round all of them see the instance and the same uniform u.  With weights
w over the grid, q_j the probability with which copy j would ask, and exploration e,

    prediction = SGN(sum_j w_j prediction_j),   pi = (1 - e) sum_j w_j q_j + e,   ask iff u < pi;

a copy whose own coin asked (u < q_j) learns from a label that is bought.  What copy j costs in a
round is 1{prediction_j wrong} + label_price q_j, estimated without bias from bought labels alone by
1{asked, prediction_j wrong}/pi + label_price q_j, and handed as a loss to Static-expert or Learn-alpha,
times a rate that falls as sqrt(ln m/(1 + the weighted squares so far)).  With one parameter in the
grid it is that sampler, draw for draw.  The copies play in the loop of one sampler (`round`), as an ensemble.

What it leaves out: a bound (copies depend on labels that the others' weights bought, so that a copy's
loss is not what it would have cost alone), and filters.

Source: ours, for the question left open by Cesa-Bianchi et al. 2004, section 5 (1), to which the papers' own answer is
"perceptron-ss-adaptive" and "sop-ss-adaptive"; experts as in Monteleoni 2006, section 2.4; importance weights as in
label-efficient prediction (Cesa-Bianchi, Lugosi, Stoltz 2005).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log, sqrt
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from lpsm.arrays import Array, Floats, State
from lpsm.checks import between, generator, known, non_negative, reading, shaped, state_array, state_text
from lpsm.experts import LearnAlpha, StaticExpert, alpha_grid
from lpsm.experts.share import learn_alpha_round, mixture
from lpsm.native import compiled
from lpsm.samplers import state_io
from lpsm.samplers.catalogue import make
from lpsm.samplers.ensemble import Ensemble
from lpsm.samplers.protocol import CHANCE, MARGIN, PREDICTION, Round
from lpsm.samplers.run_log import Questions
from lpsm.samplers.sampler import Sampler

VERSION = 3  # of its state
MIXTURES: dict[str, Callable[[int], LearnAlpha | StaticExpert]] = {
    "learn-alpha": lambda m: LearnAlpha(m, alpha_grid(kind="chebyshev", size=8)), "static-expert": StaticExpert,
}  # fmt: skip
_NAMES = "key parameter label_price exploration max_queries"  # of what a state says of it


@compiled
def vote(share: Floats, outcome: Floats, exploration: float) -> tuple[float, float]:
    """The weighted vote, in [-1, 1], and the probability of asking; one copy alone has its own margin."""
    margin, wanted, low, high = 0.0, 0.0, 1.0, 0.0
    for j in range(share.size):
        margin += share[j] * outcome[j, PREDICTION]
        wanted += share[j] * outcome[j, CHANCE]
        low, high = min(low, outcome[j, CHANCE]), max(high, outcome[j, CHANCE])
    margin = outcome[0, MARGIN] if share.size == 1 else min(max(margin, -1.0), 1.0)
    return margin, (1.0 - exploration) * min(max(wanted, low), high) + exploration


@compiled
def charge(share: Floats, costs: Floats, squares: float) -> float:
    """Turn a round's costs into losses, in place, at the present rate; return the weighted squares so far."""
    rate = min(1.0, sqrt(log(costs.size) / (1.0 + squares)))
    lowest = costs.min()
    for j in range(costs.size):
        squares += share[j] * (costs[j] - lowest) ** 2
        costs[j] *= rate
    return squares


class Grid(NamedTuple):
    """The ensemble of copies under a mixture."""

    share: Array  # (m,) weights of the mixture for the next round, and costs
    costs: Array
    weights: Array  # from here to `work` the mixture's arrays
    columns: Array
    slow: Array
    head: Array
    work: Array
    squares: Array  # (1,) weighted squares of costs so far
    price: float  # of a label, in mistakes
    exploration: float  # least probability of asking

    def vote(self, now: Round) -> None:
        """Write the margin and the probability of asking of the ensemble below those of its copies."""
        m, outcome = self.share.size, now.scores
        outcome[m, MARGIN], outcome[m, CHANCE] = vote(self.share, outcome, self.exploration)

    def reweigh(self, now: Round) -> None:
        """Charge each copy for its label, and for a mistake that was bought; and weigh them anew."""
        costs, m, outcome = self.costs, self.share.size, now.scores
        if m == 1:
            return
        for j in range(m):
            costs[j] = self.price * outcome[j, CHANCE]
            if now.y != 0.0 and outcome[j, PREDICTION] != now.y:
                costs[j] += 1.0 / outcome[m, CHANCE]
        self.squares[0] = charge(self.share, costs, self.squares[0])
        learn_alpha_round(costs, self.weights, self.columns, self.slow, self.head, self.work)
        mixture(self.weights, self.columns, self.slow, self.head, self.share)


class TunedSampler(Sampler):
    """A sampler whose parameter is chosen on the way.

    Parameters
    ----------
    key, n_features
        As in `make`.
    parameter, grid
        The symbol of one of the key's parameters, and its candidates.
    label_price
        What a label costs, in mistakes: the exchange rate of what is to be small.  At least 0.
    exploration
        Least probability e of asking, in [0, 1]; None for 0.01, or 0 with a single candidate.
    mixture
        "learn-alpha", which follows a best candidate that changes, or "static-expert".
    max_queries, rng, **params
        As in `make`; the coins are those of all copies, one uniform a round.

    Raises
    ------
    ValueError
        If the grid is empty, the key a filter, or a parameter out of its range.

    >>> s = TunedSampler("perceptron-ss", 2, "b", [0.1, 1.0], rng=np.random.default_rng(0))
    >>> s.decide([3.0, 4.0]).query, s.weights.tolist()
    (True, [0.5, 0.5])
    """

    def __init__(
        self, key: str, n_features: int, parameter: str, grid: ArrayLike, *, label_price: float = 0.1,
        exploration: float | None = None, mixture: str = "learn-alpha", max_queries: int | None = None,
        rng: np.random.Generator | int | None = None, **params: Any,
    ) -> None:  # fmt: skip
        known("mixture", mixture, MIXTURES)
        candidates = shaped("grid", grid, "m", filled=True)
        if exploration is None:
            exploration = 0.01 if len(candidates) > 1 else 0.0
        coins = generator("rng", 0 if rng is None else rng)
        copies = tuple(make(key, n_features, rng=coins, **{**params, parameter: _plain(value)}) for value in candidates)
        self._join(copies, parameter, candidates, label_price, exploration, max_queries)
        self._rng, self._mixture = coins, MIXTURES[mixture](len(candidates))

    def _join(
        self, copies: tuple[Sampler, ...], parameter: str, grid: Floats, label_price: float, exploration: float,
        max_queries: int | None,
    ) -> None:  # fmt: skip
        """Everything but the mixture and the coins."""
        one = copies[0]
        if one.rule.filters or one.rule.needs_variance:
            raise ValueError(f"key must be a sampler, neither a filter nor one that weighs labels, got {one.key!r}")
        parts = one.learner, one.rule, one.kernel, one.n_features
        self._configure(*parts, one.stores, one.normalize, one.dtype, one.key, max_queries)
        non_negative(label_price=label_price)
        between(0.0, 1.0, exploration=exploration)
        self.samplers, self.parameter, self.grid = copies, str(parameter), grid
        self.label_price, self.exploration = float(label_price), float(exploration)
        self.randomized, self._squares = True, np.zeros(1)

    @property
    def weights(self) -> Floats:
        """Weights over the grid (m,), before the next round."""
        return np.asarray(self._mixture.weights, float)

    @property
    def tuned(self) -> float:
        """The candidate of the greatest weight."""
        return float(self.grid[int(np.argmax(self.weights))])

    def forget(self, ticket: int) -> None:
        """Close a question whose label will not come; the copies are charged for asking, and for no mistake."""
        self._take(ticket, 0.0)

    def state(self) -> State:
        """Return everything that determines the future, as a versioned dict of arrays; see `Sampler.state`."""
        own = {"grid": self.grid.copy(), "counts": self._own.counts.copy(), "squares": self._squares.copy()}
        own |= state_io.within("mixture_", self._mixture.state())
        for j, one in enumerate(self.samplers):
            own |= state_io.within(f"copy_{j}_", one.state())
        return self._state(VERSION, {name: getattr(self, name) for name in _NAMES.split()}, **own)

    @classmethod
    def from_state(cls, state: Mapping[str, Array]) -> Self:
        """Return the sampler `state` was taken from; ValueError if its version or its parts do not fit."""
        with reading("a TunedSampler's state"):
            needed = {"grid", "squares", "counts", "open_tickets"}
            config = state_io.checked_config("a TunedSampler", state, VERSION, needed)
            grid, key = state_array(state, "grid", (None,)), config.pop("key")
            m, held, tuned = len(grid), state_io.nested(state, "mixture_"), cls.__new__(cls)
            copies = tuple(Sampler.from_state(state_io.nested(state, f"copy_{j}_")) for j in range(m))
            tuned._join(copies, grid=grid, **config)
            tuned._rng = state_io.generator(state, "coins", True)
            for one in copies:
                if (one.n_features, one.dtype, one.key) != (tuned.n_features, tuned.dtype, key):
                    raise ValueError(f"copies must have one key, number of features and dtype, got {one}")
                one._rng, tuned._sparse_memory = tuned._rng, one._sparse_memory
            kind = LearnAlpha if state_text(held, "kind") == "LearnAlpha" else StaticExpert
            tuned._mixture = kind.from_state(held)
            if tuned._mixture.n_experts != m:
                raise ValueError(f"mixture must have one expert a candidate ({m}), got {tuned._mixture.n_experts}")
            tuned._squares = state_array(state, "squares", (1,), low=0.0)
            tuned._own.counts = state_io.counts_of(state, "counts")
            tuned._questions = Questions.of_state(state, tuned.n_features, tuned.dtype, m + 1, 1)
            return tuned

    def _samplers(self) -> tuple[Sampler, ...]:
        return self.samplers

    def _assembled(self, **voters: Any) -> Ensemble:
        for one in self.samplers:
            one._ensemble = None
        share, arrays = self.weights, self._mixture.arrays()
        grid = Grid(share, np.empty_like(share), *arrays, self._squares, self.label_price, self.exploration)
        return super()._assembled(head=self._own, voters=grid)

    def _particulars(self) -> str:
        return f", {self.parameter} from {len(self.grid)} values"


def _plain(value: float) -> float | int:
    """A whole candidate as an integer: B and R must be."""
    return int(value) if np.isfinite(value) and value == int(value) else float(value)
