"""Draws inputs, reads them, and counts what became of it: nothing but a result or a reader's own error may.

An input is a valid file, nine times in ten changed, some of them packed; a few are noise.  An input that ends at a
place of the readers' code at which none had ended is kept, and later ones are changes of those kept, too: a feedback of
coverage that costs nothing, because an error carries its place.
"""

import argparse
import re
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from tests.fuzzing.changing import changed, packed
from tests.fuzzing.formats import FORMATS, compile_rules

HANG_S = 8.0  # of processor time
_MOST_KEPT, _MOST_BYTES = 100, 1 << 18  # changes of what is kept would grow
_IN_MEMORY = Path("/dev/shm")
_AT_THE_HEADER = (  # words of errors that tell of no place behind the beginning, nor of what the whole lacks
    "must be of a known format", "must not be empty", "packed byte 0", "line 1:", "line 1,", "entry 1:", "no such file",
    "must be whole JSON", "must be UTF-8", "must be TOML", "a policy must be one of", "must be a zip file",
    "is not there", "be whole", "a capture must be intact", "the link layer must be", "a workload of pages is needed",
    "a whole .npy",
)  # fmt: skip


class Found:
    """What became of the inputs of a format: how many there were, came past the header, and were read whole."""

    def __init__(self):
        self.inputs = self.past_header = self.whole = 0
        self.slowest_s = 0.0
        self.ends = set()
        self.kept = []


class Hang(BaseException):
    """An input is read for longer than any may be."""


def fuzz(n_inputs, seed=0, only=""):
    """Read so many inputs, spread over the formats whose names begin with `only`.

    Returns
    -------
    tuple of (dict, list)
        What became of the inputs of each format; and a text for each place of the code at which one ended in anything
        but a result or an error that names the file, with the name of a copy of the first such input.
    """
    chance, faults = Random(seed), {}
    found = {name: Found() for name in FORMATS if name.startswith(only)}
    if "policy" in found:
        compile_rules()
    before = signal.signal(signal.SIGPROF, _hang)
    try:
        with tempfile.TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as folder:
            for at in range(n_inputs):
                name = [*found][at % len(found)]
                one_format, one = FORMATS[name], found[name]
                structure, content = _drawn(one_format, one.kept, chance)
                path, draws = write(Path(folder), one_format.name, content), chance.getrandbits(64)
                began = time.process_time()
                signal.setitimer(signal.ITIMER_PROF, HANG_S)
                try:
                    became, end = outcome(one_format, path, Random(draws))
                except (Exception, Hang) as error:
                    became, end = "fault", (name, type(error), *_place(error))
                    if end not in faults:
                        copy = Path(tempfile.gettempdir(), f"input-of-{name}-{at}")
                        shutil.rmtree(copy, ignore_errors=True)
                        (shutil.copytree if path.is_dir() else shutil.copy)(path, copy)
                        faults[end] = f"{name}, {copy}: {type(error).__name__}: {str(error)[:300]}, at {_place(error)}"
                signal.setitimer(signal.ITIMER_PROF, 0)
                one.slowest_s = max(one.slowest_s, time.process_time() - began)
                one.inputs, one.whole = one.inputs + 1, one.whole + (became == "whole")
                one.past_header += became in ("past", "whole")
                if end not in one.ends and len(repr(structure)) < _MOST_BYTES:
                    one.ends.add(end)
                    one.kept[chance.randrange(_MOST_KEPT) :] = [structure, *one.kept[-_MOST_KEPT:]]
    finally:
        signal.signal(signal.SIGPROF, before)
    return found, list(faults.values())


def _hang(_number, _frame):
    raise Hang(f"it was read for more than {HANG_S} s")


def _drawn(of, kept, chance):
    """Return what may be kept, a valid file or one that was kept, changed or not, and the file that is made of it."""
    if chance.random() < 0.03:
        noise = chance.randbytes(chance.randrange(300))
        return noise, noise
    base = chance.choice(kept if kept and chance.random() < 0.4 else of.files)
    base = changed(base, chance) if chance.random() < 0.9 else base
    content = of.render(base) if isinstance(base, type(of.files[0])) else base
    if isinstance(content, bytes) and of.packed and chance.random() < 0.2:
        content = packed(content, chance)
    elif content is not base and chance.random() < 0.2:
        content = changed(content, chance)
    return base, content


def write(folder, name, content):
    """Write an input in place of the one before it."""
    path = folder / name
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
        return path
    path.mkdir()
    for inner, data in content.items():
        parts = (re.sub(r"[^\w. -]", "_", part)[:99].replace("..", "_") or "_" for part in inner.split("/")[-2:])
        place = path.joinpath(*parts)
        if place.parent.is_file() or place.is_dir():
            continue
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(data)
    return path


def outcome(one_format, path, chance):
    """Return how far an input came (header, past, whole), and at which place of the code it ended."""
    try:
        one_format.read(path, chance)
    except (ValueError, FileNotFoundError) as error:
        said = str(error)
        names = isinstance(error, FileNotFoundError) or str(path) in said or "policy" in said
        assert names, f"an error that names no file: {said[:300]!r}"
        return ("header" if any(mark in said for mark in _AT_THE_HEADER) else "past"), _place(error)
    return "whole", "whole"


def _place(error):
    """Return the last four places of the code through which an error came."""
    places, trace = [], error.__traceback__
    while trace is not None:
        places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return tuple(places[-4:])


def peak_mb():
    """Return the most memory that this process has had."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024


def main(arguments):
    """Run the fuzzer as a command, and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
    parser.add_argument("inputs", type=int, nargs="?", default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", metavar="FORMAT", help=f"of {', '.join(FORMATS)}")
    given = parser.parse_args(arguments)
    found, faults = fuzz(given.inputs, given.seed, given.only)
    print(f"{'format':<12}{'inputs':>9}{'past header':>13}{'whole':>9}{'ends':>6}{'slowest s':>11}")
    for name, one in found.items():
        print(f"{name:<12}{one.inputs:>9}{one.past_header:>13}{one.whole:>9}{len(one.ends):>6}{one.slowest_s:>11.3f}")
    print(f"peak of memory: {peak_mb()} MB")
    if faults:
        sys.exit("\n".join(faults))
