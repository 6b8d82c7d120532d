"""One rule says which plans can be followed, on wires and on the air, interpreted and compiled."""

import pytest

import netsim
from netsim import Plan
from netsim.policies import FOREVER_NS, PolicyError
from netsim.policies.compiled import CompiledForm
from tests.tables import each
from traces.records import Page

MS = 1_000_000
BEACON = 100 * MS
PAGES = [Page(f"p{i}", 300, 4000, ((300, 2500),), 2.7) for i in range(3)]
ON_MEDIA = [netsim.SimulationConfig(), netsim.SimulationConfig(medium=netsim.AirConfig())]


class Following:
    """Plans what a function of the view says."""

    spec, host_aware = "following", False

    def __init__(self, plan, compiled=None):
        self._plan, self.compiled = plan, compiled

    def plan(self, view):
        return self._plan(view)


def wrong(view, ints, floats):
    """A plan by which no client wakes up in time, of four kinds."""
    now, following = view.now_ns, (view.now_ns // 100_000_000 + 1) * 100_000_000
    if ints[0] < 2:  # it never wakes up, or is never let out of an agreed sleep
        return Plan(now, FOREVER_NS, True, 0, ints[0] == 1)
    if ints[0] == 2:  # it wakes up before it sleeps
        return Plan(now + 500_000_000, following, True, 0, False)
    return Plan(now, following, False, -100_000_000, False)  # it repeats backwards


@each("engine", "packet express")
@each("config", ON_MEDIA)
@each("kind", range(4))
def test_a_plan_by_which_no_client_wakes_up_in_time_is_refused(config, kind, engine):
    policy = Following(lambda view: wrong(view, (kind,), ()), CompiledForm(wrong, ints=[kind]))
    with pytest.raises(PolicyError, match=r"before 2\*\*62 ns, got wake_ns=.*, before the first page$") as said:
        netsim.simulate(PAGES, policy, config=config, engine=engine)
    assert str(said.value).startswith("policy following: wake_ns must be a multiple of 100000000 ns after ")


def test_whoever_never_wakes_up_is_refused_even_where_beacons_divide_forever():
    config = netsim.SimulationConfig(beacon_interval_ns=2**27)
    with pytest.raises(PolicyError, match=r"before 2\*\*62 ns, got wake_ns=4611686018427387904"):
        netsim.simulate(PAGES, Following(lambda view: Plan(view.now_ns, FOREVER_NS)), config=config)


@each("config", ON_MEDIA)
def test_whoever_never_sleeps_need_not_wake_up_and_what_is_no_plan_is_a_type_error(config):
    ours = netsim.simulate(PAGES, Following(lambda view: Plan(FOREVER_NS, 0)), config=config)
    assert ours.awake_s == pytest.approx(ours.elapsed_s)
    for answer in (None, (0, BEACON), Plan(0, 1e8), Plan(0.0, BEACON), Plan(0, BEACON, False, None)):
        with pytest.raises(TypeError, match=r"policy following: (a plan must be in whole nanosec|plan must return a)"):
            netsim.simulate(PAGES, Following(lambda view, answer=answer: answer), config=config)


def test_no_plan_is_a_type_error_to_a_client_whose_service_periods_begin_later_than_its_clock():
    def agreed_once(view):
        return Plan(10 * MS, BEACON, agreed=True) if view.now_ns == 0 else None

    members = [(PAGES, "twt:100:10"), (PAGES, Following(agreed_once))]
    with pytest.raises(TypeError, match=r"policy following: plan must return a Plan, got None, at page 'p0'"):
        netsim.simulate_cell(members, config=ON_MEDIA[1])
