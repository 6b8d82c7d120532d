"""The vocabulary of claims: what holds on either side of every edge, and what is said of it."""

from dataclasses import FrozenInstanceError, fields
from math import nan, sqrt

import numpy as np
import pandas as pd
import pytest

from experiments.papers.claims import NOTHING, Claim, Noted, jackknifed, named, point, shown, steps_inside, wide
from experiments.papers.predicates import (
    above,
    at_least,
    at_most,
    below,
    between,
    both,
    each,
    explained_by,
    falling,
    largest,
    lower,
    near,
    reaching,
    rising,
    smallest,
    upper,
    wide_enough,
)
from experiments.study.compare import Estimate

HALF = 12.706204736174707 / sqrt(2.0) * sqrt(2.0)  # of -1 and 1: Student's t for one degree of freedom, times 1


def of(**samples):
    """A measure that finds these samples whatever the record."""
    return lambda record: samples


def holds(predicate):
    return predicate({}).holds


def spread(mean):
    """Two numbers about a mean, whose interval is `mean` ± HALF."""
    return [mean - 1.0, mean + 1.0]


@pytest.mark.parametrize(
    ("make", "inside", "outside"),
    [
        (lambda x: above(of(x=spread(x)), 2.0), 2.0 + HALF + 1e-9, 2.0 + HALF - 1e-9),
        (lambda x: below(of(x=spread(x)), 2.0), 2.0 - HALF - 1e-9, 2.0 - HALF + 1e-9),
        (lambda x: at_least(of(x=spread(x)), 2.0), 2.0, 2.0 - 1e-9),
        (lambda x: at_most(of(x=spread(x)), 2.0), 2.0, 2.0 + 1e-9),
        (lambda x: at_least(of(x=spread(x)), 2.0, open=True), 2.0 + 1e-9, 2.0),
        (lambda x: at_most(of(x=spread(x)), 2.0, open=True), 2.0 - 1e-9, 2.0),
        (lambda x: between(of(x=spread(x)), 2.0, 3.0), 3.0, 3.0 + 1e-9),
        (lambda x: between(of(x=spread(x)), 2.0, 3.0), 2.0, 2.0 - 1e-9),
        (lambda x: near(of(x=spread(x)), 4.0, 2.0), 8.0, 8.0 + 1e-9),
        (lambda x: near(of(x=spread(x)), 4.0, 2.0), 2.0, 2.0 - 1e-9),
        (lambda x: near(of(x=spread(x)), -4.0, 2.0), -8.0, -8.0 - 1e-9),
        (lambda x: near(of(x=spread(x)), -4.0, 2.0), -2.0, 2.0),
        (lambda x: reaching(of(x=spread(x)), 2.0), 2.0 - HALF + 1e-9, 2.0 - HALF - 1e-9),
        (lambda x: reaching(of(x=spread(x)), high=2.0), 2.0 + HALF - 1e-9, 2.0 + HALF + 1e-9),
        (lambda x: reaching(of(x=spread(x)), 1.0, 2.0), 1.0 - HALF + 1e-9, 1.0 - HALF - 1e-9),
        (lambda x: each(of(x=[5.0, x]), 2.0, 9.0), 2.0, 2.0 - 1e-9),
        (lambda x: each(of(x=[5.0, x]), 2.0, 9.0), 9.0, 9.0 + 1e-9),
        (lambda x: each(of(x=[5.0, x]), 2.0, 9.0, open=True), 2.0 + 1e-9, 2.0),
        (lambda x: rising(of(a=[0.0, 2.0], b=[x], c=[3.0])), 1.0 + 1e-9, 1.0),
        (lambda x: rising(of(a=[0.0, 2.0], b=[x], c=[3.0])), 3.0 - 1e-9, 3.0),
        (lambda x: falling(of(a=[3.0], b=[x])), 3.0 - 1e-9, 3.0),
        (lambda x: falling(of(a=[3.0], b=[9.0], c=[x]), ends=True), 3.0 - 1e-9, 3.0),
        (lambda x: largest(of(a=[x], b=[1.0], c=[2.0]), "a"), 2.0 + 1e-9, 2.0 - 1e-9),
        (lambda x: smallest(of(a=[x], b=[1.0], c=[2.0]), "a"), 1.0 - 1e-9, 1.0 + 1e-9),
        (lambda x: both(at_least(of(x=x), 1.0), at_most(of(x=x), 2.0)), 1.0, 1.0 - 1e-9),
        (lambda x: both(at_least(of(x=x), 1.0), at_most(of(x=x), 2.0)), 2.0, 2.0 + 1e-9),
    ],
)
def test_a_predicate_holds_on_one_side_of_its_edge_and_not_on_the_other(make, inside, outside):
    assert holds(make(inside))
    assert not holds(make(outside))


@pytest.mark.parametrize(("needed", "least"), [(None, 4), (0.5, 3), (2, 2), (1, 1), (0.75, 4)])
def test_as_many_names_as_are_needed_have_to_hold(needed, least):
    for count in range(5):
        samples = {f"name {i}": [1.0 if i < count else -1.0] for i in range(4)}
        assert holds(above(of(**samples), needed=needed)) == (count >= least)


@pytest.mark.parametrize("make", [above, at_least, reaching])
def test_one_replication_has_no_interval_and_its_number_stands_for_it_in_every_predicate(make):
    assert holds(make(of(x=[0.5]), 0.4))
    assert not holds(make(of(x=[0.5]), 0.6))
    found = Estimate(0.5, nan)
    assert lower(found) == upper(found) == 0.5
    assert (lower(Estimate(0.5, 0.2)), upper(Estimate(0.5, 0.2))) == (0.3, 0.7)


@pytest.mark.parametrize(
    "make", [lambda m: above(m), lambda m: rising(m), lambda m: largest(m, "x"), lambda m: both(above(m))]
)
def test_a_record_that_has_nothing_of_it_does_not_make_a_claim_hold(make):
    verdict = make(of())({})
    assert (verdict.ours, verdict.holds) == (NOTHING, False)
    assert not holds(make(of(x=[nan, nan])))
    assert Claim("s", above(of()), why=lambda record: 1 / 0).check({}).why_not == NOTHING


def test_what_is_not_a_number_is_left_out_and_the_rest_counts():
    verdict = at_least(of(x=[1.0, nan, 3.0]), 2.0)({})
    assert verdict.holds
    assert verdict.ours == "x 2 ± 13"


def test_a_verdict_says_its_numbers_the_words_beside_them_and_what_lies_outside():
    measure = of(a=Noted([1.0, 2.0, 3.0], "of all"), b=[5.0, 6.0, 7.0])
    verdict = below(measure, 2.5, unit=" J")({})
    assert verdict.ours == "a 2.0 ± 2.5 J of all, b 6.0 ± 2.5 J"
    assert verdict.why_not == (
        "so for 0 of 2; a 1 of 3 lie outside, from 1 over 2 in the middle to 3; "
        "b 3 of 3 lie outside, from 5 over 6 in the middle to 7"
    )
    assert each(of(x=[1.0, 2.0]), 1.5)({}).ours == "x 1 to 2 over 2"
    assert at_most(of(x=2.0), 1.0, unit=" s")({}).why_not == "x is 2.00 s"
    assert each(of(x=[2.0, 1.0, 3.0, 2.5]), 2.0, 2.5)({}) == (
        "x 1 to 3 over 4", False, "x 2 of 4 lie outside, from 1 over 2.25 in the middle to 3"
    )  # fmt: skip
    assert each(of(x=[3.0]), 2.0, 2.5, unit=" s")({})[::2] == ("x 3 s", "x is 3 s")
    assert below(of(a=1.0, b=3.0, c=4.0), 2.0)({}).why_not == "so for 1 of 3; b is 3.00; c is 4.00"
    assert at_most(of(a=1.0, b=3.0), 2.0, needed=1)({}) == ("a 1.00, b 3.00", True, "so for 1 of 2; b is 3.00")
    parts = both(at_most(of(a=1.0), 2.0), at_most(of(b=3.0), 2.0), at_least(of(c=3.0), 4.0))({})
    assert parts == ("a 1.00; b 3.00; c 3.00", False, "b is 3.00; c is 3.00")
    assert falling(of(a=3.0, b=1.0, c=Noted(2.0, "at last")), unit=" s")({}) == (
        "3.00 s at a, 1.00 s at b, 2.00 s at c at last", False, "so at 1 of 2 steps"
    )  # fmt: skip
    assert falling(of(a=3.0, b=1.0, c=2.0), ends=True)({}).why_not == "so at 1 of 1 steps"
    assert not holds(rising(of(a=1.0)))  # one mean is no step
    best = smallest(of(a=Noted(1.0, "(x)"), b=[nan], c=0.5), "a", unit=" %")({})
    assert best == ("a 1.00 % (x), b no number, c 0.500 %", False, "c has it")
    assert largest(of(a=1.0, b=[nan]), "a")({}).holds
    assert rising(of(a=2.0, b=1.0))({}) == ("2.00 at a, 1.00 at b", False, "so at 0 of 1 steps")
    assert largest(of(a=1.0, b=2.0), "a")({}).why_not == "b has it"


def test_the_tolerance_follows_from_the_predicate_and_the_reason():
    x = of(x=1.0)
    assert above(x).tolerance == "whole 95 % interval above 0"
    assert at_most(x, 5.0, unit=" %").tolerance == "mean at most 5 %"
    assert at_most(x, 5.0, open=True).tolerance == "mean below 5"
    assert at_least(x, 1.0, open=True).tolerance == "mean above 1"
    assert each(x, 1.0, needed=2).tolerance == "every one at least 1, of 2 or more"
    assert between(x, 1.0, 2.0, needed=0.5).tolerance == "mean from 1 to 2, of more than half"
    assert reaching(x, high=0.0, needed=0.9).tolerance == "95 % interval reaches at most 0, of more than 0.9"
    assert (rising(x).tolerance, falling(x).tolerance) == ("mean larger at every step", "mean smaller at every step")
    assert falling(x, ends=True).tolerance == "mean smaller at the last than at the first"
    assert both(largest(x, "x"), smallest(x, "x")).tolerance == "largest mean of all; smallest mean of all"
    claim = Claim("s", above(x), reason="over seeds", no_test="it cannot fail")
    assert claim.tolerance == "whole 95 % interval above 0; over seeds; not a test: it cannot fail"


@pytest.mark.parametrize(
    "made", [above(of(x=1.0)), rising(of(x=1.0)), largest(of(x=1.0), "x"), both(), Claim("s", both())]
)
def test_claims_and_predicates_stay_as_they_are_and_take_their_fields_by_name(made):
    with pytest.raises(FrozenInstanceError):
        setattr(made, fields(made)[0].name, None)
    if not isinstance(made, Claim) and len(fields(made)) > 1:
        with pytest.raises(TypeError):
            type(made)(of(x=1.0), "x")


def test_a_claim_says_more_only_where_it_fails():
    claim = Claim("s", at_least(lambda record: {"": record["x"]}, 1.0), why=lambda record: "the rest is worse")
    assert claim.check({"x": [2.0]}) == ("2.00", True, "")
    assert claim.check({"x": [0.5]}).why_not == "is 0.500; the rest is worse"
    assert explained_by("with more", of(a=[1.0, 3.0]))({}) == "with more a 2 ± 13"


@pytest.mark.parametrize(
    ("mean", "half", "words"),
    [
        (1.2531, 0.5, "1.25 ± 0.50 J"),
        (-0.0132, 0.0165, "-0.013 ± 0.017 J"),
        (120.3, 31.0, "120 ± 31 J"),
        (0.5, nan, "0.500 J"),
        (2000.4, nan, "2000 J"),
        (1.0, 0.0, "1.00 ± 0.00 J"),
        (0.0, 0.0, "0 ± 0 J"),
        (nan, nan, "nan J"),
        (1e-9, nan, "0.000000 J"),  # six digits at most
        (3.0, 1e-7, "3.0000000 J"[:4] + " ± 0.00 J"),  # so small a spread is of rounding
        (1.0, 1.1e-6, "1.000000 ± 0.000001 J"),
        (0.0999, 0.0999, "0.100 ± 0.100 J"),
        (12345.6, 4567.8, "12346 ± 4568 J"),
    ],
)
def test_numbers_are_shown_to_two_figures_of_the_half_width(mean, half, words):
    assert shown(Estimate(mean, half), " J") == words


def test_a_chosen_value_at_the_edge_of_its_grid_is_told():
    grid = (0.1, 0.3, 1.0, 3.0)
    assert steps_inside([0.3, 1.0], grid).sample == [1]
    assert steps_inside([3.0, 0.3], grid).sample == [0]
    assert steps_inside([0.1, 1.0], grid, least=0.1).sample == [1]
    assert steps_inside([0.1, 3.0], grid, least=0.1).sample == [0]
    assert steps_inside([0.1], grid, least=0.1).sample == [3]
    assert steps_inside([0.1], grid, least=0.0).sample == [0]
    assert steps_inside([1.0, 0.3, 1.0], [1.0, 3.0, 0.3, 0.1, 0.3], least=0.2).note.endswith("0.3 to 1 were chosen")
    assert steps_inside([0.3], (0.1, 0.3, 1.0, 3.0, 10.0), least=0.1).sample == [3]
    assert steps_inside([1.0], (0.1, 0.3, 1.0, 3.0, 10.0)).sample == [2]
    inside = wide_enough(lambda record: {"K": steps_inside([0.3, 1.0], grid)}).check({})
    assert inside.ours == "K 1 step from an end of its grid, 0.1 to 3, at the nearest: 0.3 to 1 were chosen"
    bounded = wide_enough(lambda record: {"R": steps_inside([0.1], grid, least=0.1)}).check({})
    assert bounded.ours == "R 3 steps from the upper end of its grid, 0.1 to 3, at the nearest: 0.1 was chosen"
    assert wide_enough(lambda record: {"K": steps_inside([0.3], grid)}).check({}).holds
    assert not wide_enough(lambda record: {"K": steps_inside([0.3, 3.0], grid)}).check({}).holds


def test_a_statistic_of_all_runs_is_spread_as_the_jackknife_says():
    # the largest of 1, 2, 6, and without one of them: 6, 6, 2; 3 x 6 - 2 x (6, 6, 2) = (6, 6, 14), less 26/3, plus 6
    assert jackknifed([1.0, 2.0, 6.0], max) == pytest.approx([10 / 3, 10 / 3, 34 / 3])
    assert jackknifed([1.0, 5.0], np.mean) == pytest.approx([1.0, 5.0])  # of a mean they are the numbers themselves
    assert jackknifed([7.0], max).tolist() == [7.0]
    assert point("g", 3, [1.0, 3.0]) == pytest.approx({"group": "g", "x": 3, "y": 2.0, "half_width": HALF}, abs=1e-9)


def test_tables_are_laid_out_by_replication_and_measures_named():
    rows = pd.DataFrame(
        [("t", 1, "a", 5.0), ("t", 0, "a", 4.0), ("t", 1, "b", 7.0), ("t", 0, "b", 6.0), ("u", 0, "a", 9.0)],
        columns=["traffic", "replication", "policy", "joules"],
    )
    both_ways = wide({"runs": rows}, "runs", "joules", columns="replication", index="policy", traffic="t", policy="b")
    assert both_ways.to_dict("index") == {"b": {0: 6.0, 1: 7.0}}
    table = wide({"runs": rows}, "runs", "joules", traffic="t")
    assert table["a"].tolist() == [4.0, 5.0]
    assert table["b"].tolist() == [6.0, 7.0]
    found = named({"one": of(x=1.0), "two": lambda record: {"": 2.0}})({})
    assert found == {"one x": 1.0, "two": 2.0}
    assert np.isclose(HALF, 12.7062, atol=1e-4)


def test_a_name_without_a_number_is_told_in_words_and_has_not_met_what_is_asked():
    nothing = {"a": Noted([], "(never reached)"), "b": 2.0}
    verdict = at_least(lambda record: nothing, 1.0)({})
    assert verdict.ours == "a no number (never reached), b 2.00"
    assert verdict.why_not == "so for 1 of 2; a has no number, which counts as failed"
    assert not verdict.holds
    assert at_least(lambda record: nothing, 1.0, needed=1)({}).holds
    for predicate in (
        each(lambda record: nothing, 1),
        largest(lambda record: nothing, "b"),
        rising(lambda record: nothing),
    ):
        assert "no number" in predicate({}).ours
        assert "nan" not in predicate({}).ours
    assert largest(lambda record: nothing, "b")({}).holds
    assert not rising(lambda record: nothing)({}).holds
