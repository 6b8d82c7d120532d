"""Policies by name, and LPSM's rule against the thesis' arithmetic."""

import doctest

import numpy as np
import pytest

import netsim
from netsim.policies import canonical, make, protocol
from netsim.policies.compiled import joined, put_back
from netsim.policies.protocol import View
from traces.records import Page


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("none", "none"),
        ("psm", "psm:100"),
        ("psm:200", "psm:200"),
        ("psm:200.0", "psm:200"),
        ("bsd", "bsd:1"),
        ("bsd:1.0", "bsd:1"),
        ("bsd:.5", "bsd:0.5"),
        ("lpsm", "lpsm"),
        ("lpsm:log", "lpsm:log"),
        (" psm:300 ", "psm:300"),
        ("psm:1000000", "psm:1000000"),
        ("listen:3", "listen:3"),
        ("dynamic", "dynamic:100"),
        ("dynamic:20.0", "dynamic:20"),
        ("uapsd", "uapsd:100"),
        ("twt:500", "twt:500:10"),
        ("twt:8192:16.25", "twt:8192:16.25"),
        ("bsd-phase", "bsd-phase:1"),
        ("bsd-phase:.05", "bsd-phase:0.05"),
        ("bsd-host:.1", "bsd-host:0.1"),
        ("hold", "hold:50"),
        ("hold:20", "hold:20"),
        ("lpsm2", "lpsm2:1.05"),
        ("lpsm2:1.020", "lpsm2:1.02"),
        ("lpsm2:1.1:100", "lpsm2:1.1:100"),
        ("lpsm2::250", "lpsm2:1.05:250"),
        ("lpsm2:1.0000001", "lpsm2:1.0000001"),
        ("lpsm2:1.05:16.7000001", "lpsm2:1.05:16.7000001"),
        ("lpsm2:2.0:0.3", "lpsm2:2:0.3"),
        ("lpsm2:1.05:1e-200", "lpsm2:1.05:1e-200"),
        ("bsd:0.12345678", "bsd:0.12345678"),
        ("bsd-host:0.12345678", "bsd-host:0.12345678"),
        ("lpsm2-link", "lpsm2-link:1.05"),
        ("lpsm2-link:1.08", "lpsm2-link:1.08"),
        ("lpsm3", "lpsm3:1.05:400"),
        ("lpsm3:1.1", "lpsm3:1.1:400"),
        ("lpsm3::250", "lpsm3:1.05:250"),
        ("lpsm3-link", "lpsm3-link:1.05:400"),
        ("lpsm3-link:1.08:0.5", "lpsm3-link:1.08:0.5"),
    ],
)
def test_a_policy_has_one_canonical_name(spec, name):
    assert canonical(spec) == name
    assert canonical(canonical(spec)) == name


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pms", "did you mean psm"),
        ("", "a policy must be one of none, psm, .*, lpsm, .*, got ''"),
        ("bsdphase", "did you mean bsd-phase"),
        ("dynamc:20", "did you mean dynamic"),
        ("psm:150", "positive multiple of 100 ms, got 150 ms"),
        ("psm:0", "positive multiple of 100 ms"),
        ("psm:-100", "positive multiple of 100 ms"),
        ("psm:1e25", "the psm period must be at most 1000000000 ms, got 1e25"),
        ("uapsd:1e9999999", "the uapsd period must be at most 1000000000 ms, got 1e9999999"),
        ("twt:1e-9999999:5", "the twt interval must be at most 1000000000 ms"),
        ("psm:fast", "psm period must be a number of milliseconds, got 'fast'"),
        ("listen:0", "whole number, at least 1, got '0'"),
        ("listen:1.5", "number of beacons must be a whole number"),
        ("dynamic:0", "inactivity timeout must be a whole number of milliseconds, at least 1, got '0'"),
        ("uapsd:150", "uapsd period must be a positive multiple of 100 ms, got 150 ms"),
        ("twt", "an interval is needed; write twt:INTERVAL_MS"),
        ("twt:100:100", "shorter than the interval of 100 ms, got 100"),
        ("twt:x", "twt interval must be a number of milliseconds, got 'x'"),
        ("twt:100:0", "twt service period must be a positive whole number of nanoseconds, got 0 ms"),
        ("twt:100:1:1", "must be a number of milliseconds, got '1:1'"),
        ("bsd-phase:0", "p of bsd-phase must be above 0"),
        ("bsd-phase:x", "p of bsd-phase must be a number"),
        ("bsd-phase:1" + 400 * "0", "p of bsd-phase must be from 1e-99 to 1e99"),
        ("bsd:1/1" + 400 * "0", "p of bsd must be from 1e-99 to 1e99"),
        (5000 * "a" + ":inf", "the module a+ cannot be imported"),
        (5000 * "a" + ".py:Inf", "there is no file a+.py"),
        ("bsd-host:0", "p of bsd-host must be above 0"),
        ("hold:-1", "time awake must be a whole number of milliseconds, at least 0, got '-1'"),
        ("bsd-host:0", "^policy 'bsd-host:0': p of bsd-host must be above 0, got 0$"),
        ("bsd-phase:-1", "^policy 'bsd-phase:-1': p of bsd-phase must be above 0, got -1$"),
        ("lpsm2:1", "^policy 'lpsm2:1': the target must be a number above 1, got '1'; write lpsm2"),
        ("lpsm2:abc", "^policy 'lpsm2:abc': the target must be a number above 1, got 'abc'; write lpsm2"),
        ("lpsm2:nan", "the target must be a number above 1, got 'nan'"),
        ("lpsm2:inf", "the target must be a number above 1, got 'inf'"),
        ("lpsm2:1.05:abc", "'lpsm2:1.05:abc': the push delay must be a number of milliseconds above 0, got 'abc'; "),
        ("lpsm2:1.05:", "the push delay must be a number of milliseconds above 0, got ''; write lpsm2"),
        ("lpsm2:1.05:1e-400", "the push delay must be a number of milliseconds above 0, got '1e-400'"),
        ("lpsm2:1.05:5e-324", "the push delay must be a number of milliseconds above 0, got '5e-324'"),
        ("lpsm2-link:1.05:0", "number of milliseconds above 0, got '0'; write lpsm2-link"),
        ("lpsm2:1.05:100:3", "'lpsm2:1.05:100:3': a target and a push delay are all it takes, got '1.05:100:3'"),
        ("LPSM2", "did you mean lpsm2[?]"),
        ("lpsm4:1.05", "did you mean lpsm"),
        ("lpsm3:0.9", "^policy 'lpsm3:0.9': the target must be a number above 1, got '0.9'; write lpsm3"),
        ("lpsm3-link:1.05:x", "the push delay must be a number of milliseconds above 0, got 'x'; write lpsm3-link"),
        ("lpsm2link", "did you mean lpsm2-link[?]"),
        ("psm:", "nothing follows the colon"),
        ("bsd:0", "p of bsd must be above 0"),
        ("bsd:-0.5", "p of bsd must be above 0"),
        ("bsd:nan", "p of bsd must be a number"),
        ("bsd:1e999999999", "p of bsd must be a number above 0"),
        (f"bsd-phase:1{'0' * 400}", "p of bsd-phase must be from 1e-99 to 1e99"),
        (f"bsd:.{'0' * 400}1", "p of bsd must be from 1e-99 to 1e99"),
        ("none:1", "none takes no parameter"),
        ("lpsm:exp", "no parameter or log"),
    ],
)
def test_a_bad_name_is_answered_with_the_rule_and_the_value(spec, message):
    with pytest.raises(ValueError, match=message):
        make(spec)


def test_the_example_in_the_protocol_runs_as_a_policy():
    [example] = [test for test in doctest.DocTestFinder().find(protocol) if test.examples]
    scope = dict(vars(protocol))
    for step in example.examples:
        exec(step.source, scope)
    pages = [Page(f"p{i}", 300, 4000, ((300, 2500),) * i, 2.7) for i in range(6)]
    ours, known = netsim.simulate(pages, scope["EveryThird"]()), netsim.simulate(pages, "psm:300")
    assert ours.policy == "every-third"
    assert ours.energy == known.energy
    assert ours.pages.latency_s.equals(known.pages.latency_s)


def idle(now_ns=0):
    return View("idle", now_ns, None, None, 0, 0, (), None)


def beacon(now_ns, waiting):
    return View("beacon", now_ns, None, None, 0, waiting, (), None)


def test_lpsm_first_sleeps_for_the_mean_of_its_experts_rounded_up_to_seven_beacons():
    assert make("lpsm").plan(idle()).wake_ns == 700_000_000


@pytest.mark.parametrize(
    ("spec", "gamma", "term"), [("lpsm", 1 / 1.2e5, lambda t: 1 / t), ("lpsm:log", 1 / 1.2e3, lambda t: 1 / np.log(t))]
)
def test_lpsm_follows_the_printed_algorithm_poll_by_poll(spec, gamma, term):
    from lpsm import LearnAlpha, alpha_grid

    times = np.arange(100.0, 1300.0, 100.0)
    oracle = LearnAlpha(n_experts=12, alphas=alpha_grid(horizon=27_000))
    policy, rng = make(spec), np.random.default_rng(8)
    now, beacons = 0, 7
    for _ in range(300):
        now += beacons * 100_000_000
        waiting = int(rng.integers(0, 40_000)) if rng.random() < 0.3 else 0
        slept = beacons * 100
        oracle.update(gamma * waiting * times**2 / (2 * slept) + term(times))
        beacons = max(1, int(oracle.weights @ times / 100 + 0.5 + 1e-9))
        assert policy.plan(beacon(now, waiting)).wake_ns == now + beacons * 100_000_000
    # falling asleep between beacons, the count starts at the last beacon passed
    assert policy.plan(idle(now + 37_000_001)).wake_ns == now + beacons * 100_000_000


def test_lpsm_backs_off_in_silence_and_comes_back_to_one_beacon_after_traffic():
    policy, now, sleeps = make("lpsm:log"), 700_000_000, []
    for waiting in [0] * 200 + [30_000] * 6:
        wake = policy.plan(beacon(now, waiting)).wake_ns
        sleeps.append((wake - now) // 100_000_000)
        now = wake
    assert sleeps[:200] == sorted(sleeps[:200])
    assert sleeps[199] > sleeps[0]
    assert sleeps[-1] <= 2


def test_waking_up_to_send_moves_no_poll_of_lpsm():
    pages = [Page("a", 300, 3000, (), 3.0)]
    later = [Page("a", 300, 3000, (), 3.0, 0.25)]
    first, second = netsim.simulate(pages, "lpsm").polls, netsim.simulate(later, "lpsm").polls
    assert first.time_s[0] == second.time_s[0] == 0.7


@pytest.mark.parametrize(
    ("spec", "interval_ms", "sent_ms", "received_ms", "asleep_ms", "wake_ms"),
    [
        ("driver:mac80211", 100, 10, 50, 150, 200),
        ("driver:cc33xx", 100, 48, 10, 53, 100),  # 5 ms after sending, 40 ms after receiving
        ("driver:cc33xx", 100, 10, 48, 88, 100),
        ("driver:esp-idf-max", 102.4, 10, 20, 70, 307.2),
        ("driver:pic32mzw", 100, 10, 20, 50, 1000),
        ("driver:pic32mzw", 100, None, None, 50, 1000),
    ],
)
def test_a_driver_stays_awake_as_long_as_it_is_documented_to_and_listens_to_its_beacons(
    spec, interval_ms, sent_ms, received_ms, asleep_ms, wake_ms
):
    policy = make(spec, beacon_interval_ns=round(1e6 * interval_ms))
    sent, received = (None if at is None else at * 1_000_000 for at in (sent_ms, received_ms))
    plan = policy.plan(View("idle", 50_000_000, sent, received, 0, 0, (), None))
    assert plan.awake_until_ns == asleep_ms * 1_000_000
    assert plan.wake_ns == round(1e6 * wake_ms)
    assert policy.spec == spec


def test_every_driver_is_listed_with_its_source_and_a_name_that_can_be_typed():
    [entry] = [entry for kind, entry in netsim.policies.registry().items() if kind == "driver"]
    assert len(entry.members) >= 10
    for written, meaning, source in entry.members:
        assert make(written).spec == written
        assert "every" in meaning
        assert source
    with pytest.raises(ValueError, match="the driver must be one of mac80211, "):
        make("driver:windows")


def test_between_service_periods_sending_does_not_open_the_gate():
    plan = make("twt:500:20").plan(View("idle", 510_000_000, None, None, 0, 0, (), None))
    assert plan == (520_000_000, 1_000_000_000, False, 0, True)
    later = make("twt:500:20").plan(View("idle", 700_000_000, None, None, 0, 0, (), None))
    assert (later.awake_until_ns, later.wake_ns) == (700_000_000, 1_000_000_000)


def test_arrays_that_were_joined_are_put_back_as_they_were():
    arrays = [np.arange(6.0).reshape(2, 3), np.empty(0), np.array([7.0]), np.arange(4.0)]
    blank = [np.zeros_like(array) for array in arrays]
    put_back(np.append(joined(arrays), 99.0), blank)
    assert [part.tolist() for part in blank] == [part.tolist() for part in arrays]
