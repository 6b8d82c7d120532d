"""`experiments.compare` and `experiments.sweep`: the command's figures, objects as policies, worlds that differ."""

import subprocess
import sys
import textwrap
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import experiments
import netsim
import traces
from experiments import comparison
from experiments.study.traffic import Generated
from experiments.world import made
from tests.tables import near
from tests.wrong_calls import refused, table


class EveryThird:
    spec, host_aware = "every-third", False

    def plan(self, view):
        return netsim.Plan(view.now_ns, (view.now_ns // 307_200_000 + 1) * 307_200_000, False)


@pytest.fixture(scope="module")
def found():
    return experiments.compare(["psm", EveryThird()], 4, seeds=3, jobs=1)


def test_energies_and_slowdowns_are_those_of_single_runs(found):
    config = made("today").config
    assert config.tcp == netsim.TcpConfig.today()  # which presets repeat, as they import no simulator
    joules, slower = [], []
    for seed in range(3):
        pages = traces.generate(4, np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0, 0))))
        none, own = (netsim.simulate(pages, one, config=config, seed=seed) for one in ("none", EveryThird()))
        joules.append(own.energy.per_page_j)
        slower.append((own.latency_s / none.latency_s).mean())
    row = found.summary.set_index("policy").loc["every-third"]
    assert row["total_j_per_page"] == near(np.mean(joules), rel=1e-12)
    assert row["slowdown_mean"] == near(np.mean(slower), rel=1e-12)


def test_differences_are_paired_and_turn_their_sign_with_the_policy_they_are_from(found):
    own, psm = (found.against(one).set_index("policy") for one in (EveryThird(), "psm"))
    assert "every-third" not in own.index
    assert own.loc["psm:102.4", "slowdown"] == near(-psm.loc["every-third", "slowdown"])
    table = found.replications.pivot(index="replication", columns="policy", values="slowdown_mean")
    difference = table["every-third"] - table["psm:102.4"]
    assert psm.loc["every-third", "slowdown"] == near(difference.mean())
    half_width = 4.302652729911275 * difference.std(ddof=1) / np.sqrt(3)  # Student's t for two degrees of freedom
    assert psm.loc["every-third", "slowdown_half_width"] == near(half_width)
    energy = found.replications.groupby("policy")["total_j_per_page"].mean()
    percent = 100 * (energy["every-third"] / energy["psm:102.4"] - 1)
    assert psm.loc["every-third", "energy_percent"] == near(percent)


def test_it_is_printed_with_what_each_policy_does_and_draws_every_picture(found):
    text = str(found)
    assert "every-third: a policy of your own." in text
    assert "psm:102.4: static PSM" in text
    assert "World (today): radio pixel-7-pro" in text
    assert {*found.pictures()} == {"energy", "front", "slowdown", "slowdown-by-page"}
    assert found.plot("energy").axes


def test_pages_of_ones_own_are_one_session_and_a_configuration_is_taken_as_it_is():
    pages = [traces.Page("a", 300, 9000, (), 2.0), traces.Page("b", 300, 20_000, (), 2.0)]
    found = experiments.compare(["psm"], pages, netsim.SimulationConfig(server_delay=0.25), jobs=1)
    alone = netsim.simulate(pages, "psm", config=netsim.SimulationConfig(server_delay=0.25))
    row = found.summary.set_index("policy").loc["psm:100"]
    assert row["total_j_per_page"] == near(alone.energy.per_page_j)
    assert row["replications"] == 1


def test_a_sweep_is_a_comparison_in_each_world():
    swept = experiments.sweep("server_delay", [0, 0.3], ["psm"], 3, seeds=2, jobs=1)
    for value in (0, 0.3):
        alone = experiments.compare(["psm"], 3, {"server_delay": value}, seeds=2, jobs=1).summary
        own = swept.table[swept.table["server_delay"] == value].drop(columns="server_delay").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, alone)
    latency_s = swept.measured.pivot(index="policy", columns="server_delay", values="latency_s").loc["none"]
    assert latency_s[0.3] > latency_s[0] + 0.3  # a server is asked at least once a page
    assert "server_delay" in str(swept).splitlines()[0]
    assert len(swept.plot().axes) == 3


def test_a_sweep_over_words_stands_in_their_order():
    swept = experiments.sweep("air", ["11g:54", "11b:11"], ["psm"], 2, seeds=1, jobs=1)
    axes = swept.plot().axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["11g:54", "11b:11"]


@table("""
compare(["psm", "psm:100"], 2) -> policies must differ
compare(["psmm"], 2) -> did you mean psm
compare(["psm"], 0) -> pages
compare(["psm"], 2, "yesterday") -> must be one of today, iot, wires, thesis, got 'yesterday'
compare(["psm"], 2, {"radioo": "esp32-c6"}) -> did you mean radio
compare(["psm"], 2, clients=0) -> clients must be whole numbers from 1 to
compare(["psm"], 2, seeds=1).against("lpsm") -> must be one that was compared
compare(["psm"], 2, seeds=1).plot("pie") -> picture must be one of energy, front
sweep("server_delay", [], ["psm"], 2) -> server_delay must have different values
sweep("delay", [1, 2], ["psm"], 2) -> delay is no setting of a world
sweep("dtim_period", [1, 2], ["psm"], 2, SimulationConfig()) -> where a field is
""")
def test_a_wrong_call_says_what_is_wrong(call, message):
    refused(call, message, {"compare": experiments.compare, "sweep": experiments.sweep, **vars(netsim)})


@pytest.mark.parametrize(("pages", "seeds"), [(99, 2), (100, 1)])
def test_what_is_assumed_of_a_radio_is_halved_and_doubled_for_a_hundred_pages_or_two_replications(pages, seeds):
    world, joules = made("today"), {"usual": (5.0, 3.0), "half": (1.0, 2.0), "twice": (9.0, 8.0)}
    units = SimpleNamespace(workloads=[Generated(n_pages=pages, seed=seed) for seed in range(3)])
    tasks = comparison.with_assumed(SimpleNamespace(world=world, clients=1), units, ["psm"])
    names = [f"seed-{seed} {policy}" for seed in range(seeds) for policy in ("none", "psm:102.4")]
    assert [*tasks] == [f"{word} {name}" for word in ("half", "twice") for name in names]
    assert [task.config.radio.doze_mw / world.config.radio.doze_mw for task in tasks.values()] == near(
        np.repeat([0.5, 2.0], 2 * seeds))  # fmt: skip
    runs = {f"{word} {name}".removeprefix("usual "): {"run": {"policy": name.split()[1], "total_j": of[place % 2]}}
        for word, of in joules.items() for place, name in enumerate(names)}  # fmt: skip
    said = comparison.order_words(world.config.radio, tasks, runs)
    assert said.endswith("In the order by energy, at half psm:102.4 and none change places; at twice the order stays.")


SCRIPT = """
    import experiments, netsim

    class Patient:
        spec, host_aware = "patient", False
        def plan(self, view):
            return netsim.Plan(view.now_ns, (view.now_ns // 307_200_000 + 1) * 307_200_000, False)

    found = experiments.compare(["psm", Patient()], 2, seeds=2, jobs=2)
    print(found.summary.set_index("policy").loc["patient", "slowdown_mean"])
"""


@pytest.mark.long
def test_a_script_without_a_guard_compares_classes_of_its_own_in_processes(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(SCRIPT))
    ended = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert float(ended.stdout) > 1.0
    assert "Traceback" not in ended.stderr
