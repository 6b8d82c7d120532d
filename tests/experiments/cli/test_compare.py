import inspect
import json

import pandas as pd
import pytest

import experiments
import netsim
import traces
from experiments.cli.compare import compare as command
from experiments.explore.answer import Explorer
from experiments.presets import COMPARED
from experiments.study.traffic import recorded
from experiments.world import made
from lpsm.randomness import WORKLOAD, generator
from tests.experiments.makers import WORK
from tests.tables import near, words

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture
def compare(lpsm, tmp_path):
    """Compare policies and return the object of --json, after the words."""

    def run(*words, name="out"):
        result = lpsm("compare", "--jobs", "1", "--json", "--out", tmp_path / name, *words)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return run


def test_sessions_of_a_trace_are_replications_and_members_can_be_chosen(compare, workload, tmp_path):
    folder = tmp_path / "sessions"
    folder.mkdir()
    for user in (1, 2, 3):
        lines = [f'cs20 {790000000 + 30 * number} {1000 * user} "http://a.b/{number}.html" {2000 * user} 0.5\n'
            for number in range(user + 1)]  # fmt: skip
        (folder / f"con{user}.cs20.790000000").write_text("".join(lines))
    whole = compare("--trace", folder, "--policies", "psm", name="all")
    assert whole["replications"] == 3
    assert {row["pages"] for row in whole["summary"]} == {2 + 3 + 4}
    two = compare("--trace", folder, "--policies", "psm", "--member", "con[12].*", name="two")
    assert two["replications"] == 2
    (folder / "con1.cs20.790000000").write_text('cs20 790000000 0 "http://a.b/0.html" 99 0.5\n')
    again = compare("--trace", folder, "--policies", "psm", "--member", "con[12].*", "--force", name="two")
    assert again["traffic"]["sha256"] != two["traffic"]["sha256"]
    of_workload = compare("--trace", workload, "--policies", "psm")
    assert (of_workload["replications"], of_workload["summary"][0]["pages"]) == (1, 3)


@pytest.mark.long
def test_cells_of_several_sizes_are_those_of_comparisons_one_by_one(compare, tmp_path):
    cells = ("--air", "11g:54", "--preset", "thesis", "--pages", "2", "--seeds", "2", "--policies", "psm,twt:200:10")
    found = compare(*cells, "--clients", "1,3")
    assert found["policies"] == ["none", "psm:100", "twt:200:10"]
    rows = {(row["clients"], row["policy"]): row for row in found["summary"]}
    assert len(rows) == 2 * (3 + 2)
    assert rows[1, "psm:100"]["slowdown_mean"] != rows[3, "psm:100"]["slowdown_mean"]
    for count in ("1", "3"):  # the same figures as of this number alone
        for row in compare(*cells, "--clients", count, name=count)["summary"]:
            assert {**rows[int(count), row["policy"]], **row} == rows[int(count), row["policy"]]
    words = "3 clients behind one access point; figures are means over them."
    assert words in (tmp_path / "3/comparison.txt").read_text()
    assert "clients 3: Which to take" in (tmp_path / "out" / "comparison.txt").read_text()
    assert {"cell.png", "cell.svg"} <= {path.name for path in (tmp_path / "out").iterdir()}


def test_drawn_pages_written_to_a_file_are_browsed_in_the_same_world_by_every_command(compare, lpsm, tmp_path):
    words = "--policies", "psm,bsd:0.5"
    work, drawn = tmp_path / "w.jsonl", compare("--web", "1996", "--pages", "4", "--seeds", "1", *words, name="1")
    lpsm("generate", "--web", "1996", "--pages", "4", "--seed", "0", "--out", work)
    written = compare("--trace", work, *words, name="2")
    for one, other in zip(drawn["summary"], written["summary"], strict=True):
        assert other["total_j_per_page"] == near(one["total_j_per_page"], rel=1e-3)  # issues are rounded
        assert (other["slowdown_mean"] or 1) == near(one["slowdown_mean"] or 1, rel=1e-3)
    said = "servers: the traffic does not tell, they take lognormal:0.2 as for generated pages"
    assert said in (tmp_path / "2/comparison.txt").read_text()
    assert said in lpsm("timeline", work, "--out", tmp_path / "t.png").stdout
    alone = lpsm("simulate", work, "--policy", "bsd:0.5", "--json")
    row = next(row for row in drawn["summary"] if row["policy"] == "bsd:0.5")
    assert json.loads(alone.stdout)["energy_j_per_page"] == near(row["total_j_per_page"], rel=1e-3)
    of_users = lpsm("population", work, "--policies", "psm", "--out", tmp_path / "3", "--jobs", "1")
    assert said in of_users.stdout
    assert not Explorer(recorded([work])).tells_waits


def test_beside_a_policy_stands_what_clients_need_that_know_when_frames_come(compare, tmp_path):
    (page := tmp_path / "page.jsonl").write_text(WORK.splitlines()[1])
    found = compare("--trace", page, "--preset", "thesis", "--policies", "psm,poll", "--clairvoyant")
    rows = pd.DataFrame(found["summary"]).set_index("policy")
    names = words("sleep_j_per_page polling_clairvoyant_j_per_page total_j_per_page clairvoyant_j_per_page")
    sleep_j, polls_j, poll_j, beacons_j = rows.loc["poll:25.6", names]
    assert sleep_j < polls_j < poll_j < beacons_j
    sleep_j, polls_j, psm_j, beacons_j = rows.loc["psm:100", names]
    assert sleep_j < polls_j < beacons_j < psm_j
    assert "above clairvoyant  if it polls" in (tmp_path / "out" / "comparison.txt").read_text()


def test_what_is_compared_where_nothing_is_said_is_what_python_compares():
    option = next(one for one in command.params if one.name == "policies")
    assert option.type_cast_value(None, option.default) == list(COMPARED)
    assert inspect.signature(experiments.compare).parameters["policies"].default is COMPARED


def test_a_baseline_is_compared_too_and_what_differs_from_it_is_what_python_pairs(compare, tmp_path):
    said = compare("--pages", "3", "--seeds", "3", "--policies", "psm", "--baseline", "bsd:0.5")
    found = experiments.compare(["psm", "bsd:0.5"], 3, seeds=3, jobs=1).against("bsd:0.5")
    written = pd.read_csv(tmp_path / "out" / "against.csv")
    pd.testing.assert_frame_equal(written, found, check_dtype=False, rtol=1e-12)
    assert [row["policy"] for row in said["against"]] == ["none", "psm:102.4"]
    assert "Paired differences from bsd:0.5, ± 95 %" in (tmp_path / "out" / "comparison.txt").read_text()


def test_worlds_that_are_swept_are_those_of_single_comparisons_and_stand_below_each_other(compare, tmp_path):
    of = ("--pages", "2", "--seeds", "2", "--policies", "psm", "--baseline", "none")
    swept = ("--sweep", "server_delay=0,lognormal:0.3", "--sweep", "clients=1,2")
    rows = compare(*of, *swept)["summary"]
    for delay, clients in (("0", 2), ("lognormal:0.3", 1)):
        alone = compare(*of, "--server-delay", delay, "--clients", str(clients), "--force", name="alone")["summary"]
        own = [row for row in rows if (str(row["server_delay"]), row["clients"]) == (delay, clients)]
        values = {"server_delay": own[0]["server_delay"], "clients": clients}
        assert own == [row | values for row in alone]
    against = pd.read_csv(tmp_path / "out" / "against.csv")
    assert against[["server_delay", "clients", "policy"]].to_numpy().tolist() == [
        [delay, clients, "psm:102.4"] for clients in (1, 2) for delay in ("0", "lognormal:0.3")]  # fmt: skip
    lines = (tmp_path / "out" / "comparison.txt").read_text().splitlines()
    heads = [line.split()[:3] for line in lines if line.startswith("policy")]
    assert heads == [["policy", "server_delay", "clients"], ["policy", "clients", "server_delay"]]
    assert {"sweep.png", "sweep.svg"} <= {path.name for path in (tmp_path / "out").iterdir()}


def test_a_baseline_has_the_name_of_the_beacons_of_its_world(compare):
    found = compare("--pages", "2", "--seeds", "2", "--policies", "bsd:1", "--baseline", "psm", "--beacon-ms", "102.4")
    assert [row["policy"] for row in found["against"]] == ["none", "bsd:1"]
    assert "psm:102.4" in {row["policy"] for row in found["summary"]}


def test_pages_of_2025_tell_how_long_their_servers_take(compare, lpsm, tmp_path):
    found = compare("--web", "2025", "--pages", "2", "--seeds", "2", "--policies", "psm")
    assert found["traffic"]["web"] == "2025"
    assert found["model"]["server_delay"]["kind"] == "recorded"
    pages = traces.generate(2, generator(0, WORKLOAD, 0), web="2025")
    table = pd.read_csv(tmp_path / "out" / "pages.csv")
    alone = netsim.simulate(pages, "psm", config=made("today").config, seed=0)
    own = table[(table.policy == "psm:102.4") & (table.replication == "seed-0")]
    assert own.latency_s.to_numpy() == near(alone.latency_s, abs=1e-9)
    assert "must be left out" in lpsm("generate", "--web", "2025", "--hours", "1").stderr
