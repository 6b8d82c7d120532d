"""The study of LPSM3: messages beside the ideal constant period, streams, parts, regret, and the hull of 25 worlds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netsim
from experiments.papers.kit import Setup
from experiments.papers.ours import lpsm3
from netsim.policies.lpsm3 import Lpsm3
from netsim.sleep_planning.hazards import N_BINS
from traces.records import Message
from traces.traffic import KINDS

MESSAGES = [Message(float(at), 300) for at in range(1, 200, 3)]
COLUMNS = ["traffic", "replication", "policy", "total_j", "slowdown_mean", "added_s_mean"]


def record_of(rows):
    return {"runs": pd.DataFrame(rows, columns=COLUMNS)}


@pytest.mark.parametrize("extra_j", [-2.0, 0.0, 1.0])
def test_messages_are_held_against_the_constant_period_of_equal_delay(extra_j):
    rows = []
    for seed in range(3):
        for traffic, bars in lpsm3.PERIOD_BARS.items():
            for ms in (100, 200, 300, 400, 500, 700, 1000, 1500):
                joules = 100.0 + 3.0 / (ms / 1000)  # of a constant period, exactly
                rows.append([traffic, f"seed-{seed}", f"psm:{ms}", joules, 1.0, ms / 2000])
            own = 100.0 + 3.0 / 0.36 + extra_j
            rows += [[traffic, f"seed-{seed}", lpsm3.pushed(ms), own, 1.0, 0.18] for ms in bars]
    found = lpsm3.below_periods(record_of(rows))["push-bursty, 200 ms:"]
    assert np.mean(found.sample) == pytest.approx(-100 * extra_j / (100.0 + 3.0 / 0.36) - 2.5, abs=1e-9)
    assert "180 ms" in found.note


def test_a_stream_is_also_run_with_its_deadlines_which_the_claims_ask_for():
    task = {"traffic": "streaming", "seconds": 60.0, "seed": 8900, "policies": ["hold:0", lpsm3.OWN, lpsm3.TIMED]}
    rows = lpsm3.LPSM3.run(task)["runs"]
    joules = {row["policy"]: row["total_j"] for row in rows}
    assert list(joules) == task["policies"]
    assert joules[lpsm3.TIMED] < joules[lpsm3.OWN]
    runs = pd.DataFrame([{**row, "replication": f"seed-{seed}"} for seed in range(3) for row in rows])
    claims = [claim for claim in lpsm3.LPSM3.claims if "deadlines" in claim.statement]
    assert len(claims) == 2
    for own_j, stalls in ((0.99 * joules["hold:0"], 0), (1e6, 1)):
        runs.loc[runs["policy"] == lpsm3.TIMED, ["total_j", "stalls"]] = own_j, stalls
        assert {claim.check({"runs": runs}).holds for claim in claims} == {stalls == 0}


def test_a_part_that_is_taken_away_is_gone_and_the_rest_stays():
    whole = Lpsm3()
    for part, change in lpsm3.PARTS.items():
        rest = lpsm3.without(part, **change)
        assert rest.spec == part
        for name, value in change.items():
            if name == "alone":
                learned = netsim.simulate([], rest, push=MESSAGES).final_policy.memory[0]
                assert learned["events"].sum() > 50
                assert np.array_equal(learned["mean_rates"], learned["rates"][:, value])  # whatever it learns
            else:
                assert getattr(rest.config, name) == value != getattr(whole.config, name)


def test_who_is_experienced_knows_waits_and_nothing_else_of_the_run_before():
    before = netsim.simulate([], lpsm3.OWN, push=MESSAGES).final_policy
    after, fresh = lpsm3.experienced(before).memory[0], Lpsm3().memory[0]
    changed = {name for name in fresh.dtype.names if not np.array_equal(after[name], fresh[name])}
    assert changed <= set(lpsm3.LEARNED)
    assert after["events"].shape[1] == N_BINS
    assert after["events"].sum() == before.memory[0]["events"].sum() > 50


def test_regret_is_what_is_needed_above_the_schedules_at_equal_slowdown():
    rows = []
    for seed in range(3):
        for traffic in lpsm3.LEARNED_ON:
            for place, name in enumerate(lpsm3.HINDSIGHT):
                rows.append([traffic, f"seed-{seed}", name, 50.0 - 2 * place, 1.0 + 0.1 * place, 0.1 * place])
            rows.append([traffic, f"seed-{seed}", lpsm3.OWN, 51.5, 1.05, 0.05])
    for found in lpsm3.regret_j(record_of(rows)).values():
        assert np.asarray(found.sample) == pytest.approx([2.5] * 3)


def test_there_are_25_worlds_and_36_rivals():
    assert len(lpsm3.WORLDS) == 25 == sum(name in KINDS for name in lpsm3.WORLDS) + 3
    assert len({netsim.canonical(policy) for policy in lpsm3.RIVALS}) == 36
    assert len(lpsm3.WORLDS_OF_LPSM3.sweep(Setup())) == 250


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(1000, 2000), st.floats(0.1, 9.0)), min_size=4, max_size=12, unique=True),
    st.floats(0, 1),
)
def test_a_mixture_of_rivals_is_on_their_lower_convex_hull(points, part):
    points = np.array([(1.0, 10.0), *((slowdown / 1000, joules) for slowdown, joules in points)])
    at = 1.0 + part * (points[:, 0].max() - 1.0)
    weights, worth = lpsm3.time_shared(points[:, :1], points[:, 1], np.array([at]))
    mixed = weights @ points
    assert mixed[0] <= at + 1e-7
    pairs = [
        (a + (b - a) * np.clip((at - a[0]) / (b[0] - a[0]), 0, 1)) if b[0] > a[0] else a
        for a in points[points[:, 0] <= at] for b in points
    ]  # fmt: skip
    assert mixed[1] == pytest.approx(min(pair[1] for pair in pairs), abs=1e-6)
    assert (points[:, 1] >= mixed[1] - worth[0] * (points[:, 0] - mixed[0]) - 1e-6).all()  # a tangent below them all


def test_a_policy_is_held_against_the_mixture_of_its_own_slowdown_and_delay():
    own, rows = next(iter(lpsm3.ASKED)), []
    for seed, noise in enumerate((-1.0, 0.0, 1.0)):
        for policy in (own, *lpsm3.RIVALS):
            joules, slow, delay_s = {
                own: (77.0, 1.1, 0.2), "none": (100.0, 1.0, 0.0), "listen:1": (40.0, 1.2, 0.4),
            }.get(policy, (90.0, 1.3, 0.5))  # fmt: skip
            rows.append(["chat", f"seed-{seed}", policy, joules + noise, slow, delay_s])
    above = lpsm3.above_hull(record_of(rows), "chat", own)
    assert above == pytest.approx([10.0] * 3)  # half of the one and half of the other need 70
