"""Every number of every command: it works as said, or is refused in one line within two seconds of computing."""

import signal
from contextlib import contextmanager

import click
import pytest

from experiments.cli import COMMANDS, load_command
from experiments.cli.options import Number

NOT_NUMBERS = ["nan", "inf", "-inf", "1e400", "1" + "0" * 29, "", " ", "7 ", "٣", "1_0", "0x10"]
BAD = [*NOT_NUMBERS, "-0", str(2**31), str(2**63), "-1"]
LONGEST_S = 2.0  # of processor time
SMALL = ["--policies", "none,psm", "--jobs", "1", "--out", "OUT"]
ARGUMENTS = {
    "bounds": ["--learner", "static-expert", "--rounds", "5", "--experts", "2"],
    "compare": ["--pages", "1", "--seeds", "1", *SMALL],
    "explore": None,  # serves until it is stopped
    "generate": ["--pages", "2", "--out", "FILE"],
    "label": ["STREAM", "--algorithm", "ssmd"],
    "pages": ["TABLE", "--out", "FILE"],
    "population": ["WORKLOAD", *SMALL],
    "replay": ["TABLE", "--out", "OUT"],
    "reproduce": ["thesis/counterexample-4-3", "--size", "smoke", "--jobs", "1", "--out", "OUT"],
    "simulate": ["WORKLOAD"],
    "timeline": ["WORKLOAD", "--policies", "psm", "--out", "OUT"],
    "tune": ["--pages", "1", "--seeds", "2", *SMALL],
}


def numeric(name):
    """Return the options of a command that take numbers; where a type of its own reads them, that counts too."""
    kinds = (Number, click.types.IntParamType, click.types.FloatParamType)
    return [one for one in load_command(name).params if isinstance(one, click.Option) and isinstance(one.type, kinds)]


WITH_NUMBERS = sorted(name for name in COMMANDS if numeric(name))


def test_every_command_with_numbers_is_tried_or_left_out_with_a_reason():
    assert set(WITH_NUMBERS) <= set(ARGUMENTS)


@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_every_number_has_an_upper_limit(name):
    unlimited = [one.opts[0] for one in numeric(name) if not isinstance(one.type, Number)]
    assert unlimited == []


ORDINARY = ("generate", "pages", "simulate")  # the others have the same options, and draw or compile
TRIED = [
    pytest.param(name, marks=[] if name in ORDINARY else [pytest.mark.long])
    for name in WITH_NUMBERS
    if ARGUMENTS.get(name)
]


class Hang(BaseException):
    """A command goes on computing for longer than it may."""


@contextmanager
def at_most(seconds):
    """Raise `Hang` in what takes more processor time."""

    def stop(_number, _frame):
        raise Hang

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fault(run, value):
    """Return what is wrong with how a command takes a bad number, or nothing."""
    try:
        with at_most(LONGEST_S):
            result = run()
    except Hang:
        return f"it took more than {LONGEST_S} s"
    said = result.stderr[-300:]
    if result.exit_code not in (0, 2) or "Traceback" in said:
        return f"exit status {result.exit_code}: {said} {result.exception!r}"
    if result.exit_code == 0 and value in NOT_NUMBERS:
        return "it was taken for a number"
    if result.exit_code == 2 and sum(line.startswith("lpsm: ") for line in result.stderr.splitlines()) != 1:
        return f"it was not refused in one line: {said}"
    return ""


@pytest.mark.parametrize("name", TRIED)
def test_a_bad_number_works_as_said_or_is_one_line_and_quick(lpsm, workload, tmp_path, undrawn, name):
    table, stream = tmp_path / "t.csv", tmp_path / "s.csv"
    table.write_text("time,bytes\n0.5,2000\n0.6,300\n9.5,3000\n")
    stream.write_text("a,b,label\n1,2,x\n2,1,y\n0,1,x\n1,0,y\n")
    places = {"WORKLOAD": workload, "TABLE": table, "STREAM": stream, "FILE": tmp_path / "f", "OUT": tmp_path / "o"}
    base = [places.get(word, word) for word in ARGUMENTS[name] or ()]
    lpsm(name, *base)  # what is imported and compiled is so once
    calls = [(option.opts[0], value) for option in numeric(name) for value in BAD]
    faults = {call: fault(lambda call=call: lpsm(name, *base, *call), call[1]) for call in calls}
    assert {call: found for call, found in faults.items() if found} == {}
