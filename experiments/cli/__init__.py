"""The command line: one module a command, importing its work inside the command.

`lpsm --help` reads the table below and imports nothing of it, so that it answers at once.
Every error a user can cause ends here: one line on stderr, exit status 2.
"""

import difflib
import importlib
import io
import logging
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click
from click.shell_completion import shell_complete

from experiments.escaping import echo
from experiments.study.signals import Interrupted, check, handled

COMMANDS = {
    "audit": "Say what a device did to save power, from a capture.",
    "benchmark": "Hold policies against mixtures of all others, in fixed worlds.",
    "bounds": "Hold regret bounds of the expert learners against their regret.",
    "compare": "Compare energy and slowdown of power-saving policies.",
    "doctor": "Check what the program needs: versions, caches, data.",
    "emulate": "Run a real program on the simulated air, and say what that costs.",
    "export": "Write a policy as C that a device can run.",
    "explore": "Open a page with sliders that shows what every policy costs.",
    "generate": "Make a workload: Web pages, messages, or a stream.",
    "label": "Run a selective sampler over a stream; count errors and labels.",
    "list": "List policies, radios, samplers, formats, experiments, or settings of a world.",
    "pages": "Read a trace of any supported format and group it into pages.",
    "population": "Simulate every user of a trace under every policy.",
    "radio": "Fit a radio to a current that was measured.",
    "replay": "Replay real arrivals under LPSM's learner, against hindsight.",
    "report": "Make one HTML page of a finished folder of results.",
    "reproduce": "Run the papers' experiments again and check the claims.",
    "simulate": "Simulate one workload under one policy, page by page.",
    "timeline": "Show what the radio does, frame by frame; or capture it.",
    "tune": "Recommend a power-save setting for somebody's traffic.",
}
"""Each command with one line of help; it is the only one in the module of its name (`list` in `listings`)."""

BAD_INPUT = 2


def load_command(name: str) -> click.Command:
    """Import and return the command of that name."""
    module = importlib.import_module(f"experiments.cli.{'listings' if name == 'list' else name}")
    (found,) = (one for one in vars(module).values() if isinstance(one, click.Command))
    return found


class _Program(click.Group):
    """A group whose commands are imported when they are called, and whose errors are one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        if cmd_name not in COMMANDS:
            near = difflib.get_close_matches(cmd_name, COMMANDS, n=1)
            hint = f", did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"there is no command {cmd_name!r}{hint}; see lpsm --help")
        if cmd_name != "emulate":  # the program that it runs would be told as well
            # More threads of linear algebra wait busily, and the last bits of large sums depend on their number.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        return load_command(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))

    def main(self, args: Sequence[str] | None = None, *_: Any, **_more: Any) -> Any:
        """Run the program, and end the process with the right status."""
        if instruction := os.environ.get("_LPSM_COMPLETE"):
            sys.exit(shell_complete(self, {}, "lpsm", "_LPSM_COMPLETE", instruction))
        _open_what_is_closed()
        if sys.stderr.isatty():
            _say_when_compiling()
        for stream in (sys.stdout, sys.stderr):  # what the terminal's characters do not include is written as escapes
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        threads = set(threading.enumerate())
        with handled(to_the_end=args is None):  # by a shell, not by Python
            try:
                status = self._status(sys.argv[1:] if args is None else [*args])
            except Interrupted as stopped:  # between two steps of the program
                status = _complain(stopped, str(stopped), stopped.status)
            if any(not one.daemon for one in {*threading.enumerate()} - threads):
                for stream in (sys.stdout, sys.stderr):
                    stream.flush()
                os._exit(status)  # a policy of one's own has left a thread, which would be waited for
            sys.exit(status)

    def _status(self, args: list[str]) -> int:
        """Run the program, complain in one line of what goes wrong, and return the exit status."""
        try:
            try:
                with self.make_context("lpsm", args) as context:
                    self.invoke(context)
                sys.stdout.flush()
            except Exception:  # what C makes of a signal that comes while a module is imported, for one
                check()
                raise
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            return BAD_INPUT
        except click.exceptions.Exit as error:
            return error.exit_code
        except BrokenPipeError:  # the reader of our output has gone: nobody is left to tell
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        except KeyboardInterrupt as error:
            return _complain(error, str(error) or "interrupted", getattr(error, "status", 130))
        except click.ClickException as error:
            return _complain(error, error.format_message())
        except OSError as error:
            where = f"{error.filename}: " if error.filename is not None else ""
            return _complain(error, f"{where}{error.strerror or error}")
        except (ValueError, EOFError) as error:
            return _complain(error, str(error))
        except MemoryError as error:
            return _complain(error, f"there is not enough memory here: {str(error) or 'nothing is left'}")
        return 0


def _open_what_is_closed() -> None:
    """Have closed standard streams lead nowhere, lest a file that is opened next takes the place of one."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            with suppress(OSError):
                os.fstat(number)
                continue  # the descriptor is somebody's
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


def _say_when_compiling() -> None:
    """Say once that kernels are being compiled, which the first run of a command waits for."""

    class Once(logging.Handler):
        said = False

        def emit(self, record: logging.LogRecord) -> None:
            if not self.said:
                echo(f"lpsm: {record.getMessage()}", err=True)
            self.said = True

    compiling = logging.getLogger("lpsm.compiling")
    compiling.setLevel(logging.INFO)
    compiling.addHandler(Once())


def _complain(error: BaseException, words: str, status: int = BAD_INPUT) -> int:
    """Say in one line what happened, and what the layers that the error went through noted."""
    default = [", nothing was written"] if isinstance(error, KeyboardInterrupt) else []
    echo(f"lpsm: {' '.join((words + ''.join(getattr(error, '__notes__', default))).split())}", err=True)
    return status


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="lpsm", message="lpsm %(version)s", help="Print the version.")
def main() -> None:
    """Save power in wireless clients by learning online when to sleep.

    Simulate an 802.11 client that browses the Web, compare power-saving policies on generated or real traffic, and hold
    the learners against their bounds.
    """
