"""LPSM4 beside polls at a fixed distance: energy above mixtures of them that are as quick, in worlds of the benchmark.

    python -m bench.beside_polls [SEED]

Prints the table of docs/lpsm4.md, on five seeds from SEED on (52000): percent above the hull of `none` and `poll:3.2`
to `poll:102.4` with the 95 % Student interval over seeds, the slowdown, and on how many seeds it was what was asked;
then the percent of what both need above sleeping all the time.
"""

import sys

from experiments import benchmark
from experiments.papers.ours.worlds import world_of

SEEDS = 5
SECONDS = {
    "web-2025 on 802.11n": 600,
    "web-lognormal on 802.11n": 1500,
    "web-exponential on 802.11n": 1500,
    "feed": 150,
}
POLLS = ("none", *(f"poll:{distance_ms:g}" for distance_ms in (3.2, 6.4, 12.8, 25.6, 51.2, 102.4)))


def main() -> None:
    """Print a row a world and setting."""
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 52_000
    print("| world | asked | above the hull | above sleeping |\n|---|---|---|---|")
    for world, seconds in SECONDS.items():
        asleep_w = 1e-3 * world_of(world, 1.0, first).config.radio.asleep_mw
        for asked in ("1.02", "1.05", "1.2"):
            policy = f"lpsm4:{asked}:400"
            named = {name: name for name in (policy, *POLLS)}
            tasks = [benchmark.Task(world, seed, float(seconds), named) for seed in range(first, first + SEEDS)]
            found, over = {str(task.seed): benchmark.browse(task) for task in tasks}, []
            for taken_off_w in (0.0, asleep_w):
                for own in (own for one in found.values() for own in one["rows"]):
                    own["total_j"] -= taken_off_w * own["elapsed_s"]
                table = benchmark.scored(found).results
                row = table[table["policy"] == policy].iloc[0]
                over.append(f"{row['above_hull_percent']:+.1f} ± {row['above_hull_percent_half_width']:.1f} %")
            kept = f"at {row['slowdown_mean']:.3f}, {round(row['kept_percent'] * SEEDS / 100)}"
            print(f"| {world} | {asked} | {over[0]} {kept} | {over[1]} |", flush=True)


if __name__ == "__main__":
    main()
