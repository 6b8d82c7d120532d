"""Compare what an engine answers with what is kept, or keep it."""

import argparse
import sys

import numpy as np

from tests.netsim.frozen import digests


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.netsim.frozen", description=__doc__)
    parser.add_argument("--engine", choices=("packet", "express", "auto"), default="packet")
    parser.add_argument("--kind", choices=tuple(digests.ROWS), help="by default all")
    parser.add_argument("--from", dest="first", type=int, default=0, metavar="N", help="the first number")
    parser.add_argument("--to", dest="last", type=int, metavar="M", help="the number behind the last")
    parser.add_argument("--write", action="store_true", help="keep what the engine answers, where it covers the world")
    given, differ, answers = parser.parse_args(), 0, {}
    for kind in [given.kind] if given.kind else digests.ROWS:
        for number, row in list(enumerate(digests.ROWS[kind]))[given.first : given.last]:
            answer = digests.found(kind, number, given.engine)
            if answer is not None and (parts := digests.differing(kind, number, answer)):
                differ += 1
                print(f"{kind} {number} differs in {', '.join(parts)}")
                if not isinstance(answer, str):  # an error is no answer
                    answers[row] = answer
    print(f"engine {given.engine}: {differ:,} worlds differ")
    if given.write:
        table = digests.kept.__wrapped__()  # with what another process wrote meanwhile
        for row, answer in answers.items():
            table[row] = answer
        np.save(digests.FILE, table)
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
