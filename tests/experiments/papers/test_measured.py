"""The papers' comparisons on real data; long, and skipped where the data are absent."""

import pytest

from bench.label import pairing_rows, reuters_rows
from tests.real_data import DATA


@pytest.fixture(autouse=True)
def _data(monkeypatch):
    if not DATA.is_dir():
        pytest.skip("no real data here: set LPSM_DATA")
    monkeypatch.setenv("LPSM_DATA", str(DATA))


@pytest.mark.long
@pytest.mark.parametrize("all_documents", [False, True])
def test_on_news_in_time_order_ssmd_is_within_two_hundredths_of_sop_with_less_than_a_tenth_of_the_labels(all_documents):
    cases = [("sop", {"a": 1.0}), ("ssmd", {"a": 1.0, "K": 0.01})]
    sop, ssmd = reuters_rows(all_documents=all_documents, cases=cases)
    assert sop["rate"] == 1.0
    assert ssmd["f"] > sop["f"] - 0.02
    assert ssmd["rate"] < 0.1


@pytest.mark.long
def test_on_usps_perceptron_updates_and_asking_by_margin_need_fewer_labels_than_modified_updates_and_chance():
    rows = {row["sampler"]: row for row in pairing_rows(2, names=("USPS 0vAll",))}
    assert len(rows) == 6
    for rule in ("dkm", "cbgz", "random"):
        perceptron = {"dkm": "dkm-perceptron", "cbgz": "perceptron-ss", "random": "random-perceptron"}[rule]
        modified = {"dkm": "dkm", "cbgz": "cbgz-dkm", "random": "random-dkm"}[rule]
        assert rows[perceptron]["labels"] < rows[modified]["labels"]
    for active in ("dkm-perceptron", "perceptron-ss"):
        assert rows[active]["labels"] < rows["random-perceptron"]["labels"]
        assert rows[active]["never"] == 0
