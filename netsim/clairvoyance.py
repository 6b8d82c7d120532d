"""What a client could save that knows when frames come: the least energy within pages at a slowdown.

Within a page a client waits again and again for the next frame.  One that knows when it comes needs three ways to wait:
awake; asleep up to the last beacon before the frame and awake from there, which costs no time either; or asleep up to
the first beacon after it.  The ways are searched page by page for a price of slowdown, from all awake and from all
asleep: one wait after another takes the way of the least energy + price x slowdown, twice over, and the better of both
ends counts.  Prices trace energy against slowdown; mixtures of pages reach what lies between two of them.

Who knows the future can have this energy.  It is no lower bound: later beacons are left out, and the search may end
where no single wait is worth changing (on pages of up to six waits, all of whose ways were tried: within 1 % of the
least cost on average).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lpsm import arrays, randomness
from lpsm.checks import array, of_type, shown
from netsim.config import SimulationConfig
from netsim.policies.compiled import CompiledForm, FlatView, Floats, Ints, Ruled
from netsim.policies.protocol import Plan
from netsim.server_delay import ServerDelay
from netsim.simulation import simulate
from traces.columns import Workload
from traces.records import Page

INTERVAL, PERIOD, WAITS, ROW, WAIT, SINCE, TABLE = 0, 1, 2, 3, 4, 5, 6
MET, VAIN = 0, 1
AWAKE, ASLEEP = 0, 1 << 40
_PASSES = 2
_PRICES_J = tuple(np.geomspace(30.0, 0.003, 13).tolist())
_NS_PER_S = 1_000_000_000


def _wait(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Meet each wait as the table says, which has a row a period: waits met, beacons in vain, then ways, and beacons.

    A way is the number of the beacon to wake up for and stay awake from, 0 being now and `ASLEEP` none.  Asleep, the
    client listens to every beacon, and counts those that bring nothing: they are not charged.
    """
    waits, now, interval = ints[WAITS], view.now_ns, ints[INTERVAL]
    row = min(now // ints[PERIOD], (len(ints) - TABLE) // (2 * waits + 2) - 1)
    if row != ints[ROW]:
        ints[ROW], ints[WAIT] = row, 0
    at = TABLE + row * (2 * waits + 2)
    if not view.at_beacon and view.last_sent_ns >= 0:  # not at the start of the run
        ints[WAIT] += 1
        ints[SINCE] = now // interval
        ints[at + MET] = ints[WAIT]
    wait = at + 1 + max(1, min(ints[WAIT], waits))
    way, heard = ints[wait], now // interval - ints[SINCE]
    if view.at_beacon and way == ASLEEP and view.buffered_bytes:
        ints[wait + waits] = heard
        ints[at + VAIN] += heard - 1
    if way == ASLEEP:
        return Plan(now, (now // interval + 1) * interval, True, interval, False)
    if way and not view.at_beacon:
        return Plan(now, (now // interval + way) * interval, True, 0, False)
    until = max(now, (row + 1) * ints[PERIOD] - interval)
    return Plan(until, (until // interval + 1) * interval, True, 0, False)


class _Waiter(Ruled):
    """A client that meets the waits of its r-th period as row r of `ways`, shape (rows, waits), says."""

    spec = "clairvoyant"

    def __init__(self, interval_ns: int, period_ns: int, ways: arrays.Ints) -> None:
        head, waits = [interval_ns, period_ns, ways.shape[1], -1, 0, 0], ways.shape[1]
        self.compiled = CompiledForm(_wait, ints=np.concatenate([head, np.pad(ways, ((0, 0), (2, waits))).ravel()]))


@dataclass(frozen=True, slots=True)
class Clairvoyant:
    """Energy against slowdown, from the highest price of slowdown to the lowest.

    Attributes
    ----------
    slowdown : array of float64, shape (prices,)
        Mean over the pages of the latency over that of a client always awake.
    above_sleep_j : array of float64, shape (prices,)
        Joules a page, between its issue and its last byte, above what sleeping all that time would need.
    """

    slowdown: arrays.Floats
    above_sleep_j: arrays.Floats

    def at(self, slowdown: float) -> float:
        """Return the joules a page above sleeping at a mean slowdown; NaN below the least slowdown searched."""
        return float(np.interp(slowdown, np.maximum.accumulate(self.slowdown), self.above_sleep_j, left=np.nan))


def clairvoyant(
    pages: Iterable[Page], *, config: SimulationConfig | None = None, seed: int = 0, prices_j: ArrayLike = _PRICES_J
) -> Clairvoyant:
    """Find the least energy of a client that knows beforehand when frames come, at each price of slowdown.

    The waits of each page are searched.  It is browsed alone, from the instant within a beacon interval at which it
    begins in a run always awake.

    Parameters
    ----------
    pages, config, seed
        As of `netsim.simulate`: the same delays of servers.
    prices_j : array of float64, shape (prices,)
        Joules that 1 more of slowdown costs a page, falling.

    Raises
    ------
    ValueError
        If there are no pages, or messages, datagrams or exchanges at times of their own beside them; if the air is
        shared, or frames are lost.
    """
    config, workload = SimulationConfig() if config is None else config, Workload.of(pages)
    of_type(SimulationConfig, config=config)
    if not len(workload) or workload.messages or workload.datagrams or len(workload.timings):
        raise ValueError("a clairvoyant client needs pages, and no messages, datagrams or times of exchanges")
    if config.medium is not None or config.link.loss_rate:
        raise ValueError("a clairvoyant client needs a medium of its own, on which no frame is lost")
    prices = array("prices_j", prices_j)
    if prices.ndim != 1 or not len(prices) or not (prices > 0.0).all() or (np.diff(prices) >= 0.0).any():
        raise ValueError(f"prices_j must be falling numbers above 0, got {shown(prices_j)}")
    search = _Search(workload, config, seed, np.tile(prices, len(workload)))
    awake, asleep = search.descend(AWAKE), search.descend(ASLEEP)
    found = np.where(search._cost(asleep) < search._cost(awake), asleep, awake)
    slowdown, joules = found.reshape(2, len(workload), len(prices)).mean(axis=1)
    return Clairvoyant(slowdown, joules)


class _Search:
    """Every page at every price, a row each, browsed one behind another in one run."""

    def __init__(self, workload: Workload, config: SimulationConfig, seed: int, price: arrays.Floats) -> None:
        base = simulate(workload, "none", config=config, seed=seed)
        waits_s = config.server_delay.draw(workload, randomness.generator(seed, randomness.SERVER, 0)) / _NS_PER_S
        each = np.split(waits_s, np.cumsum(1 + workload.objects)[:-1])
        pages = [page._replace(think_s=0.0, waits_s=tuple(own)) for page, own in zip(workload, each, strict=True)]
        times = len(price) // len(pages)
        self.price, self.rows = price, [page for page in pages for _ in range(times)]
        self.config = replace(config, server_delay=ServerDelay(kind="recorded"))
        interval = config.beacon_interval_ns
        issued_ns = np.rint(base.page_columns["issue_s"] * _NS_PER_S).astype(np.int64)
        self.phase_ns, self.latency_s = (interval + issued_ns % interval).repeat(times), base.latency_s.repeat(times)
        self.period_ns = interval * (50 + int(20 * base.latency_s.max() * _NS_PER_S) // interval)

    def _cost(self, found: arrays.Floats, rows: arrays.Ints | slice = slice(None)) -> arrays.Floats:
        cost: arrays.Floats = found[1] + self.price[rows] * found[0]
        return cost

    def descend(self, start: int) -> arrays.Floats:
        """Return slowdown and joules above sleeping, shape (2, rows), of the ways found from one way for all waits."""
        everywhere = np.arange(len(self.rows))
        found, met, _ = self.browse(everywhere, np.full((len(everywhere), 1), start))
        ways = np.full((len(everywhere), 2 * met.max()), start)
        for wait in np.tile(np.arange(ways.shape[1]), _PASSES):
            heard = np.zeros(len(everywhere), dtype=np.int64)
            for way in (ASLEEP, None, AWAKE):
                rows = np.flatnonzero(met > wait)
                if not len(rows):
                    break
                tried = ways[rows]
                tried[:, wait] = np.maximum(heard[rows] - 1, AWAKE) if way is None else way
                then, then_met, then_heard = self.browse(rows, tried)
                if way == ASLEEP:
                    heard[rows] = then_heard[:, wait]
                better = self._cost(then, rows) < self._cost(found[:, rows], rows)
                kept = rows[better]
                ways[kept], met[kept], found[:, kept] = tried[better], then_met[better], then[:, better]
        return found

    def browse(self, rows: arrays.Ints, ways: arrays.Ints) -> tuple[arrays.Floats, arrays.Ints, arrays.Ints]:
        """Return slowdown and joules above sleeping, shape (2, rows), waits met, and beacons heard in those asleep."""
        interval, radio = self.config.beacon_interval_ns, self.config.radio
        while True:
            at_s = (np.arange(len(rows)) * self.period_ns + self.phase_ns[rows]) / _NS_PER_S
            pages = [self.rows[row]._replace(issue_s=at) for row, at in zip(rows.tolist(), at_s.tolist(), strict=True)]
            run = simulate(pages, _Waiter(interval, self.period_ns, ways), config=self.config)
            policy: Any = run.final_policy
            own = run.page_columns
            if np.allclose(own["issue_s"], at_s, rtol=0.0, atol=1e-8):
                break
            self.period_ns *= 2
        table = policy.compiled.ints[TABLE:].reshape(len(rows), -1)
        above = own["energy_j"] - radio.beacon_mj * 1e-3 * table[:, VAIN] - radio.asleep_mw * 1e-3 * own["latency_s"]
        found = np.array([own["latency_s"] / self.latency_s[rows], above])
        return found, table[:, MET].copy(), table[:, -ways.shape[1] :].copy()
