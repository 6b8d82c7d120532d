"""Whatever a policy of one's own does wrong, a command ends in one line, and with status 2."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from experiments import cli
from tests.experiments.makers import PROGRAM
from tests.tables import each, rows

KINDS = """
class Base:
    spec, host_aware = "mine", False
    def plan(self, view):
        return self.to(view) if view.now_ns >= 10_000_000_000 else Base.to(self, view)
    def to(self, view):
        return Plan(view.now_ns, (view.now_ns // 100_000_000 + 1) * 100_000_000)

class Own(BaseException):
    pass

class Mute(Exception):
    def __str__(self):
        raise self

class Unshown:
    def __repr__(self):
        raise Own
    __bool__ = __index__ = __repr__

def raises(error):
    raise error
"""
# what is wrong: lines of the class, and what is said
WAYS = {
    name: (lines, said)
    for name, lines, said in rows(r"""
"an exception", "to = lambda self, view: raises(KeyError('x\\ny'))" -> plan raised KeyError: 'x
"an exception that cannot be shown", "to = lambda self, view: raises(Mute())" -> Mute: it cannot say what
"a BaseException of one's own", "to = lambda self, view: raises(Own('x'))" -> plan raised Own: x
"SystemExit", "to = lambda self, view: raises(SystemExit(0))" -> plan raised SystemExit
"GeneratorExit", "to = lambda self, view: raises(GeneratorExit())" -> plan raised GeneratorExit
"no end of calls", "def to(self, view):\n        return self.to(view)" -> plan raised RecursionError
"the end of the process", "to = lambda self, view: os._exit(0)" -> SystemExit: os._exit must not be called
"an abort", "to = lambda self, view: os.abort()" -> SystemExit: os.abort must not be called
"a second process", "to = lambda self, view: os.fork()" -> SystemExit: os.fork must not be called
"another clock", "def to(self, view):\n        view.now_ns = -5\n        return Plan(-5, 10**8)" -> wake_ns must
"a constant instant", "to = lambda self, view: Plan(view.now_ns, 300_000_000)" -> wake_ns must be a multiple
"off the beacons", "to = lambda self, view: Plan(view.now_ns, view.now_ns + 1)" -> wake_ns must be a multiple
"no plan", "to = lambda self, view: None" -> plan must return a Plan, got None
"what cannot be shown", "to = lambda self, view: Unshown()" -> got a Unshown without a repr
"floats", "to = lambda self, view: Plan(view.now_ns, view.now_ns + 1e8)" -> whole nanoseconds
"truths that are none", "to = lambda self, view: Plan(view.now_ns, 2**61, Unshown())" -> must be bool, got a Plan
"a coroutine", "async def plan(self, view):\n        pass" -> plan must return a Plan, got <coroutine
"another signature", "plan = lambda self: None" -> plan raised TypeError
"an observer that fails", "observe = lambda self, frame: raises(Mute())" -> observe raised Mute
"an observer that is none", "observe = 5" -> observe raised TypeError
"an endless spec", "spec = 'm' * 10**6" -> must have 1 to 200 characters
"a spec that raises", "spec = property(lambda self: raises(Own()))" -> makes no policy: Own
"a spec that changes", "n = 0\n    @property\n    def spec(self):\n        return f'mine{self.n}'\n"
  "    def to(self, view):\n        self.n = 1\n        return Base.to(self, view)"
  -> mine0: its spec must stay the same, got 'mine1'
"a thread that stays", "def to(self, view):\n        threading.Thread(target=RELEASE.wait, name='idle').start()\n"
  "        return Base.to(self, view)"
  -> threads must end before the run does, got 'idle'
"a compiled rule that is none", "compiled = 7" -> compiled of the policy Mine must be a CompiledForm, got 7
"host_aware that is no truth", "host_aware = Unshown()" -> host_aware of the policy Mine must be a bool
"a constructor that ends the process", "__init__ = lambda self: os._exit(0)" -> os._exit must not be called
""")
}


NO_PAGE = [*WAYS][[*WAYS].index("an endless spec") :]  # before the first, or after the last


@each("way", WAYS)
def test_each_way_in_which_a_policy_fails_is_one_line_that_names_it(complaint, tmp_path, monkeypatch, way):
    lines, said = WAYS[way]
    imports = "import os, threading\nfrom netsim import Plan\nRELEASE = threading.Event()\n"
    (tmp_path / "mine.py").write_text(f"{imports}{KINDS}\nclass Mine(Base):\n    {lines}\n")
    page = '{"page": "p%d", "request_bytes": 400, "reply_bytes": 9000, "think_s": 4.0}\n'
    (tmp_path / "w.jsonl").write_text("".join(page % number for number in range(4)))
    monkeypatch.chdir(tmp_path)
    left = []  # by which the program would end the process that waits for a thread
    monkeypatch.setattr(cli, "os", SimpleNamespace(**{**vars(os), "_exit": left.append}))
    try:
        line = complaint("simulate", "w.jsonl", "--policy", "mine.py:Mine", "--out", "p.csv", "--preset", "thesis")
    finally:
        for module in [one for one in [*sys.modules.values()] if "Unshown" in vars(one)]:
            module.RELEASE.set()
    assert said in line
    assert "mine" in line.lower()
    assert " page" in line or way in NO_PAGE
    assert not (tmp_path / "p.csv").exists()
    assert left == ([2] if "thread" in way else [])


@each("way, jobs", [
    ("the end of the process", 2), *(pytest.param(*one, marks=pytest.mark.long) for one in
        (("the end of the process", 1), ("a thread that stays", 1), ("a thread that stays", 2))),
])  # fmt: skip
def test_a_policy_that_leaves_a_thread_or_ends_its_worker_ends_the_program_all_the_same(tmp_path, way, jobs):
    imports = "import os, threading\nfrom netsim import Plan\nRELEASE = threading.Event()\n"
    (tmp_path / "own.py").write_text(f"{imports}{KINDS}\nclass Mine(Base):\n    {WAYS[way][0]}\n")
    words = f"compare --preset thesis --pages 3 --seeds 1 --policies own.py:Mine --out out --jobs {jobs}".split()
    ran = subprocess.run([*PROGRAM, *words], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 2, ran.stderr[:500]
    said = "".join(line for line in ran.stderr.splitlines() if "runs of a policy: " not in line)
    assert said.startswith("lpsm: policy mine: ")
    assert said.isprintable()
