"""The files of a policy that leaves as C: header, source, and vectors with a program that checks them.

The vectors are calls of the policy in a simulation, with the plans that Python's policy made there.
"""

from __future__ import annotations

from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import netsim
import traces
from lpsm.randomness import WORKLOAD, generator
from netsim.config import SimulationConfig
from netsim.firmware.program import Program, template
from netsim.firmware.values import UnsupportedError
from netsim.policies.compiled import numbers_of_frame, numbers_of_view
from netsim.policies.protocol import Frame, Plan, Policy, View
from traces.records import Message

MARK = "/* Exported by lpsm export"
SKELETONS = (*(f"zephyr/{name}" for name in ("CMakeLists.txt", "Kconfig", "zephyr/module.yml", "lpsm_zephyr.c")),
    *(f"esp-idf/{name}" for name in ("CMakeLists.txt", "Kconfig", "idf_component.yml", "lpsm_esp_idf.c")))  # fmt: skip
"""A Zephyr module and an ESP-IDF component, to be completed: their files are written once."""
_FLAGS = "host_aware", "polls", "opens_gate"


def recorded(policy: Any, config: SimulationConfig, *, pages: int, seed: int) -> list[tuple[int, ...]]:
    """Return the calls of a policy while a client browses, and is written to every 7 seconds in the mean.

    A row each: 0 and a view, or 1 and a frame, in 12 numbers, and the 5 of the plan.
    """
    rng, push, at_s = generator(seed, WORKLOAD), list[Message](), 0.0
    while at_s < 100.0 * pages:
        at_s += float(rng.exponential(7.0))
        push.append(Message(at_s, int(rng.integers(60, 3000))))
    form, calls = deepcopy(policy.compiled), list[tuple[int, ...]]()

    def plan(view: View) -> Plan:
        numbers, found = numbers_of_view(view), form.plan(view)
        calls.append((0, *numbers, *(11 - len(numbers)) * (0,), *map(int, found)))
        return found  # type: ignore[no-any-return]

    def observe(frame: Frame) -> None:
        form.observe(frame)
        calls.append((1, *map(int, numbers_of_frame(frame)), *5 * (0,)))

    told: dict[str, Any] = {"plan": plan} | ({"observe": observe} if form.rules[1] else {})
    calling = SimpleNamespace(**told, **{name: getattr(policy, name, False) for name in ("spec", *_FLAGS)})
    netsim.simulate(traces.generate(pages, rng), calling, config=config, seed=seed, push=push, engine="packet")
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
    aware, *others = (getattr(policy, name, False) for name in _FLAGS)
    flags = [int(bool(one)) for one in (aware, form.rules[1], *others)]
    calls = recorded(policy, config, pages=pages, seed=0)[:2000]
    parts |= {
        "said": f"{MARK}: the policy {policy.spec}, beacons every {interval_ns * 1e-6:g} ms, real numbers in {real}.",
        "name": policy.spec,
        "facts": ", ".join(["sizeof(lpsm_policy)", f"{interval_ns}LL", *map(str, flags)]),
        "least": "1000" if real == "double" else "999", "tolerance": "0" if real == "double" else "1000",
        "calls": str(len(calls)),
        "rows": ",\n".join("    {" + ", ".join(f"{number}LL" for number in row) + "}" for row in calls),
    }  # fmt: skip
    own = {f"lpsm_{name}": template(name, **parts) for name in ("policy.h", "policy.c", "vectors.h", "check.c")}
    return own | {name: template(name) for name in SKELETONS}
