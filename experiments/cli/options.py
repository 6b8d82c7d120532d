"""Options that several commands have, each declared once: its type and limits, its help, what completes in the shell.

Numbers are plain decimal ones, finite and no larger than a stated limit, so that no command runs out of memory or time
before it says a word.  Rules of the model itself (what is at least 0, say) belong to the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

__all__ = [
    "KINDS", "MOST_PAGES", "MOST_SEED", "MOST_SEEDS", "Names", "Number", "NumberOr", "Policies", "battery_option",
    "jobs_option", "json_option", "member_option", "number_option", "out_option", "picture_suffix", "policies_option",
    "replace_option", "seconds_option", "seed_option", "skip_damaged_option", "slowdown_option",
]  # fmt: skip

Decorator = Callable[[Any], Any]

MOST_SEED = 2**63 - 1
MOST_PAGES = 1_000_000  # of one run, which are in memory
MOST_SEEDS = 10_000
_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?")


class Number(click.ParamType[Any]):
    """A number of a command line.

    Parameters
    ----------
    kind : {int, float}
    most : int or float
        The largest that is taken.
    """

    def __init__(self, kind: type[int] | type[float], most: float) -> None:
        self.kind, self.most = kind, most
        self.name = "integer" if kind is int else "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number.

        Raises
        ------
        click.BadParameter
            If it is none.
        ValueError
            If it is not finite, or larger than it may be.
        """
        if not isinstance(value, str):  # a default
            return value
        name = max(param.opts, key=len).lstrip("-") if param is not None else "a number"
        if self.kind is float and value.strip().lower().lstrip("+-") in ("nan", "inf", "infinity"):
            raise ValueError(f"{name} must be finite, got {value}")
        if not (_WHOLE if self.kind is int else _DECIMAL).fullmatch(value):
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        number = self.kind(value)
        if number > self.most:
            most = f"{self.most:g}" if isinstance(self.most, float) else str(self.most)
            raise ValueError(f"{name} must be at most {most}, got {value}")
        if number == float("-inf"):
            raise ValueError(f"{name} must be finite, got {value}")
        return number


class NumberOr(Number):
    """A number of a command line, or one word in its place."""

    def __init__(self, word: str, kind: type[int] | type[float], most: float) -> None:
        super().__init__(kind, most)
        self._word = word

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number or the word; raises as for a number."""
        return value if value == self._word else super().convert(value, param, ctx)


class Names(click.ParamType[Any]):
    """A name of a list, or with `several` names with commas between them, which complete in the shell.

    Parameters
    ----------
    listed : callable
        Returns the names with what each means; called only when something is completed.
    several : bool
    """

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


def _radios() -> dict[str, str]:
    from netsim import radio

    return {name: entry.meaning for name, entry in radio.registry().items()}


def _samplers() -> dict[str, str]:
    from lpsm import samplers

    return {name: entry.meaning for name, entry in samplers.registry().items()}


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


def number_option(*names: str, kind: type[int] | type[float], most: float, **more: Any) -> Decorator:
    """Declare an option that takes a number up to `most`; its default is shown in the help if it has one."""
    shown = more.get("default") is not None
    return click.option(*names, type=Number(kind, most), show_default=shown, **more)


def seconds_option(name: str, **more: Any) -> Decorator:
    """Declare an option that takes a time in seconds, up to thirty years."""
    return number_option(name, kind=float, most=1e9, metavar="SECONDS", **more)


def _rule(name: str, rule: str, holds: Callable[[float], bool]) -> Callable[..., float | None]:
    def check(_context: click.Context, _parameter: click.Parameter, value: float | None) -> float | None:
        if value is not None and not holds(value):
            raise ValueError(f"{name} must be {rule}, got {value}")
        return value

    return check


def slowdown_option(what: str, default: float | None = None) -> Decorator:
    """Declare ``--max-slowdown``, a mean slowdown of at least 1."""
    rule = _rule("max-slowdown", "at least 1 and finite", lambda value: value >= 1.0)
    return number_option("--max-slowdown", kind=float, most=1e6, default=default, callback=rule, help=what)


def battery_option(default: float | None = None) -> Decorator:
    """Declare ``--battery-mwh``, received as `battery_mwh`."""
    rule = _rule("battery-mwh", "above 0 and finite", lambda value: value > 0.0)
    words = "Capacity of a battery, mWh, to say how long it lasts."
    return number_option("--battery-mwh", kind=float, most=1e12, default=default, callback=rule, help=words)


def json_option(what: str = "the result") -> Decorator:
    """Declare ``--json``, received as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what} as one JSON object.")


def out_option(folder: str) -> Decorator:
    """Declare ``--out`` for a command that writes a folder of results."""
    return click.option(
        "--out", type=click.Path(path_type=Path), default=Path("out", folder), show_default=True,
        help="Folder for the results.",
    )  # fmt: skip


replace_option = click.option(
    "--replace", is_flag=True, help="Replace a result in OUT even if it is of more runs than these."
)


def picture_suffix(picture: Path | None) -> None:
    """Refuse the name of a picture that cannot be drawn."""
    if picture is not None and picture.suffix.lower() not in (".svg", ".png"):
        raise ValueError(f"the name of the picture must end in .svg or .png, got {picture}")


def seed_option(what: str) -> Decorator:
    """Declare ``--seed``."""
    return number_option("--seed", kind=int, most=MOST_SEED, default=0, help=what)


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
