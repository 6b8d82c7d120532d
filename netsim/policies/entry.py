"""What a policy says about itself, so that it can be found, made and explained by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nan

from netsim.policies.protocol import Policy
from netsim.radio import Radio

NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a policy is made for, besides its own parameter."""

    beacon_interval_ns: int = 100 * NS_PER_MS  #: time between beacons
    radio: Radio | None = None  #: for policies that weigh energy; None: the default radio
    dtim_period: int = 1  #: beacons from one DTIM to the next, for policies that wake up for these


@dataclass(frozen=True, slots=True)
class Entry:
    """One kind of policy in the registry."""

    #: how it is typed, such as "bsd[:P]": the kind, then its parameter, in brackets where it may be left out
    written: str
    meaning: str  #: what it does, in one line
    source: str  #: where it comes from
    example: str  #: a name that can be typed as it stands
    #: from the text behind the first colon (empty if there is none) and the `Setting` to a fresh policy; raises
    #: ValueError with the rule that the text breaks
    make: Callable[[str, Setting], Policy]
    host_aware: bool = False  #: whether it uses what only the host knows
    #: where parameters are names: each as it is typed, its meaning and its source
    members: tuple[tuple[str, str, str], ...] = ()

    @property
    def kind(self) -> str:
        """The part of the name before the first colon."""
        return self.written.partition("[")[0].partition(":")[0]


def assignments(parameter: str, names: Sequence[str]) -> dict[str, str]:
    """Read NAME=VALUE,...: each name at most once, and one of these; anything else is a ValueError."""
    given: dict[str, str] = {}
    for part in parameter.split(","):
        name, equals, value = (text.strip() for text in part.partition("="))
        if not equals or not value or name not in names or name in given:
            rule = f"parameters must be NAME=VALUE, each name once, of {', '.join(names) or 'no names'}"
            raise ValueError(f"{rule}; got {part[:_MOST_CHARACTERS]!r}")
        given[name] = value
    return given


def number(text: str) -> float:
    """Read a number; NaN where the text is none."""
    try:
        return float(text)
    except ValueError:
        return nan


def whole_number(text: str, what: str, least: int, *, unit: str = "", most: int = 10**9) -> int:
    """Read a whole number from `least` to `most`; a text that is none is a ValueError, which calls it `what`."""
    value = number(text)
    if not value.is_integer() or not least <= value <= most:
        limit = f" and at most {most}" if least <= value else ""
        raise ValueError(f"{what} must be a whole number{unit}, at least {least}{limit}, got {text!r}")
    return int(value)


MOST_MS = 10**9
_MOST_CHARACTERS = 60
_LARGEST = Fraction(10**99)  # and its inverse the least: no float overflows


def _exact(value: str | float | Fraction) -> Fraction | None:
    """Return a number as an exact fraction; None for a text that is none, or whose fraction could fill the memory."""
    text = str(value)
    try:
        power = int(text.lower().partition("e")[2] or 0)
        return Fraction(text) if len(text) <= _MOST_CHARACTERS and abs(power) < 100 else None
    except (ValueError, ZeroDivisionError):
        return None


def exact_ms(what: str, value_ms: str | float | Fraction) -> Fraction:
    """Return a number of milliseconds, at most 1e9, as exact nanoseconds; anything else is a ValueError."""
    exact = _exact(value_ms)
    if exact is None or exact > MOST_MS:
        got = str(value_ms)[:_MOST_CHARACTERS]
        raise ValueError(f"the {what} must be a number of milliseconds, at most {MOST_MS}, got {got!r}")
    return exact * NS_PER_MS


def number_text(value: float) -> str:
    """Return a number as it stands in a policy's name: with all its digits, and none that are not needed.

    >>> number_text(1.0), number_text(0.05), number_text(1.0000001)
    ('1', '0.05', '1.0000001')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def positive_fraction(policy: str, p: str | float | Fraction, called: str = "p") -> Fraction:
    """Return p, or what it is called, as an exact fraction; what is no number from 1e-99 to 1e99 is a ValueError."""
    exact = _exact(p)
    if exact is None or not 1 / _LARGEST <= exact <= _LARGEST:
        raise ValueError(f"{called} of {policy} must be a number from 1e-99 to 1e99, got {str(p)[:_MOST_CHARACTERS]!r}")
    return exact


def with_slowdown(policy: Callable[..., Policy], parameter: str, setting: Setting) -> Policy:
    """Make a policy from P, the slowdown allowed, 1 by default."""
    return policy(parameter or "1", beacon_interval_ns=setting.beacon_interval_ns)


def with_targets(
    policy: Callable[..., Policy], config: Callable[..., object], written: str, parameter: str, setting: Setting
) -> Policy:
    """Make a policy from SLOWDOWN[:PUSH_MS[@MEASURE][:SIZES]]: what its configuration calls `max_slowdown`,
    `max_push_delay_s`, `push_measure` and `sizes`, if given.  A kind with a dash knows only what the link tells.
    """
    target, colon, push = parameter.partition(":")
    given: dict[str, float | str] = {}
    write = f"; write {written}"
    if ":SIZES" in written and ":" in push:
        push, _, given["sizes"] = push.partition(":")
    if ":" in push:
        raise ValueError(f"a target and a push delay are all it takes, got {parameter!r}{write}")
    if target:
        given["max_slowdown"] = slowdown = number(target)
        if not 1.0 < slowdown < inf:
            raise ValueError(f"the target must be a number above 1, got {target!r}{write}")
    if "@" in push and "@" in written:
        push, _, given["push_measure"] = push.partition("@")
    if colon:
        given["max_push_delay_s"] = float(Fraction(push) / 1000) if 0.0 < number(push) < inf else 0.0
        if not given["max_push_delay_s"]:
            raise ValueError(f"the push delay must be a number of milliseconds above 0, got {push!r}{write}")
    host_aware, interval_ns = "-" not in written.partition("[")[0], setting.beacon_interval_ns
    return policy(config(**given), host_aware=host_aware, radio=setting.radio, beacon_interval_ns=interval_ns)


def name_with_target(
    kind: str, max_slowdown: float, max_push_delay_s: float | None, measure: str = "mean", sizes: str = ""
) -> str:
    """Return the name that says what was asked for: KIND:SLOWDOWN[:PUSH_MS[@MEASURE][:SIZES]]."""
    push = "" if max_push_delay_s is None else f":{number_text(float(Fraction(str(max_push_delay_s)) * 1000))}"
    measured = "" if measure == "mean" else f"@{measure}"
    return f"{kind}:{number_text(max_slowdown)}{push}{measured}" + f":{sizes}" * bool(sizes)
