"""Which tests execute which lines, and whether they pass: each in a process forked from one that has the libraries.

A test that fails as it is, or takes more than `TEST_S` of processor time, is not used.  What it leaves out: lines that
a process started by a test executes.
"""

from __future__ import annotations

import ast
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from mutants import plain_kernels

__all__ = ["LIBRARIES", "Profile", "profiled", "survives"]

LIBRARIES = ("coverage", "hypothesis", "numba", "pandas", "pytest", "scipy.optimize", "scipy.special", "scipy.stats")
TEST_S = 3.0  # the longest test that is used, as plain Python
BUDGET_S = 12.0  # of tests for a mutant


class Profile(NamedTuple):
    """A room without a fault: what each test takes, who executes each line of each file, and what tests are no use."""

    seconds: dict[str, float]
    lines: dict[str, dict[int, list[str]]]
    left_out: dict[str, str]

    def relevant(self, path: str, source: str, line: int) -> list[str]:
        """Tests that execute a line, the quickest first; of what runs on import, those of any of the file, or all."""
        executed = self.lines.get(path, {})
        found = {test for at in statement(source, line) for test in executed.get(at, [])}
        if "" in found:
            found |= {test for tests in executed.values() for test in tests} - {""} or set(self.seconds)
        return self.quickest(found, BUDGET_S)

    def quickest(self, tests: Iterable[str], budget_s: float) -> list[str]:
        """Those of some tests that can be used, the quickest first, as long as there is time."""
        chosen, spent = [], 0.0
        for test in sorted(set(tests) & set(self.seconds), key=lambda test: (self.seconds[test], test)):
            spent += self.seconds[test]
            if spent < budget_s or not chosen:
                chosen.append(test)
        return chosen


def profiled(tree: Path, tests: list[str], paths: list[str]) -> Profile:
    """Run the room's tests once without a fault."""
    kept = tree / "profile.json"

    def work() -> int:
        watch = Watch(tree, paths)
        run_tests(tree, tests, ["--tb=line"], watch)
        kept.write_text(json.dumps([watch.profile(), watch.refused]))
        return 0

    sys.dont_write_bytecode = False  # what a mutant does not change need not be read again
    ended = forked(tree, work, 1200)
    sys.dont_write_bytecode = True
    if ended:
        raise RuntimeError(f"the tests of the room ended with {ended} without a mutant")
    (seconds, lines, left_out), refused = json.loads(kept.read_text())
    if refused or not seconds:
        why = "; ".join(f"{file}: {error}" for file, error in refused.items())
        raise RuntimeError(f"the tests of the room must be collected, got {why or 'none that can be used'}")
    return Profile(seconds, {path: {int(n): at for n, at in of.items()} for path, of in lines.items()}, left_out)


def survives(tree: Path, tests: list[str], profile: Profile) -> bool:
    """Whether all of these tests pass on the tree, and end."""
    if not tests:
        return True
    seconds = sum(profile.seconds[test] for test in tests)
    return not forked(tree, lambda: run_tests(tree, tests, ["-x", "--tb=no"]), 4 + 2 * seconds)


def statement(source: str, line: int) -> range:
    """Lines of the innermost statement around a line; of a compound one, its head."""
    found = range(line, line + 1)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            body = getattr(node, "body", None)
            head = body[0].lineno - 1 if body and line < body[0].lineno else node.end_lineno or node.lineno
            found = range(node.lineno, head + 1)
    return found


class Watch:
    """A pytest plug-in that keeps what each test takes and executes, and ends one that takes more than `TEST_S`."""

    class Slow(BaseException):
        """What ends it: no `Exception`, which a property test would try again."""

    def __init__(self, tree: Path, paths: list[str]) -> None:
        import coverage

        self.tree, self.paths = str(tree), {path: str(tree / path) for path in paths}
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=list(self.paths.values()))
        self.seconds: dict[str, float] = {}
        self.left_out: dict[str, str] = {}
        self.refused: dict[str, str] = {}
        self.began_s = 0.0
        signal.signal(signal.SIGPROF, self._end)
        self.coverage.start()

    def _end(self, _: int, frame: Any) -> None:
        if frame is not None and frame.f_code.co_filename.startswith(self.tree):
            raise self.Slow
        signal.setitimer(signal.ITIMER_PROF, 0.005)  # not inside a library, which may hold a lock

    def pytest_collectreport(self, report: Any) -> None:
        """Keep which file cannot be collected, and why: without it no mutant would be killed."""
        if report.failed:
            self.refused[report.nodeid] = str(report.longrepr).strip().splitlines()[-1].removeprefix("E").strip()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Count lines and processor time for this test from here on."""
        self.coverage.switch_context(nodeid)
        self.began_s = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, TEST_S)

    def pytest_runtest_setup(self, item: Any) -> None:
        """Spare a test function that has been too slow for more sets of its parameters than not."""
        import pytest

        like = [test for test in self.seconds if _stem(test) == _stem(item.nodeid)]
        slow = sum(self.Slow.__name__ in self.left_out.get(test, "") for test in like)
        if slow > 1 and 2 * slow > len(like):
            pytest.skip("its like were too slow")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Let the next test have its own time."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.seconds[nodeid] = time.process_time() - self.began_s

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep why a test is no use."""
        if report.outcome != "passed":
            self.left_out[report.nodeid] = str(report.longrepr).strip().splitlines()[-1].removeprefix("E").strip()

    def profile(self) -> Profile:
        """Return what was seen."""
        self.coverage.stop()
        data = self.coverage.get_data()
        lines = {path: data.contexts_by_lineno(name) for path, name in self.paths.items()}
        return Profile({test: s for test, s in self.seconds.items() if test not in self.left_out}, lines, self.left_out)


def _stem(test: str) -> str:
    return test.partition("[")[0]


def forked(tree: Path, work: Callable[[], int], cpu_s: float, silent: bool = True) -> int:
    """Do something in a process of its own, in the tree, that has the libraries already; return how it ended."""
    child = os.fork()
    if not child:
        os.setsid()
        os.chdir(tree)
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s) + 1, int(cpu_s) + 1))
        if silent:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
        try:
            os._exit(work())
        finally:
            os._exit(99)
    end = time.monotonic() + 20 * cpu_s
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGKILL


def run_tests(tree: Path, tests: list[str], options: list[str], *plugins: Any) -> int:
    """Run tests in this process; as plain Python, what a kernel lets overflow on purpose would warn."""
    import pytest

    plain_kernels.install()
    ignored = ("RuntimeWarning", "pytest.PytestAssertRewriteWarning")
    options = [*options, *(part for name in ignored for part in ("-W", f"ignore::{name}"))]
    options += ["-q", "-n", "0", "-p", "no:cacheprovider", "--rootdir", str(tree), "-c", str(tree / "pyproject.toml")]
    return int(pytest.main([*options, *tests], plugins=list(plugins)))
