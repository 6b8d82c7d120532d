"""Tuning: the choice never sees what it is measured on, and what is measured follows from the runs."""

import json
import math
import re

import pytest

import netsim
from experiments.report.tune import recommendation_text
from experiments.study import sweep, targets
from experiments.study import tune as study
from experiments.study.compare import page_slowdowns
from experiments.study.run import run
from experiments.study.tune import Rule, life_h, tune
from experiments.world import made
from tests.tables import cases_of, each, named, near

pytestmark = pytest.mark.usefixtures("undrawn", "few_splits")

CONFIG = netsim.SimulationConfig()
NAMES = ["none", "psm", "dynamic:50", "bsd:1"]


@pytest.fixture
def few_splits(monkeypatch):
    """Split a few times, where a test does not look at that."""
    monkeypatch.setattr(study, "SPLITS", 8)


@pytest.fixture(scope="module")
def frames():
    traffic = [sweep.Generated(n_pages=5, seed=seed) for seed in range(7)]
    return sweep.frames(run(sweep.simulate, sweep.tasks(traffic, NAMES, CONFIG), jobs=1))


def test_the_choice_is_the_least_energy_of_those_that_are_allowed(frames):
    for limit in (1.0, 1.05, 1.5, 3.0, 1000.0):
        found = tune(frames, Rule(max_slowdown=limit), CONFIG.radio, seed=0)
        table = found.table.set_index("policy")
        upper = table["slowdown_mean"] + table["slowdown_mean_half_width"]
        assert table["allowed"].to_dict() == {name: name in ("psm:100", "dynamic:50", "bsd:1")
            and bool(upper[name] <= limit + 1e-9) for name in table.index}  # fmt: skip
        allowed = table[table["allowed"]]
        assert found.recommendation["keeps"] == bool(len(allowed))
        if len(allowed):
            assert found.policy == allowed["energy_j_per_page"].idxmin()
        assert found.policy != "none"


def test_nobody_keeps_the_limit_the_nearest_is_named_and_by_how_much(frames):
    runs = frames.runs[frames.runs["policy"].isin(["none", "psm:100"])]
    found = tune(frames._replace(runs=runs), Rule(max_slowdown=1.0), CONFIG.radio, seed=0)
    assert found.policy == "psm:100"
    text = recommendation_text(found.recommendation, "seeds")
    assert text.startswith("No candidate keeps 1 (slowdown), mean; nearest: psm:100, slowdown ")
    assert set(found.splits["policy"]) == {""}


def test_splits_tell_how_often_each_wins_and_four_seeds_agree(frames, monkeypatch):
    monkeypatch.setattr(study, "SPLITS", 40)
    several = [tune(frames, Rule(max_slowdown=3.0), CONFIG.radio, seed=seed) for seed in range(4)]
    assert len({one.policy for one in several}) == 1
    for one in several:
        shares = one.table.set_index("policy")["wins_percent"].dropna()
        nobody = 100 * (one.splits["policy"] == "").mean()
        assert shares.sum() + nobody == near(100.0)
        assert len(one.splits) == 40
    assert not several[0].splits.equals(several[1].splits)


@each("at", "p95 p99 max")
@each("limited", "slowdown added_s")
def test_percentiles_and_maxima_of_slowdowns_and_of_what_is_added_are_limited_as_they_are(frames, at, limited):
    slow = page_slowdowns(frames.pages)
    slow["added_s"] = slow["latency_s"] - slow["base_latency_s"]
    values = slow.loc[slow["policy"] == "psm:100", limited]
    limit = float(values.quantile({"p95": 0.95, "p99": 0.99, "max": 1.0}[at]))

    def allowed(limit):
        limits = {"max_slowdown": limit} if limited == "slowdown" else {"max_slowdown": 1e3, "max_delay_s": limit}
        table = tune(frames, Rule(at=at, **limits), CONFIG.radio, seed=0).table.set_index("policy")
        return bool(table.loc["psm:100", "allowed"])

    assert allowed(limit * (1 + 1e-9))
    assert not allowed(0.999 * limit)


def test_a_battery_feeds_more_than_the_radio_and_loses_some_by_itself():
    plain = Rule(battery_mwh=1000.0)
    assert life_h(10.0, plain) == near(100.0)
    assert life_h(10.0, Rule(battery_mwh=1000.0, base_ma=10 / 3.3)) == near(50.0)
    leaking = Rule(battery_mwh=1000.0, self_discharge=50.0)
    left, hours = 1000.0, 0.0
    while left > 0:  # hour by hour
        left = left * 0.5 ** (0.1 / 730.5) - 1.0
        hours += 0.1
    assert life_h(10.0, leaking) == near(hours, rel=0.01)


def test_the_sentence_says_what_speaks_against_the_choice(frames):
    found = tune(frames, Rule(max_slowdown=1.5, battery_mwh=1000.0), CONFIG.radio, seed=0).recommendation
    level = {"level": ["psm:100", "bsd:1"], "slowdown_mean_half_width": math.nan, "battery_h_high": math.nan}
    passed = named("""
policy = 'bsd:0.1' ; what = 'slowdown' ; unit = '' ; value = 1.4 ; half_width = 0.1 ; limit = 1.1""")
    text = recommendation_text({**found, **level, "passed_over": [passed]}, "pages")
    assert text.startswith(f"Take {found['policy']}: a battery of 1000 mWh lasts ")
    assert "no upper end" in text
    assert f"It wins {found['wins_percent']:.0f} % of 8 splits in halves and lasts" in text
    assert "Level, as the splits do not agree: psm:100, bsd:1." in text
    assert "Passed over, of less energy, but over a limit: bsd:0.1 (slowdown 1.400 ± 0.100, limit 1.1)." in text


@each("target", targets.TARGETS)
@each("dtim_period", (1, 2))
def test_every_policy_of_a_target_has_lines_to_type_with_their_source(target, dtim_period):
    where = {"beacon_interval_ns": 102_400_000, "dtim_period": dtim_period}
    for policy in targets.candidates(target, dtim_period=dtim_period):
        name = netsim.canonical(policy, beacon_interval_ns=102_400_000)
        recipes = targets.settings(name, target, **where)
        assert recipes
        for one in recipes:
            assert one.lines
            assert one.source
            assert "{n}" not in "".join(one.lines)


def test_what_a_driver_changes_at_a_dtim_period_is_no_setting_there():
    def said(policy, dtim_period):
        found = targets.settings(policy, targets.ANY, beacon_interval_ns=102_400_000, dtim_period=dtim_period)
        return {one.target for one in found}

    assert said("dynamic:100", 1) - said("dynamic:100", 2) == {"esp-idf", "nrf70", "whd", "talaria-two"}
    assert said("dynamic:100:dtim", 2) == said("dynamic:100", 1) - said("dynamic:100", 2)
    assert "nrf70" in said("listen:3", 1) & said("listen:4", 2) - said("listen:3", 2)
    assert "listen:3" not in targets.candidates("nrf70", dtim_period=2)


@each("radio", targets.radios("esp-idf"))
def test_the_recipe_leaves_the_chip_in_the_sleep_whose_published_currents_the_radio_has(radio):
    words = netsim.radio.registry()[radio].source
    published = re.search(r"light sleep[^:]*? ([\d.]+)(?: mA at DTIM 1 and | / [\d.]+ / )([\d.]+) mA at DTIM", words)
    config = made("wires", {"radio": radio, "beacon_ms": 102.4}).config
    policies = "driver:esp-idf-max:1", "driver:esp-idf-max:10"
    assert [targets.idle_ma(policy, config) for policy in policies] == near([*map(float, published.groups())], rel=0.06)
    for policy in policies:
        [recipe] = targets.settings(policy, "esp-idf", beacon_interval_ns=102_400_000)
        assert recipe.state == "automatic light sleep"
        lines = "\n".join(recipe.lines)
        for needed in ("CONFIG_PM_ENABLE=y", "CONFIG_FREERTOS_USE_TICKLESS_IDLE=y", ".light_sleep_enable = true"):
            assert needed in lines


@cases_of("target radio words", """
"nrf70", "nrf7002", "" ; "nrf70", "esp32-c6", "esp32-c6 is no radio of Nordic" ; "any", "thesis", ""
"linux", "esp32-c6", "no radio of the package is one of Linux" ; "esp-idf", "own.toml", ""
""")  # fmt: skip
def test_a_radio_that_is_none_of_the_target_is_told(target, radio, words):
    assert words in targets.doubt(target, radio)
    assert bool(words) == bool(targets.doubt(target, radio))


def test_settings_are_printed_as_they_are_typed(lpsm, tmp_path):
    words = ["--pages", "4", "--seeds", "4", "--target", "esp-idf", "--jobs", "1", "--max-slowdown", "9"]
    result = lpsm("tune", *words, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "esp_wifi_set_ps(WIFI_PS_M" in result.stdout
    assert "(source: espressif/esp-idf" in result.stdout
    assert "with esp32-c6.\nWorld (today): radio esp32-c6," in result.stdout  # and not with that of today's phone
    other = lpsm("tune", *words, "--target", "any", "--policies", "hold:50", "--out", tmp_path / "other")
    assert "No platform of the table has a setting for hold:50" in other.stdout
    foreign = lpsm("tune", *words, "--target", "linux", "--policies", "none,psm", "--out", tmp_path / "foreign")
    assert ("To check on" in result.stdout, "To check on" in foreign.stdout) == (True, False)  # no radio is Linux's


def test_traffic_of_several_files_is_put_together(lpsm, workload, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text(workload.read_text().replace(', "issue_s": 9.0', ""))
    arguments = ["--policies", "psm", "--jobs", "1", "--out", tmp_path / "out", "--json"]
    one = json.loads(lpsm("tune", workload, *arguments).stdout)["recommendation"]
    both = json.loads(lpsm("tune", workload, other, *arguments, "--force").stdout)["recommendation"]
    assert (one["units"], one["unit"]) == (3, "pages")
    assert both["units"] == 6
