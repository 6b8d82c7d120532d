"""A learner, a query rule and a kernel put together: the plan of the compiled round.

What it leaves out: the combinations that are named in the papers (the catalogue's entries).
"""

from __future__ import annotations

from lpsm.samplers import layout
from lpsm.samplers.layout import Part, Plan

__all__ = ["plan_of"]


def plan_of(learner: Part, rule: Part, kernel: Part | None, stores: str, normalize: bool) -> Plan:
    """Return the plan of a combination.

    Raises
    ------
    ValueError
        If the rule needs another learner.
    """
    fields = {**learner.plan(), **rule.plan(), **({} if kernel is None else kernel.plan())}
    second = fields["learner"] == layout.SECOND_ORDER
    includes_instance = bool(fields.get("includes_instance", False))
    if fields["rule"] == layout.VARIANCE and not (second and includes_instance):
        raise ValueError(f"{type(rule).__name__} needs a second-order learner with the current instance, got {learner}")
    if fields["rule"] == layout.SECOND_ORDER_COIN and second and not includes_instance:
        raise ValueError(f"{type(rule).__name__} needs a learner that includes the current instance, got {learner}")
    return Plan(
        learner=int(fields["learner"]),
        rule=int(fields["rule"]),
        form=int(fields.get("form", layout.PRIMAL)),
        includes_instance=includes_instance,
        stores_all=stores == "queried",
        normalize=normalize,
        mistake_driven=bool(fields.get("mistake_driven", False)),
        adaptive=bool(fields.get("adaptive", False)),
        **{
            name: float(fields.get(name, 0.0))
            for name in ("step", "ridge", "drift", "theta", "gamma", "offset", "degree")
        },
    )
