"""What may be given by name or as a plain number: parameters of policies, parts of a world, seeds."""

import numpy as np
import pytest

import netsim
import traces
from lpsm import samplers, synthetic
from lpsm.experts import alpha_grid
from netsim.policies import canonical, make, split
from netsim.policies.lpsm import Lpsm


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("psm:ms=200", "psm:200"), ("bsd:p=0.5", "bsd:0.5"), ("lpsm3:push_ms=300,slowdown=1.2", "lpsm3:1.2:300"),
        ("twt:interval_ms=100", "twt:100:10"), ("lpsm:energy=log", "lpsm:log"), ("lpsm:energy=1/T,alphas=259", "lpsm"),
        ("lpsm:gamma=1e-4,times=100:300:100", "lpsm:times=100:300:100,gamma=1e-4"),
    ],
)  # fmt: skip
def test_parameters_are_given_by_name(written, name):
    assert canonical(written) == name
    assert canonical(name) == name


def test_the_learner_of_lpsm_is_the_one_that_is_written():
    policy = make("lpsm:times=100:450:100,energy=log,gamma=0.5,alphas=3")
    assert isinstance(policy, Lpsm)
    config = policy.learner.config
    assert (config.times_ms, config.energy, config.gamma) == ((100.0, 200.0, 300.0, 400.0), "1/log T", 0.5)
    assert config.alphas == tuple(alpha_grid(kind="chebyshev", size=3))
    assert make("lpsm:times=90/150,alphas=0.01").learner.config.alphas == (0.01,)
    pages = traces.generate(5, 0)
    by_name, default = netsim.simulate(pages, "lpsm:times=100:1200:100"), netsim.simulate(pages, "lpsm")
    assert by_name.energy == default.energy != netsim.simulate(pages, "lpsm:gamma=1").energy


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("lpsm:sqrt", "no parameter, log or times=.*got 'sqrt'"),
        ("lpsm:a=1", "of times, energy, gamma, alphas; got 'a=1'"),
        ("lpsm:times=1:2", "FIRST:LAST:STEP"), ("lpsm:times=0:1e9:1e-9", "at most 10000"),
        ("lpsm:gamma=x", "gamma must be"),
        ("lpsm:energy=T", "energy must be 1/T or log, got 'T'"), ("lpsm:alphas=1e7", "at most 10000"),
        ("psm:ms=1,ms=2", "each name once"), ("none:a=1", "of no names"), ("twt:service_ms=5", "got"),
    ],
)  # fmt: skip
def test_a_wrong_parameter_is_refused_with_its_rule(written, words):
    with pytest.raises(ValueError, match=words):
        make(written)


def test_names_of_policies_are_parted_at_commas():
    assert split("psm, lpsm:times=1:2:3,energy=log,bsd:p=1,a.py:B") == [
        "psm", "lpsm:times=1:2:3,energy=log", "bsd:p=1", "a.py:B",
    ]  # fmt: skip


def test_parts_of_a_world_go_by_name():
    world = netsim.SimulationConfig(radio="esp32-c6", server_delay="lognormal:0.2:1", medium="11g:54")
    assert world == netsim.SimulationConfig(
        radio=netsim.Radio.profile("esp32-c6"),
        server_delay=netsim.ServerDelay(0.2, kind="lognormal", sigma=1.0),
        medium=netsim.AirConfig(phy=netsim.Phy.parse("11g:54")),
    )
    assert netsim.SimulationConfig(server_delay=0.5).server_delay == netsim.ServerDelay(0.5)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("radio", "esp32c6", "did you mean esp32-c6"), ("radio", 5, "radio must be of the type Radio, got 5"),
        ("server_delay", "x", "a server delay must be"), ("server_delay", True, "mean_s must be a number"),
        ("medium", "12", "kind must be one of"), ("tcp", "reno", "tcp must be of the type TcpConfig"),
    ],
)  # fmt: skip
def test_a_wrong_part_of_a_world_is_refused_with_its_rule(name, value, words):
    with pytest.raises((TypeError, ValueError), match=words):
        netsim.SimulationConfig(**{name: value})


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: traces.generate(3, rng),
        lambda rng: synthetic.iid(rng, 5, 2).losses.tolist(),
        lambda rng: [samplers.make("sop-ss", 2, rng=rng).decide([0.1, 2.0]).query for _ in range(2)],
    ],
)
def test_a_seed_stands_for_its_generator(draw):
    assert draw(3) == draw(np.random.default_rng(3))
    for wrong in (-1, 0.5, "a", True):
        with pytest.raises(TypeError, match="rng must be of the type Generator"):
            draw(wrong)


@pytest.mark.parametrize("pages", [100, None, [1], ["page"]])
def test_what_is_no_page_is_refused_by_name(pages):
    with pytest.raises(TypeError, match="pages must be"):
        netsim.simulate(pages, "psm")
