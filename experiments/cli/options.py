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

from experiments.presets import MOST_CLIENTS

__all__ = [
    "MOST_PAGES",
    "MOST_SEED",
    "MOST_SEEDS",
    "Names",
    "Number",
    "NumberOr",
    "Policies",
    "clients_option",
    "jobs_option",
    "json_option",
    "member_option",
    "number_option",
    "out_option",
    "policies_option",
    "policy_names",
    "radio_names",
    "sampler_names",
    "seconds_option",
    "seed_option",
    "skip_damaged_option",
    "slowdown_option",
]

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
            raise ValueError(f"{name} must be at most {_readable(self.most)}, got {value}")
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


def _readable(number: float) -> str:
    return f"{number:g}" if isinstance(number, float) else str(number)


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


class Policies(Names):
    """Names of policies, or the classes of their own (`netsim.policies.OwnPolicy`) that people name when they type it.

    Nothing but what was typed may go through it: it is the one way by which a text has Python run.
    """

    def __init__(self, *, several: bool = True) -> None:
        super().__init__(policy_names, several=several)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a policy, or a list of `several`; nothing is opened yet."""
        from netsim.policies import OwnPolicy, registry

        names = [name.strip() for name in (value.split(",") if self._several else [value])]
        found = [name if name.partition(":")[0] in registry() else OwnPolicy.typed(name) or name for name in names]
        return [policy for policy in found if policy] if self._several else found[0]


def policy_names() -> dict[str, str]:
    """Return names of policies with what they mean: an example of each kind, and the kind where that is enough."""
    from netsim import policies

    entries = policies.registry().values()
    alone = {entry.kind: entry.meaning for entry in entries if entry.written.partition("[")[0] == entry.kind}
    return {**alone, **{entry.example: entry.meaning for entry in entries}}


def radio_names() -> dict[str, str]:
    """Return the radios with what they are."""
    from netsim import radio

    return {name: entry.meaning for name, entry in radio.registry().items()}


def sampler_names() -> dict[str, str]:
    """Return the samplers with what they are."""
    from lpsm import samplers

    return {name: entry.meaning for name, entry in samplers.registry().items()}


def number_option(*names: str, kind: type[int] | type[float], most: float, **more: Any) -> Decorator:
    """Declare an option that takes a number up to `most`; its default is shown in the help if it has one."""
    shown = more.get("default") is not None
    return click.option(*names, type=Number(kind, most), show_default=shown, **more)


def seconds_option(name: str, **more: Any) -> Decorator:
    """Declare an option that takes a time in seconds, up to thirty years."""
    return number_option(name, kind=float, most=1e9, metavar="SECONDS", **more)


def slowdown_option(what: str, default: float | None = None) -> Decorator:
    """Declare ``--max-slowdown``, a mean slowdown of at least 1."""
    return number_option("--max-slowdown", kind=float, most=1e6, default=default, callback=_at_least_one, help=what)


def _at_least_one(_context: click.Context, _parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and value < 1.0:
        raise ValueError(f"max-slowdown must be at least 1 and finite, got {value}")
    return value


def json_option(what: str = "the result") -> Decorator:
    """Declare ``--json``, received as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what} as one JSON object.")


def out_option(folder: str) -> Decorator:
    """Declare ``--out`` for a command that writes a folder of results."""
    return click.option(
        "--out", type=click.Path(path_type=Path), default=Path("out", folder), show_default=True,
        help="Folder for the results.",
    )  # fmt: skip


def seed_option(what: str) -> Decorator:
    """Declare ``--seed``."""
    return number_option("--seed", kind=int, most=MOST_SEED, default=0, help=what)


def jobs_option(what: str = "Number of processes [one per processor].", default: int | None = None) -> Decorator:
    """Declare ``--jobs``."""
    from experiments.study.executor import MOST_JOBS

    return number_option("--jobs", kind=int, most=MOST_JOBS, default=default, help=what)


clients_option = number_option(
    "--clients", kind=int, most=MOST_CLIENTS, default=1,
    help="Clients of the access point, which all follow the same policy; figures are means over them.",
)  # fmt: skip


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
