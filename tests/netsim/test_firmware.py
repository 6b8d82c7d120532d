"""A policy as C: it decides as Python's does, and as a library it is a policy again."""

import re
import shutil
import subprocess

import pytest

import netsim
import traces
from lpsm.randomness import generator
from netsim.firmware.export import exported
from netsim.firmware.program import Program, template
from netsim.firmware.values import UnsupportedError
from netsim.policies import OwnPolicy, make
from netsim.policies.compiled import CompiledForm, FlatFrame, FlatView
from netsim.policies.protocol import Plan
from tests.tables import each, value_error

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="C is compiled with gcc, which is not there")
STRICT = ["gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-ffp-contract=off"]
CONFIG = netsim.SimulationConfig(server_delay="lognormal:0.5:0.8", radio="esp32-c6")

STAND_INS = {
    "zephyr/kernel.h": "int64_t k_uptime_ticks(void); int64_t k_ticks_to_ns_floor64(int64_t);",
    "zephyr/net/net_if.h": "struct net_if *net_if_get_first_wifi(void);",
    "zephyr/net/wifi_mgmt.h": """#include <stddef.h>
        enum { WIFI_PS_PARAM_TIMEOUT, WIFI_PS_PARAM_LISTEN_INTERVAL, NET_REQUEST_WIFI_PS };
        struct wifi_ps_params { int type; unsigned short listen_interval; unsigned int timeout_ms; };
        int net_mgmt(int, struct net_if *, void *, size_t);""",
    "esp_private/wifi.h": "void esp_wifi_set_sleep_min_active_time(uint32_t);",
    "esp_timer.h": "int64_t esp_timer_get_time(void);",
    "esp_wifi.h": """typedef int esp_err_t; enum { ESP_OK, WIFI_IF_STA, WIFI_PS_MAX_MODEM };
        esp_err_t esp_wifi_set_ps(int); int64_t esp_wifi_get_tsf_time(int);""",
    "sdkconfig.h": "#define CONFIG_LPSM_POLICY_LISTEN_INTERVAL 3",
}  # fmt: skip
"""What the skeletons take of Zephyr and ESP-IDF, declared again: that they compile is all that these can show."""


def built(folder, policy, real="double", *flags, config=CONFIG):
    """Export a policy and compile it with its vectors."""
    made = make(policy, beacon_interval_ns=config.beacon_interval_ns, radio=config.radio)
    for name, text in {**exported(made, config, real, pages=1), **STAND_INS}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    sources = [folder / "lpsm_policy.c", *([] if "-shared" in flags else [folder / "lpsm_check.c"])]
    out = folder / "out.so"
    subprocess.run([*STRICT, *flags, *sources, "-lm", "-o", out], check=True)
    return out


@each("name, kind", [("view", FlatView), ("frame", FlatFrame), ("plan", Plan)])
def test_structures_of_c_have_the_fields_of_python_in_their_order(name, kind):
    header = template("policy.h", said="", records="", members="")
    declared = re.search(rf"typedef struct {{([^}}]*)}} lpsm_{name};", header)
    types, names = zip(*re.findall(r"(\w+) (\w+);", declared[1]), strict=True)
    assert names == kind._fields
    assert set(types) <= {"int64_t", "bool"}


CASES = (
    "psm:200 double", "dynamic float", "bsd-phase double", "hold double", "upm double", "lpsm:alphas=0.1 double",
    "lpsm3-link float", "lpsm3-driver double",
)  # fmt: skip


@each("case", CASES)
def test_exported_c_is_clean_and_makes_the_plans_of_python(tmp_path, case):
    policy, real = case.split()
    flags = ("-fsanitize=address,undefined",) if "lpsm3" not in policy else ()
    found = subprocess.run([built(tmp_path, policy, real, *flags)], check=True, capture_output=True, text=True)
    equal, of, decisions, *_ = found.stdout.split()
    assert (equal, of) == (decisions, "of")
    assert int(decisions) > 5


def test_a_library_of_exported_c_is_a_policy_like_any_other(tmp_path):
    place, pages = built(tmp_path, "lpsm3", "double", "-shared", "-fPIC"), traces.generate(2, generator(3, 1))
    ours, theirs = (
        netsim.simulate(pages, policy, config=CONFIG, engine="packet")
        for policy in (OwnPolicy.typed(str(place)), "lpsm3")
    )
    assert ours.policy == "lpsm3:1.05:400.so"
    assert ours.energy == theirs.energy
    assert (ours.latency_s == theirs.latency_s).all()
    if shutil.which("g++"):  # whose programs read the header, too
        subprocess.run(
            ["g++", "-fsyntax-only", "-Wall", "-Werror", "-x", "c++", tmp_path / "lpsm_policy.h"], check=True
        )
    with value_error("out.so was exported for beacons every 100 ms, got 50 ms; export it for this world$"):
        make(OwnPolicy.typed(str(place)), beacon_interval_ns=50_000_000)


@each("skeleton", ["zephyr/lpsm_zephyr.c", "esp-idf/lpsm_esp_idf.c"])
def test_skeletons_compile_against_stand_ins_for_what_they_call(tmp_path, skeleton):
    built(tmp_path, "lpsm3-driver", "float")
    subprocess.run([*STRICT, "-I", tmp_path, "-c", tmp_path / skeleton, "-o", tmp_path / "skeleton.o"], check=True)


def test_what_is_no_library_of_a_policy_is_said_in_one_line(tmp_path):
    (tmp_path / "text.so").write_text("no library")
    for name in ("text.so", "absent.so"):
        with value_error(rf"{name} is no library of an exported policy: .*$") as caught:
            make(OwnPolicy.typed(str(tmp_path / name)))
        assert "\n" not in str(caught.value)
    with value_error("a policy must be one of none, psm"):
        make(str(tmp_path / "text.so"))  # a name opens nothing


def _listing(view, ints, floats):
    awake = [view.now_ns]
    return Plan(awake[0], 0, False, 0, False)


def _of_two_kinds(view, ints, floats):
    until = ints
    until = view.now_ns
    return Plan(until, 0, False, 0, False)


def _halved_once(view, ints, floats):
    low = high = view.now_ns
    low = high = high // 2
    return Plan(low, high, False, 0, False)


def test_what_is_set_for_several_variables_is_computed_once():
    assert Program(CompiledForm(_halved_once)).parts()["functions"].count("= floor_div(high, 2);") == 1


@each("rule", [_listing, _of_two_kinds])
def test_what_is_not_translated_is_named_by_file_and_line(rule):
    with pytest.raises(UnsupportedError, match=r"test_firmware.py:\d+: cannot be translated to C: .*"):
        Program(CompiledForm(rule))


def test_a_learner_on_the_bits_of_doubles_is_not_exported_in_float():
    with value_error("its learner works on the bits of numbers of type double, got --real float"):
        exported(make("lpsm"), CONFIG, "float")
    with value_error("a policy must have a compiled form to be exported, which patient has not"):
        exported(type("Patient", (), {"spec": "patient", "host_aware": False})(), CONFIG, "float")
