"""The compiled form of a policy: its rule as a function on plain numbers, for interpreted and compiled runs.

A policy that has a compiled form runs compiled as well as interpreted, and its rule is written once.
To give a policy one:

1.  Write the rule as a module-level function ``plan(view, ints, floats)``.  `view` is a `FlatView`; `ints` and `floats`
    are one-dimensional arrays of int64 and float64 that hold the policy's parameters and all of its state, laid out as
    the policy likes.  The rule may change them.  It returns a `Plan` with all five fields given (numba knows no
    default values), `open_on_send` and `agreed` being of type bool; with `ASK` as the time to repeat it polls.
2.  If the policy observes frames, write a second function ``observe(frame, ints, floats)``, where `frame` is a
    `FlatFrame`; it returns nothing.
3.  In the constructor, set ``self.compiled = CompiledForm(plan, observe, ints=..., floats=...)``, or to None where the
    settings given are beyond what the rule covers.  A policy without this attribute is interpreted alone.
4.  Let the methods that an interpreted run calls be ``self.compiled.plan(view)``, which `Ruled` has, and
    ``self.compiled.observe(frame)``: they run the same machine code.  A rule without state that is a few operations
    long does better to be interpreted there (``interpreted=True``), for that spares loading the compiler.
5.  Register the policy (`netsim.policies.entry`) and import its module in `netsim.policies.registry`.

The functions are compiled by `lpsm.native`, once for all runs on a machine; they may call other compiled functions,
such as those of `lpsm.experts.share`, and take parts of their arrays by slicing and `lpsm.native.block`.  They must not
raise.  Integer arithmetic is that of 64 bits: a policy whose parameters could overflow it offers no compiled form.
Anything larger than a number that the public wants to see (a learner, a price) is best offered as a property that reads
the arrays, so that there is one state.  Copies of a policy copy the arrays.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from copy import copy, deepcopy
from struct import Struct
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from lpsm import arrays
from lpsm.native import is_plain
from lpsm.native.entries import FLOATS, INTS, Entry, Signature, entry_of
from netsim.policies.protocol import FOREVER_NS, Frame, Plan, View

Ints = Any
"""Of a rule: an array of int64, or, where the rule is interpreted, a tuple of integers."""
Floats = Any
"""Of a rule: an array of float64, or, where the rule is interpreted, an empty tuple."""

NOT_YET_NS = -(2**61)
"""The instant, in a `FlatView`, of what has not happened yet: far enough back for any sum to stay negative."""

_UNKNOWN_TO_THE_LINK = (-1, 0, 0, 0, 0, -1)


class FlatView(NamedTuple):
    """A `View` in plain integers: `at_beacon` is 1 or 0, what never happened `NOT_YET_NS`, no deadline `FOREVER_NS`."""

    now_ns: int
    at_beacon: int
    last_sent_ns: int
    last_received_ns: int
    slept_ns: int
    buffered_bytes: int
    deadline_ns: int
    missing: int


class FlatFrame(NamedTuple):
    """A `Frame` in plain integers; unless it is `host_aware`, connection and server are -1, and what follows is 0."""

    sent: int
    at_ns: int
    empty_ns: int
    full_ns: int
    size_bytes: int
    connection: int
    opening: int
    payload_bytes: int
    completes: int
    wanted: int
    server: int = -1


PLAN, OBSERVE = Signature(Plan, (FlatView, INTS, FLOATS)), Signature(None, (FlatFrame, INTS, FLOATS))
"""What the two functions of a compiled form take and return."""
PlanRule = Callable[[FlatView, Ints, Floats], Plan]
ObserveRule = Callable[[FlatFrame, Ints, Floats], None]


class CompiledForm:
    """The rule of one policy, which is a function as the module says, and its state.

    Parameters
    ----------
    plan, observe : callable
        The rule, and what observes frames, if anything does.
    ints, floats : sequence of int, sequence of float
        The parameters and the state at first, copied; the attributes of these names are the live arrays.
    interpreted : bool
        Whether the packet model interprets the rule that plans, which has no state and reads `ints` only.
    prepare : callable, optional
        What filled in the longer arrays of `ints` from the rest, which can be done again.
    """

    def __init__(
        self,
        plan: PlanRule,
        observe: ObserveRule | None = None,
        *,
        ints: ArrayLike = (),
        floats: ArrayLike = (),
        interpreted: bool = False,
        prepare: Callable[[Ints], None] | None = None,
    ) -> None:
        self.ints = np.array(ints, dtype=np.int64)
        self.floats = np.array(floats, dtype=np.float64)
        self.rules, self.prepare, self._interpreted = (plan, observe), prepare, interpreted
        self._exchange: _Interpreted | _Exchange | None = None

    def plan(self, view: View) -> Plan:
        """Ask the rule."""
        return (self._exchange or self._linked()).plan(view)

    def observe(self, frame: Frame) -> None:
        """Tell the rule of a frame."""
        (self._exchange or self._linked()).observe(frame)

    @property
    def addresses(self) -> tuple[int, int]:
        """Where the machine code of the two functions is, 0 for none; compiled if it was not."""
        plan, *observes = self.entries
        return plan.address, observes[0].address if observes else 0

    @property
    def entries(self) -> list[Entry]:
        """The functions, as they are called by address."""
        listed = zip(self.rules, (PLAN, OBSERVE), strict=True)
        return [entry_of(rule, signature) for rule, signature in listed if rule is not None]

    def __deepcopy__(self, memo: dict[int, object]) -> CompiledForm:
        return CompiledForm(
            *self.rules, ints=self.ints, floats=self.floats, interpreted=self._interpreted, prepare=self.prepare
        )

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_exchange": None}

    def _linked(self) -> _Interpreted | _Exchange:
        if self._interpreted or is_plain():
            self._exchange = _Interpreted(self.rules, self.ints, None if self._interpreted else self.floats)
        else:
            self._exchange = _Exchange(self)
        return self._exchange


class Ruled:
    """A policy that plans by its rule: what makes one gives it `spec` and compiled form; nothing else changes."""

    spec: str
    compiled: CompiledForm
    host_aware = False

    def plan(self, view: View) -> Plan:
        """Ask the rule."""
        return self.compiled.plan(view)

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        found = copy(self)
        found.compiled = deepcopy(self.compiled)
        return found


class Observing(Ruled):
    """One whose rule is told of frames, too."""

    def observe(self, frame: Frame) -> None:
        """Tell the rule of a frame."""
        self.compiled.observe(frame)


class Named(Ruled):
    """A policy that is its rule and a name; what its rule wants is said beside it."""

    def __init__(self, spec: str, compiled: CompiledForm, *, host_aware: bool = False, polls: bool = False) -> None:
        self.spec, self.compiled, self.host_aware, self.polls = spec, compiled, host_aware, polls


class NamedObserving(Named, Observing):
    """One whose rule is told of frames, too."""


_VIEW, _FRAME = Struct(f"{len(FlatView._fields)}q"), Struct(f"{len(FlatFrame._fields)}q")
_PLAN = Struct("5q")


_NUMBERS = Signature(int, (int,) * 6)
_ASK, _TELL = (Entry("netsim.policies.call_by_address", name, _NUMBERS) for name in ("ask", "tell"))


def numbers_of_view(view: View) -> tuple[int, ...]:
    """Return the fields of a `FlatView`."""
    sent, received, deadline = view.last_sent_ns, view.last_received_ns, view.deadline_ns
    return (
        view.now_ns, 1 if view.event == "beacon" else 0, NOT_YET_NS if sent is None else sent,
        NOT_YET_NS if received is None else received, view.slept_ns, view.buffered_bytes,
        FOREVER_NS if deadline is None else deadline, view.missing or 0,
    )  # fmt: skip


def numbers_of_frame(frame: Frame) -> tuple[int, ...]:
    """Return the fields of a `FlatFrame`."""
    host = frame.host
    known = _UNKNOWN_TO_THE_LINK if host is None else host
    return frame.sent, frame.at_ns, frame.empty_ns, frame.full_ns, frame.size_bytes, *known


class _Interpreted:
    """A rule that Python interprets: one without state, or, where there is no machine code, any."""

    def __init__(self, rules: tuple[PlanRule, Any], ints: arrays.Ints, floats: arrays.Floats | None) -> None:
        self._plan, self._observe = rules
        self._has_state = floats is not None
        self._arrays = (ints, floats) if self._has_state else (tuple(ints.tolist()), ())

    def plan(self, view: View) -> Plan:
        plan: Plan = self._plan(FlatView(*numbers_of_view(view)), *self._arrays)
        if self._has_state:  # its numbers are numpy's
            until, wake, opens, repeat, agreed = plan
            return Plan(int(until), int(wake), bool(opens), int(repeat), bool(agreed))
        return plan

    def observe(self, frame: Frame) -> None:
        self._observe(FlatFrame(*numbers_of_frame(frame)), *self._arrays)


class _Exchange:
    """What Python hands to the machine code and takes back: memory that both see."""

    def __init__(self, form: CompiledForm) -> None:
        self._numbers = array("q", bytes(8 * len(FlatFrame._fields)))
        self._form = form  # whose arrays must live as long
        arrays = (at for part in (form.ints, form.floats) for at in (part.ctypes.data, part.size))
        self._memory = (self._numbers.buffer_info()[0], *arrays)
        self._plan_address, self._observe_address = form.addresses

    def plan(self, view: View) -> Plan:
        _VIEW.pack_into(self._numbers, 0, *numbers_of_view(view))
        _ASK(self._plan_address, *self._memory)
        until, wake, opens, repeat, agreed = _PLAN.unpack_from(self._numbers)
        return Plan(until, wake, opens != 0, repeat, agreed != 0)

    def observe(self, frame: Frame) -> None:
        _FRAME.pack_into(self._numbers, 0, *numbers_of_frame(frame))
        _TELL(self._observe_address, *self._memory)


def joined(parts: Iterable[arrays.Floats]) -> arrays.Floats:
    """Return arrays one behind another in one dimension, as a rule takes them."""
    return np.concatenate([part.ravel() for part in parts])


def put_back(flat: arrays.Floats, parts: Sequence[arrays.Floats]) -> None:
    """Fill arrays in place from the beginning of what `joined` made of them."""
    at = 0
    for part in parts:
        part[...] = flat[at : at + part.size].reshape(part.shape)
        at += part.size
