"""`lpsm audit`: figures and picture."""

import json

import pytest


def test_what_the_client_did_is_told_with_what_others_would_do(lpsm, capture, tmp_path):
    result = lpsm("audit", capture, "--json", "--policies", "none,psm", "--picture", tmp_path / "a.svg")
    assert result.exit_code == 0, result.stderr
    (client,) = json.loads(result.stdout)["clients"]
    assert client["hold_ms"] == pytest.approx(60, abs=0.01)
    assert client["nearest_policy"] == "dynamic:60"
    assert [row["policy"] for row in client["compared"]] == ["none", "psm:102.4", "dynamic:60"]
    assert client["compared"][0]["mean_mw"] > client["compared"][2]["mean_mw"] > client["compared"][1]["mean_mw"]
    assert (tmp_path / "a.svg").stat().st_size > 1000
    text = lpsm("audit", capture).stdout
    assert "hold time 60.0 ms" in text
    assert "dynamic:60 (nearest)" in text
