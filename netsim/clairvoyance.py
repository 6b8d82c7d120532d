"""What a client could save that knows when frames come: the least energy within pages at a slowdown.

Within a page a client waits again and again for the next frame.  One that knows when it comes needs three ways to wait:
awake; asleep up to the last beacon before the frame and awake from there, which costs no time either; or asleep up to
the first beacon after it.  One that may ask the access point at any instant has these, and polls that it hears when a
frame comes there: the first, or one of those behind which it is silent the longest, up to that beacon at first, then up
to the fourth after it.

The ways are searched page by page for a price of slowdown, from all awake and from all asleep: one wait after another
takes the way of the least energy + price x slowdown, twice over, and the better of both ends counts.  Prices trace
energy against slowdown; mixtures of pages reach what lies between two of them.  Of one that polls, what was found of a
page without polls counts, too, and at all prices: so it never needs more than one that wakes up at beacons alone, and
its slowdowns begin at that of being awake or below.

Who knows the future can have this energy.  It is no lower bound: later instants are left out, and the search may end
where no single wait is worth changing (on pages of up to six waits, all of whose ways at beacons were tried: within 1 %
of the least cost on average).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lpsm import arrays, randomness
from lpsm.checks import array, of_type, shown
from netsim.config import SimulationConfig
from netsim.policies.compiled import CompiledForm, FlatFrame, FlatView, Floats, Ints, NamedObserving
from netsim.policies.protocol import ASK, Plan
from netsim.server_delay import ServerDelay
from netsim.simulation import simulate
from traces.columns import Workload
from traces.records import Page

INTERVAL, PERIOD, STRIDE, PROBED, ROW, WAIT, SINCE, TABLE = range(8)
MET, VAIN, HEARD, COUNT, CAME, WAYS = 0, 1, 2, 3, 4, 68
AWAKE, ASLEEP, NEVER = 0, 1 << 40, 1 << 41
_PASSES, _POLLS, _LATER = 2, 4, 4
_NO_DELAY_J = 1e6
_PRICES_J = tuple(np.geomspace(30.0, 0.003, 13).tolist())
_NS_PER_S = 1_000_000_000


def _wait(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Meet each wait as the table says, whose rows are periods: waits met, beacons in vain, heard, frames, ways.

    A way is the number of the beacon to wake up for and stay awake from, 0 being now and `ASLEEP` none, or below 0 in
    how many nanoseconds to poll.  Asleep, the client listens to every beacon, and counts those that bring nothing: they
    are not charged.
    """
    stride, now, interval = ints[STRIDE], view.now_ns, ints[INTERVAL]
    row = min(now // ints[PERIOD], (len(ints) - TABLE) // stride - 1)
    if row != ints[ROW]:
        ints[ROW], ints[WAIT] = row, 0
    at = TABLE + row * stride
    if not view.at_beacon and view.last_sent_ns >= 0:  # not at the start of the run
        ints[WAIT] += 1
        ints[SINCE] = now
        ints[at + MET] = ints[WAIT]
    way = ints[at + min(WAYS + max(0, ints[WAIT] - 1), stride - 1)]
    if view.at_beacon and way == ASLEEP and view.buffered_bytes:
        heard = now // interval - ints[SINCE] // interval
        ints[at + VAIN] += heard - 1
        if ints[WAIT] - 1 == ints[PROBED]:
            ints[at + HEARD] = heard
    if way == ASLEEP:
        return Plan(now, (now // interval + 1) * interval, True, interval, False)
    if way < 0:
        return Plan(now, now - way, True, ASK + 0 * now, False)
    if way and not view.at_beacon:
        return Plan(now, (now // interval + way) * interval, True, 0, False)
    until = max(now, (row + 1) * ints[PERIOD] - interval)
    return Plan(until, (until // interval + 1) * interval, True, 0, False)


def _note(frame: FlatFrame, ints: Ints, floats: Floats) -> None:
    """Note how long after the beginning of the wait that is probed each of its first frames came."""
    row = TABLE + ints[ROW] * ints[STRIDE]
    at = row + CAME + ints[row + COUNT]
    if not frame.sent and ints[WAIT] - 1 == ints[PROBED] and frame.empty_ns > ints[SINCE] and at < row + WAYS:
        ints[at] = frame.empty_ns - ints[SINCE]
        ints[row + COUNT] += 1


@dataclass(frozen=True, slots=True)
class Clairvoyant:
    """Energy against slowdown, from the highest price of slowdown to the lowest.

    Attributes
    ----------
    slowdown : array of float64, shape (points,)
        Mean over the pages of the latency over that of a client always awake.
    above_sleep_j : array of float64, shape (points,)
        Joules a page, between its issue and its last byte, above what sleeping all that time would need.
    """

    slowdown: arrays.Floats
    above_sleep_j: arrays.Floats

    def at(self, slowdown: float) -> float:
        """Return the joules a page above sleeping at a mean slowdown; NaN below the least slowdown searched."""
        return float(np.interp(slowdown, np.maximum.accumulate(self.slowdown), self.above_sleep_j, left=np.nan))


def clairvoyant(
    pages: Iterable[Page], *, config: SimulationConfig | None = None, seed: int = 0, prices_j: ArrayLike = _PRICES_J,
    polls: bool = False,
) -> Clairvoyant:  # fmt: skip
    """Find the least energy of a client that knows beforehand when frames come, at each price of slowdown.

    The waits of each page are searched.  It is browsed alone, from the instant within a beacon interval at which it
    begins in a run always awake.  There is a point a price, or if it `polls` one for each of many more prices.

    Parameters
    ----------
    pages, config, seed
        As of `netsim.simulate`: the same delays of servers.
    prices_j : array of float64, shape (prices,)
        Joules that 1 more of slowdown costs a page, falling.
    polls : bool
        Whether it may ask the access point at any instant, too (`Plan.poll`), instead of waking up at beacons alone.

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
    search = _Search(workload, config, seed, np.append(_NO_DELAY_J, prices) if polls else prices)
    most = (0, _POLLS) if polls else (0,)
    listed = [search.descend(start, many)[0] for many in most for start in (AWAKE, ASLEEP)]
    found = np.stack(listed, axis=-1).reshape(2, len(workload), -1, len(listed))
    if polls:  # what was found at one price may be better at another
        prices, found = np.geomspace(_NO_DELAY_J, 1.0 / _NO_DELAY_J, 121), found.reshape(2, len(workload), 1, -1)
    best = (found[1] + prices[:, None] * found[0]).argmin(axis=-1)
    slowdown, joules = np.take_along_axis(found, best[None, ..., None], axis=-1)[..., 0].mean(axis=1)
    return Clairvoyant(slowdown, joules)


class _Search:
    """Every page at every price, a row each, browsed one behind another in one run."""

    def __init__(self, workload: Workload, config: SimulationConfig, seed: int, prices: arrays.Floats) -> None:
        base = simulate(workload, "none", config=config, seed=seed)
        waits_s = config.server_delay.draw(workload, randomness.generator(seed, randomness.SERVER, 0)) / _NS_PER_S
        each = np.split(waits_s, np.cumsum(1 + workload.objects)[:-1])
        self.pages = [page._replace(think_s=0.0, waits_s=tuple(own)) for page, own in zip(workload, each, strict=True)]
        self.price = np.tile(prices, len(self.pages))
        self.page = np.arange(len(self.pages)).repeat(len(prices))
        self.config = replace(config, server_delay=ServerDelay(kind="recorded"), oracle_stamps=True)
        interval, link = config.beacon_interval_ns, config.link
        issued_ns = np.rint(base.page_columns["issue_s"] * _NS_PER_S).astype(np.int64)
        self.phase_ns, self.latency_s = interval + issued_ns % interval, base.latency_s
        self.period_ns = interval * (50 + int(20 * base.latency_s.max() * _NS_PER_S) // interval)
        bare_ns = config.tcp.header_bytes * 8 * _NS_PER_S // round(1e6 * link.wireless_mbps)
        self.poll_ns = bare_ns + round(1e6 * link.wireless_delay_ms)  # until a poll is heard

    def descend(self, start: int, polls: int = 0) -> tuple[arrays.Floats, arrays.Ints]:
        """Return slowdown and joules above sleeping, shape (2, rows), of the ways found from one for all, and these.

        In each wait so many polls are tried, the second time among more instants.
        """
        everywhere = np.arange(len(self.page))
        found, met, *_ = self.browse(everywhere, np.full((len(everywhere), 1), start))
        ways = np.full((len(everywhere), 2 * met.max()), start)
        for again, wait in product(range(_PASSES), range(ways.shape[1])):
            offered = np.full((len(everywhere), 4 + polls), NEVER)
            offered[:, 0], offered[:, 2] = ASLEEP, AWAKE
            for which in range(4 + polls):
                rows = np.flatnonzero((met > wait) & (offered[:, which] < NEVER))
                if not len(rows):
                    continue
                tried = ways[rows]
                tried[:, wait] = offered[rows, which]
                then, then_met, heard, came_ns = self.browse(rows, tried, wait)
                if which == 0:
                    offered[rows, 1] = np.maximum(heard - 1, AWAKE)
                if which == 0 and again and polls:
                    offered[rows, 3] = heard + _LATER
                elif which in (0, 3):
                    offered[rows, 4:] = self.polled(came_ns, polls)
                slower, dearer = then - found[:, rows]
                better = dearer + self.price[rows] * slower < 0.0
                kept = rows[better]
                ways[kept], met[kept], found[:, kept] = tried[better], then_met[better], then[:, better]
        return found, ways

    def polled(self, came_ns: arrays.Ints, most: int) -> arrays.Ints:
        """Return the ways to poll when the first frame comes, and others behind which it is silent the longest."""
        silence_ns = np.diff(came_ns, append=NEVER)
        silence_ns[:, :1] = NEVER
        longest = np.argsort(-silence_ns, kind="stable")[:, :most]
        at_ns = np.take_along_axis(came_ns, longest, axis=1)
        return np.where(at_ns < NEVER, -np.maximum(at_ns - self.poll_ns, 1), NEVER)

    def browse(
        self, rows: arrays.Ints, ways: arrays.Ints, probed: int = -1
    ) -> tuple[arrays.Floats, arrays.Ints, arrays.Ints, arrays.Ints]:
        """Return slowdown and joules above sleeping, shape (2, rows), and how many waits were met.

        Of the wait that is probed also the beacon that found something, if asleep, and when frames came from its
        beginning, nanoseconds; `NEVER` behind the last.
        """
        each, back = np.unique(np.column_stack([self.page[rows], ways]), axis=0, return_inverse=True)
        page, ways, n = each[:, 0], each[:, 1:], len(each)
        interval, radio = self.config.beacon_interval_ns, self.config.radio
        head = np.tile([0] * CAME + [NEVER] * (WAYS - CAME), (n, 1))
        table = np.hstack([head, ways])
        while True:
            at_s = (np.arange(n) * self.period_ns + self.phase_ns[page]) / _NS_PER_S
            pages = [self.pages[one]._replace(issue_s=at) for one, at in zip(page.tolist(), at_s.tolist(), strict=True)]
            ints = np.concatenate([[interval, self.period_ns, table.shape[1], probed, 0, 0, 0], table.ravel()])
            waiter = NamedObserving("clairvoyant", CompiledForm(_wait, _note, ints=ints), polls=True)
            run = simulate(pages, waiter, config=self.config)
            policy: Any = run.final_policy
            own = run.page_columns
            if np.allclose(own["issue_s"], at_s, rtol=0.0, atol=1e-8):
                break
            self.period_ns *= 2
        table = policy.compiled.ints[TABLE:].reshape(n, -1)
        above_j = own["energy_j"] - radio.beacon_mj * 1e-3 * table[:, VAIN] - radio.asleep_mw * 1e-3 * own["latency_s"]
        found = np.array([own["latency_s"] / self.latency_s[page], above_j])
        back = back.reshape(-1)
        return found[:, back], table[back, MET], table[back, HEARD], table[back, CAME:WAYS]
