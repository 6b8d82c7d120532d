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

import json
from collections.abc import Mapping
from math import inf, log, sqrt
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from lpsm._compile import compiled
from lpsm.checks import array, between, non_negative, reading, state_array, state_text, whole
from lpsm.experts import LearnAlpha, StaticExpert, alpha_grid
from lpsm.experts.share import learn_alpha_round, mixture
from lpsm.online import play as play_rounds
from lpsm.samplers import core, saving
from lpsm.samplers.catalogue import make
from lpsm.samplers.checks import MOST_FEATURES, as_labels
from lpsm.samplers.core import CHANCE, MARGIN, PREDICTION, QUERY, Notes, Tally, how
from lpsm.samplers.player import RUN
from lpsm.samplers.record import Decision, RunLog
from lpsm.samplers.rows import table_of
from lpsm.samplers.sampler import Sampler

__all__ = ["TunedSampler", "charge", "vote"]

Array = NDArray[Any]

SHORT = 8  # rounds: for so few, the preparations cost more than they save

VERSION = 1  # of its state


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


@how(core.consult, Grid)
def _consult(company: Any, told: Array) -> None:
    m, share = company.share.size, company.share
    mixture(company.weights, company.columns, company.slow, company.head, share)
    told[m, MARGIN], told[m, CHANCE] = vote(share, told, company.exploration)
    if company.totals[1] >= company.most:
        told[m, CHANCE] = 0.0


@how(core.settle_up, Grid)
def _settle_up(company: Any, told: Array, y: float) -> None:
    costs, totals, m = company.costs, company.totals, company.share.size
    query = told[m, QUERY] > 0.0
    totals[1] += 1.0 if query else 0.0
    if m > 1:
        write_costs(costs, told, company.price, told[m, CHANCE], query, y)
        totals[0] = charge(company.share, costs, totals[0])
        learn_alpha_round(costs, company.weights, company.columns, company.slow, company.head, company.work)


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
        One uniform a round; None for a generator of seed 0.
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
        rng: np.random.Generator | None = None,
        **params: Any,
    ) -> None:
        candidates = array("grid", grid)
        if candidates.ndim != 1 or not len(candidates):
            raise ValueError(f"grid must hold at least one candidate, got {grid!r}")
        if mixture not in ("learn-alpha", "static-expert"):
            raise ValueError(f"mixture must be 'learn-alpha' or 'static-expert', got {mixture!r}")
        n_features = whole(1, MOST_FEATURES, n_features=n_features)
        m = len(candidates)
        exploration = (0.01 if m > 1 else 0.0) if exploration is None else exploration
        non_negative(label_price=label_price)
        between(0.0, 1.0, exploration=exploration)
        self.key, self.n_features, self.parameter, self.grid = key, n_features, parameter, candidates
        self.label_price, self.exploration = float(label_price), float(exploration)
        self.max_queries = None if max_queries is None else whole(max_queries=max_queries)
        self._coin = _SharedCoin(np.random.default_rng(0) if rng is None else rng)
        shared = cast(np.random.Generator, self._coin)  # the copies toss it; they use no other method
        self.samplers: tuple[Sampler, ...] = tuple(
            make(key, n_features, rng=shared, **{**params, parameter: _plain(value)}) for value in candidates
        )
        if self.samplers[0].rule.filters or self.samplers[0].rule.needs_spread:
            raise ValueError(f"key must be a sampler, neither a filter nor one that weighs labels, got {key!r}")
        self._mixture = StaticExpert(m) if mixture == "static-expert" else LearnAlpha(m, _ALPHAS)
        self._squares = 0.0
        self._questions: dict[int, tuple[list[Decision], float]] = {}
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
        decisions = self._decisions(x)
        told = self._told(decisions)
        margin, chance = vote(self.weights, told, self.exploration)
        if self.max_queries is not None and self.queries >= self.max_queries:
            chance = 0.0
        query = self._coin.value < chance
        self.rounds += 1
        self.queries += query
        self._last = self.rounds if query else None
        if query:
            self._questions[self.rounds] = (decisions, chance)
        else:
            self._close(decisions, told, chance, 0.0)
        return Decision(margin, 1 if margin >= 0.0 else -1, query, chance, self._last)

    def _decisions(self, x: Any) -> list[Decision]:
        self.samplers[0]._instance(x)  # nothing is drawn for what is refused
        self._coin.toss()
        return [sampler.decide(x) for sampler in self.samplers]

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
        ticket = int(x) if late else self._last
        if ticket is None or ticket not in self._questions:
            if late:
                raise RuntimeError(f"ticket must be of an open question, got {ticket}; open are {self.open_tickets}")
            raise RuntimeError("learn needs a label that decide asked for: the last decision was not a query")
        decisions, chance = self._questions[ticket]
        asked = [pair for pair in zip(self.samplers, decisions, strict=True) if pair[1].query]
        changes = [sampler.learn(decision.ticket if late else x, y) for sampler, decision in asked]  # every copy learns
        stored = any(changes)
        del self._questions[ticket]
        self.stored += stored
        self._pay(self._told(decisions), chance, float(y))
        return stored

    def forget(self, ticket: int) -> None:
        """Close a question whose label will not come; the copies are charged for asking, and for no mistake.

        Raises
        ------
        RuntimeError
            If the ticket is not open.
        """
        if ticket not in self._questions:
            raise RuntimeError(f"ticket must be of an open question, got {ticket}; open are {self.open_tickets}")
        decisions, chance = self._questions.pop(ticket)
        self._close(decisions, self._told(decisions), chance, 0.0)

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
        asked = [
            [decision._replace(ticket=decision.ticket or 0) for decision in decisions]
            for decisions, _ in self._questions.values()
        ]
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
        with reading("a TunedSampler's state"):
            return cls._from(state)

    @classmethod
    def _from(cls, state: Mapping[str, Any]) -> TunedSampler:
        if "version" not in state or int(state["version"]) != VERSION:
            raise ValueError(f"version of a TunedSampler's state must be {VERSION}, got {state.get('version', 'none')}")
        own = {"config", "grid", "coins", "squares", "totals", "open_tickets", "open_chances", "open_decisions"}
        if missing := sorted(own - set(state)):
            raise ValueError(f"a TunedSampler's state must hold {missing}, got {sorted(state)}")

        def part(prefix: str) -> dict[str, Any]:
            return {name.removeprefix(prefix): state[name] for name in state if name.startswith(prefix)}

        tuned = cls.__new__(cls)
        config = json.loads(state_text(state, "config"))
        tuned.key, tuned.parameter = str(config["key"]), str(config["parameter"])
        tuned.n_features = whole(1, n_features=config["n_features"])
        tuned.label_price, tuned.exploration = float(config["label_price"]), float(config["exploration"])
        tuned.max_queries = None
        if (most := config.get("max_queries")) is not None:
            tuned.max_queries = whole(max_queries=most)
        non_negative(label_price=tuned.label_price)
        between(0.0, 1.0, exploration=tuned.exploration)
        tuned.grid = state_array(state, "grid", (None,))
        m = whole(1, grid=len(tuned.grid))
        if (rng := saving.generator(state, "coins")) is None:
            raise ValueError("state must hold coins as the position of a generator, got none")
        tuned._coin = _SharedCoin(rng)
        tuned.samplers = tuple(Sampler.from_state(part(f"copy_{j}_")) for j in range(m))
        for sampler in tuned.samplers:
            if (sampler.n_features, sampler.dtype) != (tuned.n_features, tuned.samplers[0].dtype):
                raise ValueError(f"copies must have {tuned.n_features} features and one dtype, got {sampler}")
            sampler._rng = cast(np.random.Generator, tuned._coin)
        held = part("mixture_")
        kind: type[StaticExpert | LearnAlpha] = StaticExpert
        if state_text(held, "kind") == "LearnAlpha":
            kind = LearnAlpha
        tuned._mixture, tuned._last = kind.from_state(held), None
        tuned._squares = float(state_array(state, "squares", (), low=0.0))
        if tuned._mixture.n_experts != m:
            raise ValueError(f"mixture must have one expert a candidate ({m}), got {tuned._mixture.n_experts}")
        tuned.rounds, tuned.queries, tuned.stored = state_array(state, "totals", (3,), np.int64, low=0).tolist()
        tickets = state_array(state, "open_tickets", (None,), np.int64, low=1)
        chances = state_array(state, "open_chances", tickets.shape, low=0.0)
        decisions = state_array(state, "open_decisions", (len(tickets), m, 5))
        tuned._questions = {
            int(ticket): ([_decision(row) for row in rows], float(chance))
            for ticket, chance, rows in zip(tickets, chances, decisions, strict=True)
        }
        return tuned

    def __repr__(self) -> str:
        return (
            f"TunedSampler({self.key!r}, n_features={self.n_features}, {self.parameter} from {len(self.grid)} values, "
            f"rounds={self.rounds}, queries={self.queries})"
        )

    def run(self, X: Any, y: ArrayLike) -> RunLog:
        """Decide on the rows of X in turn, reading y only where it is asked for."""
        first, m = self.samplers[0], len(self.samplers)
        table = first._table(X)
        n = table.shape[0]
        labels = as_labels(y, n)
        if n < SHORT or first._remembers:
            rows = (table[t : t + 1] for t in range(n)) if sparse.issparse(table) else table
            return RunLog.of(play_rounds(self, rows, lambda t: int(labels[t])), n)
        desks = [sampler._prepare() for sampler in self.samplers]
        schedules = np.zeros((0, n))
        if len(desks[0].notes.schedules):
            each = [sampler._chance(n)[1] for sampler in self.samplers]
            schedules = np.concatenate([np.stack([own[part] for own in each]) for part in (0, 1)])
        tally = Tally(*(np.concatenate(parts) for parts in zip(*(desk.tally for desk in desks), strict=True)))
        question = desks[0].question._replace(rule=np.concatenate([desk.question.rule for desk in desks]))
        grid = Grid(
            np.empty(m), np.empty(m), *self._mixture._hierarchy.arrays,
            np.array([self._squares, float(self.queries)]), self.label_price, self.exploration,
            core.UNLIMITED if self.max_queries is None else self.max_queries,
        )  # fmt: skip
        uniforms, none, said = self._coin.rng.random(n), np.zeros(0), np.zeros((n, 9))
        notes = Notes(labels, uniforms, none, schedules, said, np.zeros((1, 1)), np.zeros((m + 1, 9)))
        at, entries = core.pinned(grid)
        company, orders = core.Company(m, at, *entries[4:]), RUN.copy()
        orders[core.SPARSE] = sparse.issparse(table)
        learned = core.learned_of(*(sampler._learner for sampler in self.samplers))
        desk = core.Desk(company, learned, tally, question, notes, desks[0].scratch, orders)
        core.play(
            core.pinned(desk)[0], *table_of(table if sparse.issparse(table) or table.flags.writeable else table.copy())
        )
        for j, sampler in enumerate(self.samplers):
            sampler._counts[:], sampler._scalars[:] = tally.counts[j], tally.scalars[j]
            sampler._fresh, sampler._last = False, None
        self._last = None
        log = RunLog(
            said[:, PREDICTION].astype(np.int8), said[:, QUERY] > 0, said[:, core.KEPT] > 0, said[:, MARGIN].copy()
        )
        self._squares = float(grid.totals[0])
        self.rounds += n
        self.queries += int(log.queried.sum())
        self.stored += int(log.stored.sum())
        return log

    def _told(self, decisions: list[Decision]) -> Array:
        """What the copies decided, as the loop has it."""
        told = np.zeros((len(decisions), 9))
        for j, decision in enumerate(decisions):
            told[j, MARGIN], told[j, PREDICTION], told[j, CHANCE] = (
                decision.margin,
                decision.prediction,
                decision.probability,
            )
        return told

    def _close(self, decisions: list[Decision], told: Array, chance: float, y: float) -> None:
        """End a round whose label does not come."""
        self._pay(told, chance, y)
        for sampler, decision in zip(self.samplers, decisions, strict=True):
            if decision.ticket is not None:
                sampler.forget(decision.ticket)

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

    def random(self) -> float:
        return self.value

    def spawn(self, n: int) -> list[np.random.Generator]:
        return self.rng.spawn(n)

    @property
    def bit_generator(self) -> np.random.BitGenerator:
        return self.rng.bit_generator


def _decision(row: NDArray[np.float64]) -> Decision:
    """A decision of a copy from its five numbers."""
    margin, prediction, query, probability, ticket = row.tolist()
    return Decision(margin, int(prediction), bool(query), probability, int(ticket) or None)


def _plain(value: float) -> float | int:
    """A whole candidate as an integer: B and R must be."""
    return int(value) if np.isfinite(value) and value == int(value) else float(value)
