"""Claims in words: a run of fewer pages than a claim speaks of does not refute it, and what is counted apart."""

from experiments.report.results import details_markdown, results_markdown, results_text
from tests.tables import cases_of

COMMON = {"printed": "6.6 %", "ours": "1 %", "tolerance": "", "why_not": "a is 1 (1, 2, 3)", "cause": "data: as it is"}


def result_of(*claims, size="full"):
    claims = [{"statement": f"{name} saves", "holds": False, **COMMON, **more} for name, more in claims]
    made = {"size": size, "seed": 0, "runs": 2, "data": "bu, for UCB"}
    return {"experiment": "thesis/x", "about": "a figure", "claims": claims, **made}


@cases_of("size verdict", "'smoke', 'too small to tell' ; 'full', 'fails'")
def test_only_a_run_of_full_size_says_that_a_claim_fails(size, verdict):
    result = result_of(("A", {}), ("B", {"holds": True}), size=size)
    lines = results_text(result, computed=True).splitlines()
    assert [line for line in lines if "saves" in line] == [f"  [{verdict}] A saves", "  [holds] B saves"]
    page = results_markdown([result], {"thesis": "Monteleoni 2006"})
    assert f"|bu, for UCB|A saves|6.6 %|1 %|{verdict}{' (data)' if size == 'full' else ''}|" in page
    assert f"1 hold, {'1 fail' if size == 'full' else f'0 fail, 1 are {verdict}'};" in page
    assert "*A saves*" in details_markdown([result], "thesis", "Monteleoni 2006")


def test_levels_theorems_and_what_is_printed_nowhere_are_counted_apart_and_so_is_what_is_too_noisy():
    claims = [("A", {}), ("B", {"noisy": True}), ("C", {"kind": "level"}), ("D", {"kind": "own", "holds": True}),
              ("E", {"tolerance": "not a test: a theorem"})]  # fmt: skip
    result = result_of(*claims)
    page = results_markdown([result], {"thesis": "Monteleoni 2006"}, {"data": "other data"}, ["thesis/y"])
    assert "Without a record, and so without a verdict here: thesis/y." in page
    assert "|Monteleoni 2006|0 / 1 / 1|0 / 1 / 0||1 / 0 / 0|1|" in page
    assert "4 of 4 claims are judged on other data than the paper's" in page
    assert "|B saves|6.6 %|1 %|too noisy to tell|" in page
    details = details_markdown([result], "thesis", "Monteleoni 2006")
    assert "*A saves* (): a is 1 (1, 2, 3); data: as it is." in details
    assert "*B saves* too noisy to tell (): a is 1 (1, 2, 3)." in details
