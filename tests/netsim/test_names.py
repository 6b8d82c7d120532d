"""What may be given by name or as a plain number: parameters of policies, parts of a world, seeds."""

import numpy as np
import pytest

import netsim
import traces
from lpsm.experts import alpha_grid
from netsim.policies import canonical, make, split
from netsim.policies.lpsm import Lpsm

CANONICAL = """
none -> none | psm -> psm:100 | psm:200 -> psm:200 | psm:200.0 -> psm:200 | bsd -> bsd:1 | bsd:1.0 -> bsd:1
bsd:.5 -> bsd:0.5 | lpsm -> lpsm | lpsm:log -> lpsm:log | psm:300  -> psm:300 | psm:1000000 -> psm:1000000
listen:3 -> listen:3 | dynamic -> dynamic:100 | dynamic:20.0 -> dynamic:20 | uapsd -> uapsd:100
twt:500 -> twt:500:10 | twt:8192:16.25 -> twt:8192:16.25 | bsd-phase -> bsd-phase:1
bsd-phase:.05 -> bsd-phase:0.05 | bsd-host:.1 -> bsd-host:0.1 | hold -> hold:50 | hold:20 -> hold:20
lpsm2 -> lpsm2:1.05 | lpsm2:1.020 -> lpsm2:1.02 | lpsm2:1.1:100 -> lpsm2:1.1:100 | lpsm2::250 -> lpsm2:1.05:250
lpsm2:2.0:0.3 -> lpsm2:2:0.3 | lpsm2:1.05:1e-200 -> lpsm2:1.05:1e-200 | bsd:0.12345678 -> bsd:0.12345678
bsd-host:0.12345678 -> bsd-host:0.12345678 | lpsm2-link -> lpsm2-link:1.05 | lpsm2-link:1.08 -> lpsm2-link:1.08
lpsm3 -> lpsm3:1.05:400 | lpsm3:1.1 -> lpsm3:1.1:400 | lpsm3::250@p95 -> lpsm3:1.05:250@p95
lpsm4 -> lpsm4:1.05:400 | lpsm4-link:1.2:300@max -> lpsm4-link:1.2:300@max | lpsm3::9@mean -> lpsm3:1.05:9
lpsm3-driver -> lpsm3-driver:1.05:400 | lpsm4-driver:1.2 -> lpsm4-driver:1.2:400
lpsm3::300:small -> lpsm3:1.05:300:small | lpsm4-link::9:bins40/room16 -> lpsm4-link:1.05:9:bins40/room16
lpsm3-link -> lpsm3-link:1.05:400 | lpsm3-link:1.08:0.5 -> lpsm3-link:1.08:0.5 | psm:ms=200 -> psm:200
bsd:p=0.5 -> bsd:0.5 | lpsm3:push_ms=300,slowdown=1.2 -> lpsm3:1.2:300 | twt:interval_ms=100 -> twt:100:10
lpsm:energy=log -> lpsm:log | lpsm:energy=1/T,alphas=259 -> lpsm
break-even:random -> break-even:random | doubling -> doubling:1:16 | doubling:32 -> doubling:32:32 | upm -> upm:0.1
sifi:confidence=.8 -> sifi:0.8 | sapsm:ms=50 -> sapsm:50 | stpm -> stpm:1000 | doubling:2:8 -> doubling:2:8
lpsm-poll:energy=log -> lpsm-poll:log | lpsm-poll:times=5/50,alphas=0.01 -> lpsm-poll:times=5/50,alphas=0.01
poll -> poll:25.6 | poll:12.80 -> poll:12.8 | poll-link -> poll-link:25.6 | poll:5 -> poll:5
lpsm:gamma=1e-4,times=100:300:100 -> lpsm:times=100:300:100,gamma=1e-4
"""


@pytest.mark.parametrize("pair", CANONICAL.strip().replace("\n", " | ").split(" | "))
def test_a_policy_has_one_canonical_name(pair):
    written, _, name = pair.partition(" -> ")
    assert canonical(written) == canonical(f" {written} ") == name
    assert canonical(name) == name


def test_the_learner_of_lpsm_is_the_one_that_is_written():
    policy = make("lpsm:times=100:450:100,energy=log,gamma=0.5,alphas=3")
    assert isinstance(policy, Lpsm)
    config = policy.learner.config
    assert (config.times_ms, config.energy, config.gamma) == ((100.0, 200.0, 300.0, 400.0), "1/log T", 0.5)
    assert config.alphas == tuple(alpha_grid(kind="chebyshev", size=3))
    assert make("lpsm:times=90/150,alphas=0.01").learner.config.alphas == (0.01,)
    pages = traces.generate(5, 0, "1996")
    by_name, default = netsim.simulate(pages, "lpsm:times=100:1200:100"), netsim.simulate(pages, "lpsm")
    assert by_name.energy == default.energy != netsim.simulate(pages, "lpsm:gamma=1").energy


def test_names_of_policies_are_parted_at_commas():
    assert split("psm, lpsm:times=1:2:3,energy=log,bsd:p=1,a.py:B") == ["psm", "lpsm:times=1:2:3,energy=log", "bsd:p=1",
        "a.py:B"]  # fmt: skip


def test_parts_of_a_world_go_by_name():
    world = netsim.SimulationConfig(radio="esp32-c6", server_delay="lognormal:0.2:1", medium="11g:54")
    assert world == netsim.SimulationConfig(radio=netsim.Radio.profile("esp32-c6"),
        server_delay=netsim.ServerDelay(0.2, kind="lognormal", sigma=1.0),
        medium=netsim.AirConfig(phy=netsim.Phy.parse("11g:54")))  # fmt: skip
    assert netsim.SimulationConfig(server_delay=0.5).server_delay == netsim.ServerDelay(0.5)


def test_a_seed_stands_for_its_generator():
    assert traces.generate(3, 3, "1996") == traces.generate(3, np.random.default_rng(3), "1996")
