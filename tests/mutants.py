"""Small faults put into a room on purpose, and how many of them its tests find.

Run ``python -m tests.mutants ROOM --count 40 --seed 0`` (or ``make mutants ROOM=lpsm/bounds``).  Cosmic Ray's operators
change a copy of the tree in one place: a number, an operator, a comparison, a truth value, a word of control flow.  A
mutant is killed if the relevant tests fail or do not end; those that run longest are tried only on what the others
leave alive.  The sample is drawn by seed, so that the same command names the same survivors.  Doc strings, signatures
and imports are not mutated.  Kernels run as plain Python, since compiling a mutant takes longer than testing it.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TREES = ("lpsm", "netsim", "traces", "experiments", "tests", "docs", "pyproject.toml", "README.md")
SECONDS = 120  # after which a test run counts as one that does not end
L, N, E = "tests/lpsm/test", "tests/netsim/test", "tests/experiments"
ROOMS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {  # what is mutated; tests; longer ones
    "lpsm/bounds": (
        ("lpsm/bounds/*.py",),
        (f"{L}_bounds_by_hand.py",),
        (f"{L}_bounds_experts.py", f"{L}_bounds_version_space.py", f"{L}_bounds_drift.py", f"{L}_bounds_active.py",
         f"{L}_bounds_perceptrons.py", f"{L}_bounds_second_order.py"),
    ),
    "lpsm/experts": (
        ("lpsm/experts/*.py",),
        (f"{L}_fixed_share.py",),
        (f"{L}_learn_alpha.py", f"{L}_grids.py", f"{L}_comparators.py", f"{L}_hindsight.py",
         f"{L}_schedules.py", f"{L}_combining.py"),
    ),
    "lpsm/samplers": (
        ("lpsm/samplers/algorithms/*.py", "lpsm/samplers/compiled/*.py"),
        (f"{L}_samplers_oracles.py",),
        (f"{L}_samplers_protocol.py", f"{L}_samplers_limits.py", f"{L}_late_labels.py", f"{L}_states.py",
         f"{L}_importance.py", f"{L}_multiclass.py"),
    ),
    "netsim": (
        ("netsim/*.py", "netsim/express/*.py"),
        (f"{N}_station.py", f"{N}_tcp.py", f"{N}_link.py", f"{N}_radio.py", f"{N}_policies.py", f"{N}_push.py"),
        (f"{N}_simulation.py", f"{N}_conservation.py", f"{N}_bsd.py", f"{N}_environment.py", f"{N}_recorder.py",
         f"{N}_waits.py", f"{N}_express.py"),
    ),
    "experiments/papers": (
        ("experiments/papers/claims.py", "experiments/papers/predicates.py", "experiments/papers/readings.py"),
        (f"{E}/papers/test_predicates.py", f"{E}/papers/test_news.py"),
        (f"{E}/papers/test_both_sides.py",),
    ),
    "experiments/study": (("experiments/study/compare.py",), (f"{E}/study/test_compare.py",), ()),
}  # fmt: skip


class Mutant(NamedTuple):
    """A fault: the file, what changes it, where, and the line as it then stands."""

    path: str
    operator: Any
    occurrence: int
    line: int


def unread(source: str) -> list[tuple[int, int]]:
    """Lines of doc strings and spans that are annotations: (first, last) lines, (line, -1) for whole statements."""
    spans = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            spans.append((node.lineno, node.end_lineno or node.lineno))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            spans.append((node.lineno, node.body[0].lineno - 1))  # the signature, its defaults included
        if isinstance(node, ast.AnnAssign) and node.value is None:
            spans.append((node.lineno, node.end_lineno or node.lineno))
        if isinstance(node, ast.Import | ast.ImportFrom):
            spans.append((node.lineno, node.end_lineno or node.lineno))
    return spans


def mutants(path: str, source: str) -> Iterator[Mutant]:
    """Every mutant of a file."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    tree, spans = get_ast(source), unread(source)
    for name in sorted(operator_names()):
        made = get_operator(name)
        if made.arguments() or name in ("core/NoOp", "core/RemoveDecorator"):
            continue
        operator = made()
        places = [place for node in ast_nodes(tree) for place in operator.mutation_positions(node)]
        for occurrence, (start, _) in enumerate(places):
            if not any(first <= start[0] <= last for first, last in spans):
                yield Mutant(path, operator, occurrence, start[0])


def survives(tree: Path, tests: tuple[str, ...]) -> bool:
    """Whether all of these tests pass on a tree, in a process of their own that has the libraries already."""
    if not tests:
        return True
    child = os.fork()
    if not child:
        os.setsid()
        os.chdir(tree)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        import pytest

        # as plain Python, what a kernel lets overflow on purpose would warn
        options = [
            "-W",
            "ignore::RuntimeWarning",
            "-x",
            "-q",
            "-n",
            "0",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            str(tree),
            "-c",
            str(tree / "pyproject.toml"),
        ]
        os._exit(int(pytest.main([*options, *tests])))
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def main() -> int:
    """Draw mutants of a room, try the tests on each, print the kill rate and who survived."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("room", choices=sorted(ROOMS))
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
    import numba
    import numpy as np
    import pandas
    import pytest
    import scipy.optimize
    import scipy.special  # all of these are loaded once, before the forks
    from cosmic_ray.mutating import mutate_code

    loaded = (numba, pandas, pytest, scipy.optimize, scipy.special)
    patterns, quick, longer = ROOMS[given.room]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name in TREES:
            source = ROOT / name
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, tree / name, **({"ignore": shutil.ignore_patterns("__pycache__")} if source.is_dir() else {}))
        sys.path.insert(0, str(tree))
        sys.dont_write_bytecode = True
        for tests in (quick, longer):  # what fails by itself kills nothing
            assert survives(tree, tests), f"{', '.join(tests)} fail without a mutant: {loaded[0].__name__}"
        paths = sorted(str(path.relative_to(tree)) for pattern in patterns for path in tree.glob(pattern))
        every = [mutant for path in paths for mutant in mutants(path, (tree / path).read_text())]
        order = np.random.default_rng(given.seed).permutation(len(every))[: given.count]
        alive = []
        for count, place in enumerate(sorted(order.tolist()), 1):
            mutant = every[place]
            file = tree / mutant.path
            source = file.read_text()
            changed = mutate_code(source, mutant.operator, mutant.occurrence)
            if changed is None:
                continue
            file.write_text(changed)
            if survives(tree, quick) and survives(tree, longer):
                was, now = (text.splitlines()[mutant.line - 1].strip() for text in (source, changed))
                alive.append(f"{mutant.path}:{mutant.line}: {was}  ->  {now}")
            file.write_text(source)
            print(f"\r{count} of {len(order)}, {len(alive)} alive", end="", file=sys.stderr)
        print(file=sys.stderr)
    killed = len(order) - len(alive)
    print(f"{given.room}: {killed} of {len(order)} mutants killed ({100 * killed / len(order):.0f} %), "
          f"of {len(every)} there are, seed {given.seed}")  # fmt: skip
    print("\n".join(alive))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
