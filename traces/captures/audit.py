"""What a device really did to save power, from a monitor-mode capture of 802.11 frames, encrypted or not.

Every client frame tells by its power-management bit whether the client sleeps from then on; a beacon tells by its TIM
for whom the access point holds frames.  From these: the time asleep, the ways in which it woke up, its hold time (from
the last data frame, or from waking up, to the frame that said that it sleeps), the listen interval that shows in the
beacons it reacted to, and how long a frame waited after the first beacon that announced it.  Frames of the client
that the sniffer missed show as gaps of its sequence numbers, beacons as gaps in time.

Left out: what happens below frames (wake-ups to hear beacons without a reaction), aggregates, several links.
Source: IEEE 802.11-2020, sections 9.4.2.5 (TIM), 11.2.3 (power management of a non-AP STA).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from math import gcd
from statistics import median

from traces.captures.runs import Runs
from traces.captures.wireless import (
    ACTION,
    ASSOCIATION_REQUEST,
    ASSOCIATION_RESPONSE,
    BEACON,
    PS_POLL,
    Copies,
    Frame,
    has_wrong_checksum,
    parse,
    payload_bytes,
    twt_agreement,
)  # fmt: skip
from traces.records import Request

__all__ = ["Audit", "Client", "Network", "audit"]

TIME_UNIT_US = 1024
REACTION_US = 30_000
"""A client that wakes up so soon after a beacon reacted to it."""

_MOST, _LARGEST_GAP = 1 << 16, 2048  # sequence numbers repeat after 4096
_LONG_PREAMBLE_US, _SHORT_PREAMBLE_US = 192, 20
_DSSS_MBPS = (1.0, 2.0, 5.5, 11.0)
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
    #: Interval and length of the service periods of its target wake time, as its setup frames tell them.
    agreed_us: tuple[int, int] | None = None
    #: When its state was told to change, and whether to sleep, for pictures.
    states: list[tuple[int, bool]] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)  #: Its data frames as exchanges and messages.
    _networks: set[bytes] = field(default_factory=set)
    _asleep: bool | None = None
    _since_us: int = -1
    _last_data_us: int = -1
    _woke_us: int = -1
    _aid: int = 0
    _told_us: int = -1  # the first beacon that announces the frame that waits
    _reacted: list[int] = field(default_factory=list)  # numbers of the beacons it reacted to
    _numbers: dict[int, int] = field(default_factory=dict)
    _runs: Runs | None = None

    @property
    def listen_interval(self) -> int | None:
        """The number of beacons of which all but a tenth of the distances between its reactions are multiples."""
        steps = [later - earlier for earlier, later in zip(self._reacted, self._reacted[1:], strict=False)]
        steps = [step for step in steps if step > 0]
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
        ways = {name: self.woke_by[name] for name in ("ps_polls", "triggers", "twt_actions")}
        if ways["twt_actions"] and ways["twt_actions"] >= max(ways.values()):
            return "twt" if self.agreed_us is None else "twt:{:g}:{:g}".format(*(us / 1000 for us in self.agreed_us))
        if ways["triggers"] > ways["ps_polls"]:
            return "uapsd"
        hold_us = self.hold_us or 0
        polled = self.woke_by["ps_polls"] > self.woke_by["null_frames"] + self.woke_by["data_frames"]
        if not polled and hold_us >= 5_000:
            return f"dynamic:{round(hold_us / 1000)}"
        return f"listen:{self.listen_interval}" if (self.listen_interval or 1) > 1 else "psm"


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
    """Follow the frames of a capture.

    Parameters
    ----------
    frames : iterable of (int, int, bytes, int)
        Time in microseconds, link type, bytes and size when sent, as `traces.captures.pcap.frames` yields them.
    """
    found = Audit()
    for now_us, link, captured, sent in frames:
        frame = parse(link, captured, sent)
        if found.start_us < 0:
            found.start_us = now_us
        found.end_us = now_us = max(now_us, found.end_us)
        if frame is None:
            wrong = has_wrong_checksum(link, captured, sent)
            found.broken += wrong
            found.unread += not wrong
            continue
        found.frames += 1
        if frame.kind == BEACON:
            _hear_beacon(found, frame, captured, now_us)
        else:
            _follow(found, frame, captured, now_us)
    for client in found.clients.values():
        _spend(client, found.end_us)
        if client._runs is not None:
            client._runs.close()
    heard = found.networks.keys()
    found.clients = {address: client for address, client in found.clients.items() if client._networks & heard}
    return found


def _hear_beacon(found: Audit, frame: Frame, captured: bytes, now_us: int) -> None:
    network = found.networks.get(frame.bssid)
    if network is None:
        if len(found.networks) >= _MOST:
            return
        network = found.networks[frame.bssid] = Network()
    at = frame.body_at
    if len(captured) < at + 12:
        return
    interval = captured[at + 8] | captured[at + 9] << 8
    network.beacon_interval_us = max(1, interval) * TIME_UNIT_US
    if network._latest_us >= 0:
        steps = max(1, round((now_us - network._latest_us) / network.beacon_interval_us))
        network._count += steps
        network.missed_beacons += steps - 1
    else:
        network._first_us = now_us
    network._latest_us = now_us
    network.beacons += 1
    if len(found.beacons_us) < _MOST:
        found.beacons_us.append((now_us, frame.bssid))
    at += 12
    while at + 2 <= len(captured):
        element, size = captured[at], captured[at + 1]
        value = captured[at + 2 : at + 2 + size]
        if element == 0 and not network.ssid:
            network.ssid = value.decode("utf-8", "replace")
        elif element == 5 and len(value) >= 4:
            network.dtim_period = value[1]
            network._was_dtim = value[0] == 0
            for client in found.clients.values():
                if client.bssid != frame.bssid or not client._aid:
                    continue
                if not _announced(value, client._aid):
                    client._told_us = -1  # delivered, unheard by the sniffer
                elif client._told_us < 0:
                    client._told_us = now_us
        at += 2 + size


def _announced(tim: bytes, aid: int) -> bool:
    """Tell whether the bit of an association identifier is set in a TIM."""
    place = aid // 8 - (tim[2] & 0xFE) + 3
    return 3 <= place < len(tim) and bool(tim[place] >> aid % 8 & 1)


def _follow(found: Audit, frame: Frame, captured: bytes, now_us: int) -> None:
    network = found.networks.get(frame.bssid)
    group = bool(frame.receiver[0] & 1)
    if group and frame.down and network is not None:
        network.multicast_frames += 1
        network.multicast_after_dtim += network._was_dtim
        return
    from_client = frame.transmitter != frame.bssid
    address = frame.transmitter if from_client else frame.receiver
    associating = frame.kind in (ASSOCIATION_REQUEST, ASSOCIATION_RESPONSE, ACTION)
    if (group and not from_client) or (frame.kind >> 4 == 0 and not associating):
        return
    client = found.clients.get(address)
    if client is None:
        if len(found.clients) >= _MOST:
            return
        client = found.clients[address] = Client(frame.bssid)
    if client.bssid != frame.bssid:  # it keeps its account
        client.bssid, client._aid, client._told_us = frame.bssid, 0, -1
        client.roamed += 1
    client._networks.add(frame.bssid)
    client.frames += 1
    client.retries += frame.retry
    _number(client, frame, from_client)
    if frame.kind == ASSOCIATION_REQUEST and len(captured) >= frame.body_at + 4:
        client.announced = captured[frame.body_at + 2] | captured[frame.body_at + 3] << 8
    elif frame.kind == ASSOCIATION_RESPONSE and len(captured) >= frame.body_at + 6:
        client._aid = (captured[frame.body_at + 4] | captured[frame.body_at + 5] << 8) & 0x3FFF
    elif frame.kind == PS_POLL:
        client._aid = frame.duration & 0x3FFF
    elif frame.kind == ACTION:
        client.agreed_us = twt_agreement(frame, captured) or client.agreed_us
    if from_client:
        _tell(client, network, frame, captured, now_us)
    if frame.is_data:
        _carry(found, client, address, frame, from_client, now_us)


def _number(client: Client, frame: Frame, from_client: bool) -> None:
    """Count the gaps of a client's numbers; those of others, and of null frames, are shared or free."""
    if not from_client or frame.tid < 0 or frame.is_null:
        return
    gap = (frame.number - client._numbers.get(frame.tid, frame.number)) % 4096
    client._numbers[frame.tid] = frame.number
    client.missed_frames += gap - 1 if 1 < gap < _LARGEST_GAP else 0


def _tell(client: Client, network: Network | None, frame: Frame, captured: bytes, now_us: int) -> None:
    """Follow what a client says of its own state."""
    if frame.kind == ACTION:
        body = captured[frame.body_at : frame.body_at + 2]
        client.woke_by["twt_actions"] += body in (b"\x16\x06", b"\x16\x07")
        return
    if frame.kind >> 4 == 0:
        return
    was = client._asleep
    if was is not frame.sleeps:
        _spend(client, now_us)
        client._asleep = frame.sleeps
        if len(client.states) < _MOST:
            client.states.append((now_us, frame.sleeps))
        if frame.sleeps:
            client.sleeps += 1
            latest_us = max(client._last_data_us, client._woke_us)
            if latest_us >= 0 and len(client.holds_us) < _MOST:
                client.holds_us.append(now_us - latest_us)
        elif was is not None:
            client._woke_us = now_us
            client.woke_by["null_frames" if frame.is_null else "data_frames"] += 1
    elif was and frame.kind == PS_POLL:
        client.woke_by["ps_polls"] += 1
    elif was and frame.kind >> 4 == 2 and frame.tid >= 0:
        client.woke_by["triggers"] += 1
    woke = was and (frame.kind == PS_POLL or not frame.sleeps)
    if woke and client._told_us >= 0 and network is not None and now_us - network._latest_us <= REACTION_US:
        reacted = client._reacted
        if len(reacted) < _MOST and (not reacted or reacted[-1] != network._count):
            reacted.append(network._count)


def _carry(found: Audit, client: Client, address: bytes, frame: Frame, up: bool, now_us: int) -> None:
    """Follow a data frame."""
    if len(found.frames_us) < _MOST:
        found.frames_us.append((now_us, address, up))
    airtime_us = 0.0
    if frame.rate_mbps:
        preamble_us = _LONG_PREAMBLE_US if frame.rate_mbps in _DSSS_MBPS else _SHORT_PREAMBLE_US
        airtime_us = preamble_us + 8 * frame.size / frame.rate_mbps
    client._last_data_us = now_us
    if up:
        client.frames_up += 1
        client.bytes_up += frame.size
        client.airtime_up_us += airtime_us
    else:
        client.frames_down += 1
        client.bytes_down += frame.size
        client.airtime_down_us += airtime_us
        if client._told_us >= 0:
            if len(client.delays_us) < _MOST:
                client.delays_us.append(now_us - client._told_us)
            client._told_us = -1
    if not found._copies.hear(frame) and (payload := payload_bytes(frame)):
        if client._runs is None:
            client._runs = Runs(address.hex(":"), frame.bssid.hex(":"), _Book(client))
        if up:
            client._runs.up(now_us, payload, b"", 0)
        else:
            client._runs.down(now_us, payload)


def _spend(client: Client, now_us: int) -> None:
    if client._asleep:
        client.asleep_us += now_us - client._since_us
    elif client._asleep is not None:
        client.awake_us += now_us - client._since_us
    client._since_us = now_us


class _Book:
    """Where the runs of a client are entered, and what is neither exchange nor message is not."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def enter(self, request: Request) -> None:
        if len(self._client.requests) < _MOST:
            self._client.requests.append(request._replace(connection=0))

    def leave_out(self, reason: str, size_bytes: int) -> None:
        pass
