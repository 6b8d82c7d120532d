"""An exported policy as a policy again: its C, compiled as a shared library.

Who loads a library trusts it, as a class of one's own.
"""

from __future__ import annotations

import ctypes
from copy import copy

from lpsm.native.entries import named_fields
from netsim.policies.compiled import FlatFrame, FlatView, numbers_of_frame, numbers_of_view
from netsim.policies.protocol import Frame, Plan, View

_View, _Frame = (ctypes.c_int64 * len(kind._fields) for kind in (FlatView, FlatFrame))
_TYPES: dict[str, type[ctypes.c_int64 | ctypes.c_bool]] = {"int": ctypes.c_int64, "bool": ctypes.c_bool}


class _Plan(ctypes.Structure):
    _fields_ = tuple((name, _TYPES[what]) for name, what in named_fields(Plan).items())


class Exported:
    """The policy of a library, with a state of its own; a copy has a copy of the state.

    Raises
    ------
    ValueError
        If the file is no such library, or its policy was exported for beacons of another interval.
    """

    def __init__(self, place: str, beacon_interval_ns: int) -> None:
        try:
            library = ctypes.CDLL(place)
            library.lpsm_policy_plan.restype = _Plan
            library.lpsm_policy_init.restype = library.lpsm_policy_observe.restype = None
            name = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(library, "lpsm_policy_name"))).decode()
            size, interval_ns, *flags = (ctypes.c_int64 * 6).in_dll(library, "lpsm_policy_facts")
        except (OSError, AttributeError, ValueError) as error:
            text = " ".join(str(error).split()).removeprefix(f"{place}: ")
            raise ValueError(f"{place} is no library of an exported policy: {text}") from None
        if interval_ns != beacon_interval_ns:
            rule = f"{place} was exported for beacons every {interval_ns * 1e-6:g} ms"
            raise ValueError(f"{rule}, got {beacon_interval_ns * 1e-6:g} ms; export it for this world")
        self._library, self.spec, self._state = library, f"{name}.so", ctypes.create_string_buffer(size)
        self.host_aware, _, self.polls, self.opens_gate = map(bool, flags)
        self._library.lpsm_policy_init(self._state)

    def __deepcopy__(self, memo: object) -> Exported:
        made = copy(self)
        made._state = ctypes.create_string_buffer(self._state.raw, len(self._state))
        return made

    def plan(self, view: View) -> Plan:
        """Ask the policy."""
        found = self._library.lpsm_policy_plan(self._state, _View(*numbers_of_view(view)))
        return Plan(*(getattr(found, name) for name in Plan._fields))

    def observe(self, frame: Frame) -> None:
        """Tell the policy of a frame, which one that does not observe passes over."""
        self._library.lpsm_policy_observe(self._state, _Frame(*numbers_of_frame(frame)))
