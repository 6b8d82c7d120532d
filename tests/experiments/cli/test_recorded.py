"""What a trace tells of its servers, its round trip and its messages is used by every command, and said."""

import json
import time
from dataclasses import replace

import click
import numpy as np
import pytest

import netsim
import traces
from experiments.cli import main
from experiments.cli.options import INPUT
from experiments.study import traffic
from experiments.study.sweep import Recorded
from experiments.study.traffic import recorded, units


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


def test_recorded_servers_and_round_trips_are_the_default_and_one_option_leaves_them_out(lpsm, told):
    def latencies(*options):
        result = lpsm("simulate", told, *options)
        assert result.exit_code == 0, result.output
        return [float(line.split(",")[3]) for line in result.stdout.splitlines()[1:]]

    default, instant = latencies(), latencies("--server-delay", "0")
    assert latencies("--server-delay", "recorded", "--rtt", "recorded") == default
    assert latencies("--server-delay", "0", "--rtt", "0.0402") == instant
    assert latencies("--rtt", "0.1") == pytest.approx(default)
    assert default[1] - instant[1] == pytest.approx(0.75 + (0.1 - 0.0402) * 2, abs=0.03)  # a connection, an exchange


@pytest.mark.parametrize("command", ["compare", "tune"])
def test_what_was_recorded_is_said_in_the_output_and_in_the_manifest(lpsm, told, tmp_path, command):
    files = ["--trace", told] if command == "compare" else [told, told]
    words = [command, *files, "--policies", "psm,bsd:1", "--jobs", "1", "--out", tmp_path / "out"]
    result = lpsm(*words)
    assert result.exit_code == 0, result.output
    assert "servers: as recorded, 0." in result.stdout
    assert "round trip: as recorded, 100 ms" in result.stdout
    assert "messages are pushed" in result.stdout
    assert "added s" in result.stdout
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    said = manifest["configuration"]["traffic"]["recorded"]
    assert said["round_trip_s"] == pytest.approx(0.1)
    assert said["server_times_s"] is not None
    other = lpsm(*words[:-1], tmp_path / "instant", "--server-delay", "0")
    assert "as recorded" not in other.stdout


def test_a_trace_that_tells_nothing_of_its_servers_is_said_to(lpsm, workload, tmp_path):
    result = lpsm("compare", "--trace", workload, "--policies", "psm", "--jobs", "1", "--out", tmp_path / "out")
    assert "servers answer at once: the trace does not tell" in result.stdout


def test_waits_that_are_not_known_are_drawn_from_those_of_the_same_trace(told):
    [session] = recorded([told], seed=3)
    waits = [page.waits_s for page in session.pages()]
    assert waits[0][0] == 0.25
    assert waits[0][1] in (0.25, 0.75)
    assert waits[1] == (0.75,)
    again = recorded([told], seed=3)
    assert again[0].pages() == session.pages()
    assert session.round_trip_s == pytest.approx(0.1)


def test_unknown_waits_of_many_pages_are_drawn_in_time_that_grows_with_their_number(tmp_path):
    path = tmp_path / "many.jsonl"
    with path.open("w") as file:
        for number in range(20_000):
            waits = "0.25, null" if number % 2 else "0.5, 0.75"
            page = f'"page": "p{number}", "request_bytes": 300, "reply_bytes": 500, "objects": [[200, 700]]'
            file.write(f'{{{page}, "think_s": 1.0, "waits_s": [{waits}]}}\n')
    [session] = recorded([path])
    began = time.process_time()
    drawn = traffic._known([replace(session, recorded=tuple(traces.read_workload(path)))], None, 0)
    assert time.process_time() - began < 1.5  # 6.3 s when every draw went through all that is known
    assert {wait for page in drawn[0].recorded for wait in page.waits_s} == {0.25, 0.5, 0.75}


def test_a_session_with_messages_is_cut_where_its_pages_begin_and_each_visit_keeps_its_messages_in_place():
    pages = tuple(traces.Page(name, 300, 5000, (), 1.0, at) for name, at in (("a", 2.0), ("b", 10.0), ("c", 40.0)))
    messages = tuple(traces.Message(at, 100 + number) for number, at in enumerate((1.0, 9.5, 12.0, 41.0)))
    session = Recorded(name="phone", seed=5, recorded=traces.Workload.of(pages, messages))
    cut = units([session], few=4, seed=1, beacon_interval_ns=100_000_000, visits=50)
    assert (cut.called, cut.visits) == ("pages", 50)
    assert [unit.name for unit in cut.workloads] == ["phone page 1", "phone page 2", "phone page 3"]
    wanted = [(2.0, [1.0, 9.5], 10.0), (0.0, [2.0], 30.0), (0.0, [1.0], 20.0)]
    for unit, (issued, sent, lasts) in zip(cut.workloads, wanted, strict=True):
        work = unit.pages()
        begun = work.issue_s - issued
        assert len(work) == 50
        steps = np.diff(begun)
        assert ((steps >= lasts - 1e-5) & (steps <= lasts + 0.1)).all()
        assert np.histogram(begun % 0.1, 4, (0, 0.1))[0].min() >= 5
        at = np.array([message.at_s for message in work.messages]).reshape(50, len(sent))
        assert at - begun[:, None] == pytest.approx(np.tile(sent, (50, 1)), abs=1e-5)
    paused = units([session], few=4, seed=1, beacon_interval_ns=100_000_000, visits=3, think_s=30.0)
    assert np.diff(paused.workloads[0].pages().issue_s) == pytest.approx(39.5, abs=0.11)
    with pytest.raises(ValueError, match="think is for pages, but messages were pushed"):
        units([session] * 4, few=4, seed=1, beacon_interval_ns=100_000_000, think_s=30.0)


@pytest.mark.parametrize(("count", "parts"), [(2, 2), (20, 20), (90, 18)])
def test_messages_alone_are_cut_into_parts_of_as_many_messages(count, parts):
    messages = tuple(traces.Message(7.0 * number, 300) for number in range(count))
    session = Recorded(name="push", seed=0, recorded=traces.Workload.of([], messages))
    cut = units([session], few=4, seed=0, beacon_interval_ns=100_000_000)
    assert (cut.called, len(cut.workloads)) == ("parts", parts)
    assert sum(len(unit.recorded.messages) for unit in cut.workloads) == 10 * count
    assert len({len(unit.recorded.messages) for unit in cut.workloads}) == 1


def test_messages_are_delayed_by_power_saving_as_the_simulator_says(lpsm, told, tmp_path):
    words = ["compare", "--trace", told, "--policies", "psm,bsd:1", "--jobs", "1", "--json", "--out", tmp_path / "out"]
    summary = {row["policy"]: row for row in json.loads(lpsm(*words).stdout)["summary"]}
    assert summary["none"]["added_delay_mean_s"] == 0.0
    totals = json.loads(lpsm("simulate", told, "--policy", "psm", "--json").stdout)
    [session] = recorded([told])
    world = session.world(netsim.SimulationConfig())
    psm, base = (
        netsim.simulate(session.pages(), policy, config=world).messages["delay_s"] for policy in ("psm", "none")
    )
    assert summary["psm:100"]["added_delay_mean_s"] == pytest.approx((psm - base).mean())
    assert totals["messages"] == 2
    assert totals["recorded"] == {"server_times_s": 0.5, "round_trip_s": 0.1}
    assert "servers: as recorded, 0.5 s (median); round trip: as recorded, 100 ms." in lpsm("simulate", told).stderr
    assert "recorded" not in lpsm("simulate", told, "--server-delay", "0").stderr
    assert 0.0 < totals["added_delay_mean_s"] < 0.2


def test_messages_alone_are_traffic_and_the_setting_keeps_their_delay(lpsm, tmp_path):
    files = []
    for number in range(4):
        files.append(tmp_path / f"push{number}.jsonl")
        made = [traces.Message(7.13 * place + 0.37 * number, 300) for place in range(1, 9)]
        files[-1].write_text("".join(traces.workload_line(message) for message in made))
    words = ["tune", *files, "--policies", "none,psm,listen:10,dynamic", "--jobs", "1", "--json"]
    found = json.loads(lpsm(*words, "--max-push-delay", "0.3", "--out", tmp_path / "a").stdout)
    rows = {row["policy"]: row for row in found["candidates"]}
    assert rows["listen:10"]["added_delay_mean_s"] > 0.3
    assert found["recommendation"]["policy"] in ("psm:100", "dynamic:100")
    assert found["recommendation"]["added_delay_mean_s"] <= 0.3
    anything = json.loads(lpsm(*words, "--out", tmp_path / "b").stdout)
    assert anything["recommendation"]["policy"] == "listen:10"
    alone = json.loads(
        lpsm(*words[:1], files[0], *words[5:], "--max-push-delay", "0.3", "--out", tmp_path / "c").stdout
    )
    assert alone["recommendation"]["policy"] in ("psm:100", "dynamic:100")  # one session is cut where messages come
    assert "8 parts" in alone["sentence"] or "4 parts" in alone["sentence"]


def test_a_population_is_told_its_round_trip_and_how_much_later_messages_come(lpsm, told, tmp_path):
    words = ["population", told, "--policies", "psm", "--radio", "thesis", "--jobs", "1"]
    found = json.loads(lpsm(*words, "--json", "--out", tmp_path / "a").stdout)
    assert found["recorded"] == {"server_times_s": 0.5, "round_trip_s": 0.1, "messages": 2}
    [session] = recorded([told])
    browsing = traces.read_workload(told)
    runs = {
        policy: netsim.simulate(browsing, policy, config=session.world(netsim.SimulationConfig()))
        for policy in ("none", "psm")
    }
    late_s = (runs["psm"].messages["delay_s"] - runs["none"].messages["delay_s"]).mean()
    psm = next(row for row in found["summary"] if row["policy"] == "psm:100")
    assert psm["added_delay_s_mean"] == pytest.approx(late_s)
    assert psm["total_j"] == pytest.approx(runs["psm"].energy.total_j)
    text = (tmp_path / "a" / "population.txt").read_text()
    assert "servers: as recorded, 0.5 s (median); round trip: as recorded, 100 ms; 2 messages are pushed." in text
    assert "added s" in text
    instant = lpsm(*words, "--server-delay", "0", "--json", "--out", tmp_path / "b")
    assert json.loads(instant.stdout)["recorded"]["round_trip_s"] is None


def test_standard_input_is_written_as_a_hyphen_in_every_command_that_takes_traffic(lpsm, complaint, told, tmp_path):
    for name in ("audit", "compare", "pages", "population", "replay", "simulate", "timeline", "tune"):
        command = main.get_command(click.Context(main), name)
        assert command is not None
        assert any(parameter.type is INPUT for parameter in command.params), name
    of_file = lpsm("simulate", told, "--policy", "psm")
    of_input = lpsm("simulate", "-", "--policy", "psm", given=told.read_text())
    assert of_input.exit_code == 0, of_input.output
    assert (of_input.stdout, of_input.stderr) == (of_file.stdout, of_file.stderr)
    message = complaint("tune", "-", "-", "--policies", "psm", "--out", tmp_path / "twice")
    assert "- is standard input, which can be read once" in message
