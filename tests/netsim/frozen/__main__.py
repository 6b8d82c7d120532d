"""Compare what an engine answers with what is kept, or keep it; count the worlds that agree by what is in them."""

import argparse
import sys
from collections import Counter

import numpy as np

from tests.netsim.frozen import digests

_SHOWN = 40


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.netsim.frozen", description=__doc__)
    parser.add_argument("--engine", choices=("packet", "express", "auto"), default="packet")
    parser.add_argument("--kind", choices=tuple(digests.ROWS), help="by default both")
    parser.add_argument("--from", dest="first", type=int, default=0, metavar="N", help="the first number")
    parser.add_argument("--to", dest="last", type=int, metavar="M", help="the number behind the last")
    parser.add_argument("--write", action="store_true", help="keep what the engine answers, where it covers the world")
    given = parser.parse_args()
    kinds = [given.kind] if given.kind else list(digests.ROWS)
    return max(_go_through(kind, given) for kind in kinds)


def _go_through(kind, given):
    """Compare or keep the worlds of a kind; return 1 if any of them differs."""
    rows = digests.ROWS[kind]
    numbers = range(len(rows))[given.first : given.last]
    answers = {}
    for number in numbers:
        answers[number] = digests.found(kind, number, given.engine)
        if sys.stderr.isatty() and not number % 100:
            print(f"\r{kind} {number:,}", end="", file=sys.stderr, flush=True)
    if given.write:
        _keep(rows, answers)
    worlds, covered, equal, differ = Counter(), Counter(), Counter(), Counter()
    said, unkept = [], []
    for number, answer in answers.items():
        features = (*sorted(digests.MADE[kind](number).features), "all")
        worlds.update(features)
        if answer is None:
            continue
        covered.update(features)
        if not digests.is_kept(kind, number):
            unkept.append(f"{number:,}")
            continue
        equal.update(features)
        if parts := digests.differing(kind, number, answer):
            differ.update(features)
            equal.subtract(features)
            said.append(f"{kind} {number} differs in {', '.join(parts)}: {' '.join(features)}")
    print(f"{kind}, engine {given.engine}\n{'':16}{'worlds':>8}{'covered':>9}{'equal':>8}{'differ':>8}")
    for name in sorted(worlds):
        print(f"{name:16}{worlds[name]:8,}{covered[name] / worlds[name]:9.1%}{equal[name]:8,}{differ[name]:8,}")
    more = [f"... and {len(said) - _SHOWN:,} more"] if len(said) > _SHOWN else []
    lost = [f"no answer is kept of {kind} {', '.join(unkept)}"] if unkept else []
    print(*said[:_SHOWN], *more, *lost, "", sep="\n")
    return int(bool(said))


def _keep(rows, answers):
    """Write the answers to the file, beside those of other worlds; an error is none, and leaves zeros."""
    size = (digests.WORLDS + digests.CELLS, len(digests.PARTS))
    table = digests.kept() if digests.FILE.exists() else np.zeros(size, dtype="<u2")
    for number, answer in answers.items():
        if isinstance(answer, tuple):
            table[rows[number]] = answer
    np.save(digests.FILE, table)
    digests.kept.cache_clear()


if __name__ == "__main__":
    sys.exit(main())
