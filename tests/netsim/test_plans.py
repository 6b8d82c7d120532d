"""One rule says which plans can be followed, on wires and on the air, interpreted and compiled."""

import pytest

import netsim
from netsim import Plan
from netsim.policies import FOREVER_NS, PolicyError
from netsim.policies.compiled import CompiledForm
from traces.records import Page

MS = 1_000_000
BEACON = 100 * MS
PAGES = [Page(f"p{i}", 300, 4000, ((300, 2500),), 2.7) for i in range(3)]
MEDIA = {"wires": None, "air": netsim.AirConfig()}


class Following:
    """Plans what a function of the view says; `rule` is its compiled form."""

    spec, host_aware = "following", False

    def __init__(self, plan, rule=None):
        self._plan, self.compiled = plan, None if rule is None else CompiledForm(rule)

    def plan(self, view):
        return self._plan(view)


def never_wakes(view, ints, floats):
    return Plan(view.now_ns, FOREVER_NS, True, 0, False)


def never_lets_out(view, ints, floats):
    return Plan(view.now_ns, FOREVER_NS, True, 0, True)


def wakes_before_it_sleeps(view, ints, floats):
    return Plan(view.now_ns + 500_000_000, (view.now_ns // 100_000_000 + 1) * 100_000_000, True, 0, False)


def comes_back_in_time(view, ints, floats):
    return Plan(view.now_ns, (view.now_ns // 100_000_000 + 1) * 100_000_000, False, -100_000_000, False)


@pytest.mark.parametrize("engine", ["packet", "express"])
@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize("rule", [never_wakes, never_lets_out, wakes_before_it_sleeps, comes_back_in_time])
def test_a_plan_by_which_no_client_wakes_up_in_time_is_refused(medium, rule, engine):
    config = netsim.SimulationConfig(medium=MEDIA[medium])
    policy = Following(lambda view: rule(view, (), ()), rule)
    with pytest.raises(PolicyError, match=r"before 2\*\*62 ns, got wake_ns=.*, before the first page$") as said:
        netsim.simulate(PAGES, policy, config=config, engine=engine)
    assert str(said.value).startswith("policy following: wake_ns must be a multiple of 100000000 ns after ")


def test_whoever_never_wakes_up_is_refused_even_where_beacons_divide_forever():
    config = netsim.SimulationConfig(beacon_interval_ns=2**27)
    with pytest.raises(PolicyError, match=r"before 2\*\*62 ns, got wake_ns=4611686018427387904"):
        netsim.simulate(PAGES, Following(lambda view: Plan(view.now_ns, FOREVER_NS)), config=config)


@pytest.mark.parametrize("medium", MEDIA)
def test_whoever_never_sleeps_need_not_wake_up(medium):
    config = netsim.SimulationConfig(medium=MEDIA[medium])
    ours = netsim.simulate(PAGES, Following(lambda view: Plan(FOREVER_NS, 0)), config=config)
    assert ours.awake_s == pytest.approx(ours.elapsed_s)


@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize("answer", [None, (0, BEACON), Plan(0, 1e8), Plan(0.0, BEACON), Plan(0, BEACON, False, None)])
def test_what_is_no_plan_in_whole_nanoseconds_is_a_type_error(medium, answer):
    config = netsim.SimulationConfig(medium=MEDIA[medium])
    with pytest.raises(TypeError, match=r"policy following: (a plan must be in whole nanoseconds|plan must return a)"):
        netsim.simulate(PAGES, Following(lambda view: answer), config=config)


def test_no_plan_is_a_type_error_to_a_client_whose_service_periods_begin_later_than_its_clock():
    def agreed_once(view):
        return Plan(10 * MS, BEACON, agreed=True) if view.now_ns == 0 else None

    members = [(PAGES, "twt:100:10"), (PAGES, Following(agreed_once))]
    with pytest.raises(TypeError, match=r"policy following: plan must return a Plan, got None, at page 'p0'"):
        netsim.simulate_cell(members, config=netsim.SimulationConfig(medium=netsim.AirConfig()))
