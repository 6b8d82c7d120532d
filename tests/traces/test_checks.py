"""Arguments of a wrong type or size are refused by an error that names them."""

from __future__ import annotations

import numpy as np
import pytest

import traces
from traces.arrivals import binned
from traces.traffic import Wishes, make, push_messages, stalls, stream, web

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: traces.generate(5, -1), "rng must be of the type Generator, got -1"),
        (lambda: traces.generate("5", RNG), "n_pages must be of the type int, got '5'"),
        (lambda: traces.generate(True, RNG), "n_pages must be of the type int, got True"),
        (lambda: traces.pages([1]), "requests must be of the type Request, got 1"),
        (lambda: traces.pages([], rule=0), "rule must be of the type GroupingRule or None, got 0"),
        (lambda: list(traces.browsed(["a"])), "sessions must be of the type Session, got 'a'"),
        (lambda: list(binned([None])), "requests must be of the type Request, got None"),
        (lambda: traces.counted(1, 2), "name must be of the type str, got 2"),
        (lambda: traces.workload_line("a"), "record must be a Page or a Message, got 'a'"),
        (lambda: traces.read(3), "path must be of the type str or PathLike, got 3"),
        (lambda: make("web", {}, RNG), "wishes must be of the type Wishes, got {}"),
        (lambda: Wishes(hours="1"), "hours must be of the type float, got '1'"),
        (lambda: traces.GroupingRule(page_gap_s=None), "page_gap_s must be of the type float, got None"),
        (lambda: stalls([1.0], ["a"], [1.0]), "viewings must hold whole numbers below 2^63"),
    ],
)
def test_a_wrong_type_is_a_type_error_that_names_argument_and_value(call, said):
    with pytest.raises(TypeError) as refused:
        call()
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: web(2**63, RNG), "n_pages must lie in [1, 1e+08], got 9223372036854775808"),
        (lambda: stream(1e18, RNG), "duration_s must lie in [0, 1e+09], got 1e+18"),
        (lambda: stream(1.0, RNG, start_s=float("nan")), "start_s must lie in [0, 1e+09], got nan"),
        (lambda: push_messages(1e9, RNG, mean_gap_s=5e-324), "mean_gap_s must lie in [10, 1e+300], got 5e-324"),
        (lambda: push_messages(1.0, RNG, message_bytes=(5, 1)), "message_bytes must be two sizes in bytes"),
        (lambda: stalls([1.0], [0], [1.0, 2.0]), "done_s must have shape (1,), got (2,)"),
        (lambda: traces.generate(-(10**400), RNG), "n_pages must lie in [1, 1e+08], got an integer of 1329 bits"),
    ],
)
def test_what_would_not_end_is_a_value_error_that_names_argument_rule_and_value(call, said):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the message is compared as it stands
        call()
    assert said in str(refused.value)
