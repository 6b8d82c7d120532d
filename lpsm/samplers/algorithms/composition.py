"""A learner, a query rule and a kernel put together: the plan of the compiled round.

What it leaves out: the combinations that are named in the papers (the catalogue's entries).
"""

from __future__ import annotations

from lpsm.checks import shown
from lpsm.samplers import layout
from lpsm.samplers.layout import Part, Plan

__all__ = ["plan_of"]


def plan_of(
    learner: Part, rule: Part, kernel: Part | None, stores: str, normalize: bool, max_queries: int | None = None
) -> Plan:
    """Return the plan of a combination.

    Raises
    ------
    ValueError
        If the rule needs another learner, or has no use for a limit.
    """
    for name, part in (("learner", learner), ("rule", rule), ("kernel", kernel)):
        if not (callable(getattr(part, "plan", None)) or (name == "kernel" and part is None)) or isinstance(part, type):
            raise TypeError(f"{name} must be a record of parameters such as LeastSquares(), got {shown(part)}")
    fields = {**learner.plan(), **rule.plan(), **({} if kernel is None else kernel.plan())}
    second = fields["learner"] == layout.SECOND_ORDER
    includes_instance = bool(fields.get("includes_instance", False))
    if fields["rule"] == layout.VARIANCE and not (second and includes_instance):
        raise ValueError(f"{type(rule).__name__} needs a second-order learner with the current instance, got {learner}")
    if fields["rule"] == layout.SECOND_ORDER_COIN and second and not includes_instance:
        raise ValueError(f"{type(rule).__name__} needs a learner that includes the current instance, got {learner}")
    if fields["learner"] in (layout.DIAGONAL, layout.ADAGRAD) and kernel is not None:
        raise ValueError(f"kernel must be None for a learner that keeps a number a feature, got {kernel}")
    if fields["rule"] == layout.IMPORTANCE and fields["learner"] != layout.ADAGRAD:
        raise ValueError(f"{type(rule).__name__} needs AdaGrad, which takes weighted labels, got {learner}")
    filters = (layout.FILTER, layout.APPLE_TASTING, layout.LABEL_EFFICIENT_FILTER)
    if max_queries is not None and fields["rule"] in filters:
        raise ValueError(f"max_queries must be None for a filter, which predicts by asking, got {max_queries}")
    return Plan(
        most=layout.UNLIMITED if max_queries is None else max_queries,
        learner=int(fields["learner"]),
        rule=int(fields["rule"]),
        form=int(fields.get("form", layout.PRIMAL)),
        includes_instance=includes_instance,
        stores_all=stores == "queried",
        hinge=stores == "small margins",
        normalize=normalize,
        mistake_driven=bool(fields.get("mistake_driven", False)),
        adaptive=bool(fields.get("adaptive", False)),
        **{
            name: float(fields.get(name, 0.0))
            for name in ("step", "ridge", "drift", "theta", "floor", "gamma", "offset", "degree")
        },
    )
