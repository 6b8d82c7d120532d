"""What a device really did to save power, from a monitor-mode capture of 802.11 frames, encrypted or not.

Every client frame tells by its power-management bit whether the client sleeps from then on; a beacon tells by its TIM
for whom the access point holds frames.  From these: the time asleep, the ways in which it woke up, its hold time (from
the last data frame, or from waking up, to the frame that said that it sleeps), the listen interval that shows in the
beacons it reacted to, and how long a frame waited after the first beacon that announced it.  Frames of the client
that the sniffer missed show as gaps of its sequence numbers, beacons as gaps in time.

Its mean power lies between two hypotheses: that it wakes up for no beacon but those it reacted to, and that it hears
each (each of its listen interval, where enough reactions tell one).  Service periods of a TWT are those of the frame
that sets it up; without it, a client that is sent frames while it says that it sleeps may be awake throughout.

Left out: aggregates, several links.
Sources: IEEE 802.11-2020, sections 9.4.2.5 (TIM), 11.2.3 (power management of a non-AP STA); radiotap.org.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from math import gcd
from statistics import median
from typing import Any

from netsim.radio import Radio, StateRadioConfig
from traces.captures.runs import Run, runs
from traces.captures.wireless import (
    ACTION,
    ASSOCIATION_REQUEST,
    ASSOCIATION_RESPONSE,
    BEACON,
    PS_POLL,
    Copies,
    Frame,
    half,
    heard,
    payload_bytes,
    word_at,
)  # fmt: skip
from traces.records import Request

TIME_UNIT_US = 1024
REACTION_US = 30_000
"""A client that wakes up so soon after a beacon reacted to it."""

_RADIOTAP, _MORE = 127, 1 << 31
# (size, alignment) of the fields of radiotap by their bits, up to the last one that is needed
_FIELDS = (
    *((8, 8), (1, 1), (1, 1), (4, 2), (2, 2), (1, 1), (1, 1), (2, 2), (2, 2), (2, 2), (1, 1), (1, 1), (1, 1), (1, 1)),
    *((2, 2), (2, 2), (1, 1), (1, 1), (8, 4), (3, 1), (8, 4), (12, 2), (12, 8), (12, 2)),
)
_RATE, _MCS, _VHT, _HE = 2, 19, 21, 23
_SIXTHS_OF_A_BIT = (3, 6, 9, 12, 18, 24, 27, 30, 36, 40, 45, 50)  # of data in a subcarrier's symbol, by MCS
_VHT_SUBCARRIERS = (52, *[108] * 3, *[234] * 7, *[468] * 15)  # of data, by the code of the bandwidth
_HE_SUBCARRIERS = (234, 468, 980, 1960)
_SYMBOL_US, _HE_SYMBOL_US = (4.0, 3.6), (13.6, 14.4, 16.0)  # by the code of the guard interval
_LONG_PREAMBLE_US, _SHORT_PREAMBLE_US = 192, 20
_DSSS_MBPS = (1.0, 2.0, 5.5, 11.0)
_ENOUGH = 6  # reactions tell a listen interval
_TURN_US = 400  # that a frame takes beside its air time: contention, its answer, the way back to doze
_SURE = 0.05  # what a mean power is off by what is left out: contention, the ends of frames, clocks
_MOST, _LARGEST_GAP = 1 << 16, 2048  # sequence numbers repeat after 4096
_WAYS = ("ps_polls", "null_frames", "data_frames", "triggers", "twt_actions")


@dataclass(slots=True)
class Network:
    """One basic service set."""

    ssid: str = ""  #:
    beacon_interval_us: int = 100 * TIME_UNIT_US  #: As its beacons say it.
    dtim_period: int = 0  #: Beacons from one DTIM to the next.
    beacons: int = 0  #: How many there were; the last of frames that followed a DTIM beacon and no other.
    multicast_frames: int = 0
    multicast_after_dtim: int = 0
    missed_beacons: int = 0  #: Beacons that should have been there by their times.
    beacon_air_us: float = 0.0  #: How long the latest was on the air; 0: its rate is not known.
    _first_us: int = -1
    _latest_us: int = -1
    _count: int = 0  # number of the latest beacon, missed ones counted
    _was_dtim: bool = False

    @property
    def measured_us(self) -> float:
        """The mean time from one beacon to the next, missed ones counted; as they say it if a single one was heard."""
        return (self._latest_us - self._first_us) / self._count if self._count else float(self.beacon_interval_us)


@dataclass(slots=True)
class Client:
    """One client of a network."""

    bssid: bytes  #: Of the network that it was in last.
    frames: int = 0  #: Frames of it and to it, and how often it went on in another network.
    roamed: int = 0
    asleep_us: int = 0  #: How long it had said that it sleeps, and that it does not.
    awake_us: int = 0
    sleeps: int = 0  #: How often it went to sleep.
    #: How often it woke up or fetched a frame, by the means.
    woke_by: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_WAYS, 0))
    #: From its last data frame, or from waking up, to the frame that said that it sleeps.
    holds_us: list[int] = field(default_factory=list)
    #: From the first beacon that announced a frame to its delivery.
    delays_us: list[int] = field(default_factory=list)
    frames_up: int = 0  #:
    frames_down: int = 0
    retries: int = 0
    bytes_up: int = 0
    bytes_down: int = 0
    #: Of data frames at their rates, preambles included; frames of unknown rate count for nothing.
    airtime_up_us: float = 0.0
    airtime_down_us: float = 0.0
    missed_frames: int = 0  #: Frames that the sniffer did not hear, by gaps of sequence numbers.
    announced: int | None = None  #: The listen interval of its association request.
    fetching_us: int = 0  #: Of the time asleep, from a PS-Poll or a trigger frame to the delivery.
    frames_asleep: int = 0  #: Data frames of it and to it while it said that it sleeps.
    unfetched: int = 0  #: Frames that it was sent while it said that it sleeps, and did not fetch.
    #: Before its first frame: a client that sleeps later, and holds for less, is taken to have slept.
    quiet_us: int = 0
    #: The interval and the length of the service periods that it was granted, microseconds.
    service_us: tuple[int, int] | None = None
    #: When its state was told to change, and whether to sleep, for pictures.
    states: list[tuple[int, bool]] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)  #: Its data frames as exchanges and messages.
    _networks: set[bytes] = field(default_factory=set)
    _asleep: bool | None = None
    _since_us: int = -1
    _last_data_us: int = -1
    _woke_us: int = -1
    _aid: int = 0
    _fetch_us: int = -1  # when it asked for a frame that has not come
    _told_us: int = -1  # the first beacon that announces the frame that waits
    _reacted: list[int] = field(default_factory=list)  # numbers of the beacons it reacted to
    _numbers: dict[int, int] = field(default_factory=dict)
    _runs: Run | None = None

    @property
    def listen_interval(self) -> int | None:
        """The number of beacons of which all but a tenth of the distances between its reactions are multiples."""
        steps = [later - earlier for earlier, later in pairwise(self._reacted) if later > earlier]
        if len(steps) < 2:
            return None
        if (common := reduce(gcd, steps)) > 1:
            return common
        return max(n for n in range(1, 33) if sum(step % n == 0 for step in steps) >= 0.9 * len(steps))

    @property
    def hold_us(self) -> int | None:
        """The median of its hold times; None if it never went to sleep."""
        return round(median(self.holds_us)) if self.holds_us else None

    def nearest_policy(self) -> str:
        """Return the policy of the simulator that does most nearly what it did, as it is written."""
        if not self.sleeps:
            return "none"
        polls, nulls, data, triggers, actions = (self.woke_by[name] for name in _WAYS)
        if self.service_us:
            return "twt:{:g}:{:g}".format(*(us / 1000 for us in self.service_us))
        if actions and actions >= max(polls, triggers):
            return "twt"
        if triggers > polls:
            return "uapsd"
        if polls <= nulls + data and (self.hold_us or 0) >= 5_000:
            return f"dynamic:{round((self.hold_us or 0) / 1000)}"
        return f"listen:{self.listen_interval}" if (self.listen_interval or 1) > 1 else "psm"

    def power_mw(self, network: Network, radio: Radio) -> tuple[float, float, float] | None:
        """Return its mean power with a radio, and the least and most that it can be; None where nothing is known."""
        quiet_us = max(0, self.quiet_us - (self.hold_us or 0)) if self.sleeps else 0
        asleep_us = self.asleep_us + quiet_us
        known_us = asleep_us + self.awake_us
        if not self.asleep_us + self.awake_us:
            return None
        sending_mw = receiving_mw = radio.awake_mw
        if isinstance(radio, StateRadioConfig):
            radio = replace(radio, beacon_ms=network.beacon_air_us / 1000 or radio.beacon_ms)
            sending_mw, receiving_mw = (one + radio.base_mw for one in (radio.transmitting_mw, radio.receiving_mw))
        each, served_us = asleep_us / (network.measured_us or 1.0), 0.0
        interval = (self.listen_interval or 1) if len(self._reacted) >= _ENOUGH else 1
        beacons = each / (self.listen_interval or 1), min(len(self._reacted), each), each / interval
        wakeups = float(sum(self.woke_by.values()))
        if self.service_us:
            (every_us, length_us), beacons = self.service_us, (0.0, 0.0, 0.0)
            served_us, wakeups = asleep_us * min(1.0, length_us / every_us), asleep_us / every_us
        on_air_mj = (sending_mw - radio.awake_mw) * self.airtime_up_us * 1e-6
        on_air_mj += (receiving_mw - radio.awake_mw) * self.airtime_down_us * 1e-6
        found = []
        for heard_beacons, factor, turns in zip(beacons, (1.0, 1 - _SURE, 1 + _SURE), (1.0, 0.0, 2.0), strict=True):
            awake_us = self.awake_us + (served_us or self.fetching_us) + turns * _TURN_US * self.frames_asleep
            awake_us = min(known_us, awake_us)
            joules = radio.total_j(1e3 * awake_us, 1e3 * (known_us - awake_us), heard_beacons, wakeups)
            found.append(max(radio.asleep_mw, factor * (1e9 * float(joules) + 1e6 * on_air_mj) / known_us))
        if self.unfetched and not self.service_us:
            found[2] = max(found[2], radio.awake_mw)
        return found[0], found[1], found[2]

    def _spend(self, now_us: int, asleep: bool | None) -> None:
        """Go on to the state that it tells."""
        spent_us = now_us - self._since_us
        self.asleep_us += spent_us * (self._asleep is True)
        self.awake_us += spent_us * (self._asleep is False)
        self._since_us, self._asleep = now_us, asleep


@dataclass(slots=True)
class Audit:
    """What a capture shows."""

    networks: dict[bytes, Network] = field(default_factory=dict)  #: By BSSID.
    clients: dict[bytes, Client] = field(default_factory=dict)  #: By address.
    #: When beacons came, and of which network, for pictures.
    beacons_us: list[tuple[int, bytes]] = field(default_factory=list)
    #: When data frames came, of which client, and whether up.
    frames_us: list[tuple[int, bytes, bool]] = field(default_factory=list)
    start_us: int = -1  #: Of the first and last frame.
    end_us: int = -1
    #: How many were read, how many had a wrong check sequence and are not believed, and how many were cut or of
    #: other kinds.
    frames: int = 0
    broken: int = 0
    unread: int = 0
    _copies: Copies = field(default_factory=Copies)


def audit(frames: Iterable[tuple[int, int, bytes, int]]) -> Audit:
    """Follow the frames of a capture as `traces.captures.packets.frames` yields them."""
    found = Audit()
    for now_us, link, captured, sent in frames:
        frame, is_wrong = heard(link, captured, sent)
        if found.start_us < 0:
            found.start_us = now_us
        found.end_us = max(now_us, found.end_us)
        found.frames += frame is not None
        found.broken += is_wrong
        found.unread += frame is None and not is_wrong
        if frame is None:
            continue
        if frame.kind == BEACON:
            _hear_beacon(found, frame, captured, found.end_us, rate_mbps(link, captured))
        else:
            _follow(found, frame, captured, found.end_us, rate_mbps(link, captured) if frame.is_data else 0.0)
    for client in found.clients.values():
        client._spend(found.end_us, client._asleep)
        if client._runs is not None:
            client._runs.send(None)
    networks = found.networks.keys()
    found.clients = {address: client for address, client in found.clients.items() if client._networks & networks}
    return found


def _keep(kept: list[Any], item: Any) -> None:
    if len(kept) < _MOST:
        kept.append(item)


def _hear_beacon(found: Audit, frame: Frame, captured: bytes, now_us: int, mbps: float) -> None:
    network = found.networks.get(frame.bssid)
    if network is None:
        if len(found.networks) >= _MOST:
            return
        network = found.networks[frame.bssid] = Network()
    at = frame.body_at + 12
    if len(captured) < at:
        return
    network.beacon_interval_us = max(1, half(captured, at - 4)[0]) * TIME_UNIT_US
    if network._latest_us >= 0:
        steps = max(1, round((now_us - network._latest_us) / network.beacon_interval_us))
        network._count += steps
        network.missed_beacons += steps - 1
    else:
        network._first_us = now_us
    network._latest_us = now_us
    network.beacons += 1
    network.beacon_air_us = _airtime_us(frame, mbps)
    _keep(found.beacons_us, (now_us, frame.bssid))
    while at + 2 <= len(captured):
        element, size = captured[at], captured[at + 1]
        value = captured[at + 2 : at + 2 + size]
        at += 2 + size
        if element == 0 and not network.ssid:
            network.ssid = value.decode("utf-8", "replace")
        elif element == 5 and len(value) >= 4:  # the traffic indication map
            network._was_dtim, network.dtim_period = not value[0], value[1]
            for client in found.clients.values():
                if client.bssid == frame.bssid and client._aid:
                    place = client._aid // 8 - (value[2] & 0xFE) + 3
                    if not (3 <= place < len(value) and value[place] >> client._aid % 8 & 1):
                        client._told_us = -1  # delivered, unheard by the sniffer
                    elif client._told_us < 0:
                        client._told_us = now_us


def _follow(found: Audit, frame: Frame, captured: bytes, now_us: int, mbps: float) -> None:
    network = found.networks.get(frame.bssid)
    is_group, body, kind = frame.receiver[0] & 1, frame.body_at, frame.kind
    if is_group and frame.down and network is not None:
        network.multicast_frames += 1
        network.multicast_after_dtim += network._was_dtim
        return
    up, is_management = frame.transmitter != frame.bssid, kind >> 4 == 0
    address = frame.transmitter if up else frame.receiver
    is_known = not is_management or kind in (ASSOCIATION_REQUEST, ASSOCIATION_RESPONSE, ACTION)
    client = found.clients.get(address)
    if not is_known or (is_group and not up) or (client is None and len(found.clients) >= _MOST):
        return
    if client is None:
        client = found.clients[address] = Client(frame.bssid)
    if client.bssid != frame.bssid:  # it keeps its account
        client.bssid, client._aid, client._told_us = frame.bssid, 0, -1
        client.roamed += 1
    client._networks.add(frame.bssid)
    client.frames += 1
    client.retries += frame.retry
    if up and frame.tid >= 0 and not frame.is_null:  # other numbers are shared or free
        number = frame.sequence >> 4
        gap = (number - client._numbers.get(frame.tid, number)) % 4096
        client._numbers[frame.tid] = number
        client.missed_frames += gap - 1 if 1 < gap < _LARGEST_GAP else 0
    if kind == ASSOCIATION_REQUEST and len(captured) >= body + 4:
        client.announced = half(captured, body + 2)[0]
    elif kind == ASSOCIATION_RESPONSE and len(captured) >= body + 6:
        client._aid = half(captured, body + 4)[0] & 0x3FFF
    elif kind == PS_POLL:
        client._aid = frame.duration & 0x3FFF
    elif kind == ACTION:
        client.woke_by["twt_actions"] += up and captured[body : body + 2] in (b"\x16\x06", b"\x16\x07")
        if captured[body : body + 2] == b"\x16\x06" and captured[body + 3 : body + 4] == b"\xd8":
            control, request = captured[body + 5], half(captured, body + 6)[0]
            every_us = half(captured, body + 17)[0] << (request >> 10 & 31)
            length_us = captured[body + 16] * (TIME_UNIT_US if control & 32 else 256)
            client.service_us = (every_us, length_us) if 0 < length_us < every_us else None
            if client.service_us and client._asleep is None:  # it keeps its periods from now on
                client._since_us, client._asleep = now_us, True
                client.sleeps += 1
    if up and not is_management:
        _tell(client, network, frame, now_us)
    if frame.is_data:
        _carry(found, client, address, frame, up, now_us, mbps)


def _tell(client: Client, network: Network | None, frame: Frame, now_us: int) -> None:
    """Follow what a client says of its own state."""
    was, is_poll = client._asleep, frame.kind == PS_POLL
    if was is None and network is not None:
        client.quiet_us = now_us - network._first_us
    if was is not frame.sleeps:
        client._spend(now_us, frame.sleeps)
        _keep(client.states, (now_us, frame.sleeps))
        if frame.sleeps:
            client.sleeps += 1
            latest_us = max(client._last_data_us, client._woke_us)
            if latest_us >= 0:
                _keep(client.holds_us, now_us - latest_us)
        elif was is not None:
            client._woke_us = now_us
            client.woke_by["null_frames" if frame.is_null else "data_frames"] += 1
    elif was and (is_poll or frame.tid >= 0):
        client.woke_by["ps_polls" if is_poll else "triggers"] += 1
        client._fetch_us = now_us
    is_told = client._told_us >= 0 or (not client._aid and frame.is_null and not frame.sleeps)
    if was and (is_poll or not frame.sleeps) and is_told and network is not None:
        is_reaction = now_us - network._latest_us <= REACTION_US
        if is_reaction and client._reacted[-1:] != [network._count]:
            _keep(client._reacted, network._count)


def _carry(
    found: Audit, client: Client, address: bytes, frame: Frame, up: bool, now_us: int, mbps: float
) -> None:  # fmt: skip
    """Follow a data frame, which was sent at a rate (0: not known)."""
    _keep(found.frames_us, (now_us, address, up))
    client._last_data_us = now_us
    airtime_us = _airtime_us(frame, mbps)
    client.frames_asleep += client._asleep is True
    if not up and client._asleep:
        if client._fetch_us >= 0:
            client.fetching_us += now_us - client._fetch_us
            client._fetch_us = -1
        elif not client.woke_by["triggers"] and not client.woke_by["ps_polls"]:
            client.unfetched += 1
    if up:
        client.frames_up += 1
        client.bytes_up += frame.size
        client.airtime_up_us += airtime_us
    else:
        client.frames_down += 1
        client.bytes_down += frame.size
        client.airtime_down_us += airtime_us
        if client._told_us >= 0:
            _keep(client.delays_us, now_us - client._told_us)
        client._told_us = -1
    if not found._copies.hear(frame) and (payload := payload_bytes(frame)):
        if client._runs is None:
            names = address.hex(":"), frame.bssid.hex(":")
            client._runs = runs(*names, lambda request, *_: _keep(client.requests, request._replace(connection=0)))
        client._runs.send((up, now_us, payload, b""))


def _airtime_us(frame: Frame, mbps: float) -> float:
    """Return how long a frame was on the air at a rate; 0 if that is not known."""
    preamble_us = _LONG_PREAMBLE_US if mbps in _DSSS_MBPS else _SHORT_PREAMBLE_US
    return preamble_us + 8 * frame.size / mbps if mbps else 0.0


def rate_mbps(link: int, captured: bytes) -> float:
    """Return the rate that a header of radiotap tells, Mb/s; 0: it tells none, or the frame has another header."""
    if link != _RADIOTAP:
        return 0.0
    length = half(captured, 2)[0]
    present = word = word_at(captured, 4)[0]
    at, found = 8, 0.0
    while word & _MORE and at + 4 <= length:
        word, at = word_at(captured, at)[0], at + 4
    for bit, (size, alignment) in enumerate(_FIELDS):
        if not present & 1 << bit:
            continue
        at += -at % alignment
        if at + size > length:
            break
        field = captured[at : at + size]
        at += size
        if bit == _RATE:
            found = field[0] / 2
        elif bit == _MCS:
            is_wide, is_short = bool(field[0] & 1 and field[1] & 3 == 1), bool(field[0] & 4 and field[1] & 4)
            found = _rate(field[2] // 8 % 4 + 1, field[2] % 8, _VHT_SUBCARRIERS, is_wide, _SYMBOL_US[is_short])
        elif bit == _VHT:
            symbol_us = _SYMBOL_US[field[2] >> 2 & 1]
            found = _rate(field[4] & 15, field[4] >> 4, _VHT_SUBCARRIERS, field[3], symbol_us)
        elif bit == _HE and (guard := field[8] >> 4 & 3) < len(_HE_SYMBOL_US):
            found = _rate(field[10] & 15, field[5] & 15, _HE_SUBCARRIERS, field[8] & 15, _HE_SYMBOL_US[guard])
    return found


def _rate(streams: int, mcs: int, subcarriers: tuple[int, ...], bandwidth: int, symbol_us: float) -> float:
    """Return the rate of so many spatial streams, Mb/s; 0: there is no such bandwidth, or modulation and coding."""
    if mcs >= len(_SIXTHS_OF_A_BIT) or bandwidth >= len(subcarriers):
        return 0.0
    return streams * subcarriers[bandwidth] * _SIXTHS_OF_A_BIT[mcs] / 6 / symbol_us
