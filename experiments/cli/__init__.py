"""The command line: one module a command, importing its work inside the command.

`lpsm --help` reads the table below and imports nothing of it, so that it answers
at once.  Every error a user can cause ends here: one line on stderr, exit status 2.
"""

from __future__ import annotations

import difflib
import importlib
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from experiments.inert import echo
from experiments.study.interruptions import Interrupted, check, handled

__all__ = ["COMMANDS", "main"]

# name -> (module, attribute, one line of help); a new command is one more line, added once its module exists
COMMANDS: dict[str, tuple[str, str, str]] = {
    "audit": ("experiments.cli.audit", "audit", "What a device did to save power, from a monitor-mode capture."),
    "bounds": ("experiments.cli.bounds", "bounds", "Regret bounds of the experts' learners against measured regret."),
    "cell": ("experiments.cli.cell", "cell", "Policies as the clients behind one access point become more."),
    "compare": ("experiments.cli.compare", "compare", "Energy and slowdown of power-saving policies, with pictures."),
    "doctor": ("experiments.cli.doctor", "doctor", "What the program runs on: versions, processors, caches, data."),
    "explore": ("experiments.cli.explore", "explore", "A local page: move a slider, see what every policy costs."),
    "formats": ("experiments.cli.listings", "formats", "The formats of traces that are read."),
    "generate": ("experiments.cli.generate", "generate", "A workload of the measured Web model, or made to order."),
    "label": ("experiments.cli.label", "label", "A selective sampler over a stream: how good, how many labels."),
    "pages": ("experiments.cli.pages", "pages", "A trace of any supported format, grouped into pages."),
    "policies": ("experiments.cli.listings", "policies", "The power-saving policies, with meaning and source."),
    "population": ("experiments.cli.population", "population", "All users of a trace through every policy."),
    "radios": ("experiments.cli.listings", "radios", "The radios, with their figures and sources."),
    "replay": ("experiments.cli.replay", "replay", "LPSM's learner on real arrivals, against hindsight."),
    "reproduce": ("experiments.cli.reproduce", "reproduce", "Figures and tables of the papers, claim by claim."),
    "samplers": ("experiments.cli.listings", "samplers", "The selective samplers, with meaning and source."),
    "simulate": ("experiments.cli.simulate", "simulate", "One workload under one policy, page by page."),
    "timeline": ("experiments.cli.timeline", "timeline", "What the radio does, frame by frame; captures of it."),
    "tune": ("experiments.cli.tune", "tune", "The power-save setting to take for somebody's traffic."),
    "verify": ("experiments.cli.verify", "verify", "Whether a folder of results is as it was written."),
}

BAD_INPUT = 2


class _Interruption(click.ClickException):
    """Ctrl-C or another signal to stop, with what is kept as its message."""

    def __init__(self, stopped: KeyboardInterrupt) -> None:
        found = stopped if isinstance(stopped, Interrupted) else Interrupted(str(stopped))
        super().__init__(str(found) or f"{found.word}, nothing was written")
        self.status = found.status


class _Program(click.Group):
    """A group whose commands are imported when they are called, and whose errors are one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise click.UsageError(f"there is no command {name!r}{_suggestion(name, COMMANDS)}; see lpsm --help")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][2]) for name in sorted(COMMANDS)])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            try:
                return super().invoke(ctx)
            except Exception:  # what C makes of a signal that comes while a module is imported, for one
                check()
                raise
        except KeyboardInterrupt as error:  # here, because click would forget what it says
            raise _Interruption(error) from None
        except EOFError as error:
            raise click.ClickException(str(error)) from None

    def main(self, args: Sequence[str] | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run the program and end the process with the right status, unless `standalone_mode=False`."""
        standalone = extra.pop("standalone_mode", True)
        extra["prog_name"] = "lpsm"
        if not standalone:
            return super().main(args, standalone_mode=False, **extra)
        with handled():
            sys.exit(self._status(args, **extra))

    def _status(self, args: Sequence[str] | None, **extra: Any) -> int:
        """Run the program, complain in one line of what goes wrong, and return the exit status."""
        _open_what_is_closed()
        if sys.stderr.isatty():
            _say_when_compiling()
        for stream in (sys.stdout, sys.stderr):  # what the terminal's characters do not include is written as escapes
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            status = super().main(args, standalone_mode=False, **extra)
            sys.stdout.flush()
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.ctx.get_help() if error.ctx else "")
            status = BAD_INPUT
        except click.exceptions.Exit as error:
            status = error.exit_code
        except click.ClickException as error:
            _complain(error.format_message())
            status = error.status if isinstance(error, _Interruption) else BAD_INPUT
        except click.Abort:
            status = Interrupted().status
        except BrokenPipeError:  # the reader of our output has gone: nobody is left to tell
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            status = 1
        except OSError as error:
            where = f"{error.filename}: " if error.filename is not None else ""
            status = _complain(f"{where}{error.strerror or error}")
        except ValueError as error:
            status = _complain(str(error))
        except MemoryError as error:
            status = _complain(f"there is not enough memory here: {str(error) or 'nothing is left'}")
        return status if isinstance(status, int) else 0


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
    import logging

    class Once(logging.Handler):
        said = False

        def emit(self, record: logging.LogRecord) -> None:
            if not self.said:
                echo(f"lpsm: {record.getMessage()}", err=True)
            self.said = True

    compiling = logging.getLogger("lpsm.compiling")
    compiling.setLevel(logging.INFO)
    compiling.addHandler(Once())


def _complain(message: str) -> int:
    echo("lpsm: " + " ".join(message.split()), err=True)
    return BAD_INPUT


def _suggestion(word: str, words: Sequence[str] | dict[str, Any]) -> str:
    near = difflib.get_close_matches(word, list(words), n=1)
    return f", did you mean {near[0]!r}?" if near else ""


def _print_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"lpsm {version('lpsm')}")
        ctx.exit()


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Print the version."
)
def main() -> None:
    """Save power in wireless clients by learning online when to sleep.

    Simulate an 802.11 client that browses the Web, compare power-saving policies on
    generated or real traffic, and hold the learners against their bounds.
    """
