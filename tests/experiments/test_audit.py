"""What a client of a made monitor-mode capture did is recovered exactly; real ones give plausible figures."""

import struct
from zlib import crc32

from experiments.audit import audit, rate_mbps
from tests.tables import cases_of, each, near, unequal
from traces.captures.frames import WIRELESS
from traces.captures.packets import frames
from traces.captures.wireless import PS_POLL, heard
from traces.files import open_trace
from traces.records import Report

AP, STATION = b"\x02\0\0\0\0\1", b"\x02\0\0\0\0\2"
AID = 5
BEACON_US = 102_400
NULL, QOS_DATA, QOS_NULL = 0x24, 0x28, 0x2C


class Air:
    """Frames on the air, and so many beacons, as a sniffer hears them."""

    def __init__(self, beacons=0, link=127):
        self.link, self.frames, self.numbers = link, [], {True: 0, False: 0}
        for number in range(1, beacons):
            self.beacon(number)

    def add(self, at_us, kind, *, up, sleeps=False, body=b"", to=None, duration=0, retry=False):
        """Let the station (`up`) or the access point send."""
        is_data, is_poll = kind >> 4 == 2, kind == PS_POLL
        control = bytes([(kind & 15) << 4 | (kind >> 4) << 2])
        bits = (up if is_data else 0) | (not up and is_data) << 1 | retry << 3 | sleeps << 4
        sender, target = (STATION, AP) if up else (AP, to or STATION)
        frame = control + bytes([bits]) + struct.pack("<H", duration) + target + sender
        if not is_poll:
            number = self.numbers[up]
            self.numbers[up] += kind == QOS_DATA
            frame += AP + struct.pack("<H", number % 4096 << 4) + (b"\0\0" if is_data and kind & 8 else b"")
        before = {119: struct.pack("<II", 0x44, 144) + bytes(136), 127: struct.pack("<BBHIB", 0, 0, 9, 1 << 2, 22),
            192: struct.pack("<BBHI", 0, 0, 8, 105)}  # fmt: skip
        self.frames.append((at_us, self.link, before.get(self.link, b"") + frame + body, 0))

    def beacon(self, number, *, waiting=False):
        """Let the access point send a beacon, with or without the bit of the station."""
        tim = bytes([5, 4, number % 2, 2, 0, waiting << AID % 8])
        body = bytes(8) + struct.pack("<HH", 100, 1) + b"\0\4home" + tim
        self.add(number * BEACON_US, 0x08, up=False, to=b"\xff" * 6, body=body)

    def audit(self):
        """Return what is found."""
        return audit(sorted(self.frames, key=lambda item: item[0]))


@each("link", WIRELESS)
@cases_of("interval", "1 ; 3")
def test_listen_interval_delays_and_polls_are_those_of_the_client(link, interval):
    air = Air(link=link)
    wakes = [interval * number for number in (4, 5, 7, 10, 12, 15)]
    first_told = {wake: wake - wake % 2 * (interval > 1) for wake in wakes}  # some are announced a beacon earlier
    air.add(10, PS_POLL, up=True, sleeps=True, duration=0xC000 | AID)
    for number in range(1, 60):
        air.beacon(number, waiting=any(told <= number <= wake for wake, told in first_told.items()))
    for wake in wakes:
        air.add(wake * BEACON_US + 900, PS_POLL, up=True, sleeps=True, duration=0xC000 | AID)
        air.add(wake * BEACON_US + 2_000, QOS_DATA, up=False, body=b"x" * 200)
    found = air.audit()
    (network,) = found.networks.values()
    assert (network.ssid, network.dtim_period, network.beacon_interval_us, network.beacons) == ("home", 2, BEACON_US,
        59)  # fmt: skip
    client = found.clients[STATION]
    assert not unequal("""
client.listen_interval -> interval
client.woke_by["ps_polls"] -> len(wakes)
client.delays_us -> [(wake - told) * BEACON_US + 2_000 for wake, told in first_told.items()]
client.nearest_policy() -> f"listen:{interval}" if interval > 1 else "psm"
client.awake_us -> 0
len([request for request in client.requests if not request.request_bytes]) -> len(wakes)
""", globals() | locals())  # fmt: skip


def test_hold_time_and_time_asleep_are_those_of_the_client():
    air = Air(80)
    hold_us, asleep_us, at_us = 60_000, 0, 1_000
    air.add(at_us, NULL, up=True)
    for size in (300, 700, 500, 900):
        air.add(at_us + 20_000, QOS_DATA, up=True, body=b"q" * size)
        air.add(at_us + 50_000, QOS_DATA, up=False, body=b"r" * size, retry=size == 700)
        air.add(at_us + 50_000 + hold_us, NULL, up=True, sleeps=True)
        air.add(at_us + 1_000_000, NULL, up=True)
        asleep_us += 1_000_000 - 50_000 - hold_us
        at_us += 1_000_000
    client = air.audit().clients[STATION]
    assert client.holds_us == [hold_us] * 4
    assert client.asleep_us == asleep_us
    assert client.sleeps == client.woke_by["null_frames"] == 4
    assert client.nearest_policy() == "dynamic:60"
    assert (client.frames_up, client.frames_down, client.retries) == (4, 4, 1)
    assert client.bytes_up == client.bytes_down == 2400 + 4 * 26
    assert client.airtime_up_us == near(sum(192 + 8 * (26 + size) / 11 for size in (300, 700, 500, 900)))


@cases_of("kind body way policy", r"""
QOS_NULL, b"", "triggers" -> uapsd ; 0x0D, b"\x16\x06", "twt_actions" -> twt
""", globals())  # fmt: skip
def test_a_client_that_asks_while_it_sleeps_uses_u_apsd_or_target_wake_times(kind, body, way, policy):
    air = Air(30)
    air.add(1_000, NULL, up=True, sleeps=True)
    for number in range(40):  # each is answered with what waits
        air.add(100_000 + 60_000 * number, kind, up=True, sleeps=True, body=body)
        air.add(100_900 + 60_000 * number, QOS_DATA, up=False, body=b"v" * 160)
    client = air.audit().clients[STATION]
    assert client.woke_by == dict.fromkeys(client.woke_by, 0) | {way: 40}
    assert (client.nearest_policy(), client.sleeps, client.awake_us) == (policy, 1, 0)


def test_what_the_sniffer_missed_is_counted():
    air = Air(30)
    for number in range(10):
        air.add(BEACON_US * number + 5_000, QOS_DATA, up=True, body=b"x" * 100)
    missed = {BEACON_US * beacon for beacon in (7, 8, 20)} | {BEACON_US * number + 5_000 for number in (3, 4)}
    air.frames = [frame for frame in air.frames if frame[0] not in missed]
    found = air.audit()
    assert not unequal("""
found.networks[AP].missed_beacons -> 3
found.clients[STATION].missed_frames -> 2
found.clients[STATION].nearest_policy() -> "none"
""", globals() | locals())  # fmt: skip


def test_a_frame_sent_again_is_traffic_once_whether_or_not_its_first_copy_was_heard():
    air = Air(2)
    overhead = 8 + 40  # LLC, IP and TCP
    for at_us, up, size in ((200_000, True, 300), (230_000, False, 500), (240_000, False, 700)):
        air.add(at_us, QOS_DATA, up=up, body=bytes(overhead + size))
        air.numbers[up] -= 1
        air.add(at_us + 400, QOS_DATA, up=up, body=bytes(overhead + size), retry=True)
    air.frames = [frame for frame in air.frames if frame[0] != 230_000]
    client = air.audit().clients[STATION]
    assert [(one.request_bytes, one.reply_bytes) for one in client.requests] == [(300, 1200)]
    assert (client.frames_up, client.frames_down, client.retries) == (2, 3, 3)


def test_frames_that_are_cut_or_broken_are_passed_over():
    whole = Air(2).frames[0][2]
    assert [heard(link, b"") for link in WIRELESS] == [(None, False)] * 4
    flags = [struct.pack("<B", 0x40), bytes(8) + struct.pack("<B", 0x40)]  # with a time before them
    for present, fields in zip((1 << 1, 1 | 1 << 1), flags, strict=True):
        broken = struct.pack("<BBHI", 0, 0, 8 + len(fields), present) + fields
        assert heard(127, broken + whole[9:]) == (None, True)


@cases_of("name beacons missed sleeps", """
"wpa-test-decode.pcap.gz", 3106, 5, 75 ; "wpa1-gtk-rekey.pcapng.gz", 60, 68, 2 ; "wpa3-sae.pcapng.gz", 118, 1, 0
""")  # fmt: skip
def test_real_captures_tell_beacons_and_sleep(data, name, beacons, missed, sleeps):
    path = data / "captures" / name
    with open_trace(path) as stream:
        found = audit(frames(stream, path, Report()))
    (network,), (client,) = found.networks.values(), found.clients.values()
    assert (network.beacons, network.missed_beacons, network.beacon_interval_us) == (beacons, missed, BEACON_US)
    assert client.sleeps == sleeps
    assert client.asleep_us + client.awake_us <= found.end_us - found.start_us


def test_a_client_that_roams_keeps_its_account_and_a_broken_frame_makes_none():
    other = b"\x02\0\0\0\0\7"
    air = Air(20)
    for at_us in (5_000, 900_000):
        air.add(at_us, QOS_DATA, up=True, body=b"x" * 200)
    at_us, link, captured, sent = air.frames.pop()
    air.frames.append((at_us, link, captured.replace(AP, other), sent))  # another access point
    found = air.audit()
    assert list(found.clients) == [STATION]
    after = found.clients[STATION]
    assert (after.bssid, after.roamed, after.frames_up) == (other, 1, 2)

    def with_checksum(captured, wrong=0):
        header = struct.pack("<BBHI", 0, 0, 10, 1 << 1 | 1 << 2) + bytes([0x10, 22])
        return header + captured[9:] + struct.pack("<I", crc32(captured[9:]) ^ wrong)

    checked = [(at, one, with_checksum(frame), 0) for at, one, frame, _ in air.frames[:-1]]
    strange = air.frames[-1][2].replace(STATION, b"\x02\0\0\0\0\x09").replace(other, AP)
    for wrong in (0, 1):
        found = audit([*checked, (1_000_000, 127, with_checksum(strange, wrong), 0)])
        assert (found.broken, len(found.clients), found.clients[STATION].frames_up) == (wrong, 2 - wrong, 1)


def vht(bandwidth, mcs, streams, short=0):
    return struct.pack("<HBB4sBBH", 0x0044, 4 * short, bandwidth, bytes([mcs << 4 | streams, 0, 0, 0]), 0, 0, 0)


def he(bandwidth, mcs, streams, guard=0):
    return struct.pack("<6H", 0, 0, mcs << 8, 0, guard << 4 | bandwidth, streams)


MCS, AMPDU, VHT, HE = 1 << 19, 1 << 20, 1 << 21, 1 << 23


@cases_of("present fields mbps", """
MCS, bytes([0x07, 0x01, 7]), 135.0  # 40 MHz
VHT, vht(0, 8, 1), 78.0 ; VHT, vht(4, 9, 2, 1), 866.7 ; AMPDU | VHT, bytes(8) + vht(1, 0, 1), 13.5
VHT, vht(99, 0, 1), 0.0 ; VHT, vht(0, 15, 1), 0.0 ; HE, he(0, 0, 1), 8.6 ; HE, he(2, 11, 2), 1201.0
HE, he(3, 11, 1, 2), 1020.8 ; HE, he(9, 0, 1, 3), 0.0
HE, he(0, 0, 1)[:6], 0.0  # cut short
""", globals())  # fmt: skip
def test_a_rate_of_80211n_ac_or_ax_is_that_of_its_tables(present, fields, mbps):
    header = struct.pack("<BBHI", 0, 0, 8 + len(fields), present) + fields
    assert rate_mbps(127, header) == near(mbps, abs=0.06)
