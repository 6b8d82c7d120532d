"""Speed of the learners over experts, beside what the machine and plain numpy can do, in one run.

Every figure is the least of many short repetitions, so that other work on the machine
shows as little as possible.  ``python -m bench.experts`` prints the table.
"""

from time import perf_counter

import numpy as np

from lpsm import FixedShare, LearnAlpha, StaticExpert, alpha_grid
from lpsm.arithmetic import decay
from lpsm.experts import AdaHedge, NormalHedge, Squint
from lpsm.hindsight import alpha_losses, best_alpha
from netsim.policies.polling import PollingLearner


def least(function, calls, seconds=0.6):
    """Least time of one of `calls` units of work that `function` does, over repetitions for `seconds`."""
    function()
    best, end = float("inf"), perf_counter() + seconds
    while perf_counter() < end:
        start = perf_counter()
        function()
        best = min(best, perf_counter() - start)
    return best / calls


class NumpyLearnAlpha:
    """As good as plain numpy gets: experts as rows, in place, three sweeps a round, logarithms at the top only."""

    def __init__(self, n, alphas):
        self.keep, self.spread = 1.0 - alphas - alphas / (n - 1), alphas / (n - 1)
        self.inner = np.full((n, alphas.size), 1.0 / n)
        self.log_top = np.full(alphas.size, -np.log(alphas.size))
        self.likelihood = np.empty(alphas.size)

    def update(self, losses):
        inner, likelihood, lowest = self.inner, self.likelihood, losses.min()
        inner *= np.exp(lowest - losses)[:, None]
        np.add.reduce(inner, axis=0, out=likelihood)
        top = np.exp(self.log_top)
        loss = lowest - np.log(top @ likelihood / top.sum())
        self.log_top += np.log(likelihood)
        self.log_top -= self.log_top.max()
        np.divide(self.keep, likelihood, out=likelihood)
        inner *= likelihood
        inner += self.spread
        return loss


class NumpyWeights:
    """Exponential weights a round at a time, as a library written in Python does them."""

    def __init__(self, n):
        self.weights = np.full(n, 1.0 / n)

    def update(self, losses):
        self.weights = self.weights * np.exp(-losses)
        self.weights /= self.weights.sum()


class NumpyAdaHedge:
    """AdaHedge a round at a time, its formulas in plain numpy."""

    def __init__(self, n):
        self.behind, self.gap = np.zeros(n), 0.0

    def update(self, losses):
        rate = np.log(losses.size) / self.gap if self.gap else np.inf
        weights = np.exp(-rate * self.behind) if self.gap else 1.0 * (self.behind == 0.0)
        weights /= weights.sum()
        mean = weights @ losses
        mixed = -np.log(weights @ np.exp(-rate * losses)) / rate if self.gap else losses[weights > 0.0].min()
        self.behind += losses
        self.behind -= self.behind.min()
        self.gap += max(0.0, mean - mixed)
        return -np.log(weights @ np.exp(-losses))


def machine_rows():
    """Copy bandwidth within the caches and beyond, and the rate of the exponential."""
    rows = []
    for name, doubles in (("copy, 25 kB", 12 * 259), ("copy, 400 kB", 100 * 497), ("copy, 8 MB", 1000 * 1000)):
        source, target = np.random.default_rng(0).random(doubles), np.empty(doubles)
        repeats = max(1, 400_000 // doubles)

        def copy(source=source, target=target, repeats=repeats):
            for _ in range(repeats):
                np.copyto(target, source)

        rows.append({"what": name, "value": 16 * doubles / least(copy, repeats) / 1e9, "unit": "GB/s read + written"})
    x, out = np.random.default_rng(0).random(10_000) * 30, np.empty(10_000)
    rows.append({"what": "exp, this package", "value": least(lambda: decay(x, 0.0, out), 10_000) * 1e9, "unit": "ns"})
    rows.append({"what": "exp, numpy", "value": least(lambda: np.exp(-x, out=out), 10_000) * 1e9, "unit": "ns"})
    return rows


def learner_rows():
    """Microseconds a round, and nanoseconds an element of the m x n weights."""
    rng = np.random.default_rng(0)
    rows = []

    def add(what, seconds, elements, target=None):
        rows.append(
            {"what": what, "us": seconds * 1e6, "ns_per_element": seconds * 1e9 / elements, "target_us": target}
        )

    for n, m, rounds, target in ((12, 259, 2000, 1.0), (100, 497, 200, 13.0), (1000, 1000, 60, 300.0)):
        alphas = np.linspace(0.001, 0.999, m) if m != 259 else alpha_grid(horizon=27_000)
        losses = rng.exponential(size=(rounds, n))
        size = f"LearnAlpha {n} x {m}"
        learner = LearnAlpha(n, alphas)
        add(f"{size}, run", least(lambda a=learner, b=losses: a.run(b, weights=False), rounds), n * m, target)
        add(f"{size}, run, weights read", least(lambda a=learner, b=losses: a.run(b).weights, rounds), n * m)
        singles = list(losses[:200])

        def single(learner=learner, singles=singles):
            for row in singles:
                learner.update(row)

        add(f"{size}, single updates", least(single, len(singles)), n * m, 3.0 if m == 259 else None)
        awake = rng.random(losses.shape) < 0.7
        awake[:, 0] = True
        sleepy = least(lambda a=learner, b=losses, c=awake: a.run(b, c, weights=False), rounds)
        add(f"{size}, run, three in ten asleep", sleepy, n * m)
        peer = NumpyLearnAlpha(n, alphas)

        def plain(peer=peer, singles=singles[:50]):
            for row in singles:
                peer.update(row)

        add(f"{size}, plain numpy", least(plain, min(50, len(singles))), n * m)

    polling = PollingLearner()

    def polls():
        for k in range(200):
            polling.poll(700.0, 500.0 * (k % 3))

    add("PollingLearner 12 x 259, poll", least(polls, 200), 12 * 259, 5.0)

    losses = rng.exponential(size=(20_000, 12))
    for name, learner, target in (
        ("FixedShare 12, run", FixedShare(12, 0.01), 0.1),
        ("StaticExpert 12, run", StaticExpert(12), None),
        ("FixedShare 12 at alpha = 1, run", FixedShare(12, 1.0), None),
    ):
        part = losses if target else losses[:2000]
        add(name, least(lambda a=learner, b=part: a.run(b, weights=False), len(part)), 12, target)
    shared, first = FixedShare(12, 0.01), losses[0]
    add("FixedShare 12, single updates", least(lambda: [shared.update(first) for _ in range(200)], 200), 12)
    add("FixedShare 12, run of one row", least(lambda: [shared.run(losses[:1]) for _ in range(200)], 200), 12)

    def loop(learner):
        for row in losses[:300]:
            learner.update(row)

    exponential, in_numpy = NumpyWeights(12), NumpyAdaHedge(12)
    add("exponential weights 12, plain numpy", least(lambda: loop(exponential), 300), 12)
    plain = least(lambda: loop(in_numpy), 300)
    add("AdaHedge 12, plain numpy", plain, 12)
    bounded = losses / losses.max()
    for learner in (AdaHedge(12), Squint(12), NormalHedge(12)):
        name = type(learner).__name__
        took = least(lambda a=learner: a.run(bounded[:2000], weights=False), 2000)
        ratio = f", {plain / took:.0f} times as fast as plain numpy" if name == "AdaHedge" else ""
        add(f"{name} 12, run{ratio}", took, 12, 1.0 if name == "AdaHedge" else None)
        add(f"{name} 12, single updates", least(lambda a=learner: [a.update(row) for row in bounded[:300]], 300), 12)
    return rows


def hindsight_rows():
    """Milliseconds to find the best switching rate where the curve is flat, beside the losses at 300 rates."""
    rows = []
    for rounds, n in ((2_000, 10), (2_000, 100), (10_000, 100)):
        losses = np.random.default_rng(0).exponential(1e-3, size=(rounds, n))
        rows.append(
            {
                "what": f"{rounds:,} x {n}",
                "best_alpha_ms": 1e3 * least(lambda a=losses: best_alpha(a), 1, 2),
                "grid_ms": 10e3 * least(lambda a=losses: alpha_losses(a, np.linspace(0.01, 0.99, 30)), 1, 1),
            }
        )
    return rows


def rows():
    """All figures as data."""
    return [*machine_rows(), *learner_rows(), *hindsight_rows()]


def main():
    """Print the three tables in Markdown."""
    print("| machine | |\n|---|---|")
    for row in machine_rows():
        print(f"| {row['what']} | {row['value']:.2f} {row['unit']} |")
    print("\n| per round | us | ns per element | target us |\n|---|---|---|---|")
    for row in learner_rows():
        target = "" if row["target_us"] is None else f"{row['target_us']:g}"
        print(f"| {row['what']} | {row['us']:.3g} | {row['ns_per_element']:.2f} | {target} |")
    print("\n| flat losses | best_alpha, ms | 300 rates by alpha_losses, ms |\n|---|---|---|")
    for row in hindsight_rows():
        print(f"| {row['what']} | {row['best_alpha_ms']:.0f} | {row['grid_ms']:.0f} |")


if __name__ == "__main__":
    main()
