import random
import re
import shlex
import socket
import threading
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path

import pandas as pd
import pytest

from experiments.comparison import FEW_SESSIONS
from experiments.explore import app
from experiments.explore.answer import Explorer
from experiments.explore.settings import Settings
from experiments.study import sweep
from tests.experiments.makers import Page
from tests.tables import each, value_error

SMALL = Settings(pages=5, seeds=2, server="constant", policies=("psm", "bsd:1", "hold:50"))
OTHER = Settings(pages=7, seeds=3, server="exponential", server_s=0.35, rtt_ms=100.0, radio="cc3235sf", beacon_ms=102.4,
    policies=("listen:3", "lpsm:log"))  # fmt: skip
EVIL = ("subprocess:Popen:./evil.sh", "evil.py:Evil", "evil:Evil", "logging:FileHandler:made")


def test_a_link_carries_every_setting():
    for settings in (Settings(), SMALL, OTHER):
        assert Settings.of_link(settings.link) == settings
    assert Settings().link == ""


NONSENSE = """
?pages=0 -> pages must lie in
?server=slow -> server must be one of
?rtt_ms=x -> must be a number
?policies=nonsense -> a policy must be one of
?radio=valve -> must be one of
?policies=psm:150 -> multiple
?server_s=nan -> server_s must lie in
?policies= -> 1 to 12 polici
?pages=1e3 -> must be a number
"""


def test_a_link_that_says_nonsense_is_answered_with_the_rule():
    rows = [row.split(" -> ") for row in NONSENSE.strip().splitlines()]
    rows += [(f"?policies={name}", "a policy must be one of none, psm") for name in EVIL]
    for query, rule in [*rows, (f"?radio={'x' * 201}", "must have at most 200 characters, got 201")]:
        with value_error(rule):
            Settings.of_link(query)


def test_what_was_answered_once_is_not_computed_again():
    explorer = Explorer()
    first = explorer.answer(SMALL)
    assert list(first["policy"]) == ["none", "psm:102.4", "bsd:1", "hold:50", "limit", "page-awake"]
    runs = explorer._run.cache_info().misses
    assert explorer.answer(SMALL).equals(first)
    assert explorer._run.cache_info().misses == runs
    explorer.answer(replace(SMALL, policies=(*SMALL.policies, "listen:2")))
    assert explorer._run.cache_info().misses == runs + 2  # one more policy on two seeds


VISITS = "".join(f"{40 * visit}.0,{3000 + 500 * visit}\n{40 * visit}.3,{20000 - 900 * visit}\n" for visit in range(4))
PUSHED = (
    '{"page": "a", "issue_s": 1.0, "request_bytes": 300, "reply_bytes": 9000, "waits_s": [0.4], "think_s": 5.0}\n'
    '{"message_bytes": 120, "at_s": 4.5}\n{"message_bytes": 120, "at_s": 7.25}\n{"round_trip_s": 0.1}\n'
    '{"page": "b", "issue_s": 12.0, "request_bytes": 300, "reply_bytes": 500, "think_s": 5.0}\n'
    '{"message_bytes": 120, "at_s": 15.0}\n'
)
ALONE = "".join(line for line in PUSHED.splitlines(True) if "message" in line)
BROWSED = {"drawn": "", "a session": "time,bytes\n" + VISITS, "pages and messages": PUSHED, "messages": ALONE}


@each("kind", BROWSED)
def test_the_explorer_and_the_command_agree(lpsm, tmp_path, monkeypatch, undrawn, kind):
    monkeypatch.chdir(tmp_path)
    path = Path("browsed") if BROWSED[kind] else None
    if path:
        path.write_text(BROWSED[kind])
    explorer = Explorer.of_trace(path, FEW_SESSIONS) if path else Explorer()
    for settings in (SMALL, replace(SMALL, server="recorded"))[: 2 if kind == "pages and messages" else 1]:
        found = explorer.answer(settings)
        rows = found.set_index("policy")
        ran = lpsm(*shlex.split(settings.command(str(path) if path else None))[1:], "--jobs", "1", "--force")
        assert ran.exit_code == 0, ran.output
        summary = pd.read_csv("explored/summary.csv").set_index("policy")
        common = summary.columns.intersection(rows.columns)
        assert {"total_j_per_page", "slowdown_mean", "mean_mw", "energy_above_limit_percent"} <= set(common)
        pd.testing.assert_frame_equal(rows[common], summary[common], check_dtype=False, rtol=1e-12)
    assert ("Energy against waiting" in app.pictures(found)) == (kind != "messages")  # which have no slowdown
    assert rows["total_j_per_page"].dropna().gt(0).all()


def test_static_psm_has_no_interval_of_its_own_and_a_trace_has_its_servers():
    for name in ("psm", "psm:100"):
        assert Settings.of_link(f"policies={name}&policies=bsd:1&beacon_ms=102.4").policies == ("psm", "bsd:1")
    settings = Settings.of_link("?policies=psm", "recorded")
    assert (settings.server, settings.config.server_delay.kind) == ("recorded", "recorded")
    assert Settings.of_link("?server=constant", "recorded").server == "constant"
    assert "--rtt" not in settings.command("a.har")


# -- the page ------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def page():
    with app.Page(Explorer()) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def asked(page, path, method="GET", **headers):
    """Return the status, the headers and the text of what is answered."""
    connection = HTTPConnection("127.0.0.1", page.server_port, timeout=600)
    own = {"Host": f"127.0.0.1:{page.server_port}", **headers}
    connection.putrequest(method, path, skip_host=True)
    for name, value in own.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, text


def test_the_page_has_a_control_for_every_setting_at_its_position(page):
    for settings in (SMALL, OTHER):
        text = asked(page, f"/{settings.link}")[2]
        values = re.findall(r'<input type="range" id="\w+" name="(\w+)" min="\S+" max="\S+" step="\S+" value="(\S+)">',
            text)  # fmt: skip
        values += re.findall(r'<select name="(\w+)">.*?<option selected>(.*?)</option>', text)
        values += re.findall(r'<input type="checkbox" name="(policies)" value="(\S+)" checked>', text)
        assert Settings.of_link("&".join(map("=".join, values))) == settings
        assert {name for name, _ in values} == set(Settings.__slots__)
    wrong = asked(page, "/?pages=0")
    assert (wrong[0], "pages must lie in [1, 200], got 0" in wrong[2]) == (400, True)


def test_an_answer_has_pictures_the_table_of_compare_and_its_command(page):
    found = Page(asked(page, f"/answer{SMALL.link}")[2])
    assert [address.partition(",")[0] for address in found.addresses] == ["data:image/svg+xml;base64"] * 2
    assert {"J/page", "slowdown", "bsd:1"} <= set(found.words)
    assert any(words.startswith("lpsm compare --pages 5") for words in found.words)


def test_nothing_of_a_link_becomes_markup_or_a_policy_of_files(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text("open('made', 'w')\n\nclass Evil:\n    plan = spec = host_aware = print\n")
    for name in (*EVIL, "%3Cscript%3Ealert(1)%3C/script%3E"):
        for path in ("/", "/answer"):
            status, _, text = asked(page, f"{path}?policies={name}")
            assert (status, "a policy must be one of none, psm" in text) == (400, True)
            assert "<script>alert" not in text
    assert [path.name for path in tmp_path.iterdir()] == ["evil.py"]


def test_clients_that_hang_up_are_not_computed_for_and_leave_no_word(page, capfd, monkeypatch):
    played = []
    monkeypatch.setattr(page.explorer, "_run", lambda task: played.append(task.key) or sweep.simulate(task))
    for seeds in range(2, 12):  # ten long questions, whose clients go at once
        with socket.create_connection(("127.0.0.1", page.server_port)) as client:
            client.sendall(f"GET /answer?pages=20&seeds={seeds} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    status, _, _ = asked(page, f"/answer{SMALL.link}")
    assert status == 200
    assert len(played) < 60  # of some 500
    assert "Traceback" not in capfd.readouterr().err


FOREIGN = shlex.split(
    "Origin http://evil.example Origin null Origin http://localhost:9 Host evil.example "
    "Sec-Fetch-Site cross-site Sec-Fetch-Site same-site"
)


def test_what_another_page_asks_is_refused(page):
    for name, value in zip(FOREIGN[::2], FOREIGN[1::2], strict=True):
        for path in ("/", f"/answer{SMALL.link}"):
            assert asked(page, path, **{name: value})[0] == 403, value
    status, given, text = asked(page, "/", **{"Sec-Fetch-Site": "same-origin"})
    assert (status, given["X-Frame-Options"]) == (200, "DENY")
    [script] = re.findall("<script>(.*?)</script>", text, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in given["Content-Security-Policy"]


def test_random_requests_are_answered_without_an_error_of_the_server(page, capfd):
    draw, found = random.Random(25), {}
    paths = shlex.split("/ /answer /app.py /../answer.py // /%00 * /page.html /. /answer/")
    values = shlex.split("x 5 %00 %ff %F0%9F%98%80 -1 1e999 nan psm,psm:100 none [::1 %1b[2J true 0x10 psm:100,none")
    values += ["", "9" * 5000, "a" * 60_000, "psm:" + "1" * 300]
    sent = shlex.split("Host Origin Sec-Fetch-Site Content-Length Transfer-Encoding If-None-Match")
    for _ in range(60):
        names = draw.choices([*Settings.__slots__, "other"], k=draw.randint(0, 3))
        query = "&".join(f"{name}={draw.choice(values)}" for name in names) + "&pages=2&seeds=1&policies=psm"
        name = draw.choice(sent)
        headers = {name: draw.choice(["localhost", "none", "[::1", "-1", "chunked", "a" * 3000])}
        method = draw.choice(["GET"] * 8 + ["POST", "PUT", "HEAD"])
        path = draw.choice(paths[:2]) if draw.random() < 0.8 else draw.choice(paths)
        status, _, text = asked(page, f"{path}?{query}", method, **(headers if draw.random() < 0.2 else {}))
        assert "import annotations" not in text
        found[status] = found.get(status, 0) + 1
    assert set(found) <= {200, 400, 403, 404, 414, 501}, found
    assert min(found[200], found[404]) > 2
    assert "Traceback" not in capfd.readouterr().err
