"""LPSM replayed on real arrivals: how the learner and its experts would have lost.

The bytes of every reply are spread evenly over the 10 ms bins between its start and its end (`traces.arrivals`).  A
client polls at its own times: it sleeps T_t, finds the I_t bytes that arrived meanwhile, charges every expert (2.35),
and sleeps for the mean of the experts' times, rounded to a bin.  Two losses are told apart: the mixture loss (2.8),
which the bounds speak of and whose regret in a round is never negative against the best expert of that round, and the
polling loss (2.34) at the time actually slept, which is what the thesis plots.
What it leaves out: the reaction of the traffic to the delays, which the simulator models.  Pauses longer than
`max_idle_s` are shortened to it: the client was switched off.

Source: Monteleoni 2006, section 2.5.4, "Trace-based evaluation framework", figures 2-9 to 2-11.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.quantities import Row
from lpsm import LearnAlpha, alpha_grid, bounds, hindsight
from netsim.policies.polling import ENERGY_TERMS, PollingConfig, PollingLearner, beacons
from traces.arrivals import BIN_US, binned
from traces.records import Request

Floats = NDArray[np.float64]
BIN_MS = BIN_US / 1000
EXACT_WORK = 2_000_000_000  # elementary steps that the curve over k may take


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayConfig:
    """Parameters; the defaults are those of thesis section 2.5.4 for its trace analysis."""

    gamma: float = 1e-7  #: Price of a byte's waiting, per byte and ms.
    energy: str = "1/T"  #: Energy term of the loss, "1/T" or "1/log T".
    rounding_ms: int = 10  #: Sleeps are multiples of this, itself a multiple of 10, the width of the thesis' bins.
    horizon: int = 27_000  #: Polls for which the grid of switching rates is made.
    max_idle_s: float = 1000.0  #: Longer pauses are shortened to this.
    times_ms: tuple[float, ...] = tuple(100.0 * k for k in range(1, 11))  #: Polling times of the experts.

    def __post_init__(self) -> None:
        self.polling()  # checks its own
        if self.rounding_ms < BIN_MS or self.rounding_ms % BIN_MS:
            raise ValueError(f"rounding_ms must be a multiple of {BIN_MS:g}, got {self.rounding_ms}")

    def polling(self) -> PollingConfig:
        """The learner's configuration."""
        alphas = tuple(float(alpha) for alpha in alpha_grid(horizon=self.horizon))
        return PollingConfig(times_ms=self.times_ms, gamma=self.gamma, energy=self.energy, alphas=alphas)


class Rounds(NamedTuple):
    """Consecutive polls; T of them, n experts, m switching rates."""

    time_s: Floats  #: (T,) since the first byte
    slept_ms: Floats
    buffered_bytes: Floats
    expert_losses: Floats  #: (T, n), equation (2.35)
    mixture_loss: Floats  #: (T,), equation (2.8)
    polling_loss: Floats  #: (T,), equation (2.34)
    weights: Floats | None  #: (T, n), before each poll, if recorded
    alpha_weights: Floats | None  #: (T, m), likewise


class Details(NamedTuple):
    """One replay in full, as frames that figures draw."""

    polls: pd.DataFrame  #: a row a poll, with `loss_T` and `weight_T` of every expert T
    #: cumulative losses of the algorithm (both kinds), of the best fixed expert and of the best expert of every poll
    regrets: pd.DataFrame
    partitions: pd.DataFrame  #: least loss of k segments
    alphas: pd.DataFrame  #: quantiles of the switching rate's posterior over time
    posterior: pd.DataFrame  #: that posterior at the end
    bounds: pd.DataFrame  #: the statements of the thesis against this run


def arrivals(requests: Iterable[Request], config: ReplayConfig) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return numbers of the bins in which bytes arrive, from 0, and the bytes; long pauses shortened."""
    bins, sizes = binned(requests)
    longest = max(1, round(config.max_idle_s * 1000 / BIN_MS))
    return np.cumsum(np.minimum(np.diff(bins, prepend=bins[:1]), longest)), sizes


def rounds(requests: Iterable[Request], config: ReplayConfig, *, recorded: int | None = None) -> Rounds:
    """Replay the arrivals of one client's `requests`, about in the order of sending, to the poll that finds the last.

    With `recorded`, at most so many polls are replayed, and they have the weights over experts and switching rates.
    """
    bins, sizes = arrivals(requests, config)
    polling = config.polling()
    learner, record = PollingLearner(polling), recorded is not None
    energy, costs, times_ms = ENERGY_TERMS[config.energy], np.array(polling.energy_costs()), np.array(config.times_ms)
    polls = islice(_polls(learner, bins.tolist(), np.cumsum(sizes).tolist(), config.rounding_ms), recorded)
    times, slept, found = np.fromiter(polls, np.dtype((float, 3))).T
    losses = (found / slept)[:, None] * (0.5 * config.gamma * times_ms**2) + costs
    run = LearnAlpha(len(times_ms), learner.alphas).run(losses, weights=record, alpha_weights=record)
    own = 0.5 * config.gamma * slept * found + np.array([energy(time_ms) for time_ms in slept.tolist()])
    return Rounds(times, slept, found, losses, run.loss, own, run.weights, run.alpha_weights)


def _polls(
    learner: PollingLearner, bins: Sequence[int], arrived: Sequence[int], rounding_ms: int
) -> Iterator[tuple[float, float, float]]:
    """Yield time (s), sleep (ms) and bytes found of each poll, which finds the bytes of all bins that are over."""
    now_ms = seen = place = 0
    while arrived and seen < arrived[-1]:
        sleep_ms = rounding_ms * beacons(learner.mean_ms, rounding_ms)
        now_ms += sleep_ms
        place = bisect_left(bins, now_ms // round(BIN_MS), place)
        count = (arrived[place - 1] if place else 0) - seen
        seen += count
        yield now_ms / 1000, sleep_ms, count
        learner.poll(sleep_ms, count)


def totals(run: Rounds, config: ReplayConfig) -> Row:
    """Add up a replay; losses in nats, regrets in nats a poll.

    The dict has polls, duration_s, bytes, mean_sleep_ms, mixture_loss, polling_loss, best_expert_ms and
    best_expert_loss (the best fixed expert in hindsight), best_per_poll_loss (the best expert of every poll), switches
    (of that expert), and `.._regret` of both losses against the best fixed expert; it is empty if there was no poll.
    """
    if not (polls := len(run.time_s)):
        return {}
    experts, slept_ms = run.expert_losses.sum(axis=0), float(run.slept_ms.sum())
    best_loss, mixture, polling = float(experts.min()), float(run.mixture_loss.sum()), float(run.polling_loss.sum())
    return {
        "polls": polls, "duration_s": slept_ms / 1000, "bytes": int(run.buffered_bytes.sum()),
        "mean_sleep_ms": slept_ms / polls, "mixture_loss": mixture, "polling_loss": polling,
        "best_expert_ms": config.times_ms[int(experts.argmin())], "best_expert_loss": best_loss,
        "best_per_poll_loss": float(run.expert_losses.min(axis=1).sum()),
        "switches": int(np.count_nonzero(np.diff(run.expert_losses.argmin(axis=1)))),
        "mixture_regret": (mixture - best_loss) / polls, "polling_regret": (polling - best_loss) / polls,
    }  # fmt: skip


def details(requests: Iterable[Request], config: ReplayConfig, *, max_polls: int = 20_000, k_max: int = 200) -> Details:
    """Replay once more and keep everything, for at most the first `max_polls` polls and `k_max` segments."""
    whole = rounds(requests, config, recorded=max_polls)
    if not len(whole.time_s):
        raise ValueError("a replay needs at least one byte that arrives, got none")
    assert whole.weights is not None
    assert whole.alpha_weights is not None
    losses, best = whole.expert_losses, whole.expert_losses.argmin(axis=1)
    columns: Row = {name: getattr(whole, name) for name in ("time_s", "slept_ms")}
    columns |= {"buffered_bytes": whole.buffered_bytes.astype(np.int64), "mixture_loss": whole.mixture_loss}
    columns |= {"polling_loss": whole.polling_loss, "best_expert_ms": np.array(config.times_ms)[best]}
    for kind, table in (("loss", losses), ("weight", whole.weights)):
        columns |= {f"{kind}_{time_ms:g}": table[:, at] for at, time_ms in enumerate(config.times_ms)}
    of_best = {"best_expert": losses[:, hindsight.best_expert(losses).expert], "best_per_poll": losses.min(axis=1)}
    summed = {"mixture": whole.mixture_loss, "polling": whole.polling_loss, **of_best}
    regrets = {"time_s": whole.time_s} | {f"{name}_loss": np.cumsum(column) for name, column in summed.items()}
    segments = 1 + int(np.count_nonzero(np.diff(best)))
    largest = max(1, min(segments, k_max, EXACT_WORK // losses.size))
    partitions = pd.DataFrame({"k": np.arange(1, largest + 1), "loss": hindsight.partition_curve(losses, largest)})
    grid = alpha_grid(horizon=config.horizon)
    cumulative = np.cumsum(whole.alpha_weights, axis=1)
    alphas = {"time_s": whole.time_s, "mean": whole.alpha_weights @ grid}
    for level in (0.05, 0.5, 0.95):
        alphas[f"quantile_{level:g}"] = grid[np.minimum((cumulative < level).sum(axis=1), len(grid) - 1)]
    posterior = pd.DataFrame({"alpha": grid, "weight": whole.alpha_weights[-1]})
    statements = bounds.report(LearnAlpha(losses.shape[1], grid), losses)
    frames = pd.DataFrame(regrets), partitions, pd.DataFrame(alphas), posterior
    return Details(pd.DataFrame(columns), *frames, statements)
