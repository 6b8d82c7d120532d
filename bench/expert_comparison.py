"""Where Learn-alpha stands among other learners, on losses that shift in four ways.

``python -m bench.expert_comparison`` prints the tables of docs/experts.md: for each
process the mean and the standard error over seeds 0..4 of the mixture loss and of the mean
loss sum_i p_i loss_i, both minus that of the experts' true sequence of leaders.
"""

import numpy as np

from lpsm import FixedShare, LearnAlpha, StaticExpert, alpha_grid
from lpsm.experts import AdaHedge, NormalHedge, Squint, VariableShare

ROUNDS, N, SEEDS = 4000, 6, 5

PROCESSES = {"stationary": 0.0, "20 shifts": 20 / ROUNDS, "a shift in 20 rounds": 0.05, "a shift in 3 rounds": 1 / 3}


def losses_of(rate, seed):
    """Losses in [0, 1], (T, n): the leader's are low, and it changes with probability `rate`; and the leaders."""
    rng = np.random.default_rng(seed)
    jumps = np.where(rng.random(ROUNDS) < rate, rng.integers(1, N, ROUNDS), 0)
    leaders = (rng.integers(N) + np.cumsum(jumps)) % N
    losses = rng.beta(4, 2, size=(ROUNDS, N))
    losses[np.arange(ROUNDS), leaders] = rng.beta(1, 9, size=ROUNDS)
    return 3 * losses, leaders


def learners():
    """Every learner under its name in the table, new."""
    grid = alpha_grid(horizon=ROUNDS)
    return {
        "Static-expert": StaticExpert(N),
        "Fixed-share, alpha = 0.005": FixedShare(N, 0.005),
        "Fixed-share, alpha = 0.05": FixedShare(N, 0.05),
        "Variable-share, alpha = 0.05": VariableShare(N, 0.05),
        f"Learn-alpha, KL grid of {grid.size}": LearnAlpha(N, grid),
        f"Learn-alpha, Chebyshev of {grid.size}": LearnAlpha(N, alpha_grid(kind="chebyshev", size=grid.size)),
        f"Learn-alpha, Chebyshev of {ROUNDS // 2} (exact Bayes)": LearnAlpha(
            N, alpha_grid(kind="chebyshev", size=ROUNDS // 2)
        ),
        "Learn-alpha, doubling": LearnAlpha(N, doubling=True),
        "AdaHedge": AdaHedge(N),
        "Squint": Squint(N, loss_range=3.0),
        "NormalHedge": NormalHedge(N),
    }


def rows():
    """One row per process and learner: excess of the mixture loss and of the mean loss over the leaders' loss."""
    out = []
    for process, rate in PROCESSES.items():
        excess = {name: [] for name in learners()}
        for seed in range(SEEDS):
            losses, leaders = losses_of(rate, seed)
            lead = losses[np.arange(ROUNDS), leaders].sum()
            for name, learner in learners().items():
                run = learner.run(losses)
                excess[name].append((run.total_loss - lead, (run.weights * losses).sum() - lead))
        for name, values in excess.items():
            mean, error = np.mean(values, axis=0), np.std(values, axis=0, ddof=1) / np.sqrt(SEEDS)
            out.append({"process": process, "learner": name, "mean": mean.tolist(), "error": error.tolist()})
    return out


def main():
    """Print two Markdown tables, learners by processes."""
    found = {(row["learner"], row["process"]): row for row in rows()}
    for which, title in enumerate(("mixture loss", "mean loss")):
        print(f"\n| {title}, nats | " + " | ".join(PROCESSES) + " |\n|---" * 1 + "|---" * len(PROCESSES) + "|")
        for name in learners():
            cells = [found[name, process] for process in PROCESSES]
            text = " | ".join(f"{cell['mean'][which]:.1f} ± {cell['error'][which]:.1f}" for cell in cells)
            print(f"| {name} | {text} |")


if __name__ == "__main__":
    main()
