"""Random worlds by number: `world(number)` is one on wires, `cell(number)` one on the air, always the same.

A third of them is full of ties: round rates, delays, sizes and pauses, so that events fall on beacons and on each
other.
"""

from dataclasses import dataclass, replace
from math import nan

import numpy as np

import netsim
from netsim import policies
from tests.netsim.frozen.own import MS, OWN
from traces.records import Message, Page

KINDS = (*policies.registry(), *OWN)
N_KEPT = 34_000
KEPT_KINDS = ("none", "psm", "listen", "dynamic", "uapsd", "driver", "twt", "bsd", "bsd-phase", "bsd-host", "hold",
    "lpsm", "lpsm2", "lpsm2-link", "lpsm3", "lpsm3-link", *OWN)  # fmt: skip
"""Those that were there when the answers of the first worlds were kept: a policy that is new is in later worlds."""
RECORDED, RECORDED_KINDS = range(60_000, 60_100), (*KEPT_KINDS[:11], "poll", "poll-link", *KEPT_KINDS[11:])
"""And when the runs of these worlds were (`tests.netsim.test_recorded_runs`)."""
LONGEST_BSD_NS, SHORTEST_OWN_NS = 900 * MS, 50 * MS
SLOW_RADIO = netsim.StateRadioConfig(doze_mw=1.0, waking_mw=20.0, listening_mw=100.0, receiving_mw=110.0,
    transmitting_mw=300.0, base_mw=2.0, wakeup_ms=23.0, settle_ms=5.0, listen_advance_ms=1.5,
    drift_ppm=20_000.0)  # fmt: skip
WAKING_RADIO = netsim.RadioConfig(awake_mw=300.0, asleep_mw=1.0, beacon_mj=0.5, wakeup_mj=0.2, wakeup_ms=3.0)
ESP32_C6 = netsim.StateRadioConfig(doze_mw=0.2937, waking_mw=338.41, listening_mw=338.41, receiving_mw=338.41,
    transmitting_mw=990.0, wakeup_ms=0.5355)  # fmt: skip
CC3235SF = netsim.StateRadioConfig(doze_mw=0.396, waking_mw=21.06, listening_mw=165.0, receiving_mw=165.0,
    transmitting_mw=765.6, wakeup_ms=2.6, settle_ms=0.8)  # fmt: skip
FRAMES = ((1000, 1000), (900, 100), (400, 100), (1460, 40), (60, 40), (1, 1))
"""Largest segments and headers, bytes: at 8 Mb/s a thousand of them take a millisecond."""


@dataclass(frozen=True, kw_only=True)
class World:
    """What the simulator is given; `together`: by `simulate_cell`, which takes no `server_delays`."""

    clients: list[tuple[list[Page], object]]
    push: list[list[Message]]
    config: netsim.SimulationConfig
    seed: int
    together: bool
    server_delays: list[netsim.ServerDelay] | None = None

    def __post_init__(self):
        told = self.seed < N_KEPT or self.seed in RECORDED or self.seed % 8 == 0
        object.__setattr__(self, "config", replace(self.config, oracle_stamps=told))

    def run(self, engine):
        """Return the results of the clients."""
        if self.together:
            return netsim.simulate_cell(self.clients, config=self.config, seed=self.seed, push=self.push, engine=engine)
        given = {"config": self.config, "seed": self.seed, "engine": engine, "server_delays": self.server_delays}
        return [netsim.simulate(*self.clients[0], push=self.push[0], **given)]


class _Draw:
    """Draws by one generator; `tied`: whether the world is full of ties."""

    def __init__(self, number, stream):
        self._rng = np.random.default_rng(np.random.SeedSequence(number, spawn_key=(stream,)))
        self.kinds = KEPT_KINDS if number < N_KEPT else RECORDED_KINDS if number in RECORDED else KINDS
        self.tied = self.chance(0.35)

    def one(self, *options):
        return options[int(self._rng.integers(len(options)))]

    def either(self, tied, others):
        """Draw from the first options where there are ties, and from the second where there are none."""
        return self.one(*(tied if self.tied else others))

    def whole(self, low, high):
        return int(self._rng.integers(low, high + 1))

    def part(self):
        return float(self._rng.random())

    def chance(self, probability):
        return self.part() < probability


def world(number):
    """Return the world of this number on wires; one in eight has several clients."""
    draw = _Draw(number, 0)
    lossy = draw.chance(0.3)
    mss, header = draw.one(*FRAMES) if draw.tied else (draw.one(1460, 1460, 536, 1000), 40)
    window = draw.either((1, 2, 10, 20, 1000), (1, 2, 8, 20, 40))
    whole, rate = (0.0, 0.0, 1.0, 10.0), (8.0, 8.0, 8.0, 1.0, 80.0)
    intervals_ms = (100, 100, 100, 2, 10, 50, 500, 1000, 10_000), (100, 100, 100, 102.4, 50, 200)
    config = netsim.SimulationConfig(
        link=netsim.LinkConfig(
            wireless_mbps=draw.either(rate, (5.0, 5.0, 1.0, 11.0, 54.0)),
            wired_mbps=draw.either(rate, (10.0, 10.0, 1.0, 100.0)),
            wireless_delay_ms=draw.either(whole, (0.1, 0.1, 0.0, 2.0)),
            wired_delay_ms=draw.either((*whole, 20.0, 50.0, 100.0), (20.0, 20.0, 0.0, 5.0, 100.0)),
            loss_rate=draw.one(0.01, 0.01, 0.05, 0.2, 0.4) if lossy else 0.0,
        ),
        tcp=netsim.TcpConfig(
            mss_bytes=mss, header_bytes=header, initial_window=min(window, draw.one(1, 2, 2, 10)), window=window,
            min_rto_s=draw.one(1.0, 1.0, 0.06, 0.25, 3.0), initial_rto_s=draw.one(3.0, 3.0, 0.2, 0.7),
            nagle=draw.chance(0.3),
        ),
        radio=draw.one(netsim.RadioConfig(), netsim.RadioConfig(), WAKING_RADIO, ESP32_C6),
        server_delay=_server(draw),
        connections=draw.one("persistent", "persistent", "per-object"),
        max_connections=draw.one(1, 2, 4, 4, 5),
        beacon_interval_ns=round(draw.either(*intervals_ms) * MS),
    )  # fmt: skip
    together = draw.chance(0.125)
    made = _made(draw, config, draw.one(1, 2, 2, 3, 5) if together else 1, longest_s=30.0)
    each = [_server(draw) for _ in made["clients"][0][0]] if not together and draw.chance(0.15) else None
    return World(**made, config=config, seed=number, together=together, server_delays=each)


def cell(number):
    """Return the cell of this number on the air; one in ten is a single client's, without a cell around it."""
    draw = _Draw(number, 1)
    phy = netsim.Phy.parse(
        draw.one("11n", "11n", "11n:6.5", "11n:26", "11g:54", "11g:6", "11b:11", "11b:1", "11b-short", "11a:24")
    )
    if draw.chance(0.15):
        phy = netsim.Phy(kind=phy.kind, rate_mbps=phy.rate_mbps, cw_min=draw.one(1, 3, 7), cw_max=draw.one(7, 63))
    lossy = draw.chance(0.45)
    air = netsim.AirConfig(
        phy=phy,
        beacons=netsim.BeaconConfig(
            dtim_period=draw.one(1, 1, 2, 3), broadcast_per_s=draw.one(0.0, 0.0, 3.0, 10.0),
            broadcast_bytes=draw.one(40, 300),
        ),
        retrieval=draw.one("auto", "auto", "auto", "ps-poll", "null", "uapsd", "twt"),
        rts_bytes=draw.one(None, None, None, 0, 500),
        max_ampdu_bytes=draw.one(0, 3_000, 8_000, 65_535) if phy.aggregates else 0,
        beacon_loss=lossy and draw.chance(0.35),
        twt_announced=draw.chance(0.2),
        neighbours=draw.one(0, 0, 0, 1, 3),
        neighbour_mbps=draw.one(0.0, 0.3, 2.0),
    )  # fmt: skip
    config = netsim.SimulationConfig(
        medium=air,
        link=netsim.LinkConfig(
            loss_rate=draw.one(0.02, 0.1, 0.3, 0.6) if lossy else 0.0,
            wired_mbps=draw.either((8.0, 80.0), (1.0, 10.0, 100.0)),
            wired_delay_ms=draw.either((0.0, 1.0, 10.0), (0.0, 5.0, 20.0)),
        ),
        tcp=netsim.TcpConfig(
            mss_bytes=draw.one(1460, 1460, 536), initial_window=draw.one(1, 2, 4), window=draw.one(4, 20),
            min_rto_s=draw.one(0.2, 0.5, 1.0), initial_rto_s=draw.one(0.5, 1.0), nagle=draw.chance(0.25),
        ),
        radio=draw.one(
            netsim.RadioConfig(), WAKING_RADIO, SLOW_RADIO, ESP32_C6, CC3235SF
        ),
        server_delay=_server(draw),
        connections=draw.one("persistent", "persistent", "per-object"),
        max_connections=draw.one(1, 2, 4),
        beacon_interval_ns=round(draw.one(100, 100, 100, 102.4, 50, 20) * MS),
    )  # fmt: skip
    together = draw.chance(0.9)
    made = _made(draw, config, draw.one(1, 2, 2, 3, 4, 6) if together else 1, longest_s=1.2)
    return World(**made, config=config, seed=number, together=together)


def _made(draw, config, n, *, longest_s):
    """Return clients and their messages; half of all cells have one policy for all."""
    alike = _policy(draw, config) if draw.chance(0.5) else None
    clients, push = [], []
    for _ in range(n):
        policy = _policy(draw, config) if alike is None else alike
        pages = _pages(draw, config, longest_s, most=draw.one(1, 2, 3, 6) if n < 3 else 2)
        messages = []
        if draw.chance(0.3):
            instants = sorted(_instant(draw, longest_s) for _ in range(draw.one(1, 2, 4)))
            messages = [Message(at_s, min(_size(draw, config), 40 * config.tcp.mss_bytes)) for at_s in instants]
        clients.append(([] if messages and draw.chance(0.25) else pages, policy))
        push.append(messages)
    return {"clients": clients, "push": push}


def _policy(draw, config):
    """Return a policy by name, or one of our own."""
    kind, interval_ns = draw.one(*draw.kinds), config.beacon_interval_ns
    if kind.startswith("bsd") and interval_ns > LONGEST_BSD_NS:
        kind = "listen"
    if kind not in KEPT_KINDS:
        return policies.registry()[kind].example
    if kind in OWN:
        return OWN[kind](interval_ns * max(1, SHORTEST_OWN_NS // interval_ns))
    beacons = draw.one(*((1, 1, 2, 3, 9, 20) if config.medium else (1, 1, 2, 3, 5, 9, 20, 37)))
    period_ms = f"{beacons * interval_ns / MS:.12g}"
    drawn = {  # in this order, whichever it is
        "dynamic": draw.one("1", "2", "12", "20", "50", "100", "200"),
        "driver": draw.one(*(name.partition(":")[2] for name, *_ in policies.registry()["driver"].members)),
        "twt": draw.one("500:10", "137:5", "200:10", "1000:8", "100:50", "100:2.5", "102.4:10", "1500:10"),
        "hold": draw.one("0", "20", "50"),
        "lpsm": draw.one("", "log"),
    }
    parameter = {"none": "", "psm": period_ms, "uapsd": period_ms, "listen": str(beacons), **drawn}.get(kind)
    if parameter is None:
        slowdowns = ("1", "0.5", "0.2", "0.05", "2.5") if kind.startswith("bsd") else ("", "1.02", "1.2", "1.5:50")
        parameter = draw.one(*slowdowns)
    return f"{kind}:{parameter}" if parameter else kind


def _server(draw):
    random = ("recorded", "0", "0.05", "exponential:0.1", "lognormal:0.2")
    return netsim.ServerDelay.parse(draw.either(("recorded", "0", "0.01", "0.1", "0.5"), random))


def _instant(draw, longest_s):
    """Return a time in seconds up to about the longest."""
    if draw.tied:
        return draw.whole(0, 30) * draw.one(0.001, 0.01, 0.05, 0.1, 0.1, 0.5) * min(longest_s, 10.0) / 10.0
    return draw.one(0.01, 0.1, 1.0) * draw.part() * longest_s


def _size(draw, config):
    """Return bytes of a message: whole segments, or anything up to some tens of kilobytes."""
    mss, on_air = config.tcp.mss_bytes, config.medium is not None
    if draw.tied:
        return draw.one(1, 100, mss, mss, 2 * mss, 3 * mss + 1, 10 * mss)
    kind = draw.whole(0, 3)
    if kind == 0:
        return draw.whole(1, 3_000)
    if kind == 1:
        return mss * draw.whole(1, 8 if on_air else 20)
    return int(300 * (40 if on_air else 200) ** draw.part()) + 1


def _pages(draw, config, longest_s, most):
    usual = min(_size(draw, config), 40 * config.tcp.mss_bytes)

    def exchange():
        request = draw.whole(1, 900) if draw.chance(0.85) else _size(draw, config)
        reply = usual if draw.tied and draw.chance(0.6) else _size(draw, config)
        reply = 0 if draw.chance(0.06) else reply
        return min(request, 40 * config.tcp.mss_bytes), min(reply, 60 * config.tcp.mss_bytes)

    pages = []
    for i in range(draw.whole(1, most)):
        objects, waits = tuple(exchange() for _ in range(draw.one(0, 0, 1, 2, 5))), ()
        if draw.chance(0.3):
            waits = tuple(draw.one(nan, 0.0, _instant(draw, longest_s / 8)) for _ in range(1 + len(objects)))
        page = Page(f"p{i}", *exchange(), objects, _instant(draw, longest_s))
        issue_s = _instant(draw, longest_s) if draw.chance(0.25) else None
        deadline_s = 2.0 * _instant(draw, longest_s) if draw.chance(0.2) else None
        pages.append(page._replace(issue_s=issue_s, waits_s=waits, deadline_s=deadline_s))
    return pages
