"""What a trace tells of its servers, its round trip and its messages is used by every command, and said."""

import csv
import io
import json
import re

import pytest

import netsim
import traces
from experiments.cli import load_command
from experiments.cli.options import INPUT
from experiments.explore.answer import Explorer
from experiments.study.traffic import recorded
from experiments.world import made
from tests.tables import cases_of, each, near
from tests.traces.captures import Tcp, pcap, record

pytestmark = pytest.mark.usefixtures("undrawn")

SAID = "servers: as recorded, 0.5 s (median); round trip: as recorded, 100 ms"


@pytest.fixture
def told(tmp_path):
    """Write a workload that tells how long servers took, the round trip, and messages."""
    path = tmp_path / "told.jsonl"
    path.write_text(
        '{"page": "a", "request_bytes": 300, "reply_bytes": 5000, "objects": [[200, 700]], "think_s": 2.0,'
        ' "waits_s": [0.25, null]}\n'
        '{"page": "b", "request_bytes": 300, "reply_bytes": 900, "think_s": 4.0, "waits_s": [0.75]}\n'
        '{"message_bytes": 400, "at_s": 3.33}\n{"message_bytes": 400, "at_s": 5.01}\n{"round_trip_s": 0.1}\n'
    )
    return path


@pytest.fixture
def runs(told):
    """What the simulator says of this workload under PSM and without power saving."""
    [session] = recorded([told])
    world = session.world(made("today", {"radio": "thesis"}).config)
    return {policy: netsim.simulate(session.pages(), policy, config=world) for policy in ("none", "psm")}


def test_recorded_servers_and_round_trips_are_the_default_and_one_option_leaves_them_out(lpsm, told, runs):
    def latencies(*options):
        result = lpsm("simulate", told, *options)
        assert result.exit_code == 0, result.output
        assert ("recorded" in result.stderr) == (options == () or "recorded" in options)
        return [float(row["latency_s"]) for row in csv.DictReader(io.StringIO(result.stdout))]

    default, instant = latencies(), latencies("--server-delay", "0")
    assert latencies("--server-delay", "recorded", "--rtt", "recorded") == default
    assert latencies("--server-delay", "0", "--rtt", "0.03") == instant
    assert default[1] - instant[1] == near(0.75 + (0.1 - 0.03) * 3, abs=0.03)  # a connection, TLS, an exchange
    assert SAID in lpsm("simulate", told).stderr
    totals = json.loads(lpsm("simulate", told, "--policy", "psm", "--json").stdout)
    assert (totals["messages"], totals["recorded"]) == (2, {"server_times_s": 0.5, "round_trip_s": 0.1, "messages": 2})
    late = (runs["psm"].messages["delay_s"] - runs["none"].messages["delay_s"]).mean()
    assert totals["added_delay_mean_s"] == near(late)


@each("command", "compare population")
def test_what_was_recorded_is_used_and_said_in_the_output_and_in_the_manifest(lpsm, told, runs, tmp_path, command):
    words = [command, *(["--trace"] if command == "compare" else []), told, "--policies", "psm,bsd:1", "--jobs", "1"]
    result = lpsm(*words, "--json", "--radio", "thesis", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    text = "".join(path.read_text() for path in (tmp_path / "out").glob("*.txt"))
    for said in ("servers: as recorded, 0.", "round trip: as recorded, 100 ms", "messages pushed: 2", "added s"):
        assert said in text
    found = json.loads(result.stdout)
    traffic = found if command == "population" else found["traffic"]
    assert traffic["recorded"]["round_trip_s"] == near(0.1)
    assert traffic["recorded"]["server_times_s"] is not None
    row = next(row for row in found["summary"] if row["policy"] == "psm:102.4")
    late_s = (runs["psm"].messages["delay_s"] - runs["none"].messages["delay_s"]).mean()
    assert row["added_delay_s_mean" if command == "population" else "added_delay_mean_s"] == near(late_s)
    joules = row["total_j"] if command == "population" else 2 * row["total_j_per_page"]
    assert joules == near(runs["psm"].energy.total_j)


@cases_of("words", "'population --policies psm --jobs 1' ; 'timeline --policies psm --from 0'")
def test_for_how_long_traffic_was_captured_and_simulated_is_said(lpsm, tmp_path, words):
    (tmp_path / "captured.jsonl").write_text('{"message_bytes": 400, "at_s": 1.0}\n{"captured_s": 10.0}\n')
    result = lpsm(*words.split(), tmp_path / "captured.jsonl", "--out", tmp_path / "out.svg")
    assert result.exit_code == 0, result.output
    seconds = re.search(r"captured: (\S+) s; simulated without power saving: (\S+) s", result.stdout)
    assert [float(one) for one in seconds.groups()] == near([10.0, 10.0], rel=0.01)


def test_messages_alone_are_traffic_and_the_setting_keeps_their_delay(lpsm, tmp_path):
    files = []
    for number in range(4):
        files.append(tmp_path / f"push{number}.jsonl")
        made = [traces.Message(7.13 * place + 0.37 * number, 300) for place in range(1, 9)]
        files[-1].write_text("".join(traces.workload_line(message) for message in made))

    def tuned(files, *words):
        options = ["--policies", "none,psm,listen:10,dynamic", "--jobs", "1", "--json", "--out", tmp_path / "out"]
        return json.loads(lpsm("tune", *files, *options, *words).stdout)

    found = tuned(files, "--max-push-delay", "0.3")
    rows = {row["policy"]: row for row in found["candidates"]}
    assert rows["listen:10"]["added_delay_mean_s"] > 0.3
    assert found["recommendation"]["policy"] in ("psm:102.4", "dynamic:100")
    assert found["recommendation"]["added_delay_mean_s"] <= 0.3
    assert tuned(files, "--force")["recommendation"]["policy"] == "listen:10"


@each("name", "audit compare pages population replay simulate timeline tune")
def test_standard_input_is_written_as_a_hyphen_in_every_command_that_takes_traffic(lpsm, told, name):
    assert any(parameter.type is INPUT for parameter in load_command(name).params)
    if name == "simulate":
        found = [lpsm("simulate", path, "--policy", "psm", given=told.read_text()) for path in (told, "-")]
        assert (found[0].stdout, found[0].stderr) == (found[1].stdout, found[1].stderr)
        assert found[0].exit_code == 0


@cases_of("jumps", "0 ; 1")
def test_one_capture_has_one_answer_in_every_command(lpsm, tmp_path, jumps):
    frames = []
    for recording in range(1 + jumps):
        begin_s = 1.0 - 90_000.0 * recording  # a clock that is set back begins another recording
        flow = Tcp(begin_s, 0.05)
        for number in range(6 + 2 * recording):
            flow.up(begin_s + 1.0 + 7.3 * number, record(300))
            flow.down(begin_s + 1.4 + 7.3 * number, record(20_000 >> 4 * recording))
        frames += flow.frames
    capture, work = tmp_path / "c.pcap", tmp_path / "w.jsonl"
    capture.write_bytes(pcap([(at_s + 100_000.0, frame) for at_s, frame in frames]))
    result = lpsm("pages", capture, "--out", work)
    assert f"{1 + jumps} session" in result.stdout + result.stderr
    policies = ("dynamic:50", "lpsm3:1.2:400")

    def milliwatts(command, table, *options):
        out = tmp_path / f"{command}{len(options)}"
        result = lpsm(command, *options, "--policies", ",".join(policies), "--out", out, "--json")
        rows = {row["policy"]: row["mean_mw"] for row in json.loads(result.stdout)[table]}
        return [rows[policy] for policy in policies]

    simulated = [
        json.loads(lpsm("simulate", work, "--policy", policy, "--out", tmp_path / "p", "--json").stdout)["mean_mw"]
        for policy in policies
    ]
    explorer = Explorer.of_trace(capture, 2, policies=policies)
    explored = explorer.summary(explorer.work(explorer.defaults)).set_index("policy").loc[[*policies], "mean_mw"]
    assert milliwatts("compare", "summary", "--trace", capture) == near(simulated)
    assert milliwatts("compare", "summary", "--trace", work, "--seed", 0) == near(simulated)
    assert milliwatts("tune", "candidates", capture) == near(simulated)
    assert [*explored] == near(simulated)
