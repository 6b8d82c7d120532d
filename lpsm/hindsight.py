"""What the best comparator would have paid, once all losses are known."""

from lpsm.experts.hindsight import (
    BestAlpha,
    BestExpert,
    BestTransitions,
    Partition,
    alpha_losses,
    alpha_slopes,
    awake_regrets,
    best_alpha,
    best_expert,
    best_partition,
    best_per_epoch,
    best_transitions,
    partition_curve,
)

__all__ = [
    "BestAlpha",
    "BestExpert",
    "BestTransitions",
    "Partition",
    "alpha_losses",
    "alpha_slopes",
    "awake_regrets",
    "best_alpha",
    "best_expert",
    "best_partition",
    "best_per_epoch",
    "best_transitions",
    "partition_curve",
]
