"""The lower limit holds for every policy, and never sleeping meets the arithmetic of the two references."""

import numpy as np
import pytest

import netsim
from tests.netsim.worlds import Dice, ordinary_case

POLICIES = [
    "psm:100", "psm:700", "listen:3", "dynamic:20", "dynamic:100", "uapsd:100", "uapsd:300", "twt:97.3:4",
    "twt:1000:60", "bsd:1", "bsd:0.1", "bsd-phase:1", "bsd-phase:0.05", "lpsm", "lpsm:log",
]  # fmt: skip


def margins(seeds):
    """Return energy - limit, J, of one random case a seed."""
    found = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        pages, policy, config = ordinary_case(Dice(seed), POLICIES[seed % len(POLICIES)])
        asleep = float(rng.choice([0.0, 0.5, 50.0]))
        radio = netsim.RadioConfig(
            awake_mw=asleep + float(rng.choice([0.0, 10.0, 750.0])),
            asleep_mw=asleep,
            beacon_mj=float(rng.choice([0.0, 0.4, 1.5])),
            wakeup_mj=float(rng.choice([0.0, 2.0])),
            wakeup_ms=float(rng.choice([0.0, 0.25])),
        )
        config = netsim.SimulationConfig(
            link=config.link, tcp=config.tcp, radio=radio, server_delay=config.server_delay,
            connections=config.connections, max_connections=config.max_connections,
        )  # fmt: skip
        base = netsim.simulate(pages, "none", config=config, seed=seed)
        air_s = max(base.uplink_air_s, base.downlink_air_s)
        merged = max(len(getattr(pages, "messages", ())) - 1, 0)  # those that wait may share a segment's header
        air_s -= merged * 8e-6 * config.tcp.header_bytes / config.link.wireless_mbps
        limit_j = (radio.asleep_mw * base.elapsed_s + (radio.awake_mw - radio.asleep_mw) * air_s) * 1e-3
        saving = netsim.simulate(pages, policy, config=config, seed=seed)
        found.append((saving.energy.total_j - limit_j, limit_j, seed, policy))
    return found


def below(found):
    return [(margin, limit, seed, policy) for margin, limit, seed, policy in found if margin < -1e-9 * (1 + limit)]


def test_no_policy_uses_less_energy_than_the_limit():
    assert below(margins(range(300))) == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
def test_no_policy_uses_less_energy_than_the_limit_in_ten_thousand_cases(part):
    assert below(margins(range(50_000 + 2_000 * part, 52_000 + 2_000 * part))) == []
