"""Call public callables with hostile values: a module a process, so that a signal names the call that it ended.

`python -m tests.walk [EVERY [MODULE ...]]` makes every so many calls (1: all) and prints what is neither a result, nor
a TypeError, a ValueError or an error that the docstring names, nor over within 2 s.  Of a call one argument is hostile
and the others are the samples below, by name; a callable whose samples do not fit is passed over, and counted.
"""

from __future__ import annotations

import inspect
import os
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

CLEAN = [
    "lpsm", "lpsm.experts", "lpsm.combining", "lpsm.hindsight", "lpsm.states", "lpsm.synthetic",
    "lpsm.synthetic_streams", "lpsm.bounds.drift", "lpsm.bounds.experts", "lpsm.bounds.perceptrons",
    "lpsm.bounds.risk", "lpsm.bounds.second_order", "lpsm.online",
    "netsim.policies.polling", "lpsm.randomness", "lpsm.samplers", "netsim.sleep_planning.schedules", "netsim",
    "netsim.radio", "netsim.policies", "netsim.traffic", "traces", "traces.traffic", "traces.arrivals",
]  # fmt: skip
"""Modules of which no call may end otherwise than it says."""
SECONDS = 2
FAULT = "FAULT"


def hostile(folder: str) -> list[Any]:
    """Values that no caller means."""
    import numpy as np

    frozen = np.zeros(3)
    frozen.flags.writeable = False
    pipe = os.path.join(folder, "pipe")
    if not os.path.exists(pipe):
        os.mkfifo(pipe)
    nan, inf = float("nan"), float("inf")
    return [
        None, True, nan, inf, -inf, -1, 0, 10**400, -(10**400), 2**63, 10**18, 1e308, 1e155, 5e-324, 1 + 2j, "",
        "x" * 10**6, "\0", pipe, b"", b"\xff" * 100, object(), [], [[]], [[1.0], [1.0, 2.0]], [nan, inf], [10**400],
        ["x", None], {}, {"a": 1}, {1, 2}, (), _raise_own, type, (i for i in range(3)), np.zeros(0), np.float64(0.5),
        np.array(0.5), np.zeros((2, 2, 2)), np.ones((2, 2), dtype=complex),
        np.ma.masked_array([1.0, 2.0], [True, False]), np.array([None, "x"], dtype=object), np.full(3, 1e155), frozen,
        np.array(["2020"], dtype="datetime64[D]"),
    ]  # fmt: skip


def samples() -> dict[str, Callable[[], Any]]:
    """Values that a caller means, by the name of an argument."""
    import numpy as np

    from lpsm import samplers
    from netsim import simulate
    from traces import Message, Page

    table, labels = np.random.default_rng(0).random((6, 3)), np.array([1, -1, 1, -1, 1, -1])
    fixed = {
        "n_experts": 3, "alpha": 0.1, "alphas": [0.1, 0.2], "losses": table, "forecasts": table, "X": table,
        "x": table[0], "y": labels, "P": np.full((3, 3), 1 / 3), "horizon": 100, "n_rounds": 50, "n_features": 3,
        "n_classes": 3, "key": "sop-ss", "parameter": "b", "grid": [0.1, 1.0], "segments": 1, "seed": 0, "size": 4,
        "delta": 0.1, "kind": "web", "hours": 0.1, "path": "none.jsonl",
        **{f"{name}.path": "trace.csv" for name in ("Requests", "batches", "read", "sessions")},
        "read_workload.path": "pages.jsonl", "n": 3, "name": "thesis", "name_or_file": "thesis", "text": "psm:100",
        "policy": "psm", "names": ["a"], "state": {}, "rounds": 6, "mean": 1.0, "mixture": table[:, 0],
        "loss": table[:, 0], "comparator": table[:, 0], "awake": np.ones((6, 3), dtype=bool), "labels": labels,
        "learner": samplers.LeastSquares(), "play.learner": samplers.make("sop", 3), "play.instances": table,
        "play.label": lambda _: 1, "rule": samplers.Always(), "pages": [Page("a", 300, 500)], "beacons": 10,
        "elapsed_s": 2.0, "messages": [Message(1.0, 5)], "objects": [0], "sizes": [[300, 500]], "think_s": [0.0],
        "issue_s": [0.0], "name_": "a", "at_s": 1.0, "size_bytes": 5, "awake_ns": 10, "asleep_ns": 10,
        "clients": [([Page("a", 300, 500)], "psm")], "count": 2,
    }  # fmt: skip
    of_a_round = {"x": table[0]}
    return {
        **{name: lambda v=value: v for name, value in {**fixed, **of_a_round}.items()},
        "rng": lambda: np.random.default_rng(0),
        "run_row.result": lambda: simulate([Page("a", 300, 500)], engine="packet"),
    }


BY_ANNOTATION = {"int": 3, "float": 0.5, "str": "x", "bool": True, "ArrayLike": [0.5, 0.25], "Floats": [0.5, 0.25]}


def public(module: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield what a module offers by name: functions, classes, and their methods bound to an instance of the samples."""
    for name in import_module(module).__all__:
        found = getattr(import_module(module), name)
        if not callable(found) or getattr(found, "_is_protocol", False):
            continue
        yield f"{module}.{name}", found
        if not inspect.isclass(found) or issubclass(found, BaseException) or _is_record(found):
            continue
        for part, value in vars(found).items():
            if part.startswith("_") or not callable(getattr(found, part)):
                continue
            static = isinstance(value, classmethod | staticmethod)
            yield f"{module}.{name}.{part}", getattr(found, part) if static else _Method(found, part)


def _is_record(kind: type) -> bool:
    """Whether a class is one of the samplers' rules or kernels, whose verbs are parts of a compiled loop."""
    return kind.__module__.startswith("lpsm.samplers.") and (hasattr(kind, "chance") or hasattr(kind, "_fields"))


class _Method:
    """A method of an instance that is made anew for every call."""

    def __init__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name
        parameters = list(inspect.signature(getattr(owner, name)).parameters.values())[1:]
        self.__signature__ = inspect.Signature(parameters)
        self.__doc__ = getattr(owner, name).__doc__
        self.__annotations__: dict[str, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        owner = self.owner(**filled(self.owner))
        return getattr(owner, self.name)(*args, **kwargs)


def filled(call: Callable[..., Any]) -> dict[str, Any]:
    """Return samples for the arguments that must be given."""
    known = samples()
    given = {}
    for p in inspect.signature(call).parameters.values():
        if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            kind = str(p.annotation)
            plain = kind.startswith(("int", "float")) and p.name not in ("seed",)
            own = f"{getattr(call, '__name__', '')}.{p.name}"
            value = known.get(own, known.get(p.name, lambda of=kind: BY_ANNOTATION.get(of)))()
            given[p.name] = BY_ANNOTATION[kind] if plain and isinstance(value, list | str) else value
    return given


def documented(call: Callable[..., Any]) -> set[str]:
    """Names of the errors of a docstring; a class's count for its methods."""
    text = f"{call.__doc__ or ''} {getattr(getattr(call, 'owner', None), '__doc__', '') or ''}"
    words = {word.strip(",.:`") for word in text.split()}
    ours = {
        "TraceError",
        "NotCoveredError",
        "TypeError",
        "ValueError",
        "NotImplementedError",
    }  # the last of base classes
    return ours | {word for word in words if word.endswith(("Error", "Iteration"))}


def attempt(call: Callable[..., Any], given: dict[str, Any], seconds: int) -> str:
    """Call, and return what is wrong with how it ended; nothing if nothing is."""

    def stop(*_: object) -> None:
        raise _Late

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        found = call(**given)
        if inspect.isgenerator(found):
            for _ in zip(range(3), found, strict=False):
                pass
    except _Late:
        return "late"
    except OwnError:
        return ""
    except Exception as error:
        names = {kind.__name__ for kind in type(error).__mro__}
        return "" if names & documented(call) else f"{type(error).__name__}: {str(error)[:100]}"
    finally:
        signal.alarm(0)
    return ""


class _Late(BaseException):
    pass


class OwnError(Exception):
    """What a function of the caller's own raises, and may come out as it is."""


def _raise_own(*_: object) -> None:
    raise OwnError


def walk(module: str, folder: str, every: int, after: int) -> None:
    """Make the calls of a module from number `after` on; print each before it is made, and its fault behind it."""
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    warnings.simplefilter("ignore")
    Path("trace.csv").write_text("time,bytes\n0,500\n60,700\n")
    Path("pages.jsonl").write_text('{"page": "a", "request_bytes": 300, "reply_bytes": 500}\n')
    n = 0
    for name, call in public(module):
        try:
            parameters = inspect.signature(call).parameters.values()
        except (TypeError, ValueError):
            continue
        fits = None
        for p in parameters:
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
                continue
            for i, value in enumerate(hostile(folder)):
                n += 1
                if n <= after or n % every:
                    continue
                if fits is None:
                    fits = attempt(call, filled(call), 60)
                    print(f"CALL 0 {name} {'fits' if not fits else 'passed over: ' + fits}", flush=True)
                if fits or (p.name in ("path", "paths", "root") and i == 18):  # a trace may be a pipe
                    continue
                print(f"AT {n} {name}({p.name}=value {i})", flush=True)
                fault = attempt(call, {**filled(call), p.name: value}, SECONDS)
                if fault == "late":  # it may have compiled
                    attempt(call, {**filled(call), p.name: hostile(folder)[i]}, 60)
                    fault = attempt(call, {**filled(call), p.name: hostile(folder)[i]}, SECONDS)
                if fault and not (
                    isinstance(value, str | bytes) and fault.startswith(("FileNotFound", "OSError", "IsADir"))
                ):
                    print(f"{FAULT} {name}({p.name}=value {i}, {str(value)[:30]!r}): {fault}", flush=True)
    print("END", flush=True)


def faults(every: int = 1, modules: list[str] = CLEAN) -> tuple[list[str], Counter[str]]:
    """Walk the modules, each in a process of its own; return what was wrong, and how many calls were made."""
    found: list[str] = []
    counts: Counter[str] = Counter()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with tempfile.TemporaryDirectory() as folder:
        for module in modules:
            after, over = 0, False
            while not over:
                command = [sys.executable, "-m", "tests.walk", "--child", module, folder, str(every), str(after)]
                ended = subprocess.run(
                    command, capture_output=True, text=True, timeout=3600, check=False, env=environment, cwd=folder
                )
                lines = ended.stdout.splitlines()
                found += [line for line in lines if line.startswith(FAULT)]
                calls = [line for line in lines if line.startswith("AT ")]
                counts["calls"] += len(calls)
                counts["callables"] += sum(line.startswith("CALL") and line.endswith(" fits") for line in lines)
                counts["passed over"] += sum(line.startswith("CALL") and "passed over" in line for line in lines)
                over = not calls or lines[-1] == "END"
                if lines[-1:] != ["END"]:  # ended by a signal: it goes on behind the call that did it
                    at = calls[-1] if calls else None
                    found.append(f"{FAULT} {module} ended with {ended.returncode} at {at}: {ended.stderr[-300:]}")
                    after = int(calls[-1].split()[1]) if calls else 0
    return found, counts


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        walk(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        wrong, made = faults(int(sys.argv[1]) if len(sys.argv) > 1 else 1, sys.argv[2:] or CLEAN)
        print(*wrong, f"{len(wrong)} faults; {dict(made)}", sep="\n")
        sys.exit(bool(wrong))
