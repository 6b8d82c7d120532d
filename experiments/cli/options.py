"""Arguments and options of the commands: what several of them have is declared once, with its limits and its help.

Numbers are finite and within limits that the help shows; rules of the model itself belong to the model.
"""

import functools
import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import signature
from math import isnan
from pathlib import Path
from shutil import copyfileobj, get_terminal_size
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, TypeAlias, TypeVar

import click
from click.shell_completion import CompletionItem

from experiments.escaping import echo
from experiments.presets import MOST_JOBS

Call = Callable[..., None]
Decorator = Callable[[Call], Call]
T = TypeVar("T")
Asked: TypeAlias = SimpleNamespace
"""What was typed for a command: its arguments and options, as attributes."""


class _Number(click.FloatRange):
    name = "number"

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found: float = super().convert(value, param, ctx)
        return self.fail(f"{value!r} is not a number.", param, ctx) if isnan(found) else found


class _Whole(click.IntRange):
    name = "integer"


class Names(click.ParamType[object]):
    """A name, or several with commas between them; `listed` returns those that complete, and their meanings."""

    name = "text"

    def __init__(self, listed: Callable[[], dict[str, str]]) -> None:
        self._listed = listed

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return what may follow what was typed."""
        before, comma, last = incomplete.rpartition(",")
        listed = self._listed().items()
        return [CompletionItem(before + comma + name, help=words) for name, words in listed if name.startswith(last)]


def registered(module: str) -> Callable[[], dict[str, str]]:
    """Return what lists the names of a module's registry with their meanings."""
    return lambda: {name: entry.meaning for name, entry in import_module(module).registry().items()}


class Policies(Names):
    """Names of policies, or the classes of their own (`netsim.policies.OwnPolicy`) that people name when they type it.

    Nothing but what was typed may go through it: it is the one way by which a text has Python run.
    """

    def __init__(self, *, several: bool = True) -> None:
        super().__init__(registered("netsim.policies"))
        self._several = several

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """Return a policy, or a list of `several`; nothing is opened yet."""
        from netsim.policies import OwnPolicy, registry, split

        names = split(value) if self._several else [value.strip()]
        if any(names) and not all(names):
            self.fail(f"a name must stand before and after each comma, got {value!r}.", param, ctx)
        found = [name if name.partition(":")[0] in registry() else OwnPolicy.typed(name) or name for name in names]
        return [policy for policy in found if policy] if self._several else found[0]


def _input(text: str) -> Path:
    """Return a file to read; standard input (-) goes through a temporary one, because traces are read twice."""
    context = click.get_current_context()
    if text != "-" or context.resilient_parsing:
        return Path(text)
    path = Path(context.with_resource(TemporaryDirectory(prefix="lpsm-")), "standard-input")  # no name of its own
    with path.open("wb") as file:
        copyfileobj(sys.stdin.buffer, file)
    return path


FILE = click.Path(path_type=Path)
INPUT, OUTPUT = map(click.types.FuncParamType, (_input, lambda text: Path("/dev/stdout" if text == "-" else text)))
INPUT.name = OUTPUT.name = FILE.name


def command(*declared: Decorator, name: str | None = None) -> Callable[[Callable[[Asked], None]], click.Command]:
    """Make a command of these arguments and options; its function gets what was typed as attributes of one object."""

    def decorate(function: Callable[[Asked], None]) -> click.Command:
        @functools.wraps(function)
        def call(**typed: object) -> None:
            function(Asked(**typed))

        made: Call = call
        for one in reversed(declared):
            made = one(made)
        return click.command(name)(made)

    return decorate


def configured(kind: Callable[..., T], asked: Asked, **more: object) -> T:
    """Return a configuration: its fields are `more` and the options of the same names, or else have their defaults."""
    own = {name: getattr(asked, name, None) for name in signature(kind).parameters}
    return kind(**{name: value for name, value in own.items() if value is not None} | more)


def option(names: str, words: str, kind: object = None, default: object = None, **more: Any) -> Decorator:
    """Declare an option by its `names`, which blanks separate, and its help; a default is shown in that."""
    shown = default is not None
    if not more.get("required"):  # what is required has no default, not even None
        more["default"] = default
    return click.option(*names.split(), type=kind, show_default=shown, help=words, **more)


def number(
    names: str, words: str, default: float | None = None, *, least: float = 0.0, most: float = 1e9,
    above: bool = False, **more: Any,
) -> Decorator:  # fmt: skip
    """Declare an option that takes a number from `least`, or `above` that, to `most`."""
    return option(names, words, _Number(least, most, min_open=above), default, **more)


def whole(
    names: str, words: str, default: int | None = None, *, most: int = 10**6, least: int = 1, **more: Any
) -> Decorator:
    """Declare an option that takes a whole number."""
    return option(names, words, _Whole(least, most), default, **more)


seconds = functools.partial(number, metavar="SECONDS")


def choice(name: str, kinds: Sequence[str], words: str, default: str | None = None) -> Decorator:
    """Declare an option that takes one of some words, by default the first."""
    return option(name, words, click.Choice(kinds), default or kinds[0])


def flag(names: str, words: str) -> Decorator:
    """Declare an option that takes no value."""
    return click.option(*names.split(), is_flag=True, help=words)


def out(folder: str | None, words: str = "Folder for the results.") -> Decorator:
    """Declare ``--out`` for a command that writes a folder of results, and ``--force``, by which it replaces others."""
    named = option("--out", words, FILE, None if folder is None else Path("out", folder))
    forced = flag(
        "--force", "Replace an earlier result of this command in OUT of other options or data, or that was changed."
    )
    return lambda made: named(forced(made))


def policies(default: str | None, words: str = "Policies to compare, separated by commas.") -> Decorator:
    """Declare ``--policies``, whose names complete in the shell."""
    return option("--policies", words, Policies(), default, metavar="NAME,NAME")


def policy(names: str, words: str) -> Decorator:
    """Declare an option that takes one policy."""
    return option(names, words, Policies(several=False), metavar="NAME")


def answer(asked: Asked, data: object, words: str) -> None:
    """Print data as one JSON object, if that is asked for, or else the words."""
    if asked.as_json:
        click.echo(json.dumps(data))
    else:
        echo(words)


def width() -> int | None:
    """Return how many characters a line of the terminal has; None where the output goes elsewhere."""
    return get_terminal_size().columns if sys.stdout.isatty() else None


JSON = flag("--json as_json", "Print the result as one JSON object.")


def web(when: str) -> Decorator:
    """Declare the option for the year of drawn pages, and when it may be given."""
    words = "pages of 2025, which are graphs and tell their servers' times, or as measured in 1996 [by the preset]."
    return option("--web", f"{when}: {words}", click.Choice(("2025", "1996")))


MEMBER = option(
    "--member", "Only these members of the trace (an archive or a folder), e.g. '272/Nov94/*'.", metavar="GLOB"
)
JOBS = whole("--jobs", "Number of processes [as many as pay, at most one per processor].", most=MOST_JOBS)
SEED = whole("--seed", "First seed; the same seed gives the same results.", 0, most=2**63 - 1, least=0)
SKIP_DAMAGED = flag("--skip-damaged", "Count damaged parts of a trace and go on, instead of giving up.")
