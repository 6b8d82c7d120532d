"""Arguments of a wrong type or size are refused by an error that names them."""

# ruff: noqa: F401 - the table uses what is imported
import numpy as np

import traces
from tests.wrong_calls import refused, table
from traces.arrivals import binned, spread
from traces.traffic import Wishes, draw, make, push_messages, stalls, stream

RNG = np.random.default_rng(0)


def sent(start_us, end_us=6, size=1):
    return traces.Request("c", "s", start_us, end_us, 300, size)


def rule(**settings):
    return traces.GroupingRule(**settings)


@table(r"""
traces.generate(5, -1) -> rng must be a generator or a seed, at least 0, got -1
traces.generate("5", RNG) -> n_pages must be of the type int, got '5'
traces.generate(True, RNG) -> n_pages must be of the type int, got True
traces.generate(0, RNG) -> n_pages must lie in \[1, 1e\+08\], got 0
traces.generate(-(10**400), RNG) -> n_pages must lie in \[1, 1e\+08\], got an integer of 1329 bits
traces.Workload.of(traces.Workload.of([]), [traces.Message(1.0, 5)]) -> must be left out where pages are a Workload
traces.Workload.of([traces.Page("a", 300, 500, (310, 9000))]) -> request bytes and reply bytes, got \(310, 9000\)
traces.Workload.of([traces.Page("a", 300, 500, 5)]) -> an object must be a pair of request bytes and reply bytes, got 5
traces.pages([1]) -> requests must be of the type Request, got 1
traces.pages([], rule=0) -> rule must be of the type GroupingRule or None, got 0
list(traces.browsed(["a"])) -> sessions must be of the type Session, got 'a'
binned([None]) -> requests must be of the type Request, got None
binned([sent(0, 4_000_000_000_000_000)]) -> at most 4194304 bins, got 400000000000
spread(5, 4, 1) -> end_us
spread(0, 1, -1) -> size_bytes
traces.counted(1, 2) -> name must be of the type str, got 2
traces.workload_line("a") -> record must be a Page or a Message, got 'a'
traces.read(3) -> path must be of the type str or PathLike, got 3
make("web", {}, RNG) -> wishes must be of the type Wishes, got {}
Wishes(hours=1e5, messages_per_hour=1e6) -> messages, reports and keep-alives must be at most 1e\+07, got 1
Wishes(hours="1") -> hours must be of the type float, got '1'
rule(page_gap_s=None) -> page_gap_s must be of the type float, got None
rule(same_server_gap_s=-1) -> same_server_gap_s must .*got -1
rule(other_server_gap_s=float("nan")) -> other_server_gap_s must .*got nan
rule(reorder_s=-1) -> reorder_s must .*got -1
rule(max_think_s=0) -> max_think_s must .*got 0
rule(max_think_s="1") -> max_think_s must be of the type float or None, got '1'
Wishes(hours=0) -> hours must lie in \[1e-06, 100000\], got 0
stalls([1.0], ["a"], [1.0]) -> viewings must hold whole numbers below 2\^63
stalls([1.0], [0], [1.0, 2.0]) -> done_s must have shape \(1,\), got \(2,\)
traces.generate(2**63, RNG) -> n_pages must lie in \[1, 1e\+08\], got 9223372036854775808
stream(1e18, RNG) -> duration_s must lie in \[0, 1e\+09\], got 1e\+18
stream(1.0, RNG, start_s=float("nan")) -> start_s must lie in \[0, 1e\+09\], got nan
push_messages(1e9, RNG, mean_gap_s=5e-324) -> mean_gap_s must lie in \[10, 1e\+300\], got 5e-324
push_messages(1.0, RNG, message_bytes=(5, 1)) -> message_bytes must be two sizes in bytes
draw("radio", 60.0, RNG) -> the kind of traffic must be one of web-instant
draw("streaming", 0.0, RNG) -> duration_s must be above 0
""")
def test_a_wrong_call_is_answered_with_the_argument_the_rule_and_the_value(call, message):
    refused(call, message, globals())
