"""Claims in words: what a run of fewer pages than a claim speaks of is not said to refute."""

from experiments.report.results import details_markdown, results_markdown, results_text
from tests.tables import cases_of


@cases_of("size verdict", "'smoke', 'too small to tell' ; 'full', 'fails'")
def test_only_a_run_of_full_size_says_that_a_claim_fails(size, verdict):
    common = {"printed": "6.6 %", "ours": "1 %", "tolerance": "", "why_not": ""}
    claims = [{"statement": "A saves", "holds": False, **common}, {"statement": "B saves", "holds": True, **common}]
    result = {"experiment": "thesis/x", "about": "a figure", "size": size, "seed": 0, "runs": 2, "claims": claims}
    lines = results_text(result, computed=True).splitlines()
    assert [line for line in lines if "saves" in line] == [f"  [{verdict}] A saves", "  [holds] B saves"]
    page = results_markdown([result], {"thesis": "Monteleoni 2006"})
    assert f"|A saves|6.6 %|1 %|{verdict}|" in page
    assert f"1 hold and {'1 fail' if size == 'full' else '0 fail; 1 are too small to tell'}." in page
    assert "*A saves* (): " in details_markdown([result], "thesis", "Monteleoni 2006")
