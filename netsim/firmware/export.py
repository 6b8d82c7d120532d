"""The files of a policy that leaves as C: header, source, and vectors with a program that checks them.

The vectors are calls of the policy in a simulation, with the plans that Python's policy made there.
"""

from __future__ import annotations

import re
from textwrap import fill
from typing import Any

import netsim
import traces
from lpsm.randomness import WORKLOAD, generator
from netsim.config import SimulationConfig
from netsim.firmware.program import Program, template
from netsim.firmware.values import UnsupportedError
from netsim.policies.compiled import FlatFrame, FlatView, numbers_of_frame, numbers_of_view
from netsim.policies.protocol import Frame, HostFrame, Observer, Plan, Policy, View
from traces.records import Message

MARK = "/* Exported by lpsm export"
SKELETONS = (*(f"zephyr/{name}" for name in ("CMakeLists.txt", "Kconfig", "zephyr/module.yml", "lpsm_zephyr.c")),
    *(f"esp-idf/{name}" for name in ("CMakeLists.txt", "Kconfig", "idf_component.yml", "lpsm_esp_idf.c")))  # fmt: skip
"""A Zephyr module and an ESP-IDF component, to be completed: their files are written once."""


class Recorded:
    """A policy whose calls are kept, a row each: 0 and a view, or 1 and a frame; 12 numbers, then those of the plan."""

    def __init__(self, policy: Policy) -> None:
        self._policy: Any = policy
        self.spec, self.host_aware = policy.spec, policy.host_aware
        self.polls, self.opens_gate = getattr(policy, "polls", False), getattr(policy, "opens_gate", False)
        self.calls: list[tuple[int, ...]] = []
        if isinstance(policy, Observer):
            self.observe = self._observe

    def __deepcopy__(self, memo: object) -> Recorded:
        return self

    def plan(self, view: View) -> Plan:
        """Ask the policy."""
        numbers = numbers_of_view(view)
        plan: Plan = self._policy.plan(view)
        self.calls.append((0, *numbers, *(11 - len(numbers)) * (0,), *map(int, plan)))
        return plan

    def _observe(self, frame: Frame) -> None:
        self._policy.observe(frame)
        self.calls.append((1, *map(int, numbers_of_frame(frame)), *5 * (0,)))


def recorded(policy: Policy, config: SimulationConfig, *, pages: int, seed: int) -> list[tuple[int, ...]]:
    """Return the calls of a policy while a client browses, and is written to every 7 seconds in the mean."""
    rng, push, at_s = generator(seed, WORKLOAD), list[Message](), 0.0
    while at_s < 100.0 * pages:
        at_s += float(rng.exponential(7.0))
        push.append(Message(at_s, int(rng.integers(60, 3000))))
    calling = Recorded(policy)
    netsim.simulate(traces.generate(pages, rng), calling, config=config, seed=seed, push=push, engine="packet")
    return calling.calls


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
        program = Program(form, real)
        source = program.source()
    except UnsupportedError as error:
        raise ValueError(f"{policy.spec} cannot be exported: {error}") from error
    interval_ns = config.beacon_interval_ns
    said = f"{MARK}: the policy {policy.spec}, beacons every {interval_ns * 1e-6:g} ms, real numbers in {real}."
    flags = policy.host_aware, form.rules[1], *(getattr(policy, name, False) for name in ("polls", "opens_gate"))
    facts = ", ".join(map(str, ("sizeof(lpsm_policy)", f"{interval_ns}LL", *(int(bool(one)) for one in flags))))
    calls = recorded(policy, config, pages=pages, seed=0)[:2000]
    numbers = ",\n".join("    {" + ", ".join(f"{number}LL" for number in row) + "}" for row in calls)
    licence = "   SPDX-License-Identifier: BSD-3-Clause */\n\n"
    parts = {
        "/* MARK": said, "VIEW\n": _structure("lpsm_view", FlatView, View),
        "FRAME\n": _structure("lpsm_frame", FlatFrame, Frame, HostFrame), "STATE\n": program.state(),
    }  # fmt: skip
    header = template("policy.h")
    for mark, part in parts.items():
        header = header.replace(mark, part)
    return {
        "lpsm_policy.h": header,
        "lpsm_policy.c": f'{said}\n{licence}#include "lpsm_policy.h"\n\n#include <math.h>\n#include <string.h>\n\n'
        f'{source}\nconst char lpsm_policy_name[] = "{policy.spec}";\n'
        f"const int64_t lpsm_policy_facts[6] = {{{facts}}};\n",
        "lpsm_vectors.h": f"{said}\n{licence}#define LPSM_CALLS {len(calls)}\n"
        f"#define LPSM_LEAST_EQUAL {1000 if real == 'double' else 999} /* in a thousand */\n"
        f"#define LPSM_TOLERANCE_NS {0 if real == 'double' else 1000}\n\n"
        f"static const int64_t lpsm_vectors[LPSM_CALLS][17] = {{\n{numbers}\n}};\n",
        "lpsm_check.c": f"{said}\n{licence}{template('check.c')}",
        **{name: template(name) for name in SKELETONS},
    }


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
