"""The vocabulary of claims: what holds on either side of every edge, and what is said of it."""

from math import nan

import pandas as pd
import pytest

from experiments.papers import claims, predicates
from experiments.papers.claims import (
    NOTHING,
    Claim,
    against,
    cases,
    measured,
    named,
    shown,
    steps_inside,
    wide,
)
from experiments.papers.predicates import (
    above,
    at_least,
    at_most,
    both,
    falling,
    largest,
    reaching,
    rising,
    smallest,
    wide_enough,
)
from experiments.study.compare import Estimate
from tests.tables import cases_of, near, unequal

HALF = 12.706204736174707  # half width of -1 and 1: Student's t for one degree of freedom, times 1
EDGE = 1e-9


def of(**samples):
    """A measure that finds these samples whatever the record."""
    return lambda record: samples


def holds(predicate):
    return predicate({}).holds


WORDS = vars(claims) | vars(predicates) | globals()


@cases_of("make how inside way spread", """
above, {"limit": 2}, 2 + HALF + EDGE, -1, 1 ; below, {"limit": 2}, 2 - HALF - EDGE, 1, 1
at_least, {"limit": 2}, 2, -1, .07 ; between, {"low": 2, "high": 3}, 3, 1, .03 ; each, {"low": 2, "high": 9}, 8, 1, 1
reaching, {"low": 2}, 2 - HALF / 20 + EDGE, -1, .05
""", WORDS)  # fmt: skip
def test_a_predicate_holds_on_one_side_of_its_edge_and_not_on_the_other(make, how, inside, way, spread):
    for x, right in ((inside, True), (inside + 2 * EDGE * way, False)):
        assert holds(make(of(x=[x - spread, x + spread]), **how)) == right


@cases_of("test holds noisy", """
above(of(x=[1, 3])), False, True ; above(of(x=[-99, -98])), False, False ; above(of(x=[8, 9])), True, False
at_least(of(x=[-1, 1]), -0.02), False, True  # matches to .02 by its mean, which is known to +- 13 only
at_least(of(x=[-.001, .001]), -0.02), True, False ; at_least(of(x=[-.041, -.039]), -0.02), False, False
at_most(of(x=[.9, 1.1]), 1.05), False, True ; at_most(of(x=[1.019, 1.021]), 1.05), True, False  # of a ratio .05
between(of(x=[4.6, 4.9]), 2, 5), False, True
between(of(x=[1, 3]), 1, 3), False, True ; between(of(x=[1.99, 2.01]), 1, 3), True, False
reaching(of(x=[-1, 1]), 0), False, True ; each(of(x=[-1, 1])), True, False
above(of(a=[1, 3], b=[8, 9]), needed=1), True, False ; above(of(a=[1, 3], b=[-9, -8]), needed=1), False, True
above(of(a=[1, 3], b=[-9, -8])), False, False ; both(above(of(a=[1, 3])), above(of(b=[-9, -8]))), False, False
both(above(of(a=[1, 3])), above(of(b=[8, 9]))), False, True
""", WORDS)  # fmt: skip
def test_what_an_interval_wider_than_the_tolerance_leaves_open_is_too_noisy_to_tell(test, holds, noisy):
    verdict = Claim("s", test).check({})
    assert (verdict.holds, verdict.noisy) == (holds, noisy)


def test_an_order_of_means_holds_on_one_side_and_not_on_the_other():
    for x, right in ((EDGE, True), (-EDGE, False)):
        assert holds(rising(of(a=[0, 2], b=[1 + x], c=[3]))) == right
        assert holds(rising(of(a=[0], b=[3 - x], c=[3]))) == right
        assert holds(falling(of(a=[3], b=[9], c=[3 - x]), ends=True)) == right
        assert holds(largest(of(a=[2 + x], b=[1], c=[2]), "a")) == right
        assert holds(smallest(of(a=[1 - x], b=[1], c=[2]), "a")) == right
        assert Claim("s", both(at_least(of(x=1 + x), 1), at_most(of(x=2), 2))).check({}).holds == right


@cases_of("needed least", "None, 4 ; 0.5, 3 ; 2, 2 ; 1, 1 ; 0.75, 4")
def test_as_many_names_as_are_needed_have_to_hold(needed, least):
    for count in range(5):
        samples = {f"name {i}": [1.0 if i < count else -1.0] for i in range(4)}
        assert holds(above(of(**samples), needed=needed)) == (count >= least)


def test_one_replication_has_no_interval_and_its_number_stands_for_it():
    for make in (above, reaching):
        assert holds(make(of(x=[0.5]), 0.4))
        assert not holds(make(of(x=[0.5]), 0.6))


def test_a_record_that_has_nothing_of_it_does_not_make_a_claim_hold():
    for make in (above, rising, lambda measure: largest(measure, "x"), lambda measure: both(above(measure))):
        verdict = Claim("s", make(of())).check({})
        assert (verdict.ours, verdict.holds, verdict.why_not) == (NOTHING, False, NOTHING)
        assert not Claim("s", make(of(x=[nan, nan]))).check({}).holds


@cases_of("test ours right why_not short", """
below(of(a=Noted([1, 2, 3], "of all"), b=[5, 6, 7]), 2.5, unit=" J"), "a 2.0 ± 2.5 J of all, b 6.0 ± 2.5 J",
  False, "so for 0 of 2; b 3 of 3 lie outside (5, 6, 7); a 1 of 3 lie outside (1, 2, 3)"
  -> b 6.0 ± 2.5 J (worst of 2)
at_least(of(x=Noted([1.9, nan, 2.1], "(all)")), 2), "x 2.0 ± 1.3 (all)", False, "x 1 of 2 lie outside (1.9, 2, 2.1)"
  -> x 2.0 ± 1.3
each(of(x=[2, 1, 3, 2.5]), 2, 2.5), "x 1 to 3 over 4", False, "x 2 of 4 lie outside (1, 2.25, 3)" -> x 1 to 3 over 4
at_most(of(a=1, b=3, c=4), 2, needed=1), "a 1.00, b 3.00, c 4.00", True, "" -> a 1.00 (number 1 of 3)
both(at_most(of(a=1), 2), at_most(of(b=3, d=4), 2), at_least(of(c=3), 4)), "a 1.00; b 3.00, d 4.00; c 3.00",
  False, "so for 0 of 2; b is 3.00; d is 4.00; c is 3.00" -> d 4.00 (worst of 2); c 3.00
falling(of(a=3, b=1, c=2), unit=" s"), "a to b: -2.00 s (3.00 s, 1.00 s), b to c: 1.00 s (1.00 s, 2.00 s)",
  False, "so for 1 of 2; b to c: is 1.00 s" -> b to c: 1.00 s (worst of 2)
smallest(of(a=Noted(1, "(x)"), b=[nan], c=0.5), "a", unit=" %"), "-0.500 % (a 1.00 % (x), b no number,
  c 0.500 %)", False, "is -0.500 %" -> -0.500 %
at_least(of(a=Noted([], "(never reached)"), b=2), 1), "a no number (never reached), b 2.00", False,
  "so for 1 of 2; a has no number, which counts as failed" -> a no number (worst of 2)
""", WORDS)  # fmt: skip
def test_a_verdict_says_its_numbers_notes_after_them_what_lies_outside_and_what_decides(
    test, ours, right, why_not, short
):
    assert Claim("s", test).check({})[:4] == (ours, right, why_not, short)
    assert Claim("s", test, whole=True).check({}).short == ours


def test_a_measure_gets_the_tables_it_names_and_may_return_one_sample_or_none():
    record = {"runs": [1.0, 3.0], "pages": [5.0]}
    assert measured(lambda runs, pages: {"a": runs, "b": pages}, record) == {"a": [1.0, 3.0], "b": [5.0]}
    assert measured(lambda record, factor=2.0: record["pages"][0] * factor, record) == {"": 10.0}
    assert measured(lambda pages: None, record) == {}
    assert named({"one": of(x=1.0), "two": lambda record: {"": 2.0}})({}) == {"one x": 1.0, "two": 2.0}
    with pytest.raises(KeyError, match="polls"):
        measured(lambda polls: polls, record)


@cases_of("test tolerance", """
above(of()) -> whole 95 % interval above 0 ; at_most(of(), 5, open=True) -> mean below 5
each(of(), 1, needed=2) -> every one at least 1, of 2 or more
between(of(), 1, 2, needed=0.5) -> mean from 1 to 2, of more than half
reaching(of(), high=0, needed=0.9) -> 95 % interval reaches at most 0, of more than 0.9
both(falling(of(), unit=" s"), largest(of(), "x")) -> mean below 0 s; mean above 0
""", WORDS)  # fmt: skip
def test_the_tolerance_follows_from_the_predicate_and_the_reason(test, tolerance):
    assert Claim("s", test).tolerance == tolerance
    more = Claim("s", test, reason="over seeds", no_test="it cannot fail").tolerance
    assert more == f"{tolerance}; over seeds; not a test: it cannot fail"


NUMBERS = """
1.2531 | 0.5 | 1.25 ± 0.50 J
-0.0132 | 0.0165 | -0.013 ± 0.017 J
120.3 | 31 | 120 ± 31 J
2000.4 | nan | 2000 J
0 | 0 | 0 ± 0 J
nan | nan | no number
3 | 1e-7 | 3.00 ± 0.00 J
1 | 1.1e-6 | 1.000000 ± 0.000001 J
0.0999 | 0.0999 | 0.100 ± 0.100 J
"""


def test_numbers_are_shown_to_two_figures_of_the_half_width_and_six_digits():
    for mean, half, words in cases(NUMBERS):  # a spread of less than 1e-6 is of rounding
        assert shown(Estimate(float(mean), float(half)), " J") == words


def test_a_chosen_value_at_the_edge_of_its_grid_is_told():
    for chosen, least, words, right in (
        ([0.3, 1.0], None, "1 step from an end of its grid, 0.1 to 3, at the nearest: 0.3 to 1 were chosen", True),
        ([0.1], 0.0, "0 steps from an end of its grid, 0.1 to 3, at the nearest: 0.1 was chosen", False),
        ([0.1], 0.1, "3 steps from the upper end of its grid, 0.1 to 3, at the nearest: 0.1 was chosen", True),
        ([0.1, 3.0], 0.1, "0 steps from the upper end of its grid, 0.1 to 3, at the nearest: 0.1 to 3 were chosen",
         False),
    ):  # fmt: skip
        claim = wide_enough(of(K=steps_inside(chosen, (0.1, 0.3, 1.0, 3.0), least)))
        assert claim.check({})[:2] == (f"K {words}", right)


def test_a_statistic_of_all_runs_is_spread_as_the_jackknife_says():
    assert not unequal("""
# the largest of 1, 2, 6, and without one of them: 6, 6, 2; 3 x 6 - 2 x (6, 6, 2) = (6, 6, 14), less 26/3, plus 6
jackknifed([1.0, 2.0, 6.0], max) -> [10 / 3, 10 / 3, 34 / 3]
jackknifed([1.0, 5.0], np.mean) -> [1.0, 5.0]  # of a mean they are the numbers themselves
jackknifed([7.0], max).tolist() -> [7.0] ; slope([1, 2, 4], [3, 12, 48]) -> 2.0
point("g", 3, [1.0, 3.0]) -> {"group": "g", "x": 3, "y": 2.0, "half_width": HALF}
""", vars(claims) | {"HALF": HALF})  # fmt: skip


def test_tables_are_laid_out_by_replication_and_samples_compared_pair_by_pair():
    rows = pd.DataFrame(
        {
            "traffic": [*"ttttu"],
            "replication": (1, 0, 1, 0, 0),
            "policy": [*"aabba"],
            "joules": (5.0, 4.0, 7.0, 6.0, 9.0),
        }
    )
    table = wide(rows, "joules", traffic="t")
    assert table.to_dict("list") == {"a": [4.0, 5.0], "b": [6.0, 7.0]}
    more = against(table["b"], table["a"])
    assert (more.sample.tolist(), more.note) == ([2.0, 2.0], "(6.50 against 4.50)")
    assert against(table["b"], table["a"], over=True).sample.mean() == near(6.5 / 4.5)
