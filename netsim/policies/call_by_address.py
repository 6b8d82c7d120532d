"""Calling a policy's rule by the address of its machine code, from Python and from compiled code.

The engine is compiled once for all policies: it knows a rule by its address and its type, as C knows a function
pointer, so that a new policy costs the compilation of its own few lines.
"""

from __future__ import annotations

from numba import carray  # type: ignore[attr-defined]

from lpsm.native import compiled
from lpsm.native.compiler import caller, reals_at, words_at
from netsim.policies.compiled import OBSERVE, PLAN, FlatFrame, FlatView

call_plan = caller(PLAN)
"""For compiled code: call the rule at an address with a `FlatView` and its arrays."""
call_observe = caller(OBSERVE)
"""For compiled code: call what observes frames at an address with a `FlatFrame` and its arrays."""


@compiled
def ask(rule: int, at: int, ints_at: int, n_ints: int, floats_at: int, n_floats: int) -> int:
    """Call a rule with the view that stands in the numbers at an address, and leave the plan there."""
    ints, floats = carray(words_at(ints_at), (n_ints,)), carray(reals_at(floats_at), (n_floats,))
    n = words_at(at)
    plan = call_plan(rule, FlatView(n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]), ints, floats)
    n[0], n[1], n[2], n[3], n[4] = plan.awake_until_ns, plan.wake_ns, plan.open_on_send, plan.repeat_ns, plan.agreed
    return 0


@compiled
def tell(rule: int, at: int, ints_at: int, n_ints: int, floats_at: int, n_floats: int) -> int:
    """Call what observes frames with the frame that stands in the numbers at an address."""
    ints, floats = carray(words_at(ints_at), (n_ints,)), carray(reals_at(floats_at), (n_floats,))
    n = words_at(at)
    call_observe(rule, FlatFrame(n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10]), ints, floats)
    return 0
