"""Tables of calls that must be refused: a line a call, `expression -> pattern of the error`."""

from __future__ import annotations

from typing import Any

import pytest

ERRORS = (ValueError, TypeError, RuntimeError, AttributeError)


def table(text: str) -> pytest.MarkDecorator:
    """Run a test once for each line of a table, with the expression and the pattern as `call` and `message`."""
    rows = [tuple(part.strip() for part in line.split(" -> ")) for line in text.strip().splitlines()]
    return pytest.mark.parametrize(("call", "message"), rows, ids=[str(number) for number in range(len(rows))])


def refused(call: str, message: str, names: dict[str, Any]) -> None:
    """Evaluate an expression, which must raise an error of one line that fits the pattern."""
    with pytest.raises(ERRORS, match=message) as error:
        eval(call, dict(names))
    assert "\n" not in str(error.value)
