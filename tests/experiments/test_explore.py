import json
import random
import shlex
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace
from urllib.parse import quote

import pandas as pd
import pytest

import netsim
from experiments.comparison import FEW_SESSIONS
from experiments.explore import answer as computing
from experiments.explore import app
from experiments.explore.answer import Explorer
from experiments.explore.app import Page
from experiments.explore.settings import Settings
from experiments.study import sweep
from netsim.policies import OwnPolicy
from tests.experiments.makers import OWN_POLICIES, PROGRAM
from tests.tables import each, near, value_error

SMALL = {"pages": "5", "seeds": "2", "server": "constant", "policies": "psm,bsd:1,hold:50"}
OTHER = {"pages": "7", "seeds": "3", "server": "exponential", "server_s": "0.35", "rtt_ms": "100", "radio": "cc3235sf",
    "beacon_ms": "102.4", "dtim_period": "3", "max_slowdown": "1.5", "max_late_s": "2.5", "battery_mwh": "500",
    "policies": "listen:3,lpsm:log"}  # fmt: skip
EVIL = ("subprocess:Popen:./evil.sh", "evil.py:Evil", "evil:Evil", "logging:FileHandler:made", "evil.so")


def test_a_link_carries_every_setting():
    assert set(OTHER) == set(Settings.__slots__)
    found = Settings().changed(OTHER)
    said = {name: getattr(found, name) for name in OTHER}
    assert {name: ",".join(one) if isinstance(one, tuple) else f"{one:g}" if isinstance(one, float) else str(one)
        for name, one in said.items()} == OTHER  # fmt: skip
    assert Settings().changed({}) == Settings().changed({"unknown": "1"}) == Settings()


NONSENSE = """
pages=0 -> pages must lie in
server=slow -> server must be one of
rtt_ms=x -> rtt_ms must be a number, got 'x'
policies=nonsense -> a policy must be one of
radio=valve -> must be one of
radio=mine.toml -> must be one of
policies=psm:150 -> multiple
server_s=nan -> server_s must lie in
dtim_period=0 -> dtim_period must lie in
max_slowdown=0.5 -> max_slowdown must lie in
battery_mwh=-1 -> battery_mwh must lie in
policies= -> 1 to 12 polici
pages=1e3 -> must be a number
"""


def test_a_link_that_says_nonsense_is_answered_with_the_rule():
    rows = [row.split(" -> ") for row in NONSENSE.strip().splitlines()]
    rows += [(f"policies={name}", "a policy must be one of none, psm") for name in EVIL]
    explorer = Explorer()
    for query, rule in [*rows, (f"radio={'x' * 201}", "must have at most 200 characters, got 201")]:
        name, _, value = query.partition("=")
        with value_error(rule):
            explorer.settings({name: value})


def summary(explorer, query):
    return explorer.summary(explorer.work(explorer.settings(query)))


def test_only_what_a_change_needs_is_computed_again():
    explorer = Explorer()
    first = summary(explorer, SMALL)
    assert list(first["policy"]) == ["none", "psm:102.4", "bsd:1", "hold:50", "limit", "page-awake"]
    runs = explorer._run.cache_info().misses
    for name, value in (("max_slowdown", "2"), ("max_late_s", "0"), ("battery_mwh", "100")):  # no run
        again = summary(explorer, SMALL | {name: value})
        assert again.drop(columns="battery_h").equals(first.drop(columns="battery_h"))
    assert again["battery_h"].tolist() == near((first["battery_h"] / 100).tolist())
    assert explorer._run.cache_info().misses == runs
    summary(explorer, SMALL | {"policies": SMALL["policies"] + ",listen:2"})
    assert explorer._run.cache_info().misses == runs + 2  # one more policy on two seeds


def test_a_radio_of_the_same_times_is_charged_as_if_it_had_been_simulated():
    explorer, reckoning = Explorer(), "lpsm3:1.2"  # which prices its sleep, and decides otherwise with another radio
    asked = SMALL | {"policies": f"psm,bsd:1,hold:50,{reckoning}"}
    summary(explorer, asked | {"radio": "esp32-c6"})
    for radio, more in (("esp32-c5", 2), ("esp32-s3", 2), ("cc3235sf", 10), ("thesis", 10), ("esp32-c6", 0)):
        runs = explorer._run.cache_info().misses
        work = explorer.work(explorer.settings(asked | {"radio": radio}))
        found = [explorer.play(task) for task in work.tasks.values()]
        assert explorer._run.cache_info().misses == runs + more, radio  # two seeds of one policy, or of five
        assert [row["run"] for row in found] == [sweep.simulate(task)["run"] for task in work.tasks.values()]


VISITS = "".join(f"{40 * visit}.0,{3000 + 500 * visit}\n{40 * visit}.3,{20000 - 900 * visit}\n" for visit in range(4))
PUSHED = (
    '{"page": "a", "issue_s": 1.0, "request_bytes": 300, "reply_bytes": 9000, "waits_s": [0.4], "think_s": 5.0}\n'
    '{"message_bytes": 120, "at_s": 4.5}\n{"message_bytes": 120, "at_s": 7.25}\n{"round_trip_s": 0.1}\n'
    '{"page": "b", "issue_s": 12.0, "request_bytes": 300, "reply_bytes": 500, "think_s": 5.0}\n'
    '{"message_bytes": 120, "at_s": 15.0}\n'
)
ALONE = "".join(line for line in PUSHED.splitlines(True) if "message" in line)
BROWSED = {"drawn": "", "a session": "time,bytes\n" + VISITS, "pages and messages": PUSHED, "messages": ALONE}


@each("kind", ["drawn", "pages and messages",
    *(pytest.param(kind, marks=pytest.mark.long) for kind in ("a session", "messages"))])  # fmt: skip
def test_the_explorer_and_the_command_agree(lpsm, tmp_path, monkeypatch, undrawn, kind):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "browsed" if BROWSED[kind] else None
    if path:
        path.write_text(BROWSED[kind])
    explorer = Explorer.of_trace(path, FEW_SESSIONS) if path else Explorer()
    recorded = SMALL | {"server": "recorded", "dtim_period": "3"}
    for asked in (SMALL, recorded)[: 2 if kind in ("pages and messages", "drawn") else 1]:
        rows = summary(explorer, asked).set_index("policy")
        command = explorer.command(explorer.settings(asked))
        ran = lpsm(*shlex.split(command)[1:], "--jobs", "1", "--force")
        assert ran.exit_code == 0, ran.output
        written = pd.read_csv("explored/summary.csv").set_index("policy")
        common = written.columns.intersection(rows.columns)
        assert {"total_j_per_page", "slowdown_mean", "mean_mw", "energy_above_limit_percent"} <= set(common)
        pd.testing.assert_frame_equal(rows[common], written[common], check_dtype=False, rtol=1e-12)
    assert rows["total_j_per_page"].dropna().gt(0).all()


def test_static_psm_has_no_interval_of_its_own_and_a_trace_has_its_servers(tmp_path):
    explorer = Explorer()
    for name in ("psm", "psm:100", "none,psm"):
        assert explorer.settings({"policies": f"{name},bsd:1"}).policies == ("psm", "bsd:1")
    for kind, server in (("pages and messages", "recorded"), ("a session", "lognormal")):
        (path := tmp_path / "b").write_text(BROWSED[kind])
        recording = Explorer.of_trace(path, 2)
        assert recording.settings({}).server == server
        assert ("--rtt" in recording.command(recording.settings({}))) == (server != "recorded")
    with value_error("server must be one that draws times"):
        recording.settings({"server": "recorded"})


def test_own_policies_and_radios_are_those_that_were_typed(tmp_path, lpsm, monkeypatch, undrawn):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(OWN_POLICIES)
    figures = {**netsim.radio.profiles()["esp32-c6"]}
    Path("mine.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in figures.items()))
    explorer = Explorer(policies=["psm", OwnPolicy.typed("mine.py:Patient:3")], radio="mine.toml")
    asked = {"pages": "3", "seeds": "1"}
    found = summary(explorer, asked).set_index("policy")["total_j_per_page"]
    same = summary(explorer, asked | {"radio": "esp32-c6", "policies": "listen:3"}).set_index("policy")
    assert found["patient:3"] == near(same.loc["listen:3", "total_j_per_page"])
    command = explorer.command(explorer.settings(asked | {"policies": "patient:3"}))
    assert f"{tmp_path}/mine.py:Patient:3" in command
    assert lpsm(*shlex.split(command)[1:], "--jobs", "1").exit_code == 0
    for name in ("mine.py:Patient", "patient:2", "mine.py:Patient:3"):
        with value_error("a policy must be one of"):
            explorer.settings({"policies": name})


# -- the server ----------------------------------------------------------------------------------------------
@contextmanager
def served(explorer):
    """Serve the page of an explorer, and give it with the port."""
    page, listening = Page(explorer), socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=page.serve, args=[listening], daemon=True)
    thread.start()
    page.port = listening.getsockname()[1]
    yield page
    page.server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def page():
    with served(Explorer()) as served_page:
        yield served_page


def asked(page, path, method="GET", **headers):
    """Return the status, the headers and the text of what is answered."""
    connection = HTTPConnection("127.0.0.1", page.port, timeout=600)
    own = {"Host": f"127.0.0.1:{page.port}", **headers}
    connection.putrequest(method, path, skip_host=True)
    for name, value in own.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, text


def link(query):
    return "?" + "&".join(f"{name}={quote(value)}" for name, value in query.items())


def test_an_answer_tells_how_far_it_is_and_then_the_table_of_compare(page, monkeypatch):
    monkeypatch.setattr(app, "_PATIENCE_S", 0.0)
    status, _, text = asked(page, f"/answer{link(SMALL | {'seeds': '4'})}")
    lines = [json.loads(line) for line in text.splitlines()]
    told = [line["done"] for line in lines if "done" in line]
    assert (status, told) == (200, sorted({*told, 16}))
    assert 8 <= len(told) <= 16  # of what ended together one line is said
    *early, whole = [line for line in lines if "summary" in line]
    assert [one["whole"] for one in early] == [False] * len(early) != []
    assert {one["summary"][0]["replications"] for one in early} <= {1, 2}
    assert (whole["whole"], whole["summary"][0]["replications"]) == (True, 4)
    assert {"J/page", "slowdown", "mW", "hours"} <= set(whole["header"])
    assert [row[0] for row in whole["table"]] == ["none", "psm:102.4", "bsd:1", "hold:50", "limit", "page-awake"]
    assert whole["command"].startswith("lpsm compare --pages 5")
    assert all(row["mean_mw"] > 0 for row in whole["summary"])
    again = asked(page, f"/answer{link(SMALL | {'seeds': '4', 'max_slowdown': '3'})}")[2].splitlines()
    assert [*map(list, map(json.loads, again[:-1]))] == [["doing"]]  # no run for a limit
    assert json.loads(again[-1])["table"] == whole["table"]


def test_a_policy_that_fails_is_named_in_the_answer(tmp_path):
    (file := tmp_path / "mine.py").write_text(OWN_POLICIES)
    with served(Explorer(policies=[OwnPolicy.typed(f"{file}:Failing:KeyError")])) as own:
        lines = asked(own, "/answer?pages=2&seeds=1")[2].splitlines()
    assert "KeyError" in json.loads(lines[-1])["error"]


def test_nothing_of_a_link_becomes_markup_or_a_policy_of_files(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text("open('made', 'w')\n\nclass Evil:\n    plan = spec = host_aware = print\n")
    for name in (*EVIL, "%3Cscript%3Ealert(1)%3C/script%3E"):
        status, headers, text = asked(page, f"/answer?policies={name}")
        assert (status, "a policy must be one of none, psm" in text) == (400, True)
        assert headers["Content-Type"].startswith("text/plain")
        status, _, text = asked(page, f"/?policies={name}")
        assert (status, name in text, "alert(" in text) == (400, False, False)
    assert [path.name for path in tmp_path.iterdir()] == ["evil.py"]


def test_clients_that_hang_up_are_not_computed_for_and_leave_no_word(page, capfd, monkeypatch):
    played = []
    monkeypatch.setattr(page.explorer, "_run", lambda task: played.append(task.key) or computing._run(task))
    for seeds in range(2, 12):  # ten long questions, whose clients go at once
        with socket.create_connection(("127.0.0.1", page.port)) as client:
            client.sendall(f"GET /answer?pages=20&seeds={seeds} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    status, _, _ = asked(page, f"/answer{link(SMALL)}")
    assert status == 200
    assert len(played) < 60  # of some 500
    assert "Traceback" not in capfd.readouterr().err


FOREIGN = shlex.split(
    "Origin http://evil.example Origin null Origin http://localhost:9 Host evil.example Host 127.0.0.1.evil.example "
    "Sec-Fetch-Site cross-site Sec-Fetch-Site same-site"
)


def test_what_another_page_asks_is_refused(page):
    for name, value in zip(FOREIGN[::2], FOREIGN[1::2], strict=True):
        for path in ("/", "/controls", "/page/page.js", f"/answer{link(SMALL)}"):
            assert asked(page, path, **{name: value})[0] == (400 if name == "Host" else 403), value
    status, given, text = asked(page, "/", **{"Sec-Fetch-Site": "same-origin"})
    policy = given["Content-Security-Policy"]
    assert (status, "default-src 'none'; script-src 'self';" in policy, "frame-ancestors 'none'" in policy) == (
        200,
        True,
        True,
    )
    assert "http" not in text  # nothing is loaded from elsewhere
    for path in ("/page/page.js", "/page/page.css", "/plotly/plotly.min.js"):
        assert asked(page, path)[0] == 200
    assert asked(page, "/page/../app.py")[0] == asked(page, "/page/%2e%2e/app.py")[0] == 404


def test_without_its_extra_the_command_says_what_to_install(complaint, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    assert "explore needs plotly: install lpsm with its extra, lpsm[explore]" in complaint("explore", "--no-open")


def test_ctrl_c_ends_the_command_with_a_line():
    with subprocess.Popen(
        [*PROGRAM, "explore", "--no-open", "--port", "0"], stdout=PIPE, stderr=PIPE, text=True
    ) as run:
        address = run.stdout.readline().split()[0]
        assert asked(SimpleNamespace(port=int(address.split(":")[2].strip("/"))), "/")[0] == 200
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
    assert (run.returncode, said.splitlines()[-1]) == (130, "lpsm: interrupted, the explorer has ended")


def test_a_link_has_at_most_64_kib(page):
    assert asked(page, f"/?other={'a' * 60_000}")[0] == 200
    assert asked(page, f"/?other={'a' * 70_000}")[0] == 414


def test_random_requests_are_answered_without_an_error_of_the_server(page, capfd):
    draw, found = random.Random(25), {}
    paths = shlex.split("/ /answer /app.py /../answer.py // /%00 * /page/index.html /. /answer/ /controls")
    values = shlex.split("x 5 %00 %ff %F0%9F%98%80 -1 1e999 nan psm,psm:100 none [::1 %1b[2J true 0x10 psm:100,none")
    values += ["", "9" * 5000, "a" * 60_000, "psm:" + "1" * 300, "%ed%a0%80"]
    sent = shlex.split("Host Origin Sec-Fetch-Site Content-Length Transfer-Encoding If-None-Match Range")
    for _ in range(80):
        names = draw.choices([*Settings.__slots__, "other"], k=draw.randint(0, 3))
        query = "&".join(f"{name}={draw.choice(values)}" for name in names) + "&pages=2&seeds=1&policies=psm"
        name = draw.choice(sent)
        headers = {name: draw.choice(["localhost", "none", "[::1", "-1", "chunked", "bytes=-1", "a" * 3000])}
        method = draw.choice(["GET"] * 8 + ["POST", "PUT", "HEAD"])
        path = draw.choice(paths[:2]) if draw.random() < 0.8 else draw.choice(paths)
        status, _, text = asked(page, f"{path}?{query}", method, **(headers if draw.random() < 0.2 else {}))
        assert "import annotations" not in text
        found[status] = found.get(status, 0) + 1
    assert set(found) <= {200, 206, 304, 307, 400, 403, 404, 405, 414, 501}, found
    assert min(found[200], found[404]) > 2
    assert "Traceback" not in capfd.readouterr().err
