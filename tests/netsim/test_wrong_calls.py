"""What a world, its traffic, its policies and their learners do not take is named, with the rule and the value."""

# ruff: noqa: F401 - the table uses what is imported
from math import inf, nan

import netsim
from netsim import AirConfig, BeaconConfig, Phy, RadioConfig, ServerDelay, SimulationConfig, TcpConfig
from netsim.policies import make
from netsim.policies.host import HoldThenBeacons
from netsim.policies.polling import PollingConfig, PollingLearner
from netsim.policies.protocol import Plan
from netsim.sleep_planning.schedules import Schedule
from netsim.sleep_planning.schedules import table as rows_of
from netsim.traffic import check
from tests.wrong_calls import refused, table
from traces.columns import Workload
from traces.records import Datagram, Message, Page

PAGE = Page("p", 300, 5000)
TOLD = [Datagram(0.0, 9, True, b"E")]
AIR = SimulationConfig(medium=AirConfig())
LOSSY = SimulationConfig(link=netsim.LinkConfig(loss_rate=0.1))


class Odd:
    spec, host_aware = "off", False

    def plan(self, view):
        return Plan(view.now_ns, view.now_ns + 123)


NAMELESS = type("NoName", (), {"plan": print, "host_aware": False})()


def run(*pages, policy="psm", **given):
    return netsim.simulate(pages or [PAGE], policy, **given)


def checked(pages, messages=()):
    return check(Workload.of(pages), list(messages))


@table(r"""
make("pms") -> did you mean psm[?]$
make("") -> a policy must be one of none, psm, .*, lpsm, .*, got ''
make("psm:150") -> positive multiple of 100 ms, got 150 ms
make("psm:1e25") -> the psm period must be a number of milliseconds, at most 1000000000, got .1e25.
make("listen:0") -> whole number, at least 1, got '0'
make("twt") -> an interval is needed; write twt:INTERVAL_MS
make("twt:100:100") -> shorter than the interval of 100 ms, got 100
make("twt:100:1e-7") -> twt service period must be a positive whole number of nanoseconds, got 1e-7 ms
make("subprocess:Popen:./evil.sh") -> a policy must be one of none
make("hold:-1") -> time awake must be a whole number of milliseconds, at least 0, got '-1'
make("lpsm2:1") -> ^policy 'lpsm2:1': the target must be a number above 1, got '1'; write lpsm2
make("lpsm3:1.05:60@max") -> hard limit of the push delay must be at least a beacon interval \(100 ms\), got 60 ms
make("lpsm4:1.05:60@p9") -> push_measure
make("lpsm3:1.05:400:bins0000000409") -> sizes must be small, .* got .bins0000000409.
make("lpsm3:1.05:400:bins9") -> sizes must be small, or NAMEn/NAMEn/... of bins16 to bins226, .*, got .bins9.
make("lpsm2:1.05:abc") -> 'lpsm2:1.05:abc': the push delay must be a number of milliseconds above 0, got 'abc'; write
make("lpsm2:1.05:100:3") -> 'lpsm2:1.05:100:3': a target and a push delay are all it takes, got '1.05:100:3'
make("psm:") -> nothing follows the colon
make("bsd:1e999999999") -> p of bsd must be a number from 1e-99 to 1e99
make("none:1") -> none takes no parameter
make("lpsm:sqrt") -> no parameter, log or times=.*got 'sqrt'
make("lpsm:a=1") -> of times, energy, gamma, alphas; got 'a=1'
make("lpsm:times=1:2") -> FIRST:LAST:STEP
make("lpsm:times=0:1e9:1e-9") -> at most 10000
make("lpsm:gamma=x") -> gamma must be
make("lpsm:energy=T") -> energy must be 1/T or log, got 'T'
make("psm:ms=1,ms=2") -> each name once
make("none:a=1") -> of no names
make("twt:service_ms=5") -> got
make("dynamic:20:all") -> the beacons that dynamic listens to must be dtim, or left out for all, got 'all'
make("driver:windows") -> the driver must be one of mac80211,
make("driver:esp-idf:3") -> only esp-idf-max takes a listen interval, got 'esp-idf:3'
netsim.clairvoyant(Workload.of([PAGE], messages=[Message(0.1, 10)])) -> needs pages, and no messages
netsim.clairvoyant([PAGE], config=AIR) -> medium of its own
netsim.clairvoyant([PAGE], config=LOSSY) -> no frame is lost
netsim.clairvoyant([PAGE], prices_j=[1.0, 2.0]) -> prices_j must be falling numbers above 0
HoldThenBeacons(-1) -> hold_ms must be at least 0, got -1
PollingConfig(times_ms=(0.5,)) -> times_ms must be finite and above 1 ms, got 0.5
PollingConfig(energy="log") -> energy must be one of
PollingConfig(energy=lambda t: 1.0) -> gamma must be given
PollingConfig(energy=lambda t: -1.0, gamma=1.0) -> energy must be finite and not negative, got -1.0 at 100.0 ms
PollingConfig(gamma=-1.0) -> gamma must be non-negative and finite, got -1.0
PollingConfig(alphas=(2.0,)) -> alphas must lie in \[0, 1\], got 2.0
PollingLearner().poll(0.0, 1) -> slept_ms must be positive and buffered_bytes not negative
PollingLearner().poll(1.0, -1) -> slept_ms must be positive and buffered_bytes not negative
Schedule(hold_to_ms=-1.0) -> hold_to_ms must lie in \[0, 1e\+09\], got -1.0
Schedule(longest=0) -> longest must be an integer of at least 1, got 0
Schedule(stride=-1) -> stride must be an integer of at least 0, got -1
rows_of([], 100_000_000) -> must name at least one, got none
ServerDelay.parse("fast") -> server delay
Phy.parse("11x") -> kind must be one of 11b, .* got '11x'
Phy.parse("11g:7") -> rate_mbps of 11g must be one of 6, 9, .* got 7
Phy(rate_mbps=10**400) -> rate_mbps of 11g must be one of .*, got an integer of 1329 bits
Phy().frame_ns(10, 5e-324) -> rate_mbps must lie in \[0.25, 1e\+06\], got 5e-324
Phy().data_ns(nan) -> mpdu_bytes must be an integer of at least 0, got nan
AirConfig(phy=Phy.parse("11g"), max_ampdu_bytes=8000) -> must be 0 on 11g, which cannot aggregate frames, got 8000
AirConfig(phy=Phy.parse("11n"), max_ampdu_bytes=65_536) -> max_ampdu_bytes must be at most 65535, got 65536
AirConfig(phy=Phy(cw_min=0), neighbours=1) -> cw_min must be at least 1 with access dcf beside neighbours, .* got 0
AirConfig(phy=Phy(cw_min=2), access='voice') -> cw_min must be at least 3 with access voice, .* got 2
TcpConfig(window=20.5) -> window must be an integer of at least 1, got 20.5
RadioConfig(awake_mw="750") -> awake_mw must be a number, got '750'
RadioConfig().energy(nan, 0, 0) -> awake_ns must be non-negative and finite, got nan
RadioConfig.named("esp23") -> is no TOML file must be one of thesis, .*, got 'esp23'; did you mean 'esp32'\?
SimulationConfig(beacon_interval_ns=1e8) -> beacon_interval_ns must be an integer of at least 1000000, got 100000000.0
SimulationConfig(server_delay=True) -> mean_s must be a number
SimulationConfig(medium=Phy()) -> medium must be of the type AirConfig, got Phy
run(Page("p", 300.5, 500)) -> sizes must be whole numbers of bytes .* got 300.5
run(Page("p", 300, 1 << 63)) -> sizes must .* below 2\^63, got
run(("p", 300, 500)) -> pages must be traces.Page, got \('p', 300, 500\)
run(seed="x") -> seed must be an integer of at least 0, got 'x'
run(engine="ns2") -> engine must be one of auto, packet, express, got 'ns2'
run(recorder=3) -> recorder must be of the type Recorder, got 3
run(config=AIR, recorder=netsim.Recorder()) -> this run is the other
run(policy=object()) -> policy must be a name or an object with a method plan
run(policy=Odd) -> policy must be a name or an object with a method plan, got .*Odd.*; did you forget \(\)\?$
run(policy=NAMELESS) -> must have the attribute spec, which NoName has not
run(policy=Odd()) -> policy off: wake_ns must be a multiple of 100000000 ns
netsim.simulate(Workload.of([], datagrams=TOLD), "hold:50", engine="express") -> packets tell its policy
run(push="abc") -> push must be messages, traces.traffic.Message\(.*\), got 'a' as message 0
run(push=[Message("soon", 9)]) -> message 0: at_s must be a number and size_bytes a whole one, got .*'soon'
run(server_delays=[1.0]) -> server_delays must be a sequence of ServerDelay, .* got 1.0 for page 0
run(PAGE, PAGE, server_delays=[ServerDelay()]) -> server_delays must be one a page \(2\), got 1
netsim.simulate_cell([]) -> at least one client
netsim.simulate_cell([([PAGE], "psm")], push=[[Message(0.1, 9)], []]) -> must be one entry a client \(1\), got 2 entries
checked([]) -> a workload must have at least one page, got none
checked([Page("x", 0, 5)]) -> page 'x': sizes must be at least 1 byte, got 0
checked([Page("x", 5, 5, ((5, -1),))]) -> page 'x': a reply must have at least 0 bytes, got -1
checked([Page("x", 5, 5, (), -1e-9)]) -> page 'x': think_s must lie in \[0, 4e\+09\] s, got -1e-09
checked([Page("x", 5, 5, (), 0.0, 4e9 + 1)]) -> page 'x': issue_s must lie in .* got 4000000001.0
checked([Page("x", 5, 5, (), 0.0, None, (), -1.0)]) -> page 'x': deadline_s must lie in .* got -1.0
checked([Page("x", 5, 5, (), 4e9), Page("y", 5, 5, (), 1.0)]) -> think times must add up to at most 4e.09 s, got 4e
checked([Page("x", 5, 5, (), 0.0, None, (1e6 + 1,))]) -> page .x.: waits_s must lie in \[0, 1e\+06\] s, got 1000001.0
checked([PAGE], [Message(0.0, 1), Message(1.0, 0)]) -> message 1: size_bytes must be an integer of at least 1, got 0
check(Workload.of([PAGE], datagrams=TOLD), []) -> datagrams must have no heads beside pages or messages
checked([PAGE], [Message(2.0, 5), Message(1.0, 5)]) -> message 1: at_s must lie in \[2, .* got 1.0
""")
def test_a_wrong_call_is_answered_with_the_argument_the_rule_and_the_value(call, message):
    refused(call, message, globals())
