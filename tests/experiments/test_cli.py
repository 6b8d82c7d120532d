from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from click.testing import Result

from experiments.cli import COMMANDS


def test_help_lists_every_command_and_imports_none_of_them(lpsm: Callable[..., Result]) -> None:
    shown = lpsm("--help")
    assert shown.exit_code == 0
    for name, (_, _, summary) in COMMANDS.items():
        assert name in shown.stdout
        assert summary.split()[0] in shown.stdout
    script = (
        "import sys\n"
        "from experiments.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'pandas', 'rich', 'matplotlib', 'simpy', 'scipy', 'numba'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


def test_every_command_has_its_own_help(lpsm: Callable[..., Result]) -> None:
    for name in COMMANDS:
        shown = lpsm(name, "--help")
        assert shown.exit_code == 0, name
        assert "Usage: lpsm" in shown.stdout


def test_an_unknown_command_is_one_line_with_a_suggestion(complaint: Callable[..., str]) -> None:
    assert "did you mean 'compare'?" in complaint("compar")


def test_an_unknown_option_is_one_line_with_a_suggestion(complaint: Callable[..., str]) -> None:
    assert "--policies" in complaint("compare", "--policie", "none")


def test_the_version_is_that_of_the_distribution(lpsm: Callable[..., Result]) -> None:
    from importlib.metadata import version

    assert lpsm("--version").stdout == f"lpsm {version('lpsm')}\n"
