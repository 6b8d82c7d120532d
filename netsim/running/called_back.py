"""A policy of one's own in a compiled run: its methods stand where the machine code of a rule would.

The model is compiled as for any policy; where it asks for a plan it calls a function of C's whose body is Python, with
the arguments of a compiled rule (`lpsm.native.entries` has the calling convention).  What that costs is the call, not
the model.  If a policy goes wrong, in whatever way, its client stays awake to the end of the run, which is then
repeated interpreted, from the policy as it was, and raises the exact error.

Left out are policies that are `host_aware`, worlds that tell when frames reached the access point, recorded runs, and
policies that cannot be copied: these are interpreted.
"""

from __future__ import annotations

import ctypes
from copy import deepcopy
from inspect import iscoroutine
from struct import Struct
from typing import Any

import numpy as np

from lpsm.native import is_plain
from netsim.config import SimulationConfig
from netsim.policies.compiled import NOT_YET_NS
from netsim.policies.protocol import FOREVER_NS, Frame, Observer, Plan, Policy, View, cannot_follow

_PLACE, _WORD = ctypes.c_void_p, ctypes.c_int64
# the places of the result and of an exception, then of the first fields of a view or a frame as many as are looked at;
# C lets a function leave the other arguments where they are
_PLAN_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, _PLACE, _PLACE, *[_WORD] * 6)
_OBSERVE_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, _PLACE, _PLACE, *[_WORD] * 5)
_PLAN = Struct("qq?7xq?7x")
_TRUTHS = {bool, int}


def may_be_called(policy: Policy, config: SimulationConfig) -> bool:
    """Whether a policy without a compiled rule can be called by a compiled run."""
    if policy.host_aware or config.oracle_stamps or is_plain():
        return False
    try:
        deepcopy(policy)
    except Exception:
        return False
    return True


class CalledBack:
    """What a compiled run knows of a policy without a rule, in place of a `CompiledForm`."""

    def __init__(self, policy: Policy, interval_ns: int) -> None:
        self.ints, self.floats = np.zeros(1, np.int64), np.zeros(1)
        self._given, self._interval_ns = policy, interval_ns
        self._view = View("idle", 0, None, None, 0, 0, (), None)
        self._place, self._result = 0, (ctypes.c_char * _PLAN.size)()
        self._functions = _PLAN_TYPE(self._plan), _OBSERVE_TYPE(self._observe)
        self.begin()

    def begin(self) -> None:
        """Begin a run, from the policy as it was given."""
        self.policy: Any = deepcopy(self._given)
        self.stopped: KeyboardInterrupt | None = None

    @property
    def addresses(self) -> tuple[int, int]:
        """Where the two functions are."""
        plan, observe = (ctypes.cast(one, _PLACE).value or 0 for one in self._functions)
        return plan, observe if isinstance(self.policy, Observer) else 0

    def _plan(
        self, place: int, _: int, now: int, at_beacon: int, sent: int, received: int, slept: int, waiting: int
    ) -> int:
        view = self._view
        view.event = "beacon" if at_beacon else "idle"
        view.now_ns, view.slept_ns, view.buffered_bytes = now, slept, waiting
        view.last_sent_ns = None if sent == NOT_YET_NS else sent
        view.last_received_ns = None if received == NOT_YET_NS else received
        if place != self._place:
            self._place, self._result = place, (ctypes.c_char * _PLAN.size).from_address(place)
        try:
            plan = self.policy.plan(view)
            if iscoroutine(plan):
                plan.close()  # which the interpreted run will refuse
            until, wake, opens, repeat, agreed = plan
            of_type = type(plan) is Plan and type(until) is type(wake) is type(repeat) is int
            of_type = of_type and type(opens) in _TRUTHS and type(agreed) in _TRUTHS
            if of_type and not cannot_follow(max(now, until), wake, repeat, agreed, self._interval_ns):
                _PLAN.pack_into(self._result, 0, until, wake, opens, repeat, agreed)
                return 0
            self.policy = None
        except BaseException as error:
            self._fail(error)
        _PLAN.pack_into(self._result, 0, FOREVER_NS, FOREVER_NS, False, 0, False)  # what is left goes by at once
        return 0

    def _observe(self, _: int, __: int, sent: int, at: int, empty: int, full: int, size: int) -> int:
        try:
            self.policy.observe(Frame(sent != 0, at, None, size, None, empty, full))
        except BaseException as error:
            self._fail(error)
        return 0

    def _fail(self, error: BaseException) -> None:
        self.policy = None
        if isinstance(error, KeyboardInterrupt):
            self.stopped = error
