"""The client that knows when frames come: what it is charged can be had, and no policy of the package needs less."""

from itertools import product

import numpy as np
import pytest

import netsim
import traces
from netsim.clairvoyance import ASLEEP, AWAKE, _Search, clairvoyant
from netsim.policies import Plan, make, registry
from tests.tables import each, near
from traces.columns import Workload
from traces.records import Page

PRICES = np.array([3.0, 0.3, 0.03])
CONFIG = netsim.SimulationConfig(server_delay="exponential:0.3")
DEAR = netsim.RadioConfig(beacon_mj=0.02, wakeup_mj=2.0)  # what a poll costs is of the order of ten beacons
NS_PER_S = 1e9


def search():
    return _Search(Workload.of(traces.generate(6, 5, "1996")), CONFIG, 7, PRICES)


class Knowing:
    """Listens, in the waits of one page, to beacons whose numbers are known beforehand, or polls; hears no others."""

    spec, host_aware, polls = "knowing", False, True

    def __init__(self, ways, heard, interval_ns):
        self.ways, self.heard, self.interval = ways, heard, interval_ns
        self.wait = -1

    def plan(self, view):
        if view.event == "beacon":
            return Plan(2**62, 2**62, True)
        if view.last_sent_ns is not None:
            self.wait += 1
        way = self.ways[max(self.wait, 0)]
        if way < 0:
            return Plan(view.now_ns, view.now_ns - way, True, poll=True)
        beacons = self.heard[max(self.wait, 0)] if way == ASLEEP else way
        if self.wait >= 0 and not beacons:
            return Plan(2**62, 2**62, True)
        return Plan(view.now_ns, (view.now_ns // self.interval + max(beacons, 1)) * self.interval, True)


def replayed(own, row, ways):
    """Return slowdown and joules above sleeping of a page whose waits are met so, in the packet model."""
    heard = [max(1, int(own.browse(np.array([row]), ways[None], wait)[2][0])) for wait in range(len(ways))]
    page = own.page[row]
    known = Knowing(ways.tolist(), heard, own.config.beacon_interval_ns)
    alone = own.pages[page]._replace(issue_s=own.phase_ns[page] / NS_PER_S)
    run = netsim.simulate([alone], known, config=own.config, engine="packet")
    [latency_s] = run.latency_s
    return [latency_s / own.latency_s[page], run.pages["energy_j"][0] - 1e-3 * own.config.radio.asleep_mw * latency_s]


@each("polls", [0, 4])
def test_every_schedule_found_and_any_other_gives_what_it_claims_when_it_is_replayed(polls):
    own, rng = search(), np.random.default_rng(1)
    for start in (AWAKE, ASLEEP):
        found, ways = own.descend(start, polls)
        assert (ways < 0).any() == (polls > 0)
        for row in range(1, 18, 2):
            assert found[:, row] == near(replayed(own, row, ways[row]), rel=1e-9)
            other = rng.choice([AWAKE, ASLEEP, 1, *[-20_000_000, -3_000_001] * (polls > 0)], size=30)
            charged, met, *_ = own.browse(np.array([row]), other[None])
            assert met[0] <= 30
            assert charged[:, 0] == near(replayed(own, row, other), rel=1e-9)


def every_way(own, row, most=8):
    """Return slowdown and joules of every way to meet the waits of a page of at most so many, or None."""
    ways, ended = np.zeros((1, most), dtype=np.int64), []
    for wait in range(most):
        asleep, before = ways.copy(), ways.copy()
        asleep[:, wait] = ASLEEP
        heard = own.browse(np.full(len(ways), row), asleep, wait)[2]
        before[:, wait] = np.maximum(heard - 1, AWAKE)
        ways = np.unique(np.concatenate([ways, asleep, before]), axis=0)
        found, met, *_ = own.browse(np.full(len(ways), row), ways)
        ended.append(found[:, met <= wait + 1])
        ways = ways[met > wait + 1]
        if not len(ways):
            return np.concatenate(ended, axis=1)
    return None


def test_search_against_all_ways():
    own = search()
    ends = [own.descend(start)[0] for start in (AWAKE, ASLEEP)]
    costs = np.minimum(*(joules + own.price * slowdown for slowdown, joules in ends))
    over = []
    for row in range(0, 18, 3):
        if (found := every_way(own, row, 6)) is not None:
            best = np.array([(found[1] + price * found[0]).min() for price in PRICES])
            over.extend(costs[row : row + 3] / best - 1)
    assert len(over) >= 9
    assert min(over) > -1e-9
    assert np.mean(over) < 0.01
    assert max(over) < 0.1


@pytest.mark.parametrize(
    ("page", "waits", "step_ms"), [(Page("one", 300, 700), 3, 15), (Page("two", 300, 700, ((200, 900),)), 4, 25)]
)
def test_search_with_polls_against_all_scripts_of_a_small_page(page, waits, step_ms):
    config = netsim.SimulationConfig(server_delay=0.05)
    base = netsim.simulate([page], config=config)
    ends = []
    for script in product(range(0, 125, step_ms), repeat=waits):
        known = Knowing([-1_000_000 * ms for ms in script] + [AWAKE] * 9, [], config.beacon_interval_ns)
        run = netsim.simulate([page], known, config=config)
        above_j = run.pages["energy_j"][0] - 1e-3 * config.radio.asleep_mw * run.latency_s[0]
        ends.append((run.slowdown(base), above_j))
    slowdowns, joules = np.array(ends).T
    found = clairvoyant([page], config=config, prices_j=PRICES, polls=True)
    for price in PRICES:
        best, cost = (joules + price * slowdowns).min(), (found.above_sleep_j + price * found.slowdown).min()
        assert cost <= best + 1e-12
        # the nearest script polls up to a step too late, and then is awake a millisecond at most in each wait
        assert best <= cost + waits * 1e-3 * (price * step_ms / base.latency_s[0] + 0.7)
    assert found.above_sleep_j[-1] < 0.3 * joules[slowdowns < 1.0001].min()


def polling():
    """Return the examples of all registered policies that may poll, and others of their settings."""
    names = [entry.example for entry in registry().values() if getattr(make(entry.example), "polls", False)]
    return [*names, "lpsm4:1.02", "lpsm4:1.2", *(f"poll:{ms}" for ms in (1.6, 6.4, 51.2, 204.8, 400))]


@each("delay, radio", [pytest.param(delay, radio, marks=[] if d == r else pytest.mark.long)
    for d, delay in enumerate(("0", "lognormal:0.5", "exponential:0.3"))
    for r, radio in enumerate((netsim.RadioConfig(), netsim.Radio.profile("esp32-c6"), DEAR))])  # fmt: skip
def test_who_may_poll_needs_no_more_than_who_wakes_at_beacons_nor_than_any_policy_that_polls(delay, radio):
    config = netsim.SimulationConfig(server_delay=delay, radio=radio)
    pages = Workload.of(traces.generate(6, 4, "1996"))
    bound, curve = (clairvoyant(pages, config=config, seed=2, polls=polls) for polls in (False, True))
    assert (np.diff(curve.slowdown) >= 0.0).all()
    assert (np.diff(curve.above_sleep_j) <= 0.0).all()
    for slowdown in (*bound.slowdown, *curve.slowdown, *np.linspace(1.0, 1.5, 51)):
        assert not curve.at(slowdown) > 1.0001 * bound.at(slowdown)
    assert curve.at(1.0) > 0.0
    assert np.isnan(bound.at(0.99))
    base, tried = netsim.simulate(pages, config=config, seed=2), polling()
    assert {name.partition(":")[0] for name in tried} >= {"poll", "poll-link", "lpsm-poll", "lpsm4", "lpsm4-link"}
    for name in ("psm", "bsd:0.5", "lpsm3:1.05", "lpsm3:1.2", "hold", *tried):
        run = netsim.simulate(pages, name, config=config, seed=2)
        above_j = run.pages["energy_j"] - 1e-3 * radio.asleep_mw * run.latency_s
        above_j[0] += radio.wakeup_j  # in which it need not wake up, since a run begins awake
        assert curve.at(run.slowdown(base)) <= 1.005 * above_j.mean(), name
        assert name in tried or not bound.at(run.slowdown(base)) > 1.02 * above_j.mean(), name
