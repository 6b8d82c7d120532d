"""What the explorer answers to requests that its own page would not send."""

import json
import random
from pathlib import Path

import pytest

pytest.importorskip("dash")
from experiments.explore.answer import Explorer
from experiments.explore.app import app
from experiments.explore.settings import Settings

SMALL = {"pages": 5, "seeds": 2, "server": "constant", "server_s": 0.1, "rtt_ms": 40.2, "radio": "cc3235sf",
         "beacon_ms": 100, "policies": ["psm:100", "bsd:1"], "page": 1}  # fmt: skip
HOSTILE = [
    None, True, 0, -1, 1.5, 10**400, float("nan"), float("inf"), "", "x", "5", "9" * 5000, "a" * 60_000, "\ud800",
    "\x1b[2J", [], [None], [[]], [1, 2], ["psm:100", 7], ["psm:100"] * 3000, ["psm:" + "1" * 3000], {}, {"id": "pages"},
    {"props": {"children": "x"}, "type": "Div", "namespace": "dash_html_components"}, [{}], "../app.py", "?pages=5",
    "?pages=x&policies=" + "psm:100," * 50,
]  # fmt: skip
PATHS = [
    "/", "/app.py", "/assets/app.py", "/assets/../settings.py", "/assets/%2e%2e/settings.py", "/static/page.css",
    "/_dash-component-suites/dash/dash.py", "/_dash-component-suites/experiments/explore/app.py", "/_dash-layout",
    "/_dash-component-suites/dash/../flask/app.py", "/_dash-update-component", "/_reload-hash", "/_dash-dependencies",
    "/_favicon.ico", "/?policies=nonsense", "/%00", "/_dash-component-suites/dash/dcc/..%2f..%2fdash.py",
]  # fmt: skip


@pytest.fixture(scope="module")
def client():
    explorer = Explorer()
    explorer.answer(Settings.of(SMALL))
    return app(explorer).server.test_client()


@pytest.fixture(scope="module")
def question(client):
    """Return what the page asks when a control was moved, as JSON."""
    [known] = [one for one in client.get("/_dash-dependencies").json if one["output"].startswith("..front.figure")]
    outputs = [one.split(".") for one in known["output"].strip(".").split("...")]
    values = {**SMALL, "dark": False, "url": "", "again": 1}
    return json.dumps(
        {
            "output": known["output"],
            "outputs": [{"id": name, "property": what} for name, what in outputs],
            "inputs": [{**one, "value": values[one["id"]]} for one in known["inputs"]],
            "changedPropIds": ["pages.value"],
            "state": [],
        }
    )


def with_value(question, name, value, **more):
    """The question of the page with another value of a control."""
    body = json.loads(question)
    body["inputs"][[one["id"] for one in body["inputs"]].index(name)]["value"] = value
    return {**body, **({"changedPropIds": [more["changed"]]} if more else {})}


def asked(client, body, **headers):
    return client.post("/_dash-update-component", data=json.dumps(body), content_type="application/json",
                       headers=headers)  # fmt: skip


def test_the_question_of_the_page_is_answered(client, question):
    answer = asked(client, json.loads(question), **{"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 200
    assert "lpsm compare" in answer.json["response"]["command"]["children"]
    assert len(question) < 8192  # the limit is eight times as large


def test_the_page_asks_again_only_once_it_was_answered(client, question, monkeypatch):
    """A question drops the one before it: a clock that ran on would drop every answer that takes longer than a tick."""
    clock = next(one for one in parts(client.get("/_dash-layout").json) if one.get("type") == "Interval")["props"]
    assert clock["n_intervals"] == clock["max_intervals"] == 1
    answer = asked(client, json.loads(question)).json["response"]
    assert (answer["pending"]["children"], answer["again"]) == ("", {"n_intervals": 1})
    fresh = app(Explorer()).server.test_client()
    monkeypatch.setattr("experiments.explore.app.WITHIN_S", 0.0)
    answer = asked(fresh, with_value(question, "policies", ["lpsm:log"])).json["response"]
    assert answer["pending"]["children"].startswith("Still computing")
    assert answer["again"] == {"n_intervals": 0}


def parts(found):
    if isinstance(found, dict):
        return [found, *(part for value in found.values() for part in parts(value))]
    return [part for value in found for part in parts(value)] if isinstance(found, list) else []


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("value", [True, {}, [{}]], ids=str)
def test_a_value_of_a_wrong_type_is_a_bad_request(client, question, name, value):
    assert asked(client, with_value(question, name, value)).status_code == 400


def test_a_text_that_is_too_long_is_answered_with_the_rule(client, question):
    for name, called in (("radio", "radio"), ("policies", "a policy"), ("server", "server")):
        said = asked(client, with_value(question, name, "x" * 201)).json["response"]["complaint"]["children"]
        assert said == f"{called} must have at most 200 characters, got 201"


@pytest.mark.parametrize(
    "name", ["subprocess:Popen:./evil.sh", "evil.py:Evil", "evil:Evil", "logging:FileHandler:made"]
)
@pytest.mark.parametrize("place", ["policies", "url"])
def test_a_request_names_policies_of_the_registry_alone(client, question, tmp_path, monkeypatch, name, place):
    monkeypatch.chdir(tmp_path)
    Path("evil.sh").write_text("#!/bin/sh\ntouch made\n")
    Path("evil.sh").chmod(0o755)
    Path("evil.py").write_text("open('made', 'w')\n\nclass Evil:\n    plan = spec = host_aware = print\n")
    value = [name] if place == "policies" else f"?policies={name}"
    body = with_value(question, place, value, changed="url.search" if place == "url" else "pages.value")
    said = asked(client, body).json["response"]["complaint"]["children"]
    assert "a policy must be one of none, psm" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evil.py", "evil.sh"]


def test_a_large_body_is_refused_before_it_is_read(client, question):
    answer = client.post("/_dash-update-component", data=question + " " * 70_000, content_type="application/json")
    assert answer.status_code == 413


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://localhost:9"},
        {"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)  # fmt: skip
def test_what_another_page_asks_is_refused(client, question, headers):
    assert asked(client, json.loads(question), **headers).status_code == 403
    assert client.get("/", headers=headers).status_code == 403
    page = client.get("/")
    assert (page.status_code, "DENY" in page.headers["X-Frame-Options"]) == (200, True)


@pytest.mark.parametrize("path", PATHS)
def test_no_source_is_served(client, path):
    answer = client.get(path)
    assert answer.status_code in (200, 404, 405)
    assert b"import annotations" not in answer.data
    assert b"def " not in answer.data


def changed(draw, part):
    """Return JSON with something of it replaced, left out or doubled, anywhere."""
    if not isinstance(part, (dict, list)) or not part or draw.random() < 0.15:
        return json.loads(json.dumps(draw.choice(HOSTILE)))
    at = draw.choice(list(part) if isinstance(part, dict) else range(len(part)))
    how = draw.random()
    if how < 0.1:
        part.pop(at)
    elif how < 0.2 and isinstance(part, list):
        part.insert(at, part[at])
    else:
        part[at] = changed(draw, part[at])
    return part


def test_300_random_requests_are_answered_without_an_error_of_the_server(client, question, caplog, capfd):
    draw = random.Random(25)
    found = {}
    for _ in range(300):
        kind = draw.random()
        name = draw.choice(["Host", "Origin", "Sec-Fetch-Site", "Content-Type", "If-None-Match"])
        headers = {name: draw.choice(["localhost", "none", "[::1", "text/plain", "\x7f", "a" * 3000])}
        headers = headers if draw.random() < 0.1 else {}
        if kind < 0.2:
            method = draw.choice(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
            answer = client.open(draw.choice(PATHS), method=method, headers=headers)
        else:
            body = json.loads(question)
            for _ in range(draw.randint(1, 3)):
                body = changed(draw, body)
            text = json.dumps(body).encode()
            if kind < 0.35:
                text = draw.choice([text[: draw.randrange(len(text))], b"[" * 60_000, b"\xff" + text, b"null", b""])
            answer = client.post(
                "/_dash-update-component", data=text, headers={"Content-Type": "application/json", **headers}
            )
        found[answer.status_code] = found.get(answer.status_code, 0) + 1
        answer.close()
    print(found)
    assert max(found) < 500, found
    assert found[200] > 10
    assert found[400] > 20
    assert not [record for record in caplog.records if record.exc_info]
    assert "Traceback" not in capfd.readouterr().err
