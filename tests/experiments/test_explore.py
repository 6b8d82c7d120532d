import re
import shlex
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import netsim
from experiments.explore.settings import Settings
from experiments.figures.style import contrast
from experiments.study.traffic import recorded
from tests.experiments.browser import AVAILABLE, browser

pytest.importorskip("dash")
from experiments.explore.answer import Explorer
from experiments.explore.app import _lighter, app, figures

SMALL = Settings(pages=5, seeds=2, server="constant", policies=("psm:100", "bsd:1", "hold:50"), page=1)
OTHER = Settings(
    pages=7, seeds=3, server="lognormal", server_s=0.35, rtt_ms=100.0, radio="cc3235sf", beacon_ms=102.4,
    policies=("listen:3", "lpsm:log"), page=4,
)  # fmt: skip
EVIL = ("subprocess:Popen:./evil.sh", "evil.py:Evil", "evil:Evil", "logging:FileHandler:made")


@pytest.mark.parametrize("settings", [Settings(), SMALL, OTHER])
def test_a_link_carries_every_setting(settings):
    assert Settings.of_link(settings.link) == settings
    assert Settings().link == ""


@pytest.mark.parametrize(
    ("search", "rule"),
    [
        ("?pages=0", "pages must lie in"), ("?server=slow", "server must be one of"), ("?rtt_ms=x", "must be a number"),
        ("?policies=nonsense", "a policy must be one of"), ("?radio=valve", "a radio must be one of"),
        ("?policies=psm:150", "multiple"), ("?server_s=nan", "server_s must lie in"),
        *((f"?policies={name}", "a policy must be one of none, psm") for name in EVIL),
    ],
)  # fmt: skip
def test_a_link_that_says_nonsense_is_answered_with_the_rule(search, rule):
    with pytest.raises(ValueError, match=rule):
        Settings.of_link(search)


def test_what_was_answered_once_is_not_computed_again():
    explorer = Explorer()
    first = explorer.answer(SMALL)
    assert list(first.rows["policy"]) == ["none", "psm:100", "bsd:1", "hold:50"]
    assert [one.policy for one in first.timelines] == ["psm:100", "bsd:1", "hold:50"]
    assert first.references["limit"] < first.rows["total_j_per_page"].min()
    runs = explorer._run.cache_info().misses
    assert explorer.answer(SMALL).rows.equals(first.rows)
    assert explorer._run.cache_info().misses == runs
    explorer.answer(replace(SMALL, policies=(*SMALL.policies, "listen:2")))
    assert explorer._run.cache_info().misses == runs + 2  # one more policy on two seeds


def test_what_takes_long_comes_later_and_is_then_the_same():
    explorer, settings = Explorer(), replace(SMALL, policies=("psm:100", "lpsm:log"))
    first = explorer.answer(settings, within_s=0.0)
    assert sorted([*first.rows["policy"], *first.pending]) == ["lpsm:log", "none", "psm:100"]
    whole = explorer.answer(settings)
    assert whole.pending == []
    assert whole.timelines is not None
    assert whole.rows.equals(Explorer().answer(settings).rows)
    assert first.rows.equals(whole.rows.set_index("policy").loc[first.rows["policy"]].reset_index())


VISITS = "".join(f"{40 * visit}.0,{3000 + 500 * visit}\n{40 * visit}.3,{20000 - 900 * visit}\n" for visit in range(4))
PUSHED = (
    '{"page": "a", "issue_s": 1.0, "request_bytes": 300, "reply_bytes": 9000, "think_s": 5.0}\n'
    '{"message_bytes": 120, "at_s": 4.5}\n{"message_bytes": 120, "at_s": 7.25}\n'
    '{"page": "b", "issue_s": 12.0, "request_bytes": 300, "reply_bytes": 500, "think_s": 5.0}\n'
    '{"message_bytes": 120, "at_s": 15.0}\n'
)
BROWSED = {"drawn": "", "a session": "time,bytes\n" + VISITS, "a workload with messages": PUSHED}


@pytest.mark.parametrize("kind", BROWSED)
def test_the_explorer_the_command_and_the_python_agree(lpsm, tmp_path, monkeypatch, undrawn, kind):
    import pandas as pd

    from experiments.cli.compare import FEW_SESSIONS

    monkeypatch.chdir(tmp_path)
    path = Path("browsed") if BROWSED[kind] else None
    if path:
        path.write_text(BROWSED[kind])
    explorer = Explorer.of_trace(path, FEW_SESSIONS) if path else Explorer()
    rows = explorer.answer(SMALL).rows.set_index("policy")
    trace = str(path) if path else None
    ran = lpsm(*shlex.split(SMALL.command(trace))[1:], "--jobs", "1")
    assert ran.exit_code == 0, ran.output
    summary = pd.read_csv("explored/summary.csv").set_index("policy")
    printed = []
    code = compile(SMALL.python(trace, explorer.few), "shown", "exec")
    exec(code, {"print": lambda *words: printed.append(words)})
    assert [words[0] for words in printed] == list(SMALL.policies)
    for policy, energy, slowdown in printed:
        for name, value in (("total_j_per_page", energy), ("slowdown_mean", slowdown)):
            assert rows.loc[policy, name] == pytest.approx(summary.loc[policy, name], rel=1e-12)
            assert value == pytest.approx(summary.loc[policy, name], rel=1e-12)
    if kind == "a workload with messages":
        without = Explorer([replace(one, recorded=list(one.recorded)) for one in explorer.sessions])
        assert without.answer(SMALL).rows.set_index("policy").loc["psm:100", "energy_j_per_page"] != energy


def test_messages_alone_have_energies_and_no_slowdown(tmp_path):
    path = tmp_path / "pushed"
    path.write_text("".join(line for line in PUSHED.splitlines(True) if "message" in line))
    found = Explorer.of_trace(path, 1).answer(SMALL)
    assert found.rows["total_j_per_page"].gt(0).all()
    assert found.rows["slowdown_mean"].isna().all()
    _, energy, timeline = figures(found)
    assert energy is not None
    assert timeline is None


def test_colours_on_a_dark_page_stand_out_too():
    drawn = str(figures(Explorer().answer(SMALL)))
    for colour in set(re.findall(r"#[0-9a-fA-F]{6}", drawn)):
        assert contrast(_lighter(colour), "#16181c") >= 4.5


@pytest.fixture(scope="module")
def address():
    from werkzeug.serving import make_server

    explorer = Explorer()
    explorer.answer(SMALL)
    server = make_server("127.0.0.1", 0, app(explorer).server, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()


READY = "document.querySelectorAll('.js-plotly-plot .main-svg').length >= 3 && document.querySelector('#table table')"


@pytest.mark.skipif(not AVAILABLE, reason="no Chromium here")
@pytest.mark.parametrize(("width", "height", "phone"), [(1280, 900, False), (390, 844, True)])
def test_in_a_browser_a_control_moves_everything_and_the_console_stays_clean(address, tmp_path, width, height, phone):
    with browser(tmp_path / "profile", width=width, height=height, phone=phone) as session:
        session.visit(address + SMALL.link)
        session.wait(READY, 90)
        assert session.run("return document.documentElement.scrollWidth <= window.innerWidth")
        rows = "return [...document.querySelectorAll('#table tbody tr')].map(row => row.innerText)"
        before = session.run(rows)
        assert len(before) == 4
        if not phone:
            session.cdp("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
            assert session.run("return getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 28)"
        session.run("document.querySelector('#server_s [role=slider]').focus()")  # by keyboard
        for kind in ("keyDown", "keyUp"):
            key = {"type": kind, "key": "ArrowRight", "code": "ArrowRight", "windowsVirtualKeyCode": 39}
            session.cdp("Input.dispatchKeyEvent", key)
        session.wait("document.querySelector('#table').innerText.length > 0", 60)
        session.wait("location.search.includes('server_s=0.25')", 60)
        session.wait("document.querySelector('#pending').innerText === ''", 60)  # what comes later has come
        assert len(session.run(rows)) == 4
        assert session.run("return document.querySelector('#code').hidden")
        session.run("document.querySelector('#show-code').click()")
        session.wait("!document.querySelector('#code').hidden", 30)
        assert "--server-delay 0.25" in session.run("return document.querySelector('#command').innerText")
        assert session.complaints() == []
        session.screenshot(tmp_path / "explore.png")


def test_the_next_interval_keeps_static_psm_and_a_trace_has_its_servers(tmp_path):
    told = tmp_path / "told.jsonl"
    told.write_text(PUSHED.replace('"think_s"', '"waits_s": [0.4], "think_s"') + '{"round_trip_s": 0.1}\n')
    for name in ("psm", "psm:100"):
        assert Settings.of({"policies": [name, "bsd:1"], "beacon_ms": 102.4}).policies == ("psm", "bsd:1")
    assert Settings.of({"policies": ["psm:100"], "beacon_ms": 100}).policies == ("psm:100",)
    settings = Settings.of_link("?policies=psm", "recorded")
    assert (settings.server, settings.config.server_delay.kind) == ("recorded", "recorded")
    assert Settings.of_link("?server=constant", "recorded").server == "constant"
    assert "--server-delay recorded" in settings.command("a.har")
    assert "--rtt" not in settings.command("a.har")
    found = Explorer.of_trace(told, 1).answer(settings)
    [session] = recorded([told])
    world = session.world(settings.config)
    work = session.pages()
    late, base = (netsim.simulate(work, policy, config=world, seed=session.seed) for policy in ("psm", "none"))
    row = found.rows.set_index("policy").loc["psm:100"]
    assert row["energy_j_per_page"] == pytest.approx(late.energy.per_page_j)
    assert row["mean_mw"] == pytest.approx(1000 * late.energy.total_j / late.elapsed_s)
    assert row["added_delay_mean_s"] == pytest.approx(late.against(base).delay_s)
