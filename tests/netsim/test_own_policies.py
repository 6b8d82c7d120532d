"""Policies of one's own: objects, and classes named by their file."""

import pickle
import sys
from threading import Lock

import numpy as np
import pytest

import netsim
import traces
from netsim import Plan
from netsim.policies import OwnPolicy, PolicyError, canonical, make, registry
from tests.tables import cases_of, each, value_error
from traces.records import Message, Page

MS = 1_000_000
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

class Broken:
    plan = Patient.plan

    def __init__(self):
        raise SystemExit("no\\nluck")

class Nameless:
    spec, host_aware, plan = 3, False, Patient.plan
"""
PAGES = [Page(f"p{i}", 300, 4000, ((300, 2500),) * i, 2.7) for i in range(5)]
HOSTILE = """
from pathlib import Path

from netsim.policies.static import AlwaysAwake

Path("imported").touch()

class Evil:
    def __init__(self, *_):
        Path("called").touch()

class Meta(type):
    __call__ = Evil.__init__

class Worse(metaclass=Meta):
    pass

class Numbered(Evil):
    plan = 3

def plan(*_):
    Path("called").touch()

plan.plan = plan
instance = AlwaysAwake()
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "mine_own.py").write_text(SOURCE)
    (tmp_path / "wrong_own.py").write_text("def (:\n")
    (tmp_path / "leaving_own.py").write_text("raise SystemExit(0)\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in ("mine_own", "wrong_own"):
        sys.modules.pop(name, None)


def test_a_class_in_a_file_is_a_policy_like_any_other_and_learns_the_beacon_interval(own):
    config, typed = netsim.SimulationConfig(beacon_interval_ns=102_400_000), OwnPolicy.typed("mine_own.py:Patient")
    ours, known = (netsim.simulate(PAGES, policy, config=config) for policy in (typed, "listen:3"))
    assert ours.policy == canonical(typed) == "patient:3"
    assert ours.energy == known.energy


def test_a_class_that_was_named_here_is_found_in_another_place_by_other_processes(own, monkeypatch):
    named = pickle.dumps(OwnPolicy.typed("mine_own.py:Patient:5"))
    monkeypatch.chdir("/")
    assert make(pickle.loads(named)).spec == "patient:5"


def test_a_module_of_a_known_name_can_be_loaded_beside_it_and_is_given_the_radio(own):
    (own / "json.py").write_text(SOURCE)
    known = sys.modules["json"]
    assert make(OwnPolicy.typed("json.py:Weighing"), radio=netsim.RadioConfig(awake_mw=999.0)).spec == "weighing"
    assert sys.modules["json"] is known


@cases_of("text message", """
"absent.py:Patient" -> ^there is no file .*/absent.py$
"mine_own.py:Nobody", "mine_own.py has no class Nobody with a method plan; it has Patient, Weighing, "
"mine_own.py:Broken" -> Broken of .*/mine_own.py makes no policy: SystemExit: no luck .mine_own.py, line 24.$
"mine_own.py:Nameless" -> TypeError: spec of the policy Nameless must be a str, got 3$
"mine_own.py:Patient:x" -> Patient of .*/mine_own.py makes no policy: ValueError: invalid literal
"wrong_own.py:Patient" -> wrong_own.py cannot be loaded: SyntaxError
"leaving_own.py:Patient" -> leaving_own.py cannot be loaded: SystemExit: 0 .leaving_own.py, line 1.$
f"{'a' * 300}.py:Patient" -> there is no file .*a.py
""")  # fmt: skip
def test_what_cannot_be_loaded_is_said_in_one_line(own, text, message):
    with value_error(message) as caught:
        make(OwnPolicy.typed(text))
    assert "\n" not in str(caught.value)


@each("text", "lpsmm:log c: mine.py:2 mine_own:Patient mine.py mine.py: psm")
def test_what_names_no_file_and_class_is_no_class_of_ones_own(own, text):
    assert OwnPolicy.typed(text) is None


@each("name", "Evil Evil:x Worse Numbered plan instance Path AlwaysAwake")
def test_a_name_runs_nothing_and_only_a_class_with_a_plan_is_called(own, name):
    (own / "hostile.py").write_text(HOSTILE)
    for text in (f"hostile.py:{name}", f"hostile:{name}", f"{own}/hostile.py:{name}"):
        with value_error("a policy must be one of none, psm"):
            netsim.simulate(PAGES, text)
        assert not (own / "imported").exists()
    typed = OwnPolicy.typed(f"hostile.py:{name}")
    if name == "AlwaysAwake":
        assert make(typed).spec == "none"
    else:
        with value_error(r"hostile.py has no class .* with a method plan; it has AlwaysAwake$"):
            make(typed)
    assert not (own / "called").exists()


class Failing:
    """Listens to every beacon; fails at the tenth second."""

    spec, host_aware = "failing", False

    def __init__(self, error, where="plan"):
        self.error, self.where = error, where

    def fail(self, where, now_ns):
        if where == self.where and now_ns >= 10_000_000_000:
            raise self.error

    def plan(self, view):
        self.fail("plan", view.now_ns)
        return Plan(view.now_ns, (view.now_ns // 100_000_000 + 1) * 100_000_000)

    def observe(self, frame):
        self.fail("observe", frame.at_ns)


@each("medium", [None, netsim.AirConfig()])
@each("where", "plan observe")
@each("error", [SystemExit(0), KeyError("a\nb"), GeneratorExit(), StopIteration()])
def test_whatever_a_policy_raises_is_one_error_that_names_policy_and_page(medium, where, error):
    config = netsim.SimulationConfig(medium=medium)
    with pytest.raises(PolicyError, match=f"^policy failing: {where} raised {type(error).__name__}") as caught:
        netsim.simulate(PAGES, Failing(error, where), config=config)
    assert str(caught.value).endswith(f", at page '{'p3' if where == 'plan' else 'p4'}'")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value.__cause__.__cause__, type(error))
    members = [(PAGES[:1], "psm"), (PAGES[1:], Failing(error, where)), (PAGES, "none")]
    with pytest.raises(PolicyError, match=r"policy failing: .*, at page 'p4'$"):
        netsim.simulate_cell(members, config=config)


def test_a_policy_may_still_be_stopped_by_whoever_runs_it_and_one_that_cannot_be_copied_is_refused_by_name():
    with pytest.raises(KeyboardInterrupt):
        netsim.simulate(PAGES, Failing(KeyboardInterrupt()))
    with value_error(r"^policy failing cannot be copied: TypeError: cannot pickle"):
        netsim.simulate(PAGES, Failing(Lock()))
    copied = type("Copied", (Failing,), {"__deepcopy__": lambda self, memo: None})(None)
    with value_error(r"^policy failing cannot be copied: TypeError: policy must be a name or"):
        netsim.simulate(PAGES, copied)


@each("kind", list(registry()))
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


class OnItsOwnClock:
    """Has agreed on periods, and notes whether what it is shown of the past is what it was told of."""

    spec, host_aware = "own-clock", False

    def __init__(self):
        self.last = {True: None, False: None}
        self.right, self.waits_ns = [], []

    def observe(self, frame):
        self.last[frame.sent] = frame.at_ns
        self.waits_ns.append(frame.at_ns - frame.full_ns)

    def plan(self, view):
        self.right.append((view.last_sent_ns, view.last_received_ns) == (self.last[True], self.last[False]))
        begin = view.now_ns // (50 * MS) * 50 * MS
        return Plan(max(view.now_ns, begin + 5 * MS), begin + 50 * MS, agreed=True)


def test_a_client_whose_service_periods_come_later_has_a_clock_of_its_own_in_all_that_it_is_shown():
    pages = [Page(f"p{i}", 300, 3_000, think_s=0.2) for i in range(3)]
    config = netsim.SimulationConfig(medium=netsim.AirConfig())
    for result in netsim.simulate_cell([(pages, OnItsOwnClock())] * 3, config=config):
        policy = result.final_policy
        assert len(policy.right) > 10
        assert all(policy.right)
        assert 0 <= min(policy.waits_ns) < max(policy.waits_ns) < 60 * MS


class Told:
    """Polls while anything is outstanding, and keeps what it is told of when frames came."""

    spec, host_aware, polls = "own-told", True, True

    def __init__(self):
        self.frames, self.arrivals = [], []

    def observe(self, frame):
        if not frame.sent:
            self.frames.append((frame.reached_ns, frame.empty_ns, frame.full_ns, frame.at_ns))

    def plan(self, view):
        self.arrivals += view.arrivals_ns
        if view.outstanding and view.event == "idle" and view.now_ns % 3:
            return Plan(view.now_ns, view.now_ns + 31 * MS, True, poll=True)
        return Plan(view.now_ns, (view.now_ns // (100 * MS) + 1) * 100 * MS, True)


@each("medium", [None, "11n"])
def test_of_when_a_frame_came_a_policy_is_told_an_interval_which_holds_the_instant_and_the_instant_by_an_oracle(medium):
    config = netsim.SimulationConfig(medium=medium, server_delay="exponential:0.3")
    pages, push = traces.generate(20, np.random.default_rng(3), web="1996"), [Message(7.0 * k, 300) for k in range(30)]
    told, oracle = (
        netsim.simulate(pages, Told(), config=config, push=push, oracle_stamps=stamps).final_policy
        for stamps in (False, True)
    )
    assert {reached for reached, *_ in told.frames} == {None}
    assert told.arrivals == []
    assert oracle.arrivals
    assert any(full - empty > 20 * MS for _, empty, full, _ in told.frames)
    pairs = zip(told.frames, oracle.frames, strict=True)
    for (_, empty, full, at), (reached, *same, also_at) in pairs:
        assert at == also_at
        assert same == [reached, reached]
        if empty == full:  # it found the client awake, and is not known to have waited for the medium
            assert full == at
        else:
            assert empty - 2 * MS <= reached <= full <= at  # a beacon on the air says what waited when it began


@each("policy", ["lpsm", "lpsm:log", "lpsm-poll"])
def test_the_thesis_learner_does_not_depend_on_when_frames_came(policy):
    pages = traces.generate(10, np.random.default_rng(4), web="1996")
    one, other = (netsim.simulate(pages, policy, oracle_stamps=stamps) for stamps in (False, True))
    assert one.energy == other.energy
    assert one.final_policy.compiled.floats.tolist() == other.final_policy.compiled.floats.tolist()


class Watching:
    """Stays awake a while after what came, and counts what it is asked and told."""

    spec, host_aware = "watching", False

    def __init__(self, fails_at=None):
        self.seen, self.fails_at = [], fails_at

    def plan(self, view):
        self.seen.append((view.event, view.now_ns, view.last_sent_ns, view.slept_ns, view.buffered_bytes))
        if self.fails_at is not None and len(self.seen) >= self.fails_at:
            raise KeyError("no luck")
        until = view.now_ns if view.last_received_ns is None else max(view.now_ns, view.last_received_ns + 70 * MS)
        return Plan(until, (until // (200 * MS) + 1) * 200 * MS, open_on_send=len(self.seen) % 2 == 0)

    def observe(self, frame):
        self.seen.append(tuple(frame))


@pytest.fixture
def kernel():
    """Have the model compiled, whatever else was asked of this process."""
    netsim.simulate(PAGES, "none", engine="express")


@pytest.mark.usefixtures("kernel")
@each("config", [netsim.SimulationConfig(link=netsim.LinkConfig(loss_rate=0.05)),
    netsim.SimulationConfig(medium=netsim.AirConfig.shipped("11g:54"))])  # fmt: skip
def test_a_compiled_run_calls_a_policy_back_as_an_interpreted_one_does(config, monkeypatch):
    given = Watching()
    runs = [netsim.simulate(PAGES, given, config=config, seed=2, engine=engine) for engine in ("packet", "auto")]
    assert runs[0].final_policy.seen == runs[1].final_policy.seen != []
    assert runs[0].energy == runs[1].energy
    assert runs[0].pages.equals(runs[1].pages)
    assert given.seen == []
    monkeypatch.setattr("netsim.running.on_simpy.run_interpreted", None)
    netsim.simulate(PAGES, given, config=config)  # called back


@pytest.mark.usefixtures("kernel")
@each("fails_at", (1, 2, 40))
def test_a_policy_that_is_called_back_fails_as_one_that_is_interpreted(fails_at):
    said = []
    for engine in ("packet", "auto"):
        with pytest.raises(PolicyError) as error:
            netsim.simulate(PAGES, Watching(fails_at), engine=engine)
        said.append(str(error.value))
    assert said[0] == said[1]
    assert "no luck" in said[0]
