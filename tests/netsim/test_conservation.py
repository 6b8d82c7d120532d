"""Laws that hold in every run: nothing is lost or made, and time and energy add up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netsim
from netsim.access_point import AccessPoint
from netsim.tcp import Endpoint
from traces.records import Page

sizes = st.one_of(st.integers(1, 5_000), st.sampled_from([1460, 2920, 1461, 536, 14_600]), st.integers(1, 80_000))
pages = st.builds(
    lambda request, reply, objects, think, issue: Page("p", request, reply, tuple(objects), think, issue),
    st.integers(1, 4_000),
    sizes,
    st.lists(st.tuples(st.integers(1, 2_000), sizes), max_size=9),
    st.one_of(st.just(0.0), st.floats(0, 5)),
    st.one_of(st.none(), st.floats(0, 20)),
)
configs = st.builds(
    lambda rtt, mss, nagle, per_object, connections, delay, loss: netsim.SimulationConfig(
        link=netsim.LinkConfig(wired_delay_ms=rtt, loss_rate=loss),
        tcp=netsim.TcpConfig(mss_bytes=mss, nagle=nagle),
        server_delay=netsim.ServerDelay(mean_s=delay, kind="exponential"),
        connections="per-object" if per_object else "persistent",
        max_connections=connections,
    ),
    st.sampled_from([0.0, 20.0, 300.0]),
    st.sampled_from([1460, 536]),
    st.booleans(),
    st.booleans(),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.3, 2.0]),
    st.sampled_from([0.0, 0.0, 0.1]),
)
TODAY = ["dynamic:100", "listen:3", "uapsd:200", "twt:130.5:7", "twt:2000:100", "bsd-phase:0.5", "bsd-phase:0.05"]
policies = st.sampled_from(["none", "psm:100", "psm:300", "psm:1500", "bsd:1", "bsd:0.3", "lpsm", "lpsm:log", *TODAY])


class Tap:
    """Notes every frame that the access point puts on the air, and every byte that endpoints take in order."""

    def __init__(self, monkeypatch):
        self.entered, self.on_air, self.arrived = [], [], []
        self.taken = 0
        down, receive = AccessPoint.downlink, Endpoint.receive

        def downlink(point, now_ns, packet, receiver):
            arrival = down(point, now_ns, packet, receiver)
            self.on_air.append((now_ns, arrival, packet.size_bytes, id(packet), packet))
            return arrival

        def received(end, packet):
            before = end._received
            receive(end, packet)
            self.taken += end._received - before

        monkeypatch.setattr(AccessPoint, "downlink", downlink)
        monkeypatch.setattr(Endpoint, "receive", received)


@settings(max_examples=120, deadline=None)
@given(st.lists(pages, min_size=1, max_size=4), policies, configs, st.integers(0, 5))
def test_time_energy_bytes_and_frames_are_conserved(workload, policy, config, seed):
    workload = [page._replace(page=f"p{i}") for i, page in enumerate(workload)]
    with pytest.MonkeyPatch.context() as patch:
        tap = Tap(patch)
        result = netsim.simulate(workload, policy, config=config, seed=seed, engine="packet")

    # time
    assert result.awake_s + result.asleep_s == pytest.approx(result.elapsed_s, abs=1e-9)
    radio = result.radio
    assert (radio.start_s.to_numpy()[1:] == radio.end_s.to_numpy()[:-1]).all()
    assert radio.end_s.iloc[-1] == result.elapsed_s if len(radio) else result.elapsed_s == 0
    awake = radio[radio.state == "awake"]
    assert (awake.end_s - awake.start_s).sum() == pytest.approx(result.awake_s, abs=1e-7)
    loads = result.pages
    assert np.allclose(loads.awake_s + loads.asleep_s, loads.latency_s, atol=1e-9)
    assert (loads.awake_s >= 0).all()
    assert (loads.asleep_s >= -1e-12).all()
    thinks = sum(round(page.think_s * 1e9) for page in workload) / 1e9
    assert result.elapsed_s >= loads.latency_s.sum() + thinks - 1e-9

    # energy
    energy = result.energy
    assert energy.total_j == pytest.approx(energy.awake_j + energy.sleep_j + energy.listen_j)
    assert energy.per_page_j * len(workload) == pytest.approx(energy.total_j)
    assert energy.listen_j == pytest.approx(0.0015 * result.beacons)
    assert loads.beacons.sum() <= result.beacons

    # bytes and frames
    wanted = sum(a + b for page in workload for a, b in ((page.request_bytes, page.reply_bytes), *page.objects))
    assert tap.taken == wanted
    assert len({frame[3] for frame in tap.on_air}) == len(tap.on_air)
    assert sum(frame[2] for frame in tap.on_air) * 1600e-9 == pytest.approx(result.downlink_air_s)
    assert policy == "none" or [f[0] for f in tap.on_air] == sorted(f[0] for f in tap.on_air)

    # no delivery while the client is asleep: it is awake from the frame's start on the air to its arrival
    starts, ends = awake.start_s.to_numpy() * 1e9, awake.end_s.to_numpy() * 1e9
    for begun, arrival, *_ in tap.on_air:
        if arrival <= result.elapsed_s * 1e9:
            i = np.searchsorted(starts, begun + 0.5, side="right") - 1
            assert starts[i] <= begun + 1
            assert arrival <= ends[i] + 1


@settings(max_examples=40, deadline=None)
@given(st.lists(pages, min_size=1, max_size=3), policies, configs)
def test_the_same_seed_gives_the_same_record(workload, policy, config):
    first, second = (netsim.simulate(workload, policy, config=config, seed=4) for _ in range(2))
    assert first.pages.equals(second.pages)
    assert first.polls.equals(second.polls)
    assert first.energy == second.energy
