"""Compare what an engine answers with what is kept, or keep it."""

import argparse
import sys

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
    return max(_go_through(kind, given) for kind in ([given.kind] if given.kind else digests.ROWS))


def _go_through(kind, given):
    """Compare or keep the worlds of a kind; return 1 if any of them differs."""
    rows = digests.ROWS[kind]
    answers = {n: digests.found(kind, n, given.engine) for n in range(len(rows))[given.first : given.last]}
    if given.write:  # beside those of other worlds; an error is no answer
        table = digests.kept().copy()
        for number, answer in answers.items():
            if isinstance(answer, tuple):
                table[rows[number]] = answer
        np.save(digests.FILE, table)
        digests.kept.cache_clear()
    covered = {number: answer for number, answer in answers.items() if answer is not None}
    parts = {number: digests.differing(kind, number, answer) for number, answer in covered.items()}
    said = [f"{kind} {number} differs in {', '.join(which)}" for number, which in parts.items() if which]
    more = [f"... and {len(said) - _SHOWN:,} more"] if len(said) > _SHOWN else []
    print(*said[:_SHOWN], *more, f"{kind}, engine {given.engine}: {len(answers):,} worlds, {len(covered):,} covered, "
          f"{len(said):,} differ", sep="\n")  # fmt: skip
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
