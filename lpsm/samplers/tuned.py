"""A sampler that finds its own parameter: a grid of one parameter as experts under Learn-alpha.

What it models: m copies of one sampler that differ in one parameter (b, C, K, ...), each with a
state of its own.  In every round all of them see the instance and the same uniform u.  With weights
w over the grid, q_j the probability with which copy j would ask, and exploration e,

    prediction = SGN(sum_j w_j prediction_j),   pi = (1 - e) sum_j w_j q_j + e,   ask iff u < pi;

a copy whose own coin asked (u < q_j) learns from a label that is bought.  What copy j costs in a
round is 1{prediction_j wrong} + label_price q_j, estimated without bias from bought labels alone by
1{asked, prediction_j wrong}/pi + label_price q_j, and handed as a loss to Static-expert or Learn-alpha,
times a rate that falls as sqrt(ln m/(1 + the weighted squares so far)).  With one parameter in the
grid it is that sampler, draw for draw.

What it leaves out: a bound (copies depend on labels that the others' weights bought, so that a copy's
loss is not what it would have cost alone), filters; whole streams are compiled where copies store no instances.

Source: ours, for the question left open by Cesa-Bianchi et al. 2004, section 5 (1), and Cavallanti
et al. 2010; experts as in Monteleoni 2006, section 2.4; importance weights as in label-efficient
prediction (Cesa-Bianchi, Lugosi, Stoltz 2005).  The papers' own answer is the keys
"perceptron-ss-adaptive" and "sop-ss-adaptive", b_t = beta X_t^2 sqrt(1 + K_t).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, log, sqrt
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from lpsm._compile import compiled
from lpsm.checks import array, between, generator, non_negative, reading, state_array, state_text, whole
from lpsm.experts import LearnAlpha, StaticExpert, alpha_grid
from lpsm.experts.share import learn_alpha_round, mixture
from lpsm.online import play as play_rounds
from lpsm.samplers import core, saving
from lpsm.samplers.catalogue import make
from lpsm.samplers.checks import MOST_FEATURES, as_labels
from lpsm.samplers.core import CHANCE, MARGIN, PREDICTION, QUERY, SAID, Notes, Now, Tally
from lpsm.samplers.record import Decision, RunLog
from lpsm.samplers.rows import table_of
from lpsm.samplers.sampler import RUN, Sampler

__all__ = ["TunedSampler", "charge", "vote"]

Array = NDArray[Any]

SHORT = 8  # rounds: for so few, the preparations cost more than they save
VERSION = 1  # of its state
TICKET = SAID  # column of what a copy decided, in a question that is open
_DECIDED = [MARGIN, PREDICTION, QUERY, CHANCE, TICKET]  # columns, in the order of a `Decision`


@compiled
def vote(share: Array, told: Array, exploration: float) -> tuple[float, float]:
    """The weighted vote, in [-1, 1], and the probability of asking; one copy alone has its own margin."""
    margin, wanted, low, high = 0.0, 0.0, 1.0, 0.0
    for j in range(share.size):
        margin += share[j] * told[j, PREDICTION]
        wanted += share[j] * told[j, CHANCE]
        low, high = min(low, told[j, CHANCE]), max(high, told[j, CHANCE])
    wanted = min(max(wanted, low), high)
    if share.size == 1:
        margin = told[0, MARGIN]
    return margin if share.size == 1 else min(max(margin, -1.0), 1.0), (1.0 - exploration) * wanted + exploration


@compiled
def charge(share: Array, costs: Array, squares: float) -> float:
    """Turn a round's costs into losses, in place, at the present rate; return the weighted squares so far."""
    rate = min(1.0, sqrt(log(costs.size) / (1.0 + squares)))
    lowest = costs.min()
    for j in range(costs.size):
        squares += share[j] * (costs[j] - lowest) ** 2
        costs[j] *= rate
    return squares


@compiled
def write_costs(costs: Array, told: Array, price: float, chance: float, query: bool, y: float) -> None:
    """What each copy costs in a round: its label, and its mistake, if the label was bought with this probability."""
    for j in range(costs.size):
        costs[j] = price * told[j, CHANCE]
        if query and told[j, PREDICTION] != y:
            costs[j] += 1.0 / chance


class Grid(NamedTuple):
    """The company of copies under a mixture."""

    share: Array  # (m,) weights of the mixture, and costs
    costs: Array
    weights: Array  # from here to `work` the mixture's arrays
    columns: Array
    slow: Array
    head: Array
    work: Array
    totals: Array  # (2,) weighted squares of costs, and labels asked for, so far
    price: float  # of a label, in mistakes
    exploration: float  # least probability of asking
    most: int  # labels asked for at most

    def consult(self, now: Now) -> None:
        """Write the margin and the probability of asking of the company below those of its copies."""
        m, told = self.share.size, now.scores
        mixture(self.weights, self.columns, self.slow, self.head, self.share)
        told[m, MARGIN], told[m, CHANCE] = vote(self.share, told, self.exploration)
        if self.totals[1] >= self.most:
            told[m, CHANCE] = 0.0

    def settle_up(self, now: Now) -> None:
        """Charge the copies for the round."""
        costs, totals, m, told = self.costs, self.totals, self.share.size, now.scores
        query = told[m, QUERY] > 0.0
        totals[1] += 1.0 if query else 0.0
        if m > 1:
            write_costs(costs, told, self.price, told[m, CHANCE], query, now.y)
            totals[0] = charge(self.share, costs, totals[0])
            learn_alpha_round(costs, self.weights, self.columns, self.slow, self.head, self.work)


class TunedSampler:
    """A sampler whose parameter is chosen on the way.

    Parameters
    ----------
    key
        A key of the catalogue that has the parameter.
    n_features
        Dimension d of the instances.
    parameter, grid
        The parameter's symbol and its candidates.
    label_price
        What a label costs, in mistakes: the exchange rate of what is to be small.  At least 0.
    exploration
        Least probability e of asking, in [0, 1]; None for 0.01, or 0 with a single candidate.
    mixture
        "learn-alpha", which follows a best candidate that changes, or "static-expert".
    max_queries
        Labels asked for at most; None for no limit.
    rng
        One uniform a round: a generator or its seed; None for seed 0.
    **params
        The sampler's other parameters, and `normalize`, `kernel`, `dtype` as in `make`.

    Raises
    ------
    ValueError
        If the grid is empty, the key a filter, or a parameter out of its range.

    >>> s = TunedSampler("perceptron-ss", 2, "b", [0.1, 1.0], rng=np.random.default_rng(0))
    >>> s.decide([3.0, 4.0]).query, s.weights.tolist()
    (True, [0.5, 0.5])
    """

    def __init__(
        self,
        key: str,
        n_features: int,
        parameter: str,
        grid: ArrayLike,
        *,
        label_price: float = 0.1,
        exploration: float | None = None,
        mixture: str = "learn-alpha",
        max_queries: int | None = None,
        rng: np.random.Generator | int | None = None,
        **params: Any,
    ) -> None:
        if mixture not in ("learn-alpha", "static-expert"):
            raise ValueError(f"mixture must be 'learn-alpha' or 'static-expert', got {mixture!r}")
        if exploration is None:
            exploration = 0.01 if np.size(grid) > 1 else 0.0
        coins = generator("rng", 0 if rng is None else rng)
        self._configure(key, n_features, parameter, label_price, exploration, max_queries, grid, coins)
        shared = cast(np.random.Generator, self._coin)  # the copies toss it; they use no other method
        self.samplers: tuple[Sampler, ...] = tuple(
            make(key, n_features, rng=shared, **{**params, parameter: _plain(value)}) for value in self.grid
        )
        if self.samplers[0].rule.filters or self.samplers[0].rule.needs_spread:
            raise ValueError(f"key must be a sampler, neither a filter nor one that weighs labels, got {key!r}")
        m = len(self.grid)
        self._mixture: StaticExpert | LearnAlpha = (
            StaticExpert(m) if mixture == "static-expert" else LearnAlpha(m, _ALPHAS)
        )

    def _configure(
        self, key: str, n_features: int, parameter: str, label_price: float, exploration: float,
        max_queries: int | None, grid: Any, rng: np.random.Generator,
    ) -> None:  # fmt: skip
        """Everything but copies and mixture."""
        self.grid = array("grid", grid)
        if self.grid.ndim != 1 or not len(self.grid):
            raise ValueError(f"grid must hold at least one candidate, got {grid!r}")
        self.n_features = whole(1, MOST_FEATURES, n_features=n_features)
        non_negative(label_price=label_price)
        between(0.0, 1.0, exploration=exploration)
        self.key, self.parameter = str(key), str(parameter)
        self.label_price, self.exploration = float(label_price), float(exploration)
        self.max_queries = None if max_queries is None else whole(max_queries=max_queries)
        self._coin = _SharedCoin(rng)
        self._squares = 0.0
        self._questions: dict[int, tuple[Array, float]] = {}  # what the copies decided, and with which probability
        self._last: int | None = None
        self.rounds = self.queries = self.stored = 0

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights over the grid (m,), before the next round."""
        return np.asarray(self._mixture.weights, dtype=np.float64)

    @property
    def tuned(self) -> float:
        """The candidate of the greatest weight."""
        return float(self.grid[int(np.argmax(self.weights))])

    def decide(self, x: Any) -> Decision:
        """Predict the label of `x`, and say whether to ask for it; `margin` is the weighted vote, in [-1, 1]."""
        self.samplers[0]._instance(x)  # nothing is drawn for what is refused
        self._coin.toss()
        told = np.zeros((len(self.grid), 9))
        for own, sampler in zip(told, self.samplers, strict=True):
            own[MARGIN], own[PREDICTION], own[QUERY], own[CHANCE], ticket = sampler.decide(x)
            own[TICKET] = ticket or 0
        margin, chance = vote(self.weights, told, self.exploration)
        if self.max_queries is not None and self.queries >= self.max_queries:
            chance = 0.0
        query = self._coin.value < chance
        self.rounds += 1
        self.queries += query
        self._last = self.rounds if query else None
        if query:
            self._questions[self.rounds] = (told, chance)
        else:
            self._close(told, chance)
        return Decision(margin, 1 if margin >= 0.0 else -1, query, chance, self._last)

    def learn(self, x: Any, y: int) -> bool:
        """Take the label of the last instance, or of a ticket; return whether any copy stored the example.

        Raises
        ------
        RuntimeError
            If the last `decide` did not ask, or the ticket is not open.
        ValueError
            If `y` is neither -1 nor +1, or `x` is not the instance asked about.
        """
        if y not in (-1, 1):
            raise ValueError(f"y must be -1 or +1, got {y}")
        late = isinstance(x, int | np.integer)
        if not late and self._last not in self._questions:
            raise RuntimeError("learn needs a label that decide asked for: the last decision was not a query")
        ticket = int(x) if late else self._last
        told, chance = self._owed(ticket)
        asked = [(one, int(own[TICKET])) for one, own in zip(self.samplers, told, strict=True) if own[QUERY]]
        if asked and not late:
            asked[0][0]._ticket_of(x)
        changes = [sampler.learn(own, y) for sampler, own in asked]  # every copy learns
        stored = any(changes)
        del self._questions[cast(int, ticket)]
        self.stored += stored
        self._pay(told, chance, float(y))
        return stored

    def forget(self, ticket: int) -> None:
        """Close a question whose label will not come; the copies are charged for asking, and for no mistake.

        Raises
        ------
        RuntimeError
            If the ticket is not open.
        """
        told, chance = self._owed(ticket)
        del self._questions[ticket]
        self._close(told, chance)

    def margins(self, X: Any) -> NDArray[np.float64]:
        """Return the weighted votes on the rows of X, in [-1, 1], under the present state: no round, no question."""
        found = np.array([sampler.margins(X) for sampler in self.samplers])
        if len(found) == 1:
            return np.asarray(found[0])
        return np.asarray(np.clip(self.weights @ np.where(found >= 0.0, 1.0, -1.0), -1.0, 1.0))

    def predict(self, X: Any) -> NDArray[np.int8]:
        """Return the predictions of the rows of X, -1 or +1; SGN(0) = +1."""
        return np.where(self.margins(X) >= 0.0, 1, -1).astype(np.int8)

    @property
    def open_tickets(self) -> list[int]:
        """Tickets of the questions whose labels have not come, oldest first."""
        return list(self._questions)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything that determines the future, as a versioned dict of arrays; see `Sampler.state`."""
        names = ("key", "n_features", "parameter", "label_price", "exploration", "max_queries")
        parts: dict[str, Any] = {f"copy_{j}": sampler for j, sampler in enumerate(self.samplers)}
        parts["mixture"] = self._mixture
        asked = [told[:, _DECIDED] for told, _ in self._questions.values()]
        return {
            "kind": np.array("TunedSampler"),
            "version": np.array(VERSION),
            "config": saving.as_text({name: getattr(self, name) for name in names}),
            "grid": self.grid.copy(),
            "coins": saving.position(self._coin.rng),
            "squares": np.array(self._squares),
            "totals": np.array([self.rounds, self.queries, self.stored]),
            "open_tickets": np.array(list(self._questions), dtype=np.int64),
            "open_chances": np.array([chance for _, chance in self._questions.values()], dtype=np.float64),
            "open_decisions": np.array(asked, dtype=np.float64).reshape(len(asked), len(self.grid), 5),
            **{f"{part}_{name}": array for part, model in parts.items() for name, array in model.state().items()},
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> TunedSampler:
        """Return the sampler `state` was taken from, ready for its next round or a late label.

        Raises
        ------
        ValueError
            If the state is of another version, lacks a part, or its parts do not belong together.
        """
        own = {"grid", "squares", "totals", "open_tickets", "open_chances", "open_decisions"}
        with reading("a TunedSampler's state"):
            config = saving.checked_config("a TunedSampler", state, (VERSION,), own)

            def part(prefix: str) -> dict[str, Any]:
                return {name.removeprefix(prefix): state[name] for name in state if name.startswith(prefix)}

            tuned, grid, rng = cls.__new__(cls), state_array(state, "grid", (None,)), saving.generator(state, "coins")
            if rng is None:
                raise ValueError("state must hold coins as the position of a generator, got none")
            names = ("key", "n_features", "parameter", "label_price", "exploration")
            settings = {name: config[name] for name in names}
            tuned._configure(**settings, max_queries=config.get("max_queries"), grid=grid, rng=rng)
            m, held = len(grid), part("mixture_")
            tuned.samplers = tuple(Sampler.from_state(part(f"copy_{j}_")) for j in range(m))
            for sampler in tuned.samplers:
                if (sampler.n_features, sampler.dtype) != (tuned.n_features, tuned.samplers[0].dtype):
                    raise ValueError(f"copies must have {tuned.n_features} features and one dtype, got {sampler}")
                sampler._rng = cast(np.random.Generator, tuned._coin)
            kind: Any = LearnAlpha if state_text(held, "kind") == "LearnAlpha" else StaticExpert
            tuned._mixture = kind.from_state(held)
            if tuned._mixture.n_experts != m:
                raise ValueError(f"mixture must have one expert a candidate ({m}), got {tuned._mixture.n_experts}")
            tuned._squares = float(state_array(state, "squares", (), low=0.0))
            tuned.rounds, tuned.queries, tuned.stored = state_array(state, "totals", (3,), np.int64, low=0).tolist()
            tickets = state_array(state, "open_tickets", (None,), np.int64, low=1)
            chances = state_array(state, "open_chances", tickets.shape, low=0.0)
            told = np.zeros((len(tickets), m, 9))
            told[:, :, _DECIDED] = state_array(state, "open_decisions", (len(tickets), m, 5))
            tuned._questions = dict(zip(tickets.tolist(), zip(told, chances.tolist(), strict=True), strict=True))
            return tuned

    def __repr__(self) -> str:
        return (
            f"TunedSampler({self.key!r}, n_features={self.n_features}, {self.parameter} from {len(self.grid)} values, "
            f"rounds={self.rounds}, queries={self.queries})"
        )

    def run(self, X: Any, y: ArrayLike) -> RunLog:
        """Decide on the rows of X in turn, reading y only where it is asked for."""
        table, m = self.samplers[0]._table(X), len(self.samplers)
        n, is_sparse = table.shape[0], sparse.issparse(table)
        labels = as_labels(y, n)
        if n < SHORT or self.samplers[0]._remembers:
            rows = (table[t : t + 1] for t in range(n)) if is_sparse else table
            return RunLog.of(play_rounds(self, rows, lambda t: int(labels[t])), n)
        desks = [sampler._prepare() for sampler in self.samplers]
        each = np.array([sampler._chance(n)[1] for sampler in self.samplers])  # (m, 2 or 0, n)
        tally = Tally(*(np.concatenate(parts) for parts in zip(*(desk.tally for desk in desks), strict=True)))
        question = desks[0].question._replace(rule=np.concatenate([desk.question.rule for desk in desks]))
        grid = Grid(
            np.empty(m), np.empty(m), *self._mixture._hierarchy.arrays,
            np.array([self._squares, float(self.queries)]), self.label_price, self.exploration,
            core.UNLIMITED if self.max_queries is None else self.max_queries,
        )  # fmt: skip
        at, entries = core.pinned(grid)
        said, orders = np.zeros((n, 9)), RUN.copy()
        orders[core.SPARSE] = is_sparse
        schedules = np.ascontiguousarray(each.transpose(1, 0, 2).reshape(-1, n))  # floors of all copies, then biases
        uniforms = self._coin.rng.random(n)
        notes = Notes(labels, uniforms, np.zeros(0), schedules, said, np.zeros((1, 1)), np.zeros((m + 1, 9)))
        learned = core.learned_of(*(sampler._learner for sampler in self.samplers))
        company = core.Company(m, at, *entries[4:])
        desk = core.Desk(company, learned, tally, question, notes, desks[0].scratch, orders)
        core.play(core.pinned(desk)[0], *table_of(table))
        for j, sampler in enumerate(self.samplers):
            sampler._counts[:], sampler._scalars[:] = tally.counts[j], tally.scalars[j]
            sampler._fresh, sampler._last = False, None
        self._last = None
        margin, prediction, queried, stored = said.T[:4]
        log = RunLog(prediction.astype(np.int8), queried > 0, stored > 0, margin.copy())
        self._squares = float(grid.totals[0])
        self.rounds += n
        self.queries += int(log.queried.sum())
        self.stored += int(log.stored.sum())
        return log

    def _owed(self, ticket: Any) -> tuple[Array, float]:
        if ticket not in self._questions:
            raise RuntimeError(f"ticket must be of an open question, got {ticket}; open are {self.open_tickets}")
        return self._questions[ticket]

    def _close(self, told: Array, chance: float) -> None:
        """End a round whose label does not come."""
        self._pay(told, chance, 0.0)
        for sampler, ticket in zip(self.samplers, told[:, TICKET].tolist(), strict=True):
            if ticket:
                sampler.forget(int(ticket))

    def _pay(self, told: Array, chance: float, y: float) -> None:
        """Hand the estimated costs of a round to the mixture, at the present rate; y = 0 if no label was bought."""
        costs = np.empty(len(told))
        if len(told) > 1:
            write_costs(costs, told, self.label_price, chance, y != 0.0, y)
            self._squares = charge(self.weights, costs, self._squares)
            self._mixture.update(costs)


_ALPHAS = alpha_grid(kind="chebyshev", size=8)


class _SharedCoin:
    """One uniform a round, shown alike to every copy."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.value = rng, inf

    def toss(self) -> None:
        self.value = float(self.rng.random())

    def random(self, n: int | None = None) -> Any:
        return self.value if n is None else np.full(n, self.value)

    def spawn(self, n: int) -> list[np.random.Generator]:
        return self.rng.spawn(n)

    @property
    def bit_generator(self) -> np.random.BitGenerator:
        return self.rng.bit_generator


def _plain(value: float) -> float | int:
    """A whole candidate as an integer: B and R must be."""
    return int(value) if np.isfinite(value) and value == int(value) else float(value)
