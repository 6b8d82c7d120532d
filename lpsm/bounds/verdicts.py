"""A statement held against a run: one row of a report."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Row(NamedTuple):
    """One statement held against a run; `holds` is False only for a violation under its hypotheses.

    `slack` is bound - measured for an "upper" bound, measured - bound for a "lower" one and the absolute difference for
    an "identity"; `verdict` begins with "holds", "violated", "vacuous: why" or "void: why".
    """

    statement: str
    kind: str
    measured: float
    bound: float
    slack: float
    holds: bool
    verdict: str


def void(statement: str, kind: str, why: str, measured: float = np.nan, bound: float = np.nan) -> Row:
    """The row of a statement whose hypotheses fail."""
    return Row(statement, kind, measured, bound, np.nan, True, f"void: {why}")


def compare(statement: str, kind: str, measured: float, bound: float, tolerance: float, vacuous: str = "") -> Row:
    """Hold the measured side against the bound; `vacuous` is why the bound promises nothing, if it does not."""
    if np.isnan(measured) or np.isnan(bound):
        return void(statement, kind, "it is beyond what floating-point numbers hold", measured, bound)
    gap = 0.0 if measured == bound else bound - measured
    slack = {"upper": gap, "lower": -gap, "identity": abs(gap)}[kind]
    holds = slack <= tolerance if kind == "identity" else slack >= -tolerance
    verdict = (f"vacuous: {vacuous}" if vacuous else "holds") if holds else "violated"
    return Row(statement, kind, measured, bound, slack, holds, verdict)
