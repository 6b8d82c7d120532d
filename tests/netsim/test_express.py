"""The express engine equals the packet model to the nanosecond: pages, messages, polls, radio, what was learned."""

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netsim
from netsim import NotCoveredError, policies
from netsim.express import engine
from netsim.express import layout as slot
from tests.netsim.worlds import Dice, Drawn, ordinary_case, tied_case
from traces.columns import Workload
from traces.records import Message, Page

POLICIES = ["none", "psm:100", "psm:300", "psm:900", "bsd:1", "bsd:0.3", "bsd:0.05", "lpsm", "lpsm:log"]
POLICIES += ["listen:2", "dynamic:100", "dynamic:20", "uapsd:100", "twt:500:10", "twt:137:5"]
POLICIES += ["bsd-phase:1", "bsd-phase:0.1", "bsd-host:1", "bsd-host:0.2", "hold:50", "hold:0"]
POLICIES += ["lpsm2:1.02", "lpsm2", "lpsm2:1.2", "lpsm2-link:1.02", "lpsm2-link", "lpsm2-link:1.2"]
POLICIES += ["lpsm3:1.02", "lpsm3", "lpsm3-link", "lpsm3:1.5:50"]

TIED_POLICIES = [*POLICIES, "dynamic:1", "dynamic:2", "dynamic:50", "dynamic:200", "lpsm2:3:40"]
TIED_POLICIES += [name for name, *_ in policies.registry()["driver"].members]


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """Compile the twin, so that "auto" takes it for small workloads too, unless kernels run as plain Python."""
    for policy in () if os.environ.get("NUMBA_DISABLE_JIT") else POLICIES:
        netsim.simulate([Page("p", 300, 500)], policy, engine="express")


def record(result):
    """Return what a run learned, and the integers of which all else is made that it leaves behind.

    Polls and intervals are apart: a row of polls may stand for several, and an interval may have no length.
    """
    trip, policy = result._trip, result.final_policy
    totals = np.array([trip.end_ns, trip.awake_ns, trip.beacons, trip.air_up_ns, trip.air_down_ns])
    floats = [] if policy.compiled is None else [policy.compiled.floats]
    learned = [*floats, *(policy.state() if hasattr(policy, "state") else [])]
    return [trip.loads, result._messages, totals, *learned]


def are_equal(found, wanted):
    return len(found) == len(wanted) and all(map(np.array_equal, found, wanted))


def assert_equal(ours, theirs):
    assert are_equal(record(ours), record(theirs))
    if not are_equal([ours._trip.polls], [theirs._trip.polls]):
        assert are_equal(list(ours.poll_columns.values()), list(theirs.poll_columns.values()))
    if not are_equal([ours._trip.intervals], [theirs._trip.intervals]):
        assert are_equal(list(ours.radio_columns.values()), list(theirs.radio_columns.values()))


def test_the_engines_give_equal_columns_where_their_integers_are_equal():
    ours, theirs = (netsim.simulate(list(map(_busy, range(3))), "lpsm", engine=each) for each in ("express", "packet"))
    assert_equal(ours, theirs)
    for frame in ("pages", "polls", "radio"):
        assert getattr(ours, frame).equals(getattr(theirs, frame))
    assert ours.energy == theirs.energy


def _busy(i):
    return Page(f"p{i}", 300, 9000, ((300, 700),), 2.5 * i)


def check(seeds, make=ordinary_case, names=POLICIES):
    """Compare the engines on one case a seed; return how many of each policy there were, and the share covered.

    The cases with messages are counted by themselves.  Where the express engine does not apply (it raises), the engine
    that is taken in its place is compared.
    """
    cases, covered = Counter(), Counter()
    for seed in seeds:
        name = names[seed % len(names)]
        pages, policy, config = make(Dice(seed), name)
        packet = netsim.simulate(pages, policy, config=config, seed=seed, engine="packet")
        kind = f"{name}, messages" if pages.messages else name
        cases[kind] += 1
        try:
            ours = netsim.simulate(pages, policy, config=config, seed=seed, engine="express")
            covered[kind] += 1
        except NotCoveredError:
            ours = netsim.simulate(pages, policy, config=config, seed=seed)
        assert_equal(ours, packet)
    return cases, {kind: covered[kind] / n for kind, n in cases.items()}


def test_both_engines_agree_exactly_and_the_express_engine_covers_every_case():
    _, covered = check(range(410))
    assert set(covered.values()) == {1.0}


@pytest.fixture
def small_rooms(monkeypatch):
    """Let the express engine keep its state at every page, and make room for more polls and intervals over and over."""
    monkeypatch.setattr(engine, "_FEWEST_AT_ONCE", 1)
    monkeypatch.setattr(engine, "_FEWEST_ROWS", -10)


@pytest.mark.parametrize("seed", range(70))
def test_both_engines_agree_exactly_in_a_world_and_in_two_full_of_ties_that_the_express_engine_covers(seed, request):
    if seed % 2:
        request.getfixturevalue("small_rooms")
    quick = [policy for policy in POLICIES if not policy.startswith(("lpsm2", "lpsm3"))]
    for make, at in ((ordinary_case, seed), (tied_case, 1000 + 2 * seed), (tied_case, 1001 + 2 * seed)):
        _, covered = check([at], make, quick)
        assert list(covered.values()) == [1.0]


@pytest.mark.parametrize("seed", range(28))
@pytest.mark.usefixtures("small_rooms")
def test_both_engines_agree_exactly_where_timers_of_pages_run_out_and_messages_are_sent_again(seed):
    def impatient(dice, policy):
        pages, policy, config = (ordinary_case, tied_case)[seed % 2](dice, policy)
        return pages, policy, replace(config, tcp=replace(config.tcp, min_rto_s=0.25, initial_rto_s=0.7))

    names = ["psm:900", "twt:1500:10", "bsd-host:1", "hold:50", "psm:2000", "dynamic:20", "listen:8"]
    _, covered = check([500 + seed], impatient, names)
    assert list(covered.values()) == [1.0]


@pytest.mark.parametrize("policy", ["psm:900", "psm:2000", "listen:37", "dynamic:100", "twt:1500:10"])
@pytest.mark.parametrize(("window", "sizes"), [(10, (40, 1, 3)), (20, (30, 0.3, 25)), (2, (1, 1, 1.5)), (40, (6, 90))])
@pytest.mark.parametrize("nagle", [False, True])
def test_both_engines_send_messages_of_many_segments_again_and_again_and_recover_alike(policy, window, sizes, nagle):
    config = netsim.SimulationConfig(
        tcp=netsim.TcpConfig(
            initial_window=min(window, 12), window=window, min_rto_s=0.06, initial_rto_s=0.2, nagle=nagle
        )
    )
    push = [Message(0.013 + 1.7 * i, round(1460 * n)) for i, n in enumerate((*sizes, 8, 2, 12))]
    assert_equal(
        *(netsim.simulate([], policy, config=config, push=push, engine=name) for name in ("express", "packet"))
    )


@pytest.mark.parametrize("seed", range(24))
def test_both_engines_tell_policies_that_observe_frames_the_same(seed):
    check([900 + seed], (ordinary_case, tied_case)[seed % 2], ["hold:50", "bsd-host:1", "bsd-host:0.2", "hold:0"])


@pytest.mark.parametrize("policy", ["lpsm2:1.2", "lpsm2-link:1.02"])
def test_both_engines_teach_a_learner_the_same_about_pages_deadlines_uploads_and_messages(policy):
    pages = [Page("a", 300, 3000, ((300, 700), (4000, 0)), 0.7, None, (), 2.0), Page("b", 300, 9000)]
    push = [Message(0.33, 700), Message(0.5, 3000), Message(2.6, 100)]
    ours, packet = (netsim.simulate(pages, policy, push=push, engine=name) for name in ("express", "packet"))
    assert_equal(ours, packet)


def test_both_engines_agree_exactly_where_instants_coincide():
    assert {name.partition(":")[0] for name in TIED_POLICIES} == set(policies.registry())
    check(range(4 * len(TIED_POLICIES)), tied_case, TIED_POLICIES)


@pytest.mark.parametrize(
    ("seed", "policy"),
    [
        (2_111_766, "driver:pic32mzw"),  # a short segment comes after a long one that comes after the end of the run
        (2_582_233, "lpsm2:1.2"),  # a message is written at the instant of a time-out, here
        (2_640_147, "lpsm2:1.2"),  # and here,
        (2_660_199, "hold:50"),  # and here
        (2_594_839, "lpsm2-link"),  # two frames arrive at the instant at which the run ends
        (9_190_754, "none"),  # a copy is on the wire at the end of a run of a client that never sleeps
        (2_665_760, "twt:137:5"),  # a frame that takes longer than the interval between service periods
    ],
)
def test_both_engines_agree_exactly_where_they_once_did_not(seed, policy):
    check([seed], tied_case, (policy,))


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(POLICIES), st.integers(0, 3))
def test_both_engines_agree_exactly_in_whatever_world_is_found(data, policy, seed):
    pages, policy, config = ordinary_case(Drawn(data), policy)
    ours, packet = (
        netsim.simulate(pages, policy, config=config, seed=seed, engine=name) for name in ("express", "packet")
    )
    assert_equal(ours, packet)


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_both_engines_agree_exactly_in_a_hundred_thousand_cases(part):
    cases, covered = check(range(1_000_000 + 5_000 * part, 1_005_000 + 5_000 * part))
    print(f"covered {covered} of {dict(cases)}")
    assert all(share >= 0.99 for share in covered.values()), (cases, covered)


@pytest.mark.long
@pytest.mark.parametrize("part", range(200))
def test_both_engines_agree_exactly_in_a_million_cases_full_of_ties(part):
    cases, covered = check(range(2_000_000 + 5_000 * part, 2_005_000 + 5_000 * part), tied_case, TIED_POLICIES)
    names = {kind.partition(",")[0] for kind in cases}
    kinds = {name: [kind for kind in cases if kind.partition(",")[0] == name] for name in names}
    shares = {name: np.average([covered[k] for k in of], weights=[cases[k] for k in of]) for name, of in kinds.items()}
    print(f"covered {shares} of {dict(cases)}")
    assert all(share >= 0.99 for share in shares.values()), (cases, shares)


def test_a_poll_after_a_time_awake_is_no_repetition_of_the_last_one():
    # a page issued at a beacon holds the client awake for one interval, so that it sleeps and wakes at beacons again
    pages = [Page("p", 60, 1000, (), 3.0, issue_s=0.3), Page("q", 60, 1000, (), 3.0, issue_s=5.5)]
    for interval_ms, timeout in ((50, 50), (100, 100), (1, 1)):
        config = netsim.SimulationConfig(
            link=netsim.LinkConfig(wired_delay_ms=100.0), beacon_interval_ns=interval_ms * 1_000_000
        )
        ours, packet = (
            netsim.simulate(pages, f"dynamic:{timeout}", config=config, engine=engine)
            for engine in ("express", "packet")
        )
        assert_equal(ours, packet)


def test_of_two_replies_that_are_due_at_one_instant_the_one_asked_for_first_goes_first():
    def run(engine, *waits, recorder=None):
        page = Page("p", 300, 500, ((300, 500), (300, 100), (300, 1400), (300, 500)), waits_s=(0, 0.1, 0.5, *waits))
        config = netsim.SimulationConfig(max_connections=2)
        return netsim.simulate([page], "none", config=config, engine=engine, recorder=recorder)

    recorder = netsim.Recorder()
    run("packet", 0.3, 0.0, recorder=recorder)
    asked = {one.object_index: (one.asked_ns, one.connection) for one in recorder.exchanges}
    assert asked[1][0] < asked[2][0]  # on the connection that was opened second
    assert asked[1][1] > asked[2][1]
    wait_s = 0.5 + 64e-6 - (asked[2][0] - asked[1][0]) * 1e-9  # the handshake's ACK is on the air before request 1
    again = netsim.Recorder()
    packet = run("packet", wait_s, 0.0, recorder=again)
    assert [one.object_index for one in again.exchanges] == [-1, 0, 1, 2, 3]
    assert_equal(run("express", wait_s, 0.0), packet)


def test_what_is_sent_again_after_a_time_out_is_timed_in_neither_engine_and_hardly_anything_is_sent_more_often():
    push = [Message(0.3 + 7.1 * k, 9_000 + 137 * k) for k in range(12)]  # a client that sleeps longer than 3 s
    express, packet = (netsim.simulate([], "psm:5000", push=push, engine=engine) for engine in ("express", "packet"))
    assert_equal(express, packet)
    once_s = sum(size for _, size in push) * 8 / 5e6
    assert once_s < packet.downlink_air_s < 1.2 * once_s  # 2.6 times with round trips measured on what was sent twice


def test_the_twin_says_why_it_does_not_apply():
    pages = [Page("p", 300, 500)]

    class Mine:
        spec, host_aware = "mine", False

        def plan(self, view):
            return netsim.Plan(view.now_ns, (view.now_ns // 100_000_000 + 1) * 100_000_000)

    lossy = netsim.SimulationConfig(link=netsim.LinkConfig(loss_rate=0.1))
    with pytest.raises(NotCoveredError, match=r"loss_rate is 0\.1"):
        netsim.simulate(pages, config=lossy, engine="express")
    with pytest.raises(NotCoveredError, match="policy mine has no compiled form"):
        netsim.simulate(pages, Mine(), engine="express")
    with pytest.raises(ValueError, match="engine must be one of auto, packet, express, got 'ns2'"):
        netsim.simulate(pages, engine="ns2")
    assert len(netsim.simulate(pages, Mine()).pages) == len(netsim.simulate(pages, config=lossy).pages) == 1


@pytest.mark.parametrize(("policy", "think_s"), [("lpsm:log", 3.0), ("twt:137:5", 9.0), ("bsd:0.3", 60.0)])
@pytest.mark.usefixtures("small_rooms")
def test_a_long_silence_needs_more_room_than_there_was_and_loses_nothing(policy, think_s, monkeypatch):
    monkeypatch.setattr(engine, "_FEWEST_ROWS", 4 - 3 * 16)
    pages = [Page("a", 300, 500, (), think_s), Page("b", 300, 500), Page("c", 300, 500, (), 2 * think_s)]
    assert_equal(netsim.simulate(pages, policy, engine="express"), netsim.simulate(pages, policy, engine="packet"))


@pytest.mark.parametrize("name", ["express", "packet"])
def test_a_time_out_is_a_minute_at_most_and_what_comes_at_a_beacon_waits_for_the_next(name):
    # a thousand bytes and a header of a thousand take 2 ms on the wire; sent again after one and two minutes exactly
    config = netsim.SimulationConfig(
        link=netsim.LinkConfig(wireless_mbps=8.0, wired_mbps=8.0, wireless_delay_ms=0.0, wired_delay_ms=0.0),
        tcp=netsim.TcpConfig(mss_bytes=1000, header_bytes=1000, initial_rto_s=60.0), beacon_interval_ns=10_000_000_000,
    )  # fmt: skip
    for at_s, found in ((9.998, 4_000), (9.997999999, 6_000)):
        result = netsim.simulate([], "listen:13", config=config, push=[Message(at_s, 1000)], engine=name)
        assert result.polls.buffered_bytes.tolist() == [found]
        assert result.elapsed_s == 130.002


def test_sizes_are_covered_up_to_a_tebibyte():
    def made(size, *messages):
        workload, policy = Workload.of([Page("p", 300, size)]), policies.make("psm")
        return engine.Run(workload, messages, np.zeros(1, np.int64), policy, netsim.SimulationConfig())

    assert made(2**40, Message(0.0, 2**39), Message(0.0, 2**39)).left_over == 0
    with pytest.raises(NotCoveredError, match=r"sizes must be at most 1099511627776 bytes, got 1099511627777"):
        made(2**40 + 1)
    with pytest.raises(NotCoveredError, match="messages must have at most 1099511627776 bytes altogether"):
        made(1, Message(0.0, 2**40), Message(0.0, 1))


def test_the_places_of_the_array_follow_each_other_without_a_gap():
    of_connection = [slot.S_TO_COME, slot.C_TO_COME, slot.OBJECT, slot.UPLOAD, slot.CLOSED, slot.REPLY_AT]
    of_connection += [slot.REPLY_SINCE, *(at + field for at in (slot.SERVER, slot.CLIENT) for field in range(11))]
    assert sorted(of_connection) == list(range(slot.N_CONNECTION))
    assert slot.RING == slot.PUSH + slot.N_CONNECTION
    w = slot.new_world(8, 3)
    held, partial, connections = w[slot.HELD], w[slot.PARTIAL], w[slot.CONNECTIONS]
    assert (w[slot.ROOM], w[slot.MASK]) == (8, 7)
    assert np.diff([slot.RING, held, partial, connections, w.size]).tolist() == [24, 24, 24, 4 * slot.N_CONNECTION]
    assert len({slot.TIMER, slot.FULL, slot.REFUSED, 0}) == 4
    assert w[w != 0].size == 5


def test_a_small_workload_does_not_wait_for_the_twin_to_be_compiled(tmp_path):
    code = """
import netsim
from netsim.express.run import run_pages
from traces.records import Message, Page
pages = [Page("p", 300, 500, (), 1.0)]
netsim.simulate(pages, "psm")
print(len(run_pages.signatures))
netsim.simulate(pages, "psm", engine="express")
netsim.simulate(pages, "psm")
print(len(run_pages.signatures))
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1"]
