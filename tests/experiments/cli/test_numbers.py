"""Numbers of commands have limits, and a bad one is refused in one line within seconds of computing."""

import signal

import click

from experiments.cli import COMMANDS, load_command
from tests.tables import each

BAD = ["nan", "inf", "-inf", "1e400", "1" + "0" * 29, "", "x", "-0", str(2**31), str(2**63), "-1"]
LONGEST_S = 8.0  # of processor time
SMALL = {"generate": ["--pages", "2", "--out"], "pages": ["TABLE", "--out"], "simulate": ["WORKLOAD", "--out"]}


def numeric(name):
    kinds = (click.types.IntParamType, click.types.FloatParamType)
    return [one for one in load_command(name).params if isinstance(one, click.Option) and isinstance(one.type, kinds)]


@each("name", COMMANDS)
def test_every_number_has_limits_which_the_help_shows(name):
    assert [one.opts[0] for one in numeric(name) if None in (getattr(one.type, "min", None), one.type.max)] == []


@each("name", SMALL)
def test_a_bad_number_works_as_said_or_is_one_line_and_quick(lpsm, workload, tmp_path, name):
    table = tmp_path / "t.csv"
    table.write_text("time,bytes\n0.5,2000\n0.6,300\n9.5,3000\n")
    words = [{"TABLE": table, "WORKLOAD": workload}.get(word, word) for word in SMALL[name]] + [tmp_path / "out"]
    lpsm(name, *words)  # what is imported and compiled is so once

    def stop(_number, _frame):
        raise AssertionError(f"it took more than {LONGEST_S} s")

    before = signal.signal(signal.SIGPROF, stop)
    try:
        for option in numeric(name):
            for value in BAD:
                signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
                result = lpsm(name, *words, option.opts[0], value)
                assert result.exit_code in (0, 2), (option.opts, value, result.output)
                assert result.exit_code == 2 or value not in BAD[:7]
                assert (result.stderr.count("lpsm: ") == 1) == (result.exit_code == 2)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
