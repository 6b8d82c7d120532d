"""`lpsm audit`: figures, picture, and what it refuses."""

import json

import dpkt
import pytest

from tests.traces.test_audit import NULL, QOS_DATA, Air


@pytest.fixture
def capture(tmp_path):
    """Write a capture of a client that goes to sleep 60 ms after each answer."""
    air = Air()
    for number in range(1, 100):
        air.beacon(number)
    for start_us in range(1_000, 9_000_000, 2_000_000):
        air.add(start_us, NULL, up=True)
        air.add(start_us + 20_000, QOS_DATA, up=True, body=b"q" * 400)
        air.add(start_us + 50_000, QOS_DATA, up=False, body=b"r" * 900)
        air.add(start_us + 110_000, NULL, up=True, sleeps=True)
    path = tmp_path / "air.pcap"
    with path.open("wb") as file:
        writer = dpkt.pcap.Writer(file, linktype=127)
        for at_us, _, frame, _ in sorted(air.frames):
            writer.writepkt(frame, ts=1000 + at_us / 1e6)
    return path


def test_what_the_client_did_is_told_with_what_others_would_do(lpsm, capture, tmp_path):
    result = lpsm("audit", capture, "--json", "--policies", "none,psm", "--picture", tmp_path / "a.svg")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    (client,) = found["clients"]
    assert client["hold_ms"] == pytest.approx(60, abs=0.01)
    assert client["nearest_policy"] == "dynamic:60"
    assert [row["policy"] for row in client["compared"]] == ["none", "psm:102.4", "dynamic:60"]
    assert client["compared"][0]["mean_mw"] > client["compared"][2]["mean_mw"] > client["compared"][1]["mean_mw"]
    assert (tmp_path / "a.svg").stat().st_size > 1000
    text = lpsm("audit", capture, "--client", client["client"]).stdout
    assert "hold time 60.0 ms" in text
    assert "dynamic:60 (nearest)" in text


def test_other_captures_and_clients_are_refused(complaint, capture, tmp_path):
    assert "client must be one of those heard (02:00:00:00:00:02)" in complaint("audit", capture, "--client", "x")
    with (tmp_path / "ip.pcap").open("wb") as file:
        dpkt.pcap.Writer(file, linktype=1).writepkt(bytes(60), ts=1.0)
    assert "must be of 802.11 frames, taken in monitor mode" in complaint("audit", tmp_path / "ip.pcap")
    (tmp_path / "empty").write_bytes(b"")
    assert "empty: a trace must not be empty" in complaint("audit", tmp_path / "empty")
    (tmp_path / "t.csv").write_text("time,bytes\n0.5,2000\n")
    assert "a monitor-mode capture (pcap or pcapng) is needed here, got a trace, csv" in complaint(
        "audit", tmp_path / "t.csv"
    )
    same = capture.rename(tmp_path / "air.svg")
    assert "an output must be a file of its own" in complaint("audit", same, "--picture", same)
    capture = same
    assert "must end in .svg or .png" in complaint("audit", capture, "--picture", "a.txt")
