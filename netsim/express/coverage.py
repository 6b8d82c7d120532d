"""Which runs the express engine covers; loads no compiler."""

from __future__ import annotations

from netsim.policies.protocol import Policy

__all__ = ["NotCoveredError", "why_not"]


class NotCoveredError(ValueError):
    """The express engine does not cover this run, or a page of it."""


def why_not(policy: Policy, loss_rate: float) -> str | None:
    """Say why runs under a policy are not covered, or None if they are."""
    if loss_rate:
        return f"loss_rate is {loss_rate}, and only lossless links are covered"
    if getattr(policy, "compiled", None) is None:
        return f"policy {policy.spec} has no compiled form"
    return None
