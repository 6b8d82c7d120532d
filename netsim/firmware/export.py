"""The files of a policy that leaves as C: header, source, and vectors with a program that checks them.

The vectors are calls of the policy in a simulation, with the plans that Python's policy made there.
"""

from __future__ import annotations

import re
from copy import copy
from textwrap import fill
from typing import Any

import netsim
import traces
from lpsm.randomness import WORKLOAD, generator
from netsim.config import SimulationConfig
from netsim.firmware.program import Program, template
from netsim.firmware.values import UnsupportedError
from netsim.policies.compiled import CompiledForm, FlatFrame, FlatView, numbers_of_frame, numbers_of_view
from netsim.policies.protocol import Frame, HostFrame, Plan, Policy, View
from traces.records import Message

MARK = "/* Exported by lpsm export"
SKELETONS = (*(f"zephyr/{name}" for name in ("CMakeLists.txt", "Kconfig", "zephyr/module.yml", "lpsm_zephyr.c")),
    *(f"esp-idf/{name}" for name in ("CMakeLists.txt", "Kconfig", "idf_component.yml", "lpsm_esp_idf.c")))  # fmt: skip
"""A Zephyr module and an ESP-IDF component, to be completed: their files are written once."""


class Recorded(CompiledForm):
    """A compiled form whose calls are kept, a row each: 0 and a view, or 1 and a frame; 12 numbers, then the plan's."""

    def __init__(self, form: CompiledForm) -> None:
        super().__init__(*form.rules, ints=form.ints, floats=form.floats)
        self.calls: list[tuple[int, ...]] = []

    def __deepcopy__(self, memo: object) -> Recorded:
        return self

    def plan(self, view: View) -> Plan:
        """Ask the rule."""
        numbers, plan = numbers_of_view(view), super().plan(view)
        self.calls.append((0, *numbers, *(11 - len(numbers)) * (0,), *map(int, plan)))
        return plan

    def observe(self, frame: Frame) -> None:
        """Tell the rule of a frame."""
        super().observe(frame)
        self.calls.append((1, *map(int, numbers_of_frame(frame)), *5 * (0,)))


def recorded(policy: Policy, config: SimulationConfig, *, pages: int, seed: int) -> list[tuple[int, ...]]:
    """Return the calls of a policy while a client browses, and is written to every 7 seconds in the mean."""
    rng, push, at_s = generator(seed, WORKLOAD), list[Message](), 0.0
    while at_s < 100.0 * pages:
        at_s += float(rng.exponential(7.0))
        push.append(Message(at_s, int(rng.integers(60, 3000))))
    calling: Any = copy(policy)
    calling.compiled = Recorded(calling.compiled)
    netsim.simulate(traces.generate(pages, rng), calling, config=config, seed=seed, push=push, engine="packet")
    calls: list[tuple[int, ...]] = calling.compiled.calls
    return calls


def exported(policy: Policy, config: SimulationConfig, real: str, *, pages: int = 8) -> dict[str, str]:
    """Return the files of a policy, which has seen nothing yet, by their names.

    Raises
    ------
    ValueError
        If it has no compiled form, or one that cannot be translated.
    """
    form = getattr(policy, "compiled", None)
    if form is None:
        raise ValueError(f"a policy must have a compiled form to be exported, which {policy.spec} has not")
    try:
        parts = Program(form, real).parts()
    except UnsupportedError as error:
        raise ValueError(f"{policy.spec} cannot be exported: {error}") from error
    interval_ns = config.beacon_interval_ns
    flags = policy.host_aware, form.rules[1], *(getattr(policy, name, False) for name in ("polls", "opens_gate"))
    calls = recorded(policy, config, pages=pages, seed=0)[:2000]
    parts |= {
        "said": f"{MARK}: the policy {policy.spec}, beacons every {interval_ns * 1e-6:g} ms, real numbers in {real}.",
        "view": _structure("lpsm_view", FlatView, View), "frame": _structure("lpsm_frame", FlatFrame, Frame, HostFrame),
        "name": policy.spec,
        "facts": ", ".join(["sizeof(lpsm_policy)", f"{interval_ns}LL", *(str(int(bool(one))) for one in flags)]),
        "least": "1000" if real == "double" else "999", "tolerance": "0" if real == "double" else "1000",
        "calls": str(len(calls)),
        "rows": ",\n".join("    {" + ", ".join(f"{number}LL" for number in row) + "}" for row in calls),
    }  # fmt: skip
    own = {f"lpsm_{name}": template(name, **parts) for name in ("policy.h", "policy.c", "vectors.h", "check.c")}
    return own | {name: template(name) for name in SKELETONS}


def _structure(name: str, flat: Any, *said: Any) -> str:
    """Write the declaration of a view or a frame, with what docstrings say of its fields."""
    notes = [re.sub("(NOT_YET|FOREVER)_NS", r"LPSM_\g<0>", " ".join((flat.__doc__ or "").split()))]
    text = "".join(f"{one.__doc__}\n" for one in said)
    for names, words in re.findall(r"^    (\w[\w, ]*) : [^\n]*\n((?: {8}[^\n]*\n)+)", text, re.MULTILINE):
        if {*names.split(", ")} & {*flat._fields}:
            notes.append(f"{names}: {' '.join(words.split())}")
    lines = "\n".join(fill(one, 117, initial_indent="   ", subsequent_indent="   ") for one in notes)
    fields = "\n".join(f"    int64_t {field};" for field in flat._fields)
    return f"/* {lines.strip().replace('`', '')} */\ntypedef struct {{\n{fields}\n}} {name};\n"
