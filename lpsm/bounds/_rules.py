"""The rules a bound's arguments obey, each an error naming argument, rule and value."""

from __future__ import annotations

from math import isfinite

__all__ = ["at_least", "between", "non_negative", "positive", "probability"]


def positive(**values: float) -> None:
    """Every value is finite and greater than 0."""
    for name, value in values.items():
        if not (value > 0.0 and isfinite(value)):
            raise ValueError(f"{name} must be positive and finite, got {value}")


def non_negative(**values: float) -> None:
    """Every value is finite and at least 0."""
    for name, value in values.items():
        if not (value >= 0.0 and isfinite(value)):
            raise ValueError(f"{name} must be at least 0 and finite, got {value}")


def at_least(least: float, **values: float) -> None:
    """Every value is finite and at least `least`."""
    for name, value in values.items():
        if not (value >= least and isfinite(value)):
            raise ValueError(f"{name} must be at least {least:g} and finite, got {value}")


def between(low: float, high: float, **values: float) -> None:
    """Every value lies in [low, high]."""
    for name, value in values.items():
        if not low <= value <= high:
            raise ValueError(f"{name} must lie in [{low:g}, {high:g}], got {value}")


def probability(**values: float) -> None:
    """Every value lies strictly between 0 and 1."""
    for name, value in values.items():
        if not 0.0 < value < 1.0:
            raise ValueError(f"{name} must lie in (0, 1), got {value}")
