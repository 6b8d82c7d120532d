"""The vocabulary of claims: what holds on either side of every edge, and what is said of it."""

from dataclasses import FrozenInstanceError, fields
from math import nan

import numpy as np
import pandas as pd
import pytest

from experiments.papers import predicates as ask
from experiments.papers.claims import (
    NOTHING,
    Claim,
    Noted,
    against,
    jackknifed,
    measured,
    named,
    point,
    shown,
    steps_inside,
    wide,
)  # fmt: skip
from experiments.papers.predicates import above, at_least, both, largest, rising
from experiments.study.compare import Estimate

HALF = 12.706204736174707  # half width of -1 and 1: Student's t for one degree of freedom, times 1


def of(**samples):
    """A measure that finds these samples whatever the record."""
    return lambda record: samples


def holds(predicate):
    return predicate({}).holds


def table(text, names):
    """A case a line, its cells between bars; indented lines go on."""
    rows = [[cell.strip() for cell in line.split(" | ")] for line in text.replace("\n    ", " ").strip().splitlines()]
    return pytest.mark.parametrize(names, rows, ids=[str(number) for number in range(len(rows))])


def made(expression, **names):
    return eval(expression, {**vars(ask), "of": of, "Noted": Noted, "nan": nan, "HALF": HALF, "Claim": Claim, **names})


EDGE = 1e-9


@table(
    """
above(two, 2) | 2 + HALF + EDGE | -1
below(two, 2) | 2 - HALF - EDGE | 1
at_least(two, 2) | 2 | -1
at_most(two, 2) | 2 | 1
at_least(two, 2, open=True) | 2 + EDGE | -1
at_most(two, 2, open=True) | 2 - EDGE | 1
between(two, 2, 3) | 3 | 1
between(two, 2, 3) | 2 | -1
near(two, 4, 2) | 8 | 1
near(two, 4, 2) | 2 | -1
near(two, -4, 2) | -8 | -1
near(two, -4, 2) | -2 | 1
reaching(two, 2) | 2 - HALF + EDGE | -1
reaching(two, high=2) | 2 + HALF - EDGE | 1
reaching(two, 1, 2) | 1 - HALF + EDGE | -1
each(of(x=[5, x]), 2, 9) | 2 | -1
each(of(x=[5, x]), 2, 9) | 9 | 1
each(of(x=[5, x]), 2, 9, open=True) | 2 + EDGE | -1
rising(of(a=[0, 2], b=[x], c=[3])) | 1 + EDGE | -1
rising(of(a=[0, 2], b=[x], c=[3])) | 3 - EDGE | 1
falling(of(a=[3], b=[x])) | 3 - EDGE | 1
falling(of(a=[3], b=[9], c=[x]), ends=True) | 3 - EDGE | 1
largest(of(a=[x], b=[1], c=[2]), "a") | 2 + EDGE | -1
smallest(of(a=[x], b=[1], c=[2]), "a") | 1 - EDGE | 1
both(at_least(of(x=x), 1), at_most(of(x=x), 2)) | 1 | -1
both(at_least(of(x=x), 1), at_most(of(x=x), 2)) | 2 | 1
""",
    ("predicate", "inside", "way"),  # `way` leads to the other side; `two` are two numbers about x
)
def test_a_predicate_holds_on_one_side_of_its_edge_and_not_on_the_other(predicate, inside, way):
    x = made(inside, EDGE=EDGE)
    for number, right in ((x, True), (x + 2 * EDGE * int(way), False)):
        assert holds(made(predicate, x=number, two=of(x=[number - 1.0, number + 1.0]))) == right


@pytest.mark.parametrize(("needed", "least"), [(None, 4), (0.5, 3), (2, 2), (1, 1), (0.75, 4)])
def test_as_many_names_as_are_needed_have_to_hold(needed, least):
    for count in range(5):
        samples = {f"name {i}": [1.0 if i < count else -1.0] for i in range(4)}
        assert holds(above(of(**samples), needed=needed)) == (count >= least)


@pytest.mark.parametrize("make", [above, at_least, ask.reaching])
def test_one_replication_has_no_interval_and_its_number_stands_for_it_in_every_predicate(make):
    assert holds(make(of(x=[0.5]), 0.4))
    assert not holds(make(of(x=[0.5]), 0.6))
    assert ask.lower(Estimate(0.5, nan)) == ask.upper(Estimate(0.5, nan)) == 0.5
    assert (ask.lower(Estimate(0.5, 0.2)), ask.upper(Estimate(0.5, 0.2))) == (0.3, 0.7)


@pytest.mark.parametrize(
    "make", [lambda m: above(m), lambda m: rising(m), lambda m: largest(m, "x"), lambda m: both(above(m))]
)
def test_a_record_that_has_nothing_of_it_does_not_make_a_claim_hold(make):
    verdict = make(of())({})
    assert (verdict.ours, verdict.holds) == (NOTHING, False)
    assert not holds(make(of(x=[nan, nan])))
    assert Claim("s", above(of()), why=lambda record: 1 / 0).check({}).why_not == NOTHING


@table(
    """
below(of(a=Noted([1, 2, 3], "of all"), b=[5, 6, 7]), 2.5, unit=" J") | a 2.0 ± 2.5 J of all, b 6.0 ± 2.5 J | no
    | so for 0 of 2; a 1 of 3 lie outside (1; 2; 3); b 3 of 3 lie outside (5; 6; 7)
at_least(of(x=[1, nan, 3]), 2) | x 2 ± 13 | yes | -
at_most(of(x=2), 1, unit=" s") | x 2.00 s | no | x is 2.00 s
each(of(x=[2, 1, 3, 2.5]), 2, 2.5) | x 1 to 3 over 4 | no | x 2 of 4 lie outside (1; 2.25; 3)
each(of(x=[3]), 2, 2.5, unit=" s") | x 3 s | no | x is 3 s
below(of(a=1, b=3, c=4), 2) | a 1.00, b 3.00, c 4.00 | no | so for 1 of 3; b is 3.00; c is 4.00
at_most(of(a=1, b=3), 2, needed=1) | a 1.00, b 3.00 | yes | so for 1 of 2; b is 3.00
both(at_most(of(a=1), 2), at_most(of(b=3), 2), at_least(of(c=3), 4)) | a 1.00; b 3.00; c 3.00 | no
    | b is 3.00; c is 3.00
falling(of(a=3, b=1, c=2), unit=" s") | a to b: -2.00 s (3.00 s, 1.00 s), b to c: 1.00 s (1.00 s, 2.00 s) | no
    | so for 1 of 2; b to c: is 1.00 s
falling(of(a=3, b=1, c=2), ends=True) | a to c: -1.00 (3.00, 2.00) | yes | -
rising(of(a=1)) | the record has nothing of it | no | the record has nothing of it
rising(of(a=2, b=1)) | a to b: -1.00 (2.00, 1.00) | no | a to b: is -1.00
smallest(of(a=Noted(1, "(x)"), b=[nan], c=0.5), "a", unit=" %") | -0.500 % (a 1.00 % (x), b no number, c 0.500 %) | no
    | is -0.500 %
largest(of(a=1, b=[nan]), "a") | no number (a 1.00, b no number) | no | has no number, which counts as failed
at_least(of(a=Noted([], "(never reached)"), b=2), 1) | a no number (never reached), b 2.00 | no
    | so for 1 of 2; a has no number, which counts as failed
at_least(of(a=[], b=2), 1, needed=1) | a no number, b 2.00 | yes
    | so for 1 of 2; a has no number, which counts as failed
each(of(a=[], b=2), 1) | a no number, b 2 | no | so for 1 of 2; a has no number, which counts as failed
largest(of(a=0, b=2), "b") | 2.00 (a 0, b 2.00) | yes | -
rising(of(a=[], b=2)) | a to b: no number (no number, 2.00) | no
    | a to b: has no number, which counts as failed
""",
    ("predicate", "ours", "right", "why_not"),
)
def test_a_verdict_says_its_numbers_the_notes_after_them_and_what_lies_outside(predicate, ours, right, why_not):
    assert made(predicate)({})[:3] == (ours, right == "yes", why_not.strip("-"))


def test_a_measure_gets_the_tables_it_names_and_may_return_one_sample_or_none():
    record = {"runs": [1.0, 3.0], "pages": [5.0]}
    assert measured(lambda runs, pages: {"a": runs, "b": pages}, record) == {"a": [1.0, 3.0], "b": [5.0]}
    assert measured(lambda record, factor=2.0: record["pages"][0] * factor, record) == {"": 10.0}
    assert measured(lambda pages: None, record) == {}
    with pytest.raises(KeyError, match="polls"):
        measured(lambda polls: polls, record)


@table(
    """
above(of()) | whole 95 % interval above 0
at_most(of(), 5, unit=" %") | mean at most 5 %
at_most(of(), 5, open=True) | mean below 5
at_least(of(), 1, open=True) | mean above 1
each(of(), 1, needed=2) | every one at least 1, of 2 or more
between(of(), 1, 2, needed=0.5) | mean from 1 to 2, of more than half
reaching(of(), high=0, needed=0.9) | 95 % interval reaches at most 0, of more than 0.9
rising(of()) | mean above 0
falling(of(), ends=True, unit=" s") | mean below 0 s
both(largest(of(), "x"), smallest(of(), "x")) | mean above 0; mean above 0
Claim("s", above(of()), reason="over seeds", no_test="it cannot fail") | whole 95 % interval above 0; over seeds;
    not a test: it cannot fail
""",
    ("test", "tolerance"),
)
def test_the_tolerance_follows_from_the_predicate_and_the_reason_and_neither_can_be_changed(test, tolerance):
    asked = made(test)
    assert asked.tolerance == tolerance
    with pytest.raises(FrozenInstanceError):
        setattr(asked, fields(asked)[0].name, None)


def test_a_claim_says_more_only_where_it_fails():
    claim = Claim("s", at_least(lambda record: {"": record["x"]}, 1.0), why=lambda record: "the rest is worse")
    assert claim.check({"x": [2.0]})[:3] == ("2.00", True, "")
    assert claim.check({"x": [0.5]}).why_not == "is 0.500; the rest is worse"
    assert ask.explained_by("with more", of(a=[1.0, 3.0]))({}) == "with more a 2 ± 13"


@table(
    """
1.2531 | 0.5 | 1.25 ± 0.50 J
-0.0132 | 0.0165 | -0.013 ± 0.017 J
120.3 | 31 | 120 ± 31 J
0.5 | nan | 0.500 J
2000.4 | nan | 2000 J
1 | 0 | 1.00 ± 0.00 J
0 | 0 | 0 ± 0 J
nan | nan | nan J
1e-9 | nan | 0.000000 J
3 | 1e-7 | 3.00 ± 0.00 J
1 | 1.1e-6 | 1.000000 ± 0.000001 J
0.0999 | 0.0999 | 0.100 ± 0.100 J
12345.6 | 4567.8 | 12346 ± 4568 J
""",
    ("mean", "half", "words"),  # six digits at most; a spread of less than 1e-6 is of rounding
)
def test_numbers_are_shown_to_two_figures_of_the_half_width(mean, half, words):
    assert shown(Estimate(float(mean), float(half)), " J") == words


def test_a_chosen_value_at_the_edge_of_its_grid_is_told():
    grid = (0.1, 0.3, 1.0, 3.0)
    for chosen, least, steps in (
        ([0.3, 1.0], None, 1), ([3.0, 0.3], None, 0), ([0.1, 1.0], 0.1, 1), ([0.1, 3.0], 0.1, 0), ([0.1], 0.1, 3),
        ([0.1], 0.0, 0),
    ):  # fmt: skip
        assert steps_inside(chosen, grid, least).sample == [steps]
    assert steps_inside([1.0, 0.3, 1.0], [1.0, 3.0, 0.3, 0.1, 0.3], least=0.2).note.endswith("0.3 to 1 were chosen")
    assert steps_inside([1.0], (0.1, 0.3, 1.0, 3.0, 10.0)).sample == [2]
    for chosen, least, words, holds in (
        ([0.3, 1.0], None, "1 step from an end of its grid, 0.1 to 3, at the nearest: 0.3 to 1 were chosen", True),
        ([0.1], 0.1, "3 steps from the upper end of its grid, 0.1 to 3, at the nearest: 0.1 was chosen", True),
        ([0.3, 3.0], None, "0 steps from an end of its grid, 0.1 to 3, at the nearest: 0.3 to 3 were chosen", False),
    ):
        claim = ask.wide_enough(of(K=steps_inside(chosen, grid, least)))
        assert claim.check({})[:2] == (f"K {words}", holds)


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


@table(
    """
below(of(a=1, b=3, c=4), 2) | c 4.00 (worst of 3)
below(of(a=1, b=3, c=4), 2, needed=2) | b 3.00 (number 2 of 3)
above(of(a=Noted(1, "beside"))) | a 1.00
rising(of(a=1, b=3, c=2)) | b to c: -1.00 (worst of 2)
largest(of(a=1, b=2), "a") | -1.00
both(above(of(a=1)), below(of(b=3, c=4), 2)) | c 4.00 (worst of 2)
""",
    ("predicate", "short"),
)
def test_the_short_form_of_a_verdict_is_the_figure_that_decides(predicate, short):
    assert made(predicate)({}).short == short


def test_one_sample_against_another_is_a_difference_or_a_ratio_of_means_beside_both():
    ours, theirs = pd.Series([2.0, 6.0]), pd.Series([1.0, 4.0])
    assert against(ours, theirs).sample.tolist() == [1.0, 2.0]
    assert against(ours, theirs).note == "(4.00 against 2.50)"
    assert against(ours, theirs, over=True).sample.mean() == pytest.approx(4.0 / 2.5)


def test_an_end_belongs_to_a_range_unless_it_is_open_or_a_whole_interval_is_asked_for():
    at_the_end = of(x=[2.0, 2.0])
    assert holds(at_least(at_the_end, 2.0))
    assert not holds(at_least(at_the_end, 2.0, open=True))
    assert not holds(above(at_the_end, 2.0))
    assert not holds(ask.below(at_the_end, 2.0))
