"""The lower limit holds for every policy, and never sleeping meets the arithmetic of the two references."""

from dataclasses import replace

import numpy as np
import pytest

import netsim
from tests.netsim.frozen import world


def below(numbers):
    """Return the worlds, of those with one client, in which its policy uses less energy than the limit."""
    found = []
    for number in numbers:
        made, rng = world(number), np.random.default_rng(number)
        if made.together:
            continue
        asleep = float(rng.choice([0.0, 0.5, 50.0]))
        radio = netsim.RadioConfig(
            awake_mw=asleep + float(rng.choice([0.0, 10.0, 750.0])),
            asleep_mw=asleep,
            beacon_mj=float(rng.choice([0.0, 0.4, 1.5])),
            wakeup_mj=float(rng.choice([0.0, 2.0])),
            wakeup_ms=float(rng.choice([0.0, 0.25])),
        )
        [(pages, policy)], [push] = made.clients, made.push
        tcp = replace(made.config.tcp, min_rto_s=200.0, initial_rto_s=200.0)  # what never sleeps sends nothing twice
        config = replace(made.config, radio=radio, tcp=tcp, link=replace(made.config.link, loss_rate=0.0))
        base, saving = (netsim.simulate(pages, one, config=config, seed=number, push=push) for one in ("none", policy))
        air_s = max(base.uplink_air_s, base.downlink_air_s)
        merged = max(len(push) - 1, 0)  # those that wait may share a segment's header
        air_s -= merged * 8e-6 * tcp.header_bytes / config.link.wireless_mbps
        limit_j = (asleep * base.elapsed_s + (radio.awake_mw - asleep) * air_s) * 1e-3
        if saving.energy.total_j < limit_j - 1e-9 * (1 + limit_j):
            found.append((number, saving.policy, saving.energy.total_j, limit_j))
    return found


def test_no_policy_uses_less_energy_than_the_limit():
    assert below(range(40_000, 40_150)) == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
def test_no_policy_uses_less_energy_than_the_limit_in_ten_thousand_cases(part):
    assert below(range(50_000 + 2_000 * part, 52_000 + 2_000 * part)) == []
