"""Policies of one's own: objects, and classes named by their file or module."""

import sys

import pytest

import netsim
from netsim.policies import canonical, make, registry
from traces.records import Page

SOURCE = """
from netsim import Plan

class Patient:
    host_aware = False

    def __init__(self, beacons="3", *, beacon_interval_ns=100_000_000):
        self.spec = f"patient:{beacons}"
        self._period_ns = int(beacons) * beacon_interval_ns

    def plan(self, view):
        return Plan(view.now_ns, (view.now_ns // self._period_ns + 1) * self._period_ns)

class Weighing:
    spec, host_aware, plan = "weighing", False, Patient.plan

    def __init__(self, radio):
        assert radio.awake_mw == 999.0

class Impatient:
    spec, host_aware = "impatient", False

class Broken:
    def __init__(self):
        raise OSError("no\\nluck")
"""
PAGES = [Page(f"p{i}", 300, 4000, ((300, 2500),) * i, 2.7) for i in range(5)]


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "mine_own.py").write_text(SOURCE)
    (tmp_path / "wrong_own.py").write_text("def (:\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in ("mine_own", "wrong_own"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("text", ["mine_own.py:Patient", "mine_own:Patient"])
def test_a_class_in_a_file_or_module_is_a_policy_like_any_other(own, text):
    ours, known = netsim.simulate(PAGES, text), netsim.simulate(PAGES, "psm:300")
    assert ours.policy == canonical(text) == "patient:3"
    assert ours.energy == known.energy


def test_a_file_is_found_by_its_whole_path_and_text_behind_the_class_is_its_parameter(own):
    assert make(f"{own}/mine_own.py:Patient:7").spec == "patient:7"


def test_the_beacon_interval_goes_to_a_constructor_that_takes_it(own):
    config = netsim.SimulationConfig(beacon_interval_ns=102_400_000)
    ours, known = (netsim.simulate(PAGES, policy, config=config) for policy in ("mine_own.py:Patient", "listen:3"))
    assert ours.energy == known.energy


def test_a_module_of_a_known_name_can_be_loaded_beside_it_and_is_given_the_radio(own):
    (own / "json.py").write_text(SOURCE)
    known = sys.modules["json"]
    assert make("json.py:Weighing", radio=netsim.RadioConfig(awake_mw=999.0)).spec == "weighing"
    assert sys.modules["json"] is known
    assert make("netsim.policies.static:AlwaysAwake").spec == "none"


def test_an_object_is_copied_and_named_by_itself(own):
    policy = make("mine_own.py:Patient:2")
    assert make(policy) is not policy
    assert canonical(policy) == "patient:2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("absent.py:Patient", "^policy 'absent.py:Patient': there is no file absent.py$"),
        ("mine_own.py:Nobody", "mine_own.py has no class Nobody; it has Patient, Weighing$"),
        (
            "mine_own.py:Impatient",
            "Impatient of mine_own.py makes no policy: TypeError: policy must be a name or",
        ),
        ("mine_own.py:Broken", "Broken of mine_own.py makes no policy: OSError: no luck$"),
        ("mine_own.py:Patient:x", "Patient of mine_own.py makes no policy: ValueError: invalid literal"),
        ("wrong_own.py:Patient", "wrong_own.py cannot be loaded: SyntaxError"),
        ("no_such_module:Patient", "the module no_such_module cannot be imported: ModuleNotFoundError"),
        (f"{'a' * 300}:Patient", "a cannot be imported: ModuleNotFoundError"),  # no file can have such a name
        (f"{'a' * 300}.py:Patient", "there is no file a"),
        ("lpsmm:log", "got .lpsmm:log.; did you mean lpsm"),
    ],
)
def test_what_cannot_be_loaded_is_said_in_one_line(own, text, message):
    with pytest.raises(ValueError, match=message) as caught:
        make(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", list(registry()))
def test_every_policy_declares_itself_and_has_a_compiled_form(kind):
    entry = registry()[kind]
    assert entry.kind == kind
    assert entry.written.startswith(kind)
    assert entry.meaning
    assert entry.source
    policy = make(entry.example)
    assert policy.spec.partition(":")[0] == kind
    assert policy.host_aware == entry.host_aware
    assert policy.compiled is not None
