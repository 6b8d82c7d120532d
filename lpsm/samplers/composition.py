"""A learner and a rule put together: the plan of the compiled round, and schedules of t.

What it models: which rules need which learners, and rho_t and the bias of the adaptive
sampler.  What it leaves out: what is named in the papers (`entries`).
Source: Cavallanti et al. 2010, figure 12, theorem 2 and remark 5.
"""

from __future__ import annotations

from math import log

from lpsm.samplers import layout
from lpsm.samplers.dual import Kernel
from lpsm.samplers.layout import Plan
from lpsm.samplers.learners import LeastSquares, MarginLearner
from lpsm.samplers.rules import AdaptiveSampler, QueryRule, SecondOrderCoin, Variance

__all__ = ["bias_at", "floor_at", "plan_of"]


def floor_at(rule: QueryRule, n_features: int, t: int) -> float:
    """rho_t of the adaptive sampler; without one given, (16/lambda^2) max(d, ln t) of theorem 2."""
    if not isinstance(rule, AdaptiveSampler):
        return 0.0
    if rule.rho is None:
        return 16.0 / rule.lambda_**2 * max(n_features, log(t))
    return float(rule.rho(t)) if callable(rule.rho) else float(rule.rho)


def bias_at(rule: QueryRule, t: int) -> float:
    """Bias in round t of the adaptive sampler's coin."""
    if not isinstance(rule, AdaptiveSampler) or rule.bias is None:
        return 0.0
    return float(rule.bias(t)) if callable(rule.bias) else float(rule.bias)


def plan_of(learner: MarginLearner, rule: QueryRule, kernel: Kernel | None, stores: str, normalize: bool) -> Plan:
    """Return the plan of a combination.

    Raises
    ------
    ValueError
        If the rule needs another learner.
    """
    fields = {**learner.plan(), **rule.plan(), **(kernel.plan() if kernel is not None else {})}
    second = fields["learner"] == layout.SECOND_ORDER
    if isinstance(rule, Variance) and not (second and fields["includes_instance"]):
        raise ValueError(f"{type(rule).__name__} needs a second-order learner with the current instance, got {learner}")
    if isinstance(rule, SecondOrderCoin) and isinstance(learner, LeastSquares) and not learner.includes_instance:
        raise ValueError(f"SecondOrderCoin needs a learner that includes the current instance, got {learner}")
    return Plan(
        learner=int(fields["learner"]),
        rule=int(fields["rule"]),
        form=int(fields.get("form", layout.PRIMAL)),
        includes_instance=bool(fields.get("includes_instance", False)),
        stores_all=stores == "queried",
        normalize=normalize,
        mistake_driven=bool(fields.get("mistake_driven", False)),
        adaptive=bool(fields.get("adaptive", False)),
        step=float(fields.get("step", 0.0)),
        ridge=float(fields.get("ridge", 0.0)),
        drift=float(fields.get("drift", 0.0)),
        theta=float(fields.get("theta", 0.0)),
        gamma=float(fields.get("gamma", 0.0)),
        offset=float(fields.get("offset", 0.0)),
        degree=float(fields.get("degree", 0.0)),
    )
