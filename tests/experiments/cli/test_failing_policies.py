"""Every way in which a policy of somebody's own can fail ends in one line with its name, and exit status 2."""

import subprocess

import pytest

from tests.experiments.makers import PROGRAM

SOURCE = """
import itertools, os, random, sys, threading, time
from netsim import Plan

class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no words")

class Own(BaseException):
    pass

class Base:
    spec, host_aware = "failing", False
    def plan(self, view):
        if view.now_ns > 1_000_000_000:
            return self.fail(view)
        return Base.fail(self, view)
    def fail(self, view):
        return Plan(view.now_ns, (view.now_ns // 100_000_000 + 1) * 100_000_000)

def kind(name, **members):
    globals()[name] = type(name, (Base,), members)

def raising(name, error):
    def fail(self, view):
        raise error()
    kind(name, fail=fail)

for name, error in {"Raises": lambda: KeyError("no\\x1b[2Jluck"), "Mumbles": Mute, "Bases": Own, "Leaves": SystemExit,
                    "Generates": GeneratorExit, "Stops": StopIteration, "Memory": MemoryError}.items():
    raising(name, error)

kind("Recurses", fail=lambda self, view: self.fail(view))
kind("Nothing", fail=lambda self, view: None)
kind("Tuple", fail=lambda self, view: (view.now_ns, 2_000_000_000))
kind("Floats", fail=lambda self, view: Plan(float(view.now_ns), 1e12))
kind("Past", fail=lambda self, view: Plan(view.now_ns, 100_000_000))
kind("Between", fail=lambda self, view: Plan(view.now_ns, view.now_ns + 1))
kind("Never", fail=lambda self, view: Plan(view.now_ns, 10**30))
kind("Repeats", fail=lambda self, view: Plan(view.now_ns, 10**11, False, -5))

def backwards(self, view):
    view.now_ns = -5
    return Plan(-5, 100_000_000)
kind("Backwards", fail=backwards)

kind("Watches", observe=lambda self, frame: 1 / 0)
kind("Wordless", spec=property(lambda self: 1 / 0))
kind("Escapes", spec="a\\x1b[2J")
kind("Surrogate", spec="a\\ud800")
kind("Endless", spec="a" * 5000)
kind("Number", spec=3)
kind("Aware", host_aware="perhaps")
kind("Changing", spec=property(lambda self, count=itertools.count(): f"changing {next(count)}"))
kind("Exits", fail=lambda self, view: os._exit(0))

def thread(self, view):
    threading.Thread(target=time.sleep, args=(60,)).start()
    self.fail = lambda view: Base.fail(self, view)
    return self.fail(view)
kind("Threads", fail=thread)

kind("Forks", fail=lambda self, view: os.fork())
"""
SAID = {
    "Raises": "failing: plan raised KeyError", "Mumbles": "failing: plan raised Mute",
    "Bases": "failing: plan raised Own", "Leaves": "failing: plan raised SystemExit",
    "Generates": "failing: plan raised GeneratorExit", "Stops": "failing: plan raised StopIteration",
    "Memory": "failing: plan raised MemoryError", "Recurses": "failing: plan raised RecursionError",
    "Nothing": "failing: plan must return a Plan, got None", "Tuple": "failing: plan must return a Plan, got (",
    "Floats": "failing: a plan must be in whole nanoseconds", "Past": "failing: wake_ns must be a multiple",
    "Between": "failing: wake_ns must be a multiple", "Never": "failing: wake_ns must be a multiple",
    "Repeats": "failing: wake_ns must be a multiple", "Backwards": "failing: wake_ns must be a multiple",
    "Watches": "failing: observe raised ZeroDivisionError", "Wordless": "Wordless raised ZeroDivisionError",
    "Escapes": "spec of the policy Escapes must be of 1 to 200 characters",
    "Surrogate": "spec of the policy Surrogate must be of 1 to 200 characters",
    "Endless": "spec of the policy Endless must be of 1 to 200 characters",
    "Number": "spec of the policy Number must be a str, got 3",
    "Aware": "host_aware of the policy failing must be True or False", "Changing": "its spec must stay the same",
    "Exits": "failing: plan raised RuntimeError: a policy must neither end the process nor fork",
    "Forks": "failing: plan raised RuntimeError: a policy must neither end the process nor fork",
    "Threads": "failing: it left a thread that goes on",
}  # fmt: skip
WITH_A_PAGE = ("plan raised", "observe raised", "wake_ns", "must return", "whole nanoseconds", "stay the same")


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(SOURCE)
    return f"{tmp_path}/mine.py"


@pytest.mark.parametrize("name", [name for name in SAID if name != "Threads"])
def test_it_is_one_line_with_the_name_and_the_page(lpsm, mine, workload, tmp_path, name):
    result = lpsm("simulate", workload, "--policy", f"{mine}:{name}", "--out", tmp_path / "out.csv")
    assert result.exit_code == 2, result.output
    [line] = [line for line in result.stderr.splitlines() if line]
    assert line.startswith("lpsm: ")
    assert SAID[name] in line
    assert ("at page" in line) == any(words in line for words in WITH_A_PAGE)
    assert "\x1b" not in result.output
    assert not (tmp_path / "out.csv").exists()


def whole_program(mine, name, folder, jobs=1):
    words = ["--policies", f"{mine}:{name}", "--pages", "2", "--seeds", "2", "--jobs", str(jobs), "--out", folder]
    return subprocess.run([*PROGRAM, "compare", *map(str, words)], capture_output=True, text=True, timeout=40)


@pytest.mark.parametrize(("name", "jobs"), [("Threads", 1), ("Threads", 2), ("Exits", 1)])
def test_a_program_of_its_own_ends_at_once_with_the_same_line(mine, tmp_path, name, jobs):
    ended = whole_program(mine, name, tmp_path / "out", jobs)
    assert ended.returncode == 2, ended.stderr
    assert SAID[name] in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "out").exists()
