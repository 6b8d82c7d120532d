"""Arguments and options of the commands: what several of them have is declared once, with its limits and its help.

Numbers are plain decimal ones, finite and within stated limits, so that no command runs out of memory or time before it
says a word.  Rules of the model itself belong to the model.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import click
from click.shell_completion import CompletionItem

from experiments.presets import MOST_JOBS

__all__ = [
    "BATTERY", "FILE", "INPUT", "JSON", "MEMBER", "MOST_PAGES", "OUTPUT", "REPLACE", "SKIP_DAMAGED", "Names",
    "Number", "Policies", "choice", "command", "configured", "flag", "from_command_line", "jobs", "number", "option",
    "out", "policies", "registered", "seconds", "seed", "slowdown", "whole",
]  # fmt: skip

Decorator = Callable[[Any], Any]
T = TypeVar("T")

MOST_PAGES = 1_000_000  # of one run, which are in memory
_NUMBERS = {
    int: re.compile(r"[+-]?[0-9]{1,40}"),
    float: re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?"),
}
_STANDARD_INPUT = "experiments.cli.options.standard_input"


class Number(click.ParamType[Any]):
    """A number of a command line, from `least` or above `above` to `most`, or one `word` in its place."""

    def __init__(
        self, kind: type[int] | type[float], most: float, *, least: float | None = None, above: float | None = None,
        word: str | None = None,
    ) -> None:  # fmt: skip
        self.kind, self.most, self.least, self.above, self.word = kind, most, least, above, word
        self.name = "integer" if kind is int else "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number or the word; one out of the limits, or not finite, is a `ValueError` that says so."""
        if not isinstance(value, str) or value == self.word:  # a default, or the word
            return value
        if not _NUMBERS[self.kind].fullmatch(value):
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        number, least, above = self.kind(value), self.least, self.above
        least = -self.most if least is None and above is None else least
        finite = " and finite" if self.kind is float else ""
        for broken, rule in (
            (number > self.most, f"at most {self.most:{'g' if self.kind is float else 'd'}}"),
            (least is not None and number < least, f"at least {least or 0:g}{finite}"),
            (above is not None and number <= above, f"above {above or 0:g}{finite}"),
        ):
            if broken:
                name = max(param.opts, key=len).lstrip("-") if param is not None else "a number"
                raise ValueError(f"{name} must be {rule}, got {value}")
        return number


class Names(click.ParamType[Any]):
    """A name, or `several` with commas between them; `listed` returns those that complete, and their meanings."""

    name = "text"

    def __init__(self, listed: Callable[[], dict[str, str]], *, several: bool = False) -> None:
        self._listed, self._several = listed, several

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return what may follow what was typed."""
        before, comma, last = incomplete.rpartition(",") if self._several else ("", "", incomplete)
        listed = self._listed().items()
        return [CompletionItem(before + comma + name, help=words) for name, words in listed if name.startswith(last)]


def _policies() -> dict[str, str]:
    """Return names of policies with what they mean: an example of each kind, and the kind where that is enough."""
    from netsim import policies

    entries = policies.registry().values()
    alone = {entry.kind: entry.meaning for entry in entries if entry.written.partition("[")[0] == entry.kind}
    return {**alone, **{entry.example: entry.meaning for entry in entries}}


def registered(module: str) -> Callable[[], dict[str, str]]:
    """Return what lists the names of a module's registry with their meanings."""
    return lambda: {name: entry.meaning for name, entry in import_module(module).registry().items()}


class Policies(Names):
    """Names of policies, or the classes of their own (`netsim.policies.OwnPolicy`) that people name when they type it.

    Nothing but what was typed may go through it: it is the one way by which a text has Python run.
    """

    def __init__(self, *, several: bool = True) -> None:
        super().__init__(_policies, several=several)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a policy, or a list of `several`; nothing is opened yet."""
        from netsim.policies import OwnPolicy, registry, split

        names = split(value) if self._several else [value.strip()]
        found = [name if name.partition(":")[0] in registry() else OwnPolicy.typed(name) or name for name in names]
        return [policy for policy in found if policy] if self._several else found[0]


class _Input(click.ParamType[Any]):
    """A file to read; what comes by standard input (-) goes through a temporary file, as traces are opened twice."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if str(value) != "-" or ctx is None or ctx.resilient_parsing:
            return Path(value)
        if ctx.meta.setdefault(_STANDARD_INPUT, False):
            raise ValueError("- is standard input, which can be read once, got it twice")
        ctx.meta[_STANDARD_INPUT] = True
        path = Path(ctx.with_resource(TemporaryDirectory(prefix="lpsm-")), "standard-input")  # no name of its own
        with path.open("wb") as file:
            copyfileobj(sys.stdin.buffer, file)
        return path


class _Output(click.ParamType[Any]):
    """A file to write, - for standard output."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        return Path("/dev/stdout" if str(value) == "-" else value)


INPUT, OUTPUT, FILE = _Input(), _Output(), click.Path(path_type=Path)


def command(*declared: Decorator, name: str | None = None) -> Callable[[Callable[[Any], None]], click.Command]:
    """Make a command of these arguments and options; its function gets what was typed as attributes of one object."""

    def decorate(function: Callable[[Any], None]) -> click.Command:
        @functools.wraps(function)
        def call(**typed: Any) -> None:
            function(SimpleNamespace(**typed))

        return click.command(name)(functools.reduce(lambda made, one: one(made), reversed(declared), call))

    return decorate


def configured(kind: type[T], asked: Any, **more: Any) -> T:
    """Return a configuration: its fields are `more` and the options of the same names, or else have their defaults."""
    own = {field.name: getattr(asked, field.name, None) for field in fields(cast("Any", kind))}
    return kind(**{name: value for name, value in own.items() if value is not None} | more)


def from_command_line(name: str) -> bool:
    """Whether an option of the running command was typed, and is not its default."""
    return click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def option(names: str, words: str, kind: Any = None, default: Any = None, **more: Any) -> Decorator:
    """Declare an option by its `names`, which blanks separate, and its help; a default is shown in that."""
    shown = default is not None
    return click.option(*names.split(), type=kind, default=default, show_default=shown, help=words, **more)


def number(
    names: str, words: str, default: float | None = None, *, most: float = 1e9, least: float | None = None,
    above: float | None = None, **more: Any,
) -> Decorator:  # fmt: skip
    """Declare an option that takes a `Number`."""
    return option(names, words, Number(float, most, least=least, above=above), default, **more)


def whole(
    names: str, words: str, default: int | None = None, *, most: int, least: int | None = None, **more: Any
) -> Decorator:
    """Declare an option that takes a whole `Number`."""
    return option(names, words, Number(int, most, least=least), default, **more)


def seconds(names: str, words: str, **limits: Any) -> Decorator:
    """Declare an option that takes a time in seconds, up to thirty years."""
    return number(names, words, metavar="SECONDS", **limits)


def choice(name: str, kinds: Sequence[str], words: str, default: str | None = None) -> Decorator:
    """Declare an option that takes one of some words, by default the first."""
    return option(name, words, click.Choice(kinds), default or kinds[0])


def flag(names: str, words: str) -> Decorator:
    """Declare an option that takes no value."""
    return click.option(*names.split(), is_flag=True, help=words)


def slowdown(words: str, default: float | None = None) -> Decorator:
    """Declare ``--max-slowdown``, a mean slowdown of at least 1."""
    return number("--max-slowdown", words, default, most=1e6, least=1.0)


def out(folder: str) -> Decorator:
    """Declare ``--out`` for a command that writes a folder of results."""
    return option("--out", "Folder for the results.", FILE, Path("out", folder))


def seed(words: str, least: int | None = None) -> Decorator:
    """Declare ``--seed``."""
    return whole("--seed", words, 0, most=2**63 - 1, least=least)


def jobs(words: str = "Number of processes [one per processor].", default: int | None = None) -> Decorator:
    """Declare ``--jobs``."""
    return whole("--jobs", words, default, most=MOST_JOBS, least=1)


def policies(default: str | None, words: str = "Policies to compare, separated by commas.") -> Decorator:
    """Declare ``--policies``, whose names complete in the shell."""
    return option("--policies", words, Policies(), default, metavar="NAME,NAME")


BATTERY = functools.partial(
    number, "--battery-mwh", "Capacity of a battery, mWh, to say how long it lasts.", most=1e12, above=0.0
)
JSON = flag("--json as_json", "Print the result as one JSON object.")
MEMBER = option(
    "--member", "Only these members of the trace (an archive or a folder), e.g. '272/Nov94/*'.", metavar="GLOB"
)
SKIP_DAMAGED = flag("--skip-damaged", "Count damaged parts of a trace and go on, instead of giving up.")
REPLACE = flag("--replace", "Replace a result in OUT even if it is of more runs than these, or of other policies.")
