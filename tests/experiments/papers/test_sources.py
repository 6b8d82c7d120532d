"""Where records come from: the paper's own data where they are there, and runs that several figures are drawn from."""

import io
import tarfile

import netsim
import traces
from experiments.papers import archive
from experiments.papers.kit import Experiment, Setup
from experiments.papers.predicates import at_least
from experiments.papers.registry import all_experiments
from experiments.papers.thesis import replayed
from lpsm.randomness import WORKLOAD, generator
from tests.traces.home_ip import pack, records

ALL = all_experiments()


def test_who_has_the_archive_of_boston_university_replays_its_longest_sessions_with_few_rates(tmp_path, monkeypatch):
    folder = tmp_path / "bu-www-client"
    folder.mkdir()
    with tarfile.open(folder / "condensed.tar.xz", "w:xz") as archive:
        for user in range(1, 22):  # user k has k requests
            lines = [f'cs18 {785551445 + second} 0 "http://a/{second}" 1000 0.1' for second in range(user)]
            content = "".join(f"{line}\n" for line in lines).encode()
            member = tarfile.TarInfo(f"condensed/272/Nov94/con{user}.cs18.785551445")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    experiment = ALL["thesis/constant-m"]
    setup = experiment.setup(Setup(data=tmp_path))
    assert {len(replayed.requests_of(task)) for task in experiment.sweep(setup).values()} == set(range(2, 22))
    parts = ALL["thesis/fig-2-9"].sweep(setup)  # the three of the sample are drawn; losses are of all of the archive
    assert [task.get("session") for task in parts.values()] == [*replayed.SESSIONS, *[None] * replayed.PARTS]
    monkeypatch.setattr(replayed, "LEAST_REQUESTS", 3)
    found = [row for task in parts.values() if "part" in task for row in replayed.replay(**task)["sessions"]]
    assert len(found) == 19
    assert sorted(row["bytes"] for row in found) == [1000 * user for user in range(3, 22)]


def test_who_has_the_traces_of_the_thesis_replays_their_clients_before_those_that_stand_in(tmp_path):
    for folder in ("bu-www-client/sample", "ucb-home-ip"):
        (tmp_path / folder).mkdir(parents=True)
    experiment = ALL["thesis/fig-2-9"]
    assert experiment.setup(Setup(data=tmp_path)).material == "bu-www-client"  # a folder without traces is not one
    (tmp_path / "ucb-home-ip" / "UCB-home-IP-848278026-848292426.tr").write_bytes(pack(records(8, clients=3)))
    setup = experiment.setup(Setup(data=tmp_path))
    assert experiment.data.told(setup.material) == "UC Berkeley Home IP"
    tasks = list(experiment.sweep(setup).values())
    assert [len(replayed.requests_of(task)) for task in tasks if "busiest" in task] == [3, 3, 2]
    assert sum("part" in task for task in tasks) == replayed.PARTS


def test_the_thesis_browses_the_web_of_1996_whatever_the_commands_take_by_default():
    experiment = ALL["thesis/fig-2-6"]
    tasks = experiment.sweep(Setup(size="smoke"))
    ran = experiment.run(tasks["100 pages seed 0 none"])
    pages = traces.generate(20, generator(0, WORKLOAD), web="1996")
    world = netsim.SimulationConfig(
        tcp=netsim.TcpConfig(mss_bytes=536, nagle=True), connections="per-object",
        server_delay=netsim.ServerDelay(mean_s=0.5)
    )  # fmt: skip
    result = netsim.simulate(pages, "none", config=world, seed=0)
    assert [row["latency_s"] for row in ran["pages"]] == list(result.page_columns["latency_s"])


def rows(seed):
    """A task of its own: one row."""
    return [{"x": seed + 0.5}]


def test_a_figure_of_the_runs_of_another_takes_them_and_its_record_is_what_it_would_have_made(tmp_path, monkeypatch):
    first = Experiment("paper/first", "a line", "1 s")
    first.runs(lambda setup: {"only": {"seed": setup.seed}})(rows)
    second = first.view("paper/second", "a line", "1 s")
    for experiment, statement in ((first, "first"), (second, "second")):
        experiment.claim(statement, at_least, limit=0.0)(lambda rows: rows["x"])
    monkeypatch.setattr(archive, "all_experiments", lambda: {one.name: one for one in (first, second)})
    alone = archive.reproduce(second, Setup(), tmp_path / "alone")
    archive.reproduce(first, Setup(), tmp_path / "both")
    assert archive.reproduce(second, Setup(seed=1), tmp_path / "both").computed  # of another seed
    with monkeypatch.context() as patch:
        patch.setattr(archive, "run", None)
        shared = archive.reproduce(second, Setup(), tmp_path / "both", force=True)
    assert (alone.computed, shared.computed) == (True, False)
    assert shared.claims["statement"].tolist() == ["second"]
    files = [path for path in (tmp_path / "alone").rglob("*") if path.is_file()]
    assert {path.name for path in files} == {"SHA256SUMS", "claims.csv", "manifest.json", "rows.parquet"}
    for path in files:
        assert path.read_bytes() == (tmp_path / "both" / path.relative_to(tmp_path / "alone")).read_bytes(), path
