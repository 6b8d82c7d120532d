"""The environment of gymnasium: an agent in it is a policy of the simulator."""

import os
import warnings

import numpy as np
import pytest

import netsim
import traces
from netsim import ServerDelay
from netsim.policies.protocol import Plan
from tests.tables import cases_of, each, near, value_error

gymnasium = pytest.importorskip("gymnasium")
environment = pytest.importorskip("netsim.environment")

NAME = "netsim/PowerSave-v1"
PAGES = list(traces.generate(3, np.random.default_rng(5), "1996"))
CONFIG = netsim.SimulationConfig(server_delay=ServerDelay.parse("exponential:0.3"))
SEED = int(np.random.default_rng(np.random.PCG64(np.random.SeedSequence(3))).integers(2**31))
"""Of the run of an episode that is begun with the seed 3."""


def made(**more):
    return gymnasium.make(NAME, **{"pages": PAGES, "config": CONFIG, **more})


def episode(env, choose, seed=3):
    """Run one episode; return observations, rewards and the last info."""
    seen, info = env.reset(seed=seed)
    observations, rewards, over = [seen], [], False
    while not over:
        seen, reward, over, truncated, info = env.step(choose(seen))
        assert not truncated
        observations.append(seen)
        rewards.append(reward)
    return np.array(observations), np.array(rewards), info


class Same:
    """A policy of the simulator that does what an agent with a constant action does, and keeps what it sees."""

    spec, host_aware, polls = "same", False, True

    def __init__(self, awake, then):
        self.awake_ns, self.then, self.seen = environment.AWAKE_MS[awake] * 1_000_000, then, []

    def plan(self, view):
        since = [60.0 if at is None else min(60.0, (view.now_ns - at) * 1e-9)
                 for at in (view.last_sent_ns, view.last_received_ns)]  # fmt: skip
        phase_s, until = view.now_ns % 100_000_000 * 1e-9, view.now_ns + self.awake_ns
        self.seen.append((view.event == "beacon", phase_s, *since, view.buffered_bytes))
        if self.then >= 8:
            return Plan(until, until + int(3_200_000 * 2 ** (self.then - 8)), True, poll=True)
        return Plan(until, (until // 100_000_000 + environment.BEACONS[self.then]) * 100_000_000, True)


def test_gymnasiums_own_checker_has_nothing_to_say():
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        check_env(made().unwrapped)
    assert not [str(one.message) for one in said]


LEAST = np.log(2) / np.log(60_001)  # of a millisecond
AIR = netsim.SimulationConfig(server_delay=CONFIG.server_delay, medium=netsim.AirConfig(),
    radio=netsim.Radio.profile("esp32-c6"))  # fmt: skip


@cases_of(
    "action config",
    "(0, 0), CONFIG ; (0, 3), CONFIG ; (2, 1), AIR ; (4, 0), AIR ; (0, 11), CONFIG ; (1, 12), AIR",
    globals(),
)
def test_an_agent_that_always_does_the_same_is_the_policy_that_does_on_wires_and_on_the_air(action, config):
    pages = PAGES[:1] if action[1] > 8 else PAGES  # in all of which who polls decides 20,000 times
    env = made(pages=pages, config=config, price_w=0.25)
    observations, rewards, info = episode(env, lambda _: np.array(action))
    result = netsim.simulate(pages, Same(*action), config=config, seed=SEED)
    seen = result.final_policy.seen
    values = environment.unscaled(observations)[: len(seen), [0, 1, 2, 3, 5]]
    assert (np.abs(values - seen) <= np.maximum(1e-4 * np.abs(seen), 1e-7)).all()
    assert environment.scaled([1, 60, 61, 1e-3, 0, 1e9, 65]).tolist() == [1, 1, 1, np.float32(LEAST), 0, 1, 1]
    assert rewards.sum() == near(-result.energy.total_j - 0.25 * result.latency_s.sum(), rel=1e-9)
    assert (info["energy_j"], info["beacons"]) == (result.energy.total_j, result.beacons)
    assert info["latency_s"] == near(result.latency_s.mean())


BROWSED = [traces.Page(f"p{i}", 300, 9_000 * i, ((300, 700),), 0.4) for i in range(3)]
TIMED = [
    traces.Page(f"p{i}", 300, 9_000, ((300, 700),), timings=(
        traces.records.Timing(2 * i, 0, 0.3 * i + 0.05, 0.0, 0.7, 0.1), traces.records.Timing(2 * i + 1, 1, 0.2),
    )) for i in range(3)
]  # fmt: skip
"""Pages at their own times, which overlap."""


@each("pages", [BROWSED, TIMED])
def test_rewards_are_the_time_awake_and_the_loading_of_pages_up_to_each_decision(monkeypatch, pages):
    radio = netsim.RadioConfig(awake_mw=900.0, asleep_mw=100.0, beacon_mj=0.0)
    config = netsim.SimulationConfig(server_delay=CONFIG.server_delay, radio=radio)
    asked, told, ask = [], [], environment._Run.plan
    monkeypatch.setattr(environment._Run, "plan", lambda run, view: (asked.append(view.now_ns), ask(run, view))[1])
    env = made(pages=pages, config=config, push=[traces.Message(0.35, 500)])
    _, rewards, info = episode(env, lambda _: (told.append(env.unwrapped._last), np.array((2, 1)))[1])
    policy = Same(2, 1)
    result = netsim.simulate(pages, policy, config=config, seed=SEED, push=[traces.Message(0.35, 500)])
    assert (info["pages"], info["elapsed_s"]) == (3, result.elapsed_s)
    (issue, done), (start, end) = result._trip.loads[:, :2].T, result._trip.intervals.reshape(-1, 2).T
    assert pages is BROWSED or (issue[1:] < done[:-1]).all()
    earned = np.append(0.0, np.cumsum(rewards)[:-1])
    for now, decision, reward in zip(asked, told, earned, strict=True):
        loading, awake = ((np.minimum(now, stop) - np.minimum(now, begin)).sum() / 1e9
                          for begin, stop in ((issue, done), (start, end)))  # fmt: skip
        assert decision.loading_s == near(loading, abs=1e-13)
        joules = 0.8 * awake + 0.1 * now / 1e9
        assert decision.joules == near(joules, rel=1e-12)
        assert reward == near(-joules - 0.5 * loading, abs=1e-12)
    assert rewards.sum() == near(-result.energy.total_j - 0.5 * result.latency_s.sum())
    assert (rewards < 0).all()


def test_while_an_episode_goes_on_its_caller_may_call_what_a_policy_must_not():
    before, env = os._exit, made()
    for _ in range(2):
        env.reset()
        env.step(np.array([0, 0]))
        assert os._exit is before
    env.close()
    assert os._exit is before


def test_what_is_wrong_in_a_run_is_told_to_who_steps():
    env = made(pages=[traces.Page("a", 300, 1000), traces.Page("b", -1, 1000)])
    with value_error("sizes must be at least"):
        env.reset(seed=0)
    with value_error("price_w must be non-negative"):
        made(price_w=-1.0)
    with value_error("begun with reset"):
        made().unwrapped.step(np.array([0, 0]))
