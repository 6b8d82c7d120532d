"""The compiled loop of events with the model in it: one kernel.

The functions of the model are those that are interpreted, word for word; only the primitives mean what
`netsim.running.compiled_runtime` says.  Each is compiled for the types that its annotations name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType, ModuleType

from lpsm.native import Kernel
from lpsm.native.compiler import dispatcher
from lpsm.native.records import RECORDS
from lpsm.native.references import reader, type_of
from netsim.model import (
    browser,
    codes,
    congestion,
    datagrams,
    delayed_acks,
    events,
    flow_control,
    graphs,
    medium,
    packets,
    page_account,
    policy,
    primitives,
    push,
    queues,
    receiver,
    recorded,
    sender,
    tcp,
    wires,
)  # fmt: skip
from netsim.model.air import access_point, aggregation, beacons, channel, exchanges, groups, radio, retrieval, station
from netsim.policies.protocol import ASK, FOREVER_NS, cannot_follow
from netsim.running import compiled_runtime

_MODEL = (
    queues, policy, datagrams, wires, medium, packets, delayed_acks, congestion, sender, tcp, flow_control,
    page_account, recorded, graphs, browser, push, receiver, radio,
    beacons, aggregation, channel, access_point, retrieval, station, groups, exchanges, events,
)  # fmt: skip
_INLINED = frozenset({
    "acknowledge", "advance", "advance_on_wires", "append", "arm", "arrive", "ask_at_beacon", "at_access_point",
    "at_access_point_on_wires", "carry_up", "comes_before", "draw_loss", "enter", "fall_asleep", "follow",
    "free_frame", "halve", "is_sooner", "let_out", "listen", "listen_on_wires", "new_ack", "new_frame", "next_note",
    "note_poll", "put_on_air", "receive", "receive_down", "refer", "say_sent", "schedule_timer", "send_control",
    "send_down", "send_on_wires", "send_up", "skip_beacons_on_wires", "stay_awake", "step", "take_ack", "take_answer",
    "take_arrival", "take_first", "take_in", "take_top", "time_on", "time_round_trip", "transmit", "wake_timer",
})  # fmt: skip
"""What is so small, or called from so few places, that calling it would cost more."""


def _functions(module: ModuleType) -> dict[str, FunctionType]:
    own = inspect.getmembers(module, inspect.isfunction)
    return {name: function for name, function in own if function.__module__ == module.__name__}


def _made(function: Callable[..., object], scope: dict[str, object]) -> object:
    """Return what numba compiles of a function with the names of `scope`, for the types of its annotations alone."""
    copy = FunctionType(function.__code__, scope, function.__name__)
    copy.__module__ = __name__
    takes = tuple(type_of(what) for name, what in function.__annotations__.items() if name != "return")
    return dispatcher(copy, None, takes=takes, inlined=function.__name__ in _INLINED)


def _written(name: str, takes: dict[str, str], lines: list[str]) -> FunctionType:
    """Return the function of these lines, which returns nothing."""
    made: dict[str, FunctionType] = {}
    exec("\n".join([f"def {name}({', '.join(f'{one}: {what!r}' for one, what in takes.items())}):", *lines]), made)
    return made[name]


def _dispatch() -> FunctionType:
    """Write the function that hands events to their handlers: one comparison after another, as they are listed."""
    lines: list[str] = []
    for code, function in events.HANDLERS.items():
        if code not in codes.ARRIVALS:
            given = list(function.__annotations__.values())[1:-1]
            about = [f"as_{kind}(what)" if kind != "int" else "what" for kind in given]
            lines += [f"    {'elif' if lines else 'if'} code == {code}:"]
            lines += [f"        {function.__name__}({', '.join(['run', *about])})"]
    return _written("happens", {"run": "Run", "code": "int", "what": "int"}, lines)


def _scope() -> dict[str, object]:
    """Return every name of the model and what it means in compiled code."""
    scope: dict[str, object] = {"__name__": __name__}
    functions: dict[str, Callable[..., object]] = {}
    for module in (*_MODEL, compiled_runtime):
        for name, value in vars(module).items():
            if type(value) is int and scope.setdefault(name, value) != value:
                raise NameError(f"two numbers of the model are called {name}")
        scope.update(vars(module))
        own = _functions(module)
        if known := functions.keys() & own.keys():
            raise NameError(f"two functions of the model are called {', '.join(sorted(known))}")
        functions.update(own)
    functions["happens"], functions["cannot_follow"] = _dispatch(), cannot_follow
    for name, function in _functions(primitives).items():
        takes = {one: what for one, what in function.__annotations__.items() if one != "return"}
        functions.setdefault(name, _written(name, takes, ["    pass"]))
    scope |= {"FOREVER_NS": FOREVER_NS, "ASK": ASK}
    scope.update({f"as_{kind}": reader(kind) for kind in RECORDS})
    scope.update({name: _made(function, scope) for name, function in functions.items()})
    return scope


def _kernel() -> Kernel:
    function = FunctionType(compiled_runtime.advance_run.__code__, _scope(), "advance_run")
    function.__module__ = __name__
    return Kernel(function)


advance_run = _kernel()
