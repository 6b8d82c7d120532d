"""Call public callables with hostile values: in processes of their own, so that a signal names the call that it ended.

`python -m tests.walk [EVERY [MODULE[,MODULE] ...]]` makes every so many calls (1: all), of modules with a comma between
them in one process, and prints what is neither a result, nor a TypeError, a ValueError or an error that the docstring
names, nor over within 8 s of computing.  Of a call one argument is hostile and the others are the samples below, by
name; a callable whose samples do not fit is passed over.
"""

import inspect
import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import warnings
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path

from tests.tables import named, rows

CLEAN = shlex.split("""
lpsm lpsm.experts lpsm.combining lpsm.hindsight lpsm.states lpsm.synthetic lpsm.synthetic_streams lpsm.bounds.drift
lpsm.bounds.experts lpsm.bounds.perceptrons lpsm.bounds.risk lpsm.bounds.second_order lpsm.online
netsim.policies.polling lpsm.randomness lpsm.samplers netsim.sleep_planning.schedules netsim netsim.radio
netsim.policies netsim.traffic traces traces.traffic traces.arrivals
""")
"""Modules of which no call may end otherwise than it says."""
SECONDS, TO_COMPILE_S, BLOCKED_S = 8, 240, 600
ALLOWED = {"TraceError", "NotCoveredError", "TypeError", "ValueError", "NotImplementedError"}  # the last: base classes
FILES = ("FileNotFound", "OSError", "IsADir")  # of what names no file that can be read


class OwnError(Exception):
    """What a function of the caller's own raises, and may come out as it is."""


class _Late(BaseException):
    pass


def _raise(error):
    raise error


def hostile():
    """Values that no caller means; a pipe stands in the current folder."""
    import numpy as np

    frozen = np.zeros(3)
    frozen.flags.writeable = False
    [values] = rows(r"""
None, True, nan, inf, -inf, -1, 0, 10**400, -(10**400), 2**63, 10**18, 1e308, 1e155, 5e-324, 1 + 2j, "",
  "x" * 10**6, "\0", os.path.abspath("pipe"), b"", b"\xff" * 100, object(), [], [[]], [[1.0], [1.0, 2.0]],
  [nan, inf], [10**400], ["x", None], {}, {"a": 1}, {1, 2}, (), lambda *_: _raise(OwnError), type,
  (i for i in range(3)), np.zeros(0), np.float64(0.5), np.array(0.5), np.zeros((2, 2, 2)),
  np.ones((2, 2), dtype=complex), np.ma.masked_array([1.0, 2.0], [True, False]),
  np.array([None, "x"], dtype=object), np.full(3, 1e155), frozen, np.array(["2020"], dtype="datetime64[D]")
""", {**globals(), "frozen": frozen})  # fmt: skip
    return [*values]


@cache
def result():
    """A run of the simulator."""
    from netsim import simulate
    from traces import Page

    return simulate([Page("a", 300, 500)], engine="packet")


def samples():
    """Values that a caller means, by the name of an argument, some with that of its function before it."""
    import numpy as np

    import traces
    from lpsm import combining, samplers

    table, labels = np.random.default_rng(0).random((6, 3)), np.array([1, -1, 1, -1, 1, -1])
    return named("""
n_experts = 3 ; alpha = 0.1 ; alphas = [0.1, 0.2] ; losses = table ; forecasts = table ; X = table ; x = table[0]
y = labels ; P = np.full((3, 3), 1 / 3)
horizon = 100 ; n_rounds = 50 ; n_features = 3 ; n_classes = 3 ; key = "sop-ss"
parameter = "b" ; grid = [0.1, 1.0] ; segments = 1 ; seed = 0 ; size = 4 ; delta = 0.1 ; kind = "web" ; hours = 0.1
path = "none.jsonl" ; Requests.path = "trace.csv" ; batches.path = "trace.csv" ; read.path = "trace.csv"
sessions.path = "trace.csv" ; read_workload.path = "pages.jsonl" ; n = 3 ; name = "thesis" ; name_or_file = "thesis"
text = "psm:100" ; policy = "psm" ; names = ["a"] ; state = {} ; rounds = 6 ; mean = 1.0 ; mixture = table[:, 0]
loss = table[:, 0] ; comparator = table[:, 0] ; awake = np.ones((6, 3), dtype=bool) ; labels = labels
learner = samplers.LeastSquares() ; play.learner = samplers.make("sop", 3) ; play.instances = table
play.label = lambda _: 1 ; rule = samplers.Always() ; pages = [Page("a", 300, 500)] ; beacons = 10 ; elapsed_s = 2.0
messages = [Message(1.0, 5)] ; objects = [0] ; sizes = [[300, 500]] ; think_s = [0.0] ; issue_s = [0.0] ; name_ = "a"
at_s = 1.0 ; size_bytes = 5 ; awake_ns = 10 ; asleep_ns = 10 ; clients = [([Page("a", 300, 500)], "psm")] ; count = 2
combiner = Combiner(3) ; run_row.result = result() ; rng = np.random.default_rng(0)
""", {**vars(combining), **vars(traces), **locals(), "result": result, "samplers": samplers})  # fmt: skip


BY_ANNOTATION = {"int": 3, "float": 0.5, "str": "x", "bool": True, "ArrayLike": [0.5, 0.25], "Floats": [0.5, 0.25]}


def public(module):
    """Yield what a module offers: name, docstrings, and what makes functions, classes, and methods of an instance."""
    known = import_module(module)
    own = [one.__name__ for one in vars(known).values() if getattr(one, "__module__", "") == module]
    own = [name for name in own if name[0] != "_"]
    for name in getattr(known, "__all__", own):
        found = getattr(known, name)
        if not callable(found) or getattr(found, "_is_protocol", False):
            continue
        yield f"{module}.{name}", found.__doc__, lambda found=found: found
        is_class = inspect.isclass(found) and not issubclass(found, BaseException)
        # the samplers' rules and kernels are parts of a compiled loop
        if is_class and not (found.__module__.startswith("lpsm.samplers.") and {"chance", "_fields"} & {*dir(found)}):
            for part, value in [*vars(found).items()]:  # what is called in between may add to them
                if part.startswith("_") or not callable(getattr(found, part)):
                    continue
                static = isinstance(value, classmethod | staticmethod)
                made = (lambda found=found: found) if static else (lambda found=found: found(**filled(found)))
                docs = f"{getattr(found, part).__doc__} {found.__doc__}"
                yield f"{module}.{name}.{part}", docs, lambda made=made, part=part: getattr(made(), part)


def filled(call):
    """Return samples for the arguments that must be given."""
    known, given = samples(), {}
    for p in inspect.signature(call).parameters.values():
        if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            kind = str(p.annotation)
            plain = BY_ANNOTATION.get(kind)
            value = known.get(f"{getattr(call, '__name__', '')}.{p.name}", known.get(p.name, plain))
            is_number = kind.startswith(("int", "float")) and p.name != "seed"
            given[p.name] = plain if is_number and isinstance(value, list | str) else value
    return given


def attempt(make, docs, seconds, /, **given):
    """Call, and return what is wrong with how it ended; nothing if nothing is."""
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, lambda *_: _raise(_Late))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(BLOCKED_S)
    try:
        call = make()
        found = call(**{**filled(call), **given})
        if inspect.isgenerator(found):
            for _ in zip(range(3), found, strict=False):
                pass
    except _Late:
        return "late"
    except OwnError:
        return ""
    except Exception as error:
        named = {word.strip(",.:`") for word in (docs or "").split()}
        allowed = ALLOWED | {word for word in named if word.endswith(("Error", "Iteration"))}
        ended = {kind.__name__ for kind in type(error).__mro__} & allowed
        return "" if ended else f"{type(error).__name__}: {str(error)[:100]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
    return ""


def walk(modules, every):
    """Make every so many calls of modules; print each before it is made, and its fault behind it."""
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    warnings.simplefilter("ignore")
    os.mkfifo("pipe")
    Path("trace.csv").write_text("time,bytes\n0,500\n60,700\n")
    Path("pages.jsonl").write_text('{"page": "a", "request_bytes": 300, "reply_bytes": 500}\n')
    calls, n = set(), 0
    for name, docs, make in chain.from_iterable(map(public, modules.split(","))):
        try:
            parameters = inspect.signature(make()).parameters.values()
        except Exception:
            continue  # no instance can be made of the samples, or it says no signature
        fits = None
        for p in parameters:
            for i in range(len(hostile())) if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) else ():
                n += 1
                if n % every or (i == 18 and p.name in ("path", "paths", "root")):  # a trace may be a pipe
                    continue
                fits = not attempt(make, docs, TO_COMPILE_S) if fits is None else fits
                if not fits:
                    continue
                print(f"CALL {name}({p.name}=value {i})", flush=True)
                calls.add(name)
                fault = attempt(make, docs, SECONDS, **{p.name: hostile()[i]})
                if fault == "late":  # it may have compiled
                    attempt(make, docs, TO_COMPILE_S, **{p.name: hostile()[i]})
                    fault = attempt(make, docs, SECONDS, **{p.name: hostile()[i]})
                if fault and not (isinstance(hostile()[i], str | bytes) and fault.startswith(FILES)):
                    print(f"FAULT {name}({p.name}=value {i}, {str(hostile()[i])[:30]!r}): {fault}", flush=True)
    print(f"END {len(calls)}")


def faults(every=1, modules=CLEAN):
    """Walk the modules; return what was wrong, how many calls were made, and of how many callables."""
    found, calls, callables = [], 0, 0
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    for some in modules:
        command = [sys.executable, "-m", "tests.walk", "--child", some, str(every)]
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=3600, env=environment, cwd=folder)
        *lines, last = ended.stdout.splitlines() or [""]
        found += [line for line in (*lines, last) if line.startswith("FAULT")]
        calls += sum(line.startswith("CALL") for line in lines)
        if last.startswith("END"):
            callables += int(last.split()[1])
        else:
            found.append(f"FAULT {some} ended with {ended.returncode} at {last}: {ended.stderr[-300:]}")
    return found, calls, callables


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        walk(sys.argv[2], int(sys.argv[3]))
    else:
        wrong, *made = faults(int(sys.argv[1]) if len(sys.argv) > 1 else 1, sys.argv[2:] or CLEAN)
        print(*wrong, f"{len(wrong)} faults in {made[0]} calls of {made[1]} callables", sep="\n")
        sys.exit(bool(wrong))
