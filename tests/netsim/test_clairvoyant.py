"""The client that knows when frames come: what it is charged can be had, and no policy of the package needs less."""

import numpy as np

import netsim
import traces
from netsim.clairvoyance import ASLEEP, AWAKE, _Search, clairvoyant
from netsim.policies import Plan
from tests.tables import each, near
from traces.columns import Workload

PRICES = np.array([3.0, 0.3, 0.03])
CONFIG = netsim.SimulationConfig(server_delay="exponential:0.3")


def search():
    return _Search(Workload.of(traces.generate(6, 5, "1996")), CONFIG, 7, np.tile(PRICES, 6))


class Knowing:
    """Listens, in the waits of one page, to the beacons whose numbers are known beforehand, and to no others."""

    spec, host_aware = "knowing", False

    def __init__(self, ways, heard, interval_ns):
        self.ways, self.heard, self.interval = ways, heard, interval_ns
        self.wait = -1

    def plan(self, view):
        if view.event == "beacon":
            return Plan(2**62, 2**62, True)
        if view.last_sent_ns is not None:
            self.wait += 1
        way = self.ways[max(self.wait, 0)]
        beacons = self.heard[max(self.wait, 0)] if way == ASLEEP else way
        if self.wait >= 0 and not beacons:
            return Plan(2**62, 2**62, True)
        return Plan(view.now_ns, (view.now_ns // self.interval + max(beacons, 1)) * self.interval, True)


def test_what_is_charged_is_what_a_client_needs_that_knows_the_beacons():
    own = search()
    rng = np.random.default_rng(1)
    for row in range(0, 18, 3):
        ways = rng.choice([AWAKE, ASLEEP, 1], size=(1, 30))
        found, met, heard = own.browse(np.array([row]), ways)
        page = own.rows[row]._replace(issue_s=own.phase_ns[row] / 1e9)
        known = Knowing(ways[0].tolist(), np.maximum(heard[0], 1).tolist(), own.config.beacon_interval_ns)
        run = netsim.simulate([page], known, config=own.config, engine="packet")
        radio, [latency_s] = own.config.radio, run.latency_s
        above_j = run.pages["energy_j"][0] - 1e-3 * radio.asleep_mw * latency_s
        assert met[0] <= 30
        assert found[:, 0] == near([latency_s / own.latency_s[row], above_j], rel=1e-9)


def every_way(own, row, most=8):
    """Return slowdown and joules of every way to meet the waits of a page of at most so many, or None."""
    ways, ended = np.zeros((1, most), dtype=np.int64), []
    for wait in range(most):
        asleep, before = ways.copy(), ways.copy()
        asleep[:, wait] = ASLEEP
        heard = own.browse(np.full(len(ways), row), asleep)[2]
        before[:, wait] = np.maximum(heard[:, wait] - 1, AWAKE)
        ways = np.unique(np.concatenate([ways, asleep, before]), axis=0)
        found, met, _ = own.browse(np.full(len(ways), row), ways)
        ended.append(found[:, met <= wait + 1])
        ways = ways[met > wait + 1]
        if not len(ways):
            return np.concatenate(ended, axis=1)
    return None


def test_search_against_all_ways():
    own = search()
    costs = np.minimum(*(own._cost(own.descend(start)) for start in (AWAKE, ASLEEP)))
    over = []
    for row in range(0, 18, 3):
        if (found := every_way(own, row, 6)) is not None:
            best = np.array([(found[1] + price * found[0]).min() for price in PRICES])
            over.extend(costs[row : row + 3] / best - 1)
    assert len(over) >= 9
    assert min(over) > -1e-9
    assert np.mean(over) < 0.01
    assert max(over) < 0.1


@each("delay", "0 exponential:0.3")
def test_no_policy_needs_less_and_the_curve_rises_in_slowdown_and_falls_in_energy(delay):
    config = netsim.SimulationConfig(server_delay=delay)
    pages = Workload.of(traces.generate(10, 3, "1996"))
    curve, base = clairvoyant(pages, config=config, seed=2), netsim.simulate(pages, config=config, seed=2)
    for policy in ("psm", "bsd:0.5", "lpsm3:1.05", "lpsm3:1.2", "hold"):
        run = netsim.simulate(pages, policy, config=config, seed=2)
        above_j = (run.pages["energy_j"] - 1e-3 * config.radio.asleep_mw * run.latency_s).mean()
        assert curve.at(run.slowdown(base)) <= 1.02 * above_j
    assert (np.diff(curve.slowdown) > -0.01).all()
    assert (np.diff(curve.above_sleep_j) < 0.01 * curve.above_sleep_j[0]).all()
    assert np.isnan(curve.at(0.99))
    assert curve.at(curve.slowdown[3]) == near(curve.above_sleep_j[3], rel=0.01)
