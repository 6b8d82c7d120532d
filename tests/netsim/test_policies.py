"""Policies by name, and LPSM's rule against the thesis' arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

import netsim
from lpsm import LearnAlpha
from netsim.policies import Setting, make
from netsim.policies.compiled import joined, put_back
from netsim.policies.entry import exact_ms, whole_number
from netsim.policies.lpsm import Lpsm
from netsim.policies.polling import PollingConfig, PollingLearner, beacons
from netsim.policies.protocol import FOREVER_NS, View
from netsim.policies.static import StaticPsm, in_ms
from traces.records import Page

MS = 1_000_000


def idle(now_ns=0):
    return View("idle", now_ns, None, None, 0, 0, (), None)


def beacon(now_ns, waiting):
    return View("beacon", now_ns, None, None, 0, waiting, (), None)


def test_lpsm_follows_the_printed_algorithm_poll_by_poll_whatever_it_learns_with():
    times, interval_ms, rates = np.array([100.0, 150.0, 450.0, 900.0]), 102.4, [0.0, 0.02, 0.995, 0.4, 0.1]
    learner = PollingLearner(PollingConfig(times_ms=tuple(times), gamma=2e-7, alphas=tuple(rates)))
    policy = Lpsm(learner, beacon_interval_ns=102_400_000)
    oracle, rng, now, beacons, seen = LearnAlpha(4, rates), np.random.default_rng(8), 0, 4, set()  # 400 / 102.4 = 3.9
    assert policy.plan(idle()) == (0, 4 * 102_400_000, False, 0, False)
    for _ in range(60):
        now += beacons * 102_400_000
        waiting = int(rng.integers(0, 40_000)) if rng.random() < 0.3 else 0
        oracle.update(2e-7 * waiting * times**2 / (2 * beacons * interval_ms) + 1 / times)
        beacons = max(1, int(oracle.weights @ times / interval_ms + 0.5))
        seen.add(beacons)
        assert policy.plan(beacon(now, waiting)).wake_ns == now + beacons * 102_400_000
    assert len(seen) > 3
    np.testing.assert_allclose(policy.learner.weights, oracle.weights, rtol=1e-9)
    np.testing.assert_allclose(policy.learner.alpha_weights, oracle.alpha_weights, rtol=1e-9)
    assert policy.learner.mean_ms == pytest.approx(oracle.weights @ times)
    # falling asleep between beacons, the count starts at the last beacon passed
    assert policy.plan(idle(now + 37_000_001)).wake_ns == now + beacons * 102_400_000


def test_lpsm_has_the_parameters_of_the_thesis_and_rounds_to_whole_beacons_halves_up():
    for spec, term in (("lpsm", "1/T"), ("lpsm:log", "1/log T")):
        assert make(spec).learner.config == PollingConfig.thesis(term)
    ask = [(30.0, 1), (149.9, 1), (150.0, 2), (250.0 - 1e-5, 2), (250.0, 3), (650.0, 7)]
    assert [beacons(mean_ms, 100.0) for mean_ms, _ in ask] == [k for _, k in ask]


DRIVERS = {  # which beacons it listens to; milliseconds awake after receiving, and after sending
    "mac80211": (1, 100, 100), "ath12k": (5, 0, 0), "esp-idf": (1, 50, 50), "esp-idf-max": (3, 50, 50),
    "cc33xx": (1, 40, 5), "talaria-two": (1, 12, 12), "bl616": (1, 15, 15), "nrf70": (3, 0, 0),
    "pic32mzw": (10, 0, 0), "dhd": (3, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("interval_ns", [100 * MS, 102_400_000])
def test_a_driver_stays_awake_as_long_as_it_is_documented_to_and_listens_to_its_beacons(interval_ns):
    for name, (every, after_received, after_sent) in DRIVERS.items():
        policy, now = make(f"driver:{name}", beacon_interval_ns=interval_ns), 60 * MS
        for sent, received, awake_ms in ((None, 59, after_received), (59, None, after_sent), (10, 59, after_received)):
            until = max(now, (59 + awake_ms) * MS)
            wake = (until // (every * interval_ns) + 1) * every * interval_ns
            instants = [None if at is None else at * MS for at in (sent, received)]
            assert policy.plan(View("idle", now, *instants, 0, 0, (), None)) == (
                until, wake, after_received > 0, every * interval_ns, False)  # fmt: skip


@pytest.mark.parametrize(("spec", "now_ms", "sent_ms", "received_ms", "expected_ms"), [
    ("none", 250, 240, None, None),
    ("psm", 250, 249, 249, (250, 300, False, 100)),
    ("psm:300", 300, None, None, (300, 600, False, 300)),
    ("listen:4", 250, None, None, (250, 400, False, 400)),
    ("dynamic:20", 250, 240, 235, (260, 300, True, 100)),
    ("dynamic:20", 295, 100, 290, (310, 400, True, 100)),
    ("dynamic", 250, None, None, (250, 300, True, 100)),
    ("dynamic", 250, 220, None, (320, 400, True, 100)),
    ("uapsd:200", 250, 249, 249, (250, 400, True, 200)),
])  # fmt: skip
def test_a_fixed_policy_sleeps_to_the_next_multiple_of_its_period(spec, now_ms, sent_ms, received_ms, expected_ms):
    policy, instants = make(spec), [None if at is None else at * MS for at in (sent_ms, received_ms)]
    view = View("idle", now_ms * MS, *instants, 0, 0, (), None)
    if expected_ms is None:
        expected = (FOREVER_NS, FOREVER_NS, True, 0, False)
    else:
        until, wake, opens, repeat = expected_ms
        expected = (until * MS, wake * MS, opens, repeat * MS, False)
    assert policy.plan(view) == policy.compiled.plan(view) == expected


def test_what_is_left_unsaid_is_every_beacon_of_the_usual_interval_at_once():
    assert Setting() == Setting(beacon_interval_ns=100 * MS, radio=None)
    assert [make(spec, beacon_interval_ns=102_400_000).spec for spec in ("psm", "uapsd")] == [
        "psm:102.4",
        "uapsd:102.4",
    ]
    assert StaticPsm(200, inactivity_timeout_ms=30).spec == "psm:200:timeout=30"
    assert [in_ms(ns) for ns in (1, 102_400_000, 1_500_000_000)] == ["0.000001", "102.4", "1500"]


@pytest.mark.parametrize(("text", "ns"), [
    ("1000000000", 10**15), ("1000000001", None), ("0." + "0" * 57 + "1", Fraction(1, 10**52)),
    ("0." + "0" * 58 + "1", None), ("1e-60", Fraction(1, 10**54)), ("1e-99", Fraction(1, 10**93)), ("1e-100", None),
    ("1/4", 250_000), ("1E3", 10**9),
    (2.5, 2_500_000),
])  # fmt: skip
def test_milliseconds_are_read_exactly_as_far_as_they_are_taken(text, ns):
    if ns is None:
        with pytest.raises(ValueError, match="the time must be a number of milliseconds, at most 1000000000, got"):
            exact_ms("time", text)
    else:
        assert exact_ms("time", text) == ns


def test_whole_numbers_are_read_up_to_a_billion():
    assert [whole_number(text, "n", 3) for text in ("3", "4.0", "1000000000")] == [3, 4, 10**9]
    for text in ("2", "1000000001", "x", "3.5"):
        with pytest.raises(ValueError, match=f"n must be a whole number, at least 3.*, got '{text}'"):
            whole_number(text, "n", 3)


def test_every_driver_is_listed_with_its_source_and_a_name_that_can_be_typed():
    [entry] = [entry for kind, entry in netsim.policies.registry().items() if kind == "driver"]
    expected = dict(DRIVERS)
    for written, meaning, source in entry.members:
        assert make(written).spec == written
        assert source
        every, received, sent = expected.pop(written.partition(":")[2])
        awake = f": awake {received} ms after receiving and {sent} ms after sending, then " if received else ": "
        ordinal = {1: "", 3: "3rd ", 5: "5th ", 10: "10th "}[every] if written != "driver:esp-idf" else "DTIM "
        assert meaning.endswith(f"{awake}listening to every {ordinal}beacon")
    assert not expected


def test_between_service_periods_sending_does_not_open_the_gate():
    plan = make("twt:500:20").plan(View("idle", 510_000_000, None, None, 0, 0, (), None))
    assert plan == (520_000_000, 1_000_000_000, False, 0, True)
    assert make("twt:2e-6:1e-6").spec == "twt:2e-06:1e-06"  # a nanosecond of every two
    later = make("twt:500:20").plan(View("idle", 700_000_000, None, None, 0, 0, (), None))
    assert (later.awake_until_ns, later.wake_ns) == (700_000_000, 1_000_000_000)


def test_arrays_that_were_joined_are_put_back_as_they_were():
    arrays = [np.arange(6.0).reshape(2, 3), np.empty(0), np.array([7.0]), np.arange(4.0)]
    blank = [np.zeros_like(array) for array in arrays]
    put_back(np.append(joined(arrays), 99.0), blank)
    assert [part.tolist() for part in blank] == [part.tolist() for part in arrays]


def test_esp_idf_listens_to_every_dtim_and_its_maximum_modem_sleep_to_every_listen_interval():
    pages = [Page("p", 300, 1000, think_s=20.0), Page("q", 300, 1000)]
    beacons = {}
    for dtim in (1, 3):
        air = netsim.AirConfig(beacons=netsim.BeaconConfig(dtim_period=dtim))
        config = netsim.SimulationConfig(medium=air)
        for policy in ("driver:esp-idf", "driver:esp-idf-max", "driver:esp-idf-max:6"):
            beacons[policy, dtim] = netsim.simulate(pages, policy, config=config, engine="packet").beacons
    assert beacons["driver:esp-idf", 1] == pytest.approx(3 * beacons["driver:esp-idf", 3], rel=0.02)
    assert beacons["driver:esp-idf-max", 1] == beacons["driver:esp-idf-max", 3]
    assert beacons["driver:esp-idf-max", 1] == pytest.approx(2 * beacons["driver:esp-idf-max:6", 1], rel=0.02)
