"""What a client of a made monitor-mode capture did is recovered exactly; real ones give plausible figures."""

import struct
from zlib import crc32

import pytest

from traces.captures.audit import audit
from traces.captures.frames import WIRELESS
from traces.captures.packets import frames
from traces.captures.wireless import PS_POLL, heard
from traces.files import open_trace
from traces.records import Report

AP, STATION = b"\x02\0\0\0\0\1", b"\x02\0\0\0\0\2"
AID = 5
BEACON_US = 102_400
NULL, QOS_DATA, QOS_NULL, ACTION = 0x24, 0x28, 0x2C, 0x0D


class Air:
    """Frames on the air, as a sniffer with radiotap headers hears them."""

    def __init__(self, link=127):
        self.link = link
        self.frames = []
        self.numbers = {True: 0, False: 0}

    def add(self, at_us, kind, *, up, sleeps=False, body=b"", to=None, rate=11.0, duration=0, retry=False):
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
        header = struct.pack("<BBHIB", 0, 0, 9, 1 << 2, int(2 * rate)) if self.link == 127 else b""
        if self.link == 119:
            header = struct.pack("<II", 0x44, 144) + bytes(136)
        elif self.link == 192:
            header = struct.pack("<BBHI", 0, 0, 8, 105)
        self.frames.append((at_us, self.link, header + frame + body, 0))

    def beacon(self, number, *, period=2, waiting=False):
        """Let the access point send a beacon, with or without the bit of the station."""
        bitmap = bytes([1 << AID % 8 if waiting else 0])
        tim = bytes([5, 4, number % period, period, 0]) + bitmap
        self.add(
            number * BEACON_US,
            0x08,
            up=False,
            to=b"\xff" * 6,
            body=bytes(8) + struct.pack("<HH", 100, 1) + b"\0\4home" + tim,
        )

    def audit(self):
        """Return what is found."""
        return audit(sorted(self.frames, key=lambda item: item[0]))


@pytest.mark.parametrize("link", WIRELESS)
@pytest.mark.parametrize("interval", [1, 3])
def test_listen_interval_delays_and_polls_are_those_of_the_client(link, interval):
    air = Air(link)
    wakes = [interval * number for number in (4, 5, 7, 10, 12, 15)]
    first_told = {wake: wake - wake % 2 * (interval > 1) for wake in wakes}  # some are announced a beacon earlier
    air.add(10, PS_POLL, up=True, sleeps=True, duration=0xC000 | AID)
    for number in range(1, 60):
        air.beacon(number, waiting=any(told <= number <= wake for wake, told in first_told.items()))
    for wake in wakes:
        at_us = wake * BEACON_US
        air.add(at_us + 900, PS_POLL, up=True, sleeps=True, duration=0xC000 | AID)
        air.add(at_us + 2_000, QOS_DATA, up=False, body=b"x" * 200)
    found = air.audit()
    (network,) = found.networks.values()
    assert (network.ssid, network.dtim_period, network.beacon_interval_us, network.beacons) == (
        "home",
        2,
        BEACON_US,
        59,
    )
    client = found.clients[STATION]
    assert client.listen_interval == interval
    assert client.woke_by["ps_polls"] == len(wakes)
    assert client.delays_us == [(wake - told) * BEACON_US + 2_000 for wake, told in first_told.items()]
    assert client.nearest_policy() == (f"listen:{interval}" if interval > 1 else "psm")
    assert client.awake_us == 0
    assert len([request for request in client.requests if not request.request_bytes]) == len(wakes)


def test_hold_time_and_time_asleep_are_those_of_the_client():
    air = Air()
    hold_us, asleep_us, at_us = 60_000, 0, 1_000
    for number in range(1, 80):
        air.beacon(number)
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
    assert client.airtime_up_us == pytest.approx(sum(192 + 8 * (26 + size) / 11 for size in (300, 700, 500, 900)))


def test_a_client_that_triggers_its_own_delivery_uses_u_apsd():
    air = Air()
    for number in range(1, 30):
        air.beacon(number)
    air.add(1_000, NULL, up=True, sleeps=True)
    for number in range(40):  # QoS null frames of a sleeping client: each is answered with what waits
        at_us = 100_000 + 60_000 * number
        air.add(at_us, QOS_NULL, up=True, sleeps=True)
        air.add(at_us + 900, QOS_DATA, up=False, body=b"v" * 160)
    client = air.audit().clients[STATION]
    assert client.woke_by == dict.fromkeys(client.woke_by, 0) | {"triggers": 40}
    assert client.nearest_policy() == "uapsd"
    assert (client.sleeps, client.awake_us) == (1, 0)


@pytest.mark.parametrize(("control", "unit_us"), [(0, 256), (0x20, 1024)])
def test_target_wake_times_are_those_that_were_agreed(control, unit_us):
    def setup(command, mantissa, exponent, duration):
        kind = struct.pack("<H", 1 | command << 1 | exponent << 10)
        wake = bytes(8) + bytes([duration]) + struct.pack("<H", mantissa) + b"\0"
        return b"\x16\x06\1" + bytes([216, 15, control]) + kind + wake

    air = Air()
    for number in range(1, 30):
        air.beacon(number)
    air.add(1_000, ACTION, up=True, body=setup(0, 100, 10, 200))
    air.add(2_000, ACTION, up=False, body=setup(4, 512, 10, 64))  # accepted otherwise than it was asked for
    air.add(3_000, ACTION, up=False, body=setup(7, 1, 1, 1))  # a refusal of something else
    air.add(4_000, NULL, up=True, sleeps=True)
    for number in range(1, 5):
        air.add(524_288 * number + 300, QOS_DATA, up=False, body=b"d" * 300)
    client = air.audit().clients[STATION]
    assert client.agreed_us == (524_288, 64 * unit_us)
    assert client.woke_by["twt_actions"] == 1
    assert client.nearest_policy() == f"twt:524.288:{64 * unit_us / 1000:g}"
    assert client.asleep_us == max(at_us for at_us, *_ in air.frames) - 4_000


def test_what_the_sniffer_missed_is_counted():
    air = Air()
    for number in range(1, 30):
        if number not in (7, 8, 20):
            air.beacon(number)
    for number in range(10):
        air.add(BEACON_US * number + 5_000, QOS_DATA, up=True, body=b"x" * 100)
    air.frames = [frame for frame in air.frames if frame[0] not in (BEACON_US * 3 + 5_000, BEACON_US * 4 + 5_000)]
    found = air.audit()
    assert found.networks[AP].missed_beacons == 3
    assert found.clients[STATION].missed_frames == 2
    assert found.clients[STATION].nearest_policy() == "none"


def test_a_frame_sent_again_is_traffic_once_whether_or_not_its_first_copy_was_heard():
    air = Air()
    air.beacon(1)
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
    air = Air()
    air.beacon(1)
    whole = air.frames[0][2]
    for size in range(len(whole)):
        heard(127, whole[:size])
    for link in WIRELESS:
        assert heard(link, b"") == (None, False)
    broken = struct.pack("<BBHIB", 0, 0, 9, 1 << 1, 0x40) + whole[9:]
    assert heard(127, broken) == (None, True)


@pytest.mark.parametrize(
    ("name", "beacons", "missed", "sleeps"),
    [
        ("wpa-test-decode.pcap.gz", 3106, 5, 75),
        ("wpa1-gtk-rekey.pcapng.gz", 60, 68, 2),
        ("wpa3-sae.pcapng.gz", 118, 1, 0),
    ],
)
def test_real_captures_tell_beacons_and_sleep(data, name, beacons, missed, sleeps):
    path = data / "captures" / name
    with open_trace(path) as stream:
        found = audit(frames(stream, path, Report()))
    (network,) = found.networks.values()
    assert (network.beacons, network.missed_beacons, network.beacon_interval_us) == (beacons, missed, BEACON_US)
    (client,) = found.clients.values()
    assert client.sleeps == sleeps
    assert client.asleep_us + client.awake_us <= found.end_us - found.start_us


def test_a_client_that_roams_keeps_its_account_and_a_broken_frame_makes_none():
    other = b"\x02\0\0\0\0\7"
    air = Air()
    for number in range(1, 20):
        air.beacon(number)
    air.add(5_000, QOS_DATA, up=True, body=b"x" * 200)
    before = air.audit().clients[STATION]
    air.add(900_000, QOS_DATA, up=True, body=b"x" * 200)
    at_us, link, captured, sent = air.frames.pop()
    air.frames.append((at_us, link, captured.replace(AP, other), sent))  # another access point
    found = air.audit()
    assert list(found.clients) == [STATION]
    after = found.clients[STATION]
    assert (after.bssid, after.roamed, after.frames_up) == (other, 1, before.frames_up + 1)

    def with_checksum(captured, wrong):
        start = int.from_bytes(captured[2:4], "little")
        header = struct.pack("<BBHI", 0, 0, 10, 1 << 1 | 1 << 2) + bytes([0x10, 22])
        checksum = crc32(captured[start:]) ^ wrong
        return header + captured[start:] + struct.pack("<I", checksum)

    for wrong in (0, 1):
        checked = [(at, one, with_checksum(frame, 0), 0) for at, one, frame, _ in air.frames[:-1]]
        data = with_checksum(air.frames[-1][2].replace(STATION, b"\x02\0\0\0\0\x09").replace(other, AP), wrong)
        found = audit([*checked, (1_000_000, 127, data, 0)])
        assert found.broken == wrong
        assert len(found.clients) == 2 - wrong
        assert found.clients[STATION].frames_up == 1
