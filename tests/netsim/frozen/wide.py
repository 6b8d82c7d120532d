"""Random worlds that draw every field of configuration and traffic: `wide_world` on wires, `wide_cell` on the air.

What `worlds` never draws is here too: exchanges at their own times, datagrams, recorded lengths and servers, radios of
any figures, every physical layer and rate, EDCA, any DTIM period.
"""

from dataclasses import replace

import netsim
from netsim import config as choices
from netsim.model.air.air_times import PHYS
from tests.netsim.frozen.worlds import MS, World, _Draw, _instant, _made, _server, _size
from traces.columns import Workload
from traces.records import Datagram, Timing

KEPT_PHYS = tuple(kind for kind in PHYS if kind != "11ax-80x2")


def wide_world(number):
    """Return the wide world of this number on wires; one in three has several clients."""
    draw = _Draw(number, 2)
    intervals_ms = (100, 100, 1, 7, 20, 250), (100, 102.4, 1.5, 33.3, 61.7)
    return _wide(draw, number, None, draw.either(*intervals_ms), draw.one(1, 1, 1, 1, 2, 3), longest_s=20.0)


def wide_cell(number):
    """Return the wide cell of this number on the air, most of several clients."""
    draw = _Draw(number, 3)
    interval_ms, kind = draw.either((100, 50, 200), (100, 102.4, 41.7, 20)), draw.one(*KEPT_PHYS)
    neighbours = draw.one(0, 0, 0, 1, 2, 5)
    cw_min = draw.one(-1, -1, -1, 1, 7, 31)
    phy = netsim.Phy(kind=kind, rate_mbps=draw.one(*PHYS[kind].rates_mbps), cw_min=cw_min,
        cw_max=draw.one(63, 255, 1023))  # fmt: skip
    air = netsim.AirConfig(
        phy=phy,
        beacons=netsim.BeaconConfig(
            size_bytes=draw.one(40, 196, 300, 700), dtim_period=draw.one(1, 1, 2, 3, 10, 255),
            broadcast_per_s=draw.one(0.0, 0.5, 4.0, 4.0 if neighbours else 40.0),
            broadcast_bytes=draw.one(1, 60, 300),
        ),
        retrieval=draw.one("auto", "auto", *choices.RETRIEVALS), rts_bytes=draw.one(None, None, 0, 200, 1000),
        max_ampdu_bytes=draw.one(0, 1_000, 20_000, choices.MAX_AMPDU_BYTES) if phy.aggregates else 0,
        beacon_loss=draw.chance(0.4), edca=draw.chance(0.4), twt_announced=draw.chance(0.4),
        neighbours=neighbours, neighbour_mbps=draw.one(0.0, 0.1, 0.5, 2.0),
    )  # fmt: skip
    return _wide(draw, number, air, interval_ms, draw.one(1, 2, 2, 3, 4), longest_s=1.2)


def under_drivers(made):
    """Return a world whose clients all set what their drivers take."""
    policies = ("lpsm3-driver", "lpsm4-driver", "lpsm3-driver:1.2:150@p95", "lpsm3-driver::300:small")
    clients = [(traffic, policies[(made.seed + i) % 4]) for i, (traffic, _) in enumerate(made.clients)]
    return replace(made, clients=clients)


def _wide(draw, number, medium, interval_ms, n, *, longest_s):
    window = draw.one(1, 2, 5, 20, 64)
    config = netsim.SimulationConfig(
        medium=medium,
        link=netsim.LinkConfig(
            wireless_mbps=draw.either((8.0, 1.0), (0.37, 5.0, 54.0)), wired_mbps=draw.either((8.0, 80.0), (0.9, 10.0)),
            wireless_delay_ms=draw.either((0.0, 1.0), (0.1, 3.7)),
            wired_delay_ms=draw.either((0.0, 10.0), (20.0, 71.3)),
            loss_rate=draw.one(0.0, 0.0, 0.02, 0.1, 0.3),
        ),
        tcp=netsim.TcpConfig(
            mss_bytes=draw.one(60, 400, 536, 1460, 1460, 2200, 4000), header_bytes=draw.one(1, 20, 40, 40, 60),
            initial_window=min(window, draw.one(1, 2, 4, 10)), window=window, min_rto_s=draw.one(0.1, 0.2, 0.7, 1.0),
            initial_rto_s=draw.one(0.3, 1.0, 3.0), nagle=draw.chance(0.3),
        ),
        radio=_radio(draw), server_delay=_server(draw), connections=draw.one("persistent", "per-object"),
        max_connections=draw.one(1, 2, 3, 4, 6), beacon_interval_ns=round(interval_ms * MS),
    )  # fmt: skip
    made = _made(draw, config, n, longest_s=longest_s)
    made["clients"] = [(_traffic(draw, config, pages, bool(messages), longest_s), policy)
        for (pages, policy), messages in zip(made["clients"], made["push"], strict=True)]  # fmt: skip
    return World(**made, config=config, seed=number, together=n > 1 or draw.chance(0.3))


def _radio(draw):
    """Return a radio of either kind with figures of its own."""
    low, high = 30.0 * draw.part(), 100.0 + 400.0 * draw.part()
    short_ms, long_ms = draw.one(0.0, 0.3, 2.0), draw.one(0.0, 1.1, 9.0, 23.0)
    if draw.chance(0.3):
        return netsim.RadioConfig(awake_mw=high, asleep_mw=low, beacon_mj=draw.part(), wakeup_mj=draw.part(),
            wakeup_ms=short_ms)  # fmt: skip
    return netsim.StateRadioConfig(doze_mw=low, waking_mw=0.5 * high, listening_mw=high, receiving_mw=1.1 * high,
        transmitting_mw=3.0 * high, base_mw=draw.one(0.0, 7.0), wakeup_ms=long_ms, settle_ms=draw.one(0.0, 0.8, 5.0),
        listen_advance_ms=short_ms, drift_ppm=draw.one(0.0, 40.0, 5_000.0))  # fmt: skip


def _traffic(draw, config, pages, has_messages, longest_s):
    """Return pages with servers, at their own times or browsed one by one, with datagrams, recorded for some time."""
    pages = [page._replace(servers=tuple(draw.whole(-1, 3) for _ in range(1 + len(page.objects)))) for page in pages]
    if draw.chance(0.4):
        count = 0
        for place, page in enumerate(pages):
            timings = []
            for size in (page.reply_bytes, *(reply for _, reply in page.objects)):
                after = min(count, draw.one(0, 1, 1, 2, 5))
                at_s = _instant(draw, longest_s / 10 if after else longest_s)
                parts_s = [draw.one(0.0, 0.1, 0.5) * draw.part() for _ in range(3)]
                pause_s = (0.0, 0.5 * parts_s[2], parts_s[2])[count % 3 if size > 2 else 0]
                timings.append(Timing(draw.whole(0, 1 + count // 2), after, at_s, *parts_s, pause_s, 1 + size // 3))
                count += 1
            pages[place] = page._replace(timings=tuple(timings))
    datagrams = []
    if draw.chance(0.3):
        instants = sorted(_instant(draw, longest_s) for _ in range(draw.one(1, 3, 12)))
        datagrams = [Datagram(at_s, min(_size(draw, config), 9_000), draw.chance(0.4)) for at_s in instants]
        pages = pages if has_messages or draw.chance(0.7) else []
    captured_s = draw.one(None, None, longest_s * draw.part())
    return Workload.of(pages, datagrams=datagrams, captured_s=captured_s)
