"""The program as tests start it: in a process of its own that may be killed, or in this one, which is quicker."""

import sys

from click.testing import CliRunner

from experiments.cli import main

PROGRAM = [sys.executable, "-c", "from experiments.cli import main; main()"]


def finish(words):
    """Run the program in this process; it must end well."""
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
