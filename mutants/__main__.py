"""Small faults put into a room on purpose, and how many of them its tests find.

Run ``python -m mutants ROOM --count 40 --seed 0`` (or ``make mutants ROOM=lpsm/bounds``).  Cosmic Ray's operators
change a copy of the tree in one place: a number, an operator, a comparison, a truth value, a word of control flow.  The
room's tests run once without a fault, and it is noted which lines each executes.  A mutant is tried on the tests that
execute its line, the quickest first, twelve seconds of them, and is killed if one of them fails or does not end.
The sample is drawn by seed, so that the same command names the same survivors.  Doc strings, signatures, annotations
and imports are not mutated.  Kernels run as plain Python (`mutants.plain_kernels`), since compiling a mutant takes
longer than testing it; a test that fails so, or that takes more than three seconds, is left out and listed
(`mutants.relevance`).
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from mutants.relevance import LIBRARIES, profiled, survives

ROOT = Path(__file__).resolve().parents[1]
TREES = ("lpsm", "netsim", "traces", "experiments", "tests", "bench", "mutants", "docs", "pyproject.toml", "README.md")
CONTROL_S = 5.0  # of tests, once more without a fault
ROOMS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # what is mutated; its tests, doc tests included
    "lpsm/bounds": (("lpsm/bounds/*.py",), ("tests/lpsm/test_bounds_*.py",)),
    "lpsm/experts": (
        ("lpsm/experts/*.py", *(f"lpsm/{name}.py" for name in ("arithmetic", "combining", "hindsight"))),
        tuple(f"tests/lpsm/test_{name}.py" for name in (
            "tracking", "combining", "contract", "hindsight", "wrong_calls", "states", "bounds_experts",
            "bounds_by_hand",
        )),
    ),
    "lpsm/samplers": (
        tuple(f"lpsm/samplers/{name}.py" for name in (
            "protocol", "linear_algebra", "learners", "kernels", "rules", "catalogue",
        )),
        tuple(f"tests/lpsm/test_{name}.py" for name in (
            "samplers_by_hand", "samplers_contract", "samplers_oracles",
            "samplers_limits", "tuned",
        )),
    ),
    "lpsm/samplers/doors": (
        tuple(f"lpsm/samplers/{name}.py" for name in (
            "calibration", "checks", "ensemble", "estimator", "run_log", "sampler", "state_io",
            "tuned",
        )),
        tuple(f"tests/lpsm/test_{name}.py" for name in (
            "estimator", "samplers_by_hand", "samplers_contract",
            "samplers_wrong_calls", "bounds_samplers", "samplers_limits", "samplers_oracles", "tuned",
            "states",
        )),
    ),
    "netsim/sleep_planning": (
        ("netsim/sleep_planning/*.py",),
        tuple(f"tests/netsim/test_{name}.py" for name in (
            "sleep_planning", "message_prices", "prices", "hazards", "schedules", "wrong_calls", "frozen",
        )),
    ),
    "netsim/model": (
        ("netsim/model/*.py", "netsim/model/air/*.py"),
        (
            *(f"tests/netsim/test_{name}.py" for name in (
                "station", "tcp", "simulation", "laws", "reference", "own_times", "frozen", "graphs",
                "recorded_runs",
            )),
            "tests/netsim/air/test_*.py",
        ),
    ),
    "netsim/running": (  # interpreted: plain Python does without what lays out memory
        tuple(f"netsim/running/{name}.py" for name in ("policy_adapter", "setup", "on_simpy", "recorder")),
        (
            *(f"tests/netsim/test_{name}.py" for name in (
                "simulation", "laws", "result", "own_policies", "own_times", "frozen", "records", "plans", "polling",
                "setup", "graphs", "recorded_runs",
            )),
            "tests/netsim/air/test_*.py",
            "tests/experiments/test_timeline.py", "tests/experiments/report/test_air_capture.py",
        ),
    ),
    "netsim/front": (
        ("netsim/*.py",),
        tuple(f"tests/netsim/test_{name}.py" for name in (
            "radio", "simulation", "environment", "result", "laws", "allowed_values", "wrong_calls", "own_times",
        )),
    ),
    "netsim/policies": (
        (
            "netsim/policies/[!lm]*.py",  # all but call_by_address, which plain Python does without
            "netsim/policies/lpsm.py",
            "netsim/policies/lpsm2*.py",
        ),
        tuple(f"tests/netsim/test_{name}.py" for name in (
            "policies", "polling", "bsd", "lpsm2", "own_policies", "plans", "names", "wrong_calls", "allowed_values",
            "frozen",
        )),
    ),
    "netsim/lpsm3": (
        ("netsim/policies/lpsm3*.py",),
        tuple(f"tests/netsim/test_{name}.py" for name in ("lpsm3_by_hand", "lpsm3", "allowed_values", "frozen")),
    ),
    "traces": (
        ("traces/*.py", "traces/captures/*.py"),
        ("tests/traces/test_*.py",),
    ),
    "experiments/papers": (
        tuple(f"experiments/papers/{name}.py" for name in ("claims", "predicates")),
        tuple(f"tests/experiments/papers/test_{name}.py" for name in ("predicates", "both_sides")),
    ),
    "experiments/papers/news": (("experiments/papers/news.py",), ("tests/experiments/papers/test_news.py",)),
    "experiments/study": (
        tuple(f"experiments/study/{name}.py" for name in (
            "compare", "files", "signals", "population", "replay", "store", "tune",
        )),
        (
            *(f"tests/experiments/study/test_{name}.py" for name in (
                "compare", "population_summary", "population", "replay", "tune", "tune_by_hand",
                "store", "damaged_files", "run",
            )),
            *(f"tests/experiments/cli/test_{name}.py" for name in ("neighbours", "outputs", "results")),
        ),
    ),
}  # fmt: skip


Place = tuple[int, int]
"""Line and column."""


class Mutant(NamedTuple):
    """A fault: the file, what changes it, where, and the line as it then stands."""

    path: str
    operator: Any
    occurrence: int
    line: int


def unread(source: str) -> list[tuple[Place, Place]]:
    """Places that are not mutated, from the first to before the last: doc strings, signatures, annotations, imports."""
    spans = []
    for node in ast.walk(ast.parse(source)):
        value = node.value if isinstance(node, ast.Expr) else None
        is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            spans.append(((node.lineno, 0), (node.end_lineno + 1, 0)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            spans.append(((node.lineno, 0), (node.body[0].lineno, 0)))  # the signature, its defaults included
        if isinstance(node, ast.AnnAssign):
            annotation = node.annotation
            spans.append(((node.lineno, annotation.col_offset), (annotation.end_lineno, annotation.end_col_offset)))
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
            if not any(first <= start < last for first, last in spans):
                yield Mutant(path, operator, occurrence, start[0])


def main() -> int:
    """Draw mutants of a room, try the tests on each, print the kill rate and who survived."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("room", choices=sorted(ROOMS))
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="mutate only the files whose path has this in it")
    given = parser.parse_args()
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    for library in LIBRARIES:  # loaded once, before the forks
        import_module(library)
    import numpy as np
    from cosmic_ray.mutating import mutate_code

    changed_files, test_files = ROOMS[given.room]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder).resolve()
        for name in TREES:
            source = ROOT / name
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            copy(source, tree / name, **({"ignore": shutil.ignore_patterns("__pycache__")} if source.is_dir() else {}))
        sys.path.insert(0, str(tree))
        if missing := [one for patterns in ROOMS[given.room] for one in patterns if not list(tree.glob(one))]:
            parser.error(f"the files of {given.room} must be there, got none for {', '.join(missing)}")
        paths, tests = ([str(path.relative_to(tree)) for pattern in patterns for path in sorted(tree.glob(pattern))]
                        for patterns in (changed_files, test_files))  # fmt: skip
        paths = [path for path in paths if given.only in path]
        profile = profiled(tree, [*tests, *paths], paths)
        print(f"{len(profile.seconds)} tests, {sum(profile.seconds.values()):.0f} s; {len(profile.left_out)} left out",
              *(f"{test}: {why}" for test, why in profile.left_out.items()), sep="\n  ", file=sys.stderr)  # fmt: skip
        if not survives(tree, profile.quickest(profile.seconds, CONTROL_S), profile):
            raise RuntimeError("the tests do not pass in another order without a mutant")
        every = [mutant for path in paths for mutant in mutants(path, (tree / path).read_text())]
        order = np.random.default_rng(given.seed).permutation(len(every))[: given.count]
        alive = []
        for count, place in enumerate(sorted(order.tolist()), 1):
            mutant = every[place]
            file = tree / mutant.path
            source_text = file.read_text()
            changed = mutate_code(source_text, mutant.operator, mutant.occurrence)
            if changed is None or changed == source_text:
                raise RuntimeError(f"nothing changed: {mutant}")
            file.write_text(changed)
            relevant = profile.relevant(mutant.path, source_text, mutant.line)
            if survives(tree, relevant, profile):
                was, now = (text.splitlines()[mutant.line - 1].strip() for text in (source_text, changed))
                alive.append(f"{mutant.path}:{mutant.line}: {was}  ->  {now}  ({len(relevant)} tests)")
                print(f"\r{alive[-1]}", file=sys.stderr)
            file.write_text(source_text)
            print(f"\r{count} of {len(order)}, {len(alive)} alive", end="", file=sys.stderr)
        print(file=sys.stderr)
    killed = len(order) - len(alive)
    print(f"{given.room}: {killed} of {len(order)} mutants killed ({100 * killed / max(1, len(order)):.0f} %), "
          f"of {len(every)} there are, seed {given.seed}")  # fmt: skip
    print("\n".join(alive))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
