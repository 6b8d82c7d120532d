"""Options that several commands have, each declared once: its type and limits, its help, what completes in the shell.

Numbers are plain decimal ones, finite and within stated limits, so that no command runs out of memory or time before it
says a word.  Rules of the model itself belong to the model.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any

import click
from click.shell_completion import CompletionItem

__all__ = [
    "FILE", "INPUT", "KINDS", "MOST_PAGES", "MOST_SEEDS", "OUTPUT", "Names", "Number", "Policies", "applied",
    "battery_option", "from_command_line", "jobs_option", "json_option", "member_option", "number_option", "out_option",
    "picture_suffix", "policies_option", "replace_option", "seconds_option", "seed_option", "skip_damaged_option",
    "slowdown_option",
]  # fmt: skip

Decorator = Callable[[Any], Any]

MOST_PAGES = 1_000_000  # of one run, which are in memory
MOST_SEEDS = 10_000
_NUMBERS = {
    int: re.compile(r"[+-]?[0-9]{1,40}"),
    float: re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?"),
}
_STANDARD_INPUT = "experiments.cli.options.standard_input"


class Number(click.ParamType[Any]):
    """A number of a command line, from `least` or above `above` to `most`, or one `word` in its place."""

    def __init__(
        self, kind: type[int] | type[float], most: float, *, least: float | None = None, above: float | None = None,
        word: str = "",
    ) -> None:  # fmt: skip
        self.kind, self.most, self.least, self.above, self.word = kind, most, least, above, word
        self.name = "integer" if kind is int else "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number or the word; one out of the limits, or not finite, is a `ValueError` that says so."""
        if not isinstance(value, str) or (self.word and value == self.word):  # a default, or the word
            return value
        name = max(param.opts, key=len).lstrip("-") if param is not None else "a number"
        if self.kind is float and value.strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
            raise ValueError(f"{name} must be finite, got {value}")
        if not _NUMBERS[self.kind].fullmatch(value):
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        number = self.kind(value)
        finite = " and finite" if self.kind is float else ""
        if number > self.most:
            most = f"{self.most:g}" if isinstance(self.most, float) else str(self.most)
            raise ValueError(f"{name} must be at most {most}, got {value}")
        if number == float("-inf"):
            raise ValueError(f"{name} must be finite, got {value}")
        if self.least is not None and number < self.least:
            raise ValueError(f"{name} must be at least {self.least:g}{finite}, got {value}")
        if self.above is not None and number <= self.above:
            raise ValueError(f"{name} must be above {self.above:g}{finite}, got {value}")
        return number


class Names(click.ParamType[Any]):
    """A name, or `several` with commas between them; `listed` returns those that complete, and their meanings."""

    name = "text"

    def __init__(self, listed: Callable[[], dict[str, str]], *, several: bool = False) -> None:
        self._listed, self._several = listed, several

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return what may follow what was typed."""
        before, comma, last = incomplete.rpartition(",") if self._several else ("", "", incomplete)
        return [
            CompletionItem(before + comma + name, help=meaning)
            for name, meaning in self._listed().items()
            if name.startswith(last)
        ]


def _policies() -> dict[str, str]:
    """Return names of policies with what they mean: an example of each kind, and the kind where that is enough."""
    from netsim import policies

    entries = policies.registry().values()
    alone = {entry.kind: entry.meaning for entry in entries if entry.written.partition("[")[0] == entry.kind}
    return {**alone, **{entry.example: entry.meaning for entry in entries}}


def _meanings(entries: Any) -> dict[str, str]:
    return {name: entry.meaning for name, entry in entries.items()}


def _radios() -> dict[str, str]:
    from netsim import radio

    return _meanings(radio.registry())


def _samplers() -> dict[str, str]:
    from lpsm import samplers

    return _meanings(samplers.registry())


def _experiments() -> dict[str, str]:
    from experiments.papers.registry import all_experiments

    return {one.name: one.subject for one in all_experiments().values()}


KINDS = {"policies": _policies, "radios": _radios, "samplers": _samplers, "experiments": _experiments}
"""What completes in the shell: name to a function of the names and their meanings."""


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
        return Path("/dev/stdout") if str(value) == "-" else Path(value)


INPUT, OUTPUT, FILE = _Input(), _Output(), click.Path(path_type=Path)


def applied(options: Iterable[Decorator]) -> Decorator:
    """Return a decorator that declares all these options, in this order."""
    listed = [*options]

    def decorate(function: Any) -> Any:
        for option in reversed(listed):
            function = option(function)
        return function

    return decorate


def from_command_line(name: str) -> bool:
    """Whether an option of the running command was typed, and is not its default."""
    return click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def number_option(
    *names: str, kind: type[int] | type[float], most: float, least: float | None = None, above: float | None = None,
    **more: Any,
) -> Decorator:  # fmt: skip
    """Declare an option that takes a `Number`; its default is shown in the help if it has one."""
    shown = more.get("default") is not None
    return click.option(*names, type=Number(kind, most, least=least, above=above), show_default=shown, **more)


def seconds_option(*names: str, **more: Any) -> Decorator:
    """Declare an option that takes a time in seconds, up to thirty years."""
    return number_option(*names, kind=float, most=1e9, metavar="SECONDS", **more)


def slowdown_option(what: str, default: float | None = None) -> Decorator:
    """Declare ``--max-slowdown``, a mean slowdown of at least 1."""
    return number_option("--max-slowdown", kind=float, most=1e6, least=1.0, default=default, help=what)


def battery_option(default: float | None = None) -> Decorator:
    """Declare ``--battery-mwh``."""
    words = "Capacity of a battery, mWh, to say how long it lasts."
    return number_option("--battery-mwh", kind=float, most=1e12, above=0.0, default=default, help=words)


def json_option(what: str = "the result") -> Decorator:
    """Declare ``--json``, received as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what} as one JSON object.")


def out_option(folder: str) -> Decorator:
    """Declare ``--out`` for a command that writes a folder of results."""
    return click.option(
        "--out", type=FILE, default=Path("out", folder), show_default=True, help="Folder for the results."
    )


def seed_option(what: str, least: int | None = None) -> Decorator:
    """Declare ``--seed``."""
    return number_option("--seed", kind=int, most=2**63 - 1, least=least, default=0, help=what)


def jobs_option(what: str = "Number of processes [one per processor].", default: int | None = None) -> Decorator:
    """Declare ``--jobs``."""
    from experiments.study.executor import MOST_JOBS

    return number_option("--jobs", kind=int, most=MOST_JOBS, default=default, help=what)


def policies_option(default: str | None, what: str = "Policies to compare, separated by commas.") -> Decorator:
    """Declare ``--policies``, whose names complete in the shell."""
    return click.option(
        "--policies", type=Policies(), metavar="NAME,NAME", default=default,
        show_default=default is not None, help=what,
    )  # fmt: skip


member_option = click.option(
    "--member", metavar="GLOB", help="Only these members of the trace (an archive or a folder), e.g. '272/Nov94/*'."
)
skip_damaged_option = click.option(
    "--skip-damaged", is_flag=True, help="Count damaged parts of a trace and go on, instead of giving up."
)
replace_option = click.option(
    "--replace", is_flag=True, help="Replace a result in OUT even if it is of more runs than these."
)


def picture_suffix(picture: Path | None) -> None:
    """Refuse the name of a picture that cannot be drawn."""
    if picture is not None and picture.suffix.lower() not in (".svg", ".png"):
        raise ValueError(f"the name of the picture must end in .svg or .png, got {picture}")
